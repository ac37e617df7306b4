"""Whether the rows that were written are those that were made, by how often each of them is there."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    cast,
    column,
    count_rows,
    filtered,
    grouped,
    same,
    select,
    subquery,
)


def unlike_groups(names: Sequence[str], made: exp.Expr, written: exp.Expr, counts: str | None = None) -> exp.Query:
    """One row, ``unlike``: how many groups of equal rows are not in a release as often as they were made.

    Args:
        names: the columns that identify rows.
        made: groups of equal rows with their number, ``row_count``.
        written: the release.
        counts: its column with the number of rows that each stands for; None if each row is repeated instead.
    """
    rows = count_rows() if counts is None else _sum_of(counts)
    both = select(
        [aliased(column("anon_rows", side), side) for side in ("anon_made", "anon_written")],
        subquery(_by_group(names, _sum_of(ROW_COUNT), made), "anon_made"),
    )
    on = all_of([same(column(name, "anon_made"), column(name, "anon_written")) for name in names])
    found = subquery(_by_group(names, rows, written.copy()), "anon_written")
    both = both.join(found, on=on, join_type="full", copy=False)
    unlike = exp.Not(this=same(column("anon_made"), column("anon_written")))
    return select([aliased(filtered(count_rows(), exp.Paren(this=unlike)), "unlike")], subquery(both, "anon_compared"))


def _sum_of(counts: str) -> exp.Expr:
    return cast(exp.Sum(this=column(counts)), "BIGINT")


def _by_group(names: Sequence[str], rows: exp.Expr, relation: exp.Expr) -> exp.Select:
    return grouped(
        select([*map(column, names), aliased(rows, "anon_rows")], relation), [column(name) for name in names]
    )
