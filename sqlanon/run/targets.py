"""Where a release goes: to a table of the warehouse, or to a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlglot import exp

from sqlanon.compiler.nodes import string, subquery
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.run.files import refuse_own_source, staged_file

FILE_SUFFIX = ".parquet"
"""What the name of a target ends in that is a file."""


class Target(Protocol):
    """A place for one release."""

    @property
    def name(self) -> str:
        """The name that the user gave it."""

    def write(self, query: exp.Query, note: str) -> ResolvedSource:
        """Write the rows of a query with a note on where they come from.

        Returns:
            what was written, as a source to verify.
        """


@contextmanager
def target_for(engine: Engine, into: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> Iterator[Target]:
    """The target of a name: a Parquet file if it ends in ``.parquet``, else a table.

    A file appears under its name when the block ends and not at all when the block fails; a table is written within
    the transaction that the block opens.

    Args:
        engine: the database.
        into: the name.
        read: what the release is made from and compared with, by role; it may replace none of it.
        replace: whether a table or file of that name may be replaced.

    Raises:
        EngineError: the name is empty, taken, that of something that is read, or of a place that cannot be written.
    """
    if not into.strip():
        raise EngineError(
            f"the release needs a name: of a table, or of a file that ends in {FILE_SUFFIX}", step="target"
        )
    if into.lower().endswith(FILE_SUFFIX):
        with staged_file(Path(into), replace=replace) as staged:
            for role, source in read.items():
                refuse_own_source(Path(into), source.relation, role)
            yield _ParquetTarget(engine, into, staged)
    else:
        yield _TableTarget(engine, into, engine.refuse_target(into, read, replace=replace), replace)


@dataclass(frozen=True)
class _TableTarget:
    """A table of the warehouse, written and verified inside the transaction of the run."""

    engine: Engine
    name: str
    table: exp.Table
    replace: bool

    def write(self, query: exp.Query, note: str) -> ResolvedSource:
        self.engine.write_table(self.table, query, note, replace=self.replace)
        return ResolvedSource(self.table, f'table "{self.name}"')


@dataclass(frozen=True)
class _ParquetTarget:
    """A Parquet file, written beside its place and verified there."""

    engine: Engine
    name: str
    staged: Path

    def write(self, query: exp.Query, note: str) -> ResolvedSource:
        self._refuse_lossy_types(query)
        self.engine.write_parquet(self.staged, query, note)
        reader = exp.func("read_parquet", string(str(self.staged)), dialect="duckdb")
        return ResolvedSource(exp.Table(this=reader), f"Parquet {self.name}")

    def _refuse_lossy_types(self, query: exp.Query) -> None:
        """DuckDB writes integers of 128 bits as floats of 53: other numbers than those of the source."""
        columns = self.engine.describe(subquery(query.copy(), "anon_written"))
        wide = [f'"{column.name}"' for column in columns if "HUGEINT" in column.type.upper()]
        if wide:
            raise EngineError(
                f"Parquet has no type for the HUGEINT columns {', '.join(wide)}; cast them to BIGINT or DECIMAL(38, 0) "
                "in a view, or write to a table",
                step="target",
            )
