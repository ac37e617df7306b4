"""A relation with its values in the types that a policy says, whatever types its rows fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.kit.macros import as_read, cast_value, text
from sqlanon.queries.kit.nodes import aliased, cast, column, count_rows, f, filtered, select, subquery
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.spelled import TIMES

WHOLE = "HUGEINT"
"""The type of whole numbers while they may still lie outside of any bounds."""


def typed(relation: exp.Expr, replaced: Mapping[str, exp.Expr]) -> exp.Subquery:
    """All columns of a relation, some replaced by values."""
    values = [aliased(value, name) for name, value in replaced.items()]
    return subquery(select([exp.Star(replace=values)], relation.copy()), "anon_typed")


def number_of(name: str, *, is_whole: bool = False) -> exp.Expr:
    """A column as numbers; whole ones are rounded down, and are NULL where no type holds them."""
    value = cast_value(column(name), "DOUBLE")
    return exp.TryCast(this=f.floor(value), to=cast(exp.null(), WHOLE).to) if is_whole else value


def text_of(found: SourceColumn) -> exp.Expr:
    """A column as texts that do not depend on which numbers or times its type has: 27.0 is 27, midnight its day."""
    value = column(found.name)
    if found.traits.is_list:
        return cast_value(value, "VARCHAR[]")
    if found.traits.is_fractional:
        number = cast_value(value, "DOUBLE")
        return _first_equal(number, WHOLE, text(value) if found.traits.is_float else text(number))
    if found.type in TIMES:
        return _first_equal(as_read(value), "DATE", text(value))
    return text(value)


def counted_numbers(relation: exp.Expr, names: Sequence[str]) -> exp.Select:
    """One row, ``numbers_0`` and ``others_0`` …: how many texts of each column are numbers, and how many are not."""
    counts = []
    for place, name in enumerate(names):
        number = exp.TryCast(this=as_read(column(name)), to=cast(exp.null(), "DOUBLE").to)
        is_other = exp.and_(column(name).is_(exp.null()).not_(), number.is_(exp.null()), copy=False)
        counts += [
            aliased(f.count(number.copy()), f"numbers_{place}"),
            aliased(filtered(count_rows(), is_other), f"others_{place}"),
        ]
    return select(counts, relation.copy())


def _first_equal(value: exp.Expr, type_name: str, default: exp.Expr) -> exp.Expr:
    """The text of a value in a type that has an equal one, else its own."""
    other = exp.TryCast(this=value, to=cast(exp.null(), type_name).to)
    return exp.Case(ifs=[exp.If(this=other.eq(value.copy()), true=text(other.copy()))], default=default)
