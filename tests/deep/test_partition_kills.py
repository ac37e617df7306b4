"""Partitions whose run is killed: before they are published they are forgotten, and after it they are counted."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import ROOT
from tests.stories.test_fit import HISTORY, NOVEMBER, POLICY, counted, load_taxonomies, published
from tests.stories.test_fit import session as session
from tests.stories.test_fit import shared_session as shared_session
from tests.stories.test_fit import shared_sidecar as shared_sidecar
from tests.stories.test_fit import sidecar as sidecar

PROGRAM = """
import sys
import sqlanon as sa

database, sidecar, into, moment = sys.argv[1:]

def report(event):
    if event.state == "started":
        print(event.stage, flush=True)
        if event.stage == moment:
            sys.stdin.readline()

with sa.connect(database) as session:
    session.partitions.apply("november", sidecar, into, progress=report)
"""


@pytest.fixture
def warehouse(sidecar: Path) -> Path:
    """A warehouse with November, the fit and the history beside it."""
    path = sidecar.with_name("w.duckdb")
    with sa.connect(path) as session:
        load_taxonomies(session)
        session.connection.execute(f"CREATE TABLE november AS {NOVEMBER}")
    return path


def killed_at(moment: str, warehouse: Path, into: str) -> None:
    """Apply the fit to November in a process of its own, which is killed at a moment; meanwhile the fit is locked."""
    sidecar = warehouse.with_name("visits.fit")
    command = [sys.executable, "-c", PROGRAM, str(warehouse), str(sidecar), into, moment]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        assert process.stdout is not None
        assert moment in (line.strip() for line in process.stdout)
        in_use = f"in use by another run .process {process.pid}"
        with sa.connect() as session:
            load_taxonomies(session)
            with pytest.raises(sa.EngineError, match=in_use):
                session.partitions.apply(HISTORY, sidecar, "anywhere")
            with pytest.raises(sa.EngineError, match=in_use):
                session.partitions.fit(HISTORY, POLICY, sidecar, replace=True)
        process.kill()
        assert process.wait() == -signal.SIGKILL


class TestKilled:
    def test_before_it_is_published_it_is_forgotten(self, warehouse: Path) -> None:
        folder = warehouse.parent
        sidecar, into = folder / "visits.fit", folder / "november.parquet"
        killed_at("verify", warehouse, str(into))
        assert not into.exists()
        with sa.connect(warehouse) as session:
            release = session.partitions.apply("november", sidecar, into)
        assert (release.report.partitions, release.report.notes) == (2, ())
        assert counted(sidecar) == published(folder)

    @pytest.mark.parametrize("into", ["november.parquet", "published"])
    def test_after_it_is_published_it_is_counted(self, into: str, warehouse: Path) -> None:
        folder = warehouse.parent
        sidecar, target = folder / "visits.fit", str(folder / into) if into.endswith("parquet") else into
        killed_at("count", warehouse, target)
        if target == into:
            with sa.connect() as elsewhere, pytest.raises(sa.EngineError, match="open that warehouse to finish it"):
                elsewhere.partitions.apply(HISTORY, sidecar, folder / "history.parquet")
        with sa.connect(warehouse) as session:
            release = session.partitions.apply("november", sidecar, target)
            note = json.loads(session.provenance(target) or "")["sqlanon"]
        assert release.report.notes == ("these rows were published already: nothing was written",)
        assert (release.report.partitions, release.report.release) == (2, note["fit"]["release"])
        assert sum(row[-1] for row in counted(sidecar)) == release.report.union.released == 11
