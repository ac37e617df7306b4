"""Ctrl-C, other signals and kills in every stage of a run."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import environment
from tests.full.test_events import command, events, make_lake
from tests.full.test_faults import cut_short

ENDLESS = "SELECT rows.* FROM 'rows.parquet' AS rows, range(1000000000)"
LONGEST_CANCELLATION = 15.0
"""Seconds: far more than it takes on a machine that has other things to do, far less than the statements would take."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of a million rows, so that every stage takes a while."""
    folder = tmp_path_factory.mktemp("lake")
    make_lake(folder, 1_000_000)
    return folder


@pytest.mark.parametrize(
    ("source", "policy", "stage", "step", "again", "number"),
    [
        (ENDLESS, "quick.toml", "encode", "cells", None, signal.SIGINT),
        ("rows.parquet", "slow.toml", "search", None, None, signal.SIGTERM),
        ("rows.parquet", "quick.toml", "release", "write the file", None, signal.SIGINT),
        ("rows.parquet", "quick.toml", "verify", None, None, signal.SIGHUP),
        ("rows.parquet", "quick.toml", "release", "write the file", 0.01, signal.SIGINT),
    ],
)
def test_it_cancels(
    lake: Path, source: str, policy: str, stage: str, step: str | None, again: float | None, number: signal.Signals
) -> None:
    before = contents(lake)

    def has_come(event: dict[str, Any]) -> bool:
        return (event.get("stage"), event.get("step")) == (stage, step)

    process = subprocess.Popen(
        command(policy, "--events", "--json", source=source),
        cwd=lake, env=environment(LINGERS_AT=stage if stage == "verify" else ""),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Under nohup the tests ignore the end of their terminal, which the command would inherit.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number == signal.SIGHUP else None,
    )  # fmt: skip
    with process:
        try:
            assert process.stderr is not None
            assert any(has_come(json.loads(line)) for line in process.stderr)
            process.send_signal(number)
            began = time.monotonic()
            if again is not None:
                time.sleep(again)
                process.send_signal(number)
            stdout, stderr = process.communicate(timeout=20)
            seconds = time.monotonic() - began
        finally:
            process.kill()  # some sources never end
    last = events(stderr)[-1]
    assert (process.returncode, last["event"], last["kind"]) == (130, "failed", "Interrupted")
    assert last["message"] == "interrupted; nothing was published"
    assert json.loads(stdout)["error"]["message"] == last["message"]
    assert contents(lake) == before
    assert seconds < LONGEST_CANCELLATION


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """All files of a folder, hidden ones too, with their size and time of change."""
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("into", ["released", "released.parquet"])
@pytest.mark.parametrize("moment", ["encode", "search", "release", "verify", "publish"])
def test_the_old_release_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str, moment: str, number: signal.Signals
) -> None:
    monkeypatch.chdir(tmp_path)
    cut_short(into, moment, number)
