"""A server: its connection, its errors, and pinned states of its sources.

Errors are reworded, because a server's own text can quote values of the table. The state of a source is its files, with
sizes and times.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlglot import exp

from sqlanon.engines.paths import is_folder
from sqlanon.errors import EngineError, Refusal
from sqlanon.lakes.store import RUN, StoredRelease
from sqlanon.lakes.tables import lake_table, pinned_version
from sqlanon.model.destination import DELTA, FILE_SUFFIX, ICEBERG, STORE, in_words
from sqlanon.queries.kit.nodes import identifier
from sqlanon.spark.spark_values import SPARK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import RetryPolicy

PORT = 15002  # by default
PATIENCE = 10  # seconds for a server to accept a connection
RETRIES = 6  # repetitions of a call, after 0.05, 0.2, 0.8 and 3.2 seconds, and twice after the longest pause
LONGEST_PAUSE = 10_000  # in milliseconds

# Seconds of silence after which a server that owes an answer is pinged. Apache Spark reports progress every two seconds
# while it runs a query, but is silent while it lists the files of a lake. It closes the connection of a client that
# pings more than a few times within five minutes.
SILENCE = 330

SIGN_OF_LIFE = 60  # seconds to answer a ping; Sail answers late while a query needs all processors


def watched(address: str) -> DefaultChannelBuilder:
    """Configure a connection that ends if the server is gone: calls would otherwise wait forever."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    options = {
        "grpc.keepalive_time_ms": SILENCE * 1_000,
        "grpc.keepalive_timeout_ms": SIGN_OF_LIFE * 1_000,
        "grpc.http2.ping_timeout_ms": SIGN_OF_LIFE * 1_000,
        "grpc.min_reconnect_backoff_ms": PATIENCE * 1_000,
        "grpc.http2.max_pings_without_data": 0,  # unlimited
    }
    return DefaultChannelBuilder(address, [*options.items()])


def refuse_unreachable(url: str) -> None:
    """Refuse an address where nobody listens, for which the client would retry for minutes."""
    place = urlsplit(url)
    try:
        socket.create_connection((place.hostname or "", place.port or PORT), PATIENCE).close()
    except (OSError, ValueError) as error:
        raise EngineError(UNREACHABLE.format(url), step="open", original=error) from None


def patience() -> RetryPolicy:
    """Limit retries of an unanswered call to half a minute, from the client's ten."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    return DefaultPolicy(max_retries=RETRIES, max_backoff=LONGEST_PAUSE, max_server_retry_delay=LONGEST_PAUSE)


UNREACHABLE = "the server {} cannot be reached: check that it runs, and its address and port"
GONE = "the server {} no longer answers: check that it runs, and run again"


@contextmanager
def refusals(purpose: str, url: str, sql: str | None = None) -> Iterator[None]:
    """Convert errors of a Spark Connect server to EngineError."""
    from grpc import RpcError, StatusCode
    from pyspark.errors import PySparkException
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    try:
        yield
    except (RpcError, PySparkException) as error:
        is_gone = isinstance(error, RpcError)
        if isinstance(error, SparkConnectGrpcException):
            is_gone = error.getGrpcStatusCode() is StatusCode.UNAVAILABLE
        if is_gone:
            raise gone(purpose, url, sql, error) from None
        condition: Any = error  # its text can have values of the table
        reason = f"the server {url} refused the step: {condition.getCondition() or type(error).__name__}"
        raise EngineError(reason, step=purpose, sql=sql, original=error) from None


def gone(purpose: str, url: str, sql: str | None = None, original: Exception | None = None) -> EngineError:
    return EngineError(GONE.format(url), step=purpose, sql=sql, original=original, refusal=Refusal.GONE)


# Apache Spark's conditions for a path without files; Sail reads a table without columns.
NOTHING_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
ROOT = re.compile(r"(?!file:)[\w+.-]+://[^/]+/")  # scheme and bucket of an address in a store
NO_READER = "DATA_SOURCE_NOT_FOUND"  # Apache Spark's condition for an unknown format


@dataclass(frozen=True)
class Pin:
    """The state of a source."""

    source: str  # its name
    files: frozenset[tuple[str, int, str]]  # per file, its path, or address in a store, bytes and modification time
    version: int | None = None  # if versions are numbered

    def refuse_changed(self, spark: SparkSession) -> None:
        found = pinned(spark, self.source)
        if found is None or found[1] != self:
            raise EngineError(
                f"{self.source} has changed since its rows were counted, so the release may mix two states: it is not "
                "published; run again while nobody writes to the source",
                step="publish",
            )


def pinned(spark: SparkSession, source: str) -> tuple[DataFrame, Pin] | None:
    """Return the rows of a table, a folder or a Parquet file, with their state; None if it does not exist.

    Refuse a view, whose state is unknown, and a missing Delta table.
    """
    if source.startswith(DELTA):
        return _delta(spark, source)
    if source.startswith(ICEBERG):
        reason = f"{in_words(source)} is a name in a local catalog: give its name in the server's catalog"
        raise EngineError(reason, step="source")
    if is_path(source):
        frame = loaded(spark.read.parquet, place_of(source))
    else:
        frame = spark.table(source) if spark.catalog.tableExists(source) else None
    if frame is None:
        return None
    files = frame.inputFiles()
    if STORE.match(source) and not RUN.search(f"{source}/") and any(map(RUN.search, files)):
        frame, files = _released(spark, source)
    if not files:
        raise EngineError(
            f"{source} has no files of its own, as views have none: its rows may change during the run; give the "
            "table, or a folder of Parquet files",
            step="source",
        )
    return frame, Pin(source, _states(spark, files))


def _delta(spark: SparkSession, source: str) -> tuple[DataFrame, Pin]:
    """Return the newest version of a Delta table: its log is read here, its rows by the server's reader.

    A server without one reads the files, if they have all columns.
    """
    pinned = pinned_version(lake_table(source))
    folder, version = pinned.table.folder, pinned.version
    frame = loaded(spark.read.format("delta").option("versionAsOf", str(version.number)).load, str(folder))
    if frame is None and version.partition_by:
        reason = (
            f"the server has no reader of Delta tables, which {source} needs, as it is partitioned: add delta-spark"
        )
        raise EngineError(reason, step="source")
    if frame is None:
        frame = spark.read.option("mergeSchema", "true").parquet(*pinned.files.paths)
    files = ((str(folder / name), size, "") for name, size in version.files.items())
    return frame, Pin(source, frozenset(files), version.number)


def is_path(source: str) -> bool:
    """Return whether a source is a path, not a table: it has a slash, or is a folder or a file here."""
    return source.startswith(DELTA) or "/" in source or is_folder(source) or source.endswith(FILE_SUFFIX)


def place_of(path: str) -> str:
    """Return an absolute path for the server, which has another working folder."""
    return path if "://" in path else os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def readable(source: str) -> exp.Table:
    if not is_path(source):
        return exp.to_table(source, dialect=SPARK)
    reader, place = ("delta", source.removeprefix(DELTA)) if source.startswith(DELTA) else ("parquet", source)
    return exp.Table(this=identifier(place_of(place)), db=identifier(reader))


def loaded(load: Callable[[str], DataFrame], place: str) -> DataFrame | None:
    """Return the frame of a reader; None if there is nothing, or no reader for it."""
    from pyspark.errors import PySparkException

    try:
        frame = load(place)
        return frame if frame.schema.fields else None
    except PySparkException as error:
        # Raise other errors: a source that the server refuses must not be read here instead.
        if error.getCondition() in (*NOTHING_THERE, NO_READER):
            return None
        raise


def _released(spark: SparkSession, source: str) -> tuple[DataFrame, list[str]]:
    """Return the rows of a release in a store, from the files that its note lists; others may be older."""
    stored = StoredRelease(source)
    if not stored.names:
        reason = f"{source} has files of releases, and no note that lists those of one: give the address of a release"
        raise EngineError(reason, step="source")
    files = [f"{stored.url}{name}" for name in stored.names]
    return spark.read.parquet(*files), files


def _states(spark: SparkSession, files: Sequence[str]) -> frozenset[tuple[str, int, str]]:
    found = spark.read.format("binaryFile").load([*files]).select("path", "length", "modificationTime").toArrow()
    root = ROOT.match(files[0])
    states = []
    for row in found.to_pylist():
        # Drop the scheme of a file system, and restore the bucket of an address, which Sail leaves out.
        path, local = row["path"], row["path"].removeprefix("file:")
        whole = path if "://" in local else f"{root[0] if root else '/'}{local.lstrip('/')}"
        states.append((whole, row["length"], row["modificationTime"].isoformat()))
    return frozenset(states)
