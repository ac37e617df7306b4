"""A small runner for DuckDB's sqllogictest files; no well-kept one for Python could be installed.

A record is a block of lines between blank lines; lines that start with ``#`` are comments::

    statement ok
    CREATE TABLE t (a INTEGER);

    statement error
    SELECT * FROM nope;
    ----
    does not exist
    <!REGEX>:secret

    query TIR rowsort
    FROM t;
    ----
    x<TAB>1<TAB>0.5

- What is ``ok`` may be several statements.
- An error must contain every line under ``----``; ``<REGEX>:`` and ``<!REGEX>:`` lines must and must not match it.
- The types of a query are T (text), I (integer) and R (compared to nine digits); NULL is written ``NULL`` and the
  empty string ``(empty)``. Without ``rowsort`` the order of the rows counts.
- ``skipif <condition>`` above a record leaves it out where the runner is given that condition.
- ``__TEST_DIR__`` stands for an empty directory.
"""

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Execute = Callable[[str], Sequence[Sequence[Any]]]
"""Runs statements and returns the rows of the last; raises what the database raises."""


@dataclass(frozen=True)
class Record:
    """One statement or query with what is expected of it, and where it stands."""

    line: int
    skipped_if: frozenset[str]
    command: tuple[str, ...]
    sql: str
    expected: tuple[str, ...]


def parse(script: str) -> list[Record]:
    """The records of a file."""
    blocks: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(script.splitlines(), start=1):
        if not line.strip():
            blocks.append([])
        elif not line.startswith("#"):
            blocks[-1].append((number, line))
    return [_record(block) for block in blocks if block]


def run(script: str, execute: Execute, test_directory: Path, conditions: Collection[str] = ()) -> None:
    """Run every record of a file in order; the first that is not met is an AssertionError with its line."""
    for record in parse(script.replace("__TEST_DIR__", str(test_directory))):
        if record.skipped_if.isdisjoint(conditions):
            _RUNNERS[record.command[:2] if record.command[0] == "statement" else record.command[:1]](record, execute)


def _record(block: list[tuple[int, str]]) -> Record:
    line = block[0][0]
    lines = [text for _, text in block]
    skipped_if = set()
    while lines[0].startswith("skipif "):
        skipped_if.add(lines.pop(0).split()[1])
    command = tuple(lines.pop(0).split())
    assert command[0] in ("statement", "query"), f"line {line}: unknown record {command[0]}"
    end = lines.index("----") if "----" in lines else len(lines)
    assert end > 0, f"line {line}: no SQL"
    return Record(line, frozenset(skipped_if), command, "\n".join(lines[:end]), tuple(lines[end + 1 :]))


def _run_ok(record: Record, execute: Execute) -> None:
    try:
        execute(record.sql)
    except Exception as error:
        raise AssertionError(f"line {record.line}: {error}") from error


def _run_error(record: Record, execute: Execute) -> None:
    assert record.expected, f"line {record.line}: say which error is expected"
    try:
        execute(record.sql)
    except Exception as error:
        message = str(error)
    else:
        raise AssertionError(f"line {record.line}: no error")
    for expected in record.expected:
        assert _error_meets(message, expected), f"line {record.line}: {expected!r} against the error {message!r}"


def _error_meets(message: str, expected: str) -> bool:
    if expected.startswith("<REGEX>:"):
        return re.search(expected.removeprefix("<REGEX>:"), message, flags=re.DOTALL) is not None
    if expected.startswith("<!REGEX>:"):
        return re.search(expected.removeprefix("<!REGEX>:"), message, flags=re.DOTALL) is None
    return expected in message


def _run_query(record: Record, execute: Execute) -> None:
    types, *options = record.command[1:]
    try:
        rows = [[_spelled(value) for value in row] for row in execute(record.sql)]
    except Exception as error:
        raise AssertionError(f"line {record.line}: {error}") from error
    expected = [line.split("\t") for line in record.expected]
    if "rowsort" in options:
        rows, expected = sorted(rows), sorted(expected)
    same = len(rows) == len(expected) and all(map(_same_row(types), rows, expected))
    assert same, f"line {record.line}: expected\n{_shown(expected)}\nbut got\n{_shown(rows)}"


def _spelled(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) or "(empty)"


def _same_row(types: str) -> Callable[[list[str], list[str]], bool]:
    def same(row: list[str], expected: list[str]) -> bool:
        return len(row) == len(expected) == len(types) and all(map(_same_value, types, row, expected))

    return same


def _same_value(kind: str, value: str, expected: str) -> bool:
    if kind == "R" and "NULL" not in (value, expected):
        return math.isclose(float(value), float(expected), rel_tol=1e-9, abs_tol=1e-12)
    return value == expected


def _shown(rows: list[list[str]]) -> str:
    return "\n".join("\t".join(row) for row in rows) or "no rows"


_RUNNERS: dict[tuple[str, ...], Callable[[Record, Execute], None]] = {
    ("statement", "ok"): _run_ok,
    ("statement", "error"): _run_error,
    ("query",): _run_query,
}
