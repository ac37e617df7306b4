"""A log file of the statements that are sent, in order, to read and to run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TextIO

import sqlglot
from sqlglot.errors import SqlglotError

from sqlanon.engines.duckdb import Compute, StatementLog
from sqlanon.errors import EngineError
from sqlanon.publish.files import cannot_be_written, refuse_place
from sqlanon.queries.kit.nodes import DIALECT

QUERIES = ("SELECT ", "WITH ", "CREATE TEMPORARY TABLE ", "INSERT INTO ")  # starts of statements with a query


class StatementFile(StatementLog):
    """Writes each statement when the next one is sent, because its result has been read by then."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._count = 0
        self._last: tuple[str, str] | None = None
        self._seconds = 0.0

    @contextmanager
    def sending(self, sql: str, purpose: str) -> Iterator[None]:
        """Log a statement; its time is that of this block and of the blocks that read its result."""
        self.write()
        self._last, self._seconds = (sql, purpose), 0.0
        with self.reading():
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds += perf_counter() - start

    def write(self) -> None:
        if self._last is None:
            return
        (sql, purpose), self._last = self._last, None
        self._count += 1
        with cannot_be_written(self._path, "statements"):
            self._file.write(f"-- {self._count}. {purpose} ({1000 * self._seconds:.1f} ms)\n{_pretty(sql)};\n\n")
            self._file.flush()


@contextmanager
def statements_to(engine: Compute, given: str | Path | None) -> Iterator[None]:
    """Write the statements of a block to a new file, if one is given; on failure, it keeps those sent so far."""
    if given is None:
        yield
        return
    path = Path(given)
    refuse_place(path)
    if path.exists():
        raise EngineError(f"{path} exists; give a new file for the statements", step="statements")
    with cannot_be_written(path, "statements"):
        file = path.open("x", encoding="utf-8")
    with file:
        log = StatementFile(file, path)
        try:
            with engine.logged(log):
                yield
        finally:
            log.write()


def _pretty(sql: str) -> str:
    """Format a query; return any other statement, and one that the parser does not know, as sent."""
    sent = sql.strip().removesuffix(";")
    if not sent.startswith(QUERIES):
        return sent
    try:
        return sqlglot.parse_one(sent, dialect=DIALECT).sql(DIALECT, pretty=True)
    except SqlglotError:
        return sent
