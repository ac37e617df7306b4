"""What a run reads and writes: sources that exist, tables that the catalog knows, and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from sqlglot import exp

from sqlanon.model.policy.csv_files import Csv
from sqlanon.queries.kit.nodes import identifier

Source = str | Path | Any
"""What is read: a name, a path or a query as text, or a frame."""
FileFormat = Literal["Parquet", "CSV"]


class Pinned(Protocol):
    """The state that a source was in when it was found."""

    def refuse_changed(self) -> None:
        """Refuse to go on if the source is in another state by now.

        Raises:
            EngineError: it is.
        """


@dataclass(frozen=True)
class ResolvedSource:
    """A source that exists: as a relation for FROM, in words for messages, and the files that it consists of.

    ``files`` is empty for tables and queries; ``read`` are the files that a query or a view spells. ``dataset`` is
    its name in a ledger; None of views, queries, temporary tables and those of other databases. ``defined_by`` is
    the query of a relation of DuckDB in Python, which no catalog has; empty for other frames. ``pinned`` is its
    state, if the source has versions. ``follows_rows`` says that the types of its columns are those that its rows
    fit, as of CSV files and frames. ``csv`` is what was said of how CSV files are read, also those that a query
    names, and ``read_as`` how they are: their form, and the type of each column; both are empty for all else.
    ``found_by_rows`` are the CSV files that a query names, whose columns are read in types that all their rows fit,
    and ``guessed`` what DuckDB gives the types that some rows fit.
    """

    relation: exp.Table | exp.Subquery
    description: str
    files: tuple[str, ...] = ()
    dataset: str | None = None
    read: tuple[str, ...] = ()
    defined_by: str | None = None
    pinned: Pinned | None = None
    follows_rows: bool = False
    csv: Csv | None = None
    read_as: tuple[str, ...] = ()
    found_by_rows: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origins:
    """Where the rows of a query, a view or a table come from.

    ``unseen`` is why that may not be all, None if it is. ``guessed`` are the files and functions whose columns get the
    types that their rows fit.
    """

    tables: tuple[exp.Table, ...]
    files: tuple[str, ...]
    has_frames: bool
    unseen: str | None
    guessed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Database:
    """A database that the connection sees; its file is None if it is in memory, or not of the engine's own kind."""

    name: str
    file: Path | None
    is_read_only: bool

    def anon(self, name: str) -> exp.Table:
        """A table of its schema ``anon``, which may not be there."""
        return exp.Table(this=identifier(name), db=identifier("anon"), catalog=identifier(self.name))


@dataclass(frozen=True)
class Stored:
    """A table that the catalog knows, with its comment, or a view."""

    table: exp.Table
    is_view: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class Files:
    """Files as they were written, nothing in them guessed.

    Attributes:
        paths, format: a file, a glob, or several files, all of one format.
        columns: the types of their columns by name, in order; None for all columns that any of the files has.
        partition_by: those of the columns that are folders.
        by_name: whether files may differ in their columns, as those of a release that was changed since do.
        quoted: the columns of a CSV whose formulas have an apostrophe before them, which does not belong to the value.
    """

    paths: str | tuple[str, ...]
    format: FileFormat = "Parquet"
    columns: Mapping[str, str] | None = None
    partition_by: tuple[str, ...] = ()
    by_name: bool = False
    quoted: tuple[str, ...] = ()
