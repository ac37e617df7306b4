"""Frames of Python → relations: DuckDB scans them where they are, and Python sees no row of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb.refusals import why_in_use
from sqlanon.engines.frames import DATASET, POLARS, RELATION, STREAM, described
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import DIALECT, identifier, select

NUMBERS = itertools.count()


class Frames:
    """The frames that a connection scans during one call, under names of their own."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._scanned: list[str] = []
        self._copied: list[str] = []

    @contextmanager
    def during(self) -> Iterator[None]:
        """Forget, when the block ends, the frames that were resolved in it."""
        scanned, copied = len(self._scanned), len(self._copied)
        try:
            yield
        finally:
            while len(self._scanned) > scanned:
                self._forget(self._scanned.pop())
            while len(self._copied) > copied:
                drop = exp.Drop(tables=[_temporary(self._copied.pop())], kind="TABLE", exists=True)
                with suppress(Exception):  # the connection is closed, and with it the table is gone
                    self._connection.execute(drop.sql(DIALECT))

    def resolve(self, frame: object) -> ResolvedSource:
        """A frame as a source, for the block of :meth:`during`.

        Raises:
            PolicyError: it is nothing that can be read.
            EngineError: it cannot be read, or not by this connection.
        """
        description = described(frame)
        if description == POLARS:
            _refuse_objects(frame)
        name = f"anon_frame_{next(NUMBERS)}"
        try:
            if description == STREAM:
                self._copy(name, frame)
            else:
                self._connection.register(name, frame)
                self._scanned.append(name)
        except Exception as error:
            reason = f"the {description} cannot be read ({why_in_use(error) or type(error).__name__})"
            if description == RELATION:
                reason += "; it has to be one of the session's own connection"
            raise EngineError(reason, step="source", original=error) from None
        query = getattr(frame, "sql_query")() if description == RELATION else ""  # noqa: B009
        files = _files_of(frame) if description == DATASET else ()
        follows_rows = description != RELATION
        return ResolvedSource(_temporary(name), description, read=files, defined_by=query, follows_rows=follows_rows)

    def _copy(self, name: str, frame: object) -> None:
        """Keep the rows of a stream: a run reads its source more than once."""
        import pyarrow as pa

        reader = frame if isinstance(frame, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(frame)
        stream = f"{name}_stream"
        self._connection.register(stream, reader)
        try:
            rows = select([exp.Star()], _temporary(stream))
            temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
            create = exp.Create(this=_temporary(name), kind="TABLE", expression=rows, properties=temporary)
            self._connection.execute(create.sql(DIALECT)).fetchall()
        finally:
            self._forget(stream)
        self._copied.append(name)

    def _forget(self, name: str) -> None:
        with suppress(Exception):  # the connection is closed
            self._connection.unregister(name)


def _files_of(dataset: Any) -> tuple[str, ...]:
    """The files of an Arrow dataset, and of those that it is made of, as far as it has files."""
    parts = (file for part in getattr(dataset, "children", ()) for file in _files_of(part))
    return (*getattr(dataset, "files", ()), *parts)


def _refuse_objects(frame: Any) -> None:
    """Refuse columns of Python objects, which DuckDB 1.5 takes for the addresses that polars hands out.

    Raises:
        EngineError: there are some; names them.
    """
    objects = ", ".join(f'"{name}"' for name, kind in frame.schema.items() if str(kind) == "Object")
    if objects:
        raise EngineError(f"the {POLARS} has Python objects in {objects}: cast them", step="source")


def _temporary(name: str) -> exp.Table:
    return exp.Table(this=identifier(name), db=identifier("main"), catalog=identifier("temp"))


def rows_of(connection: Any, relation: exp.Expr, form: str) -> Any:
    """All rows of a relation, as the method of a DuckDB relation that is called ``form`` hands them out.

    Raises:
        EngineError: they cannot be read, or the package of that form is not installed.
    """
    query = select([exp.Star()], relation.copy()).sql(DIALECT)
    try:
        return getattr(connection.sql(query), form)()
    except ModuleNotFoundError as error:
        raise EngineError(f"{error.name} is not installed", step="rows", original=error) from None
    except Exception as error:
        reason = f"what was published cannot be read ({why_in_use(error) or type(error).__name__})"
        raise EngineError(reason, step="rows", original=error) from None
