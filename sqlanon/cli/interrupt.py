"""Ctrl-C and other termination signals, which work while the database is busy."""

from __future__ import annotations

import _thread
import functools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

PATIENCE = 5.0  # seconds in which another Ctrl-C does nothing, to clean up or to finish an import

# Ctrl-C, the signal of schedulers before they kill, and that of a closed terminal, which not every system has.
INTERRUPTS = [number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP")]

UNANSWERED = 0.8  # seconds after which a program that ignores a signal counts as stuck

LAST_WORDS = b"Error: interrupted; what is at the target is either as it was, or new and whole\n"

_interrupted = threading.Event()
_over = threading.Event()


class Keeping:
    """State of a command that keeps partial results: the first Ctrl-C asks it to stop, the next one interrupts it.

    It has results from the first call of ``is_asked_to_stop``. The signal handler and the watching thread each see
    every Ctrl-C.
    """

    def __init__(self) -> None:
        self.has_something = False
        self._taken_by: set[str] = set()

    def is_asked_to_stop(self) -> bool:
        """Return whether the handler saw Ctrl-C."""
        self.has_something = True
        return "handler" in self._taken_by

    def takes(self, number: int, seen_by: str) -> bool:
        """Return whether a signal, as seen by one of the two, asks to stop and does nothing else."""
        if number != signal.SIGINT or not self.has_something or seen_by in self._taken_by:
            return False
        self._taken_by.add(seen_by)
        return True


_keeping = Keeping()


@contextmanager
def keeping() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed; once called, the first Ctrl-C interrupts nothing."""
    global _keeping
    before, _keeping = _keeping, Keeping()
    try:
        yield _keeping.is_asked_to_stop
    finally:
        _keeping = before


def interrupt_once(clock: Callable[[], float] = time.monotonic) -> None:
    """Let Ctrl-C interrupt the program, but neither the clean-up that follows nor an import.

    An import may swallow the exception: DuckDB 1.5 imports pandas when it binds its first value, and goes on without if
    that fails. Ctrl-C therefore waits for the end of the import. Python discards exceptions in a finalizer: a Ctrl-C
    that arrives in one is sent again.
    """
    _interrupted.clear()
    _over.clear()
    with suppress(OSError):  # out of file descriptors: go on without
        _watch_always()
    earliest = clock()
    end_of_import: float | None = None
    last_pressed = signal.SIGINT.value

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal earliest, end_of_import, last_pressed
        now = clock()
        if now < earliest or _keeping.takes(number, "handler"):
            return
        end_of_import = end_of_import or now + PATIENCE
        if now < end_of_import and _is_importing(frame):
            _press_again(number)
            return
        earliest, end_of_import, last_pressed = now + PATIENCE, None, number
        _interrupted.set()
        raise KeyboardInterrupt

    def press_again_after_finalizer(ignored: sys.UnraisableHookArgs) -> None:
        nonlocal earliest
        if not isinstance(ignored.exc_value, KeyboardInterrupt):
            sys.__unraisablehook__(ignored)
            return
        earliest = clock()
        _press_again(last_pressed)

    sys.unraisablehook = press_again_after_finalizer
    for number in INTERRUPTS:
        # Background jobs ignore Ctrl-C, and nohup ignores the end of the terminal: keep that.
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, interrupt)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def _press_again(number: int) -> None:
    def press_later() -> None:
        time.sleep(0.05)
        signal.raise_signal(number)

    # A threading.Timer takes a lock that the main thread may hold while it waits for this one.
    _thread.start_new_thread(press_later, ())


def as_interruption(error: BaseException) -> BaseException:
    """Return the interruption that a library turned into another error (pydantic does), or the error."""
    if isinstance(error, KeyboardInterrupt) or not _interrupted.is_set():
        return error
    return KeyboardInterrupt().with_traceback(error.__traceback__)


def ignore_interrupts() -> None:
    """Ignore further signals: the command is over, and reports how it ended."""
    _over.set()
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``interrupt`` from another thread as soon as the user presses Ctrl-C.

    Python runs signal handlers only between two of its own instructions, so a long statement would first run to its
    end. It writes to the wakeup descriptor at once.
    """
    reader, writer, watcher, before = _start_watching(interrupt)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.close()
        watcher.join()
        reader.close()


@functools.cache
def _watch_always() -> None:
    """Have signals seen while nothing else watches, until the program ends."""
    _, writer, *_ = _start_watching(lambda: None)
    writer.detach()


def _start_watching(interrupt: Callable[[], None]) -> tuple[socket.socket, socket.socket, threading.Thread, int]:
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reader, interrupt), daemon=True)
    watcher.start()
    return reader, writer, watcher, before


def _watch(reader: socket.socket, interrupt: Callable[[], None]) -> None:
    while signals := reader.recv(1):
        if signals[0] in INTERRUPTS and not _keeping.takes(signals[0], "watcher"):
            with suppress(Exception):  # the connection is already closed
                interrupt()
            if signals[0] != signal.SIGINT:  # Ctrl-C can be pressed again
                threading.Thread(target=_end_if_stuck, daemon=True).start()


def _end_if_stuck() -> None:
    """End the process if it waits in a library that no signal reaches, or does not get to its end."""
    if not _interrupted.wait(UNANSWERED) or not _over.wait(PATIENCE):
        os.write(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, LAST_WORDS)
        os._exit(128 + signal.SIGINT)
