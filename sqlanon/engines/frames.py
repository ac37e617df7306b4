"""The kinds of Python frames that can be sources."""

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
"""Kinds that can be scanned repeatedly, by package and class."""

STREAM = "Arrow stream"  # any other object with Arrow's stream protocol, which may be readable once only

REFUSED = {
    ("polars", "LazyFrame"): "a polars LazyFrame is a query that would be computed at every scan: give its collect()",
    ("polars", "Series"): "a polars Series is one column of a table: give its to_frame()",
    ("pandas", "Series"): "a pandas Series is one column of a table: give its to_frame()",
    ("pyarrow", "ChunkedArray"): "an Arrow array is one column of a table: give a table, pyarrow.table({name: array})",
}
"""Unsupported kinds, by package and class, with a remedy."""

ACCEPTED = (
    "a source is a name, path or query as text, a pandas or polars DataFrame, an Arrow table, record batch, reader or "
    "dataset, or a relation of the session's own DuckDB connection"
)


def is_frame(source: object) -> bool:
    """Return whether a source is neither text nor a path."""
    return not isinstance(source, str | Path)


def is_stream(source: object) -> bool:
    return is_frame(source) and described(source) == STREAM


def described(frame: object) -> str:
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
