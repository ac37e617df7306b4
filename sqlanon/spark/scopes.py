"""What a query reads: the columns of relations and of the steps in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.engines.types import column_of
from sqlanon.queries.source import SourceColumn

Columns = Mapping[str, Sequence[SourceColumn]]
"""The columns of relations, by the names that a query reads them by."""

FLOAT_TEXTS = "anon_float_texts"
"""What the names of relations of texts begin with, which are joined to what a query reads."""


class Scopes:
    """The columns of what a query reads: relations, and the steps in front of it."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def of(self, query: exp.Select) -> list[SourceColumn]:
        """The columns that ``*`` stands for in a query, in order."""
        relations = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or [])]
        return [each for relation in relations for each in self._of_relation(relation)]

    def column(self, query: exp.Select, found: exp.Column) -> tuple[exp.Expr, SourceColumn] | None:
        """The relation that a column is of, and what it is there; None if it is of none that the query reads."""
        relations = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or [])]
        for relation in relations:
            if found.table in ("", relation.alias_or_name):
                named = (each for each in self._of_relation(relation) if each.name.lower() == found.name.lower())
                if (read := next(named, None)) is not None:
                    return relation, read
        return None

    def origin(self, relation: exp.Expr, name: str) -> tuple[str, str] | None:
        """The relation and the column that a column is, through steps that pass it on; None if one makes it."""
        query = relation.this if isinstance(relation, exp.Subquery) else _step(relation)
        if query is None:
            return relation.name, name
        if not isinstance(query, exp.Select):
            return None
        made = next((each.unalias() for each in query.selects if each.alias_or_name.lower() == name.lower()), None)
        found = self.column(query, made) if isinstance(made, exp.Column) else None
        return None if found is None else self.origin(found[0], found[1].name)

    def _of_relation(self, relation: exp.Expr) -> list[SourceColumn]:
        if isinstance(relation, exp.Subquery):
            return self.made_by(relation.this)
        if isinstance(relation, exp.Values):
            return [column_of(name, "VARCHAR") for name in relation.alias_column_names]
        assert isinstance(relation, exp.Table)
        if relation.name.startswith(FLOAT_TEXTS):
            return []
        made = _step(relation)
        return [*self._columns[relation.name]] if made is None else self.made_by(made)

    def made_by(self, query: exp.Expr) -> list[SourceColumn]:
        """The columns of the result of a query whose stars are spelled out."""
        if isinstance(query, exp.SetOperation):
            return self.made_by(query.left)
        assert isinstance(query, exp.Select)
        read = {each.name.lower(): each for each in self.of(query)} if query.args.get("from_") else {}
        return [_made(selected, read) for selected in query.selects]


def _made(selected: exp.Expr, read: Mapping[str, SourceColumn]) -> SourceColumn:
    """The column that an expression makes: of the type of the one that it is, else of none that matters."""
    made = selected.unalias()
    while isinstance(made, exp.Case | exp.Paren):  # a number, or a bound of it
        made = made.args["default"] if isinstance(made, exp.Case) and made.args.get("default") else made.this
    found = read.get(made.name.lower()) if isinstance(made, exp.Column) else None
    return column_of(selected.alias_or_name, "VARCHAR" if found is None else found.type)


def _step(table: exp.Expr) -> exp.Query | None:
    """The step of a WITH that a name stands for, in the query that it is in or one around it."""
    if table.args.get("db"):
        return None
    around = table.find_ancestor(exp.Select, exp.SetOperation)
    while around is not None:
        for step in around.ctes:
            if step.alias == table.name and table.find_ancestor(exp.CTE) is not step:
                found: exp.Query = step.this
                return found
        around = around.find_ancestor(exp.Select, exp.SetOperation)
    return None
