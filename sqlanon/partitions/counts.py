"""Tables of counts, and the rows that they stand for: what a sidecar knows of what was published."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import subquery

SQL = Queries("partitions")


def counted_columns(policy: Policy) -> tuple[str, ...]:
    """The columns that counts are by: the quasi-identifiers, as labels, and the protected columns."""
    return (*policy.quasi_identifiers, *policy.protected_columns)


def as_rows(counts: exp.Expr) -> exp.Subquery:
    """The rows that were counted: each as often as ``anon_row_count`` says, without that column."""
    return subquery(SQL.query("counted_rows", counted=counts), "anon_counted")


def with_rows(table: exp.Expr, counts: exp.Expr) -> exp.Subquery:
    """A table with the rows that were counted below it; columns that were not counted are NULL there."""
    return subquery(SQL.query("rows_with_counted", rows=table, counted=as_rows(counts)), "anon_union")
