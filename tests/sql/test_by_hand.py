"""Macros against the SQL that one would write by hand, which the benchmark times them against."""

from collections import Counter

import duckdb
import pytest

from tests.benchmarks.macros import Comparison, comparisons, make_tables

every_comparison = pytest.mark.parametrize("comparison", comparisons(), ids=lambda comparison: comparison.name)


@pytest.fixture(scope="module")
def invented() -> duckdb.DuckDBPyConnection:
    """A small one of the benchmark's databases."""
    connection = duckdb.connect()
    make_tables(connection, 3000)
    return connection


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> Counter[tuple[str, ...]]:
    """The rows of a query, whatever their order and the names of their columns."""
    return Counter(tuple(map(spelled, row)) for row in connection.execute(query).fetchall())


def spelled(value: object) -> str:
    """A value to compare: the last digits of a sum depend on the order of its terms."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


@every_comparison
def test_macro_has_the_rows_of_sql_by_hand(invented: duckdb.DuckDBPyConnection, comparison: Comparison) -> None:
    """Both make the same rows, so that their times may be compared."""
    assert rows(invented, comparison.macro) == rows(invented, comparison.by_hand)
