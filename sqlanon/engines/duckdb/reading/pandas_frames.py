"""Exact copies of columns of pandas that DuckDB cannot read, or whose type it guesses from a sample."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sqlanon.errors import EngineError

TEXT = "string"
"""The type of texts in pandas that keeps missing values."""


def readable(frame: Any) -> Any:
    """Return a frame with a copy of each column that DuckDB would refuse or change; all other columns are shared.

    Intervals and periods become texts, sparse columns dense ones. A column of Python objects becomes a column of one
    Arrow type if that keeps every value, else of the text of each value. DuckDB takes the type of such a column from
    1,000 values and would cast the others: 1.5 among whole numbers to 2.

    Raises:
        EngineError: the names of columns have several levels, or there are objects without a text.
    """
    if frame.columns.nlevels > 1:
        help_ = 'join them, such as with frame.columns = frame.columns.map("_".join)'
        raise EngineError(f"the names of columns of the pandas DataFrame have several levels: {help_}", step="source")
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
    """Return a readable frame with the text of each Python object, whatever other values its column has."""
    found = readable(frame)
    for name, column in frame.items():
        if column.dtype == object:
            found[name] = column.map(_text, na_action="ignore").astype(TEXT)
    return found


def _text(value: Any) -> str:
    """The text of a value; that of a truth value is as DuckDB writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _readable(column: Any) -> Any:
    """Raises: TypeError: the texts of its objects would be their addresses."""
    if hasattr(column, "sparse"):
        column = column.sparse.to_dense()
    typed = _of_one_type(column) if column.dtype == object else column
    if typed is None:
        return column.map(str, na_action="ignore")
    kind = getattr(typed.dtype, "categories", typed).dtype
    return typed.astype(TEXT) if str(kind).startswith(("period", "interval")) else typed


def _of_one_type(column: Any) -> Any:
    """A column of Python objects in a type that keeps every value; None if there is none.

    Raises:
        TypeError: the texts of its objects would be their addresses.
    """
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    import pyarrow as pa

    if pd.api.types.infer_dtype(column) == "string":
        return column
    # A class and whether its values lack a time zone: Arrow would take a local time for one in UTC.
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
