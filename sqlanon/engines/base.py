"""What sqlanon asks of a database: a handful of verbs over trees, none of which hands rows to Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from sqlglot import exp

from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.nodes import Grain, Relation, Step

NOTE_KEY = "sqlanon"
"""The key under which a note of ours travels with a file, and the provenance in it."""

StatementObserver = Callable[[str, float | None], None]
"""Told what a statement is for, and how much of it is done, from 0 to 1; None if the database cannot tell."""


@dataclass(frozen=True)
class ResolvedSource:
    """A source that exists: as a relation for FROM, in words for messages, and the files that it consists of.

    ``files`` is empty for tables and queries; ``read`` are the files that a query or a view reads, as far as it spells
    them. ``dataset`` is what its rows are called in a ledger; None where they may be known by another name, too: in
    views, queries, temporary tables and those of other databases. ``defined_by`` is the query of what the catalog does
    not tell it of: a relation of DuckDB in Python.
    """

    relation: exp.Table | exp.Subquery
    description: str
    files: tuple[str, ...] = ()
    dataset: str | None = None
    read: tuple[str, ...] = ()
    defined_by: str | None = None


@dataclass(frozen=True)
class Origins:
    """Where the rows of a query, a view or a table come from, through views and macros, as far as it is spelled.

    ``datasets`` are the tables of the warehouse by what they are called in a ledger.
    """

    tables: tuple[exp.Table, ...]
    datasets: tuple[str, ...]
    files: tuple[str, ...]


class Engine(Protocol):
    """A connection to a database. Every method raises :class:`sqlanon.EngineError` if the database refuses."""

    taxonomy: exp.Table
    """The table that holds the taxonomies."""

    taxonomy_domain: exp.Table
    """The table that tells whether their domains were declared, stated or observed."""

    @property
    def ledger(self) -> exp.Table:
        """The table that is the ledger of the warehouse."""

    def has(self, table: exp.Table) -> bool:
        """Whether a fully qualified table exists."""

    @property
    def file(self) -> Path | None:
        """The file of the warehouse, None if it is in memory or not DuckDB's."""

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written to the warehouse."""

    def beside(self, file: Path | None = None) -> AbstractContextManager[Engine]:
        """Another connection, with transactions of its own: to the warehouse, or to a file, made if it is not there."""

    @property
    def has_taxonomies(self) -> bool:
        """Whether these tables exist."""

    def prepare_taxonomies(self) -> None:
        """Create them where they are missing, and nothing else."""

    def resolve(self, source: str) -> ResolvedSource:
        """Find a table, a path, glob or folder of files, or take a SQL query."""

    def origins(self, source: ResolvedSource) -> Origins:
        """The tables and files that the rows of a source come from."""

    def find_table(self, name: str) -> exp.Table | None:
        """The table or view of a name, None if there is none."""

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        """The columns of a relation, in order."""

    def run(self, step: Step) -> None:
        """Make the temporary table of a step."""

    def drop(self, relation: Relation) -> None:
        """Remove the temporary table of a step."""

    def fetch(self, query: exp.Query | exp.Command, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        """The result of a query that counts, or of one that was prepared; refuses grain ``row``."""

    def prepare(self, name: str, query: exp.Query, purpose: str) -> None:
        """Plan a query with parameters ``$1``, ``$2`` and so on under a name, in place of another of that name.

        It is forgotten when the transaction ends, however it does.
        """

    def put(self, relation: Relation, table: pa.Table) -> None:
        """Make a temporary table from values that Python has."""

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement that returns nothing of interest."""

    def transaction(self) -> AbstractContextManager[None]:
        """One snapshot for everything inside; committed at the end, rolled back on any error."""

    def watched(self, observer: StatementObserver | None) -> AbstractContextManager[None]:
        """Tell a few times a second how far the present statement is; what the observer raises, and Ctrl-C, end it."""

    def in_order(self) -> AbstractContextManager[None]:
        """Rows of queries without ORDER BY stay in the order of their table, whatever the user has set."""

    def refuse_target(self, target: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        """The table that a release goes to, or an error if it cannot go there; ``read`` is what it may not replace."""

    def write_table(self, target: exp.Table, query: exp.Query, comment: str, *, replace: bool) -> None:
        """Make a table from a query, with a comment; without ``replace``, refuse if a table is there by now."""

    def comment_table(self, target: exp.Table, comment: str) -> None:
        """Give a table another comment."""

    def write_parquet(
        self, path: Path, query: exp.Query, metadata: str | None = None, *, streamed: bool = False
    ) -> None:
        """Write a Parquet file from a query, with ``metadata``, if any, in its footer under the key ``sqlanon``.

        ``streamed`` says that the rows come in their order without a sort, so that none need be kept until others come.
        """

    def write_partitions(self, folder: Path, query: exp.Query, columns: Sequence[str], suffix: str) -> None:
        """Write Parquet files with names that end in ``suffix`` to nested folders ``column=value``."""

    def write_csv(self, path: Path, query: exp.Query, quoted: Sequence[str], *, streamed: bool = False) -> None:
        """Write a CSV file with a header from a query, all values of the ``quoted`` columns in quotes."""

    def write_hierarchy(self, path: Path, query: exp.Query) -> None:
        """Write a CSV file without a header, separated by ``;``, from a query."""

    def table_comment(self, table: exp.Table) -> str | None:
        """The comment of a table, None without one."""

    def parquet_metadata(self, path: str | Path) -> str | None:
        """The text under the key ``sqlanon`` in the footer of a Parquet file, None without it."""

    def install(self) -> None:
        """Create schema ``anon`` with its tables, all macros and their comments."""

    def close(self) -> None:
        """Close the connection if this engine opened it."""
