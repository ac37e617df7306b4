"""A connection that records the statements that are sent through it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

DIALECT = "duckdb"
FOLDER = "<folder>"
"""Stands in a statement for the folder beside the warehouse."""

LOOK_UP = re.compile(r"\bduckdb_\w+\(|current_database\(|current_setting\(|txid_current\(|\bLIMIT 0$", re.IGNORECASE)
"""Questions about the catalog and the connection, as those with bound values: they have no part in the release."""

COMMENT = re.compile(r"^COMMENT ON\b")
"""The provenance: it tells versions and times."""

OPAQUE = re.compile(
    r"(?P<begin>PREPARE \S+ AS |CREATE TEMPORARY TYPE \S+ AS ENUM\()(?P<query>.*?)(?P<end>\)?)", re.DOTALL
)
"""Statements that sqlglot does not read, with a query that it does."""


class Script(NamedTuple):
    """What a run sends.

    Attributes:
        heading: a comment, with what identifies the rows that it publishes.
        statements: in lines.
    """

    heading: str
    statements: list[str]


class Recorder:
    """A DuckDB connection, for a session to borrow, and the statements that it was sent.

    What goes over other connections, such as the entries of a ledger and the settings of a database, is not recorded.

    Args:
        connection: what executes the statements.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.statements: list[str] = []

    def execute(self, sql: str, parameters: Sequence[object] | None = None) -> Recorder:
        if not parameters and not LOOK_UP.search(sql) and not COMMENT.match(sql):
            self.statements.append(sql)
        self._connection.execute(sql, parameters)
        return self

    def begin(self) -> None:
        self.statements.append("BEGIN")
        self._connection.begin()

    def commit(self) -> None:
        self.statements.append("COMMIT")
        self._connection.commit()

    def register(self, name: str, given: pa.Table | pa.RecordBatchReader) -> None:
        """Values that Python has drawn or looked up: the script spells them out."""
        table = given.read_all() if isinstance(given, pa.RecordBatchReader) else given
        self.statements.append(_spelled_out(name, table))
        self._connection.register(name, table)

    def unregister(self, name: str) -> None:
        self.statements.append(f'DROP TABLE "{name}"')
        self._connection.unregister(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def in_lines(statements: Sequence[str], folder: str) -> list[str]:
    """Statements in lines, for people: equal ones that follow one another once, ``folder`` as a placeholder."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    return [_pretty(statement).replace(folder, FOLDER) for statement, _ in groupby(statements)]


def _pretty(statement: str) -> str:
    opaque = OPAQUE.fullmatch(statement)
    if opaque is not None and not opaque["begin"].endswith("("):
        return f"{opaque['begin'].strip()}\n{_pretty(opaque['query'] + opaque['end'])}"
    if opaque is not None:
        return f"{opaque['begin']}\n{_pretty(opaque['query'])}\n)"
    parsed = sqlglot.parse_one(statement, read=DIALECT)
    return parsed.sql(DIALECT, pretty=True) if isinstance(parsed, exp.Query | exp.Create) else statement


def _spelled_out(name: str, table: pa.Table) -> str:
    """``CREATE TEMPORARY TABLE`` with the values and the types of a table."""
    with duckdb.connect() as connection:
        connection.register("given", table)
        types = [kind for _, kind, *_ in connection.execute("DESCRIBE given").fetchall()]
    places = [f"v{place}" for place in range(len(types))]
    columns = [
        exp.alias_(exp.cast(exp.column(place), kind, dialect=DIALECT), name, quoted=True)
        for place, kind, name in zip(places, types, table.column_names, strict=True)
    ]
    # A VALUES needs a row.
    rows = [tuple(row.values()) for row in table.to_pylist()] or [(None,) * len(types)]
    query = exp.select(*columns).from_(exp.values(rows, alias="given", columns=places))
    if table.num_rows == 0:
        query = query.where(exp.false())
    return f'CREATE TEMPORARY TABLE "{name}" AS {query.sql(DIALECT)}'
