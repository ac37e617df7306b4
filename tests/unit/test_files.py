"""Staged files: published in one step, never over what another program has put there."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.engines.locks import acquire_stale, hold
from sqlanon.engines.paths import is_matched
from sqlanon.publish.files import bring_back, exchange, staged_file, tidy
from tests.conftest import ROOT


def publish(target: Path, text: str, *, replace: bool = False) -> None:
    with staged_file(target, replace=replace) as staged:
        staged.write_text(text)


def no_links(_source: object, _target: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "release.parquet"
    with pytest.raises(sa.EngineError, match="exists"), staged_file(target, replace=False) as staged:
        staged.write_text("ours")
        target.write_text("theirs")
    assert target.read_text() == "theirs"
    target.unlink()
    publish(target, "new")
    assert names_in(tmp_path) == ["release.parquet"]
    assert target.read_text() == "new"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "release.parquet"
    publish(target, "old")
    with pytest.raises(RuntimeError), staged_file(target, replace=True) as staged:
        staged.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]


STAGING = """
import sys
from pathlib import Path
from sqlanon.publish.files import staged_file
with staged_file(Path(sys.argv[1]), replace=True) as staged:
    staged.write_text("theirs")
    print(staged, flush=True)
    input()
"""


@pytest.fixture
def other_run(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which is publishing to ``release``."""
    command = [sys.executable, "-c", STAGING, str(tmp_path / "release")]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        yield process
        process.kill()


def staged_by(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_dead_runs_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".release.run.3.staged" / "a=b").mkdir(parents=True)
    (tmp_path / ".release.run.3.staged.lock").touch()
    (tmp_path / ".release.run.4.staged.lock").touch()
    for name in (".release2.run.0.staged", ".release2.4.0.staged", ".release.4.staged", ".release.run.staged"):
        (tmp_path / name).write_text("of another target, or not ours")
    kept = [path.name for path in tmp_path.iterdir() if path.is_file() and path.suffix == ".staged"]
    with staged_file(tmp_path / "release", replace=False) as staged:
        staged.write_text("ours")
        tidy(tmp_path / "release")
        assert staged.exists()
    assert names_in(tmp_path) == sorted([*kept, "release"])


def test_what_a_dead_run_moved_away_comes_back(tmp_path: Path) -> None:
    (tmp_path / ".release.run.0.previous").mkdir()
    bring_back(str(tmp_path / "release"))
    assert names_in(tmp_path) == ["release"]


def test_what_another_run_is_writing_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_run: subprocess.Popen[str]
) -> None:
    """Also where its process has no number that is known here, as in another container or on another host."""

    def unknown(_process: int, _signal: int) -> None:
        raise ProcessLookupError

    staged = staged_by(other_run)
    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", unknown)
        publish(tmp_path / "release", "ours")
    assert staged.read_text() == "theirs"
    other_run.communicate("\n")
    assert (tmp_path / "release").read_text() == "theirs"
    assert names_in(tmp_path) == ["release"]


def test_what_a_killed_run_was_writing_is_removed(tmp_path: Path, other_run: subprocess.Popen[str]) -> None:
    staged = staged_by(other_run)
    other_run.kill()
    other_run.wait()
    assert staged.exists()
    publish(tmp_path / "release", "ours")
    assert names_in(tmp_path) == ["release"]


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a run cannot know what is in use, and leaves alone what it has not made."""

    def no_locks(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / ".release.run.0.staged").write_text("of whom?")
    (tmp_path / ".release.run.0.staged.lock").touch()
    publish(tmp_path / "release", "ours")
    assert names_in(tmp_path) == [".release.run.0.staged", ".release.run.0.staged.lock", "release"]


def test_a_name_whose_lock_was_removed_meanwhile_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run that tidies may take a lock for one that was left behind, between its creation and its locking."""
    flock = fcntl.flock
    removed: list[Path] = []

    def late(descriptor: int, how: int) -> None:
        if not removed:
            [lock] = tmp_path.iterdir()
            lock.unlink()
            removed.append(lock)
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    held = hold(tmp_path, "name-")
    assert held.path == tmp_path / "name-1"
    assert acquire_stale(held.path) is None
    held.release()
    assert names_in(tmp_path) == []


def test_two_folders_trade_places(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / name).mkdir(parents=True)
    if not exchange(tmp_path / "one", tmp_path / "two"):
        pytest.skip("this system or file system cannot")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["two"]
    assert [path.name for path in (tmp_path / "two").iterdir()] == ["one"]
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "three")


GLOBS = [
    ("lake/*.parquet", "lake/new.parquet", True),
    ("lake/*.parquet", "lake/below/new.parquet", False),
    ("lake/**/*.parquet", "lake/new.parquet", True),
    ("lake/**/*.parquet", "lake/a/b/new.parquet", True),
    ("lake/**", "lake/a/b/new.parquet", True),
    ("lake/*/*.parquet", "lake/new.parquet", False),
    ("lake/part-?.parquet", "lake/part-1.parquet", True),
    ("lake/part-[0-9].parquet", "lake/part-x.parquet", False),
    ("lake/part-[!0-9].parquet", "lake/part-x.parquet", True),
    ("lake/[p]art.parquet", "lake/part.parquet", True),
    ("other/**/*.parquet", "lake/new.parquet", False),
    ("link/*.parquet", "lake/new.parquet", True),
    ("lake/[*.parquet", "lake/new.parquet", False),
]


def test_globs_that_would_match_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "lake")
    monkeypatch.chdir(tmp_path)
    for pattern, target, expected in GLOBS:
        for spelled in (pattern, str(tmp_path / pattern)):
            assert is_matched(tmp_path / target, spelled, folder=False) is expected, pattern
