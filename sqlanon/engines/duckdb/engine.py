"""The engine of DuckDB: finds sources, keeps taxonomies, and has releases written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.duckdb import catalog, lineage
from sqlanon.engines.duckdb.csv_forms import CsvForms
from sqlanon.engines.duckdb.resolving import Sources
from sqlanon.engines.duckdb.scanned_frames import Frames, rows_of
from sqlanon.engines.duckdb.statements import set_
from sqlanon.engines.duckdb.writer import Writer
from sqlanon.engines.frames import is_frame
from sqlanon.engines.relations import Database, Origins, ResolvedSource, Source, Stored, place_of
from sqlanon.errors import EngineError, TargetError
from sqlanon.model.destination import kind_elsewhere
from sqlanon.model.names import folded
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import SCHEMAS, install_statements, schema_statements
from sqlanon.queries.kit.nodes import DIALECT, select
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.source import ColumnOrigin, MadeTaxonomy
from sqlanon.satellites import offered

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.opening import OpenedDatabase
    from sqlanon.model.policy.policy_parts import Csv

ADDITIONS = (
    "comments on its columns were",
    "defaults of its columns were",
    "constraints on its columns were",
    "indexes were",
)
"""What additions.sql counts, in its order."""


class Engine(Writer):
    """A session's work on an opened database, in which sources, taxonomies and releases are."""

    def __init__(self, opened: OpenedDatabase) -> None:
        super().__init__(opened.connection, opened.far)
        self._opened = opened
        self._frames = Frames(opened.connection)
        self._csv_forms = CsvForms(partial(self.rows, purpose="the source"), self.describe, opened.csv)
        self._sources = Sources(self.rows, self.describe, self._csv_forms, self._plan)
        self._name = opened.name
        self._read_only = opened.is_read_only
        # the table of the taxonomies; those about it stand beside it in its schema
        self.taxonomy = catalog.anon_table("memory" if self._read_only else self._name, "taxonomy")
        self.ambiguous: dict[tuple[object, ...], int] = {}  # ambiguous labels, by the contents of taxonomies
        self.made_by: dict[str, MadeTaxonomy] = {}  # arguments of the taxonomies that this session has loaded
        self.shows_values = opened.shows_values

    @cached_property
    def warehouse(self) -> Database:
        """The database that the session was opened on."""
        return catalog.warehouse(self.rows, self._name)

    def databases(self) -> list[Database]:
        """All databases that the connection sees."""
        return catalog.databases(self.rows)

    def find(self, table: str | exp.Table) -> Stored | None:
        """The table or view of a name, or of a fully qualified table; None if there is none."""
        if isinstance(table, exp.Table) and self.far is not None and self.far.owns(table):
            return Stored(table.copy())
        return catalog.find(self.rows, table) if isinstance(table, str) else self.find_all(table)[0]

    def find_all(self, *tables: exp.Table) -> list[Stored | None]:
        """The tables or views in the database of some fully qualified names, by one query; None where there is none."""
        return catalog.at_places(self.rows, [*map(place_of, tables)])

    def resolve(self, source: Source, *, restricted: bool = False, here: bool = False) -> ResolvedSource:
        """Find a table, a path, a glob or a folder, or take a query or a frame.

        It is ``restricted`` if others may have written it. The database is to read it ``here``, even where rows are
        elsewhere.

        Raises:
            PolicyError: it is a frame of no kind that can be read; or it is restricted, and does more than read.
            EngineError: nothing has that name, or it cannot be read.
        """
        self._described.clear()
        self._sources.forget_macros()
        if is_frame(source):
            return self._frames.resolve(source)
        if self.far is not None and not here and (found := self.far.scan(str(source))) is not None:
            return found
        name = str(source)
        kind = kind_elsewhere(name)
        if kind == "lake":
            return self._sources.readable(name, offered("sources", kind)(self, name))
        if kind == "store" and not restricted and (found := offered("sources", kind)(self, name)) is not None:
            release: ResolvedSource = found
            return release
        return self._sources.resolve(name, self._name, restricted=restricted)

    @contextmanager
    def reading_frames(self) -> Iterator[None]:
        """Forget, when the block ends, the frames that were resolved in it, and what :meth:`read_as` has said."""
        before = self._csv_forms.given
        self._sources.forget_macros()
        with self._frames.during(), self.keeping_zone():
            try:
                yield
            finally:
                self._csv_forms.given = before

    def read_as(self, csv: Csv | None, timezone: str | None = None) -> None:
        """Read CSV files by some settings, and times with a zone in a zone, until :meth:`reading_frames` ends.

        Settings that the session was opened with hold whatever is said here; None changes nothing.
        """
        if csv is not None:
            self._csv_forms.given = csv
        if timezone is not None:
            self.enter_zone(timezone)

    def origins(self, source: ResolvedSource) -> Origins:
        """The tables and files that the rows of a source come from."""
        if self.far is not None and isinstance(source.relation, exp.Table) and self.far.owns(source.relation):
            return Origins((), self.far.files(source.relation), has_frames=False, unseen=None)
        return self._sources.origins(source)

    def unguessed(self, source: ResolvedSource) -> ResolvedSource:
        """Return a source that guesses as little of its rows as it can: CSV files and objects are read as texts."""
        if self.is_far(source.relation):
            return source
        return self._sources.unguessed(self._frames.as_texts(source), self.origins)

    def traced(self, source: ResolvedSource, columns: Sequence[str]) -> list[ColumnOrigin | None]:
        """The columns of tables or files that some of a source are; None for those that may be made of others."""
        if self.is_far(source.relation):
            return [*map(ColumnOrigin, columns)]  # a table, or files: no query is there
        return lineage.traced(source, columns, self.rows, self.describe)

    def has_key(self, table: exp.Table, column: str) -> bool:
        """Whether a column is a key of a table by itself, so that no two rows have the same value."""
        return bool(self.rows(query_text("engines", "table_key"), (*place_of(table), column))[0][0])

    @contextmanager
    def attached(self, file: Path | None, name: str, *, new: bool = False) -> Iterator[Database]:
        """A file, or without one a new database in memory, beside the warehouse within the block.

        What is committed to the file is on the disk after :meth:`save`. One that is ``new`` can be read by any version
        of the database. A database in memory gets the first free name that begins as ``name``.
        """
        with self.transaction():
            pass  # Refuses a connection that is in a transaction already: nothing could be detached from it.
        if file is None:
            name = catalog.attach_memory(name, self.execute)
        else:
            catalog.attach_durably(file, name, self.execute, new=new)
        with catalog.detached_after(file, name, self.execute):
            yield Database(name, file, is_read_only=False)

    def save(self, database: str) -> None:
        """Have all that was committed to an attached file on the disk."""
        self.rows(catalog.checkpoint(database).sql(DIALECT), purpose="save")

    @contextmanager
    def beside(self, file: Path | None = None) -> Iterator[Engine]:
        """Another connection, with transactions of its own: to the warehouse, or to a file, made if it is not there."""
        with closing(self._opened.another(file)) as opened:
            yield opened.engine()

    def column_comments(self, table: exp.Table) -> dict[str, str]:
        """The comments on the columns of a fully qualified table or view, by the names of those that have one."""
        return dict(self.rows(query_text("engines", "column_comments"), place_of(table)))

    def additions(self, table: exp.Table) -> list[str]:
        """List what a table has and no release is written with, such as comments on its columns; a sentence each."""
        found = self.rows(query_text("engines", "additions"), place_of(table))[0]
        counted = zip(ADDITIONS, found, strict=True)
        return [f"{count:,} {what} added since it was written" for what, count in counted if count]

    def prepare_taxonomies(self) -> None:
        """Create the tables of the taxonomies where they are missing, and nothing else."""
        if not self._read_only and self.taxonomy.catalog == self._name:
            self._refuse_read_only("store a taxonomy")
        if all(self.find_all(self.taxonomy, taxonomies.origin_table(self.taxonomy))):
            return
        with self._using(self.taxonomy.catalog):
            for statement in schema_statements():
                self._send(statement, "schema anon")

    @property
    def lacks_macros(self) -> bool:
        """Whether the warehouse is a file whose schema ``anon`` has no macros."""
        return self.warehouse.file is not None and not self.rows(query_text("engines", "any_macro"), [self._name])

    def install(self) -> None:
        """Create schema ``anon`` with its tables, all macros and their comments, within a transaction."""
        self._refuse_read_only("install the macros")
        for statement in install_statements():
            self._send(statement, "install")

    def hand_out(self, relation: exp.Expr, form: str) -> Any:
        """All rows of what was published, as the driver of the database hands them out under the name of a form."""
        return rows_of(self.connection, relation, form)

    def close(self) -> None:
        """Close the connection if this engine opened it."""
        self._opened.close()

    def refuse_target(self, target: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        """Return the table that a release goes to; refuse one that it cannot replace, as what is ``read``, by role."""
        self._refuse_read_only(f'write the table "{target}"')
        found = catalog.find(self.rows, target)
        table = catalog.place_new(self.rows, target) if found is None else found.table
        if (schema := table.db.lower()) in SCHEMAS:
            raise EngineError(f'schema "{schema}" is reserved; write the release to another', step="target")
        if found is None:
            return table
        if not replace:
            raise TargetError(f'the table "{target}" exists; give another name, or replace=True', step="target")
        if table.catalog == "temp" and folded(target) == folded(table.name):
            reason = f'"{target}" is a temporary table; give another name, or "temp.{target}" if that is meant'
            raise EngineError(reason, step="target")
        if found.is_view:
            raise EngineError(f'"{target}" is a view; give the name of a table', step="target")
        for role, source in read.items():
            if table in self.origins(source).tables:
                reason = f'the release would replace its own {role} "{target}"; write it to another table'
                raise EngineError(reason, step="target")
        return table

    def attach_source(self, path: Path) -> str:
        """Attach a file read-only, make it the default, copy its taxonomies, and return the name of its database."""
        self.prepare_taxonomies()
        self._name = catalog.attach_read_only(path, self.execute)
        for name in taxonomies.TABLES:
            theirs = catalog.anon_table(self._name, name)
            if self.find(theirs):
                ours = taxonomies.beside(self.taxonomy, name)
                self.execute(exp.insert(select([exp.Star()], theirs), ours), "copy the taxonomies")
        return self._name

    def _plan(self, query: exp.Query) -> str:
        """The plan of a query before it is optimized, in JSON; a setting makes EXPLAIN show it, which changes back."""
        ((shown, locked),) = self.rows(query_text("engines", "plan_settings"), purpose="the settings")
        if locked and shown.lower() != "all":
            raise EngineError("lock_configuration is set, so that EXPLAIN shows no whole plan", step="the plan")
        if not locked:
            set_(self.connection, explain_output="all")
        try:
            explain = exp.Command(this="EXPLAIN", expression=" ".join(["(FORMAT JSON)", printed(query)]))
            plans: dict[str, str] = dict(self.rows(printed(explain), purpose="the plan"))
            return plans["logical_plan"]
        finally:
            if not locked:
                with suppress(EngineError):  # the connection is closed: what went before says more
                    set_(self.connection, explain_output=shown)

    def _refuse_read_only(self, doing: str) -> None:
        if self._read_only or catalog.is_read_only(self.rows):
            reason = f"cannot {doing}: the warehouse is open read-only; write to a Parquet file instead"
            raise EngineError(reason, step="target")
