"""The DuckDB engine: it resolves sources, stores taxonomies and writes releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.duckdb import catalog, lineage
from sqlanon.engines.duckdb.csv_forms import CsvForms
from sqlanon.engines.duckdb.labelled_files import LabelledFiles
from sqlanon.engines.duckdb.resolving import Sources
from sqlanon.engines.duckdb.scanned_frames import Frames, rows_of
from sqlanon.engines.duckdb.statements import set_
from sqlanon.engines.duckdb.writer import Writer
from sqlanon.engines.frames import is_frame
from sqlanon.engines.relations import Database, Origins, ResolvedSource, Source, Stored, place_of
from sqlanon.errors import EngineError, Refusal, TargetError
from sqlanon.model.destination import kind_elsewhere
from sqlanon.model.names import folded, table_named
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import install_statements, schema_statements
from sqlanon.queries.kit.nodes import DIALECT, select, string
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
"""The counts of additions.sql, in order."""


class Engine(Writer):
    def __init__(self, opened: OpenedDatabase) -> None:
        super().__init__(opened.connection, opened.far)
        self._opened = opened
        self._frames = Frames(opened.connection)
        self._csv_forms = CsvForms(partial(self.rows, purpose="the source"), self.describe, opened.csv)
        labelled = LabelledFiles(self._frames, partial(self.rows, purpose="the source"))
        self._sources = Sources(self.rows, self.describe, self._csv_forms, labelled, self._plan)
        self._name = opened.name
        self._read_only = opened.is_read_only
        # the table of the taxonomies; companion tables are in the same schema
        self.taxonomy = catalog.anon_table("memory" if self._read_only else self._name, "taxonomy")
        self.ambiguous: dict[tuple[object, ...], int] = {}  # counts of ambiguous labels, by contents of taxonomies
        self.made_by: dict[str, MadeTaxonomy] = {}  # arguments of the taxonomies loaded in this session
        self.shows_values = opened.shows_values

    @cached_property
    def warehouse(self) -> Database:
        return catalog.warehouse(self.rows, self._name)

    def databases(self) -> list[Database]:
        return catalog.databases(self.rows)

    def find(self, table: str | exp.Table) -> Stored | None:
        """Find a table or view by name or by fully qualified table; None if there is none."""
        if isinstance(table, exp.Table) and self.far is not None and self.far.owns(table):
            return Stored(table.copy())
        return catalog.find(self.rows, table) if isinstance(table, str) else self.find_all(table)[0]

    def find_all(self, *tables: exp.Table) -> list[Stored | None]:
        """Find tables or views by fully qualified names in one query; None for each missing one."""
        return catalog.at_places(self.rows, [*map(place_of, tables)])

    def place_schema(self, name: str) -> exp.Table:
        """Return the schema that a name spells, perhaps a new one, as a table without a name."""
        return catalog.place_schema(self.rows, name)

    def relations_in(self, schema: exp.Table) -> list[Stored]:
        """List the tables and views of a schema by name."""
        return catalog.relations_in(self.rows, schema)

    def own_tables(self) -> list[Stored]:
        """List the tables, without views, of the schema that names without a qualifier are looked up in."""
        database, schema = catalog.current_place(self.rows)
        place = exp.Table(db=exp.to_identifier(schema), catalog=exp.to_identifier(database))
        return [found for found in self.relations_in(place) if not found.is_view]

    def foreign_keys(self) -> list[tuple[str, str, str, str]]:
        """List the declared links of these tables: table, column, the table that has its keys, and their column."""
        found = self.rows(query_text("engines", "foreign_keys"), catalog.current_place(self.rows))
        return [(table, column, above, row_key) for table, column, above, row_key in found]

    def make_schema(self, schema: exp.Table) -> None:
        """Make a schema unless it is there."""
        try:
            self.execute(exp.Create(this=schema.copy(), kind="SCHEMA", exists=True), "write the release")
        except EngineError as error:
            if error.refusal is Refusal.TAKEN:
                reason = f'another connection is making the schema "{schema.db}"; write the release again once it has'
                raise error.reworded(reason, "target") from None
            raise

    def resolve(self, source: Source, *, restricted: bool = False, here: bool = False) -> ResolvedSource:
        """Resolve a table, path, glob, folder, query or frame.

        ``restricted`` sources may come from other people. With ``here``, the database reads the source even if rows are
        elsewhere.

        Raises:
            PolicyError: an unreadable kind of frame, or a restricted source that does more than read.
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
        """Forget the block's frames and settings of :meth:`read_as` at its end."""
        before = self._csv_forms.given
        self._sources.forget_macros()
        with self._frames.during(), self.keeping_zone():
            try:
                yield
            finally:
                self._csv_forms.given = before

    @contextmanager
    def reading_one_of_several(self, others: Iterable[str]) -> Iterator[None]:
        """Read the CSV files of a linked table in the block: types of columns that only others have are not for it."""
        self._csv_forms.others = frozenset(map(folded, others))
        try:
            yield
        finally:
            self._csv_forms.others = frozenset()

    def read_as(self, csv: Csv | None, timezone: str | None = None) -> None:
        """Set how CSV files are read, and the time zone, until :meth:`reading_frames` ends; None changes nothing.

        Settings of the session take precedence.
        """
        if csv is not None:
            self._csv_forms.given = csv
        if timezone is not None:
            self.enter_zone(timezone)

    def origins(self, source: ResolvedSource) -> Origins:
        if self.far is not None and isinstance(source.relation, exp.Table) and self.far.owns(source.relation):
            return Origins((), self.far.files(source.relation), has_frames=False, unseen=None)
        return self._sources.origins(source)

    def unguessed(self, source: ResolvedSource) -> ResolvedSource:
        """Read CSV files and objects of a source as texts, so that no types are guessed from its rows."""
        if self.is_far(source.relation):
            return source
        return self._sources.unguessed(self._frames.as_texts(source), self.origins)

    def traced(self, source: ResolvedSource, columns: Sequence[str]) -> list[ColumnOrigin | None]:
        """Trace columns of a source to columns of tables or files; None for computed ones."""
        if self.is_far(source.relation):
            return [*map(ColumnOrigin, columns)]  # a table or files, without a query
        return lineage.traced(source, columns, self.rows, self.describe)

    def has_key(self, table: exp.Table, column: str) -> bool:
        return bool(self.rows(query_text("engines", "table_key"), (*place_of(table), column))[0][0])

    @contextmanager
    def attached(self, file: Path | None, name: str, *, new: bool = False) -> Iterator[Database]:
        """Attach a file, or a new database in memory, beside the warehouse within the block.

        Commits to the file are durable after :meth:`save`. A ``new`` file can be read by any supported DuckDB. A
        database in memory gets the first free name that starts with ``name``.
        """
        with self.transaction():
            pass  # Refuses a connection inside a transaction, which could not detach anything.
        if file is None:
            name = catalog.attach_memory(name, self.execute)
        else:
            catalog.attach_durably(file, name, self.execute, new=new)
        with catalog.detached_after(file, name, self.execute):
            yield Database(name, file, is_read_only=False)

    def save(self, database: str) -> None:
        self.rows(catalog.checkpoint(database).sql(DIALECT), purpose="save")

    @contextmanager
    def beside(self, file: Path | None = None) -> Iterator[Engine]:
        """Open another connection, with its own transactions, to the warehouse or to a file, which may be new."""
        with closing(self._opened.another(file)) as opened:
            yield opened.engine()

    def column_comments(self, table: exp.Table) -> dict[str, str]:
        return dict(self.rows(query_text("engines", "column_comments"), place_of(table)))

    def additions(self, table: exp.Table) -> list[str]:
        """List what was added to a table since its release was written, such as column comments; a sentence each."""
        found = self.rows(query_text("engines", "additions"), place_of(table))[0]
        counted = zip(ADDITIONS, found, strict=True)
        return [f"{count:,} {what} added since it was written" for what, count in counted if count]

    def prepare_taxonomies(self) -> None:
        if not self._read_only and self.taxonomy.catalog == self._name:
            self._refuse_read_only("store a taxonomy")
        if all(self.find_all(self.taxonomy, taxonomies.origin_table(self.taxonomy))):
            return
        with self._using(self.taxonomy.catalog):
            for statement in schema_statements():
                self._send(statement, "schema anon")

    @property
    def lacks_macros(self) -> bool:
        return self.warehouse.file is not None and not self.rows(query_text("engines", "any_macro"), [self._name])

    def install(self) -> None:
        self._refuse_read_only("install the macros")
        for statement in install_statements():
            self._send(statement, "install")

    def hand_out(self, relation: exp.Expr, form: str) -> Any:
        return rows_of(self.connection, relation, form)

    def close(self) -> None:
        """Close the connection unless it was lent."""
        self._opened.close()

    def refuse_target(self, place: str | exp.Table, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        """Return the table to write; refuse one that must not be replaced, such as a source (``read``, by role)."""
        target = place if isinstance(place, str) else table_named((place.db, place.name))
        self._refuse_read_only(f'write the table "{target}"')
        found = self.find(place)
        table = catalog.place_new(self.rows, place) if found is None else found.table
        if (is_system := table.catalog == "system") or table.db.lower() in catalog.RESERVED_SCHEMAS:
            reserved = 'database "system"' if is_system else f'schema "{table.db.lower()}"'
            raise EngineError(f"{reserved} is reserved; write the release to another", step="target")
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
        """Attach a file read-only as the default database, copy its taxonomies, and return its name."""
        self.prepare_taxonomies()
        self._name = catalog.attach_read_only(path, self.execute)
        # A session on a cursor finds the file by this comment (read_only_source).
        note = string(f"for the read-only database {self._name}")
        self.execute(exp.Comment(this=self.taxonomy.copy(), kind="TABLE", expression=note), "open")
        for name in taxonomies.TABLES:
            theirs = catalog.anon_table(self._name, name)
            if self.find(theirs):
                ours = taxonomies.beside(self.taxonomy, name)
                self.execute(exp.insert(select([exp.Star()], theirs), ours), "copy the taxonomies")
        return self._name

    def _plan(self, query: exp.Query) -> str:
        """Return a query's unoptimized plan in JSON, by a temporary setting of EXPLAIN."""
        ((shown, locked),) = self.rows(query_text("engines", "plan_settings"), purpose="the settings")
        if locked and shown.lower() != "all":
            raise EngineError("lock_configuration is set, so EXPLAIN cannot show the whole plan", step="the plan")
        if not locked:
            set_(self.connection, explain_output="all")
        try:
            explain = exp.Command(this="EXPLAIN", expression=" ".join(["(FORMAT JSON)", printed(query)]))
            plans: dict[str, str] = dict(self.rows(printed(explain), purpose="the plan"))
            return plans["logical_plan"]
        finally:
            if not locked:
                with suppress(EngineError):  # the connection is closed: the first error says more
                    set_(self.connection, explain_output=shown)

    def _refuse_read_only(self, doing: str) -> None:
        if self._read_only or catalog.is_read_only(self.rows):
            reason = f"cannot {doing}: the warehouse is open read-only; write to a Parquet file instead"
            raise EngineError(reason, step="target")
