"""Mutual exclusion: one call at a time on a connection, whatever threads and sessions share it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from sqlanon.errors import EngineError

Given = ParamSpec("Given")
Found = TypeVar("Found")


class CallLock:
    """Held during a call. The thread that holds it may call again, as verbs call each other; a callback may not."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_calling_back = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for calls of other threads, and make others wait until the block ends.

        Raises:
            EngineError: a callback of a call makes another one, in the middle of its statements.
        """
        with self._lock:
            if self._is_calling_back:
                raise EngineError(
                    "a callback cannot use the session that calls it: give it one on another connection, such as "
                    "sqlanon.connect(session.connection.cursor())",
                    step="session",
                )
            yield

    def calling_back(self, callback: Callable[Given, Found]) -> Callable[Given, Found]:
        """The same function, which cannot make calls while the lock is held."""

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
