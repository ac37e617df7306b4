"""Rows on a Spark Connect server (Apache Spark, Databricks, EMR or Sail), to which queries on them are sent."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp, parse_one

from sqlanon.engines.cutting import Rows, Staged
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.names import dataset_of_files, without_secret
from sqlanon.queries.kit.nodes import DIALECT, Relation, identifier, select
from sqlanon.queries.source import SourceColumn
from sqlanon.satellites import extra_module
from sqlanon.spark.dialect import Statement, in_spark
from sqlanon.spark.server import (
    Pin,
    gone,
    is_path,
    patience,
    pinned,
    readable,
    refusals,
    refuse_unreachable,
    watched,
)
from sqlanon.spark.spark_values import SPARK, FloatTexts, columns_of, misfits, sendable, source_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

CATALOG = "spark"  # the catalog of the server's relations in our trees

# The client logs texts of errors here, which have values of the table, to standard error.
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # the default writes instants without a zone
}

_TOO_MANY_FRACTIONS = (
    'the column "{}" has more than {:,} fractions, whose texts are made here: round them in the source, or store them '
    "as decimal numbers or texts"
)

MAX_CELLS = 10_000_000  # cells fetched by default: a few hundred MB


@dataclass(frozen=True)
class View:
    """A view of ours on the server."""

    name: str
    columns: Sequence[SourceColumn]


@dataclass(frozen=True)
class _Kept(View):
    """A view with its rows, and the states of its sources."""

    frame: DataFrame
    pins: tuple[Pin, ...]


class SparkRows(Rows):
    """A server, and the views of a session on it."""

    def __init__(self, url: str, float_texts: Callable[..., pa.Array], max_cells: int = MAX_CELLS) -> None:
        """Keep the address; ``float_texts`` spells fractions as DuckDB does."""
        if not isinstance(url, str) or not url.startswith("sc://"):
            reason = "the address of a server of Spark Connect begins with sc://, as sc://localhost:15002 does"
            raise EngineError(reason, step="open")
        self._address, self.max_cells = url, max_cells
        self.url = without_secret(url)  # to show
        self.float_texts = float_texts
        self._connect = extra_module("pyspark.sql.connect.session", extra="spark", purpose="a server of Spark Connect")
        self.views: dict[tuple[str, str], _Kept] = {}  # by catalog and name of the relation
        self._numbers = iter(range(1, 2**31))
        self._known_texts: dict[tuple[str, str], pa.Table] = {}
        self._is_gone = False

    @cached_property
    def spark(self) -> SparkSession:
        """The session on the server, opened on first use."""
        for name in LOGGERS:
            logging.getLogger(name).disabled = True
        warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")  # the error says so
        refuse_unreachable(self.url)
        with refusals("open", self.url):
            session: Any = self._connect.SparkSession.builder.channelBuilder(watched(self._address)).create()
            session.client.set_retry_policies([patience()])
            for setting, value in SETTINGS.items():
                session.conf.set(setting, value)
        return cast("SparkSession", session)

    def owns(self, relation: exp.Table) -> bool:
        return _key(relation) in self.views

    def scan(self, source: str) -> ResolvedSource | None:
        if self._is_gone:
            self._forget()
        with self._refusals("source"):
            found = pinned(self.spark, source)
        if found is None:
            return None
        frame, pin = found
        relation = exp.Table(this=identifier(source), db=identifier("main"), catalog=identifier(CATALOG))
        self._keep(relation, frame, (pin,))
        dataset = dataset_of_files(source) if is_path(source) else source
        return ResolvedSource(relation, f"{source} on {self.url}", dataset=dataset)

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        if isinstance(relation, exp.Table):
            return [*self.views[_key(relation)].columns]
        with self.asked(select([exp.Star()], relation.copy()), {}, "the columns of the source") as frame:
            return source_columns(frame.schema)

    def misfits(self, columns: Sequence[SourceColumn]) -> Iterator[str]:
        return misfits(columns)

    def count(self, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> pa.Table | None:
        with self.asked(query, small, purpose) as frame:
            return self._received(frame, purpose)

    def make(self, relation: Relation, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> None:
        unordered = query.copy()
        unordered.set("order", None)  # rows are ordered when they are written
        with self.asked(unordered, small, purpose) as frame:
            self._keep(relation.table, frame, self._pins_of(query))
        if relation.grain != "rows":  # rows are read once, to be written
            self._persist(relation.table)

    def drop(self, relation: exp.Table) -> None:
        view = self.views.pop(_key(relation))
        self._known_texts = {key: table for key, table in self._known_texts.items() if key[0] != view.name}
        with self._refusals(relation.name):
            view.frame.unpersist()
            self.spark.catalog.dropTempView(view.name)

    def write(self, query: exp.Query, small: Mapping[str, pa.Table], staged: Staged) -> exp.Table:
        pins = self._pins_of(query)
        with self.asked(query, small, "write the release") as frame:
            # Sort by values: the order of the source would reveal neighbours. Quote names, as a bare a.b is a field.
            ordered = frame.sort(*(identifier(name).sql(SPARK) for name in frame.columns))
            ordered.write.option("compression", "zstd").parquet(staged.place)
        files = staged.collected()
        relation = exp.Table(this=identifier(staged.place), db=identifier("main"), catalog=identifier(CATALOG))
        with self._refusals("read the release"):
            self._keep(relation, self.spark.read.parquet(*files), pins)
        self._persist(relation)
        return relation

    def files(self, relation: exp.Table) -> tuple[str, ...]:
        return tuple(path for pin in self.views[_key(relation)].pins for path, *_ in sorted(pin.files))

    def spelled(self, query: exp.Query) -> str:
        tree = query.copy()
        for table in [*tree.find_all(exp.Table)]:
            if self.owns(table):
                [pin, *_] = self.views[_key(table)].pins
                table.replace(readable(pin.source))
        return parse_one(tree.sql(DIALECT), dialect=DIALECT).sql(SPARK)

    def refuse_changed(self, relation: exp.Table) -> None:
        for pin in self.views[_key(relation)].pins:
            with self._refusals("source"):
                pin.refuse_changed(self.spark)

    def close(self) -> None:
        """Close the session and drop its views."""
        if self._is_gone:
            self._forget()
        spark = self.__dict__.pop("spark", None)
        if spark is not None:
            with refusals("close", self.url), warnings.catch_warnings():
                # pyspark logs a lost server by a method that it has itself deprecated.
                warnings.simplefilter("ignore", DeprecationWarning)
                spark.stop()

    @contextmanager
    def _refusals(self, purpose: str, sql: str | None = None) -> Iterator[None]:
        """Convert the server's errors; after it is gone, clean-up does not wait for it again."""
        if self._is_gone:
            raise gone(purpose, self.url)
        try:
            with refusals(purpose, self.url, sql):
                yield
        except EngineError as error:
            self._is_gone = error.refusal is Refusal.GONE
            raise

    def _forget(self) -> None:
        """Forget a server that is gone: another one at its address does not know the session."""
        spark: Any = self.__dict__.pop("spark", None)
        if spark is not None:
            spark.release_session_on_close = False  # it would wait for the server
            spark.stop()
        self.views.clear()
        self._known_texts.clear()
        self._is_gone = False

    def _keep(self, relation: exp.Table, frame: DataFrame, pins: Sequence[Pin]) -> None:
        if self.owns(relation):
            self.drop(relation)
        name = f"sqlanon_{next(self._numbers)}"
        with self._refusals(relation.name):
            frame.createOrReplaceTempView(name)
            kept = self.spark.table(name)  # the frame itself may depend on small relations that are dropped
            self.views[_key(relation)] = _Kept(name, source_columns(kept.schema), kept, tuple(pins))

    def _persist(self, relation: exp.Table) -> None:
        """Have the server cache a relation on first read; Sail caches none, and reads it again."""
        with self._refusals(relation.name):
            self.views[_key(relation)].frame.persist()

    def _pins_of(self, query: exp.Query) -> tuple[Pin, ...]:
        read = [self.views[_key(table)] for table in query.find_all(exp.Table) if self.owns(table)]
        return tuple(dict.fromkeys(pin for view in read for pin in view.pins))

    @contextmanager
    def asked(self, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> Iterator[DataFrame]:
        """Run a query on the server, with small relations that exist during the block."""
        statement = sent(query, self.views, small)
        texts = {each.name: self._texts(each) for each in statement.float_texts}
        try:
            with self._refusals(purpose, statement.text):
                for name, table in {**small, **texts}.items():
                    self._send(sendable(table)).createOrReplaceTempView(name)
                yield self.spark.sql(statement.text)
        except KeyboardInterrupt:
            self.spark.interruptAll()  # the server would go on
            raise
        finally:
            with self._refusals(purpose):
                for name in {**small, **texts}:
                    self.spark.catalog.dropTempView(name)

    def _received(self, frame: DataFrame, purpose: str) -> pa.Table | None:
        """Return the rows of a frame; None if there are more than ``max_cells``."""
        import pyarrow as pa

        try:
            found = frame.limit(self.max_cells + 1).toArrow()
        except pa.ArrowInvalid as error:
            reason = f"the server {self.url} returned values beyond the types of their columns"
            raise EngineError(f"{reason}: give the columns signed types", step=purpose, original=error) from None
        return None if found.num_rows > self.max_cells else found

    def _send(self, table: pa.Table) -> DataFrame:
        if table.num_rows:
            return self.spark.createDataFrame(table)
        from pyspark.sql.pandas.types import from_arrow_schema

        return self.spark.createDataFrame([], schema=from_arrow_schema(table.schema))

    def _texts(self, wanted: FloatTexts) -> pa.Table:
        """Look up DuckDB's spelling of fractions by the server's spelling, once per column."""
        key = wanted.relation, wanted.column
        if key not in self._known_texts:
            with self._refusals("the texts of fractions"):
                found = self._received(self.spark.sql(wanted.look_up), "the texts of fractions")
            if found is None:
                raise EngineError(_TOO_MANY_FRACTIONS.format(wanted.column, self.max_cells), step="source")
            # Any spelling of a server, such as 1.0E-5 or Infinity, parses to the number.
            numbers = [None if text is None else float(text) for text in found["spelled"].to_pylist()]
            spelled = self.float_texts(numbers, is_single=wanted.is_single)
            self._known_texts[key] = found.append_column("text", [spelled])
        return self._known_texts[key]


def sent(query: exp.Query, views: Mapping[tuple[str, str], View], small: Mapping[str, pa.Table]) -> Statement:
    """Translate a query over kept views, by catalog and name of their relations, and small relations."""
    columns, tree = {}, query.copy()
    for table in [*tree.find_all(exp.Table)]:
        if (view := views.get(_key(table))) is not None:
            columns[view.name] = view.columns
            alias = table.args.get("alias") or exp.TableAlias(this=table.this.copy())
            table.replace(exp.Table(this=identifier(view.name), alias=alias.copy()))
    return in_spark(tree, columns | {name: columns_of(table.schema) for name, table in small.items()})


def _key(relation: exp.Table) -> tuple[str, str]:
    return relation.catalog, relation.name
