"""Every query of ``sql/*.sql`` runs on empty tables, which the examples of its roles describe."""

from collections.abc import Iterator
from typing import cast

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import schema_statements
from sqlanon.queries.kit.named import Queries, Role, parsed, roles_of, with_roles
from sqlanon.queries.kit.nodes import DIALECT, identifier
from sqlanon.queries.kit.sql_files import named_queries, query_text, sql_files


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    file = tmp_path_factory.mktemp("examples") / "example.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS age) TO '{file}'")
        connection.execute(f"SET VARIABLE parquet_file = '{file}'")
        for statement in (
            *schema_statements(),
            *(query_text("ledger", name) for name in ("ledger_table", "ledger_note_table")),
            query_text("releases", "releases_table"),
        ):
            connection.execute(statement)
        yield connection


@pytest.mark.parametrize("file", sql_files())
def test_named_queries_run_on_empty_tables(file: str, database: duckdb.DuckDBPyConnection) -> None:
    for name in named_queries(file):
        run(file, name, database)


def run(file: str, name: str, database: duckdb.DuckDBPyConnection) -> None:
    query = named_queries(file)[name]
    assert query.title and query.title[-1] not in ".;", f"{name}: the first line of its comment is the title of a step"
    roles = {role: example(role, query.examples[role], database) for role in roles_of(file, name)}
    statement = query.text if file == "engines" else Queries(file).query(name, **roles).sql(DIALECT)
    given = [database.execute(f"SELECT {text}").fetchall()[0][0] for text in query.parameters]
    names = [column[0] for column in database.execute(statement, given).description or []]
    assert len(names) == len({*names}), name


def test_every_role_is_in_a_query() -> None:
    for file in sql_files():
        known = {role for query in named_queries(file).values() for role in query.examples}
        assert known == {role for name in named_queries(file) for role in roles_of(file, name)}, file


class TestRoles:
    def test_lists_stand_everywhere(self) -> None:
        assert filled(keys=["a", "b"]) == (
            'SELECT "a", "b", RANK() OVER (PARTITION BY "a", "b" ORDER BY "a" DESC, "b" DESC) AS place FROM t AS one '
            'JOIN u USING ("a", "b") LEFT JOIN v AS v ON "one"."a" = "v"."a" AND "one"."b" = "v"."b" '
            'GROUP BY "a", "b" ORDER BY "a" ASC, "b" ASC'
        )

    def test_lists_of_none(self) -> None:
        assert filled(keys=[]) == (
            "SELECT RANK() OVER () AS place FROM t AS one JOIN u ON TRUE LEFT JOIN v AS v ON TRUE"
        )

    def test_lists_are_taken_element_by_element(self) -> None:
        text = (
            "SELECT bit_or(one.:keys) & :masks AS :bits FROM t AS one "
            "JOIN u ON u.:keys = (one.:keys & one.:bits) WHERE NOT one.:keys <> :masks"
        )
        roles = {"keys": ["a", "b"], "masks": [exp.convert(3), exp.convert(4)], "bits": ["c", "d"]}
        assert with_roles(parsed(text), roles).sql(DIALECT) == (
            'SELECT BIT_OR("one"."a") & 3 AS "c", BIT_OR("one"."b") & 4 AS "d" FROM t AS one '
            'JOIN u ON "u"."a" = ("one"."a" & "one"."c") AND "u"."b" = ("one"."b" & "one"."d") '
            'WHERE NOT ("one"."a" <> 3 OR "one"."b" <> 4)'
        )

    def test_groups_without_a_list_stay(self) -> None:
        given = cast(exp.Query, sqlglot.parse_one("SELECT a, count(*) AS n FROM t GROUP BY ALL", read=DIALECT))
        query = with_roles(parsed("SELECT b FROM :cells AS cells GROUP BY ALL ORDER BY ALL"), {"cells": given})
        assert query.sql(DIALECT) == (
            'SELECT b FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY ALL) AS "cells" GROUP BY ALL ORDER BY ALL'
        )

    @pytest.mark.parametrize("roles", [{}, {"keys": [], "cells": exp.to_table("t")}])
    def test_missing_and_unknown_roles_are_refused(self, roles: dict[str, Role]) -> None:
        with pytest.raises(TypeError, match="missing or unknown in lacking_totals"):
            Queries("h_ceiling").query("lacking_totals", **roles)


def filled(keys: list[str]) -> str:
    """A query with a list in all places."""
    text = (
        "SELECT :keys, rank() OVER (PARTITION BY :keys ORDER BY :keys DESC) AS place FROM t AS one "
        "JOIN u USING (:keys) LEFT JOIN :v AS v ON one.:keys = v.:keys GROUP BY :keys ORDER BY :keys ASC"
    )
    return with_roles(parsed(text), {"keys": keys, "v": exp.to_table("v")}).sql(DIALECT)


def example(role: str, text: str, database: duckdb.DuckDBPyConnection) -> Role:
    """A role as its example has it; a relation is a table without rows."""
    if text.startswith("("):
        name = f"anon_example_{role}"
        database.execute(f"CREATE OR REPLACE TEMP TABLE {name} {text}")
        return exp.Table(this=identifier(name))
    select = parsed(f"SELECT {text}")
    return select.expressions[0] if len(select.expressions) == 1 else select.expressions
