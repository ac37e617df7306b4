"""What a connection computes: statements are sent, watched, and refused in words of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlanon.engines.base import Rows, StatementLog, StatementObserver
from sqlanon.engines.cutting import Cut, Sent, cut
from sqlanon.engines.duckdb.reading.lake import has_given_columns
from sqlanon.engines.duckdb.reading.pieces import has_dictionaries, pieces
from sqlanon.engines.duckdb.refusals import refusals
from sqlanon.engines.duckdb.watching import Watcher, ignore
from sqlanon.engines.types import column_of
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import DIALECT, Grain, PreparedQuery, Relation, Step, identifier, number, select, string
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.kit.texts import query_text
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Row = tuple[Any, ...]

TOO_MANY = (
    "the method needs the cells of the source here, and they are more than max_cells: give coarser minimum_levels, "
    "raise max_cells, or take full-domain generalization, whose cells can stay where the rows are"
)


class DuckDBCompute:
    """Sends statements over a connection, one at a time."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, far: Rows | None = None) -> None:
        self.connection = connection
        self.far = far
        self._watcher: Watcher | None = None
        self._log: StatementLog | None = None
        self._prepared: dict[str, None] = {}
        self._described: dict[str, list[SourceColumn]] = {}
        self._scopes: list[dict[str, exp.Drop]] = []
        self._is_in_transaction = False
        self.shows_values = False
        self._part = (0, 1)

    def is_far(self, relation: exp.Expr) -> bool:
        return self.far is not None and any(map(self.far.owns, relation.find_all(exp.Table)))

    def most_rows_from_far(self) -> int:
        assert self.far is not None
        return self.far.max_cells

    def spelled(self, query: exp.Query) -> str:
        return self.far.spelled(query) if self.far is not None and self.is_far(query) else query.sql(DIALECT)

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        if self.far is not None and self.is_far(relation):
            return self.far.describe(relation)
        sql = select([exp.Star()], relation.copy()).limit(0).sql(DIALECT)
        if sql not in self._described:
            self._send(sql, "the columns of the source")
            found = [column_of(name, str(kind)) for name, kind, *_ in self.connection.description]
            if not has_given_columns(relation):
                return found
            self._described[sql] = found
        return [*self._described[sql]]

    def run(self, step: Step, parameters: Sequence[object] = ()) -> None:
        with self._counted(step.query, step.purpose) as query:
            if isinstance(query, Sent):
                self._make_far(step, query, parameters)
            else:
                temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
                made, again = step.makes.table, step.is_again
                create = exp.Create(this=made, kind="TABLE", replace=again, expression=query, properties=temporary)
                self.execute(create, step.purpose, parameters)
        self._keep_in_mind(_without(step.makes))

    def has_dictionaries(self, relation: exp.Expr) -> bool:
        return not self.is_far(relation) and has_dictionaries(relation, self.rows)

    def pieces(self, relation: exp.Expr, columns: int) -> list[exp.Expr]:
        return [relation] if self.is_far(relation) else pieces(relation, columns, self.rows, self.describe)

    @contextmanager
    def part(self, number: int, count: int) -> Iterator[None]:
        self._part = (number, count)
        try:
            yield
        finally:
            self._part = (0, 1)

    def put(self, relation: Relation, table: pa.Table) -> None:
        view = f"{relation.name}_values"
        self.connection.register(view, table)
        try:
            self.run(Step(relation, select([exp.Star()], exp.Table(this=identifier(view))), relation.name))
        finally:
            self.connection.unregister(view)

    def drop(self, relation: Relation) -> None:
        for scope in self._scopes:
            scope.pop(relation.name, None)
        self._undo(relation.name, _without(relation))

    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        if grain == "row":
            raise AssertionError("rows are never fetched")
        if isinstance(query, PreparedQuery):
            return self._fetch(_executing(query), purpose)
        with self._counted(query, purpose) as near:
            if isinstance(near, Sent):
                raise _rows_stay(purpose)
            return self._fetch(near, purpose)

    def arrays(self, query: exp.Query, purpose: str) -> dict[str, NDArray[Any]]:
        if self.is_far(query):
            raise _rows_stay(purpose)
        self._send(printed(query), purpose)
        with refusals(purpose):
            return self.connection.fetchnumpy()

    def _fetch(self, asked: exp.Expr, purpose: str) -> list[dict[str, Any]]:
        self._send(printed(asked), purpose)
        names = [description[0] for description in self.connection.description]
        return [dict(zip(names, row, strict=True)) for row in self._fetched(purpose)]

    @contextmanager
    def _counted(self, query: exp.Query, purpose: str) -> Iterator[exp.Query | Sent]:
        """A query over the results of what is counted where the rows are, or one of rows that is to be sent there."""
        if self.far is None or not self.is_far(query):
            yield query
            return
        large: list[Sent] = []
        while True:
            found = cut(query, self.far.owns, large)
            with ExitStack() as results:
                too_large = self._count(self.far, found, purpose, results)
                if too_large is None:
                    yield found.rest
                    return
            if too_large in large:
                raise _rows_stay(purpose)
            large.append(too_large)

    def _count(self, far: Rows, found: Cut, purpose: str, results: ExitStack) -> Sent | None:
        """Keep what is counted until ``results`` are closed, or return the first that is too large to come near."""
        for name, sent in found.counted.items():
            result = far.count(sent.query, self._small(sent, purpose), purpose)
            if result is None:
                return sent
            self.connection.register(name, result)
            results.callback(self.connection.unregister, name)
        return None

    def _small(self, sent: Sent, purpose: str) -> dict[str, pa.Table]:
        """The relations of this database that a query reads where the rows are."""
        found = {}
        for name, query in sent.small.items():
            with refusals(purpose):
                found[name] = self.connection.sql(printed(query)).to_arrow_table()
        return found

    def _make_far(self, step: Step, sent: Sent, parameters: Sequence[object]) -> None:
        assert self.far is not None
        assert not parameters, "pseudonyms of rows that are far have been refused"
        if step.is_near:
            raise EngineError(TOO_MANY, step=step.purpose)
        self.far.make(step.makes, sent.query, self._small(sent, step.purpose), step.purpose)

    def prepare(self, name: str, statement: exp.Query | exp.Insert, purpose: str) -> None:
        planned = " AS ".join([printed(identifier(name)), printed(statement)])
        self.execute(exp.Command(this="PREPARE", expression=planned), purpose)
        self._prepared[name] = None

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        if self.is_far(statement):
            self._execute_counted(statement, purpose, parameters)
            return
        self._send(printed(statement), purpose, parameters)
        if isinstance(statement, exp.Create) and statement.kind == "TYPE":
            # Types are made under a bare name, which is one of the temporary schema.
            place = exp.Table(this=statement.this.this.copy(), db=identifier("main"), catalog=identifier("temp"))
            self._keep_in_mind(exp.Drop(tables=[place], kind="TYPE", exists=True))

    def _execute_counted(self, statement: exp.Expr, purpose: str, parameters: Sequence[object]) -> None:
        """Insert counts of rows that are far, such as the values of a column."""
        query = statement.expression
        if not isinstance(statement, exp.Insert) or not isinstance(query, exp.Query):
            raise _rows_stay(purpose)
        with self._counted(query, purpose) as near:
            if isinstance(near, Sent):
                raise _rows_stay(purpose)
            self.execute(exp.insert(near, statement.this.copy()), purpose, parameters)

    @contextmanager
    def scratch(self) -> Iterator[None]:
        scope: dict[str, exp.Drop] = {}
        self._scopes.append(scope)
        try:
            yield
        except BaseException:
            self._scopes.pop()
            with suppress(EngineError):  # what went before says more
                self._remove(scope, only_far=self._is_in_transaction)
            raise
        self._scopes.pop()
        self._remove(scope)

    def _keep_in_mind(self, removal: exp.Drop) -> None:
        """Remove what was made at the end of the present scope."""
        if self._scopes:
            name = removal.args["tables"][0].name
            # At the end again: what was made anew may be of types that were made since.
            self._scopes[-1].pop(name, None)
            self._scopes[-1][name] = removal

    def _remove(self, scope: dict[str, exp.Drop], *, only_far: bool = False) -> None:
        """The latest first: tables before the types of their columns."""
        for name, removal in reversed(scope.items()):
            if not only_far or self.is_far(removal):
                self._undo(name, removal)

    def _undo(self, name: str, removal: exp.Drop) -> None:
        if self.far is not None and self.is_far(removal):
            self.far.drop(removal.args["tables"][0])
        else:
            self.execute(removal, name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
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

    def rows(self, sql: str, parameters: Sequence[object] = (), purpose: str = "the catalog") -> list[Row]:
        """The rows of a query, which are about the catalog."""
        self._send(sql, purpose, parameters)
        return self._fetched(purpose)

    def _fetched(self, purpose: str) -> list[Row]:
        """The rows of the statement before."""
        with refusals(purpose), nullcontext() if self._log is None else self._log.reading():
            # fetchall, not fetchone: DuckDB 2.0 refuses the next statement while a result is open.
            return self.connection.fetchall()

    @contextmanager
    def watched(self, observer: StatementObserver | None) -> Iterator[None]:
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
    def logged(self, log: StatementLog) -> Iterator[None]:
        self._log = log
        try:
            yield
        finally:
            self._log = None

    def in_order(self) -> AbstractContextManager[None]:
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
        with refusals(purpose, sql), nullcontext() if self._log is None else self._log.sending(sql, purpose):
            call = partial(self.connection.execute, sql, list(parameters) or None)
            call() if self._watcher is None else self._watcher.run(call, purpose)

    def _forget_prepared(self) -> None:
        """After the transaction: they are of none, and one that failed takes no statement."""
        with suppress(EngineError):  # the connection is closed
            while self._prepared:
                name = printed(identifier(self._prepared.popitem()[0]))
                self.execute(exp.Command(this="DEALLOCATE", expression=name), "prepared queries")

    def share(self) -> float | None:
        """How much is done of the present statement, or of those that it is a part of."""
        percentage = self.connection.query_progress()
        number, count = self._part
        if percentage < 0:
            return number / count if count > 1 else None
        return (number + min(percentage / 100, 1.0)) / count

    def refuse_collation(self) -> None:
        _refuse_collation(self.rows(query_text("engines", "connection_state"))[0][1])


def _refuse_open_transaction(one_number: int, next_number: int) -> None:
    """Refuse a second BEGIN here: the database would refuse it, too, but then roll back what was begun."""
    if one_number == next_number:
        reason = "the connection is in the middle of a transaction; commit or roll it back first"
        raise EngineError(reason, step="begin")


def _refuse_collation(collation: str) -> None:
    if collation:
        reason = f"the connection has default_collation {collation}; reset it, as labels are compared exactly"
        raise EngineError(reason, step="begin")


def _rows_stay(purpose: str) -> EngineError:
    """The error of a statement that would have rows come here."""
    reason = "the rows are not in this database, and only counts of them come here: name a target where they are"
    return EngineError(reason, step=purpose)


def _without(relation: Relation) -> exp.Drop:
    """The statement that removes a temporary table."""
    return exp.Drop(tables=[relation.table], kind="TABLE", exists=True)


def use(database: str) -> str:
    """The statement that makes a database the default."""
    return exp.Use(this=exp.Table(this=identifier(database))).sql(DIALECT)


def _executing(query: PreparedQuery) -> exp.Command:
    """The statement that asks a prepared query, with a value for each parameter.

    A list is one text, which the query casts: to spell its numbers one by one takes a tenth of what it asks.
    """
    given = [number(value) if isinstance(value, int) else string(str(value)) for value in query.values]
    spelled = [printed(identifier(query.name)), *([printed(exp.Tuple(expressions=given))] if given else [])]
    return exp.Command(this="EXECUTE", expression=" ".join(spelled))


def set_(connection: duckdb.DuckDBPyConnection, **settings: int | bool | str) -> None:
    """Change settings, one after the other.

    Raises:
        EngineError: the database refuses one.
    """
    for name, value in settings.items():
        setting = exp.SetItem(this=exp.EQ(this=exp.var(name), expression=exp.convert(value)))
        with refusals(f"the setting {name}"):
            connection.execute(exp.Set(expressions=[setting]).sql(DIALECT))
