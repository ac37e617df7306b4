"""Taxonomies with numbers and days spelled as columns have them: 27.0 is the number 27, and midnight its day."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from sqlanon.model.names import speller
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import DIALECT, aliased, cast, column, number, select, string, subquery
from sqlanon.queries.source import SourceColumn

WHOLE = re.compile(r"-?\d+\.0+|-?\d(\.\d+)?e\+?\d{1,2}")
"""How numbers that need not be whole are written where they are."""

TIMES = frozenset(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"))
"""Types of a day with a time: pandas has no other type for days."""

Taxonomies = exp.Table | exp.Subquery
"""The relation that holds taxonomies: a table, or one with values spelled otherwise."""


def fractional_types(columns: Iterable[SourceColumn], names: Container[str]) -> dict[str, str]:
    """The types of those columns of some names that have numbers which need not be whole, or times without a zone."""
    return {found.name: found.type for found in columns if is_respelled(found) and found.name in names}


def is_respelled(found: SourceColumn) -> bool:
    """Whether a column spells the whole numbers or the days of a taxonomy in another way."""
    return found.traits.is_fractional or found.type in TIMES


def spelled_taxonomy(taxonomy: exp.Table, types: Mapping[str, str]) -> Taxonomies:
    """The taxonomies with the whole numbers and days of some attributes spelled as in columns of their types.

    A day stays its own label. A value that the taxonomy has in that spelling already, or that the type cannot hold,
    stays as it is.
    """
    if not types:
        return taxonomy
    numbers = {name: kind for name, kind in types.items() if kind not in TIMES}
    value, label = _spelled("value", taxonomy, types), _spelled("label", taxonomy, numbers)
    at_the_bottom = exp.If(this=column("level").eq(number(0)), true=label)
    columns = [column("attribute"), column("level"), aliased(value, "value")]
    columns.append(aliased(exp.Case(ifs=[at_the_bottom], default=column("label")), "label"))
    return subquery(select(columns, taxonomy.copy()), "anon_spelled_taxonomy")


def with_spellings(known: exp.Query, type_name: str) -> exp.Select:
    """Values, and beside each whole number how a column of a type has it; beside others NULL."""
    value, whole = column("value"), _whole(column("value"), type_name)
    spelled = cast(_try_cast(value, type_name), "VARCHAR")
    number_of = exp.Case(ifs=[exp.If(this=cast(whole, "VARCHAR").eq(value.copy()), true=spelled)])
    return Queries("taxonomies").query("both_spellings", known=known, spelled=number_of)


def with_whole_numbers(relation: exp.Expr, names: Sequence[str], taxonomy: exp.Table) -> exp.Expr:
    """A release with the whole numbers of some columns spelled as its taxonomies have them: 27 in place of 27.0."""
    if not names:
        return relation
    replaced = [aliased(_whole_number(name, taxonomy), name) for name in names]
    return subquery(select([exp.Star(replace=replaced)], relation.copy()), "anon_whole_numbers")


def both_spellings(labels: Sequence[tuple[int | None, str]]) -> list[tuple[int | None, str]]:
    """The labels of a cut, those of level 0 also as whole numbers."""
    whole = [(level, f"{float(label):.0f}") for level, label in labels if level == 0 and WHOLE.fullmatch(label)]
    return [*labels, *whole]


def _whole_number(name: str, taxonomy: exp.Table) -> exp.Expr:
    label = text(column(name))
    whole = exp.TryCast(this=label, to=exp.DataType.build("HUGEINT", dialect=DIALECT))
    own = _values(taxonomy, name)
    is_new = exp.not_(exp.In(this=label.copy(), query=exp.Subquery(this=own)))
    is_equal = _try_cast(label, "DOUBLE").eq(_try_cast(whole, "DOUBLE"))
    condition = exp.and_(is_new, exp.func("coalesce", is_equal, exp.false()))
    return exp.Case(ifs=[exp.If(this=condition, true=text(whole.copy()))], default=label.copy())


def _values(taxonomy: exp.Table, attribute: str) -> exp.Select:
    return Queries("taxonomies").query("known_values", taxonomy=taxonomy, attribute=string(attribute))


def _spelled(name: str, taxonomy: exp.Table, types: Mapping[str, str]) -> exp.Expr:
    cases = []
    for attribute, type_name in types.items():
        own = _values(taxonomy, attribute)
        is_new = exp.not_(exp.In(this=_number(column(name), type_name), query=exp.Subquery(this=own)))
        condition = exp.and_(_is(attribute), _is_whole(column(name), type_name), is_new)
        cases.append(exp.If(this=condition, true=_number(column(name), type_name)))
    return exp.Case(ifs=cases, default=column(name)) if cases else column(name)


def _is(attribute: str) -> exp.Expr:
    return column("attribute").eq(string(attribute))


def _is_whole(value: exp.Expr, type_name: str) -> exp.Expr:
    """Whether a text is how a whole number, or a day, is written that the type holds exactly."""
    return exp.func("coalesce", text(_whole(value, type_name)).eq(value.copy()), exp.false())


def _whole(value: exp.Expr, type_name: str) -> exp.TryCast:
    """The whole number, or the day, that a text is in a type."""
    kind = "DATE" if type_name in TIMES else "HUGEINT"
    return exp.TryCast(this=_try_cast(value, type_name), to=exp.DataType.build(kind, dialect=DIALECT))


def _number(value: exp.Expr, type_name: str) -> exp.Expr:
    return text(_try_cast(value, type_name))


def _try_cast(value: exp.Expr, type_name: str) -> exp.TryCast:
    return exp.TryCast(this=value.copy(), to=cast(exp.null(), type_name).to.copy())


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
