"""Frames of Python, which hold rows: which objects are some, and of what kind."""

from __future__ import annotations

from pathlib import Path

from sqlanon.errors import PolicyError

PANDAS = "pandas DataFrame"
POLARS = "polars DataFrame"
DATASET = "Arrow dataset"
RELATION = "DuckDB relation"  # a query of the session's own connection

SCANNED = {
    ("pandas", "DataFrame"): PANDAS,
    ("polars", "DataFrame"): POLARS,
    ("pyarrow", "Table"): "Arrow table",
    ("pyarrow", "RecordBatch"): "Arrow record batch",
    ("pyarrow", "Dataset"): DATASET,
    ("duckdb", "DuckDBPyRelation"): RELATION,
    ("_duckdb", "DuckDBPyRelation"): RELATION,
}
"""What can be scanned again and again, by package and class."""

STREAM = "Arrow stream"  # anything else that hands out its rows as Arrow does; it may do so once

REFUSED = {
    ("polars", "LazyFrame"): "a polars LazyFrame is a query that would be computed at every scan: give its collect()",
    ("polars", "Series"): "a polars Series is one column of a table: give its to_frame()",
    ("pandas", "Series"): "a pandas Series is one column of a table: give its to_frame()",
    ("pyarrow", "ChunkedArray"): "an Arrow array is one column of a table: give a table, pyarrow.table({name: array})",
}
"""Objects with values that cannot be a source, by package and class, and what helps."""

ACCEPTED = (
    "a source is a name, path or query as text, a pandas or polars DataFrame, an Arrow table, record batch, reader or "
    "dataset, or a relation of the session's own DuckDB connection"
)


def is_frame(source: object) -> bool:
    """Whether a source is neither a text nor a path."""
    return not isinstance(source, str | Path)


def is_stream(source: object) -> bool:
    """Whether a source may be read once only."""
    return is_frame(source) and described(source) == STREAM


def described(frame: object) -> str:
    """Describe a frame in words; raise a PolicyError if it is none."""
    kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(frame).__mro__]
    refused = next((REFUSED[kind] for kind in kinds if kind in REFUSED), None)
    if refused is not None:
        raise PolicyError(refused)
    known = next((SCANNED[kind] for kind in kinds if kind in SCANNED), None)
    if known is not None:
        return known
    if hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, type):
        return STREAM
    raise PolicyError(f"{ACCEPTED}; not a {type(frame).__name__}")
