"""The command ``sqlanon app``: its address, its end, and what a killed one leaves."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.app import POLICY, write_messy
from tests.commands import environment, sqlanon


@contextmanager
def started(folder: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the app on a messy file, and yield its process and its first address."""
    command = [sys.executable, "-m", "sqlanon", "app", "messy.csv", "--policy", "policy.toml", "--no-browser", *more]
    pipe = subprocess.PIPE
    settings = environment(TMPDIR=str(folder), PYTHONUNBUFFERED="1")
    with subprocess.Popen(
        command, cwd=folder, env=settings, text=True, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/start\?code=[\w-]{32}", line(process))
            assert found is not None
            yield process, found[0]
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    """Return the next line that the command prints."""
    assert process.stderr is not None
    return process.stderr.readline()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_messy(tmp_path / "messy.csv", 50)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_in_order(folder: Path, number: int) -> None:
    with started(folder) as (process, address):
        assert urllib.request.urlopen(address).status == 200  # noqa: S310
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address)  # noqa: S310
        line(process)
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert "start?code=" in (another := line(process)) and another.strip() != address
        assert [each.name for each in folder.glob("sqlanon_app_*")]
        process.send_signal(number)
        assert process.wait(20) == 0
    assert not [each.name for each in folder.glob("sqlanon_app_*")]
    assert (folder / "policy.toml").read_text() == POLICY


def test_next_start_sweeps_after_a_kill(folder: Path) -> None:
    with started(folder) as (process, _):
        [left] = [each for each in folder.glob("sqlanon_app_*") if each.is_dir()]
        assert left.stat().st_mode & 0o777 == 0o700
        (left / "preview.parquet").write_text("rows")
        with started(folder, "--policy", "other.toml"):  # one that runs beside it leaves it alone
            assert left.exists()
        process.kill()
        process.wait()
    assert left.exists()
    with started(folder) as (process, _):
        assert not [*left.iterdir()]  # the folder of this one


def test_arguments_are_refused(folder: Path) -> None:
    for arguments, words in {
        ("app",): "name a table",
        ("app", "x", "--db", str(folder / "none.duckdb")): "does not exist",
        ("app", str(folder / "messy.csv"), "--folder", str(folder / "none")): "is not a folder",
    }.items():
        result = sqlanon(*arguments, folder=folder)
        assert result.returncode == 2 and words in " ".join(result.stderr.split()), result.stderr


def test_policy_that_cannot_be_read_is_refused_without_its_text(folder: Path) -> None:
    for text in ("Canary = \nCanary Canary\n", "\ufeffCanary\x00"):
        (folder / "policy.toml").write_text(text)
        result = sqlanon("app", "messy.csv", "--policy", "policy.toml", "--no-browser", folder=folder)
        assert result.returncode not in (0, None) and "Canary" not in result.stderr + result.stdout
        assert "Traceback" not in result.stderr and (folder / "policy.toml").read_text() == text
