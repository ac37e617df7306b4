"""Two names that trade places in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

HERE = -100
"""AT_FDCWD: paths are relative to the working folder."""
SWAP = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""
UNSUPPORTED = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM))
"""How a kernel or a file system (NFS, for one) says that it cannot."""


def exchange(first: Path, second: Path) -> bool:
    """Let two files or folders trade names, so that at every moment both names are there.

    Returns:
        whether it was done; false, with nothing changed, where the system or the file system cannot.

    Raises:
        OSError: one of them is missing or may not be renamed.
    """
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
