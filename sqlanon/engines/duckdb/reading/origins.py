"""Queries and views → the tables and files that their rows come from, as far as those are spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.base import ResolvedSource, Stored
from sqlanon.engines.duckdb import catalog
from sqlanon.engines.duckdb.catalog import Rows
from sqlanon.model.names import folded
from sqlanon.queries.kit.nodes import DIALECT, identifier
from sqlanon.queries.kit.texts import template_text

Schema = tuple[str, str]
"""The database and the schema of a view, in which the names of its query are looked up first."""


@dataclass(frozen=True)
class Spelled:
    """What queries spell: tables and views that are there, and texts that may be paths or globs of files."""

    relations: tuple[Stored, ...]
    texts: tuple[str, ...]


def spelled_by(source: ResolvedSource, rows: Rows, *, literals: bool = False) -> Spelled:
    """The tables that a source reads, and what may be files, through views and macros.

    A name that is put together while the query runs is not seen.

    Args:
        source: a query, a view, a table or a frame.
        rows: runs statements.
        literals: whether texts given to functions may be the names of tables as well.
    """
    walk = _Walk(rows, literals)
    walk.query(source.relation, None)
    if source.defined_by is not None:
        walk.text(source.defined_by, None)
    return Spelled(tuple(walk.relations.values()), tuple(sorted(walk.texts)))


class _Walk:
    """Goes through queries, and through those of the views and macros in them, each once."""

    def __init__(self, rows: Rows, literals: bool) -> None:
        self._rows = rows
        self._literals = literals
        self._macros: set[str] = set()
        self.relations: dict[tuple[str, str, str], Stored] = {}
        self.texts: set[str] = set()

    def text(self, sql: str, schema: Schema | None) -> None:
        try:
            parsed = sqlglot.parse_one(sql, read=DIALECT)
        except SqlglotError:
            return  # what sqlglot cannot read is not seen
        self.query(parsed.expression if isinstance(parsed, exp.Create) else parsed, schema)

    def query(self, query: exp.Expr, schema: Schema | None) -> None:
        for table in query.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier):
                if not _is_of_with(table):
                    self._name(table, schema)
            else:
                self._arguments(table)
        for function in query.find_all(exp.Anonymous):
            self._macro(function.name, schema)

    def _name(self, table: exp.Table, schema: Schema | None) -> None:
        found = next((found for name in _names(table, schema) if (found := catalog.find(self._rows, name))), None)
        if found is None:
            self.texts.add(table.name)
        else:
            self._relation(found)

    def _relation(self, found: Stored) -> None:
        place = (found.table.catalog, found.table.db, found.table.name)
        if place in self.relations:
            return
        self.relations[place] = found
        if found.is_view:
            for (definition,) in self._rows(template_text("view_definition"), place):
                self.text(definition, place[:2])

    def _arguments(self, table: exp.Table) -> None:
        for text in (literal.name for literal in table.find_all(exp.Literal) if literal.is_string):
            found = catalog.find(self._rows, text) if self._literals else None
            if found is None:
                self.texts.add(text)
            else:
                self._relation(found)

    def _macro(self, name: str, schema: Schema | None) -> None:
        if folded(name) in self._macros:
            return
        self._macros.add(folded(name))
        for (definition,) in self._rows(template_text("macro_definitions"), (folded(name),)):
            self.text(definition, schema)


def _names(table: exp.Table, schema: Schema | None) -> Iterator[str]:
    """How a table may be found: in the schema of the view that names it, or from where the connection is."""
    parts = {part: table.args[part].copy() for part in ("this", "db", "catalog") if table.args.get(part)}
    if schema is not None:
        database, name = (identifier(part) for part in schema)
        yield exp.Table(**{"catalog": database, "db": name, **parts}).sql(DIALECT)
    yield exp.Table(**parts).sql(DIALECT)


def _is_of_with(table: exp.Table) -> bool:
    """Whether a name is that of a WITH clause, which hides a table of that name.

    It does not in the query of the clause itself, unless that is recursive, nor in those of the clauses before it.
    """
    node: exp.Expr = table
    inside: exp.Expr | None = None
    while not table.db and node.parent is not None:
        inside = node if isinstance(node, exp.CTE) else inside
        node = node.parent
        clause = node.args.get("with_")
        if clause is not None and folded(table.name) in _defined_before(clause, inside):
            return True
    return False


def _defined_before(clause: exp.With, inside: exp.Expr | None) -> set[str]:
    """The names of a WITH clause that hold within one of its queries, or after it."""
    names = [folded(each.alias) for each in clause.expressions]
    places = [place for place, each in enumerate(clause.expressions) if each is inside]
    return set(names if clause.args.get("recursive") or not places else names[: places[0]])
