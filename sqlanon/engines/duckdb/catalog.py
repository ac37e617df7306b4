"""The catalog of a connection: resolve names to tables, files or queries, and place new tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.duckdb.refusals import not_opened, refuse_special
from sqlanon.engines.duckdb.statements import attaching
from sqlanon.engines.paths import is_glob, log_of
from sqlanon.engines.relations import Database, ResolvedSource, Stored
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.destination import refuse_file_like
from sqlanon.model.names import MAIN, SOURCE_SUFFIXES, dataset_of_table, folded, parts_of
from sqlanon.model.policy_value import did_you_mean
from sqlanon.queries.kit.macros import SCHEMA, SCHEMAS
from sqlanon.queries.kit.nodes import DIALECT, identifier, select, string
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.kit.steps import given
from sqlanon.queries.source import SourceColumn

Rows = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs a catalog query with bound values and returns its rows."""

Describe = Callable[[exp.Expr], Sequence[SourceColumn]]  # describes the columns of a readable relation
Place = tuple[str, str, str]  # database, schema and name

QUERY = re.compile(
    r"(\s|--[^\n]*\n|/\*.*?\*/)*(\(|(select|with|from|values|table|pivot|unpivot)\b)", re.IGNORECASE | re.DOTALL
)
"""Matches the beginning of a query, after white space and comments."""


def find(rows: Rows, name: str) -> Stored | None:
    """Find the table or view with exactly this name, else by the qualified name that it spells."""
    here = current_place(rows)
    places = [("temp", "main", name), (*here, name)]
    with suppress(SqlglotError, ValueError):
        spelled = exp.to_table(name, dialect=DIALECT)
        places += _of_parts(spelled, here) if isinstance(spelled.this, exp.Identifier) else ()
    return next(filter(None, at_places(rows, places)), None)


def of_reference(rows: Rows, reference: str) -> Stored | None:
    """Find the table or view of a reference in DuckDB's spelling, which may have an alias and a sample."""
    table = exp.select("*").from_(reference, dialect=DIALECT).find(exp.Table)
    if table is None:
        return None
    temporary = [] if table.db else [("temp", "main", table.name)]
    return next(filter(None, at_places(rows, [*temporary, *_of_parts(table, current_place(rows))])), None)


def at_places(rows: Rows, places: Sequence[Place]) -> list[Stored | None]:
    wanted = [tuple(map(folded, place)) for place in places]
    names = sorted({name for _, _, name in wanted})
    there = {tuple(map(folded, row[:3])): row for row in rows(query_text("engines", "find_relations"), (names,))}
    return [Stored(_table(*there[key][:3]), *there[key][3:]) if key in there else None for key in wanted]


def place_new(rows: Rows, name: str | exp.Table) -> exp.Table:
    """Place a new table in the existing schema or database that its name spells, else in the current one."""
    if isinstance(name, exp.Table):
        return name
    catalog, schema = current_place(rows)
    schemas = {(row[0], row[1]) for row in rows(query_text("engines", "list_schemas"), ())}
    match name.split("."):
        case [given, table] if (catalog, given) in schemas:
            return _table(catalog, given, table)
        case [database, table] if (database, "main") in schemas:
            return _table(database, "main", table)
        case [database, given, table] if (database, given) in schemas:
            return _table(database, given, table)
        case _:
            refuse_file_like(name)
            return _table(catalog, schema, name)


def place_schema(rows: Rows, name: str) -> exp.Table:
    """Find the schema with exactly this name, or that it spells, perhaps with a database, else place a new one."""
    here, _ = current_place(rows)
    known = {
        (folded(row[0]), folded(row[1])): (row[0], row[1]) for row in rows(query_text("engines", "list_schemas"), ())
    }
    parts = parts_of(name)
    spelled = {1: (here, *parts), 2: (*parts,)}.get(len(parts), (name, name))
    for catalog, schema in ((here, name), spelled, (name, MAIN)):
        if (folded(catalog), folded(schema)) in known:
            return _schema(*known[folded(catalog), folded(schema)])
    catalog, schema = spelled
    attached = [database.name for database in databases(rows) if folded(database.name) == folded(catalog)]
    if not attached or not schema.strip():
        raise EngineError(
            f'"{name}" is not the name of a schema: give one, perhaps with its database, as "database.schema"',
            step="target",
        )
    return _schema(attached[0], schema)


def relations_in(rows: Rows, schema: exp.Table) -> list[Stored]:
    """List the tables and views of a schema by name."""
    place = folded(schema.catalog), folded(schema.db)
    listed = rows(query_text("engines", "list_relations"), ())
    names = sorted(name for name, *parts in listed if tuple(map(folded, parts)) == place)
    return [*filter(None, at_places(rows, [(schema.catalog, schema.db, name) for name in names]))]


def dataset_of(found: Stored, warehouse: str) -> str | None:
    """Name a table of the warehouse for a ledger; None for views and tables elsewhere."""
    is_own = not found.is_view and found.table.catalog == warehouse
    return dataset_of_table(found.table.db, found.table.name) if is_own else None


def anon_table(database: str, name: str) -> exp.Table:
    return _table(database, SCHEMA, name)


def databases(rows: Rows) -> list[Database]:
    return [database for database, _ in _attached(rows)]


def warehouse(rows: Rows, name: str) -> Database:
    for database, is_own in _attached(rows):
        if database.name == name:
            return database if is_own else replace(database, file=None)
    raise EngineError(f'the database "{name}" was detached from the connection', step="the catalog")


def _attached(rows: Rows) -> list[tuple[Database, bool]]:
    found = rows(query_text("engines", "attached_databases"), ())
    return [
        (Database(name, None if path is None else Path(path), read_only), is_own)
        for name, path, read_only, is_own in found
    ]


def current_place(rows: Rows) -> tuple[str, str]:
    catalog, schema = rows(query_text("engines", "current_place"), ())[0]
    return catalog, schema


def is_read_only(rows: Rows) -> bool:
    return bool(rows(query_text("engines", "current_database_is_read_only"), ())[0][0])


def is_path(source: str) -> bool:
    """Return whether a source that is not a table spells files."""
    globbed = is_glob(source) and "/" in source
    if globbed and is_query(source) and len(source.split()) > 1:
        return False  # SELECT *, a / 2 FROM ...
    return source.lower().endswith(SOURCE_SUFFIXES) or globbed


def is_query(source: str) -> bool:
    """Return whether a source that is neither a table nor a path spells a query."""
    return QUERY.match(source) is not None


def parse_query(text: str) -> ResolvedSource:
    try:
        query = sqlglot.parse_one(text, read=DIALECT)
    except (SqlglotError, RecursionError) as error:  # such as for parentheses that are nested too deep
        raise EngineError("the source cannot be parsed as a SELECT query", step="source", original=error) from None
    if not isinstance(query, exp.Query):
        raise EngineError("the source is not a SELECT query", step="source")
    bare = query.this if isinstance(query, exp.Subquery) and not query.alias else query
    return ResolvedSource(given(bare), "the query")


def not_found(rows: Rows, source: str) -> EngineError:
    known = rows(query_text("engines", "list_relations"), ())
    elsewhere = [f"{database}.{schema}.{name}" for name, database, schema in known if folded(name) == folded(source)]
    meant = f'; did you mean "{elsewhere[0]}"?' if elsewhere else did_you_mean(source, [name for name, *_ in known])
    return EngineError(
        f'"{source}" is not a table or view{meant}; a source is a table, the path or glob of '
        "Parquet or CSV files, or a SELECT query",
        step="name",
    )


def _of_parts(named: exp.Table, here: tuple[str, str]) -> list[Place]:
    """List the places of a qualified name, likeliest first."""
    catalog, schema = here
    # a.b is in schema a, or in the main schema of database a
    as_database = [(named.db, "main", named.name)] if named.db and not named.catalog else []
    return [(named.catalog or catalog, named.db or schema, named.name), *as_database]


def _table(catalog: str, schema: str, name: str) -> exp.Table:
    return exp.Table(this=identifier(name), db=identifier(schema), catalog=identifier(catalog))


def _schema(catalog: str, schema: str) -> exp.Table:
    return exp.Table(db=identifier(schema), catalog=identifier(catalog))


Execute = Callable[[exp.Expr, str], None]  # runs a statement for a purpose

RESERVED_CATALOGS = ("memory", "temp", "system")
RESERVED_SCHEMAS = (*SCHEMAS, "information_schema", "pg_catalog")

OLDEST_STORAGE_VERSION = "v1.0.0"  # the storage version that every supported DuckDB reads, without newer types


def attach_read_only(path: Path, execute: Execute) -> str:
    """Attach an existing file read-only as the default database, and return the database's name."""
    if not path.exists():
        raise EngineError(f"{path} cannot be opened: no such file or folder", step="open")
    name = "sqlanon_source" if path.stem.lower() in RESERVED_CATALOGS else path.stem
    _open(path, attaching(str(path), name, READ_ONLY=None), execute)
    execute(exp.Use(this=exp.Table(this=identifier(name))), "open")
    return name


def attach_durably(file: Path, name: str, execute: Execute, *, new: bool) -> None:
    """Attach a file so that commits become durable at a :func:`checkpoint`, in no other file.

    A write-ahead log would be a second file, with the permissions of the process.
    """
    version: dict[str, exp.Expr | None] = {"STORAGE_VERSION": string(OLDEST_STORAGE_VERSION)} if new else {}
    _open(file, attaching(str(file), name, **version, RECOVERY_MODE=exp.var("no_wal_writes")), execute)


def attach_memory(name: str, execute: Execute) -> str:
    """Attach a new database in memory under the first free name with this prefix, and return the name."""
    for free in chain([name], (f"{name}_{number}" for number in count(2))):
        try:
            # Attached databases are read-only by default if the main one is.
            execute(attaching(":memory:", free, READ_WRITE=None), "open")
        except EngineError as error:
            if error.refusal is not Refusal.OPEN:
                raise
        else:
            return free
    raise AssertionError("there is always another number")


@contextmanager
def detached_after(file: Path | None, name: str, execute: Execute) -> Iterator[None]:
    """Detach a database at the end of the block, and remove its new write-ahead log.

    A failing checkpoint, such as on a full disk, leaves a log. An earlier log of another program, with changes that it
    could not write to the file, stays.
    """
    log = None if file is None else log_of(file)
    if log is not None and log.exists() and log.stat().st_size > 0:
        log = None
    try:
        yield
    finally:
        try:
            execute(exp.Detach(this=identifier(name)), "detach")
        finally:
            if log is not None:
                with suppress(OSError):
                    log.unlink()


def checkpoint(name: str) -> exp.Query:
    return select([exp.Star()], exp.Table(this=exp.func("checkpoint", string(name), dialect=DIALECT)))


def _open(path: Path, attach: exp.Attach, execute: Execute) -> None:
    refuse_special(str(path))
    try:
        execute(attach, "open")
    except EngineError as error:
        assert isinstance(error.original, Exception)
        raise not_opened(str(path), error.original) from None
