"""How many rows have a value, or a combination of values, that few rows have, in columns released as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import aliased, cast, column, copies, grouped, number, select, subquery, union_all
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.source import Traits

VALUE_ROWS = "anon_value_rows"


def distinct_estimates(traits: Mapping[str, Traits], names: Sequence[str]) -> exp.Query:
    """One row: about how many values some columns have, ``values_<place>``, and the published ``rows``."""
    estimates = [
        aliased(exp.ApproxDistinct(this=comparable(traits, name)), f"values_{place}")
        for place, name in enumerate(names)
    ]
    return select([*estimates, aliased(_total(ROW_COUNT), "rows")], EQUAL_ROWS.table)


def rare_rows(
    traits: Mapping[str, Traits], names: Sequence[str], fewer_than: int, one_in: int, place: int = 0
) -> exp.Select:
    """One row: published rows with one combination of values in ``one_in``, ``counted``, and the ``rare`` ones.

    Args:
        traits: the types of the columns, by name.
        names: a column, or several.
        fewer_than: a row is rare if fewer rows have its values.
        one_in: combinations are sampled by their hash, and all rows of one are counted or none.
        place: what the row has for ``place``.
    """
    values = [comparable(traits, name) for name in names]
    counts = select([aliased(exp.Sum(this=column(ROW_COUNT)), VALUE_ROWS)], EQUAL_ROWS.table)
    if one_in > 1:
        counts = counts.where(is_one_in(one_in, values), copy=False)
    rare = scalar_call("rare_rows_of", column(VALUE_ROWS), number(fewer_than))
    found = {"place": number(place), "counted": _total(VALUE_ROWS), "rare": rare}
    return select(
        [aliased(each, name) for name, each in found.items()], subquery(grouped(counts, values), "anon_values")
    )


def rare_rows_of_pairs(
    traits: Mapping[str, Traits], pairs: Sequence[tuple[str, str]], fewer_than: int, one_in: int
) -> exp.Query:
    """The same of pairs of columns, in a row each with its ``place``."""
    return union_all(rare_rows(traits, pair, fewer_than, one_in, place) for place, pair in enumerate(pairs))


def comparable(traits: Mapping[str, Traits], name: str) -> exp.Expr:
    """A column to compare its values by: not all nested types can be compared, and their texts can."""
    known, value = traits[name], column(name)
    # Without a barrier: no CSV file has such types, and DuckDB 1.5 cannot coalesce arrays.
    return value if known.has_one_form or known.is_number else cast(value, "VARCHAR")


def is_one_in(count: int, values: Sequence[exp.Expr]) -> exp.Expr:
    """Whether values, or combinations of them, are among one in ``one_in``."""
    place = exp.Mod(this=exp.Anonymous(this="hash", expressions=copies(values)), expression=number(count))
    return place.eq(number(0))


def _total(name: str) -> exp.Expr:
    return exp.func("coalesce", exp.Sum(this=column(name)), number(0))
