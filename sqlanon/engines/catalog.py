"""Names → relations: which table, file or query a user means, and where a release may go."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.compiler.macros import DIALECT, SCHEMA, template
from sqlanon.compiler.nodes import identifier
from sqlanon.engines.base import ResolvedSource
from sqlanon.engines.lake import is_glob
from sqlanon.errors import EngineError
from sqlanon.model.base import did_you_mean
from sqlanon.model.datasets import FILE_SUFFIXES, dataset_of_table
from sqlanon.model.destination import refuse_file_like
from sqlanon.model.names import folded

Rows = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs a statement with bound values and hands out its rows, which are about the catalog."""

QUERY = re.compile(
    r"(\s|--[^\n]*\n|/\*.*?\*/)*(\(|(select|with|from|values|table|pivot|unpivot)\b)", re.IGNORECASE | re.DOTALL
)
"""How a query begins, after white space and comments."""


@dataclass(frozen=True)
class Found:
    """A table or view of the catalog."""

    table: exp.Table
    kind: str


def find(rows: Rows, name: str) -> Found | None:
    """The table or view of this very name, else of the qualified name that it spells; None if there is none."""
    catalog, schema = current_place(rows)
    exact = _look_up(rows, "temp", "main", name) or _look_up(rows, catalog, schema, name)
    if exact is not None:
        return exact
    try:
        spelled = exp.to_table(name, dialect=DIALECT)
    except (SqlglotError, ValueError):
        return None
    return _of_parts(rows, spelled) if isinstance(spelled.this, exp.Identifier) else None


def of_reference(rows: Rows, reference: str) -> Found | None:
    """The table or view of a reference as DuckDB spells it: with its alias and sample, if it has them."""
    table = exp.select("*").from_(reference, dialect=DIALECT).find(exp.Table)
    if table is None:
        return None
    temporary = None if table.db else _look_up(rows, "temp", "main", table.name)
    return temporary or _of_parts(rows, table)


def has(rows: Rows, table: exp.Table) -> bool:
    """Whether a fully qualified table exists."""
    return _look_up(rows, table.catalog, table.db, table.name) is not None


def place_new(rows: Rows, name: str) -> exp.Table:
    """Where a new table goes: to the schema or database that the name spells if it is there, else here.

    Raises:
        EngineError: it goes here, with a name that ends as that of a file.
    """
    catalog, schema = current_place(rows)
    schemas = {(row[0], row[1]) for row in rows(template("list_schemas").sql(DIALECT), ())}
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


def refuse_target(
    rows: Rows,
    target: str,
    tables_of: Callable[[ResolvedSource], Sequence[exp.Table]],
    read: Mapping[str, ResolvedSource],
    *,
    replace: bool,
) -> exp.Table:
    """The table that a release goes to.

    Args:
        rows: runs statements.
        target: its name.
        tables_of: the tables under a source.
        read: what the release may not replace, by role.
        replace: whether a table that is there may be replaced.

    Raises:
        EngineError: it cannot go there.
    """
    found = find(rows, target)
    table = place_new(rows, target) if found is None else found.table
    if table.db.lower() == SCHEMA:
        raise EngineError(f'schema "{SCHEMA}" is reserved; write the release to another', step="target")
    if found is None:
        return table
    if not replace:
        raise EngineError(f'the table "{target}" exists; give another name, or replace=True', step="target")
    if table.catalog == "temp":
        raise EngineError(f'"{target}" is a temporary table; give another name', step="target")
    if found.kind == "view":
        raise EngineError(f'"{target}" is a view; give the name of a table', step="target")
    for role, source in read.items():
        if table in tables_of(source):
            reason = f'the release would replace its own {role} "{target}"; write it to another table'
            raise EngineError(reason, step="target")
    return table


def dataset_of(found: Found, warehouse: str) -> str | None:
    """What the rows of a table of the warehouse are called in a ledger; None for views and tables elsewhere."""
    is_own = found.kind == "table" and found.table.catalog == warehouse
    return dataset_of_table(found.table.db, found.table.name) if is_own else None


def anon_table(database: str, name: str) -> exp.Table:
    """A table of schema ``anon`` of a database."""
    return _table(database, SCHEMA, name)


def file_of(rows: Rows, database: str) -> tuple[Path | None, bool]:
    """The file of an attached database, None if it is in memory or not DuckDB's, and whether it can only be read."""
    path, read_only = rows(template("database_file").sql(DIALECT), (database,))[0]
    return None if path is None else Path(path), bool(read_only)


def current_place(rows: Rows) -> tuple[str, str]:
    """The database and schema in which an unqualified name is looked up."""
    catalog, schema, _ = rows(template("current_place").sql(DIALECT), ())[0]
    return catalog, schema


def is_read_only(rows: Rows) -> bool:
    """Whether nothing can be written where an unqualified name would go."""
    return bool(rows(template("current_place").sql(DIALECT), ())[0][2])


def refuse_unfit_connection(rows: Rows) -> None:
    """Refuse a lent connection that is in a transaction, or that takes different texts for equal.

    A second BEGIN would be refused too, but the database would then roll back the first.

    Raises:
        EngineError: it is one of these.
    """
    state = template("connection_state").sql(DIALECT)
    transaction, collation = rows(state, ())[0]
    if rows(state, ())[0][0] == transaction:
        reason = "the connection is in the middle of a transaction; commit or roll it back first"
        raise EngineError(reason, step="begin")
    if collation:
        reason = f"the connection has default_collation {collation}; reset it, as labels are compared exactly"
        raise EngineError(reason, step="begin")


def is_path(source: str) -> bool:
    """Whether a source that is no table spells files."""
    globbed = is_glob(source) and "/" in source
    if globbed and is_query(source) and len(source.split()) > 1:
        return False  # SELECT *, a / 2 FROM ...
    return source.lower().endswith(FILE_SUFFIXES) or globbed


def is_query(source: str) -> bool:
    """Whether a source that is no table and no path spells a query."""
    return QUERY.match(source) is not None


def parse_query(text: str) -> ResolvedSource:
    """A query as a relation.

    Raises:
        EngineError: it is not one SELECT query.
    """
    try:
        query = sqlglot.parse_one(text, read=DIALECT)
    except SqlglotError as error:
        raise EngineError(
            "the source is not a SELECT query that can be parsed", step="source", original=error
        ) from None
    if not isinstance(query, exp.Query):
        raise EngineError("the source is not a SELECT query", step="source")
    bare = query.this if isinstance(query, exp.Subquery) and not query.alias else query
    return ResolvedSource(exp.Subquery(this=bare), "the query")


def not_found(rows: Rows, source: str) -> EngineError:
    """The error for a source that is nothing, with the closest name that is something."""
    known = [row[0] for row in rows(template("list_relations").sql(DIALECT), ())]
    return EngineError(
        f'there is no table or view "{source}"{did_you_mean(source, known)}; a source is a table, the path or glob of '
        "Parquet or CSV files, or a SELECT query",
        step="source",
    )


def _of_parts(rows: Rows, named: exp.Table) -> Found | None:
    """The table or view of a name with as many parts as are given."""
    catalog, schema = current_place(rows)
    # a.b is a table of schema a, or of the main schema of database a
    as_database = _look_up(rows, named.db, "main", named.name) if named.db and not named.catalog else None
    return _look_up(rows, named.catalog or catalog, named.db or schema, named.name) or as_database


def _look_up(rows: Rows, catalog: str, schema: str, name: str) -> Found | None:
    found = rows(template("find_relation").sql(DIALECT), tuple(map(folded, (catalog, schema, name))))
    return Found(_table(*found[0][:3]), found[0][3]) if found else None


def _table(catalog: str, schema: str, name: str) -> exp.Table:
    return exp.Table(this=identifier(name), db=identifier(schema), catalog=identifier(catalog))
