"""The texts of values as DuckDB makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa


def float_texts(numbers: Sequence[float | None], *, is_single: bool) -> pa.Array:
    """The texts of fractions, in their order.

    DuckDB does not always take the fewest digits: 48349352 is 48349352.0 as a fraction of 32 bits, although 48349350.0
    is read as the same number.

    Args:
        numbers: the fractions.
        is_single: whether they are of 32 bits.
    """
    import pyarrow as pa

    given = pa.table({"number": pa.array(numbers, pa.float64())})
    number = duckdb.ColumnExpression("number")
    with duckdb.connect() as connection:
        single = number.cast("FLOAT") if is_single else number
        found = connection.from_arrow(given).project(single.cast("VARCHAR").alias("text")).to_arrow_table()
    return found["text"].combine_chunks()
