"""A macro that wants a list of columns refuses a string, which DuckDB's COLUMNS would read as a regular expression.

In a plain DuckDB connection: users of the macros need not have Python.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import expand, install_script, macros
from sqlanon.queries.kit.nodes import DIALECT

FIXTURES = Path(__file__).parents[2] / "fixtures" / "clinic.sql"

# What a query may hand over that is text: constants, an expression, a variable.
LISTS = ("['age', 'sex']", "getvariable('some_columns')", "map_keys(MAP {'age': 1, 'sex': 0})")
STRINGS = ("lower('AGE')", "getvariable('a_column')", "NULL")


def list_parameters() -> Iterator[tuple[str, str]]:
    """Every macro with its parameters that are lists of names in its example."""
    for macro in macros().values():
        for parameter, argument in example_arguments(macro.name):
            if isinstance(argument, exp.Array) and all(name.is_string for name in argument.expressions):
                yield macro.name, parameter


def example_arguments(name: str) -> list[tuple[str, exp.Expr]]:
    call = called(sqlglot.parse_one(macros()[name].example, read=DIALECT), name)
    return list(zip(macros()[name].parameters, call.expressions, strict=True))


def called(example: exp.Expr, name: str) -> exp.Anonymous:
    return next(call for call in example.find_all(exp.Anonymous) if call.name.lower() == name)


def example_with(name: str, parameter: str, value: str) -> exp.Expr:
    """The example of a macro with another value of one parameter."""
    tree = sqlglot.parse_one(macros()[name].example, read=DIALECT)
    call = called(tree, name)
    call.expressions[macros()[name].parameters.index(parameter)].replace(sqlglot.parse_one(value, read=DIALECT))
    return tree


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as plain:
        plain.execute(install_script())
        plain.execute(FIXTURES.read_text(encoding="utf-8"))
        plain.execute("SET VARIABLE a_column = 'age'")
        plain.execute("SET VARIABLE some_columns = ['age', 'sex']")
        yield plain


def refuses(connection: duckdb.DuckDBPyConnection, query: exp.Expr) -> bool:
    with pytest.raises(duckdb.Error) as caught:
        connection.execute(query.sql(DIALECT)).fetchall()
    return "write a list of columns, such as ['age']" in str(caught.value)


def test_string_is_refused_where_a_list_is_wanted(connection: duckdb.DuckDBPyConnection) -> None:
    """By the macros, and by the text that Python runs."""
    for name, parameter in list_parameters():
        example = example_with(name, parameter, "'age'")
        assert refuses(connection, example), (name, parameter)
        assert refuses(connection, expand(example)), (name, parameter)


@pytest.mark.parametrize("value", STRINGS)
def test_string_is_refused_however_it_is_made(value: str, connection: duckdb.DuckDBPyConnection) -> None:
    assert refuses(connection, example_with("equivalence_classes", "quasi_identifiers", value))


def test_every_macro_that_takes_a_list_of_columns_is_tested() -> None:
    tested = set(list_parameters())
    assert len(tested) >= 30
    named = {"quasi_identifiers", "column_names", "ordering"}
    taken = {(macro.name, parameter) for macro in macros().values() for parameter in macro.parameters}
    assert {(name, parameter) for name, parameter in taken if parameter in named} <= tested


def test_columns_are_never_those_of_a_bare_parameter() -> None:
    """Whatever its name, a parameter that may be a string is a list of one name, the keys of a map, or listed."""
    bare = [
        (macro.name, columns.sql(DIALECT))
        for macro in macros().values()
        for columns in macro.body.find_all(exp.Columns)
        if isinstance(columns.this, exp.Column) and columns.this.name in macro.parameters
    ]
    assert bare == []


@pytest.mark.parametrize("value", LISTS)
def test_lists_are_taken_however_they_are_made(value: str, connection: duckdb.DuckDBPyConnection) -> None:
    found = connection.execute(f"SELECT * FROM anon.equivalence_classes('visits', {value})")
    assert [column[0] for column in found.description or []] == ["age", "sex", "class_size"]


def test_list_is_taken_as_a_parameter_of_the_statement(connection: duckdb.DuckDBPyConnection) -> None:
    count = "SELECT class_count FROM anon.k_anonymity('visits', $1)"
    listed = connection.execute(count, [["age"]]).fetchall()
    assert listed == connection.execute("SELECT count(*) FROM (SELECT DISTINCT age FROM visits)").fetchall()
    with pytest.raises(duckdb.Error, match="write a list of columns"):
        connection.execute(count, ["age"])


@pytest.mark.parametrize("value", ["'age, sex'", "'[age, sex]'", "('age', 'sex')"])
def test_message_says_how_to_write_several_columns(value: str, connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(duckdb.Error, match=r"such as \['age', 'sex'\]"):
        connection.execute(f"FROM anon.k_anonymity('visits', {value})")
