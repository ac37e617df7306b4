"""A server of Spark Connect in a process of its own: Sail."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

PATIENCE = 60
"""Seconds until it has to listen."""


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        return f"sc://127.0.0.1:{self.port}"


@contextmanager
def sail() -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-m", "pysail", "spark", "server", "--ip", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield Server(process, port)
        finally:
            process.kill()


def free_port() -> int:
    """A port of this machine where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def is_listening(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while not is_listening(port):
        assert time.monotonic() < end, "the server does not listen"
        time.sleep(0.1)
