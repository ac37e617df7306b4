"""Statements as a WITH of named steps: what becomes one, what stays, and how names keep out of each other's way."""

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import expand
from sqlanon.queries.kit.nodes import select, subquery
from sqlanon.queries.kit.steps import given, printed


def parsed(sql: str) -> exp.Query:
    query = sqlglot.parse_one(sql, read="duckdb")
    assert isinstance(query, exp.Query)
    return query


@pytest.mark.parametrize(
    ("nested", "expected"),
    [
        (
            "SELECT a FROM (SELECT a FROM (SELECT 1 AS a) AS anon_inner) AS anon_outer",
            'WITH "anon_inner" AS (SELECT 1 AS a), "anon_outer" AS (SELECT a FROM "anon_inner") '
            'SELECT a FROM "anon_outer"',
        ),
        (
            "SELECT a FROM (SELECT 1 AS a) AS anon_x UNION ALL SELECT a FROM (SELECT 2 AS a) AS anon_x",
            'WITH "anon_x" AS (SELECT 1 AS a), "anon_x_2" AS (SELECT 2 AS a) '
            'SELECT a FROM "anon_x" UNION ALL SELECT a FROM "anon_x_2" AS anon_x',
        ),
        (
            "WITH anon_x AS (SELECT a FROM (SELECT 1 AS a) AS anon_y) "
            "SELECT anon_x.a FROM anon_x JOIN (SELECT 1 AS a) AS anon_x2 USING (a)",
            'WITH "anon_y" AS (SELECT 1 AS a), anon_x AS (SELECT a FROM "anon_y"), "anon_x2" AS (SELECT 1 AS a) '
            'SELECT anon_x.a FROM anon_x JOIN "anon_x2" USING (a)',
        ),
        (
            "SELECT b FROM (WITH anon_x AS (SELECT 1 AS a) SELECT a FROM anon_x) AS anon_z(b)",
            'WITH anon_x AS (SELECT 1 AS a), "anon_z" AS (SELECT a FROM anon_x) SELECT b FROM "anon_z" AS anon_z(b)',
        ),
    ],
)
def test_derived_tables_become_steps_behind_those_that_they_read(nested: str, expected: str) -> None:
    assert printed(parsed(nested)) == expected
    assert duckdb.sql(expected).fetchall() == duckdb.sql(nested).fetchall()


def test_equal_groups_of_a_name_are_one_step() -> None:
    sizes = "SELECT a AS {0} FROM (SELECT COUNT(*) AS a FROM t GROUP BY b) AS anon_groups"
    parts = [f"({sizes.format(name)}) AS anon_{name}" for name in ("first", "second")]
    assert printed(parsed(f"SELECT * FROM {parts[0]} CROSS JOIN {parts[1]}")) == (
        'WITH "anon_groups" AS (SELECT COUNT(*) AS a FROM t GROUP BY b), '
        '"anon_first" AS (SELECT a AS first FROM "anon_groups"), '
        '"anon_second" AS (SELECT a AS second FROM "anon_groups") '
        'SELECT * FROM "anon_first" CROSS JOIN "anon_second"'
    )


@pytest.mark.parametrize("other", ["SELECT b AS a FROM t GROUP BY b", "SELECT COUNT(*) AS a FROM t GROUP BY c"])
def test_other_groups_of_a_name_are_steps_of_their_own(other: str) -> None:
    query = (
        f"SELECT * FROM (SELECT COUNT(*) AS a FROM t GROUP BY b) AS anon_x UNION ALL SELECT * FROM ({other}) AS anon_x"
    )
    assert '"anon_x_2" AS (' in printed(parsed(query))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a FROM (SELECT 1 AS a) AS x",
        "SELECT a FROM (SELECT 1 AS a)",
        "SELECT (SELECT MAX(a) FROM (SELECT 1 AS a) AS anon_x) AS a",
        "SELECT a FROM (SELECT 1 AS a) AS anon_x TABLESAMPLE RESERVOIR (1 ROWS)",
        "WITH RECURSIVE anon_x AS (SELECT 1 AS a UNION SELECT a FROM (SELECT a FROM anon_x) AS anon_y) "
        "SELECT a FROM anon_x",
    ],
)
def test_what_is_not_ours_or_stands_elsewhere_stays(query: str) -> None:
    assert printed(parsed(query)) == query


def test_the_steps_of_a_derived_table_stay_where_their_names_are_taken() -> None:
    inner = "WITH anon_x AS (SELECT 2 AS a) SELECT a FROM anon_x"
    query = f"WITH anon_x AS (SELECT 1 AS a) SELECT * FROM anon_x CROSS JOIN ({inner}) AS anon_y"
    text = printed(parsed(query))
    assert duckdb.sql(text).fetchall() == [(1, 2)]


@pytest.mark.parametrize("order", [1, -1])
def test_no_step_has_the_name_of_a_table_that_a_user_reads(order: int) -> None:
    own = subquery(parsed("SELECT a FROM (SELECT 2 AS a) AS anon_x"), "anon_y")
    users = given(parsed("SELECT a AS b FROM (SELECT a FROM ANON_X) AS anon_z"))
    first, second = (own, users)[::order]
    query = select([exp.Star()], first).join(second, join_type="cross", copy=False)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE anon_x AS SELECT 1 AS a")
        assert connection.execute(f"SELECT a, b FROM ({printed(query)})").fetchall() == [(2, 1)]


def test_a_macro_called_for_every_row_stays_beside_it() -> None:
    query = "SELECT label FROM (SELECT 0 AS depth) AS anon_levels CROSS JOIN anon_helpers.taxonomy_level('sex', depth)"
    assert "CROSS JOIN LATERAL (" in printed(expand(parsed(query)))


def test_a_table_is_made_of_steps() -> None:
    statement = sqlglot.parse_one("CREATE TABLE t AS SELECT a FROM (SELECT 1 AS a) AS anon_x", read="duckdb")
    assert printed(statement) == 'CREATE TABLE t AS WITH "anon_x" AS (SELECT 1 AS a) SELECT a FROM "anon_x"'
