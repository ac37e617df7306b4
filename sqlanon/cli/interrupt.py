"""Ctrl-C, and its like from other programs, that work while the database is busy."""

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

PATIENCE = 5.0
"""Seconds after Ctrl-C in which it does nothing when it is pressed again: that is time to clean up, or to import."""

INTERRUPTS = [number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP")]
"""Ctrl-C, what schedulers send before they kill, and a terminal that is closed, which not every system signals."""


UNANSWERED = 0.8  # seconds after which a program that does not react to a signal counts as one that waits for ever

LAST_WORDS = b"Error: interrupted; what is at the target is either as it was, or new and whole\n"

_interrupted = threading.Event()
_over = threading.Event()


class Keeping:
    """The first Ctrl-C while a command has something to keep: it asks the command to stop, the next one interrupts it.

    Whoever asks whether it was pressed has something to keep from then on. The handler of signals and the thread that
    watches for them see each Ctrl-C on their own.
    """

    def __init__(self) -> None:
        self.has_something = False
        self._taken_by: set[str] = set()

    def is_asked_to_stop(self) -> bool:
        """Return whether Ctrl-C was pressed, as the handler saw it."""
        self.has_something = True
        return "handler" in self._taken_by

    def takes(self, number: int, seen_by: str) -> bool:
        """Return whether a signal, as one of the two sees it, asks to stop and shall do nothing else."""
        if number != signal.SIGINT or not self.has_something or seen_by in self._taken_by:
            return False
        self._taken_by.add(seen_by)
        return True


_keeping = Keeping()


@contextmanager
def keeping() -> Iterator[Callable[[], bool]]:
    """Say whether Ctrl-C was pressed, which interrupts nothing the first time, from when that is asked first."""
    global _keeping
    before, _keeping = _keeping, Keeping()
    try:
        yield _keeping.is_asked_to_stop
    finally:
        _keeping = before


def interrupt_once(clock: Callable[[], float] = time.monotonic) -> None:
    """Let Ctrl-C interrupt the program as always, but not the cleaning up that follows, nor an import.

    An import may swallow what is raised in it: DuckDB 1.5 imports pandas when it is given the first value to bind, and
    does without if that fails. So Ctrl-C waits for the end of the import. Python discards what a finalizer raises: a
    Ctrl-C that arrives in one is pressed again.
    """
    _interrupted.clear()
    _over.clear()
    with suppress(OSError):  # a program that may open no more files goes on without
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
        # A job in the background ignores Ctrl-C, and one under nohup the end of its terminal.
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

    # Not a threading.Timer: the main thread, which waits for this one, may hold the lock that it takes.
    _thread.start_new_thread(press_later, ())


def as_interruption(error: BaseException) -> BaseException:
    """Return an error, or the interruption that a library turned into it: pydantic does where it builds a schema."""
    if isinstance(error, KeyboardInterrupt) or not _interrupted.is_set():
        return error
    return KeyboardInterrupt().with_traceback(error.__traceback__)


def ignore_interrupts() -> None:
    """Let Ctrl-C do nothing more: the command is over, and says itself how it ended."""
    _over.set()
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``interrupt`` from another thread as soon as the user presses Ctrl-C.

    Python itself reacts to a signal between two of its own instructions only, so a long statement could first run to
    its end. What it does at once, wherever it is, is to write to the wakeup descriptor.
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
    """Have a signal seen while nothing else watches, until the program ends."""
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
    """Wait for signals until the other end is closed."""
    while signals := reader.recv(1):
        if signals[0] in INTERRUPTS and not _keeping.takes(signals[0], "watcher"):
            with suppress(Exception):  # the connection is already closed
                interrupt()
            if signals[0] != signal.SIGINT:  # Ctrl-C can be pressed again
                threading.Thread(target=_end_if_stuck, daemon=True).start()


def _end_if_stuck() -> None:
    """End the program, as a kill would, if it waits in a library that no signal reaches, or does not get to its end."""
    if not _interrupted.wait(UNANSWERED) or not _over.wait(PATIENCE):
        os.write(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, LAST_WORDS)
        os._exit(128 + signal.SIGINT)
