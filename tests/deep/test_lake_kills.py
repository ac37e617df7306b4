"""Tables of lakes whose runs are killed, and that are read while they are replaced."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import ROOT
from tests.full import test_delta, test_iceberg
from tests.full.test_delta import COARSE, FINE, ROWS, TABLE, deltalake, labels, state

session, released, prepared = test_delta.session, test_delta.released, test_delta.prepared
iceberg = test_iceberg.session
READS = int(os.environ.get("SQLANON_READS", "250"))
KILLS = int(os.environ.get("SQLANON_KILLS", "5"))
"""More before a release."""


KILLED = """
import os, signal, sys
import sqlanon as sa
from tests.engines import engine_of
from sqlanon.lakes.delta import DeltaLakeTable
DeltaLakeTable.commit = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with sa.connect("w.duckdb", read_only=True, threads=1) as session:
    session.anonymize("people.parquet", sa.Policy.model_validate_json(sys.argv[1]), sys.argv[2], replace=True)
"""


@pytest.mark.parametrize("exists", [True, False])
def test_runs_into_a_delta_table_are_killed(prepared: Path, session: sa.Session, exists: bool) -> None:
    """Between their files and their commit."""
    if exists:
        shutil.copytree(prepared / "released", "released")
    before = state() if exists else None
    session.close()
    for _ in range(KILLS):
        command = [sys.executable, "-c", KILLED, COARSE.model_dump_json(), TABLE]
        ended = subprocess.run(command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert (state() if exists else None) == before
        assert deltalake.DeltaTable.is_deltatable("released") == exists
        left = [path.name for path in Path("released").glob("release-*")]
        assert f"release-{int(exists)}" in left, "it was killed between the files and the commit"
        with sa.connect("w.duckdb") as again:
            assert again.verify(TABLE, FINE).met if exists else not exists
    with sa.connect("w.duckdb") as again:
        again.anonymize("people.parquet", COARSE, TABLE, replace=True)
        assert again.verify(TABLE, COARSE).met
    assert not [*Path().glob(".*")]
    assert len([*Path("released").glob("release-*")]) == 1 + exists


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


def seen_while_replaced(
    session: sa.Session, table: str, load: Callable[[], Any], reads: int
) -> list[tuple[int, frozenset[str]]]:
    """How many rows, and which ages, a reader sees in a table while it is replaced again and again."""
    seen: list[tuple[int, frozenset[str]]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            found = load()
            seen.append((len(found), frozenset(found["age"].to_pylist())))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        replaced = 0
        while len(seen) < reads or replaced < 3:
            session.anonymize("people.parquet", (COARSE, FINE)[replaced % 2], table, replace=True)
            replaced += 1
    finally:
        done.set()
        reader.join()
    return seen


def test_readers_of_delta_see_one_release_whole(released: sa.Session) -> None:
    whole = {frozenset(labels()), frozenset("*")}
    seen = seen_while_replaced(released, TABLE, lambda: deltalake.DeltaTable("released").to_pyarrow_table(), READS)
    assert {count for count, _ in seen} == {ROWS}
    assert {found for _, found in seen} == whole


def test_readers_of_iceberg_see_one_release_whole(iceberg: sa.Session) -> None:
    iceberg.anonymize("people.parquet", FINE, test_iceberg.TABLE)
    whole = {frozenset(row[0] for row in test_iceberg.rows()), frozenset("*")}
    seen = seen_while_replaced(iceberg, test_iceberg.TABLE, lambda: test_iceberg.load().scan().to_arrow(), READS)
    assert {count for count, _ in seen} == {ROWS}
    assert {found for _, found in seen} == whole
