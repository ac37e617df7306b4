"""Types of DuckDB that tables of lakes have as well, in the words of Arrow, which their packages take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.engines.types import INSTANT
from sqlanon.errors import EngineError
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa

PLAIN = {
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "JSON": "string",
    "BLOB": "binary",
    "DATE": "date32[day]",
    "TIMESTAMP": "timestamp[us]",
    INSTANT: "timestamp[us, tz=UTC]",
}
"""Types by their names, with the texts of those of Arrow."""

DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")

PARTITIONING = frozenset(("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR", "DATE"))
"""Types whose values are spelled alike in the names of folders and in the logs of tables."""


def refuse_types(columns: Sequence[SourceColumn], partition_by: Sequence[str]) -> None:
    """Refuse columns that a table of a lake cannot have.

    Raises:
        EngineError: names all of them.
    """
    odd = [f'"{each.name}" ({each.type})' for each in columns if _arrow_type(each.type) is None]
    if odd:
        raise EngineError(
            f"tables of lakes have no types for the values of the columns {', '.join(odd)}: cast them to VARCHAR in a "
            "query, or write to a folder",
            step="target",
        )
    unspelled = [f'"{each.name}"' for each in columns if each.name in partition_by and each.type not in PARTITIONING]
    if unspelled:
        raise EngineError(
            f"a table of a lake is partitioned by texts, whole numbers, dates or truth values, which "
            f"{', '.join(unspelled)} does not have",
            step="target",
        )


def refuse_other_types(written: pa.Schema, columns: Mapping[str, str]) -> None:
    """Refuse a file with columns of other types than a table will have by its log, as servers may write some.

    Raises:
        EngineError: names them.
    """
    schema = schema_of(columns)
    odd = [field.name for field in written if duckdb_type(field.type) != duckdb_type(schema.field(field.name).type)]
    if odd:
        names = ", ".join(f'"{name}" ({written.field(name).type}, not {schema.field(name).type})' for name in odd)
        reason = f"files have columns of other types than the release, {names}: cast them in a query"
        raise EngineError(reason, step="publish")


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """Columns by their types; all may have NULL."""
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])


def _arrow_type(kind: str) -> pa.DataType | None:
    """A type in the words of Arrow; None if tables of lakes have none for its values."""
    import pyarrow as pa

    if kind.endswith("[]"):
        inner = _arrow_type(kind.removesuffix("[]"))
        return None if inner is None else pa.list_(inner)
    if (found := DECIMAL.fullmatch(kind)) is not None:
        return pa.decimal128(int(found[1]), int(found[2]))
    if kind == INSTANT:
        return pa.timestamp("us", "UTC")
    return pa.type_for_alias(PLAIN[kind]) if kind in PLAIN else None


def duckdb_type(kind: pa.DataType) -> str:
    """The type that DuckDB reads the values of a column in; its name in Arrow if there is none here."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    names = {text: name for name, text in reversed(PLAIN.items())}
    return names.get(str(kind).removeprefix("large_").removesuffix("_view"), str(kind))
