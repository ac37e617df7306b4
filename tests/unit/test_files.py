"""Staged files: published in one step, never over what another program has put there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.publish.exchange import exchange
from sqlanon.publish.files import staged_file, tidy
from sqlanon.publish.globs import is_matched


def publish(target: Path, text: str, *, replace: bool = False) -> None:
    with staged_file(target, replace=replace) as staged:
        staged.write_text(text)


def no_links(_source: object, _target: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_is_published_under_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    publish(tmp_path / "release.parquet", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]
    assert (tmp_path / "release.parquet").read_text() == "new"


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "release.parquet"
    with pytest.raises(sa.EngineError, match="exists"), staged_file(target, replace=False) as staged:
        staged.write_text("ours")
        target.write_text("theirs")
    assert target.read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "release.parquet"
    publish(target, "old")
    with pytest.raises(RuntimeError), staged_file(target, replace=True) as staged:
        staged.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]


def test_only_what_dead_runs_left_is_removed(tmp_path: Path) -> None:
    """Where every program has the same number, as in a container, its own stages are those that it knows of."""
    dead = 4_194_305  # above the largest number of a process
    for name in (f".release.{dead}.0.staged", f".release.{os.getpid()}.999999.staged"):
        (tmp_path / name / "a=b").mkdir(parents=True)
    for name in (f".release.{os.getppid()}.0.staged", f".release2.{dead}.0.staged", f".release.{dead}.staged"):
        (tmp_path / name).write_text("not ours, or still in use")
    kept = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    with staged_file(tmp_path / "release", replace=False) as staged:
        staged.write_text("ours")
        tidy(tmp_path / "release")
        assert staged.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "release"])


def test_two_folders_trade_places(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / name).mkdir(parents=True)
    if not exchange(tmp_path / "one", tmp_path / "two"):
        pytest.skip("this system or file system cannot")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["two"]
    assert [path.name for path in (tmp_path / "two").iterdir()] == ["one"]
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "three")


@pytest.mark.parametrize(
    ("pattern", "target", "expected"),
    [
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
    ],
)
def test_globs_that_would_match_a_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, target: str, expected: bool
) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "lake")
    monkeypatch.chdir(tmp_path)
    for spelled in (pattern, str(tmp_path / pattern)):
        assert is_matched(tmp_path / target, spelled, folder=False) is expected
