"""DuckDB: the one module that imports it."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.macros import DIALECT, install_statements, schema_statements, template
from sqlanon.compiler.nodes import Grain, Relation, Step, identifier, select, string
from sqlanon.compiler.prepared import forgetting, preparing
from sqlanon.compiler.taxonomies import origin_table
from sqlanon.engines import catalog, copying, sources
from sqlanon.engines.attaching import attach_read_only, make_file
from sqlanon.engines.base import NOTE_KEY, Origins, ResolvedSource, StatementObserver
from sqlanon.engines.refusals import is_taken, refused, why_not_opened
from sqlanon.engines.resources import Resources
from sqlanon.engines.watching import Watcher, ignore
from sqlanon.errors import EngineError

MEMORY = ":memory:"
NO_LIMITS = Resources()


class DuckDBEngine:
    """A DuckDB connection, opened here from a path or lent by the user."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        owned: bool,
        read_only: bool = False,
        spill: Path | None = None,
    ) -> None:
        self.connection = connection
        self._owned = owned
        self._read_only = read_only
        self._watcher: Watcher | None = None
        self._spill = spill
        self._prepared: set[str] = set()
        self._warehouse, _ = catalog.current_place(self._rows)
        place = "memory" if read_only else self._warehouse
        self.taxonomy = catalog.anon_table(place, "taxonomy")
        self.taxonomy_domain = catalog.anon_table(place, "taxonomy_domain")

    @classmethod
    def open(cls, database: str | Path, *, read_only: bool = False, resources: Resources = NO_LIMITS) -> DuckDBEngine:
        """Open a warehouse file, or ``:memory:``.

        A file that is opened read-only is attached to a database in memory, which then holds the session's own copy
        of the taxonomies.

        Raises:
            EngineError: the file is locked, unreadable, in a missing folder or not a DuckDB file; or a resource is
                none.
        """
        resources.check()
        path = str(database)
        attached = read_only and path != MEMORY
        opened = MEMORY if attached else path
        spill = resources.spill_folder(in_memory=opened == MEMORY)
        engine = None
        try:
            make_file(opened, duckdb.connect)
            connection = duckdb.connect(opened, config=resources.configuration(spill))
            engine = cls(connection, owned=True, read_only=attached, spill=spill)
            if attached:
                engine._attach(Path(path))
        except BaseException as error:
            _give_up(engine, spill)
            if isinstance(error, duckdb.Error):
                raise EngineError(why_not_opened(path, error), step="open", original=error) from None
            raise
        if spill is not None:
            # A session that is never closed ends with the program.
            weakref.finalize(engine, shutil.rmtree, spill, ignore_errors=True)
        return engine

    @property
    def ledger(self) -> exp.Table:
        return catalog.anon_table(self._warehouse, "ledger")

    def has(self, table: exp.Table) -> bool:
        return catalog.has(self._rows, table)

    @property
    def file(self) -> Path | None:
        return catalog.file_of(self._rows, self._warehouse)[0]

    @property
    def is_read_only(self) -> bool:
        return catalog.file_of(self._rows, self._warehouse)[1]

    @contextmanager
    def beside(self, file: Path | None = None) -> Iterator[DuckDBEngine]:
        read_only = file is not None and file.exists() and not os.access(file, os.W_OK)
        opened = self._cursor() if file is None else DuckDBEngine.open(file, read_only=read_only)
        with closing(opened) as engine:
            yield engine

    @property
    def has_taxonomies(self) -> bool:
        return catalog.has(self._rows, self.taxonomy)

    def prepare_taxonomies(self) -> None:
        if not self._read_only and self.taxonomy.catalog == self._warehouse:
            self._refuse_read_only("store a taxonomy")
        if self.has_taxonomies and self.has(origin_table(self.taxonomy)):
            return
        with self._in_catalog(self.taxonomy.catalog):
            for statement in schema_statements():
                self._execute(statement, (), "schema anon")

    def install(self) -> None:
        """Create schema ``anon`` with its tables, all macros and their comments, in the warehouse.

        Raises:
            EngineError: the warehouse is read-only.
        """
        self._refuse_read_only("install the macros")
        with self.transaction():
            for statement in install_statements():
                self._execute(statement, (), "install")

    def resolve(self, source: str) -> ResolvedSource:
        return sources.resolve(source, self._rows, self.describe, self._warehouse)

    def origins(self, source: ResolvedSource) -> Origins:
        return sources.origins(source, self._rows, self._table_names, self._warehouse)

    def find_table(self, name: str) -> exp.Table | None:
        found = catalog.find(self._rows, name)
        return None if found is None else found.table

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        query = select([exp.Star()], relation.copy()).limit(0)
        self._execute(query.sql(DIALECT), (), "the columns of the source")
        return [SourceColumn(name, str(kind)) for name, kind, *_ in self.connection.description]

    def run(self, step: Step) -> None:
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        create = exp.Create(this=step.makes.table, kind="TABLE", expression=step.query, properties=temporary)
        self.execute(create, step.purpose)

    def drop(self, relation: Relation) -> None:
        self.execute(exp.Drop(tables=[relation.table], kind="TABLE", exists=True), relation.name)

    def fetch(self, query: exp.Query | exp.Command, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        if grain == "row":
            raise AssertionError("rows are never fetched")
        # Not copied first: a search renders thousands of queries and uses each once.
        self._execute(query.sql(DIALECT, copy=False), (), purpose)
        names = [description[0] for description in self.connection.description]
        return [dict(zip(names, row, strict=True)) for row in self._all(purpose)]

    def prepare(self, name: str, query: exp.Query, purpose: str) -> None:
        self.execute(preparing(name, query), purpose)
        self._prepared.add(name)

    def put(self, relation: Relation, table: pa.Table) -> None:
        view = f"{relation.name}_values"
        self.connection.register(view, table)
        try:
            self.run(Step(relation, select([exp.Star()], exp.Table(this=identifier(view))), relation.name))
        finally:
            self.connection.unregister(view)

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        self._execute(statement.sql(DIALECT), parameters, purpose)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        catalog.refuse_unfit_connection(self._rows)
        with _refusals("begin"):
            self.connection.begin()
        try:
            yield
            with _refusals("commit"):
                self.connection.commit()
        except BaseException:
            # A full disk, for one, makes the database roll back by itself: then there is nothing left to do.
            with suppress(duckdb.Error):
                self.connection.rollback()
            raise
        finally:
            self._forget_prepared()

    @contextmanager
    def watched(self, observer: StatementObserver | None) -> Iterator[None]:
        # Only outside of a transaction: a failed one takes no settings back.
        enabled, printed, locked, looks_for_variables = self._rows(template("progress_settings").sql(DIALECT))[0]
        if looks_for_variables:  # which another thread has not
            yield
            return
        measured = observer is not None and not locked
        if measured:
            _set(self.connection, enable_progress_bar_print=False, enable_progress_bar=True)
        try:
            with Watcher(observer or ignore, self._share, self.connection.interrupt) as self._watcher:
                yield
        finally:
            self._watcher = None
            if measured:
                with suppress(EngineError):  # the connection is closed: what went before says more
                    _set(self.connection, enable_progress_bar_print=printed, enable_progress_bar=enabled)

    def in_order(self) -> AbstractContextManager[None]:
        return self._meanwhile(preserve_insertion_order=True)

    def refuse_target(self, target: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        self._refuse_read_only(f'write the table "{target}"')
        return catalog.refuse_target(self._rows, target, lambda each: self.origins(each).tables, read, replace=replace)

    def write_table(self, target: exp.Table, query: exp.Query, comment: str, *, replace: bool) -> None:
        create = exp.Create(this=target.copy(), kind="TABLE", replace=replace, expression=query)
        try:
            self.execute(create, "write the release")
        except EngineError as error:
            if not replace and is_taken(error.original):
                reason = f'"{target.name}" exists, made by another connection meanwhile; give another name'
                raise EngineError(f"{reason}, or replace=True", step="target", original=error.original) from None
            raise
        self.comment_table(target, comment)

    def comment_table(self, target: exp.Table, comment: str) -> None:
        self.execute(exp.Comment(this=target.copy(), kind="TABLE", expression=string(comment)), "comment the release")

    def table_comment(self, table: exp.Table) -> str | None:
        """The comment of a table, None without one."""
        found = self._rows(template("table_comment").sql(DIALECT), (table.catalog, table.db, table.name))
        return found[0][0] if found else None

    def write_parquet(
        self, path: Path, query: exp.Query, metadata: str | None = None, *, streamed: bool = False
    ) -> None:
        self._write(copying.parquet(path, query, metadata), streamed=streamed)

    def write_partitions(self, folder: Path, query: exp.Query, columns: Sequence[str], suffix: str) -> None:
        self.execute(copying.partitions(folder, query, columns, suffix), "write the file")

    def parquet_metadata(self, path: str | Path) -> str | None:
        """The text under our key in the footer of a Parquet file, None without it."""
        found = self._rows(template("parquet_note").sql(DIALECT), (str(path), NOTE_KEY))
        return found[0][0] if found else None

    def write_csv(self, path: Path, query: exp.Query, quoted: Sequence[str], *, streamed: bool = False) -> None:
        self._write(copying.csv(path, query, quoted), streamed=streamed)

    def write_hierarchy(self, path: Path, query: exp.Query) -> None:
        self.execute(copying.hierarchy(path, query), "write the file")

    def close(self) -> None:
        if self._owned:
            self.connection.close()
        if self._spill is not None:
            shutil.rmtree(self._spill, ignore_errors=True)

    def _cursor(self) -> DuckDBEngine:
        """An engine on another connection to the same warehouse."""
        use = exp.Use(this=exp.Table(this=identifier(self._warehouse)))
        with _refusals("another connection"):
            cursor = self.connection.cursor()
            cursor.execute(use.sql(DIALECT))
        return DuckDBEngine(cursor, owned=True)

    def _attach(self, path: Path) -> None:
        """Attach a file read-only, make it the default, and take a copy of its taxonomies."""
        self.prepare_taxonomies()
        self._warehouse = attach_read_only(path, self.execute)
        for ours in (self.taxonomy, self.taxonomy_domain, origin_table(self.taxonomy)):
            theirs = catalog.anon_table(self._warehouse, ours.name)
            if catalog.has(self._rows, theirs):
                self.execute(exp.insert(select([exp.Star()], theirs), ours.copy()), "copy the taxonomies")

    def _write(self, copy: exp.Copy, *, streamed: bool) -> None:
        # By one thread: several keep what they write in memory until it is its turn.
        with self._meanwhile(threads=1, preserve_insertion_order=False) if streamed else nullcontext():
            self.execute(copy, "write the file")

    @contextmanager
    def _meanwhile(self, **wanted: int | bool) -> Iterator[None]:
        """Other settings of the database unless they are locked, beside the transaction, which takes none back."""
        before = self.fetch(template("sequence_settings"), "the settings")[0]
        if before["lock_configuration"]:
            yield
            return
        with closing(self.connection.cursor()) as beside:
            _set(beside, **wanted)
            try:
                yield
            finally:
                with suppress(EngineError):  # the connection is closed: what went before says more
                    _set(beside, **{name: before[name] for name in wanted})

    def _share(self) -> float | None:
        """How much of the present statement is done."""
        percentage = self.connection.query_progress()
        return None if percentage < 0 else min(percentage / 100, 1.0)

    @contextmanager
    def _in_catalog(self, name: str) -> Iterator[None]:
        """Make a catalog the default for a while."""
        current, _ = catalog.current_place(self._rows)
        self.execute(exp.Use(this=exp.Table(this=identifier(name))), "use")
        try:
            yield
        finally:
            self.execute(exp.Use(this=exp.Table(this=identifier(current))), "use")

    def _table_names(self, query: str) -> set[str]:
        """The tables under a query, those under views and macros included, as far as DuckDB can tell."""
        with _refusals("the tables of the source"):
            return self.connection.get_table_names(query, qualified=True)

    def _refuse_read_only(self, doing: str) -> None:
        if self._read_only or catalog.is_read_only(self._rows):
            reason = f"cannot {doing}: the warehouse is open read-only; write to a Parquet file instead"
            raise EngineError(reason, step="target")

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        self._execute(sql, parameters, "the catalog")
        return self._all("the catalog")

    def _all(self, purpose: str) -> list[tuple[Any, ...]]:
        with _refusals(purpose):
            # fetchall, not fetchone: DuckDB 2.0 refuses the next statement while a result is open.
            return self.connection.fetchall()

    def _execute(self, sql: str, parameters: Sequence[object], purpose: str) -> None:
        with _refusals(purpose, sql):
            self._wait_for(lambda: self.connection.execute(sql, list(parameters) or None), purpose)

    def _wait_for(self, statement: Callable[[], object], purpose: str) -> None:
        if self._watcher is None:
            statement()
        else:
            self._watcher.run(statement, purpose)

    def _forget_prepared(self) -> None:
        """After the transaction: they are of none, and one that failed takes no statement."""
        with suppress(EngineError):  # the connection is closed
            while self._prepared:
                self.execute(forgetting(self._prepared.pop()), "prepared queries")


def _set(connection: duckdb.DuckDBPyConnection, **settings: int | bool) -> None:
    """Change settings, one after the other.

    Raises:
        EngineError: the database refuses one.
    """
    for name, value in settings.items():
        setting = exp.SetItem(this=exp.EQ(this=exp.var(name), expression=exp.convert(value)))
        with _refusals(f"the setting {name}"):
            connection.execute(exp.Set(expressions=[setting]).sql(DIALECT))


def _give_up(engine: DuckDBEngine | None, spill: Path | None) -> None:
    """Undo what was done of opening a session."""
    if engine is not None:
        engine.close()
    elif spill is not None:
        shutil.rmtree(spill, ignore_errors=True)


@contextmanager
def _refusals(purpose: str, sql: str | None = None) -> Iterator[None]:
    """Tell in our words what the database refuses, and of an interruption as Python does."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        # Ctrl-C is a bare RuntimeError; any other RuntimeError stays what it is.
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise refused(error, purpose, sql) from None
