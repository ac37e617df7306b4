"""Runs into an object store whose client or server is killed: what the note lists stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.spark.spark_rows import SparkRows
from tests.conftest import ROOT
from tests.full import test_spark_stores
from tests.full.test_spark_stores import COARSE, FINE, INTO, LAKE, Lake, files
from tests.sail import sail

server, lake = test_spark_stores.server, test_spark_stores.lake

PROGRAM = """
import os, signal, sys
import sqlanon as sa
from sqlanon.lakes.store import StoredRelease

def killed(*given):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(StoredRelease, sys.argv[1], killed)
with sa.connect("w.duckdb", read_only=True, rows=sys.argv[2]) as session:
    session.anonymize(sys.argv[3], sa.Policy.model_validate_json(sys.argv[4]), sys.argv[5], replace=True)
"""


@pytest.mark.parametrize("step", ["refuse_other_types", "put"], ids=["written", "verified"])
def test_a_run_that_is_killed_leaves_the_release_and_the_next_one_tidies(lake: Lake, server: str, step: str) -> None:
    lake.far.anonymize(LAKE, FINE, INTO)
    before = files()
    lake.near.close()
    command = [sys.executable, "-c", PROGRAM, step, server, LAKE, COARSE.model_dump_json(), INTO]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(Path("temporary").resolve())}
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    (left,) = {*files()} - {*before}
    with sa.connect("w.duckdb", rows=server) as session:
        assert session.verify(INTO, FINE).met
        session.anonymize(LAKE, COARSE, INTO, replace=True)
        assert session.verify(INTO, COARSE).met
    assert left not in files()
    assert {*before} < {*files()}
    assert not [*Path("temporary").glob(".*")]


def test_a_server_that_is_gone_leaves_the_release(lake: Lake) -> None:
    lake.far.anonymize(LAKE, FINE, INTO)
    before = files()
    with sail() as server, sa.connect(lake.near.connection.cursor(), rows=server.url) as session:
        write = SparkRows.write

        def killed(*given: Any) -> Any:
            written = write(*given)
            server.process.kill()
            return written

        with (
            mock.patch("sqlanon.spark.server.RETRIES", 3),
            mock.patch.object(SparkRows, "write", killed),
            pytest.raises(sa.EngineError, match="no longer answers"),
        ):
            session.anonymize(LAKE, COARSE, INTO, replace=True)
    assert files() == before
    assert lake.near.verify(INTO, FINE).met
