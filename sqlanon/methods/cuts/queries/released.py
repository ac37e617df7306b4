"""The rows that a method at a cut publishes, and whether those that were written are these."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    cast,
    column,
    count_rows,
    filtered,
    grouped,
    number,
    over,
    same,
    select,
    subquery,
)
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.source import SourceColumn


def released(columns: Sequence[SourceColumn], counts: str | None = None) -> exp.Query:
    """The published rows, from :data:`EQUAL_ROWS`: as many copies, or with a column of counts if that has a name."""
    shown = [column(found.name) for found in columns]
    if counts is not None:
        return select([*shown, aliased(column(ROW_COUNT), counts)], EQUAL_ROWS.table)
    return over(template("repeated_rows"), select([*shown, column(ROW_COUNT)], EQUAL_ROWS.table))


def unlike_what_was_made(columns: Sequence[SourceColumn], written: exp.Expr, counts: str | None = None) -> exp.Query:
    """One row, ``unlike``: how many groups of equal rows are not in a release as often as in :data:`EQUAL_ROWS`."""
    names = [found.name for found in columns]
    made = _summed(names, column(ROW_COUNT), EQUAL_ROWS.table)
    found = _summed(names, number(1) if counts is None else column(counts), written.copy())
    on = all_of([same(column(name, "anon_made"), column(name, "anon_written")) for name in names])
    both = select(
        [aliased(column("anon_sum", side), side) for side in ("anon_made", "anon_written")],
        subquery(made, "anon_made"),
    )
    both = both.join(subquery(found, "anon_written"), on=on, join_type="full", copy=False)
    unlike = exp.Not(this=same(column("anon_made"), column("anon_written")))
    return select([aliased(filtered(count_rows(), exp.Paren(this=unlike)), "unlike")], subquery(both, "anon_compared"))


def _summed(names: Sequence[str], rows: exp.Expr, relation: exp.Expr) -> exp.Select:
    total = aliased(cast(exp.Sum(this=rows), "BIGINT"), "anon_sum")
    return grouped(select([*map(column, names), total], relation), [column(name) for name in names])
