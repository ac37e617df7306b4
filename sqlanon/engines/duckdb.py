"""DuckDB: the one module that imports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.macros import DIALECT, install_statements, schema_statements
from sqlanon.compiler.nodes import Grain, Relation, Step, aliased, column, identifier, string
from sqlanon.engines.base import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.base import did_you_mean

QUERY_KEYWORDS = ("select", "with", "from", "values", "table", "pivot", "unpivot", "(")
GLOB_CHARACTERS = frozenset("*?[")
MEMORY = ":memory:"


class DuckDBEngine:
    """A DuckDB connection, opened here from a path or lent by the user."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, *, owned: bool, read_only: bool = False) -> None:
        self.connection = connection
        self.read_only = read_only
        self._owned = owned
        catalog = "memory" if read_only else self._one("SELECT current_database()")
        self.taxonomy, self.taxonomy_domain = (
            exp.Table(this=identifier(name), db=identifier("anon"), catalog=identifier(catalog))
            for name in ("taxonomy", "taxonomy_domain")
        )

    @classmethod
    def open(cls, database: str | Path, *, read_only: bool = False) -> DuckDBEngine:
        """Open a warehouse file, or ``:memory:``.

        A file that is opened read-only is attached to a database in memory, which then holds the session's own copy
        of the taxonomies.

        Raises:
            EngineError: the file is locked, unreadable, in a missing folder or not a DuckDB file.
        """
        path = str(database)
        try:
            if not read_only or path == MEMORY:
                return cls(duckdb.connect(path), owned=True)
            engine = cls(duckdb.connect(MEMORY), owned=True, read_only=True)
            engine._attach(path)
            return engine
        except duckdb.Error as error:
            raise EngineError(_why_not_opened(path, error), step="open", original=error) from None

    @property
    def has_taxonomies(self) -> bool:
        """Whether the table of taxonomies exists."""
        return self._catalog_has(self.taxonomy.catalog, "anon", "taxonomy")

    def prepare_taxonomies(self) -> None:
        if self.has_taxonomies:
            return
        if not self.read_only:
            self._refuse_read_only("store a taxonomy")
        with self._in_catalog():
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
        table = self._find_table(source)
        if table is not None:
            return ResolvedSource(table, f'table "{source}"')
        if _is_path(source):
            return self._resolve_path(source)
        if source.lstrip().lower().startswith(QUERY_KEYWORDS):
            return _resolve_query(source)
        known = [row[0] for row in self._rows("SELECT table_name FROM duckdb_tables() WHERE NOT internal")]
        known += [row[0] for row in self._rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")]
        raise EngineError(
            f'there is no table or view "{source}"{did_you_mean(source, known)}; a source is a table, the path or glob '
            "of Parquet files, or a SELECT query",
            step="source",
        )

    def describe(self, relation: exp.Expression) -> list[SourceColumn]:
        query = exp.select(exp.Star()).from_(relation.copy()).limit(0)
        sql = query.sql(DIALECT)
        self._execute(sql, (), "the columns of the source")
        return [SourceColumn(name, str(kind)) for name, kind, *_ in self.connection.description]

    def run(self, step: Step) -> None:
        self.execute(
            exp.Create(
                this=step.makes.table,
                kind="TABLE",
                expression=step.query,
                properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
            ),
            step.purpose,
        )

    def drop(self, relation: Relation) -> None:
        self.execute(exp.Drop(tables=[relation.table], kind="TABLE", exists=True), relation.name)

    def fetch(self, query: exp.Query, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        if grain == "row":
            raise AssertionError("rows are never fetched")
        # Not copied first: a search renders thousands of queries and uses each once.
        self._execute(query.sql(DIALECT, copy=False), (), purpose)
        names = [description[0] for description in self.connection.description]
        return [dict(zip(names, row, strict=True)) for row in self._all(purpose)]

    def put(self, relation: Relation, table: pa.Table) -> None:
        view = f"{relation.name}_values"
        self.connection.register(view, table)
        try:
            self.run(Step(relation, exp.select(exp.Star()).from_(exp.Table(this=identifier(view))), relation.name))
        finally:
            self.connection.unregister(view)

    def execute(self, statement: exp.Expression, purpose: str, parameters: Sequence[object] = ()) -> None:
        self._execute(statement.sql(DIALECT), parameters, purpose)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            self.connection.begin()
        except duckdb.Error as error:
            raise EngineError(
                "the connection is in the middle of a transaction; commit or roll it back first",
                step="begin",
                original=error,
            ) from None
        try:
            yield
            self._commit()
        except BaseException:
            self._rollback()
            raise

    def refuse_target(self, target: str, source: ResolvedSource, *, replace: bool) -> exp.Table:
        self._refuse_read_only(f'write the table "{target}"')
        table = self._find_table(target)
        if table is None:
            return self._new_table(target)
        if not replace:
            raise EngineError(f'the table "{target}" exists; give another name, or replace=True', step="target")
        if table == source.relation:
            raise EngineError(
                f'the release would replace its own source "{target}"; write it to another table', step="target"
            )
        if self._is_view(table):
            raise EngineError(f'"{target}" is a view; give the name of a table', step="target")
        return table

    def write_table(self, target: exp.Table, query: exp.Query, comment: str) -> None:
        self.execute(exp.Create(this=target.copy(), kind="TABLE", replace=True, expression=query), "write the release")
        self.execute(exp.Comment(this=target.copy(), kind="TABLE", expression=string(comment)), "comment the release")

    def table_comment(self, table: exp.Table) -> str | None:
        """The comment of a table, None without one."""
        query = (
            exp.select(column("comment"))
            .from_(exp.Table(this=exp.func("duckdb_tables", dialect=DIALECT)))
            .where(
                column("database_name").eq(string(table.catalog)),
                column("schema_name").eq(string(table.db)),
                column("table_name").eq(string(table.name)),
            )
        )
        found = self.fetch(query, "comment of the release")
        return found[0]["comment"] if found else None

    def write_parquet(self, path: Path, query: exp.Query, metadata: str) -> None:
        note = exp.Struct(expressions=[exp.PropertyEQ(this=exp.to_identifier("sqlanon"), expression=string(metadata))])
        self._copy(path, query, FORMAT=exp.var("parquet"), COMPRESSION=exp.var("zstd"), KV_METADATA=note)

    def write_csv(self, path: Path, query: exp.Query) -> None:
        self._copy(path, query, FORMAT=exp.var("csv"), HEADER=exp.false(), DELIMITER=string(";"))

    def _copy(self, path: Path, query: exp.Query, **parameters: exp.Expression) -> None:
        copy = exp.Copy(
            this=exp.Subquery(this=query),
            kind=False,
            files=[string(str(path))],
            params=[exp.CopyParameter(this=exp.var(name), expression=value) for name, value in parameters.items()],
        )
        self.execute(copy, f"write {path.name}")

    def parquet_metadata(self, path: Path) -> str | None:
        """The text under the key ``sqlanon`` in the footer of a Parquet file, None without it."""
        query = exp.select(aliased(exp.func("decode", column("value"), dialect=DIALECT), "note")).from_(
            exp.Table(this=exp.func("parquet_kv_metadata", string(str(path)), dialect=DIALECT))
        )
        query = query.where(exp.func("decode", column("key"), dialect=DIALECT).eq(string("sqlanon")))
        found = self.fetch(query, "footer of the release")
        return found[0]["note"] if found else None

    def close(self) -> None:
        if self._owned:
            self.connection.close()

    def _attach(self, path: str) -> None:
        """Attach a file read-only, make it the default, and take a copy of its taxonomies."""
        if not Path(path).exists():
            raise EngineError(f"there is no file {path}", step="open")
        self.prepare_taxonomies()
        name = identifier("sqlanon_source")
        attached = exp.AttachOption(this=exp.var("READ_ONLY"))
        self.execute(
            exp.Attach(this=exp.alias_(string(path), name), expressions=[attached]), f"open {path}"
        )
        self.execute(exp.Use(this=exp.Table(this=name)), "open")
        for table in ("taxonomy", "taxonomy_domain"):
            theirs = exp.Table(this=identifier(table), db=identifier("anon"), catalog=name.copy())
            ours = exp.Table(this=identifier(table), db=identifier("anon"), catalog=identifier("memory"))
            if self._catalog_has("sqlanon_source", "anon", table):
                self.execute(exp.insert(exp.select(exp.Star()).from_(theirs), ours), "copy the taxonomies")

    @contextmanager
    def _in_catalog(self) -> Iterator[None]:
        """Make the catalog of the taxonomies the default for a while."""
        current = self._one("SELECT current_database()")
        if current == self.taxonomy.catalog:
            yield
            return
        self.execute(exp.Use(this=exp.Table(this=identifier(self.taxonomy.catalog))), "use")
        try:
            yield
        finally:
            self.execute(exp.Use(this=exp.Table(this=identifier(current))), "use")

    def _find_table(self, name: str) -> exp.Table | None:
        """The table or view of this very name, else of the qualified name that it spells; None if there is none."""
        current = self._rows("SELECT current_database(), current_schema()")[0]
        for catalog, schema in (("temp", "main"), current):
            if self._catalog_has(catalog, schema, name):
                return exp.Table(this=identifier(name), db=identifier(schema), catalog=identifier(catalog))
        try:
            spelled = exp.to_table(name, dialect=DIALECT)
        except (SqlglotError, ValueError):
            return None
        if not spelled.name or not isinstance(spelled.this, exp.Identifier):
            return None
        # a.b is schema.table, or database.table in its main schema
        places = [(spelled.catalog or current[0], spelled.db or current[1])]
        if spelled.db and not spelled.catalog:
            places.append((spelled.db, "main"))
        for catalog, schema in places:
            if self._catalog_has(catalog, schema, spelled.name):
                return exp.Table(this=identifier(spelled.name), db=identifier(schema), catalog=identifier(catalog))
        return None

    def _new_table(self, name: str) -> exp.Table:
        current_catalog, current_schema = self._rows("SELECT current_database(), current_schema()")[0]
        place = (current_catalog, current_schema, name)
        parts = name.split(".")
        schemas = {(row[0], row[1]) for row in self._rows("SELECT database_name, schema_name FROM duckdb_schemas()")}
        if len(parts) == 2 and (current_catalog, parts[0]) in schemas:
            place = (current_catalog, parts[0], parts[1])
        elif len(parts) == 3 and (parts[0], parts[1]) in schemas:
            place = (parts[0], parts[1], parts[2])
        catalog, schema, table = (identifier(part) for part in place)
        return exp.Table(this=table, db=schema, catalog=catalog)

    def _catalog_has(self, catalog: str, schema: str, name: str) -> bool:
        found = self._rows(
            "SELECT 1 FROM duckdb_tables() WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2) "
            "AND lower(table_name) = lower($3) "
            "UNION ALL SELECT 1 FROM duckdb_views() WHERE lower(database_name) = lower($1) "
            "AND lower(schema_name) = lower($2) AND lower(view_name) = lower($3)",
            (catalog, schema, name),
        )
        return bool(found)

    def _is_view(self, table: exp.Table) -> bool:
        return bool(
            self._rows(
                "SELECT 1 FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND view_name = $3",
                (table.catalog, table.db, table.name),
            )
        )

    def _resolve_path(self, source: str) -> ResolvedSource:
        reader = exp.func("read_parquet", string(source), dialect=DIALECT)
        relation = exp.Table(this=reader)
        try:
            self.describe(relation)
        except EngineError as error:
            raise EngineError(
                f"no Parquet file can be read at {source}", step="source", original=error.original
            ) from None
        return ResolvedSource(relation, f"Parquet {source}")

    def _refuse_read_only(self, doing: str) -> None:
        readonly = self._rows("SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()")
        if self.read_only or (readonly and readonly[0][0]):
            raise EngineError(f"cannot {doing}: the warehouse is open read-only; write to a Parquet file instead", step="target")

    def _one(self, sql: str) -> Any:
        return self._rows(sql)[0][0]

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        self._execute(sql, parameters, "the catalog")
        return self._all("the catalog")

    def _all(self, purpose: str) -> list[tuple[Any, ...]]:
        try:
            # fetchall, not fetchone: DuckDB 2.0 refuses the next statement while a result is open.
            return self.connection.fetchall()
        except duckdb.Error as error:
            raise _refused(error, purpose, None) from None

    def _execute(self, sql: str, parameters: Sequence[object], purpose: str) -> None:
        try:
            self.connection.execute(sql, list(parameters)) if parameters else self.connection.execute(sql)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise _refused(error, purpose, sql) from None

    def _commit(self) -> None:
        try:
            self.connection.commit()
        except duckdb.Error as error:
            raise _refused(error, "commit", None) from None

    def _rollback(self) -> None:
        try:
            self.connection.rollback()
        except duckdb.Error:
            return  # the database has already rolled back by itself, as it does when the disk is full


def _resolve_query(text: str) -> ResolvedSource:
    try:
        query = sqlglot.parse_one(text, read=DIALECT)
    except SqlglotError as error:
        raise EngineError("the source is not a SELECT query that can be parsed", step="source", original=error) from None
    if not isinstance(query, exp.Query):
        raise EngineError("the source is not a SELECT query", step="source")
    bare = query.this if isinstance(query, exp.Subquery) and not query.alias else query
    return ResolvedSource(exp.Subquery(this=bare), "the query")


def _is_path(source: str) -> bool:
    return source.lower().endswith((".parquet", ".parq", ".pq")) or (
        bool(GLOB_CHARACTERS.intersection(source)) and "/" in source and "\n" not in source
    )


def _why_not_opened(path: str, error: duckdb.Error) -> str:
    text = str(error)
    holder = re.search(r"PID (\d+)", text)
    if "lock" in text.lower():
        by = f" (process {holder.group(1)})" if holder else ""
        return f"{path} is open in another program{by}; close it there, or work on a copy"
    if "not a valid DuckDB database" in text:
        return f"{path} is not a DuckDB file"
    if "newer version" in text or "version number" in text:
        return f"{path} was made by a newer DuckDB than {duckdb.__version__}; upgrade duckdb"
    if "No such file or directory" in text:
        return f"{path} cannot be opened: no such file or folder"
    if "Permission denied" in text or "Read-only file system" in text:
        return f"{path} cannot be written; open it with read_only=True and write the release to a Parquet file"
    if "different configuration" in text:
        return f"{path} is already open in this program with another configuration; pass that connection instead"
    return f"{path} cannot be opened ({type(error).__name__})"


def _refused(error: duckdb.Error, purpose: str, sql: str | None) -> EngineError:
    """The error without the database's own text, which can quote data."""
    text = str(error)
    if "No space left on device" in text or "could not be written to disk" in text.lower():
        reason = "the disk is full"
    elif isinstance(error, duckdb.OutOfMemoryException):
        reason = "it ran out of memory; raise memory_limit, or give it a temp_directory"
    elif isinstance(error, duckdb.InvalidInputException) and text.startswith("Invalid Input Error: attribute "):
        reason = text.removeprefix("Invalid Input Error: ").splitlines()[0]  # raised by a macro of ours
    else:
        reason = type(error).__name__
    return EngineError(f"the database stopped at {purpose}: {reason}", step=purpose, sql=sql, original=error)
