"""Types of Spark: what is refused of them."""

import re
from typing import Any

import pytest

from sqlanon.errors import EngineError
from sqlanon.spark.server import loaded
from sqlanon.spark.spark_values import DECLARED, misfits, source_columns

types = pytest.importorskip("pyspark.sql.types")


def schema_of(kind: Any, metadata: dict[str, str] | None = None) -> Any:
    return types.StructType([types.StructField("name", kind, metadata=metadata)])


def test_columns_that_do_not_compare_as_here_are_named() -> None:
    for schema, reason in (
        (schema_of(types.StringType("UTF8_LCASE")), "is VARCHAR COLLATE UTF8_LCASE"),
        (schema_of(types.StringType(), {DECLARED: "char(5)"}), r"is CHAR\(5\), to which"),
        (schema_of(types.CharType(5)), r"is CHAR\(5\), to which"),
        (schema_of(types.BinaryType()), r"\(BLOB\) has values without a text"),
        (schema_of(types.ArrayType(types.LongType())), r"\(BIGINT\[\]\) has values without a text"),
        (schema_of(types.DayTimeIntervalType()), r"\(INTERVAL DAY TO SECOND\) has values without a text"),
        (schema_of(types.NullType()), r"\(VOID\) has values without a text"),
        (schema_of(types.MapType(types.LongType(), types.LongType())), "has values without a text"),
    ):
        [problem] = misfits(source_columns(schema))
        assert problem.startswith('"name"')
        assert re.search(reason, problem)


def test_others_are_not() -> None:
    for schema in (
        schema_of(types.StringType()),
        schema_of(types.StringType("UTF8_BINARY")),
        schema_of(types.StringType(), {DECLARED: "varchar(5)"}),
        schema_of(types.VarcharType(5)),
        schema_of(types.DoubleType()),
        schema_of(types.DecimalType(10, 2)),
        schema_of(types.TimestampType()),
    ):
        assert not [*misfits(source_columns(schema))]


def test_names_that_differ_in_case_alone_are_refused() -> None:
    fields = [types.StructField(name, types.LongType()) for name in ("Ä", "x", "ä")]
    with pytest.raises(EngineError, match="Ä, ä; rename"):
        source_columns(types.StructType(fields))


def test_a_source_that_a_server_refuses_is_not_missing() -> None:
    """Else it would be read by DuckDB, if this machine sees it too."""
    errors = pytest.importorskip("pyspark.errors.exceptions.connect")

    def load(condition: str) -> Any:
        raise errors.AnalysisException("no", errorClass=condition, messageParameters={})

    assert loaded(load, "PATH_NOT_FOUND") is None
    with pytest.raises(errors.AnalysisException):
        loaded(load, "COLUMN_ALREADY_EXISTS")
