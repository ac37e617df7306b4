"""A way to a server that can end in nothing, as if its machine or the network had vanished: no connection is closed."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Way:
    """Forwards connections to a port of this machine, unless it is cut.

    Attributes:
        port: where it begins.
    """

    def __init__(self, target: int) -> None:
        self._target, self._is_cut, self._mended = target, False, 0
        self._lock = threading.Lock()
        listening = socket.create_server(("127.0.0.1", 0))
        self._sockets = [listening]
        self.port = listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(listening,), daemon=True).start()

    def cut(self) -> None:
        """Forward nothing from now on."""
        self._is_cut = True

    def mend(self) -> None:
        """Forward again what new connections bring, and end those that have lost something."""
        with self._lock:
            self._mended += 1
            self._is_cut = False
            old = self._sockets[1:]
            del self._sockets[1:]
        self._end(old)

    def close(self) -> None:
        self._end(self._sockets)

    @staticmethod
    def _end(sockets: list[socket.socket]) -> None:
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self, listening: socket.socket) -> None:
        with listening, suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._sockets += [near, far]
                    mended = self._mended
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._forward, args=(source, target, mended), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, mended: int) -> None:
        with source, suppress(OSError):
            while data := source.recv(65_536):
                if not self._is_cut and mended == self._mended:
                    target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)


@contextmanager
def way_to(port: int) -> Iterator[Way]:
    """A way to a port, which is closed at the end."""
    way = Way(port)
    try:
        yield way
    finally:
        way.close()
