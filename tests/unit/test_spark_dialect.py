"""Statements of DuckDB in the words of Spark, one for each word that Spark lacks, texts of fractions, and types."""

import re
import struct
from typing import Any

import duckdb
import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st

from sqlanon.engines.duckdb import float_texts
from sqlanon.engines.relations import column_of
from sqlanon.errors import EngineError
from sqlanon.spark.dialect import in_spark
from sqlanon.spark.server import loaded
from sqlanon.spark.spark_values import DECLARED, FloatTexts, misfits, source_columns

COLUMNS = {
    "v": [
        column_of("age", "INTEGER"),
        column_of("city", "VARCHAR"),
        column_of("weight", "DOUBLE"),
        column_of("at", "TIMESTAMP WITH TIME ZONE"),
        column_of("tags", "VARCHAR[]"),
    ],
    "labels": [column_of("value", "VARCHAR"), column_of("label", "VARCHAR")],
}

SPELLED = {
    "a collation": (
        'SELECT CAST(city AS VARCHAR) COLLATE "binary" AS city FROM v',
        "SELECT CAST(city AS STRING) AS city FROM v",
    ),
    "all keys": (
        "SELECT age, city, count(*) AS n FROM v GROUP BY ALL",
        "SELECT age, city, COUNT(*) AS n FROM v GROUP BY age, city",
    ),
    "all columns but some": ("SELECT * EXCLUDE (at, tags) FROM v", "SELECT `age`, `city`, `weight` FROM v"),
    "columns with others in place of some": (
        "SELECT * EXCLUDE (at, tags) REPLACE (CASE WHEN age < 18 THEN 18 ELSE age END AS age) FROM v",
        "SELECT CASE WHEN age < 18 THEN 18 ELSE age END AS age, `city`, `weight` FROM v",
    ),
    "columns of a step": (
        "WITH a AS MATERIALIZED (SELECT age, city FROM v) SELECT * EXCLUDE (age) FROM a",
        "WITH a AS (SELECT age, city FROM v) SELECT `city` FROM a",
    ),
    "an expression of each column": (
        "SELECT concat(*COLUMNS(*)) AS r FROM (SELECT strlen(COLUMNS(*)) FROM labels)",
        "SELECT CONCAT(COALESCE(CAST(`value` AS STRING), ''), COALESCE(CAST(`label` AS STRING), '')) AS r "
        "FROM (SELECT OCTET_LENGTH(`value`) AS `value`, OCTET_LENGTH(`label`) AS `label` FROM labels)",
    ),
    "rows of a number": (
        "SELECT age, unnest(range(age)) AS i FROM v",
        "SELECT age, `i` FROM v LATERAL VIEW EXPLODE(SLICE(SEQUENCE(CAST(0 AS BIGINT), CAST(age AS BIGINT)), 1, "
        "CAST(CAST(age AS BIGINT) AS INT))) anon_numbers AS `i`",
    ),
    "a frame of the next row": (
        "SELECT lead(age) OVER (ORDER BY city ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n FROM v",
        "SELECT LEAD(age) OVER (ORDER BY city NULLS LAST) AS n FROM v",
    ),
    "columns of values": (
        "SELECT * FROM v CROSS JOIN (VALUES (0)) AS nodes(node)",
        "SELECT `age`, `city`, `weight`, `at`, `tags`, `node` FROM v CROSS JOIN VALUES (0) AS nodes(node)",
    ),
    "a sum of pairs": (
        "SELECT list_sum(list_transform(list_zip([age, weight], [1, 2]), lambda anon_pair: "
        "struct_extract(anon_pair, 1) * struct_extract(anon_pair, 2))) AS s FROM v",
        "SELECT (((age) * (1)) + ((weight) * (2))) AS s FROM v",
    ),
    "a row": ("SELECT row(age, city) AS r FROM v", "SELECT STRUCT(age, city) AS r FROM v"),
    "a key that may be missing": (
        "SELECT label FROM v JOIN labels ON labels.value IS NOT DISTINCT FROM v.city",
        "SELECT label FROM v JOIN labels ON COALESCE(CAST(labels.value AS STRING), '') = COALESCE(CAST(v.city AS "
        "STRING), '') AND (labels.value IS NULL) = (v.city IS NULL)",
    ),
    "values that may be missing": (
        "SELECT min(age) IS NOT DISTINCT FROM max(age) AS same FROM v",
        "SELECT COALESCE((MIN(age) = MAX(age)), (MIN(age) IS NULL AND MAX(age) IS NULL)) AS same FROM v",
    ),
    "a list in a condition": (
        "SELECT age FROM v WHERE city IN (SELECT value FROM labels)",
        "SELECT age FROM v WHERE city IN (SELECT value FROM labels)",
    ),
    "a list elsewhere": (
        "SELECT city IN (SELECT value FROM labels) AS known FROM v",
        "SELECT ARRAY_CONTAINS((SELECT COLLECT_SET(value) FROM labels), city) AS known FROM v",
    ),
    "text of an ENUM": ("SELECT decode(encode(city)) AS city FROM v", "SELECT city AS city FROM v"),
    "hexadecimal digits": (
        "SELECT CAST('0x' || substr(city, 1, 5) AS INTEGER) AS n FROM v",
        "SELECT CAST(CONV(SUBSTRING(SUBSTRING(city, 1, 5), 1, 8), 16, 10) AS BIGINT) AS n FROM v",
    ),
    "texts in one": (
        "SELECT string_agg(city, '' ORDER BY age) AS all_of_them FROM v",
        "SELECT LISTAGG(city, '') WITHIN GROUP (ORDER BY age NULLS LAST) AS all_of_them FROM v",
    ),
    "distinct values of a list": (
        "SELECT list_unique(list(hash(city)) FILTER (WHERE age > 1)) AS n FROM v",
        "SELECT COUNT(DISTINCT XXHASH64(city)) FILTER(WHERE age > 1) AS n FROM v",
    ),
    "types": (
        "SELECT CAST(age AS HUGEINT) AS a, CAST(age AS UINTEGER) AS b, CAST(age AS UBIGINT) AS c FROM v",
        "SELECT CAST(age AS DECIMAL(38, 0)) AS a, CAST(age AS BIGINT) AS b, CAST(age AS DECIMAL(20, 0)) AS c FROM v",
    ),
    "an instant": (
        "SELECT CAST(coalesce(at, NULL) AS VARCHAR) AS at FROM v",
        "SELECT CAST(COALESCE(`at`, NULL) AS STRING) || '+00' AS `at` FROM v",
    ),
    "a fraction": (
        "SELECT CAST(weight AS VARCHAR) AS w, count(*) AS n FROM v GROUP BY CAST(weight AS VARCHAR)",
        "SELECT `anon_float_texts_0`.`text` AS w, COUNT(*) AS n FROM v LEFT JOIN `anon_float_texts_0` ON "
        "`anon_float_texts_0`.`spelled` = CAST(weight AS STRING) GROUP BY `anon_float_texts_0`.`text`",
    ),
    "a fraction of a query in it": (
        "SELECT * FROM (SELECT CAST(weight AS VARCHAR) AS w FROM v)",
        "SELECT `w` FROM (SELECT `anon_float_texts_0`.`text` AS w FROM v LEFT JOIN `anon_float_texts_0` ON "
        "`anon_float_texts_0`.`spelled` = CAST(weight AS STRING))",
    ),
}


@pytest.mark.parametrize(("sql", "spelled"), SPELLED.values(), ids=SPELLED)
def test_a_statement_is_spelled_for_spark(sql: str, spelled: str) -> None:
    query = sqlglot.parse_one(sql, dialect="duckdb")
    found = in_spark(query, COLUMNS)
    assert found.text == spelled
    assert query.sql("duckdb") == sqlglot.parse_one(sql, dialect="duckdb").sql("duckdb"), "the tree stays as it is"
    wanted = (FloatTexts("anon_float_texts_0", "v", "weight", is_single=False),) if "weight" in sql else ()
    assert found.float_texts == (wanted if "CAST(weight" in sql else ())


@pytest.mark.parametrize("place", ["v", "(SELECT tags FROM v)", "(SELECT * FROM v)"])
def test_what_has_no_text_is_refused(place: str) -> None:
    with pytest.raises(EngineError, match='"tags"'):
        in_spark(sqlglot.parse_one(f"SELECT CAST(tags AS VARCHAR) AS t FROM {place} AS v", dialect="duckdb"), COLUMNS)


def test_a_fraction_that_a_step_makes_has_no_text() -> None:
    made = "WITH a AS (SELECT weight FROM v UNION ALL SELECT weight FROM v) SELECT CAST(weight AS VARCHAR) AS w FROM a"
    with pytest.raises(EngineError, match='"weight"'):
        in_spark(sqlglot.parse_one(made, dialect="duckdb"), COLUMNS)


@given(st.lists(st.floats(), min_size=1, max_size=20), st.booleans())
@example([48349352.0, 2241171.75, 0.1, -0.0, 1e16], True)
def test_fractions_have_the_texts_that_duckdb_gives_them(numbers: list[float], is_single: bool) -> None:
    kind = "FLOAT" if is_single else "DOUBLE"
    if is_single:
        numbers = [struct.unpack("f", struct.pack("f", number))[0] for number in numbers if abs(number) < 1e38]
    with duckdb.connect() as connection:
        given = connection.execute(
            f"SELECT CAST(unnest(CAST($1 AS DOUBLE[])) AS {kind})::VARCHAR", [numbers]
        ).fetchall()
    assert float_texts(numbers, is_single=is_single).to_pylist() == [text for (text,) in given]


def test_fractions_of_a_server_are_read_whatever_their_spelling() -> None:
    """As Java and as Rust spell them."""
    spelled = ["1.0E-5", "1e-5", "Infinity", "inf", "NaN", "-0.0", None]
    texts = float_texts([None if text is None else float(text) for text in spelled], is_single=False)
    assert texts.to_pylist() == ["1e-05", "1e-05", "inf", "inf", "nan", "-0.0", None]


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
