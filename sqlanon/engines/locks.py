"""Names that are held for as long as a process lives, and waiting for who holds them.

The system lets go of the locks of a process, however it ends. The lock of a name is a file of its own beside what has
the name: a database may write that anew, as another file.

Within a process, calls exclude each other: one at a time on a connection, whatever threads and sessions share it.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
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
"""How a file system says that it has no locks, or (NFS, for one) none for folders."""


@dataclass(frozen=True)
class Held:
    """A name that nobody else uses until it is let go."""

    path: Path  # the file or folder that has the name, or is to have it
    descriptor: int  # the descriptor of the locked file

    def release(self) -> None:
        """Give the name up, once; what has it is left as it is."""
        with suppress(OSError):
            _lock_of(self.path).unlink()
        os.close(self.descriptor)


def hold(folder: Path, prefix: str, suffix: str = "") -> Held:
    """Hold the first name that is free, of those with a number between a prefix and a suffix.

    A file system without locks gives a name as well, which :func:`acquire_stale` then refuses to everybody.
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
    """Hold a name that another process had; None while it is held, and where that cannot be known."""
    # The lock of another user may be readable only, which is enough where locks are not those of a network.
    for flags in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):
        with suppress(PermissionError, FileNotFoundError):
            return _hold(path, flags, without_locks=False)
    return None


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Wait until nobody else holds a folder, and hold it until the block ends; do not wait where it has no lock."""
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
                # Another process may have removed the file before it was locked: the name is then not ours.
                if os.path.samestat(os.fstat(descriptor), _lock_of(path).lstat()):
                    held = Held(path, descriptor)
    finally:
        if held is None:
            os.close(descriptor)
    return held


def _lock(descriptor: int, how: int, *, without_locks: bool) -> bool:
    """Lock a file; whether it is locked, or what to answer on a file system without locks."""
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
    """Held during a call. The thread that holds it may call again, as verbs call each other; a callback may not."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_calling_back = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for calls of other threads, and make others wait until the block ends; refuse a call of a callback."""
        with self._lock:
            if self._is_calling_back:
                raise EngineError(
                    "a callback cannot use the session that calls it: give it one on another connection, such as "
                    "sqlanon.connect(session.connection.cursor())",
                    step="session",
                )
            yield

    def calling_back(self, callback: Callable[Given, Found]) -> Callable[Given, Found]:
        """Return a function that cannot make calls while the lock is held."""

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
    """The lock of a connection, which all sessions on it share."""
    with _looking:
        return _locks.setdefault(connection, CallLock())


def exclusive(
    method: Callable[Concatenate[Any, Given], Found],
) -> Callable[Concatenate[Any, Given], Found]:
    """A function of a session, or of a part of one, as a call: see :meth:`sqlanon.api.opened.OpenedEngine.call`."""

    @wraps(method)
    def calling(session: Any, /, *given: Given.args, **named: Given.kwargs) -> Found:
        with session._opened.call():
            return method(session, *given, **named)

    return calling


PATIENCE = 10.0  # seconds to wait for another program that has a file open, or that keeps being faster
A_MOMENT = 1.0  # seconds to wait for one that writes a single row
PAUSE = 0.05  # seconds from one attempt to the next

IN_USE = frozenset((Refusal.LOCKED, Refusal.OPEN, Refusal.IN_THE_MAKING))
OVERTAKEN = frozenset((Refusal.TAKEN, Refusal.OVERTAKEN))

Result = TypeVar("Result")


def retry_while_locked(call: Callable[[], Result], may_pass: Collection[Refusal], patience: float = PATIENCE) -> Result:
    """The result of a call; again and again for a while, as long as the database refuses it for what may pass."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return call()
        except EngineError as error:
            if error.refusal not in may_pass or time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE)
