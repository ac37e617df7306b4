"""Cases that were drawn, as a table in DuckDB with their taxonomies."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

import sqlanon as sa
from sqlanon.queries.kit.macros import schema_statements
from tests import oracle
from tests.strategies import Case


@contextmanager
def session_of(case: Case) -> Iterator[sa.Session]:
    """A session with the rows of a case as table ``given``, and its taxonomies, straight in their table."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for statement in schema_statements():
            connection.execute(statement)
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in case.columns.items())
        connection.execute(f"CREATE TABLE given ({declared})")
        if case.rows:
            marks = ", ".join("?" for _ in case.columns)
            connection.executemany(
                f"INSERT INTO given VALUES ({marks})", [[row[name] for name in case.columns] for row in case.rows]
            )
        connection.executemany("INSERT INTO anon.taxonomy VALUES (?, ?, ?, ?)", oracle.taxonomy_rows(case.taxonomies))
        connection.executemany(
            "INSERT INTO anon.taxonomy_domain VALUES (?, 'declared')", [[name] for name in case.taxonomies]
        )
        yield sa.connect(connection)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
