"""Trace columns of a query to plain columns of tables and files.

Anything unclear counts as computed: a column is traced only through plain references, under any name, in SELECT lists,
stars, subqueries, WITH clauses, views, joins and unions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.duckdb.catalog import Describe, Rows
from sqlanon.engines.duckdb.origins import FILES, Schema, find_named, names_of, query_of
from sqlanon.engines.relations import ResolvedSource, Stored, place_of
from sqlanon.errors import EngineError
from sqlanon.model.names import dataset_of_table, folded
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.source import ColumnOrigin

PLAIN_OPTIONS = frozenset(
    {"types", "dtypes", "union_by_name", "hive_partitioning", "all_varchar", "sample_size", "delim", "sep"}
)
"""Reader options that keep each column under its own name."""

NAME_OF_FILE = re.compile(r"[./]")  # in names of files, but not of Python variables


class UntracedError(Exception):
    """Part of a query is not understood."""


@dataclass(frozen=True)
class Column:
    """A column of a query, with its possible names in lower case; the origin is None if it may be computed."""

    names: frozenset[str]
    origin: ColumnOrigin | None = None


@dataclass(frozen=True)
class Named:
    """A relation in FROM: its qualifier, its columns, and those that a star omits because of USING."""

    name: str
    columns: tuple[Column, ...]
    merged: frozenset[str] = frozenset()


Scope = Mapping[str, tuple[Column, ...]]  # WITH queries by name


def traced(source: ResolvedSource, names: Sequence[str], rows: Rows, describe: Describe) -> list[ColumnOrigin | None]:
    """Trace columns of a source to tables or files; None for columns that may be computed."""
    if source.defined_by == "" or source.files:
        return [*map(ColumnOrigin, names)]
    found: Mapping[str, Column] = {}
    with suppress(UntracedError, SqlglotError, EngineError):
        shown = [folded(column.name) for column in describe(source.relation)]
        lineage, query = _Lineage(rows, describe), source.defined_by
        columns = lineage.relation(source.relation, {}, None).columns if query is None else lineage.text(query, None)
        found = dict(zip(shown, columns, strict=True)) if len(columns) == len(shown) else {}
    by_name = ((key, found.get(key)) for key in map(folded, names))
    return [None if each is None or key not in each.names else each.origin for key, each in by_name]


class _Lineage:
    def __init__(self, rows: Rows, describe: Describe) -> None:
        self._rows = rows
        self._describe = describe

    def text(self, sql: str, schema: Schema | None) -> tuple[Column, ...]:
        return self.query(query_of(sql), {}, schema)

    def query(self, query: exp.Expr, scope: Scope, schema: Schema | None) -> tuple[Column, ...]:
        clause = query.args.get("with_")
        if clause is not None:
            if clause.args.get("recursive"):
                raise UntracedError
            for each in clause.expressions:
                made = _renamed(self.query(each.this, scope, schema), each)
                scope = {**scope, folded(each.alias): made}
        if isinstance(query, exp.Subquery):
            return self.query(query.this, scope, schema)
        if isinstance(query, exp.SetOperation) and not query.args.get("by_name"):
            # A column of a union has an origin if both parts have one of the same name in its place.
            above, below = (self.query(part, scope, schema) for part in (query.this, query.expression))
            if len(above) != len(below):
                raise UntracedError
            return tuple(replace(a, origin=_common(a.origin, b.origin)) for a, b in zip(above, below, strict=True))
        if isinstance(query, exp.Select) and not query.args.get("laterals"):
            relations = self._relations(query, scope, schema)
            return tuple(column for each in query.expressions for column in _selected(each, relations))
        raise UntracedError

    @cached_property
    def _macros(self) -> set[str]:
        """The user's macros. Each is one column: DuckDB accepts no star in a macro."""
        return {folded(name) for name, _ in self._rows(query_text("engines", "macro_definitions"), ())}

    def _relations(self, query: exp.Select, scope: Scope, schema: Schema | None) -> list[Named]:
        clause = query.args.get("from_")
        if clause is None:
            return []
        found = [self.relation(clause.this, scope, schema)]
        for join in (*(clause.this.args.get("joins") or ()), *(query.args.get("joins") or ())):
            if join.args.get("method"):
                raise UntracedError  # NATURAL, ASOF and POSITIONAL
            right = self.relation(join.this, scope, schema)
            if join.this.args.get("joins"):
                raise UntracedError
            using = frozenset(folded(each.name) for each in join.args.get("using") or ())
            if join.kind in ("SEMI", "ANTI"):
                continue
            if using and join.side in ("RIGHT", "FULL"):
                found = [replace(each, columns=_unknown(each.columns, using)) for each in found]
            found.append(replace(right, merged=using))
        return found

    def relation(self, node: exp.Expr, scope: Scope, schema: Schema | None) -> Named:
        if node.args.get("pivots"):
            raise UntracedError
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            columns = self.query(node.this, scope, schema)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            columns = self._of_name(node, scope, schema)
        elif isinstance(node, exp.Table):
            columns = self._of_files(node.this)
        else:
            raise UntracedError
        return Named(folded(node.alias_or_name), _renamed(columns, node))

    def _of_name(self, table: exp.Table, scope: Scope, schema: Schema | None) -> tuple[Column, ...]:
        if not table.db and folded(table.name) in scope:
            return scope[folded(table.name)]
        found = find_named(self._rows, table, schema)
        if found is None:
            if not NAME_OF_FILE.search(table.name):
                raise UntracedError  # a Python variable, which may be a relation
            return self._base(exp.Table(this=table.this.copy()))
        return self._of_view(found) if found.is_view else self._base(found.table, found.table)

    def _of_view(self, view: Stored) -> tuple[Column, ...]:
        place = place_of(view.table)
        ((definition,),) = self._rows(query_text("engines", "view_definition"), place)
        if not definition:
            raise UntracedError  # the view of a relation
        inside = self.text(definition, place[:2])
        names = [folded(column.name) for column in self._describe(view.table)]
        if len(names) != len(inside):
            raise UntracedError
        return tuple(Column(frozenset({name}), each.origin) for name, each in zip(names, inside, strict=True))

    def _of_files(self, function: exp.Expr) -> tuple[Column, ...]:
        names = names_of(function)
        given = [argument.unnest() for argument in list(function.iter_expressions())[1:]]
        are_named = all(isinstance(each, exp.EQ | exp.PropertyEQ | exp.Kwarg) for each in given)
        is_reader = FILES.intersection(map(str.upper, names)) and not self._macros & set(map(folded, names))
        if not is_reader or not are_named or not {folded(each.this.name) for each in given} <= PLAIN_OPTIONS:
            raise UntracedError
        return self._base(exp.Table(this=function.copy()))

    def _base(self, relation: exp.Table, table: exp.Table | None = None) -> tuple[Column, ...]:
        tables = frozenset() if table is None else frozenset({dataset_of_table(table.db, table.name)})
        return tuple(
            Column(frozenset({folded(each.name)}), ColumnOrigin(each.name, tables)) for each in self._describe(relation)
        )


def _selected(expression: exp.Expr, relations: Sequence[Named]) -> Iterator[Column]:
    bare = expression.unalias()
    while isinstance(bare, exp.Paren):
        bare = bare.this
    if isinstance(bare, exp.Star) or (isinstance(bare, exp.Column) and isinstance(bare.this, exp.Star)):
        yield from _starred(bare, relations)
    elif _may_be_several(bare):
        raise UntracedError
    else:
        yield Column(_names(expression, bare), _origin(bare, relations) if isinstance(bare, exp.Column) else None)


def _names(expression: exp.Expr, bare: exp.Expr) -> frozenset[str]:
    """Return the possible names of a column: its own, else all names inside it."""
    if expression.alias:
        return frozenset({folded(expression.alias)})
    if isinstance(bare, exp.Column):
        return frozenset({folded(bare.name)})
    return frozenset(folded(each.name) for each in bare.find_all(exp.Identifier, exp.Literal))


def _may_be_several(expression: exp.Expr) -> bool:
    if expression.find(exp.Columns, exp.Explode):
        return True
    if any(not isinstance(star.parent, exp.Count | exp.Select) for star in expression.find_all(exp.Star)):
        return True
    return any(folded(name) == "unnest" for each in expression.find_all(exp.Func) for name in names_of(each))


def _starred(star: exp.Expr, relations: Sequence[Named]) -> Iterator[Column]:
    of_table = isinstance(star, exp.Column)
    options = star.this if of_table else star
    left_out = {folded(each.name) for each in options.args.get("except_") or ()}
    replaced = {folded(each.alias) for each in options.args.get("replace") or ()}
    names = {folded(each.this.name): folded(each.alias) for each in options.args.get("rename") or ()}
    shown = [each for each in relations if not of_table or each.name == folded(star.args["table"].name)]
    if not shown:
        raise UntracedError  # the fields of a struct
    for relation in shown:
        for column in relation.columns:
            if column.names & left_out or (not of_table and column.names & relation.merged):
                continue
            made_anew = column.names & replaced
            yield Column(
                frozenset(names.get(name, name) for name in column.names), None if made_anew else column.origin
            )


def _origin(column: exp.Column, relations: Iterable[Named]) -> ColumnOrigin | None:
    """Resolve a reference to the first column of that name; DuckDB refuses ambiguous ones."""
    if column.args.get("db"):
        return None
    for relation in relations:
        if column.table and folded(column.table) != relation.name:
            continue
        for each in relation.columns:
            if folded(column.name) in each.names:
                return each.origin
    return None


def _renamed(columns: tuple[Column, ...], node: exp.Expr) -> tuple[Column, ...]:
    alias = node.args.get("alias")
    names = [folded(each.name) for each in alias.args.get("columns") or ()] if isinstance(alias, exp.Expr) else []
    renamed = (replace(column, names=frozenset({name})) for column, name in zip(columns, names, strict=False))
    return (*renamed, *columns[len(names) :])


def _unknown(columns: Iterable[Column], names: frozenset[str]) -> tuple[Column, ...]:
    return tuple(replace(each, origin=None) if each.names & names else each for each in columns)


def _common(one: ColumnOrigin | None, other: ColumnOrigin | None) -> ColumnOrigin | None:
    if one is None or other is None or folded(one.name) != folded(other.name):
        return None
    return ColumnOrigin(one.name, one.tables | other.tables)
