"""A connection that records the statements that are sent through it."""

import hashlib
import logging
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

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


TABLE = r'(?:"?\w+"?\.)*"?'
SUBJECT = re.compile(
    rf"(?:CREATE(?: OR REPLACE)?(?: TEMPORARY)? \w+|PREPARE) {TABLE}(?P<made>\w+)|"
    rf"DROP \w+ (?:IF EXISTS )?{TABLE}(?P<dropped>\w+)|"
    rf".*?(?<!DISTINCT )FROM {TABLE}(?P<read>\w+)",
    re.DOTALL,
)


class Recorder:
    """A DuckDB connection, for a session to borrow, and the statements that it was sent.

    What goes over other connections, such as the entries of a ledger and the settings of a database, is not recorded.

    Args:
        connection: what executes the statements.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.statements: list[str] = []

    def execute(self, sql: str, parameters: Sequence[object] | None = None) -> Self:
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


@cache
def in_lines(statement: str) -> str:
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    opaque = OPAQUE.fullmatch(statement)
    if opaque is not None and not opaque["begin"].endswith("("):
        return f"{opaque['begin'].strip()}\n{in_lines(opaque['query'] + opaque['end'])}"
    if opaque is not None:
        return f"{opaque['begin']}\n{in_lines(opaque['query'])}\n)"
    parsed = sqlglot.parse_one(statement, read=DIALECT)
    return parsed.sql(DIALECT, pretty=True) if isinstance(parsed, exp.Query | exp.Create) else statement


WIDTH = 120
NAME = re.compile(r"[\w.\"*]+(?: AS [\w.\"]+)?,?|\([^()]*\),?|\([^()]*\)\).*")
CLOSER = re.compile(r"\)|END\b")


def folded(text: str) -> str:
    """A statement in lines of ``in_lines``, where what fits stands in one line."""
    lines = [(len(line) - len(line.lstrip()), line.lstrip()) for line in text.splitlines()]
    return "\n".join(" " * indent + line for indent, line in _folded(lines))


def _folded(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    place = 0
    while place < len(lines):
        indent, head = lines[place]
        after = next((at for at in range(place + 1, len(lines)) if lines[at][0] <= indent), len(lines))
        block = _folded(lines[place + 1 : after])
        closer = [line for depth, line in lines[after : after + 1] if depth == indent and CLOSER.match(line)]
        joined = " ".join([head, *(line for _, line in block), *closer]).replace("( ", "(").replace(" )", ")")
        is_whole = not joined.endswith("(") and (closer or not head.endswith(("(", "CASE")))
        if block and is_whole and indent + len(joined) <= WIDTH:
            found.append((indent, joined))
            place = after + len(closer)
        else:
            found += [(indent, head), *block]
            place = after
    return _filled(found)


def _filled(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Names in a list, and what follows WHEN, stand in one line as far as they fit."""
    found: list[tuple[int, str]] = []
    for indent, line in lines:
        before = found[-1] if found else (-1, "")
        names = NAME.fullmatch(line) and NAME.fullmatch(before[1].rpartition(", ")[2]) and before[1].endswith(",")
        follows = line.startswith("THEN ") and before[1].startswith("WHEN ")
        if before[0] == indent and (names or follows) and indent + len(before[1]) + 1 + len(line) <= WIDTH:
            found[-1] = (indent, f"{before[1]} {line}")
        else:
            found.append((indent, line))
    return found


def subject(statement: str) -> str:
    """What a statement makes, drops or reads first."""
    match = SUBJECT.match(statement)
    if match is None:
        return " ".join(statement.split()[:2]).lower()
    kinds = {"create": match["made"], "drop": match["dropped"], "read": match["read"]}
    return next(f"{kind} {name}" for kind, name in kinds.items() if name)


def digest(statement: str) -> str:
    """A short hash of a statement."""
    return hashlib.sha256(statement.encode()).hexdigest()[:12]


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
