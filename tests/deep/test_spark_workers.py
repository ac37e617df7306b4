"""Workers of Apache Spark, or its driver, are killed in each stage of a run: ``python -m tests.spark`` runs this."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.spark.spark_rows import SparkRows
from tests.benchmarks.lakes import COLUMNS, blow_up, load_taxonomies
from tests.deep.test_spark_kills import few_retries
from tests.spark import Cluster, Program, cluster, connected

HOME = Path(os.environ.get("SPARK_HOME", ""))
pytestmark = pytest.mark.skipif("SPARK_HOME" not in os.environ, reason="python -m tests.spark has a cluster")

ROWS = 300_000
KILLS = {"cells": 7, "write the release": 7, "measure the risks": 6}
"""How many workers are killed while a statement is answered, one of each stage of a run, by its purpose."""

QUASI_IDENTIFIERS = COLUMNS[:5]
POLICY = sa.Policy(
    quasi_identifiers=QUASI_IDENTIFIERS,
    insensitive=["native_country"],
    privacy=[sa.KAnonymity(5)],
    suppression_limit=0.05,
)
OPTIONS = ("spark.executor.memory=512m", "spark.driver.memory=1g", "spark.driver.host=127.0.0.1")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people, and their release by DuckDB."""
    folder = tmp_path_factory.mktemp("lake")
    blow_up(folder / "people.parquet", ROWS, COLUMNS[:6], adult=False)
    with sa.connect() as session:
        released(session, folder, "near")
    return folder


@pytest.fixture(scope="module")
def workers() -> Iterator[Cluster]:
    with cluster(HOME) as found:
        yield found


@contextmanager
def driver(workers: Cluster) -> Iterator[Program]:
    """A server of Spark Connect whose executors are on the workers."""
    with connected(HOME, workers.master, *(word for option in OPTIONS for word in ("--conf", option))) as found:
        yield found


def released(session: sa.Session, folder: Path, name: str) -> sa.Release:
    """The people of a folder, released to another one in it."""
    load_taxonomies(session, QUASI_IDENTIFIERS, adult=False)
    return session.anonymize(f"{folder}/people.parquet", POLICY, f"{folder}/{name}/", replace=True)


def differing_rows(folder: Path) -> int:
    """How many rows one release has and the other one has not."""
    near, far = (f"FROM '{folder}/{name}/*.parquet'" for name in ("near", "far"))
    query = (
        f"SELECT (SELECT count(*) FROM ({near} EXCEPT ALL {far})) + (SELECT count(*) FROM ({far} EXCEPT ALL {near}))"
    )
    return int(duckdb.sql(query).fetchall()[0][0])


class Killer:
    """A clock that kills while the server works on the statement of a stage.

    Attributes:
        kill: what is done then.
        moments: shares of the time that the statement took in the first run, which is left alone.
        kills: how many came before the statement had ended.
    """

    def __init__(self, stage: str, kill: Callable[[], None]) -> None:
        self.stage, self.kill = stage, kill
        self.moments = random.Random(stage)  # noqa: S311
        self.seconds: float | None = None
        self.kills = 0
        self._is_asked = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        asked = SparkRows.asked
        timers: list[threading.Timer] = []

        @contextmanager
        def watched(rows: SparkRows, query: Any, small: Any, purpose: str) -> Iterator[Any]:
            with asked(rows, query, small, purpose) as frame:
                start, self._is_asked = time.monotonic(), True
                if purpose == self.stage and self.seconds is not None:
                    timers.append(threading.Timer(self.seconds * self.moments.random(), self._strike))
                    timers[-1].start()
                try:
                    yield frame
                finally:
                    self._is_asked = False
                if purpose == self.stage and self.seconds is None:
                    self.seconds = time.monotonic() - start

        with mock.patch.object(SparkRows, "asked", watched):
            yield
        for timer in timers:
            timer.join()

    def _strike(self) -> None:
        self.kills += self._is_asked
        self.kill()


@pytest.mark.parametrize("stage", KILLS)
def test_a_release_is_the_same_whoever_dies(lake: Path, workers: Cluster, stage: str) -> None:
    killer = Killer(stage, workers.kill_worker)
    with driver(workers) as server, sa.connect(rows=server.url) as session:
        released(session, lake, "far")  # which has the executors start
        with killer.watching():
            for _ in range(1 + KILLS[stage]):
                released(session, lake, "far")
                assert differing_rows(lake) == 0
                assert not [path for path in lake.iterdir() if path.name.startswith(".")]
    assert killer.kills > KILLS[stage] / 2, "others came just behind the statement"


@pytest.mark.parametrize("stage", KILLS)
def test_a_driver_is_killed(lake: Path, workers: Cluster, stage: str) -> None:
    with driver(workers) as server, few_retries(), sa.connect(rows=server.url) as session:
        released(session, lake, "far")
        before = sorted(lake.rglob("*"))
        killer = Killer(stage, server.kill)
        with killer.watching():
            released(session, lake, "far")
            with pytest.raises(sa.EngineError, match="no longer answers"):
                released(session, lake, "far")
    assert differing_rows(lake) == 0
    assert {path.name for path in lake.iterdir()} == {path.name for path in before if path.parent == lake}
