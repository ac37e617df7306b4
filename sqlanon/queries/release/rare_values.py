"""How many rows have a value, or a combination of values, that few rows have, in columns released as they are."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import aliased, cast, column, copies, grouped, number, select, subquery, union_all

VALUE_ROWS = "anon_value_rows"


def distinct_estimates(encoding: Encoding, names: Sequence[str], rows: exp.Expr) -> exp.Query:
    """One row: about how many values some columns have, ``values_<place>``, and the ``rows``."""
    estimates = [
        aliased(exp.ApproxDistinct(this=comparable(encoding, name)), f"values_{place}")
        for place, name in enumerate(names)
    ]
    return select([*estimates, aliased(_total(ROW_COUNT), "rows")], rows)


# More than six parameters: those of each combination, and what distinguishes it.
def rare_rows(
    encoding: Encoding, names: Sequence[str], rows: exp.Expr, fewer_than: int, one_in: int, place: int = 0
) -> exp.Select:
    """One row: the rows of one combination of values in ``one_in``, ``counted``, and of these the ``rare`` ones.

    Args:
        encoding: that of the run.
        names: a column, or several.
        rows: the rows, or groups of equal ones with their number.
        fewer_than: a row is rare if fewer rows have its values.
        one_in: combinations are sampled by their hash, and all rows of one are counted or none.
        place: what the row has for ``place``.
    """
    values = [comparable(encoding, name) for name in names]
    counts = select([aliased(exp.Sum(this=column(ROW_COUNT)), VALUE_ROWS)], rows.copy())
    if one_in > 1:
        counts = counts.where(is_one_in(one_in, values), copy=False)
    rare = scalar_call("rare_rows_of", column(VALUE_ROWS), number(fewer_than))
    found = {"place": number(place), "counted": _total(VALUE_ROWS), "rare": rare}
    return select(
        [aliased(each, name) for name, each in found.items()], subquery(grouped(counts, values), "anon_values")
    )


def rare_rows_of_pairs(
    encoding: Encoding, pairs: Sequence[tuple[str, str]], rows: exp.Expr, fewer_than: int, one_in: int
) -> exp.Query:
    """The same of pairs of columns, in a row each with its ``place``."""
    return union_all(rare_rows(encoding, pair, rows, fewer_than, one_in, place) for place, pair in enumerate(pairs))


def comparable(encoding: Encoding, name: str) -> exp.Expr:
    """A column to compare its values by: not all nested types can be compared, and their texts can."""
    traits, value = encoding.traits[name], column(name)
    # Without a barrier: no CSV file has such types, and DuckDB 1.5 cannot coalesce arrays.
    return value if traits.has_one_form or traits.is_number else cast(value, "VARCHAR")


def is_one_in(count: int, values: Sequence[exp.Expr]) -> exp.Expr:
    """Whether values, or combinations of them, are among one in ``one_in``."""
    place = exp.Mod(this=exp.Anonymous(this="hash", expressions=copies(values)), expression=number(count))
    return place.eq(number(0))


def _total(name: str) -> exp.Expr:
    return exp.func("coalesce", exp.Sum(this=column(name)), number(0))
