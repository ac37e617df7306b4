"""Tables of counts, and the rows that they stand for: what a sidecar knows of what was published."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.policy.policy import Policy
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    DIALECT,
    aliased,
    cast,
    column,
    count_rows,
    grouped,
    number,
    select,
    subquery,
    union_all,
)


def counted_columns(policy: Policy) -> tuple[str, ...]:
    """The columns that counts are by: the quasi-identifiers, as labels, and the protected columns."""
    return (*policy.quasi_identifiers, *policy.protected_columns)


def counts_of(table: exp.Expr, policy: Policy) -> exp.Select:
    """The rows of a published table by its counted columns, as ``anon_row_count``."""
    columns = [column(name) for name in counted_columns(policy)]
    return grouped(select([*columns, aliased(count_rows(), ROW_COUNT)], table.copy()), [*columns])


def differences(counts: exp.Query, others: exp.Query) -> exp.Query:
    """One row, ``differences``: the counts that two tables of counts do not share."""
    sides = [
        select(
            [exp.Star()], subquery(exp.Except(this=left.copy(), expression=right.copy(), distinct=False), "anon_side")
        )
        for left, right in ((counts, others), (others, counts))
    ]
    return select([aliased(count_rows(), "differences")], subquery(union_all(sides), "anon_sides"))


def as_rows(counts: exp.Expr) -> exp.Subquery:
    """The rows that were counted: each as often as ``anon_row_count`` says, without that column."""
    return subquery(Queries("partitions").query("counted_rows", counted=counts), "anon_counted")


def with_rows(table: exp.Expr, counts: exp.Expr) -> exp.Subquery:
    """A table with the rows that were counted below it; columns that were not counted are NULL there."""
    rows = select([exp.Star()], as_rows(counts))
    both = exp.Union(this=select([exp.Star()], table.copy()), expression=rows, distinct=False, by_name=True)
    return subquery(both, "anon_union")


def fingerprint(source: exp.Expr, columns: Sequence[str]) -> exp.Query:
    """One row: how many rows a table has, and a ``fingerprint`` of them, whatever their order."""
    hashed = cast(exp.func("hash", *(column(name) for name in columns), dialect=DIALECT), "HUGEINT")
    total = exp.func("coalesce", exp.Sum(this=hashed), number(0))
    return select([aliased(count_rows(), "rows"), aliased(cast(total, "VARCHAR"), "fingerprint")], source.copy())
