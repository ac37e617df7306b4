"""Runs that are killed or interrupted at the beginning of each stage."""

import signal
from pathlib import Path

import pytest

from tests.full.test_faults import cut_short


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("into", ["released", "released.parquet"])
@pytest.mark.parametrize("moment", ["encode", "search", "release", "verify", "publish"])
def test_the_old_release_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str, moment: str, number: signal.Signals
) -> None:
    monkeypatch.chdir(tmp_path)
    cut_short(into, moment, number)
