"""The cut between rows and cells: what is sent, what comes back, and that the answer is that of the whole query."""

from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.engines.cutting import OTHER_AGGREGATES, Cut, Sent, cut
from sqlanon.queries.kit.steps import given

QUERIES = {
    "an aggregate": ("SELECT count(*) AS n FROM lake.visits", [1]),
    "groups": ("SELECT age, count(*) AS n FROM lake.visits GROUP BY age", [3]),
    "distinct": ("SELECT DISTINCT zip FROM lake.visits", [2]),
    "groups joined with labels": (
        "SELECT label, sum(n) AS n FROM (SELECT age, count(*) AS n FROM lake.visits GROUP BY age) AS anon_cells "
        "JOIN labels ON labels.value = anon_cells.age GROUP BY label",
        [3],
    ),
    "rows joined with labels": (
        "SELECT labels.label, count(*) AS n FROM lake.visits AS v JOIN labels ON labels.value = v.age GROUP BY ALL",
        [2],
    ),
    "one row of groups": (
        "SELECT min(n) AS k FROM (SELECT count(*) AS n FROM lake.visits GROUP BY age) AS anon_classes",
        [1],
    ),
    "groups of groups": (
        "SELECT n, count(*) AS classes FROM (SELECT count(*) AS n FROM lake.visits GROUP BY age) AS anon_classes "
        "GROUP BY n",
        [1],
    ),
    "groups that are read twice": (
        "WITH anon_classes AS (SELECT age, count(*) AS n FROM lake.visits GROUP BY age) "
        "SELECT (SELECT max(n) FROM anon_classes) AS most, min(n) AS least FROM anon_classes",
        [3],
    ),
    "equal aggregates": (
        "SELECT a.n, b.n AS m FROM (SELECT age, count(*) AS n FROM lake.visits GROUP BY age) AS a "
        "JOIN (SELECT age, count(*) AS n FROM lake.visits GROUP BY age) AS b USING (age)",
        [3],
    ),
    "rows of one row each": (
        "SELECT count(*) AS n FROM (SELECT age FROM lake.visits) AS anon_a UNION ALL "
        "SELECT min(n) FROM (SELECT count(*) AS n FROM lake.visits GROUP BY zip) AS anon_b",
        [2],
    ),
    "rows beside what is near": ("SELECT count(*) AS n FROM lake.visits UNION ALL SELECT count(*) FROM labels", [1]),
    "steps of a query in another": (
        "SELECT max(n) AS most FROM (WITH ages AS MATERIALIZED (SELECT age, count(*) AS n FROM lake.visits "
        "GROUP BY age), ranked AS (SELECT n, row_number() OVER (ORDER BY n, age) AS place FROM ages) "
        "SELECT n FROM ranked WHERE place < 3)",
        [3],
    ),
    "values of rows": ("SELECT label FROM labels WHERE value IN (SELECT DISTINCT age FROM lake.visits)", [3]),
    "a step of rows": (
        "WITH anon_old AS (SELECT * FROM lake.visits WHERE age > 30), anon_near AS (SELECT * FROM labels), anon_more "
        "AS (SELECT anon_old.zip, anon_near.label FROM anon_old JOIN anon_near ON anon_near.value = anon_old.age) "
        "SELECT label, count(DISTINCT zip) AS n FROM anon_more GROUP BY label",
        [2],
    ),
    "a window above groups": (
        "SELECT age, sum(n) OVER (ORDER BY age) AS n FROM "
        "(SELECT age, count(*) AS n FROM lake.visits GROUP BY age) AS anon_cells",
        [3],
    ),
    "steps in a part": (
        "SELECT max(n) AS n FROM (WITH anon_a AS (SELECT age AS n FROM lake.visits), anon_b AS "
        "(SELECT n FROM query_table('anon_a') JOIN labels ON labels.value = n) SELECT n FROM query_table('anon_b'))",
        [1],
    ),
    "a step by its name as text": (
        "WITH anon_a AS (SELECT age, count(*) AS n FROM lake.visits GROUP BY age) "
        "SELECT n, label FROM query_table('anon_a') JOIN labels ON labels.value = age",
        [3],
    ),
    "nothing of rows": ("SELECT count(*) AS n FROM labels", []),
}
"""Queries, and how many rows come back of each aggregate that they send."""

OF_ROWS = (
    "SELECT * FROM lake.visits",
    "SELECT age, count(*) OVER (PARTITION BY zip) AS n FROM lake.visits",
    "SELECT age FROM lake.visits UNION ALL SELECT value FROM labels",
    "SELECT label FROM labels WHERE value IN (SELECT age FROM lake.visits)",
    "SELECT v.age, n FROM lake.visits AS v JOIN (SELECT count(*) AS n FROM lake.visits) AS anon_n ON true",
)


@pytest.fixture(scope="module")
def whole() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA lake")
        connection.execute("CREATE TABLE lake.visits AS SELECT 30 + i % 3 AS age, i % 2 AS zip FROM range(12) AS r(i)")
        connection.execute("CREATE TABLE labels AS SELECT 30 + i AS value, i > 1 AS label FROM range(4) AS r(i)")
        yield connection


def parsed(sql: str) -> exp.Query:
    query = sqlglot.parse_one(sql, read="duckdb")
    assert isinstance(query, exp.Query)
    return query


def is_of_lake(table: exp.Table) -> bool:
    return table.db == "lake"


def answered(whole: duckdb.DuckDBPyConnection, found: Cut) -> tuple[list[tuple[object, ...]], list[int]]:
    """The rows of a cut query, and how many came back of each aggregate: two databases, each of which lacks a part."""
    with duckdb.connect() as near, duckdb.connect() as far:
        near.register("labels", whole.table("labels").to_arrow_table())
        far.execute("CREATE SCHEMA lake")
        far.register("rows", whole.table("lake.visits").to_arrow_table())
        far.execute("CREATE TABLE lake.visits AS FROM rows")
        counts = []
        for name, sent in found.counted.items():
            for each, query in sent.small.items():
                far.register(each, near.sql(query.sql("duckdb")).to_arrow_table())
            result = far.sql(sent.query.sql("duckdb")).to_arrow_table()
            counts.append(result.num_rows)
            near.register(name, result)
        assert isinstance(found.rest, exp.Query)
        return near.sql(found.rest.sql("duckdb")).fetchall(), counts


@pytest.mark.parametrize(("sql", "counts"), QUERIES.values(), ids=QUERIES)
def test_a_cut_query_has_the_answer_of_the_whole(whole: duckdb.DuckDBPyConnection, sql: str, counts: list[int]) -> None:
    query = parsed(sql)
    rows, found = answered(whole, cut(query, is_of_lake))
    assert sorted(rows) == sorted(whole.sql(sql).fetchall())
    assert found == counts
    assert query == parsed(sql)


@pytest.mark.parametrize("sql", OF_ROWS)
def test_what_no_aggregate_stands_above_is_of_rows(sql: str) -> None:
    assert isinstance(cut(parsed(sql), is_of_lake).rest, Sent)


@pytest.mark.parametrize("name", sorted(OTHER_AGGREGATES))
def test_an_aggregate_that_sqlglot_does_not_know_makes_one_row(name: str) -> None:
    query = exp.select(exp.Anonymous(this=name, expressions=[exp.column("age")])).from_("lake.visits")
    found = cut(query, is_of_lake)
    assert isinstance(found.rest, exp.Query)
    assert [sent.query for sent in found.counted.values()] == [query]


def test_a_query_of_the_user_stays_in_one_piece(whole: duckdb.DuckDBPyConnection) -> None:
    source = "SELECT age, count(*) AS n FROM lake.visits GROUP BY age"
    query = exp.select("count(*) AS rows").from_(given(parsed(source)))
    found = cut(query, is_of_lake)
    assert answered(whole, found) == ([(3,)], [1])
    assert isinstance(cut(exp.select("*").from_(given(parsed(source))), is_of_lake).rest, Sent)


def test_names_of_small_relations_keep_out_of_each_others_way(whole: duckdb.DuckDBPyConnection) -> None:
    sql = (
        "WITH labels AS (SELECT age FROM lake.visits) SELECT count(*) AS n FROM labels JOIN main.labels AS l "
        "ON l.value = labels.age JOIN (SELECT value FROM main.labels AS l) AS anon_other ON anon_other.value = l.value"
    )
    assert answered(whole, cut(parsed(sql), is_of_lake)) == (whole.sql(sql).fetchall(), [1])
