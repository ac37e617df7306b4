"""Reading whole files: neither endless ones, nor pipes that wait for another program."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from sqlanon.errors import EngineError, Refusal

NO_FILE = "it is a device or a pipe: name a file"


def is_special(path: Path) -> bool:
    """Return whether a path is a device, a named pipe or a socket, but not a pipe of the shell, ``<(...)``."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False  # reading it will raise the reason
    if stat.S_ISFIFO(mode):
        return not os.path.realpath(path).startswith("/proc/")
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_whole(path: Path, megabytes: int) -> bytes:
    """Return the content of a file of at most ``megabytes``.

    Raise OSError if it is larger, a device or a named pipe; ValueError if the name is impossible.
    """
    if is_special(path):
        raise OSError(NO_FILE)
    with path.open("rb") as file:
        content = file.read(megabytes * 1_000_000 + 1)
    if len(content) > megabytes * 1_000_000:
        raise OSError(f"it is larger than {megabytes:,} MB")
    return content


def refuse_lacking(path: Path, error: Exception) -> None:
    """Raise an EngineError if memory or handles are lacking; other errors may be due to the file."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        reason = f"{path} cannot be read: {error.strerror}"
        raise EngineError(reason, step="source", original=error, refusal=Refusal.LACKING) from None
