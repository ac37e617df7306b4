"""Ctrl-C that works while the database is busy."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

PATIENCE = 5.0
"""Seconds after Ctrl-C in which it does nothing when it is pressed again: that is time to clean up."""


def interrupt_once(clock: Callable[[], float] = time.monotonic) -> None:
    """Let Ctrl-C interrupt the program as always, but not the cleaning up that follows."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # a job in the background ignores Ctrl-C
    earliest = clock()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal earliest
        if (now := clock()) >= earliest:
            earliest = now + PATIENCE
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


def ignore_interrupts() -> None:
    """Let Ctrl-C do nothing more: the command is over, and says itself how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``interrupt`` from another thread as soon as the user presses Ctrl-C.

    Python itself reacts to a signal between two of its own instructions only, so a long statement could first run to
    its end. What it does at once, wherever it is, is to write to the wakeup descriptor.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reader, interrupt), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.close()
        watcher.join()
        reader.close()


def _watch(reader: socket.socket, interrupt: Callable[[], None]) -> None:
    """Wait for signals until the other end is closed."""
    while signals := reader.recv(1):
        if signals[0] == signal.SIGINT:
            with suppress(Exception):  # the connection is already closed
                interrupt()
