"""Runs whose rows are on a server, and the client or the server is killed: the target is as before, or complete."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.engines.spark import refusals
from sqlanon.engines.spark.rows import SparkRows
from tests.integration.test_kills import NEW, OLD, SOURCE, folder, is_new, kill_runs

__all__ = ["folder"]

SERVER_KILLS = 6
KILLS = int(os.environ.get("SQLANON_KILLS", "20"))
"""How many clients are killed."""

PATIENCE = 60
"""Seconds until a server has to listen."""


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[bytes]
    url: str


@contextmanager
def sail() -> Iterator[Server]:
    """A new server, which is gone at the end."""
    pytest.importorskip("pysail.spark")
    pytest.importorskip("pyspark.sql.connect")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pysail", "spark", "server", "--ip", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port)
            yield Server(process, f"sc://127.0.0.1:{port}")
        finally:
            process.kill()


def _wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < end, "the server does not listen"
            time.sleep(0.1)


@pytest.mark.deep
def test_a_client_is_killed(folder: Path) -> None:
    with sail() as server:
        assert kill_runs(folder, OLD, NEW, ["far/"], KILLS, server.url) == {"far/": KILLS}


@pytest.mark.parametrize("method", ["count", "write", "refuse_changed"], ids=["cells", "release", "end"])
def test_a_server_is_killed(folder: Path, method: str) -> None:
    ask = getattr(SparkRows, method)
    with sail() as server, few_retries(), sa.connect("w.duckdb", rows=server.url) as session:
        session.anonymize(SOURCE, OLD, "far/")

        def killed(*given: Any) -> Any:
            server.process.kill()
            return ask(*given)

        with (
            mock.patch.object(SparkRows, method, killed),
            pytest.raises(sa.EngineError, match="does not answer any more"),
        ):
            session.anonymize(SOURCE, NEW, "far/", replace=True)
    assert not list(folder.glob(".far*"))
    with sa.connect("w.duckdb") as session:
        assert not is_new(session, "far/")
        session.anonymize(SOURCE, NEW, "far/", replace=True)
        assert is_new(session, "far/")


@pytest.mark.deep
def test_a_server_is_killed_at_any_moment(folder: Path) -> None:
    moments = random.Random(7)  # noqa: S311
    with sail() as server, sa.connect("w.duckdb", rows=server.url) as session:
        start = time.monotonic()
        session.anonymize(SOURCE, OLD, "far/")
        seconds = time.monotonic() - start
    killed = 0
    while killed < SERVER_KILLS:
        with sail() as server, few_retries(), sa.connect("w.duckdb", rows=server.url) as session:
            timer = threading.Timer(moments.uniform(0, seconds), server.process.kill)
            timer.start()
            try:
                session.anonymize(SOURCE, NEW, "far/", replace=True)
            except sa.EngineError:
                killed += 1
            timer.join()
        assert not list(folder.glob(".far*"))
        with sa.connect("w.duckdb") as session:
            if is_new(session, "far/"):
                session.anonymize(SOURCE, OLD, "far/", replace=True)


def few_retries() -> AbstractContextManager[object]:
    """A client that gives up after a second."""
    return mock.patch.object(refusals, "RETRIES", 3)
