"""The house rules of the macros: documented, portable, without chance, and in an order that can be read."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import (
    MACRO,
    SCHEMA,
    Macro,
    expand,
    install_script,
    install_statements,
    macro_files,
    macros,
)
from sqlanon.queries.kit.named import parsed
from sqlanon.queries.kit.nodes import DIALECT
from sqlanon.queries.kit.sql_files import SCRIPT, named_queries, sql_files, sql_folder
from tests.conftest import ROOT

FIXTURES = ROOT / "fixtures" / "clinic.sql"
TABLES_BY_HAND = sorted((ROOT / "tests" / "sql").glob("*.test"))
PREFIX = "anon_"

LONG = 40  # lines of a macro

CHANCE_AND_TIME = {
    "random", "setseed", "rand", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "now", "today", "current_date",
    "current_time", "current_timestamp", "localtime", "localtimestamp", "get_current_time", "get_current_timestamp",
    "transaction_timestamp",
}  # fmt: skip


def with_fixtures(macros: str, folder: Path) -> duckdb.DuckDBPyConnection:
    """A database with macros, the fixture tables, one of them as a CSV file, and a taxonomy as ARX writes it."""
    connection = duckdb.connect(config={"file_search_path": str(folder)})
    connection.execute(macros + FIXTURES.read_text(encoding="utf-8"))
    connection.execute(f"COPY visits TO '{folder}/visits.csv'")
    (folder / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    return connection


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A database with the macros and the fixture tables."""
    return with_fixtures(install_script(), tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A database with the fixture tables and no macro."""
    return with_fixtures(macro_files()[0].read_text(encoding="utf-8"), tmp_path_factory.mktemp("bare"))


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Counter[frozenset[tuple[str, str]]]:
    """The rows of a query, whatever their order and that of the columns."""
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description or []]
    return Counter(frozenset(zip(names, map(spelled, row), strict=True)) for row in cursor.fetchall())


def spelled(value: object) -> str:
    """A value to compare: the last digits of a sum depend on the order of its terms."""
    return f"{value:.9g}" if isinstance(value, float) else repr(value)


# Files


def test_files_start_with_what_they_are_about() -> None:
    assert [path.name for path in macro_files() if not path.read_text(encoding="utf-8").startswith("-- ")] == []


def test_names_are_unique() -> None:
    """There are no overloads: sqlglot and the catalog could not tell them apart."""
    assert sorted(statement.this.this.name for statement in definitions()) == sorted(macros())


def test_statements_are_the_script(installed: duckdb.DuckDBPyConnection) -> None:
    with duckdb.connect() as connection:
        for statement in install_statements():
            connection.execute(statement)
        assert documented(connection) == documented(installed)


def test_the_script_is_that_of_the_macros() -> None:
    """After a change of a macro: ``sqlanon sql > sql/sqlanon.sql``."""
    assert (sql_folder() / SCRIPT).read_text(encoding="utf-8") == install_script()


def test_installing_twice_changes_nothing() -> None:
    with duckdb.connect() as connection:
        connection.execute(install_script())
        once = catalog(connection)
        connection.execute(install_script())
        assert catalog(connection) == once


# Documentation


def refused(is_fine: Callable[[Macro], bool]) -> list[str]:
    """The names of the macros that break a rule."""
    return [macro.name for macro in macros().values() if not is_fine(macro)]


def test_comments_have_a_description_and_an_example() -> None:
    assert refused(lambda macro: macro.comment.partition("\n\n")[0].endswith(".")) == []
    assert refused(lambda macro: macro.example.endswith(";") and f"{macro.qualified}(" in macro.example) == []


def test_comments_of_long_macros_say_how_they_go() -> None:
    texts = [match for path in macro_files() for match in MACRO.finditer(path.read_text(encoding="utf-8"))]
    long = [match for match in texts if match["statement"].count("\n") >= LONG]
    assert long
    assert [match["name"] for match in long if "\n-- How it goes. " not in match["comment"]] == []


def test_examples_show_rows(installed: duckdb.DuckDBPyConnection) -> None:
    shown = {macro.name for macro in macros().values() if rows(installed, macro.example)}
    assert {*macros()} - shown <= {"malformed_taxonomies", "taxonomy_problems"}


def test_examples_return_the_same_rows_called_and_expanded(
    installed: duckdb.DuckDBPyConnection, bare: duckdb.DuckDBPyConnection
) -> None:
    """Of the macros that no file of tests/sql calls: each of those runs both ways."""
    texts = "".join(path.read_text(encoding="utf-8") for path in TABLES_BY_HAND)
    examples = {macro.name: macro.example for macro in macros().values() if f"{macro.qualified}(" not in texts}
    assert examples
    assert {name: rows(bare, expanded(text)) for name, text in examples.items()} == {
        name: rows(installed, text) for name, text in examples.items()
    }


def test_help_lists_all_with_a_sentence(installed: duckdb.DuckDBPyConnection) -> None:
    listed = installed.execute("SELECT name, parameters, kind, description FROM anon.help()").fetchall()
    by_name = {macro.qualified.removeprefix(f"{SCHEMA}."): macro for macro in macros().values()}
    assert sorted(name for name, *_ in listed) == sorted(by_name)
    for name, parameters, kind, description in listed:
        macro = by_name[name]
        assert (tuple(parameters), kind == "table") == (macro.parameters, macro.is_table)
        first, rest = description, " ".join(macro.comment.split())
        assert first.endswith(".")
        assert rest.startswith(first), name


def test_help_begins_with_the_jobs_of_people(installed: duckdb.DuckDBPyConnection) -> None:
    jobs = [job for (job,) in installed.execute("SELECT job FROM anon.help()").fetchall()]
    for_people = [job for job in jobs if job]
    assert jobs[: len(for_people)] == sorted(for_people)
    assert len({*for_people}) <= 13
    assert refused(lambda macro: (macro.schema == SCHEMA) == ("\nJob: " in macro.comment)) == []
    assert len(for_people) <= 120


def test_comments_are_stored_in_the_catalog(installed: duckdb.DuckDBPyConnection) -> None:
    stored = catalog(installed)
    assert refused(lambda macro: stored[macro.name]["comment"] == macro.comment) == []


# Portability


def test_parameters_are_untyped_and_have_no_defaults() -> None:
    parameters = [parameter for definition in definitions() for parameter in definition.this.expressions]
    assert [found.sql(DIALECT) for found in parameters if not isinstance(found, exp.Identifier)] == []
    names = {name for macro in macros().values() for name in macro.parameters}
    assert [name for name in names if name.startswith(PREFIX) or not re.fullmatch("[a-z][a-z_0-9]*", name)] == []


def test_relations_inside_are_named_with_the_prefix() -> None:
    assert refused(lambda macro: all(name.startswith(PREFIX) for name in inner_relations(macro.body))) == []


def test_columns_made_inside_have_the_prefix_or_are_returned() -> None:
    def others(macro: Macro) -> set[str]:
        returned = set(re.findall(r"\w+", macro.comment.partition("Returns:")[2].partition("\n")[0]))
        returned |= {
            projection.alias_or_name for select in top_selects(macro.body) for projection in select.expressions
        }
        made = {alias.alias for alias in macro.body.find_all(exp.Alias)}
        return {name for name in made - returned if not name.startswith(PREFIX)}

    assert refused(lambda macro: not others(macro)) == []


# They read the caller's column in two relations on purpose.
CAPTURING = ("found_label", "found_interval")


def test_scalar_macros_show_their_arguments_no_column_without_the_prefix() -> None:
    """An argument is an expression over the caller's columns, which a column inside must not capture."""

    def capture(source: exp.Expr) -> bool:
        if isinstance(source, exp.Subquery):
            names = source.this.named_selects
        else:
            names = [column.name for column in source.args["alias"].columns]
        return not names or not all(name.startswith(PREFIX) for name in names)

    def sources(macro: Macro) -> list[exp.Expr]:
        return [node.this for node in macro.body.find_all(exp.From, exp.Join)]

    capturing = refused(lambda macro: macro.is_table or not any(map(capture, sources(macro))))
    assert capturing == [*CAPTURING]


def test_macros_use_neither_chance_nor_time() -> None:
    assert refused(lambda macro: not CHANCE_AND_TIME & {*re.findall(r"\w+", macro.body.sql(DIALECT).lower())}) == []


def test_orders_say_their_direction() -> None:
    """A connection may take another if none is said."""
    queries = [parsed(query.text) for file in sql_files() for query in named_queries(file).values()]
    keys = [
        key for tree in (*queries, *(macro.body for macro in macros().values())) for key in tree.find_all(exp.Ordered)
    ]
    assert keys
    assert [key.sql(DIALECT) for key in keys if key.args.get("desc") is None] == []


@pytest.mark.parametrize("mode", ["called", "expanded"])
def test_generalize_joins_each_quasi_identifier_once(
    mode: str, installed: duckdb.DuckDBPyConnection, bare: duckdb.DuckDBPyConnection
) -> None:
    """A correlated subquery that stays one collects the rows for every column, or numbers them: 30 times slower."""
    query = "FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0, 'zip': 2})"
    connection, query = (installed, query) if mode == "called" else (bare, expanded(query))
    plan = connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()[0][1]
    operators = re.findall(r'"name": "(\w+)', plan)
    assert operators.count("HASH_JOIN") == 3
    assert [name for name in operators if "DELIM" in name or "WINDOW" in name] == []
    assert "__duckdb_delim" not in plan


def test_macros_use_only_macros_defined_above() -> None:
    seen: set[str] = set()
    for macro in macros().values():
        assert set(used_macros(macro)) - {"duckdb_functions"} <= seen, macro.name
        seen.add(macro.name)


def test_macros_read_only_their_parameters_and_the_taxonomies() -> None:
    """Sources are given: a table is anon.taxonomy, its domain, a call, or named inside."""
    stored = {f"{SCHEMA}.taxonomy", f"{SCHEMA}.taxonomy_domain"}

    def read(macro: Macro) -> set[str]:
        tables = [table for table in macro.body.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
        return {f"{table.db}.{table.name}" if table.db else table.name for table in tables}

    assert refused(lambda macro: all(name.startswith(PREFIX) for name in read(macro) - stored)) == []


def test_macros_read_sources_by_as_source() -> None:
    """DuckDB 1.5 reads a relative path as a qualified name."""
    reads = [
        function.expressions[0].sql(DIALECT)
        for macro in macros().values()
        for function in macro.body.find_all(exp.Anonymous)
        if function.name.lower() == "query_table"
    ]
    assert reads
    assert [text for text in reads if not re.fullmatch(r"anon_helpers\.as_source\(\w+\)", text, re.IGNORECASE)] == []


def catalog(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Any]]:
    """The macros that the database knows, with everything that it knows about them."""
    cursor = connection.execute(
        "SELECT function_name AS name, function_type AS kind, parameters, macro_definition AS body, comment "
        "FROM duckdb_functions() WHERE schema_name IN ('anon', 'anon_helpers') ORDER BY ALL"
    )
    names = [column[0] for column in cursor.description or []]
    return {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}


def documented(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[Any, ...]]:
    """The catalog without the bodies, whose spelling may differ."""
    return {name: (row["kind"], row["parameters"], row["comment"]) for name, row in catalog(connection).items()}


@cache
def definitions() -> list[exp.Create]:
    """The statements that create the macros, as they are written: parsed once, as every macro asks for them."""
    statements = [tree for path in macro_files() for tree in sqlglot.parse(path.read_text("utf-8"), read=DIALECT)]
    return [tree for tree in statements if isinstance(tree, exp.Create) and tree.args["kind"] == "MACRO"]


def expanded(sql: str) -> str:
    tree = sqlglot.parse_one(sql, read=DIALECT)
    assert isinstance(tree, exp.Expression)
    return expand(tree).sql(DIALECT)


def used_macros(macro: Macro) -> Iterator[str]:
    for function in macro.body.find_all(exp.Anonymous):
        if isinstance(function.parent, exp.Table | exp.Dot) and function.name.lower() not in ("query_table", "unnest"):
            yield function.name


def inner_relations(body: exp.Expression) -> Iterator[str]:
    """The names of CTEs, subqueries and tables inside a body, with the names given to their columns."""
    for alias in body.find_all(exp.TableAlias):
        yield alias.name
        yield from (column.name for column in alias.columns)


def top_selects(body: exp.Expr) -> list[exp.Select]:
    """The SELECTs whose columns are the macro's own: more than one in a UNION."""
    if isinstance(body, exp.Select):
        return [body]
    if isinstance(body, exp.SetOperation):
        return [*top_selects(body.left), *top_selects(body.right)]
    return []
