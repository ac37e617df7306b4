"""Named queries: the SQL text of ``sql/<room>.sql``, with roles for the parts that differ from run to run.

A query begins with ``-- name: lacking``; the first line of the comment below it is the title of its step. A role,
``:name``, is a relation, a column or another expression, or a list of columns for SELECT, GROUP BY, ORDER BY, PARTITION
BY or USING. Lists are expanded element by element in comparisons of columns (``anon_one.:keys = anon_other.:keys &
anon_masks.:bits``, for all elements; ``<>`` for any), and in columns that a list names (``bit_or(:keys) AS :keys``, a
column for each).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import cast

import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import bare, expand
from sqlanon.queries.kit.nodes import DIALECT, Relation, Step, column, identifier, subquery
from sqlanon.queries.kit.sql_files import named_queries

Role = exp.Expr | Relation | str | int | float | Sequence[str] | Sequence[exp.Expr]
"""A relation or query, an expression, the name of a column, a number; or a list of columns."""

ROLE = re.compile(r"('(?:[^']|'')*'|--.*)|(?<![:\w]):(?=[a-z])")
"""The colon of a role; texts and comments match first, and stay unchanged."""

MARK = "anon_role_"

COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.NEQ)


def parsed(text: str) -> exp.Query:
    """Parse a query, expand its macros, and prefix the name of each role with :data:`MARK`."""
    return cast(
        exp.Query, expand(bare(sqlglot.parse_one(ROLE.sub(lambda found: found[1] or MARK, text), read=DIALECT)))
    )


@cache
def _parsed(file: str, name: str) -> exp.Query:
    return parsed(named_queries(file)[name].text)


@cache
def roles_of(file: str, name: str) -> frozenset[str]:
    found = (each.name for each in _parsed(file, name).find_all(exp.Identifier))
    return frozenset(each.removeprefix(MARK) for each in found if each.startswith(MARK))


@dataclass(frozen=True)
class Queries:
    """The named queries of ``sql/<file>.sql``, and roles that they share."""

    file: str
    roles: Mapping[str, Role] = field(default_factory=dict)  # a query takes the ones that it mentions

    def given(self, **roles: Role) -> Queries:
        return Queries(self.file, {**self.roles, **roles})

    def query(self, name: str, without: Container[str] = (), /, **roles: Role) -> exp.Select:
        """Return a query with all its roles filled, and without some of its columns.

        Raises:
            KeyError: the file has no such query.
            TypeError: a role of the query is missing, or the query lacks a given one.
        """
        wanted = roles_of(self.file, name)
        if wrong := (wanted - {*self.roles, *roles}) | (roles.keys() - wanted):
            raise TypeError(f"roles missing or unknown in {name} of sql/{self.file}.sql: {sorted(wrong)}")
        query = _parsed(self.file, name)
        if without:
            # Copying the whole query would take longer than everything else here.
            clauses = {key: clause.copy() for key, clause in query.args.items() if isinstance(clause, exp.Expr)}
            columns = [each.copy() for each in query.expressions if each.alias not in without]
            query = exp.Select(**clauses, expressions=columns)
        return cast(exp.Select, with_roles(query if without else query.copy(), {**self.roles, **roles}))

    def step(self, makes: Relation, name: str, /, **roles: Role) -> Step:
        """Make a relation by a query, under the title of the query."""
        return Step(makes, self.query(name, **roles), named_queries(self.file)[name].title)


def with_roles(query: exp.Query, roles: Mapping[str, Role]) -> exp.Query:
    """Replace each mark of a query by its role, in place."""
    for mark, role in _lists(query, roles):
        place = _place_of_element(mark)
        if place is not None and mark.root() is query:  # otherwise it was expanded with another list
            _spread(place, len(role), roles)
    nodes = [*query.find_all(exp.Identifier, exp.Group, exp.Order, exp.Join)]
    for mark in _marks(nodes):
        _fill(mark, roles[mark.name.removeprefix(MARK)])
    for clause in (each for each in nodes if not isinstance(each, exp.Identifier)):
        if isinstance(clause, exp.Join):
            if clause.args.get("using") == []:
                clause.set("on", exp.true())
        elif not any(clause.args.values()):  # GROUP BY ALL has no expressions either
            clause.pop()
    return query


def _marks(nodes: Iterable[exp.Expr]) -> list[exp.Identifier]:
    return [each for each in nodes if isinstance(each, exp.Identifier) and each.name.startswith(MARK)]


def _lists(of: exp.Expr, roles: Mapping[str, Role]) -> list[tuple[exp.Identifier, Sequence[str] | Sequence[exp.Expr]]]:
    found = ((mark, roles[mark.name.removeprefix(MARK)]) for mark in _marks(of.find_all(exp.Identifier)))
    return [(mark, role) for mark, role in found if isinstance(role, Sequence) and not isinstance(role, str)]


def _place_of_element(mark: exp.Identifier) -> exp.Expr | None:
    """Return the column that a list names, or the comparison that it is an operand of, if any."""
    place = mark.parent
    if isinstance(place, exp.Alias):
        return place
    while isinstance(place, exp.Column | exp.Binary | exp.Paren) and not isinstance(place, COMPARISONS):
        place = place.parent
    return place if isinstance(place, COMPARISONS) else None


def _spread(place: exp.Expr, count: int, roles: Mapping[str, Role]) -> None:
    """Expand a comparison of lists, or a column that a list names, element by element."""
    made = [place.copy() for _ in range(count)]
    for number, each in enumerate(made):
        for mark, role in _lists(each, roles):
            _fill(mark, role[number])
    if isinstance(place, exp.Alias):
        place.replace(made)
    elif isinstance(place, exp.NEQ):
        place.replace(exp.paren(exp.or_(*made, copy=False), copy=False) if made else exp.false())
    else:
        place.replace(exp.and_(*made, copy=False) if made else exp.true())


def _fill(mark: exp.Identifier, role: Role) -> None:
    place = mark.parent
    if isinstance(place, exp.Table):
        place.replace(_relation(role, place))
    elif isinstance(place, exp.Column) and mark.arg_key == "this":
        _fill_column(place, role)
    else:
        columns = [role] if isinstance(role, str | exp.Expr) else cast(Sequence[str | exp.Expr], role)
        names = [identifier(each if isinstance(each, str) else each.name) for each in columns]
        mark.replace(names[0] if len(names) == 1 else names)


def _fill_column(place: exp.Column, role: Role) -> None:
    if isinstance(role, Sequence) and not isinstance(role, str):
        columns, around = [_expression(each, place.table) for each in role], place.parent
        if isinstance(around, exp.Ordered):
            around.replace([exp.Ordered(**{**around.args, "this": each}) for each in columns])
        else:
            place.replace(columns)
        return
    value = _expression(role, place.table)
    is_operand = isinstance(value, exp.Binary) and isinstance(place.parent, exp.Binary | exp.Unary)
    place.replace(exp.paren(value, copy=False) if is_operand else value)


def _relation(role: Role, place: exp.Table) -> exp.Expr:
    found = role.table if isinstance(role, Relation) else cast(exp.Expr, role).copy()
    alias = place.args.get("alias")
    if isinstance(found, exp.Query) and not isinstance(found, exp.Subquery):
        return subquery(found, alias.name if alias else place.name.replace(MARK, "anon_"))
    if alias:
        own = found.args.get("alias")
        found.set("alias", exp.TableAlias(this=alias.this, columns=own.columns if own else None))
    return found


def _expression(role: Role, table: str = "") -> exp.Expr:
    """Return a new node for a role; a column gets the table."""
    if isinstance(role, str):
        return column(role, table)
    if not isinstance(role, exp.Expr):
        return exp.convert(role)
    made = role.copy()
    if table and isinstance(made, exp.Column):
        made.set("table", identifier(table))
    return made
