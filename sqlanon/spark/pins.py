"""Sources of a server in a state that stays: the files that they consist of, with sizes and times."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.paths import is_folder
from sqlanon.errors import EngineError
from sqlanon.lakes.store import RUN, StoredRelease
from sqlanon.lakes.tables import lake_table, pinned_version
from sqlanon.model.destination import DELTA, FILE_SUFFIX, ICEBERG, STORE, in_words
from sqlanon.queries.kit.nodes import identifier
from sqlanon.spark.spark_values import SPARK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
"""What Apache Spark says of a path without files; Sail reads it as a table without columns."""

ROOT = re.compile(r"(?!file:)[\w+.-]+://[^/]+/")
"""What the address of a file begins with that is not in a file system: the scheme and the bucket."""

NO_READER = "DATA_SOURCE_NOT_FOUND"  # what Apache Spark says of a format that it has no reader for


@dataclass(frozen=True)
class Pin:
    """The state of a source."""

    source: str  # its name
    files: frozenset[tuple[str, int, str]]  # path, or address in a store, bytes and time of change of each of its files
    version: int | None = None  # the number of its version; None if it has none

    def refuse_changed(self, spark: SparkSession) -> None:
        """Refuse a source that has other files by now."""
        found = pinned(spark, self.source)
        if found is None or found[1] != self:
            raise EngineError(
                f"{self.source} has changed since its rows were counted, so the release may be of two states: it is "
                "not published; run again while nobody writes to the source",
                step="publish",
            )


def pinned(spark: SparkSession, source: str) -> tuple[DataFrame, Pin] | None:
    """The rows of a table, a folder or a file of Parquet, with the state that they are in; None if it is not there.

    Raises:
        EngineError: it is a view, so that its state is unknown, or a Delta table that does not exist.
    """
    if source.startswith(DELTA):
        return _delta(spark, source)
    if source.startswith(ICEBERG):
        reason = f"{in_words(source)} is a name of the catalogs here: give the name that the catalog of the server has"
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
    """The newest version of a Delta table: its log is read here, its rows by the reader of the server.

    A server that has none reads the files, if they have all columns.
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
    """Whether a source is a path, not the name of a table: it has a slash, or is a folder or a file here."""
    return source.startswith(DELTA) or "/" in source or is_folder(source) or source.endswith(FILE_SUFFIX)


def place_of(path: str) -> str:
    """A path as the server has to get it, which has another working folder."""
    return path if "://" in path else os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111


def readable(source: str) -> exp.Table:
    """A source as statements of Spark name it."""
    if not is_path(source):
        return exp.to_table(source, dialect=SPARK)
    reader, place = ("delta", source.removeprefix(DELTA)) if source.startswith(DELTA) else ("parquet", source)
    return exp.Table(this=identifier(place_of(place)), db=identifier(reader))


def loaded(load: Callable[[str], DataFrame], place: str) -> DataFrame | None:
    """What is read at a place; None if there is nothing, or no reader for it."""
    from pyspark.errors import PySparkException

    try:
        frame = load(place)
        return frame if frame.schema.fields else None
    except PySparkException as error:
        # Nothing else: a source that the server refuses is not to be read here in its place.
        if error.getCondition() in (*NOTHING_THERE, NO_READER):
            return None
        raise


def _released(spark: SparkSession, source: str) -> tuple[DataFrame, list[str]]:
    """The rows of a release in a store: of the files that its note lists, since others are of earlier ones."""
    stored = StoredRelease(source)
    if not stored.names:
        reason = f"{source} has files of releases, and no note that lists those of one: give the address of a release"
        raise EngineError(reason, step="source")
    files = [f"{stored.url}{name}" for name in stored.names]
    return spark.read.parquet(*files), files


def _states(spark: SparkSession, files: Sequence[str]) -> frozenset[tuple[str, int, str]]:
    found = spark.read.format("binaryFile").load([*files]).select("path", "length", "modificationTime").toArrow()
    root = ROOT.match(files[0])
    states = [(row["path"], row["length"], row["modificationTime"].isoformat()) for row in found.to_pylist()]
    return frozenset((_whole(path, root[0] if root else "/"), *state) for path, *state in states)


def _whole(path: str, root: str) -> str:
    """A path without the scheme of a file system, or an address in a store: Sail leaves out what it is in."""
    local = path.removeprefix("file:")
    return path if "://" in local else f"{root}{local.lstrip('/')}"
