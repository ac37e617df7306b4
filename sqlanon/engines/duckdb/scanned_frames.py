"""Register frames of Python as relations; DuckDB scans them in place, and Python sees no row of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.duckdb.refusals import why_in_use
from sqlanon.engines.frames import DATASET, PANDAS, POLARS, RELATION, STREAM, described
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import DIALECT, create_table, drop_table, select, temporary_table

if TYPE_CHECKING:
    import pyarrow as pa

NUMBERS = itertools.count()


class Frames:
    """The frames registered on a connection during a call, under unique names."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._scanned: list[str] = []
        self._copied: list[str] = []
        self._pandas: dict[str, Any] = {}
        self.files: dict[object, Any] = {}  # what labelled files were read as, by their state

    @contextmanager
    def during(self) -> Iterator[None]:
        scanned, copied = len(self._scanned), len(self._copied)
        try:
            yield
        finally:
            while len(self._scanned) > scanned:
                self._forget(self._scanned.pop())
            self.files.clear()
            while len(self._copied) > copied:
                drop = drop_table(temporary_table(self._copied.pop()))
                with suppress(Exception):  # the connection is closed, so the table is gone
                    self._connection.execute(drop.sql(DIALECT))

    def resolve(self, frame: Any) -> ResolvedSource:
        description = described(frame)
        has_columns = description in {PANDAS, POLARS}
        names: Any = frame.columns if has_columns else getattr(getattr(frame, "schema", None), "names", ())
        refuse_equal_names(names, description)
        if description == POLARS:
            _refuse_objects(frame)
        name = f"anon_frame_{next(NUMBERS)}"
        scanned = frame
        if description == PANDAS:
            scanned, self._pandas[name] = readable(frame), frame
        try:
            if description == STREAM:
                import pyarrow as pa

                is_reader = isinstance(frame, pa.RecordBatchReader)
                scanned = frame if is_reader else pa.RecordBatchReader.from_stream(frame)
                self._copy(name, scanned)
            else:
                self._connection.register(name, scanned)
                self._scanned.append(name)
        except Exception as error:
            reason = f"the {description} cannot be read ({why_in_use(error) or type(error).__name__})"
            if description == RELATION:
                reason += "; it has to be one of the session's own connection"
            elif columns := self._unreadable(scanned):
                reason = f"the {description} has columns of types that DuckDB cannot read: {', '.join(columns)}"
                reason += "; cast them, to text if need be, or drop them"
            raise EngineError(reason, step="source", original=error) from None
        query = getattr(frame, "sql_query")() if description == RELATION else ""  # noqa: B009
        files = _files_of(frame) if description == DATASET else ()
        table, follows_rows = temporary_table(name), description != RELATION
        return ResolvedSource(table, description, read=files, defined_by=query, follows_rows=follows_rows)

    def as_texts(self, source: ResolvedSource) -> ResolvedSource:
        """Spell a frame's Python objects as texts, so that no value affects how others of its column are read."""
        given = self._pandas.get(source.relation.name)
        if given is None:
            return source
        name = f"anon_frame_{next(NUMBERS)}"
        self._connection.register(name, as_texts(given))
        self._scanned.append(name)
        return replace(source, relation=temporary_table(name))

    def _unreadable(self, frame: Any) -> list[str]:
        """List the columns that DuckDB refuses even without rows, with their types."""
        found = []
        for column, type_name, alone in _columns(frame):
            name = f"anon_frame_{next(NUMBERS)}"
            try:
                self._connection.register(name, alone)
                self._forget(name)
            except Exception:
                found.append(f'"{column}" ({type_name})')
        return found

    def stored(self, reader: pa.RecordBatchReader) -> exp.Table:
        """Keep a stream's rows in a temporary table until the call ends."""
        name = f"anon_frame_{next(NUMBERS)}"
        self._copy(name, reader)
        return temporary_table(name)

    def _copy(self, name: str, reader: pa.RecordBatchReader) -> None:
        """Copy a stream's rows, since a run reads its source more than once."""
        stream = f"{name}_stream"
        self._connection.register(stream, reader)
        try:
            create = create_table(temporary_table(name), select([exp.Star()], temporary_table(stream)))
            self._connection.execute(create.sql(DIALECT)).fetchall()
        finally:
            self._forget(stream)
        self._copied.append(name)

    def _forget(self, name: str) -> None:
        self._pandas.pop(name, None)
        with suppress(Exception):  # the connection is closed
            self._connection.unregister(name)


def _files_of(dataset: Any) -> tuple[str, ...]:
    parts = (file for part in getattr(dataset, "children", ()) for file in _files_of(part))
    return (*getattr(dataset, "files", ()), *parts)


def _columns(frame: Any) -> Iterator[tuple[str, Any, Any]]:
    import pyarrow as pa

    if isinstance(getattr(frame, "schema", None), pa.Schema):
        for field in frame.schema:
            yield field.name, field.type, pa.schema([field]).empty_table()
    else:
        empty = frame.head(0)
        for name in frame.columns:
            yield name, frame[name].dtype, empty[[name]]


def refuse_equal_names(names: Iterable[object], description: str) -> None:
    groups: dict[str, list[str]] = {}
    for name in map(str, names):
        groups.setdefault(name.lower(), []).append(f'"{name}"')
    equal = [" and ".join(group) for group in groups.values() if len(group) > 1]
    if equal:
        reason = f"columns of the {description} have equal names: {', '.join(equal)}; rename them"
        raise EngineError(f"{reason} (upper and lower case count as equal)", step="source")


def _refuse_objects(frame: Any) -> None:
    """Refuse columns of Python objects, which DuckDB 1.5 would read as addresses from polars."""
    objects = ", ".join(f'"{name}"' for name, kind in frame.schema.items() if str(kind) == "Object")
    if objects:
        raise EngineError(f"the {POLARS} has Python objects in {objects}: cast them", step="source")


def rows_of(connection: Any, relation: exp.Expr, form: str) -> Any:
    """Return all rows of a relation by a method of DuckDB relations (``form``)."""
    query = select([exp.Star()], relation.copy()).sql(DIALECT)
    try:
        return getattr(connection.sql(query), form)()
    except ModuleNotFoundError as error:
        raise EngineError(f"{error.name} is not installed", step="rows", original=error) from None
    except Exception as error:
        reason = f"what was published cannot be read ({why_in_use(error) or type(error).__name__})"
        raise EngineError(reason, step="rows", original=error) from None


TEXT = "string"  # the pandas text type that keeps missing values


def readable(frame: Any) -> Any:
    """Return a frame that DuckDB reads without refusing or changing a column; other columns are shared.

    Intervals and periods become texts, sparse columns dense. Python objects become one Arrow type if it keeps every
    value, else texts. DuckDB would infer a type from 1,000 values and cast the others: 1.5 among integers to 2.
    """
    if frame.columns.nlevels > 1:
        help_ = 'join them, such as with frame.columns = frame.columns.map("_".join)'
        raise EngineError(f"the pandas DataFrame has column names of several levels: {help_}", step="source")
    found, nameless = frame.copy(deep=False), []
    for name, column in frame.items():
        try:
            copy = _readable(column)
        except TypeError:
            nameless.append(f'"{name}"')
            continue
        if copy is not column:
            found[name] = copy
    if nameless:
        reason = (
            f"the pandas DataFrame has Python objects without a text in {', '.join(nameless)}: convert or drop them"
        )
        raise EngineError(reason, step="source")
    return found


def as_texts(frame: Any) -> Any:
    found = readable(frame)
    for name, column in frame.items():
        if column.dtype == object:
            found[name] = column.map(_text, na_action="ignore").astype(TEXT)
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _readable(column: Any) -> Any:
    """Raises TypeError if the texts of objects would be their addresses."""
    if hasattr(column, "sparse"):
        column = column.sparse.to_dense()
    typed = _of_one_type(column) if column.dtype == object else column
    if typed is None:
        return column.map(str, na_action="ignore")
    kind = getattr(typed.dtype, "categories", typed).dtype
    return typed.astype(TEXT) if str(kind).startswith(("period", "interval")) else typed


def _of_one_type(column: Any) -> Any:
    """Convert Python objects to a type that keeps every value; None if there is none."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    import pyarrow as pa

    if pd.api.types.infer_dtype(column) == "string":
        return column
    # Include whether values lack a time zone: Arrow would read a local time as UTC.
    kinds = {(type(value), getattr(value, "tzinfo", None) is None) for value in column.dropna()}
    classes: set[Any] = {kind for kind, _ in kinds}
    if any((kind.__str__, kind.__repr__) == (object.__str__, object.__repr__) for kind in classes):
        raise TypeError
    if len(kinds) == 1 and classes <= {pd.Timestamp, pd.Timedelta, pd.Period, pd.Interval}:
        inferred = column.infer_objects()
        return None if inferred.dtype == object else inferred
    if len(kinds) <= 1 or all(issubclass(kind, Real) and kind is not bool for kind in classes):
        try:
            values = pa.array(column, from_pandas=True)
            return pd.Series(pd.arrays.ArrowExtensionArray(values), index=column.index)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return None
    return None
