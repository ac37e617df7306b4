"""Send statements over a connection one at a time: watched, logged, and with errors that quote no data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.engines.duckdb.refusals import refusals
from sqlanon.errors import EngineError, PolicyError
from sqlanon.queries.kit.nodes import DIALECT, identifier, string
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.kit.steps import printed

Row = tuple[Any, ...]

NAMES_OF_UTC = frozenset(("UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"))

PERIOD = 0.2  # seconds between progress reports
PATIENCE = 0.05  # seconds between attempts to interrupt a statement

StatementObserver = Callable[[str, float | None], None]
"""Called with the purpose of a statement and its progress in [0, 1]; None if unknown."""


class StatementLog:
    """A log of the sent statements; this one discards them."""

    def sending(self, sql: str, purpose: str) -> AbstractContextManager[None]:
        return nullcontext()

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()


class Statements:
    """A connection that runs statements; ``connection`` is the driver's, for users who go on in SQL."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._watcher: Watcher | None = None
        self._log = StatementLog()
        self._prepared: dict[str, None] = {}
        self._is_in_transaction = False
        self._part = (0, 1)
        self._zone = ""

    def rows(self, sql: str, parameters: Sequence[object] = (), purpose: str = "the catalog") -> list[Row]:
        self._send(sql, purpose, parameters)
        return self._fetched(purpose)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction; refuse a nested one, and a default collation."""
        before, state = (self.rows(query_text("engines", "connection_state"))[0] for _ in range(2))
        if before[0] == state[0]:  # the database would also refuse a second BEGIN, but then roll back what was begun
            reason = "the connection is in the middle of a transaction; commit or roll it back first"
            raise EngineError(reason, step="begin")
        self.refuse_collation(state[1])
        with refusals("begin"):
            self.connection.begin()
        self._is_in_transaction = True
        try:
            yield
            with refusals("commit"):
                self.connection.commit()
        except BaseException:
            # The database may have rolled back by itself, such as on a full disk.
            with suppress(duckdb.Error):
                self.connection.rollback()
            raise
        finally:
            self._is_in_transaction = False
            # Prepared statements outlive transactions, and a failed transaction accepts no statement.
            with suppress(EngineError):  # the connection is closed
                while self._prepared:
                    name = printed(identifier(self._prepared.popitem()[0]))
                    self._send(printed(exp.Command(this="DEALLOCATE", expression=name)), "prepared queries")

    def refuse_collation(self, known: str | None = None) -> None:
        """Refuse a lent connection whose default collation affects comparisons of texts."""
        collation = self.rows(query_text("engines", "connection_state"))[0][1] if known is None else known
        if collation:
            reason = f"the connection has default_collation {collation}; reset it, as labels are compared exactly"
            raise EngineError(reason, step="begin")

    def prepare(self, name: str, statement: exp.Query | exp.Insert, purpose: str) -> None:
        """Plan a statement with parameters ``$1``, ``$2``, ... under a name until the transaction ends."""
        planned = " AS ".join([printed(identifier(name)), printed(statement)])
        self._send(printed(exp.Command(this="PREPARE", expression=planned)), purpose)
        self._prepared[name] = None

    @contextmanager
    def logged(self, log: StatementLog) -> Iterator[None]:
        self._log, before = log, self._log
        try:
            yield
        finally:
            self._log = before

    @contextmanager
    def watched(self, observer: StatementObserver | None) -> Iterator[None]:
        """Report the progress of statements a few times a second; Ctrl-C or an error of the observer ends them."""
        # Outside of transactions only: a failed one cannot restore settings.
        enabled, shown, locked, looks_for_variables = self.rows(query_text("engines", "progress_settings"))[0]
        if looks_for_variables:  # only true in the main thread
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
                with suppress(EngineError):  # the connection is closed: the first error says more
                    set_(self.connection, enable_progress_bar_print=shown, enable_progress_bar=enabled)

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Send the block's statements apart from a watched run of another thread, which waits for them."""
        watcher, self._watcher = self._watcher, None
        try:
            yield
        finally:
            self._watcher = watcher

    @contextmanager
    def part(self, number: int, count: int) -> Iterator[None]:
        """Count the block's statements as part ``number`` (from 0) of ``count`` in progress reports."""
        self._part = (number, count)
        try:
            yield
        finally:
            self._part = (0, 1)

    def share(self) -> float | None:
        """Return the progress of the current statement, or of the statements that it is part of."""
        percentage = self.connection.query_progress()
        number, count = self._part
        if percentage < 0:
            return number / count if count > 1 else None
        return (number + min(percentage / 100, 1.0)) / count

    def in_order(self) -> AbstractContextManager[None]:
        """Keep the table order of rows in queries without ORDER BY, whatever the user's settings."""
        return self.with_settings(preserve_insertion_order=True)

    @contextmanager
    def with_settings(self, **wanted: int | bool) -> Iterator[None]:
        """Change settings of the database within the block, unless locked, over a cursor outside the transaction."""
        ((threads, in_order, locked),) = self.rows(query_text("engines", "sequence_settings"), purpose="the settings")
        before = {"threads": threads, "preserve_insertion_order": in_order}
        # A setting with the wanted value may be a change by another connection, which restores it itself.
        changed = {name: value for name, value in wanted.items() if before[name] != value}
        if locked or not changed:
            yield
            return
        with closing(self.connection.cursor()) as beside:
            set_(beside, **changed)
            try:
                yield
            finally:
                with suppress(EngineError):  # the connection is closed: the first error says more
                    set_(beside, **{name: before[name] for name in changed})

    @contextmanager
    def keeping_zone(self) -> Iterator[None]:
        with refusals("the time zone"):
            before = str(self.connection.execute(query_text("engines", "time_zone")).fetchall()[0][0])
        self._zone = before
        try:
            yield
        finally:
            with suppress(EngineError):  # the connection is closed, or its settings are locked
                self._change_zone(before)

    def enter_zone(self, zone: str) -> None:
        """Set the time zone for texts and days of times with a zone, wherever the run is."""
        try:
            self._change_zone(zone)
        except EngineError as error:
            if "Unknown TimeZone" in str(error.original):
                raise PolicyError(f'timezone: "{zone}" is not the name of a zone, such as Europe/Berlin') from None
            reason = f"the settings of the connection are locked: SET TimeZone = '{zone}' before that"
            raise EngineError(reason, step="session", original=error.original) from None

    def _change_zone(self, zone: str) -> None:
        if zone != self._zone and not {zone, self._zone} <= NAMES_OF_UTC:
            set_(self.connection, TimeZone=zone)
            self._zone = zone

    @contextmanager
    def _using(self, database: str) -> Iterator[None]:
        current = self.rows(query_text("engines", "current_place"))[0][0]
        self._send(use(database), "use")
        try:
            yield
        finally:
            self._send(use(current), "use")

    def _send(self, sql: str, purpose: str, parameters: Sequence[object] = ()) -> None:
        with refusals(purpose, sql), self._log.sending(sql, purpose):
            call = partial(self.connection.execute, sql, list(parameters) or None)
            call() if self._watcher is None else self._watcher.run(call, purpose)

    def _fetched(self, purpose: str) -> list[Row]:
        with refusals(purpose), self._log.reading():
            # fetchall, not fetchone: DuckDB 2.0 refuses the next statement while a result is open.
            return self.connection.fetchall()


def use(database: str) -> str:
    return exp.Use(this=exp.Table(this=identifier(database))).sql(DIALECT)


def attaching(database: str, name: str, **options: exp.Expr | None) -> exp.Attach:
    given = [exp.AttachOption(this=exp.var(option), expression=value) for option, value in options.items()]
    return exp.Attach(this=exp.alias_(string(database), identifier(name)), expressions=given)


def set_(connection: duckdb.DuckDBPyConnection, **settings: int | bool | str) -> None:
    for name, value in settings.items():
        setting = exp.SetItem(this=exp.EQ(this=exp.var(name), expression=exp.convert(value)))
        with refusals(f"the setting {name}"):
            connection.execute(exp.Set(expressions=[setting]).sql(DIALECT))


class Watcher:
    """Runs statements in a worker thread while the waiting thread reports their progress.

    So reports come in order, in the caller's thread, and never after the end. An observer that raises ends the
    statement. So does Ctrl-C, which Python notices at once because it does the waiting.
    """

    def __init__(
        self, observer: StatementObserver, share: Callable[[], float | None], interrupt: Callable[[], None]
    ) -> None:
        """``share`` returns the progress of the current statement, ``interrupt`` ends it."""
        self._observer = observer
        self._share = share
        self._interrupt = interrupt
        self._statements: SimpleQueue[_Statement | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Watcher:
        self._worker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._statements.put(None)
        self._worker.join()

    def run(self, call: Callable[[], object], purpose: str) -> None:
        statement = _Statement(call)
        try:
            self._statements.put(statement)
            while not statement.wait(PERIOD):
                self._observer(purpose, self._share())
        except BaseException:
            self._end(statement)
            raise
        if statement.error is not None:
            raise statement.error

    def _end(self, statement: _Statement) -> None:
        """Interrupt a statement until it ends: interrupting before it starts has no effect."""
        while not statement.finished:
            with suppress(Exception):  # the connection is already closed
                self._interrupt()
            statement.wait(PATIENCE)

    def _work(self) -> None:
        while (statement := self._statements.get()) is not None:
            statement.run()


def ignore(_purpose: str, _share: float | None) -> None:
    """Observe nothing; the statement stays interruptible."""


class _Statement:
    """A statement handed from one thread to the other, and its outcome.

    Ctrl-C can hit the waiting thread anywhere, even right after it was woken, so the flag decides. It may also leave
    behind a lock that Python code holds, as in ``threading.Event``, so there is only a bare one.
    """

    def __init__(self, call: Callable[[], object]) -> None:
        self.finished = False
        self.error: BaseException | None = None
        self._call = call
        self._running = threading.Lock()
        self._running.acquire()

    def run(self) -> None:
        try:
            self._call()
        except BaseException as error:
            self.error = error
        finally:
            self.finished = True
            self._running.release()

    def wait(self, seconds: float) -> bool:
        if not self.finished:
            self._running.acquire(timeout=seconds)
        return self.finished
