"""Where rows are, if they are not in the database: they are counted there, and released there.

The database asks for aggregates (:mod:`sqlanon.engines.cutting`), whose results are small, and hands over the small
relations that they read. What is of the size of the source is made there, and never comes near.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from sqlanon.engines.relations import ResolvedSource, Stored
from sqlanon.model.destination import Destination
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa

    Small = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Staged:
    """A release that is written, and that nobody finds under its name yet.

    Attributes:
        relation: what was written, to be verified.
        into: its place.
    """

    relation: exp.Table
    into: Destination


class Rows(Protocol):
    """A home of rows beside the database. ``small`` are relations of the database, by the names that a query reads."""

    def owns(self, relation: exp.Table) -> bool:
        """Whether a relation is there: a table, or one that was made for the run."""

    def scan(self, source: str) -> ResolvedSource | None:
        """The source of a name, in a state that stays during the run; None if there is none."""

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        """The columns of a relation over what is there, with their types as DuckDB has them."""

    def count(self, query: exp.Query, small: Small, purpose: str) -> pa.Table:
        """The result of an aggregate."""

    def make(self, relation: Relation, query: exp.Query, small: Small, purpose: str) -> None:
        """Make a relation of rows for the run, in the order of the query."""

    def drop(self, relation: exp.Table) -> None:
        """Remove a relation that was made for the run."""

    def takes(self, into: Destination) -> bool:
        """Whether a place for a release is there."""

    def find(self, table: str | exp.Table) -> Stored | None:
        """The table of a name, or a relation that is there, with its note; None if there is none."""

    def stage(self, query: exp.Query, small: Small, into: Destination) -> Staged:
        """Write the rows of a query beside their place."""

    def publish(self, staged: Staged, note: str) -> None:
        """Put what was written in its place, with its note, in one step, whatever is there."""

    def discard(self, staged: Staged) -> None:
        """Remove what was written and is not to be published."""
