"""Publishing files: staged beside the target under a hidden name, made durable, then renamed in one step."""

from __future__ import annotations

import errno
import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path

from sqlglot import exp

from sqlanon.errors import EngineError

RUNS = itertools.count()
"""Keeps the stages of several runs in one process apart."""


@contextmanager
def staged_file(target: Path, *, replace: bool) -> Iterator[Path]:
    """A path to write to; it becomes ``target`` when the block ends, and is removed when the block fails.

    Raises:
        EngineError: the target exists and may not be replaced, its folder is missing, or the disk is full.
    """
    try:
        refuse_file(target, replace=replace)
        _remove_abandoned(target)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise EngineError(f"{target} cannot be written: {reason}", step="target", original=error) from None
    staged = target.with_name(f".{target.name}.{os.getpid()}.{next(RUNS)}.staged")
    try:
        yield staged
        _publish(staged, target, replace=replace)
    finally:
        with suppress(OSError):
            staged.unlink()


def _remove_abandoned(target: Path) -> None:
    """Remove what runs to the same target left behind when they were killed."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d{{1,9}})\.\d+\.staged", re.ASCII)
    for path in target.parent.iterdir():
        found = pattern.fullmatch(path.name)
        if found and not _is_running(int(found.group(1))):
            with suppress(OSError):
                path.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def refuse_file(target: Path, *, replace: bool) -> None:
    """Refuse a target that exists, is a folder, or lies in a folder that is missing or read-only."""
    if "\0" in str(target):
        raise EngineError("a file name cannot hold a NUL character", step="target")
    if not target.parent.is_dir():
        raise EngineError(f"the folder {target.parent} does not exist", step="target")
    if target.is_dir():
        raise EngineError(f"{target} is a folder; give the name of a file", step="target")
    if target.exists() and not replace:
        raise EngineError(f"the file {target} exists; give another name, or replace=True", step="target")
    if not os.access(target.parent, os.W_OK):
        raise EngineError(f"the folder {target.parent} cannot be written", step="target")


def refuse_own_source(target: Path, source: exp.Expr, role: str) -> None:
    """Refuse a target that is among the files that the source names, or whatever else its role is."""
    if not target.exists():
        return
    spelled = [node.name for node in source.find_all(exp.Literal, exp.Table) if node.name]
    # Not Path.glob, which takes no absolute pattern.
    files = [path for text in spelled for path in (text, *glob(text))]  # noqa: PTH207
    if any(_same_file(path, target) for path in files):
        raise EngineError(f"the release would replace its own {role} {target}; write it to another file", step="target")


def _same_file(text: str, target: Path) -> bool:
    try:
        return target.samefile(text)
    except (OSError, ValueError):
        return False  # not a path, or not of a file


def _publish(staged: Path, target: Path, *, replace: bool) -> None:
    try:
        _flush(staged)
        if replace:
            staged.replace(target)
        else:
            _rename_without_replacing(staged, target)
        _flush(target.parent)
    except FileExistsError:
        raise EngineError(f"the file {target} exists; give another name, or replace=True", step="target") from None
    except OSError as error:
        raise EngineError(f"{target} cannot be written: {error.strerror}", step="publish", original=error) from None


def _rename_without_replacing(staged: Path, target: Path) -> None:
    """A link fails where a rename would overwrite what another program has put there meanwhile."""
    try:
        os.link(staged, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        # A file system without links: the best that is left is to look again, right before the rename.
        if target.exists():
            raise FileExistsError from None
        staged.rename(target)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
