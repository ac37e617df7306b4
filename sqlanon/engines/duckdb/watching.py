"""Statements that are watched while they run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType

from sqlanon.engines.base import StatementObserver

PERIOD = 0.2
"""Seconds from one look to the next."""

PATIENCE = 0.05
"""Seconds from one attempt to interrupt a statement to the next."""


class Watcher:
    """Runs statements in a thread of its own; the thread that waits for them reports their progress.

    So reports come in order, in the caller's thread, and never after the end; an observer that raises ends the
    statement, as Ctrl-C does, which Python notices at once because it waits itself.
    """

    def __init__(
        self, observer: StatementObserver, share: Callable[[], float | None], interrupt: Callable[[], None]
    ) -> None:
        """``share`` returns the progress of the present statement, ``interrupt`` ends it."""
        self._observer = observer
        self._share = share
        self._interrupt = interrupt
        self._statements: SimpleQueue[_Statement | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Watcher:
        self._worker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._statements.put(None)
        self._worker.join()

    def run(self, call: Callable[[], object], purpose: str) -> None:
        """Wait for a statement, and raise what it raises."""
        statement = _Statement(call)
        try:
            self._statements.put(statement)
            while not statement.wait(PERIOD):
                self._observer(purpose, self._share())
        except BaseException:
            self._end(statement)
            raise
        if statement.error is not None:
            raise statement.error

    def _end(self, statement: _Statement) -> None:
        """Interrupt a statement until it gives in: before it has begun, an interruption is without effect."""
        while not statement.finished:
            with suppress(Exception):  # the connection is already closed
                self._interrupt()
            statement.wait(PATIENCE)

    def _work(self) -> None:
        while (statement := self._statements.get()) is not None:
            statement.run()


def ignore(_purpose: str, _share: float | None) -> None:
    """Observe nothing: the statement can still be interrupted at once."""


class _Statement:
    """A statement on its way from one thread to the other, and what became of it.

    Ctrl-C can hit the waiting thread anywhere, also right after it was woken: what counts is the flag, which stays. And
    it may leave a lock behind that Python code holds, as in ``threading.Event``: so there is only a bare one.
    """

    def __init__(self, call: Callable[[], object]) -> None:
        self.finished = False
        self.error: BaseException | None = None
        self._call = call
        self._running = threading.Lock()
        self._running.acquire()

    def run(self) -> None:
        try:
            self._call()
        except BaseException as error:
            self.error = error
        finally:
            self.finished = True
            self._running.release()

    def wait(self, seconds: float) -> bool:
        """Whether it is finished, after at most ``seconds`` seconds."""
        if not self.finished:
            self._running.acquire(timeout=seconds)
        return self.finished
