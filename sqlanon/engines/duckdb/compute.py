"""Temporary tables and their counts; rows that are elsewhere are counted there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlanon.engines.cutting import Cut, Rows, Sent, cut
from sqlanon.engines.duckdb.file_readers import has_given_columns
from sqlanon.engines.duckdb.refusals import refusals
from sqlanon.engines.duckdb.source_pieces import has_dictionaries, pieces
from sqlanon.engines.duckdb.statements import Statements
from sqlanon.engines.relations import column_of
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import (
    DIALECT,
    Grain,
    PreparedQuery,
    Relation,
    Step,
    create_table,
    drop_table,
    identifier,
    number,
    select,
    string,
    temporary_table,
)
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

TOO_MANY = (
    "the method needs the cells of the source in this database, but there are more than max_cells: set coarser "
    "minimum_levels, raise max_cells, or use full-domain generalization, whose cells can stay where the rows are"
)


class Compute(Statements):
    """Runs steps, counts and other statements over sqlglot trees, which it does not change.

    Rows never come to Python. Errors of the database become a :class:`sqlanon.EngineError`, which quotes no value.
    """

    shows_values = False  # whether errors may show source values without a label

    def __init__(self, connection: duckdb.DuckDBPyConnection, far: Rows | None = None) -> None:
        super().__init__(connection)
        self.far = far  # the home of rows outside the database
        self._described: dict[str, list[SourceColumn]] = {}
        self._scopes: list[dict[str, exp.Drop]] = []
        self._outer_scopes = 0  # those that the transaction began in

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction; refuse a nested one, and a default collation."""
        with super().transaction():
            self._outer_scopes = len(self._scopes)
            try:
                yield
            finally:
                self._outer_scopes = 0

    def is_far(self, relation: exp.Expr) -> bool:
        """Return whether a relation or query reads rows outside the database (:class:`Rows`)."""
        return self.far is not None and any(map(self.far.owns, relation.find_all(exp.Table)))

    def most_rows_from_far(self) -> int:
        assert self.far is not None
        return self.far.max_cells

    def spelled(self, query: exp.Query) -> str:
        """Spell a query for users, in the dialect of its rows' home."""
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
        """Make the temporary table of a step; ``parameters`` are the values of ``$1``, ``$2``, ... in its query."""
        with self._counted(step.query, step.purpose) as query:
            if isinstance(query, Sent):
                assert self.far is not None
                assert not parameters, "pseudonyms of rows that are far have been refused"
                if step.is_near:
                    raise EngineError(TOO_MANY, step=step.purpose)
                self.far.make(step.makes, query.query, self._small(query, step.purpose), step.purpose)
            else:
                create = create_table(step.makes.table, query, replace=step.is_again)
                self.execute(create, step.purpose, parameters)
        self._keep_in_mind(drop_table(step.makes.table))

    def has_dictionaries(self, relation: exp.Expr) -> bool:
        """Return whether a large relation's texts are dictionary-encoded, so that a cast takes each text once."""
        return not self.is_far(relation) and has_dictionaries(relation, self.rows)

    def pieces(self, relation: exp.Expr, columns: int) -> list[exp.Expr]:
        """Split a relation into parts that each fit in memory when grouped by ``columns`` columns."""
        return [relation] if self.is_far(relation) else pieces(relation, columns, self.rows, self.describe)

    def put(self, relation: Relation, table: pa.Table | pa.RecordBatchReader) -> None:
        view = f"{relation.name}_values"
        self.connection.register(view, table)
        try:
            self.run(Step(relation, select([exp.Star()], exp.Table(this=identifier(view))), relation.name))
        finally:
            self.connection.unregister(view)

    def drop(self, relation: Relation) -> None:
        for scope in self._scopes[self._outer_scopes :]:  # a failed transaction restores what was made before it
            scope.pop(relation.name, None)
        self._undo(relation.name, drop_table(relation.table))

    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        """Return the result of a query that counts; refuses grain ``row``."""
        if grain == "row":
            raise AssertionError("rows are never fetched")
        if isinstance(query, PreparedQuery):
            # Lists are passed as texts, which the query casts: spelling each number takes ten times as long.
            given = [number(value) if isinstance(value, int) else string(str(value)) for value in query.values]
            spelled = [printed(identifier(query.name)), *([printed(exp.Tuple(expressions=given))] if given else [])]
            return self._fetch(exp.Command(this="EXECUTE", expression=" ".join(spelled)), purpose)
        with self._counted(query, purpose) as near:
            if isinstance(near, Sent):
                raise _rows_stay(purpose)
            return self._fetch(near, purpose)

    def arrays(self, query: exp.Query, purpose: str) -> dict[str, NDArray[Any]]:
        """Return the result of a query of cells or nodes as one array per column."""
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
        """Yield the query over results counted at the rows' home, or a query to be sent there whole."""
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
        """Register counted results until ``results`` closes; return the first query whose result is too large."""
        for name, sent in found.counted.items():
            result = far.count(sent.query, self._small(sent, purpose), purpose)
            if result is None:
                return sent
            self.connection.register(name, result)
            results.callback(self.connection.unregister, name)
        return None

    def _small(self, sent: Sent, purpose: str) -> dict[str, pa.Table]:
        found = {}
        for name, query in sent.small.items():
            with refusals(purpose):
                found[name] = self.connection.sql(printed(query)).to_arrow_table()
        return found

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        if self.is_far(statement):
            # Only inserting counts of remote rows is possible, such as a column's values.
            query = statement.expression
            if not isinstance(statement, exp.Insert) or not isinstance(query, exp.Query):
                raise _rows_stay(purpose)
            with self._counted(query, purpose) as near:
                if isinstance(near, Sent):
                    raise _rows_stay(purpose)
                self.execute(exp.insert(near, statement.this.copy()), purpose, parameters)
            return
        self._send(printed(statement), purpose, parameters)
        if isinstance(statement, exp.Create) and statement.kind == "TYPE":
            # A bare type name is in the temporary schema.
            place = temporary_table(statement.this.name)
            self._keep_in_mind(exp.Drop(tables=[place], kind="TYPE", exists=True))

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Drop the temporary tables and types of the block at its end; on failure the transaction drops them."""
        scope: dict[str, exp.Drop] = {}
        self._scopes.append(scope)
        try:
            yield
        except BaseException:
            self._scopes.pop()
            with suppress(EngineError):  # the first error says more
                self._remove(scope, only_far=self._is_in_transaction)
            raise
        self._scopes.pop()
        self._remove(scope)

    def _keep_in_mind(self, removal: exp.Drop) -> None:
        if self._scopes:
            name = removal.args["tables"][0].name
            # Move it to the end: a new version may use types made in between.
            self._scopes[-1].pop(name, None)
            self._scopes[-1][name] = removal

    def _remove(self, scope: dict[str, exp.Drop], *, only_far: bool = False) -> None:
        """Drop in reverse order: tables before the types of their columns."""
        for name, removal in reversed(scope.items()):
            if not only_far or self.is_far(removal):
                self._undo(name, removal)

    def _undo(self, name: str, removal: exp.Drop) -> None:
        if self.far is not None and self.is_far(removal):
            self.far.drop(removal.args["tables"][0])
        else:
            self.execute(removal, name)


def _rows_stay(purpose: str) -> EngineError:
    reason = "the rows are outside this database, and only their counts can be fetched: name a target where they are"
    return EngineError(reason, step=purpose)


def float_texts(numbers: Sequence[float | None], *, is_single: bool) -> pa.Array:
    """Return the texts of fractions in order.

    DuckDB's FLOAT texts are not always the shortest ones: 48349352 is 48349352.0, although 48349350.0 reads as the same
    number.
    """
    import pyarrow as pa

    given = pa.table({"number": pa.array(numbers, pa.float64())})
    number = duckdb.ColumnExpression("number")
    with duckdb.connect() as connection:
        single = number.cast("FLOAT") if is_single else number
        found = connection.from_arrow(given).project(single.cast("VARCHAR").alias("text")).to_arrow_table()
    return found["text"].combine_chunks()
