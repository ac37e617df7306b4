"""Staged files: published in one step, never over what another program has put there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.run.files import staged_file


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
