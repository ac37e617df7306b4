"""Relations with their columns spelled as a policy does: to DuckDB names are the same in whatever case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from sqlanon.model.names import speller
from sqlanon.queries.kit.nodes import aliased, column, select, subquery
from sqlanon.queries.source import SourceColumn

Relation = TypeVar("Relation", bound=exp.Expr)


def spelled(
    relation: Relation, columns: Sequence[SourceColumn], names: Sequence[str]
) -> tuple[Relation | exp.Subquery, list[SourceColumn]]:
    """A relation with its columns spelled as they are among some names; the relation itself if they are already."""
    spell = speller(names)
    found = [replace(known, name=spell(known.name)) for known in columns]
    if found == list(columns):
        return relation, found
    projection = [aliased(column(old.name), new.name) for old, new in zip(columns, found, strict=True)]
    return subquery(select(projection, relation.copy()), "anon_spelled"), found
