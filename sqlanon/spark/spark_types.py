"""Types of Spark and of Arrow, as DuckDB has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sqlanon.engines.types import column_of
from sqlanon.errors import EngineError
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructField, StructType

SPARK = "spark"
"""What sqlglot calls the dialect."""

BYTES = "UTF8_BINARY"
"""The collation of texts that are compared by their bytes."""

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


DECLARED = "__CHAR_VARCHAR_TYPE_STRING"
"""Under what a schema has the type that a column of texts was declared with, such as ``char(5)``."""

COLLATION = " COLLATE "
"""What stands before the collation in a type of texts that are not compared by their bytes."""


SAME_TEXTS = {*PLAIN.values(), "DECIMAL"} - {"BLOB"}
"""Types whose values the server and DuckDB spell alike, or are made to."""


def source_columns(schema: StructType) -> list[SourceColumn]:
    """The columns of a frame, with their types as DuckDB would have them.

    Raises:
        EngineError: the names of some are one name to the server.
    """
    names = Counter(field.name.lower() for field in schema.fields)
    if twins := [field.name for field in schema.fields if names[field.name.lower()] > 1]:
        raise EngineError(
            f"the names of these columns differ in case alone, which is one name to the server: {', '.join(twins)}; "
            "rename them where they are",
            step="source",
        )
    return [column_of(field.name, _declared(field) or _type_name(field.dataType)) for field in schema.fields]


def misfits(columns: Iterable[SourceColumn]) -> Iterator[str]:
    """Columns whose values a server compares or spells in another way than DuckDB, a sentence for each."""
    for found in columns:
        if COLLATION in found.type:
            yield (
                f'"{found.name}" is {found.type}, by which texts that differ can be equal: copy it to a column without '
                "a collation, or make it an identifier, which is dropped"
            )
        elif found.type.startswith("CHAR("):
            yield (
                f'"{found.name}" is {found.type}, to which the server adds white space: copy it to a column of type '
                "STRING, or make it an identifier, which is dropped"
            )
        elif found.type.partition("(")[0] not in SAME_TEXTS:
            yield HAS_NO_TEXT.format(found.name, found.type)


HAS_NO_TEXT = (
    '"{}" ({}) has values without a text which the server and DuckDB spell alike: make it an identifier, which is '
    "dropped, or a column of text"
)


def _declared(field: StructField) -> str | None:
    """The declared type of a column of texts of one length, which the schema has apart from the others."""
    declared = str((field.metadata or {}).get(DECLARED, "")).upper()
    return declared if declared.startswith("CHAR(") else None


def _type_name(kind: DataType) -> str:
    from pyspark.sql.types import ArrayType, DecimalType, StringType

    if isinstance(kind, StringType) and kind.collation != BYTES:
        return f"VARCHAR{COLLATION}{kind.collation}"
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
