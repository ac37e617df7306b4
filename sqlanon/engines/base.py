"""What sqlanon asks of a database: to compute, to keep tables, and to write files. Rows never come to Python.

An engine implements three protocols. Queries come as trees of sqlglot over relations that it has made or found itself,
and are not changed. Where the database refuses, it raises :class:`sqlanon.EngineError`, which quotes no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from sqlanon.engines.relations import Database, FileFormat, Files, Origins, ResolvedSource, Source, Stored
from sqlanon.queries.kit.nodes import Grain, PreparedQuery, Relation, Step
from sqlanon.queries.source import ColumnOrigin, MadeTaxonomy, SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sqlanon.model.policy.csv_files import Csv

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


class StatementLog(Protocol):
    """Where the statements are noted that are sent."""

    def sending(self, sql: str, purpose: str) -> AbstractContextManager[None]:
        """A block in which a statement runs."""

    def reading(self) -> AbstractContextManager[None]:
        """A block in which the result of the last one is read."""


class Compute(Protocol):
    """Statements over temporary tables, and the counts that they come to; errors show values if ``shows_values``."""

    shows_values: bool

    def is_far(self, relation: exp.Expr) -> bool:
        """Whether a relation, or a query, is of rows that are not in the database (:class:`Rows`)."""
        return False

    def most_rows_from_far(self) -> int:
        """How many rows the result of a count has at most that comes from where rows are far."""

    def spelled(self, query: exp.Query) -> str:
        """A query as users ask it themselves, where its rows are."""

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        """The columns of a relation, in order."""

    def has_dictionaries(self, relation: exp.Expr) -> bool:
        """Whether texts of a relation of many rows come in dictionaries, so that a cast takes each of them once."""
        return False

    def run(self, step: Step, parameters: Sequence[object] = ()) -> None:
        """Make the temporary table of a step, with values for the parameters ``$1``, ``$2`` and so on of its query."""

    def pieces(self, relation: exp.Expr, columns: int) -> list[exp.Expr]:
        """Relations that hold the rows of one together and each fit in memory, grouped by ``columns`` columns."""
        return [relation]

    def part(self, number: int, count: int) -> AbstractContextManager[None]:
        """Inside the block, statements are part ``number`` (from 0) of ``count``, for the progress of observers."""
        return nullcontext()

    def put(self, relation: Relation, table: pa.Table) -> None:
        """Make a temporary table from values that Python has."""

    def drop(self, relation: Relation) -> None:
        """Remove the temporary table of a step, if it is there."""

    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        """The result of a query that counts; refuses grain ``row``."""

    def arrays(self, query: exp.Query, purpose: str) -> dict[str, NDArray[Any]]:
        """The result of a query of cells or nodes as an array per column, for what is computed without SQL."""

    def prepare(self, name: str, statement: exp.Query | exp.Insert, purpose: str) -> None:
        """Plan a statement with parameters ``$1``, ``$2`` and so on under a name, new or not, for this transaction."""

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement that returns nothing of interest."""

    def scratch(self) -> AbstractContextManager[None]:
        """A scope of temporary tables and types, which go at its end; one that fails leaves them to the transaction."""

    def refuse_collation(self) -> None:
        """Refuse, by an :class:`EngineError`, a lent connection that compares texts by a default collation."""

    def transaction(self) -> AbstractContextManager[None]:
        """A snapshot, committed or rolled back; an :class:`EngineError` in another or by a default collation."""

    def watched(self, observer: StatementObserver | None) -> AbstractContextManager[None]:
        """Report the progress of statements a few times a second; an error of the observer, or Ctrl-C, ends them."""

    def logged(self, log: StatementLog) -> AbstractContextManager[None]:
        """Note the statements that are sent to this database."""

    def in_order(self) -> AbstractContextManager[None]:
        """Rows of queries without ORDER BY stay in the order of their table, whatever the user has set."""


class Warehouse(Protocol):
    """A connection to the database in which sources, taxonomies and releases are."""

    taxonomy: exp.Table
    """The table that holds the taxonomies; those about it stand beside it in its schema."""
    ambiguous: dict[tuple[object, ...], int]
    """How many labels are ambiguous, by the contents of taxonomies."""
    made_by: dict[str, MadeTaxonomy]
    """What the taxonomies there were made by, by attribute, as far as this session has loaded them."""
    far: Rows | None = None
    """Where rows are that are not in the database."""

    @property
    def warehouse(self) -> Database:
        """The database that the session was opened on."""

    @property
    def lacks_macros(self) -> bool:
        """Whether the warehouse is a file whose schema ``anon`` has no macros."""

    @property
    def connection(self) -> Any:
        """What the driver of the database calls a connection, for those who go on in SQL."""

    def find(self, table: str | exp.Table) -> Stored | None:
        """The table or view of a name, or of a fully qualified table; None if there is none."""

    def find_all(self, *tables: exp.Table) -> list[Stored | None]:
        """The tables or views in the database of some fully qualified names, by one query; None where there is none."""

    def resolve(self, source: Source, *, restricted: bool = False, here: bool = False) -> ResolvedSource:
        """Find a table, a path, a glob or a folder, or take a query or a frame.

        Args:
            source: what is read.
            restricted: whether others may write it.
            here: whether the database is to read it, not those who have rows elsewhere.

        Raises:
            PolicyError: it is a frame of no kind that can be read; or it is restricted, and does more than read.
            EngineError: there is nothing of that name, or it cannot be read.
        """

    def reading_frames(self) -> AbstractContextManager[None]:
        """Forget, when the block ends, the frames that were resolved in it, and what :meth:`read_as` has said."""

    def read_as(self, csv: Csv | None, timezone: str | None = None) -> None:
        """Read CSV files by some settings, and times with a zone in a zone, until :meth:`reading_frames` ends.

        Settings that the session was opened with hold whatever is said here; None changes nothing.

        Raises:
            PolicyError: no zone has that name.
        """

    def origins(self, source: ResolvedSource) -> Origins:
        """The tables and files that the rows of a source come from."""

    def unguessed(self, source: ResolvedSource) -> ResolvedSource:
        """The same source read with as little guessed of its rows as there can be: CSV files and objects as texts.

        Raises:
            PolicyError: it is a query that guesses types, or CSV files have lines of another form.
            EngineError: CSV files have other columns than the first one.
        """
        return source

    def traced(self, source: ResolvedSource, columns: Sequence[str]) -> list[ColumnOrigin | None]:
        """The columns of tables or files that some of a source are; None for those that may be made of others."""

    def databases(self) -> list[Database]:
        """All databases that the connection sees."""

    def attached(self, file: Path | None, name: str, *, new: bool = False) -> AbstractContextManager[Database]:
        """A file, or without one a new database in memory, beside the warehouse within the block.

        Args:
            file: a database. What is committed to it is on the disk after :meth:`save`.
            name: what it is called. That of one in memory is the first free one that begins so.
            new: whether the file is made, to be read by any version of the database.

        Raises:
            EngineError: it cannot be opened, or the connection is in a transaction.
        """

    def save(self, database: str) -> None:
        """Have all that was committed to an attached file on the disk."""

    def beside(self, file: Path | None = None) -> AbstractContextManager[Engine]:
        """Another connection, with transactions of its own: to the warehouse, or to a file, made if it is not there."""

    def has_key(self, table: exp.Table, column: str) -> bool:
        """Whether a column is a key of a table by itself, so that no two rows have the same value."""

    def column_comments(self, table: exp.Table) -> dict[str, str]:
        """The comments on the columns of a fully qualified table or view, by the names of those that have one."""
        return {}

    def additions(self, table: exp.Table) -> list[str]:
        """What a table has that no release is written with, such as comments on its columns; a sentence each."""

    def prepare_taxonomies(self) -> None:
        """Create the tables of the taxonomies where they are missing, and nothing else."""

    def install(self) -> None:
        """Create schema ``anon`` with its tables, all macros and their comments, within a transaction."""

    def hand_out(self, relation: exp.Expr, form: str) -> Any:
        """All rows of what was published, as the driver of the database hands them out under the name of a form."""

    def close(self) -> None:
        """Close the connection if this engine opened it."""


class Writer(Protocol):
    """Releases become tables and files, which are read back to be verified."""

    def refuse_target(self, target: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        """The table that a release goes to, or an error if it cannot go there; ``read`` is what it may not replace."""

    def write_table(self, target: exp.Table, query: exp.Query, *, replace: bool) -> None:
        """Make a table from a query; without ``replace``, refuse if a table is there by now."""

    def write_staged(self, query: exp.Query, staged: Staged) -> exp.Table:
        """Write the rows of a query as Parquet files from where the rows are, as :meth:`Rows.write`."""
        raise AssertionError("all rows are in the database")

    def comment_table(self, target: exp.Table, comment: str) -> None:
        """Give a table a comment."""

    def file_columns(self, query: exp.Query, file_format: FileFormat) -> list[SourceColumn]:
        """The columns of a query as files of a format have them.

        Raises:
            EngineError: the format has no type for the values of some.
        """

    def write_parquet(
        self,
        path: Path,
        query: exp.Query,
        columns: Sequence[SourceColumn],
        metadata: str | None = None,
        *,
        streamed: bool = False,
    ) -> None:
        """Write a Parquet file from a query, with ``metadata``, if any, in its footer under the key ``sqlanon``.

        ``columns`` are those of the query, by :meth:`file_columns`. ``streamed`` says that the rows come in their order
        without a sort, so that none need be kept until others come.
        """

    def write_partitions(
        self, folder: Path, query: exp.Query, columns: Sequence[SourceColumn], by: Sequence[str], suffix: str
    ) -> None:
        """Write Parquet files with names that end in ``suffix`` to nested folders ``column=value``."""

    def write_csv(
        self,
        path: Path,
        query: exp.Query,
        columns: Sequence[SourceColumn] = (),
        *,
        header: bool = True,
        delimiter: str = ",",
        streamed: bool = False,
    ) -> None:
        """Write a CSV file from a query; texts of the ``columns`` are in quotes, so that empty differs from missing."""

    def read_files(self, files: Files) -> exp.Table | exp.Subquery:
        """Files of ours as a relation."""

    def refuse_altered(
        self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn], file_format: FileFormat
    ) -> None:
        """Read back what was written of a query, where the types of its columns do not prove that nothing has changed.

        Raises:
            EngineError: it cannot be read, or values have another text now.
        """

    def parquet_metadata(self, path: str | Path) -> str | None:
        """The text under the key ``sqlanon`` in the footer of a Parquet file, None without it."""


class Engine(Compute, Warehouse, Writer, Protocol):
    """A connection to a database, with all that a run asks of it."""
