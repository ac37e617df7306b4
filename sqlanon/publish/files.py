"""Publication of files: staged beside the target under a hidden name, synced, then renamed in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from sqlglot import exp

from sqlanon.engines.locks import acquire_stale, hold
from sqlanon.engines.paths import STAGE, is_glob, is_matched, log_of
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, TargetError
from sqlanon.model.destination import in_arrow
from sqlanon.model.names import is_possible
from sqlanon.model.whole_files import is_special

AMONG = "{} lies among the files of the {}, {}, so that the next run would read it. Write to another folder"

MAX_FILE_NAME_BYTES = 255  # of file systems

PREVIOUS = ".previous"  # suffix of the hidden name of a target that was moved away

NOT_OURS = '{} was not written by sqlanon. Choose another name, or pass replace="anything" to overwrite it'

CHANGED = '{} was changed since sqlanon wrote it. Choose another name, or pass replace="anything" to overwrite it'


@contextmanager
def staged_file(target: Path, *, replace: bool) -> Iterator[Path]:
    """Yield a path to write to, which becomes ``target`` at the end of the block, or is removed if it fails."""
    with cannot_be_written(target, "target"):
        tidy(target)
        refuse_file(target, replace=replace)
    with hidden(target, "staged") as staged:
        yield staged
        publish(staged, target, replace=replace)


@contextmanager
def hidden(target: Path, state: Literal["staged", "previous"]) -> Iterator[Path]:
    """Hold a hidden name beside the target, which other runs leave alone.

    At the end, the file or folder there is removed, unless it is the only copy of the target.
    """
    with cannot_be_written(target, "target"):
        held = hold(target.parent, f".{target.name}.run.", f".{state}")
    try:
        yield held.path
    finally:
        if state == "staged" or os.path.lexists(target):
            remove(held.path)
        held.release()


@contextmanager
def cannot_be_written(target: Path, step: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else getattr(error, "strerror", None) or error
        raise EngineError(f"{target} cannot be written: {reason}", step=step, original=error) from None


def tidy(target: Path) -> None:
    """Clean up after killed runs to this target.

    A target that was moved away comes back if nothing has taken its place; all other hidden files go.
    """
    for path in left_behind(target):
        if path.suffix == PREVIOUS and os.path.lexists(path) and not os.path.lexists(target):
            path.rename(target)
        else:
            remove(path)
            remove(log_of(path))


def left_behind(target: Path) -> Iterator[Path]:
    """Yield hidden files and folders of killed runs, each held until the next."""
    for path in _hidden_beside(target):
        held = acquire_stale(path)
        if held is not None:
            try:
                yield path
            finally:
                held.release()


def bring_back(source: str) -> None:
    """Tidy for a folder that is to be read; do nothing if it exists, or never did."""
    try:
        target = Path(os.path.abspath(source))  # noqa: PTH100
        if is_glob(source) or not target.name or os.path.lexists(target):
            return
        if any(path.suffix == PREVIOUS for path in _hidden_beside(target)):
            tidy(target)
    except (OSError, ValueError):
        return  # not a path at all


def _hidden_beside(target: Path) -> list[Path]:
    if not target.parent.is_dir():
        return []
    stages = filter(None, (STAGE.fullmatch(path.name) for path in target.parent.iterdir()))
    names = {stage["name"] for stage in stages if stage["target"] == target.name}
    return [target.with_name(name) for name in sorted(names)]


def remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def refuse_file(target: Path, *, replace: bool) -> None:
    """Refuse a target that exists, is a folder, or lies in a folder that is missing or read-only."""
    refuse_place(target)
    if target.is_dir():
        raise EngineError(f"{target} is a folder; give the name of a file", step="target")
    if is_special(target):
        raise TargetError(f"{target} is a device or a pipe; give the name of a file", step="target")
    if target.exists() and not replace:
        raise taken(target)


def why_no_file(name: str) -> str | None:
    """Return why a name in the data cannot be the name of a file that readers find; None if it can."""
    reasons = {
        "its name is empty": not name.strip(),
        "its name has a slash": "/" in name or "\\" in name,
        "its name has a NUL, or half of a character": not is_possible(name),
        "files with a dot at the start of their names are hidden": name.startswith("."),
        "its name has *, ? or [, which are wildcards in paths": is_glob(name),
        "its name is too long": len(name.encode(errors="replace")) > MAX_FILE_NAME_BYTES,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def taken(target: Path) -> TargetError:
    return TargetError(f"the file {target} exists; give another name, or replace=True", step="target")


def refuse_place(target: Path) -> None:
    if "\0" in str(target):
        raise EngineError("a file name cannot hold a NUL character", step="target")
    if not target.parent.is_dir():
        raise EngineError(f"the folder {target.parent} does not exist", step="target")
    if not os.access(target.parent, os.W_OK):
        raise EngineError(f"the folder {target.parent} cannot be written", step="target")


def refuse_own_source(
    target: Path, source: ResolvedSource, role: str, origins: Sequence[str] = (), *, folder: bool = False
) -> None:
    """Refuse a target that is, or would be, among the files of the source, or of another input with a role.

    ``origins`` are the files under a query, a view or a frame.
    """
    tables = list(source.relation.find_all(exp.Table))
    spelled = [node.name for table in tables for node in (table, *table.find_all(exp.Literal)) if node.name]
    files = (*spelled, *source.files, *source.read, *origins)
    if target.exists() and any(_same_file(path, target) or (folder and _is_below(path, target)) for path in files):
        raise EngineError(f"the release would replace its own {role} {target}; write it to another file", step="target")
    for text in spelled:
        if is_glob(text) and is_matched(target, text, folder=folder):
            raise EngineError(AMONG.format(target, role, text), step="target")


def refuse_within(target: str, folder: str, role: str) -> None:
    """Refuse a target inside a folder that a server reads as a whole; both may be in an object store."""
    if "://" in target or "://" in folder:
        is_within = in_arrow(target).startswith(f"{in_arrow(folder).rstrip('/')}/")
    else:
        is_within = _is_below(target, Path(os.path.expanduser(folder)))  # noqa: PTH111
    if is_within:
        raise EngineError(AMONG.format(target, role, folder), step="target")


def _same_file(text: str, target: Path) -> bool:
    try:
        return target.samefile(text)
    except (OSError, ValueError):
        return False  # not a path, or not of a file


def _is_below(text: str, folder: Path) -> bool:
    try:
        return bool(text) and Path(os.path.realpath(text)).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return False  # not a path


def publish(staged: Path, target: Path, *, replace: bool) -> None:
    """Make a staged file durable, and give it its name, unless there is a file of that name by now."""
    try:
        with cannot_be_written(target, "publish"):
            flush(staged)
            if replace:
                staged.replace(target)
            else:
                _rename_without_replacing(staged, target)
            flush(target.parent)
    except EngineError as error:
        if isinstance(error.original, FileExistsError):
            raise taken(target) from None
        raise


def _rename_without_replacing(staged: Path, target: Path) -> None:
    """Link, which fails where a rename would overwrite a file that appeared meanwhile."""
    try:
        os.link(staged, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        # A file system without links: check again right before the rename.
        if target.exists():
            raise FileExistsError from None
        staged.rename(target)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


HERE = -100  # AT_FDCWD: paths are relative to the working folder
SWAP = 2  # RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS
# Codes for an exchange that the kernel or the file system (such as NFS) does not support.
UNSUPPORTED = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM))


def exchange(first: Path, second: Path) -> bool:
    """Swap the names of two files or folders atomically; return False, with nothing changed, if unsupported."""
    names = os.fsencode(first), os.fsencode(second)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform.startswith("linux"):
            failed = library.renameat2(HERE, names[0], HERE, names[1], SWAP)
        else:
            failed = library.renamex_np(*names, SWAP)
    except (AttributeError, OSError, TypeError):
        return False  # no such function: an old C library, or Windows
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(first))
