"""Named queries: the SQL text of ``sql/<room>.sql``, with roles in the places of what differs from run to run.

A query begins with ``-- name: lacking``; the first line of the comment below that is the title of its step. A role is
``:name``: a relation, a column or another expression, or a list of columns, which stands in SELECT, GROUP BY, ORDER BY,
PARTITION BY and USING alike. Lists are taken element by element in a comparison of columns (``anon_one.:keys =
anon_other.:keys & anon_masks.:bits``, for all elements; ``<>`` for any), and where a list names the column that they
make (``bit_or(:keys) AS :keys``, a column for each).
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
"""The colon of a role; texts and comments come first, and stay as they are."""

MARK = "anon_role_"

COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.NEQ)


def parsed(text: str) -> exp.Query:
    """A query with its macros expanded, and each role an identifier that begins with :data:`MARK`."""
    return cast(
        exp.Query, expand(bare(sqlglot.parse_one(ROLE.sub(lambda found: found[1] or MARK, text), read=DIALECT)))
    )


@cache
def _parsed(file: str, name: str) -> exp.Query:
    return parsed(named_queries(file)[name].text)


@cache
def roles_of(file: str, name: str) -> frozenset[str]:
    """The roles of a query."""
    found = (each.name for each in _parsed(file, name).find_all(exp.Identifier))
    return frozenset(each.removeprefix(MARK) for each in found if each.startswith(MARK))


@dataclass(frozen=True)
class Queries:
    """The named queries of ``sql/<file>.sql``, and roles that are the same in all of them."""

    file: str
    roles: Mapping[str, Role] = field(default_factory=dict)  # a query takes those that it has

    def given(self, **roles: Role) -> Queries:
        """Return the queries with more roles filled."""
        return Queries(self.file, {**self.roles, **roles})

    def query(self, name: str, without: Container[str] = (), /, **roles: Role) -> exp.Select:
        """A query with all its roles filled, and without some of its columns.

        Raises:
            KeyError: the file has no such query.
            TypeError: a role of the query is missing, or the query does not have one that is given.
        """
        wanted = roles_of(self.file, name)
        if wrong := (wanted - {*self.roles, *roles}) | (roles.keys() - wanted):
            raise TypeError(f"roles missing or unknown in {name} of sql/{self.file}.sql: {sorted(wrong)}")
        query = _parsed(self.file, name)
        if without:
            # Not copied as a whole: that would take longer than all else of a query.
            clauses = {key: clause.copy() for key, clause in query.args.items() if isinstance(clause, exp.Expr)}
            columns = [each.copy() for each in query.expressions if each.alias not in without]
            query = exp.Select(**clauses, expressions=columns)
        return cast(exp.Select, with_roles(query if without else query.copy(), {**self.roles, **roles}))

    def step(self, makes: Relation, name: str, /, **roles: Role) -> Step:
        """The step that makes a relation by a query, under the title of the query."""
        return Step(makes, self.query(name, **roles), named_queries(self.file)[name].title)


def with_roles(query: exp.Query, roles: Mapping[str, Role]) -> exp.Query:
    """The query, in place, with a role in place of each mark."""
    for mark, role in _lists(query, roles):
        place = _place_of_element(mark)
        if place is not None and mark.root() is query:  # else its place was taken with another list
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
    """The column that a list names, or the comparison that it is an operand of; a list in a call is none."""
    place = mark.parent
    if isinstance(place, exp.Alias):
        return place
    while isinstance(place, exp.Column | exp.Binary | exp.Paren) and not isinstance(place, COMPARISONS):
        place = place.parent
    return place if isinstance(place, COMPARISONS) else None


def _spread(place: exp.Expr, count: int, roles: Mapping[str, Role]) -> None:
    """Take a comparison of lists, or a column that is named by a list, element by element."""
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
    """A new node of a role; a column is one of the table."""
    if isinstance(role, str):
        return column(role, table)
    if not isinstance(role, exp.Expr):
        return exp.convert(role)
    made = role.copy()
    if table and isinstance(made, exp.Column):
        made.set("table", identifier(table))
    return made
