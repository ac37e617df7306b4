"""What a data set is called in a ledger: one name, however it is spelled, so that its budget is not spent twice."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sqlanon.errors import PolicyError

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
GLOB_CHARACTERS = frozenset("*?[")
MAIN = "main"
PLAIN = re.compile(r"[^\W\d]\w*")
"""A name that needs no quotes."""
PATH = re.compile(rf"\.{{0,2}}/.*|.*(/|{'|'.join(map(re.escape, PARQUET_SUFFIXES))})", re.IGNORECASE | re.DOTALL)
"""A name that is a path for sure: it begins or ends in a slash, or ends like a Parquet file."""


def dataset_named(given: str) -> str:
    """The name under which the ledger knows a data set.

    Names are compared as DuckDB compares them, without regard to case; those of tables in schema ``main`` go without
    it; paths are absolute and follow links.

    Raises:
        PolicyError: it is empty, or no text that can be stored.
    """
    name = given.strip()
    try:
        name.encode()
        absolute = _absolute(name) if PATH.fullmatch(name) and "://" not in name else name
    except ValueError:
        raise PolicyError("the name of the data set has characters that no name can have") from None
    if not name:
        raise PolicyError("the name of the data set is empty")
    folded = absolute.lower()
    schema, _, table = folded.partition(".")
    return table if schema == MAIN and PLAIN.fullmatch(table) else folded


def dataset_of_table(schema: str, table: str) -> str:
    """The name of a table of the warehouse, schema-qualified."""
    return dataset_named(f"{_quoted(schema)}.{_quoted(table)}")


def dataset_of_files(path: str) -> str:
    """The name of the Parquet files of a path, a glob or a folder."""
    return dataset_named(path if "://" in path else _absolute(path))


def _absolute(path: str) -> str:
    """The path with links followed up to the first part that stands for others."""
    parts = Path(path).parts
    fixed = next((place for place, part in enumerate(parts) if GLOB_CHARACTERS.intersection(part)), len(parts))
    return str(Path(os.path.realpath(Path(*parts[:fixed])), *parts[fixed:]))


def _quoted(name: str) -> str:
    return name if PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'
