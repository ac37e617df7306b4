"""Runs whose rows are on a server, and the client or the server is killed: the target is as before, or complete."""

import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.engines.duckdb import float_texts
from sqlanon.spark import server as connecting
from sqlanon.spark.spark_rows import SparkRows
from tests.black_hole import way_to
from tests.deep.test_kills import NEW, OLD, SOURCE, folder, is_new, kill_runs
from tests.sail import sail

__all__ = ["folder"]

SERVER_KILLS = 6
LONG = 4
"""Seconds of a query during which a server is asked several times whether it lives."""

KILLS = int(os.environ.get("SQLANON_KILLS", "20"))
"""How many clients are killed."""

pytest.importorskip("pysail.spark")
pytest.importorskip("pyspark.sql.connect")


def test_a_client_is_killed(folder: Path) -> None:
    with sail() as server:
        assert kill_runs(folder, OLD, NEW, ["far/"], KILLS, server.url) == {"far/": KILLS}


@pytest.mark.parametrize("method", ["count", "write", "refuse_changed"], ids=["cells", "release", "end"])
def test_a_server_is_killed(folder: Path, method: str) -> None:
    kill_a_server(folder, method)


def kill_a_server(folder: Path, method: str) -> None:
    """Kill the server of a run right before it is asked for what a method asks it for."""
    with sail() as server, few_retries(), sa.connect("w.duckdb", rows=server.url) as session:
        session.anonymize(SOURCE, OLD, "far/")
        replace_without_answer(session, method, server.process.kill)
    assert not list(folder.glob(".far*"))
    with sa.connect("w.duckdb") as session:
        assert not is_new(session, "far/")
        session.anonymize(SOURCE, NEW, "far/", replace=True)
        assert is_new(session, "far/")


def test_a_server_is_killed_before_its_session_is_closed(folder: Path) -> None:
    with sail() as server, few_retries(), sa.connect("w.duckdb", rows=server.url) as session:
        session.anonymize(SOURCE, OLD, "far/")
        server.process.kill()
        server.process.wait()
    assert not list(folder.glob(".far*"))
    with sa.connect("w.duckdb") as session:
        assert not is_new(session, "far/")


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


@pytest.mark.parametrize("method", ["count", "write", "refuse_changed"], ids=["cells", "release", "end"])
def test_a_server_vanishes(folder: Path, method: str) -> None:
    with (
        impatient(),
        sail() as server,
        way_to(server.port) as way,
        sa.connect("w.duckdb", rows=f"sc://127.0.0.1:{way.port}") as session,
    ):
        session.anonymize(SOURCE, OLD, "far/")
        replace_without_answer(session, method, way.cut)
        assert not list(folder.glob(".far*"))
        way.mend()
        wait_for_answers(session)
        assert not is_new(session, "far/")
        session.anonymize(SOURCE, NEW, "far/", replace=True)
        assert is_new(session, "far/")


def wait_for_answers(session: sa.Session) -> None:
    """Ask a server until it answers: a channel that was cut takes its time before it tries again."""
    until = time.monotonic() + 60
    while True:
        try:
            is_new(session, "far/")
            return
        except sa.EngineError:
            assert time.monotonic() < until, "the server does not answer although the way to it is mended"


def test_a_server_that_computes_for_long_is_left_to_it() -> None:
    with impatient(connecting.SIGN_OF_LIFE), sail() as server:
        rows = SparkRows(server.url, float_texts)
        start = time.monotonic()
        size = 10_000
        while time.monotonic() - start < LONG:
            size *= 2
            start = time.monotonic()
            rows.spark.sql(f"SELECT sum(x.id % (y.id + 1)) FROM range({size}) x CROSS JOIN range(30000) y").toArrow()
        rows.close()


def replace_without_answer(session: sa.Session, method: str, silence: Callable[[], object]) -> None:
    """Replace a release while the server falls silent, before it is asked for what a method asks it for."""
    ask = getattr(SparkRows, method)

    def silenced(*given: Any) -> Any:
        silence()
        return ask(*given)

    with (
        mock.patch.object(SparkRows, method, silenced),
        pytest.raises(sa.EngineError, match="no longer answers"),
    ):
        session.anonymize(SOURCE, NEW, "far/", replace=True)


def impatient(sign_of_life: int = 5) -> AbstractContextManager[object]:
    """A client that asks for a sign of life after each second of silence, and does not call again."""
    return mock.patch.multiple(connecting, SILENCE=1, SIGN_OF_LIFE=sign_of_life, PATIENCE=1, RETRIES=0)


def few_retries() -> AbstractContextManager[object]:
    """A client that gives up after a second."""
    return mock.patch.object(connecting, "RETRIES", 3)
