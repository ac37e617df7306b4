"""Tables of lakes whose runs are killed, and that are read while they are replaced: more often than in tests/full."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sqlanon as sa
from tests.conftest import ROOT
from tests.full import test_delta, test_iceberg
from tests.full.test_delta import COARSE, FINE, KILLED, ROWS, seen_while_replaced

session, released, prepared = test_delta.session, test_delta.released, test_delta.prepared
iceberg = test_iceberg.session
READS = int(os.environ.get("SQLANON_READS", "250"))
KILLS = int(os.environ.get("SQLANON_KILLS", "5"))
"""More before a release."""


def test_runs_into_a_delta_table_are_killed(released: sa.Session) -> None:
    test_delta.kill_before_the_commit(released, KILLS)


def test_runs_into_a_new_delta_table_are_killed(session: sa.Session) -> None:
    test_delta.kill_before_the_commit(session, KILLS)


@pytest.mark.parametrize("exists", [True, False])
def test_runs_into_an_iceberg_table_are_killed(iceberg: sa.Session, exists: bool) -> None:
    if exists:
        iceberg.anonymize("people.parquet", FINE, test_iceberg.TABLE)
    before = test_iceberg.load().metadata_location if exists else None
    iceberg.close()
    program = KILLED.replace("lakes.delta", "lakes.iceberg").replace("DeltaLakeTable", "IcebergLakeTable")
    for _ in range(KILLS):
        command = [sys.executable, "-c", program, COARSE.model_dump_json(), test_iceberg.TABLE]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "", "HOME": os.environ["HOME"]}
        environment |= test_iceberg.settings(Path.cwd())
        assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
        assert (test_iceberg.load().metadata_location if exists else None) == before
        assert test_iceberg.catalogs.load_catalog("lake").table_exists("clinic.released") == exists
        assert len([*Path().rglob("release-*")]) > exists, "it was killed between the files and the commit"
    with sa.connect("w.duckdb") as again:
        again.anonymize("people.parquet", COARSE, test_iceberg.TABLE, replace=True)
        assert again.verify(test_iceberg.TABLE, COARSE).met
    assert not [*Path().rglob(".*")]


def test_readers_of_delta_see_one_release_whole(released: sa.Session) -> None:
    test_delta.see_one_release_whole(released, READS)


def test_readers_of_iceberg_see_one_release_whole(iceberg: sa.Session) -> None:
    iceberg.anonymize("people.parquet", FINE, test_iceberg.TABLE)
    whole = {frozenset(row[0] for row in test_iceberg.rows()), frozenset("*")}
    seen = seen_while_replaced(iceberg, test_iceberg.TABLE, lambda: test_iceberg.load().scan().to_arrow(), READS)
    assert {count for count, _ in seen} == {ROWS}
    assert {found for _, found in seen} == whole
