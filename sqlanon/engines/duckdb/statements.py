"""Statements that are sent over a connection, one at a time: watched, logged, and refused in words of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.engines.base import StatementLog, StatementObserver
from sqlanon.engines.duckdb.refusals import refusals
from sqlanon.engines.duckdb.watching import Watcher, ignore
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import DIALECT, identifier
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.kit.steps import printed

Row = tuple[Any, ...]


class Statements:
    """A connection on which statements run.

    Attributes:
        connection: the connection of the driver, for those who go on in SQL.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._watcher: Watcher | None = None
        self._log = StatementLog()
        self._prepared: dict[str, None] = {}
        self._is_in_transaction = False
        self._part = (0, 1)

    def rows(self, sql: str, parameters: Sequence[object] = (), purpose: str = "the catalog") -> list[Row]:
        """Return the rows of a query, which are about the catalog."""
        self._send(sql, purpose, parameters)
        return self._fetched(purpose)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A snapshot, committed or rolled back; an :class:`EngineError` in another or by a default collation."""
        before, state = (self.rows(query_text("engines", "connection_state"))[0] for _ in range(2))
        _refuse_open_transaction(before[0], state[0])
        _refuse_collation(state[1])
        with refusals("begin"):
            self.connection.begin()
        self._is_in_transaction = True
        try:
            yield
            with refusals("commit"):
                self.connection.commit()
        except BaseException:
            # A full disk, for one, makes the database roll back by itself: then there is nothing left to do.
            with suppress(duckdb.Error):
                self.connection.rollback()
            raise
        finally:
            self._is_in_transaction = False
            self._forget_prepared()

    def refuse_collation(self) -> None:
        """Refuse, by an :class:`EngineError`, a lent connection that compares texts by a default collation."""
        _refuse_collation(self.rows(query_text("engines", "connection_state"))[0][1])

    def prepare(self, name: str, statement: exp.Query | exp.Insert, purpose: str) -> None:
        """Plan a statement with parameters ``$1``, ``$2`` and so on under a name, new or not, for this transaction."""
        planned = " AS ".join([printed(identifier(name)), printed(statement)])
        self._send(printed(exp.Command(this="PREPARE", expression=planned)), purpose)
        self._prepared[name] = None

    def _forget_prepared(self) -> None:
        """After the transaction: they are of none, and one that failed takes no statement."""
        with suppress(EngineError):  # the connection is closed
            while self._prepared:
                name = printed(identifier(self._prepared.popitem()[0]))
                self._send(printed(exp.Command(this="DEALLOCATE", expression=name)), "prepared queries")

    @contextmanager
    def logged(self, log: StatementLog) -> Iterator[None]:
        """Note the statements that are sent within the block."""
        self._log, before = log, self._log
        try:
            yield
        finally:
            self._log = before

    @contextmanager
    def watched(self, observer: StatementObserver | None) -> Iterator[None]:
        """Report the progress of statements a few times a second; an error of the observer, or Ctrl-C, ends them."""
        # Only outside of a transaction: a failed one takes no settings back.
        enabled, shown, locked, looks_for_variables = self.rows(query_text("engines", "progress_settings"))[0]
        if looks_for_variables:  # which another thread has not
            yield
            return
        measured = observer is not None and not locked
        if measured:
            set_(self.connection, enable_progress_bar_print=False, enable_progress_bar=True)
        try:
            with Watcher(observer or ignore, self.share, self.connection.interrupt) as self._watcher:
                yield
        finally:
            self._watcher = None
            if measured:
                with suppress(EngineError):  # the connection is closed: what went before says more
                    set_(self.connection, enable_progress_bar_print=shown, enable_progress_bar=enabled)

    @contextmanager
    def part(self, number: int, count: int) -> Iterator[None]:
        """Inside the block, statements are part ``number`` (from 0) of ``count``, for the progress of observers."""
        self._part = (number, count)
        try:
            yield
        finally:
            self._part = (0, 1)

    def share(self) -> float | None:
        """How much is done of the present statement, or of those that it is a part of."""
        percentage = self.connection.query_progress()
        number, count = self._part
        if percentage < 0:
            return number / count if count > 1 else None
        return (number + min(percentage / 100, 1.0)) / count

    def in_order(self) -> AbstractContextManager[None]:
        """Keep rows of queries without ORDER BY in the order of their table, whatever the user has set."""
        return self.with_settings(preserve_insertion_order=True)

    @contextmanager
    def with_settings(self, **wanted: int | bool) -> Iterator[None]:
        """Other settings of the database unless they are locked, beside the transaction, which takes none back."""
        ((threads, in_order, locked),) = self.rows(query_text("engines", "sequence_settings"), purpose="the settings")
        before = {"threads": threads, "preserve_insertion_order": in_order}
        # What is so already may be by another connection to the database, which takes it back itself.
        changed = {name: value for name, value in wanted.items() if before[name] != value}
        if locked or not changed:
            yield
            return
        with closing(self.connection.cursor()) as beside:
            set_(beside, **changed)
            try:
                yield
            finally:
                with suppress(EngineError):  # the connection is closed: what went before says more
                    set_(beside, **{name: before[name] for name in changed})

    @contextmanager
    def _using(self, database: str) -> Iterator[None]:
        """A database is the default for a while."""
        current = self.rows(query_text("engines", "current_place"))[0][0]
        self._send(use(database), "use")
        try:
            yield
        finally:
            self._send(use(current), "use")

    def _send(self, sql: str, purpose: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement; its result, if it has one, is to be described or fetched next."""
        with refusals(purpose, sql), self._log.sending(sql, purpose):
            call = partial(self.connection.execute, sql, list(parameters) or None)
            call() if self._watcher is None else self._watcher.run(call, purpose)

    def _fetched(self, purpose: str) -> list[Row]:
        """The rows of the statement before."""
        with refusals(purpose), self._log.reading():
            # fetchall, not fetchone: DuckDB 2.0 refuses the next statement while a result is open.
            return self.connection.fetchall()


def _refuse_open_transaction(one_number: int, next_number: int) -> None:
    """Refuse a second BEGIN here: the database would refuse it, too, but then roll back what was begun."""
    if one_number == next_number:
        reason = "the connection is in the middle of a transaction; commit or roll it back first"
        raise EngineError(reason, step="begin")


def _refuse_collation(collation: str) -> None:
    if collation:
        reason = f"the connection has default_collation {collation}; reset it, as labels are compared exactly"
        raise EngineError(reason, step="begin")


def use(database: str) -> str:
    """The statement that makes a database the default."""
    return exp.Use(this=exp.Table(this=identifier(database))).sql(DIALECT)


def set_(connection: duckdb.DuckDBPyConnection, **settings: int | bool | str) -> None:
    """Change settings, one after the other.

    Raises:
        EngineError: the database refuses one.
    """
    for name, value in settings.items():
        setting = exp.SetItem(this=exp.EQ(this=exp.var(name), expression=exp.convert(value)))
        with refusals(f"the setting {name}"):
            connection.execute(exp.Set(expressions=[setting]).sql(DIALECT))
