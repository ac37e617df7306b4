"""Publishing files: staged beside the target under a hidden name, made durable, then renamed in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlanon.errors import EngineError


@contextmanager
def staged_file(target: Path, *, replace: bool) -> Iterator[Path]:
    """A path to write to; it becomes ``target`` when the block ends, and is removed when the block fails.

    Raises:
        EngineError: the target exists and may not be replaced, its folder is missing, or the disk is full.
    """
    refuse_file(target, replace=replace)
    staged = target.with_name(f".{target.name}.{os.getpid()}.staged")
    try:
        yield staged
        _publish(staged, target, replace=replace)
    finally:
        with suppress(FileNotFoundError):
            staged.unlink()


def refuse_file(target: Path, *, replace: bool) -> None:
    """Refuse a target that exists, is a folder, or lies in a folder that is missing or read-only."""
    if not target.parent.is_dir():
        raise EngineError(f"the folder {target.parent} does not exist", step="target")
    if target.is_dir():
        raise EngineError(f"{target} is a folder; give the name of a file", step="target")
    if target.exists() and not replace:
        raise EngineError(f"the file {target} exists; give another name, or replace=True", step="target")
    if not os.access(target.parent, os.W_OK):
        raise EngineError(f"the folder {target.parent} cannot be written", step="target")


def _publish(staged: Path, target: Path, *, replace: bool) -> None:
    try:
        _flush(staged)
        if replace:
            staged.replace(target)
        else:
            # A link fails where a rename would overwrite what another program has put there meanwhile.
            os.link(staged, target)
        _flush(target.parent)
    except FileExistsError:
        raise EngineError(f"the file {target} exists; give another name, or replace=True", step="target") from None
    except OSError as error:
        raise EngineError(f"{target} cannot be written: {error.strerror}", step="publish", original=error) from None


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
