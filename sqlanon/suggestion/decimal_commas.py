"""Numbers with a decimal comma, which DuckDB reads as texts: how a query makes them numbers."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.datasets import CSV_SUFFIXES
from sqlanon.model.taxonomy.arguments import listed
from sqlanon.queries.kit.nodes import DIALECT, string

SHAPE = "decimal_comma"


def is_one_file(source: ResolvedSource) -> bool:
    """Whether a source is a CSV file, which DuckDB can read with a decimal comma."""
    return len(source.files) == 1 and source.files[0].lower().endswith(CSV_SUFFIXES)


def note_on(names: list[str], source: ResolvedSource) -> str:
    """What some columns of a CSV file have, and the query that reads them, which names no folder.

    Args:
        names: the columns, one at least.
        source: the file.
    """
    have = "has" if len(names) == 1 else "have"
    return (
        f"{listed(names)} {have} numbers with a decimal comma, read as texts; give init and run this query in place of "
        f'the file: "FROM {_reading(source.files[0])}"'
    )


def _reading(file: str) -> str:
    comma = exp.PropertyEQ(this=exp.to_identifier("decimal_separator"), expression=string(","))
    call = exp.Anonymous(this="read_csv", expressions=[string(Path(file).name), comma])
    return call.sql(DIALECT, normalize_functions=False)
