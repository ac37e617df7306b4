"""Rows in a second database of DuckDB, of which a run gets to see counts alone."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.cutting import Rows, Staged
from sqlanon.engines.duckdb.refusals import refusals
from sqlanon.engines.relations import ResolvedSource, column_of
from sqlanon.queries.kit.nodes import Relation, identifier, select
from sqlanon.queries.source import SourceColumn

FAR = "far"
"""What the names of its tables begin with."""


@dataclass(frozen=True)
class Statement:
    """A statement that was sent: what for, its text, and how many rows came back, None if they stayed."""

    purpose: str
    sql: str
    rows: int | None


class FarRows(Rows):
    """The database, which also writes down what it is asked.

    Attributes:
        statements: those that read rows, in order.
        max_cells: how many rows a result has at most that comes near.
        bucket: the folder that it takes for what is in a bucket.
    """

    bucket = Path()

    def __init__(self, max_cells: int = 10_000_000) -> None:
        self.max_cells = max_cells
        self.connection = duckdb.connect(config={"threads": 1})
        # Sums are of a type that Arrow does not have.
        for statement in (f"ATTACH ':memory:' AS {FAR}", f"USE {FAR}", "SET arrow_lossless_conversion = true"):
            self.connection.execute(statement)
        self.statements: list[Statement] = []
        self._made: set[str] = set()

    def owns(self, relation: exp.Table) -> bool:
        return relation.catalog == FAR or (relation.catalog == "temp" and relation.name in self._made)

    def scan(self, source: str) -> ResolvedSource | None:
        database, _, name = source.partition(".")
        return ResolvedSource(table_of(name), f'table "{source}"', dataset=source) if database == FAR else None

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        self.connection.execute(select([exp.Star()], relation.copy()).limit(0).sql("duckdb"))
        return [column_of(name, str(kind)) for name, kind, *_ in self.connection.description]

    def count(self, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> pa.Table | None:
        with self._with(small), refusals(purpose):
            found = self.connection.sql(query.sql("duckdb")).limit(self.max_cells + 1).to_arrow_table()
        if found.num_rows > self.max_cells:
            return None
        self.statements.append(Statement(purpose, query.sql("duckdb"), found.num_rows))
        return found

    def make(self, relation: Relation, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> None:
        self._create(relation.table, query, small, purpose)
        self._made.add(relation.name)

    def drop(self, relation: exp.Table) -> None:
        kind = "VIEW" if relation.catalog == FAR else "TABLE"
        self.connection.execute(f"DROP {kind} {relation.sql('duckdb')}")
        self._made.discard(relation.name)

    def write(self, query: exp.Query, small: Mapping[str, pa.Table], staged: Staged) -> exp.Table:
        folder = self._at(staged.place)
        folder.mkdir(parents=True)
        with self._with(small), refusals("write the release"):
            self.connection.execute(f"COPY ({query.sql('duckdb')}) TO '{folder}/0.parquet' (FORMAT parquet)")
        (file,), written = staged.collected(), table_of(staged.place)
        self.connection.execute(f"CREATE VIEW {written.sql('duckdb')} AS FROM read_parquet('{self._at(file)}')")
        self.statements.append(Statement("write the release", query.sql("duckdb"), None))
        return written

    def _at(self, place: str) -> Path:
        return self.bucket / place.removeprefix("s3://") if "://" in place else Path(place)

    def spelled(self, query: exp.Query) -> str:
        return query.sql("duckdb")

    def _create(self, table: exp.Table, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> None:
        temporary = "TEMP" if table.catalog == "temp" else ""
        with self._with(small), refusals(purpose):
            self.connection.execute(f"CREATE {temporary} TABLE {table.sql('duckdb')} AS {query.sql('duckdb')}")
        self.statements.append(Statement(purpose, query.sql("duckdb"), None))

    @property
    def relations(self) -> list[str]:
        return [name for (name,) in self.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]

    @contextmanager
    def _with(self, small: Mapping[str, pa.Table]) -> Iterator[None]:
        for name, table in small.items():
            self.connection.register(name, table)
        try:
            yield
        finally:
            for name in small:
                self.connection.unregister(name)


def table_of(name: str) -> exp.Table:
    """A table there, by its bare name."""
    return exp.Table(this=identifier(name), db=identifier("main"), catalog=identifier(FAR))
