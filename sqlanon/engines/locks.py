"""Names that a process holds while it lives, and waiting for their holders.

The system releases a process's locks however it ends. The lock of a name is a separate file, since a database may be
rewritten as another file.

Within a process, calls on a connection exclude each other, whatever threads and sessions share it.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from sqlanon.errors import EngineError, Refusal

SUFFIX = ".lock"

UNLOCKABLE = frozenset((errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS))
"""Errors of file systems without locks or, as on NFS, without locks of folders."""


@dataclass(frozen=True)
class Held:
    path: Path  # the file or folder with that name, which may not exist yet
    descriptor: int  # of the lock file

    def release(self) -> None:
        """Release the name, once; its file stays."""
        with suppress(OSError):
            _lock_of(self.path).unlink()
        os.close(self.descriptor)


def hold(folder: Path, prefix: str, suffix: str = "") -> Held:
    """Hold the first free name with a number between a prefix and a suffix.

    On a file system without locks, :func:`acquire_stale` later refuses the name to everybody.
    """
    for number in itertools.count():
        path = folder / f"{prefix}{number}{suffix}"
        if not os.path.lexists(path):
            with suppress(FileExistsError):
                held = _hold(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, without_locks=True)
                if held is not None:
                    return held
    raise AssertionError("there is no last number")


def acquire_stale(path: Path) -> Held | None:
    """Hold a name that another process had; None if it is held, or may be."""
    # Another user's lock may be read-only, which suffices but for network locks.
    for flags in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):
        with suppress(PermissionError, FileNotFoundError):
            return _hold(path, flags, without_locks=False)
    return None


def private_folder(place: Path, prefix: str) -> Held:
    """Make a folder that only its owner may read, and remove those that killed processes left under its prefix."""
    name = re.compile(rf"{prefix}\d+(?:{re.escape(SUFFIX)})?", re.ASCII)  # of a folder, or of its lock
    for found in place.iterdir():
        with suppress(OSError):
            if name.fullmatch(found.name) and found.lstat().st_uid == os.getuid():
                left = acquire_stale(found.with_name(found.name.removesuffix(SUFFIX)))
                if left is not None:
                    discard(left)
    folder = hold(place.absolute(), prefix)
    try:
        folder.path.mkdir(mode=0o700)
    except BaseException:
        folder.release()
        raise
    return folder


def discard(folder: Held) -> None:
    """Remove a private folder with everything in it."""
    shutil.rmtree(folder.path, ignore_errors=True)
    folder.release()


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Hold a folder within the block, waiting for other holders; do not wait where folders cannot be locked."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, fcntl.LOCK_EX, without_locks=True)
        yield
    finally:
        os.close(descriptor)


def _hold(path: Path, flags: int, *, without_locks: bool) -> Held | None:
    descriptor = os.open(_lock_of(path), flags, 0o666)
    held = None
    try:
        if _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, without_locks=without_locks):
            with suppress(FileNotFoundError):
                # The file may have been removed before it was locked: then the name is not ours.
                if os.path.samestat(os.fstat(descriptor), _lock_of(path).lstat()):
                    held = Held(path, descriptor)
    finally:
        if held is None:
            os.close(descriptor)
    return held


def _lock(descriptor: int, how: int, *, without_locks: bool) -> bool:
    """Lock a file; return whether that worked, or ``without_locks`` on a file system without locks."""
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNLOCKABLE:
            raise
        return without_locks
    return True


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


Given = ParamSpec("Given")
Found = TypeVar("Found")


class CallLock:
    """A lock for calls. Its thread may call again, as verbs call each other; a callback may not."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_calling_back = False
        self._owner: object | None = None

    def reserve(self, owner: object | None) -> None:
        """Refuse all calls but those of an owner from now on; None ends that."""
        self._owner = owner

    def lend(self, turn: threading.Lock) -> None:
        """Let another thread call that waits with ``turn`` held, in the middle of a call."""
        self._lock.release()
        try:
            with turn:
                pass
        finally:
            self._lock.acquire()

    @contextmanager
    def held(self, owner: object | None = None, *, always: bool = False) -> Iterator[None]:
        """Exclude calls of other threads from the block; refuse calls from a callback, and of others than the owner."""
        with self._lock:
            if self._owner is not None and self._owner is not owner and not always:
                raise EngineError(
                    "an exploration of the session is open, and takes all its calls: close it, or use another session, "
                    "such as sqlanon.connect(session.connection.cursor())",
                    step="session",
                )
            if self._is_calling_back:
                raise EngineError(
                    "a callback cannot use the session that calls it: give it one on another connection, such as "
                    "sqlanon.connect(session.connection.cursor())",
                    step="session",
                )
            yield

    def calling_back(self, callback: Callable[Given, Found]) -> Callable[Given, Found]:
        """Wrap a callback so that it cannot call while the lock is held."""

        @wraps(callback)
        def called(*given: Given.args, **named: Given.kwargs) -> Found:
            self._is_calling_back = True
            try:
                return callback(*given, **named)
            finally:
                self._is_calling_back = False

        return called


_locks: WeakKeyDictionary[object, CallLock] = WeakKeyDictionary()
_looking = threading.Lock()


def lock_of(connection: object) -> CallLock:
    with _looking:
        return _locks.setdefault(connection, CallLock())


def exclusive(
    method: Callable[Concatenate[Any, Given], Found],
) -> Callable[Concatenate[Any, Given], Found]:
    """Make a method of a session, or of a part of one, a call: see :meth:`sqlanon.api.opened.OpenedEngine.call`."""

    @wraps(method)
    def calling(session: Any, /, *given: Given.args, **named: Given.kwargs) -> Found:
        with session._opened.call():
            return method(session, *given, **named)

    return calling


PATIENCE = 10.0  # seconds to wait for another program with the file open, or for one that keeps winning races
A_MOMENT = 1.0  # seconds to wait for a writer of a single row
PAUSE = 0.05  # seconds between attempts

IN_USE = frozenset((Refusal.LOCKED, Refusal.OPEN, Refusal.IN_THE_MAKING))
OVERTAKEN = frozenset((Refusal.TAKEN, Refusal.OVERTAKEN))

Result = TypeVar("Result")


def retry_while_locked(call: Callable[[], Result], may_pass: Collection[Refusal], patience: float = PATIENCE) -> Result:
    """Retry a call for a while, as long as the database refuses it for a transient reason."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return call()
        except EngineError as error:
            if error.refusal not in may_pass or time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE)
