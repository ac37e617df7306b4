"""The engine of DuckDB: what the protocols ask for, by the modules beside this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlglot import exp

from sqlanon.engines.base import Rows, Staged
from sqlanon.engines.cutting import Sent, whole
from sqlanon.engines.duckdb import attaching, catalog, files
from sqlanon.engines.duckdb.compute import DuckDBCompute, set_
from sqlanon.engines.duckdb.reading import lake, lineage, sources
from sqlanon.engines.duckdb.reading.csv_forms import CsvForms
from sqlanon.engines.duckdb.reading.frames import Frames, rows_of
from sqlanon.engines.duckdb.reading.origins import macros_of
from sqlanon.engines.duckdb.reading.zone import Zone
from sqlanon.engines.frames import is_frame
from sqlanon.engines.lakes.store import StoredRelease
from sqlanon.engines.relations import Database, FileFormat, Files, Origins, ResolvedSource, Source, Stored
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.datasets import dataset_named
from sqlanon.model.destination import NOTE_KEY, is_in_lake, is_in_store
from sqlanon.queries.kit.macros import install_statements, schema_statements
from sqlanon.queries.kit.nodes import DIALECT, select, string
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.kit.texts import query_text
from sqlanon.queries.source import ColumnOrigin, MadeTaxonomy, SourceColumn
from sqlanon.queries.tables import taxonomies

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from sqlanon.model.policy.csv_files import Csv


class Opened(Protocol):
    """A database that is open; see :class:`sqlanon.engines.duckdb.opening.OpenedDatabase`, which imports this one."""

    connection: duckdb.DuckDBPyConnection
    name: str
    is_read_only: bool
    shows_values: bool
    csv: Csv | None

    def another(self, file: Path | None) -> Opened:
        """Another connection to the same warehouse, or to a file."""

    def engine(self) -> DuckDBEngine:
        """A new engine on the connection."""

    def close(self) -> None:
        """Close the connection if it was opened here."""


class DuckDBEngine(DuckDBCompute):
    """What works on an opened database."""

    def __init__(self, opened: Opened, far: Rows | None = None) -> None:
        super().__init__(opened.connection, far)
        self._opened = opened
        self._frames = Frames(opened.connection)
        self._csv_forms = CsvForms(partial(self.rows, purpose="the source"), self.describe, opened.csv)
        self._zone = Zone(opened.connection)
        self._macros: Mapping[str, Sequence[str]] | None = None
        self._name = opened.name
        self._read_only = opened.is_read_only
        self.taxonomy = catalog.anon_table("memory" if self._read_only else self._name, "taxonomy")
        self.ambiguous: dict[tuple[object, ...], int] = {}
        self.made_by: dict[str, MadeTaxonomy] = {}
        self.shows_values = opened.shows_values

    @cached_property
    def warehouse(self) -> Database:
        return catalog.warehouse(self.rows, self._name)

    def databases(self) -> list[Database]:
        return catalog.databases(self.rows)

    def find(self, table: str | exp.Table) -> Stored | None:
        if isinstance(table, exp.Table) and self.far is not None and self.far.owns(table):
            return Stored(table.copy())
        return catalog.find(self.rows, table) if isinstance(table, str) else catalog.at(self.rows, table)

    def find_all(self, *tables: exp.Table) -> list[Stored | None]:
        return catalog.all_at(self.rows, tables)

    def resolve(self, source: Source, *, restricted: bool = False, here: bool = False) -> ResolvedSource:
        self._described.clear()
        self._macros = None
        if is_frame(source):
            return self._frames.resolve(source)
        if self.far is not None and not here and (found := self.far.scan(str(source))) is not None:
            return found
        if is_in_lake(str(source)):
            return sources.of_lake(str(source), self.describe)
        if is_in_store(str(source)) and not restricted and (found := self._stored(str(source))) is not None:
            return found
        return sources.resolve(
            str(source),
            self.rows,
            self.describe,
            self._csv_forms,
            self._listed_macros,
            self._name,
            restricted=restricted,
        )

    def _stored(self, source: str) -> ResolvedSource | None:
        """A release in an object store; None if there is none, and files there are to be read as any others."""
        stored = StoredRelease(source)
        if stored.layout is None:
            return None
        found = self._frames.resolve(stored.rows(stored.layout.columns))
        return replace(found, description=stored.described, dataset=dataset_named(stored.url))

    @contextmanager
    def reading_frames(self) -> Iterator[None]:
        before, self._macros = self._csv_forms.given, None
        with self._frames.during(), self._zone.during():
            try:
                yield
            finally:
                self._csv_forms.given = before

    def read_as(self, csv: Csv | None, timezone: str | None = None) -> None:
        if csv is not None:
            self._csv_forms.given = csv
        if timezone is not None:
            self._zone.enter(timezone)

    def _listed_macros(self) -> Mapping[str, Sequence[str]]:
        """The user's macros, as they were when the last source was looked up."""
        if self._macros is None:
            self._macros = macros_of(self.rows)
        return self._macros

    def origins(self, source: ResolvedSource) -> Origins:
        if self.far is not None and isinstance(source.relation, exp.Table) and self.far.owns(source.relation):
            return Origins((), self.far.files(source.relation), has_frames=False, unseen=None)
        return sources.origins(source, self.rows, self._listed_macros, self._plan)

    def unguessed(self, source: ResolvedSource) -> ResolvedSource:
        if self.is_far(source.relation):
            return source
        return sources.unguessed(self._frames.as_texts(source), self.origins, self._csv_forms)

    def traced(self, source: ResolvedSource, columns: Sequence[str]) -> list[ColumnOrigin | None]:
        if self.is_far(source.relation):
            return [*map(ColumnOrigin, columns)]  # a table, or files: no query is there
        return lineage.traced(source, columns, self.rows, self.describe)

    def has_key(self, table: exp.Table, column: str) -> bool:
        return catalog.has_key(self.rows, table, column)

    @contextmanager
    def attached(self, file: Path | None, name: str, *, new: bool = False) -> Iterator[Database]:
        with self.transaction():
            pass  # Refuses a connection that is in a transaction already: nothing could be detached from it.
        if file is None:
            name = attaching.attach_memory(name, self.execute)
        else:
            attaching.attach_durably(file, name, self.execute, new=new)
        with attaching.detached_after(file, name, self.execute):
            yield Database(name, file, is_read_only=False)

    def save(self, database: str) -> None:
        self.rows(attaching.checkpoint(database).sql(DIALECT), purpose="save")

    @contextmanager
    def beside(self, file: Path | None = None) -> Iterator[DuckDBEngine]:
        with closing(self._opened.another(file)) as opened:
            yield opened.engine()

    def column_comments(self, table: exp.Table) -> dict[str, str]:
        return catalog.column_comments(self.rows, table)

    def additions(self, table: exp.Table) -> list[str]:
        return catalog.additions(self.rows, table)

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
        self._opened.close()

    def refuse_target(self, target: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        self._refuse_read_only(f'write the table "{target}"')
        return catalog.refuse_target(self.rows, target, lambda each: self.origins(each).tables, read, replace=replace)

    def write_table(self, target: exp.Table, query: exp.Query, *, replace: bool) -> None:
        create = exp.Create(this=target.copy(), kind="TABLE", replace=replace, expression=query)
        if target.catalog == "temp":
            create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
        try:
            self.execute(create, "write the release")
        except EngineError as error:
            if not replace and error.refusal is Refusal.TAKEN:
                reason = f'"{target.name}" exists, made by another connection meanwhile; give another name'
                raise error.reworded(f"{reason}, or replace=True", "target") from None
            raise

    def write_staged(self, query: exp.Query, staged: Staged) -> exp.Table:
        with self._written(query) as (far, sent, small):
            return far.write(sent, small, staged)

    @contextmanager
    def _written(self, query: exp.Query) -> Iterator[tuple[Rows, exp.Query, dict[str, pa.Table]]]:
        """A query that is written where rows are, with the small relations that it reads."""
        assert self.far is not None
        with self._counted(query, "write the release") as rest:
            sent = rest if isinstance(rest, Sent) else whole(rest, self.far.owns)
            yield self.far, sent.query, self._small(sent, "write the release")

    def comment_table(self, target: exp.Table, comment: str) -> None:
        self.execute(exp.Comment(this=target.copy(), kind="TABLE", expression=string(comment)), "comment the release")

    def file_columns(self, query: exp.Query, file_format: FileFormat) -> list[SourceColumn]:
        return files.file_columns(self, query, file_format)

    def write_parquet(
        self,
        path: Path,
        query: exp.Query,
        columns: Sequence[SourceColumn],
        metadata: str | None = None,
        *,
        streamed: bool = False,
    ) -> None:
        with files.telling_of_intervals(columns):
            self._write(files.parquet(path, query, metadata), streamed=streamed)

    def write_partitions(
        self, folder: Path, query: exp.Query, columns: Sequence[SourceColumn], by: Sequence[str], suffix: str
    ) -> None:
        with files.telling_of_intervals(columns):
            self._write(files.partitions(folder, query, by, suffix))

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
        quoted = files.quoted(columns)
        self._write(files.csv(path, query, quoted, header=header, delimiter=delimiter), streamed=streamed)

    def read_files(self, files: Files) -> exp.Table | exp.Subquery:
        return lake.as_written(files)

    def refuse_altered(
        self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn], file_format: FileFormat
    ) -> None:
        files.refuse_altered(self, query, written, columns, file_format)

    def parquet_metadata(self, path: str | Path) -> str | None:
        found = self.rows(query_text("engines", "parquet_note"), (str(path), NOTE_KEY))
        return found[0][0] if found else None

    def attach_source(self, path: Path) -> str:
        """Attach a file read-only, make it the default, and take a copy of its taxonomies.

        Returns:
            the name of its database.
        """
        self.prepare_taxonomies()
        self._name = attaching.attach_read_only(path, self.execute)
        for name in taxonomies.TABLES:
            theirs = catalog.anon_table(self._name, name)
            if self.find(theirs):
                ours = taxonomies.beside(self.taxonomy, name)
                self.execute(exp.insert(select([exp.Star()], theirs), ours), "copy the taxonomies")
        return self._name

    def _write(self, copy: exp.Copy, *, streamed: bool = False) -> None:
        # By one thread: several keep what they write in memory until it is its turn.
        alone = self.with_settings(threads=1, preserve_insertion_order=False)
        with alone if streamed else nullcontext():
            self.execute(copy, "write the file")

    def _plan(self, query: exp.Query) -> str:
        """The plan of a query before it is optimized, in JSON; a setting makes EXPLAIN show it, which changes back.

        Raises:
            EngineError: the query cannot be planned, or the settings of the connection are locked.
        """
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
