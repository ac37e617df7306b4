"""Types of Spark and of Arrow, as DuckDB has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.engines.types import column_of
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

SPARK = "spark"
"""What sqlglot calls the dialect."""

PLAIN = {
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}
"""Types of Spark by the names that its schemas have, with those of DuckDB."""


def source_columns(schema: StructType) -> list[SourceColumn]:
    """The columns of a frame, with their types as DuckDB would have them."""
    return [column_of(field.name, _type_name(field.dataType)) for field in schema.fields]


def _type_name(kind: DataType) -> str:
    from pyspark.sql.types import ArrayType, DecimalType

    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if isinstance(kind, ArrayType):
        return f"{_type_name(kind.elementType)}[]"
    return PLAIN.get(kind.typeName(), kind.simpleString().upper())


def columns_of(schema: pa.Schema) -> list[SourceColumn]:
    """The columns of a small relation; texts but for what Spark would spell in another way."""
    import pyarrow as pa

    return [column_of(field.name, "DOUBLE" if pa.types.is_floating(field.type) else "VARCHAR") for field in schema]


def sendable(table: pa.Table) -> pa.Table:
    """A table of types that Spark has: texts for ENUMs, signed numbers for unsigned ones."""
    import pyarrow as pa

    return table.cast(pa.schema([field.with_type(_sent_as(field.type)) for field in table.schema]))


def _sent_as(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    return kind
