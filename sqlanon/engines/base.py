"""A home of rows beside the database, and observers of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from sqlanon.engines.relations import ResolvedSource
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa

    Small = Mapping[str, pa.Table]

StatementObserver = Callable[[str, float | None], None]
"""Called with the purpose of a statement and its progress from 0 to 1; None if the progress is unknown."""


class Staged(Protocol):
    """A place for files of a release, which are written by whoever has the rows."""

    @property
    def place(self) -> str:
        """The path or the address of a folder that is not there yet."""

    def collected(self) -> Sequence[str]:
        """The files, once they are written, as whoever wrote them is to read them.

        Raises:
            EngineError: there are none.
        """


class Rows(Protocol):
    """A home of rows beside the database: they are counted there, and released there.

    The database asks for aggregates (:mod:`sqlanon.engines.cutting`), whose results are small, and hands over the small
    relations that they read: ``small``, by the names that a query reads. What is of the size of the source is made
    there, and never comes near.

    Attributes:
        max_cells: how many rows the result of a count has at most that comes near.
    """

    max_cells: int

    def owns(self, relation: exp.Table) -> bool:
        """Whether a relation is there: a table, or one that was made for the run."""

    def scan(self, source: str) -> ResolvedSource | None:
        """The source of a name, in a state that stays during the run; None if there is none."""

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        """The columns of a relation over what is there, with their types as DuckDB has them."""

    def misfits(self, columns: Sequence[SourceColumn]) -> Iterable[str]:
        """Why columns cannot be counted or released there, a sentence for each of those."""
        return ()

    def count(self, query: exp.Query, small: Small, purpose: str) -> pa.Table | None:
        """The result of an aggregate; None if it has more rows than may come near."""

    def make(self, relation: Relation, query: exp.Query, small: Small, purpose: str) -> None:
        """Make a relation of rows for the run, in the order of the query."""

    def drop(self, relation: exp.Table) -> None:
        """Remove a relation that was made for the run."""

    def write(self, query: exp.Query, small: Small, staged: Staged) -> exp.Table:
        """Write the rows of a query as Parquet files to a place that is also seen from there.

        Returns:
            what was written.

        Raises:
            EngineError: nothing is there afterwards.
        """

    def files(self, relation: exp.Table) -> tuple[str, ...]:
        """The files that a relation was made of, as this machine would see them if it has their file system."""
        return ()

    def spelled(self, query: exp.Query) -> str:
        """A query over a source, as users ask it there themselves."""

    def refuse_changed(self, relation: exp.Table) -> None:
        """Refuse to go on if a source has changed since a relation was made of it.

        Raises:
            EngineError: names the source.
        """

    def close(self) -> None:
        """Close the connection."""


class StatementLog:
    """A log of the statements that are sent; this one keeps nothing."""

    def sending(self, sql: str, purpose: str) -> AbstractContextManager[None]:
        """Return a block in which a statement runs."""
        return nullcontext()

    def reading(self) -> AbstractContextManager[None]:
        """Return a block in which the result of the last statement is read."""
        return nullcontext()
