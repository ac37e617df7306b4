"""The rows that a method at a cut publishes, and whether those that were written are these."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    column,
    select,
)
from sqlanon.queries.release.rows import EQUAL_ROWS, unlike_groups
from sqlanon.queries.source import SourceColumn


def released(columns: Sequence[SourceColumn], counts: str | None = None) -> exp.Query:
    """The published rows, from :data:`EQUAL_ROWS`: as many copies, or with a column of counts if that has a name."""
    shown = [column(found.name) for found in columns]
    if counts is not None:
        return select([*shown, aliased(column(ROW_COUNT), counts)], EQUAL_ROWS.table)
    return Queries("release").query("repeated_rows", groups=select([*shown, column(ROW_COUNT)], EQUAL_ROWS.table))


def unlike_what_was_made(columns: Sequence[SourceColumn], written: exp.Expr, counts: str | None = None) -> exp.Query:
    """One row, ``unlike``: how many groups of equal rows are not in a release as often as in :data:`EQUAL_ROWS`."""
    return unlike_groups([found.name for found in columns], EQUAL_ROWS.table, written, counts)
