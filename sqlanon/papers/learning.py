"""What classifiers learn from and are tested on in reproductions: rows of Adult as they are, and at a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.papers import adult
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import DIALECT, column, identifier, select, subquery
from sqlanon.queries.tables.measures import level_map

MODELS = ("tree", "logistic")

RAW_TRAINING = "training"
RAW_TEST = "test"
"""The tables of rows as they are."""

BASELINE = "rows as they are (BA)"
LOWER_BOUND = "more frequent class (LA)"


def as_they_are(table: str, columns: Sequence[str]) -> str:
    """The query for some columns of a table and the income."""
    return _chosen(table, columns).sql(DIALECT)


def at_node(columns: Sequence[str], node: Mapping[str, int]) -> str:
    """The query that generalizes the rows for tests at a node; columns that it does not have stay as they are."""
    rows = subquery(_chosen(RAW_TEST, columns), "anon_rows")
    return table_call("generalize", rows, level_map(node)).sql(DIALECT)


def _chosen(table: str, columns: Sequence[str]) -> exp.Select:
    return select([column(name) for name in (*columns, adult.TARGET)], exp.Table(this=identifier(table)))
