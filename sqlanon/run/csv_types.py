"""What becomes of values in CSV: columns of types that have no one form as text are refused, others are read back."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.nodes import aliased, count_rows, select, subquery
from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError
from sqlanon.run.parquet_types import as_written, rows_altered, types_in

TEXTS = frozenset(("VARCHAR", "JSON"))
"""Types whose values are written in quotes, so that an empty text is none that is missing."""

KEPT = TEXTS | frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BIGNUM", "VARINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "UUID"),
        *("DATE", "TIME", "TIME_NS", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    )
)
"""Types whose values all come back with the texts that they had."""

READ_BACK = frozenset(("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "INTERVAL"))
"""Types of which some values may not: a time zone that was seconds off that of today, for one."""

TOO_LONG = "line size"
"""What DuckDB tells of where a row is longer than it reads."""


def csv_columns(engine: Engine, query: exp.Query) -> list[SourceColumn]:
    """The columns of a query as they are in CSV.

    Raises:
        EngineError: some are of types that are no plain values, such as lists and bytes.
    """
    columns = as_written(engine, query)
    lines = [f'"{found.name}" ({found.type})' for found in columns if not _is_plain(found.type)]
    if lines:
        raise EngineError(
            f"CSV has no form for the values of the columns {', '.join(lines)}; cast them to VARCHAR in a view, or "
            "write to a .parquet file or a table",
            step="target",
        )
    return columns


def _is_plain(kind: str) -> bool:
    """Whether a type is one of those that CSV takes, and no list of them."""
    return types_in(kind) <= KEPT | READ_BACK and not kind.endswith("]")


def quoted(columns: Sequence[SourceColumn]) -> list[str]:
    """The columns whose values are written in quotes."""
    return [found.name for found in columns if types_in(found.type) & TEXTS]


def refuse_altered(engine: Engine, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
    """Read back what was written of a query.

    Raises:
        EngineError: it cannot be read, or values have another text now.
    """
    _refuse_long_rows(engine, written)
    doubtful = [found for found in columns if not types_in(found.type) <= KEPT]
    try:
        problems, original = rows_altered(engine, query, written, doubtful), None
    except EngineError as error:
        problems, original = [f'"{found.name}" ({found.type})' for found in doubtful], error.original
    if problems:
        raise EngineError(
            f"CSV alters values of the columns {', '.join(problems)}; cast them to VARCHAR in a view, or write to a "
            ".parquet file or a table",
            step="target",
            original=original,
        )


def _refuse_long_rows(engine: Engine, written: exp.Expr) -> None:
    """Refuse rows that are longer than readers of CSV take."""
    counted = subquery(select([exp.Star()], written.copy()), "anon_written")
    try:
        engine.fetch(select([aliased(count_rows(), "rows")], counted), "read the CSV")
    except EngineError as error:
        if TOO_LONG not in str(error.original):
            raise
        reason = "a row has more than 2,000,000 bytes, which is too long for CSV; write to a .parquet file or a table"
        raise EngineError(reason, step="target", original=error.original) from None
