"""Statements as they are sent and shown: a WITH of named steps instead of nested derived tables.

Builders nest, since each makes a relation without knowing the statement around it, but people read from top to bottom.
The database inlines a step that is read once, so both forms are equivalent. Equal grouping queries of one name become
one step, which the database executes once; plain projections aren't worth sharing.
"""

from __future__ import annotations

from typing import TypeVar

from sqlglot import exp

from sqlanon.queries.kit.nodes import DIALECT, identifier

Node = TypeVar("Node", bound=exp.Expr)

PREFIX = "anon_"
"""The prefix of our relations; others are left in place."""

GIVEN = "given"
"""Marks the query of a user, which stays in one piece."""


def printed(statement: exp.Expr, *, pretty: bool = False) -> str:
    """Render a statement in named steps, without changing its tree, which other statements may share."""
    return in_steps(statement).sql(DIALECT, pretty=pretty, copy=False)


def given(query: exp.Query) -> exp.Subquery:
    relation = exp.Subquery(this=query)
    relation.meta[GIVEN] = True
    return relation


def in_steps(statement: exp.Expr) -> exp.Expr:
    """Rewrite the query of a statement in steps; the query may be the statement itself, or stand in CREATE or COPY."""
    if isinstance(statement, exp.Select | exp.SetOperation):
        return _Steps().taken_out_of(statement)
    for place in ("expression", "this"):
        query = statement.args.get(place)
        if isinstance(query, exp.Select | exp.SetOperation):
            return _with(statement, **{place: _Steps().taken_out_of(query)})
    return statement


class _Steps:
    """The steps of one query: nodes on the path to a derived table are copied, all others are shared."""

    def __init__(self) -> None:
        self._steps: list[exp.CTE] = []
        self._shared: dict[str, list[tuple[exp.Query, exp.Table]]] = {}
        self._made: dict[str, exp.Table] = {}
        self._others: set[str] = set()

    def taken_out_of(self, query: exp.Query) -> exp.Query:
        """Move derived tables of a query into steps before it, each after the steps that it reads."""
        if _is_recursive(query):
            return query
        bare = self._without_steps(query)
        return _with(bare, with_=exp.With(expressions=self._steps)) if self._steps else query

    def _without_steps(self, query: exp.Query) -> exp.Query:
        """Move the steps and derived tables of a query among ours."""
        self._others.update(step.alias for step in query.ctes)
        for step in query.ctes:
            self._steps.append(_with(step, this=self._rebuilt(step.this)))
        return self._rebuilt(_with(query, with_=None) if query.ctes else query)

    def _rebuilt(self, query: exp.Query) -> exp.Query:
        """Let a query read steps in place of derived tables."""
        if isinstance(query, exp.SetOperation):
            return _with(query, this=self._rebuilt(query.left), expression=self._rebuilt(query.right))
        clause = query.args.get("from_")
        if not isinstance(query, exp.Select) or clause is None:
            return query
        joins = query.args.get("joins") or []
        read = [self._relation(each.this) for each in (clause, *joins)]
        if all(relation is each.this for relation, each in zip(read, (clause, *joins), strict=True)):
            return query
        first, *others = (_with(each, this=found) for each, found in zip((clause, *joins), read, strict=True))
        return _with(query, from_=first, joins=others)

    def _relation(self, relation: exp.Expr) -> exp.Expr:
        if relation.meta_get(GIVEN):
            self._give_way(relation)
            return relation
        if not isinstance(relation, exp.Subquery) or not _is_ours(relation) or _is_recursive(relation.this):
            return relation
        if any(self._is_taken(step.alias) for step in relation.this.ctes):
            return relation  # its own steps would collide with ours
        query = self._without_steps(relation.this)
        alias = relation.args["alias"]
        alike = self._shared.setdefault(alias.name, [])
        for made, table in alike:
            if made == query and table.alias_column_names == [each.name for each in alias.columns]:
                return table
        name = self._free_name(alias.name)
        table = exp.Table(this=identifier(name))
        if name != alias.name or alias.columns:
            table.set("alias", alias.copy())
        self._made[name] = table
        # Grouping queries, and queries over steps, are shared between equal readers.
        clause = query.args.get("from_")
        reads_steps = clause is not None and not clause.this.args.get("db") and clause.this.name in self._made
        if reads_steps or query.args.get("group"):
            alike.append((query, table))
        self._steps.append(exp.CTE(this=query, alias=exp.TableAlias(this=identifier(name))))
        return table

    def _give_way(self, relation: exp.Expr) -> None:
        """Rename steps that have the name of a table in a user's query."""
        read = {table.name.lower() for table in relation.find_all(exp.Table) if not table.db}
        self._others |= read
        for step in self._steps:
            if step.alias in read and step.alias in self._made:
                table = self._made.pop(step.alias)
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=identifier(step.alias)))
                name = self._free_name(step.alias)
                table.set("this", identifier(name))
                step.set("alias", exp.TableAlias(this=identifier(name)))
                self._made[name] = table

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 2
        while self._is_taken(name):
            name, number = f"{wanted}_{number}", number + 1
        return name

    def _is_taken(self, name: str) -> bool:
        return name in self._made or name in self._others


def _with(node: Node, **changed: object) -> Node:
    return type(node)(**{**node.args, **changed})


def _is_recursive(query: exp.Query) -> bool:
    clause = query.args.get("with_")
    return clause is not None and bool(clause.args.get("recursive"))


def _is_ours(relation: exp.Subquery) -> bool:
    """Return whether a relation is just a query under one of our names."""
    others = (name for name, value in relation.args.items() if value and name not in ("this", "alias"))
    is_query = isinstance(relation.this, exp.Select | exp.SetOperation)
    return is_query and relation.alias.startswith(PREFIX) and next(others, None) is None
