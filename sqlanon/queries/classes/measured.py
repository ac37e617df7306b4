"""The columns of a class that hold its measures, and what it proves of less general nodes where it is out of bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.model.bounds import Measure
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes.grouping import CLASS_ROWS, Grouping, measure_column
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import aliased, column, copies, double

ROWS = "anon_rows"
VALUE_SIZE = "anon_value_size"
CERTAIN_SHARE = "anon_certain_share"
CERTAIN_ROWS = "certain_suppressed_rows"


def as_measure(grouping: Grouping, measure: Measure, value: exp.Expr) -> exp.Alias:
    """A measure of a class as the column that holds it."""
    return aliased(value, measure_column(grouping.encoding, measure))


def certainties(grouping: Grouping, measure: Measure, looked_at: Sequence[exp.Expr]) -> list[exp.Alias]:
    """For each bound on a measure that proves something of less general nodes: the share of rows that is lost there.

    None where that is not asked. ``looked_at`` is what the macro takes before the threshold.
    """
    if not grouping.proving or measure.certainty is None:
        return []
    return [
        aliased(scalar_call(measure.certainty, *copies(looked_at), double(bound.threshold)), _share_column(index))
        for index, bound in enumerate(grouping.encoding.criteria.partly_certain_bounds)
        if bound.measure == measure
    ]


def has_certainties(grouping: Grouping, measures: Iterable[Measure]) -> bool:
    """Whether some of these measures are asked what they prove of less general nodes."""
    asked = {bound.measure for bound in grouping.encoding.criteria.partly_certain_bounds} if grouping.proving else set()
    return not asked.isdisjoint(measures)


def certain_share(encoding: Encoding) -> exp.Expr:
    """The share of the rows of a class that every less general node suppresses: the largest that a bound proves."""
    shares = [column(_share_column(index)) for index in range(len(encoding.criteria.partly_certain_bounds))]
    return shares[0] if len(shares) == 1 else exp.func("greatest", *shares)


def certain_rows(certainly_kept: exp.Expr) -> exp.Alias:
    """The rows that every less general node suppresses, where classes prove that of a part of theirs (an aggregate)."""
    rows = scalar_call("certain_rows_of", column(CLASS_ROWS), certainly_kept, column(CERTAIN_SHARE))
    return aliased(rows, CERTAIN_ROWS)


def sum_of(name: str, table: str | None = None) -> exp.Sum:
    """The sum of a column."""
    return exp.Sum(this=column(name, table))


def _share_column(index: int) -> str:
    return f"anon_certain_share_{index}"
