"""How many rows have a value that few rows have, for columns that are released as they are."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.nodes import aliased, column, filtered, grouped, number, select, subquery, text

VALUE_ROWS = "anon_value_rows"


def distinct_estimates(encoding: Encoding, names: Sequence[str], rows: exp.Expr) -> exp.Query:
    """One row: about how many values some columns have, ``values_<place>``, and the ``rows``."""
    estimates = [
        aliased(exp.ApproxDistinct(this=_value(encoding, name)), f"values_{place}") for place, name in enumerate(names)
    ]
    return select([*estimates, aliased(_total(ROW_COUNT), "rows")], rows)


def rare_rows(encoding: Encoding, name: str, rows: exp.Expr, fewer_than: int, one_in: int) -> exp.Query:
    """One row: the rows of one value in ``one_in``, ``counted``, and of these the ``rare`` ones.

    Args:
        encoding: that of the run.
        name: a column.
        rows: the rows, or groups of equal ones with their number.
        fewer_than: a row is rare if fewer rows have its value.
        one_in: values are sampled by their hash, and all rows of a value are counted or none.
    """
    value = _value(encoding, name)
    counts = select([aliased(exp.Sum(this=column(ROW_COUNT)), VALUE_ROWS)], rows)
    if one_in > 1:
        place = exp.Mod(this=exp.Anonymous(this="hash", expressions=[value.copy()]), expression=number(one_in))
        counts = counts.where(place.eq(number(0)), copy=False)
    is_rare = exp.LT(this=column(VALUE_ROWS), expression=number(fewer_than))
    rare = exp.func("coalesce", filtered(exp.Sum(this=column(VALUE_ROWS)), is_rare), number(0))
    columns = [aliased(_total(VALUE_ROWS), "counted"), aliased(rare, "rare")]
    return select(columns, subquery(grouped(counts, [value]), "anon_values"))


def _value(encoding: Encoding, name: str) -> exp.Expr:
    """What tells the values of a column apart; values of nested types are not all comparable."""
    return column(name) if encoding.traits[name].has_one_form else text(column(name))


def _total(name: str) -> exp.Expr:
    return exp.func("coalesce", exp.Sum(this=column(name)), number(0))
