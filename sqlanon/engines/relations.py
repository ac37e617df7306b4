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
    """The state of a source that a run reads."""

    def refuse_changed(self) -> None:
        """Refuse to go on if the source has another state by now.

        Raises:
            EngineError: it has.
        """


@dataclass(frozen=True)
class ResolvedSource:
    """A source that exists."""

    relation: exp.Table | exp.Subquery  # for FROM
    description: str  # for messages
    files: tuple[str, ...] = ()  # the files that it consists of; empty for tables and queries
    dataset: str | None = None  # its name in a ledger; None for views, queries, and tables that are not the warehouse's
    read: tuple[str, ...] = ()  # the files that a query or a view spells
    defined_by: str | None = None  # the query of a relation of DuckDB in Python; empty for other frames
    pinned: Pinned | None = None  # its state, if the source has versions
    follows_rows: bool = False  # whether its columns have the types that its rows fit, as of CSV files and frames
    csv: Csv | None = None  # the settings of the CSV files that it consists of, or that a query names
    read_as: tuple[str, ...] = ()  # the form of these files, and the type of each column, in words
    found_by_rows: tuple[str, ...] = ()  # the CSV files that a query names, read in types that all their rows fit
    guessed: tuple[str, ...] = ()  # the files and functions to which DuckDB gives the types that some rows fit


@dataclass(frozen=True)
class Origins:
    """The places that the rows of a query, a view or a table come from."""

    tables: tuple[exp.Table, ...]
    files: tuple[str, ...]
    has_frames: bool
    unseen: str | None  # why there may be more; None if there are not
    guessed: tuple[str, ...] = ()  # the files and functions whose columns get the types that their rows fit


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
    """Files as they were written, nothing in them guessed."""

    paths: str | tuple[str, ...]  # a file, a glob, or several files
    format: FileFormat = "Parquet"
    columns: Mapping[str, str] | None = None  # their types by name, in order; None for all that any of the files has
    partition_by: tuple[str, ...] = ()  # the columns that are folders
    by_name: bool = False  # whether files may differ in their columns, as those of an altered release do
    quoted: tuple[str, ...] = ()  # the columns of a CSV whose formulas have an apostrophe before them
