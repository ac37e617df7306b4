"""Ctrl-C that works while the database is busy."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


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
