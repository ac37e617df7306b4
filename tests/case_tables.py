"""Tables in DuckDB of rows that were drawn, with their taxonomies."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb

import sqlanon as sa
from sqlanon.queries.kit.macros import schema_statements
from tests import oracle
from tests.oracle import Rows
from tests.strategies import Case


@contextmanager
def session_of(case: Case) -> Iterator[sa.Session]:
    """A session with the rows of a case as table ``given``, and its taxonomies."""
    with duckdb.connect(config={"threads": 1}) as connection:
        make_schema(connection)
        fill(connection, case)
        yield sa.connect(connection)


def make_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """What the warehouse of a session has, without a taxonomy."""
    for statement in schema_statements():
        connection.execute(statement)


def fill(connection: duckdb.DuckDBPyConnection, case: Case) -> None:
    """Have the rows of a case as table ``given``, and no taxonomies but its own, straight in their table."""
    store(connection, "given", case.columns, case.rows)
    connection.execute("DELETE FROM anon.taxonomy; DELETE FROM anon.taxonomy_domain")
    connection.executemany("INSERT INTO anon.taxonomy VALUES (?, ?, ?, ?)", oracle.taxonomy_rows(case.taxonomies))
    domains = [[name] for name in case.taxonomies]
    connection.executemany("INSERT INTO anon.taxonomy_domain VALUES (?, 'declared')", domains)


def store(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str], rows: Rows) -> None:
    """Make a table of rows, given the types of its columns, in place of the one before."""
    declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
    connection.execute(f"CREATE OR REPLACE TABLE {table} ({declared})")
    if rows:
        marks = ", ".join("?" for _ in columns)
        values = [[row[name] for name in columns] for row in rows]
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
