"""Numbers with a decimal comma, which DuckDB reads as texts: how a query makes them numbers."""

from __future__ import annotations

from pathlib import Path

from sqlglot import exp

from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.datasets import CSV_SUFFIXES
from sqlanon.model.taxonomy.arguments import listed
from sqlanon.queries.kit.nodes import DIALECT, column, f, string

SHAPE = "decimal_comma"


def note_on(names: list[str], source: ResolvedSource) -> str:
    """What some columns of a source have, and the query that reads them, which names no folder.

    Args:
        names: the columns, one at least.
        source: what has them.
    """
    have = "has" if len(names) == 1 else "have"
    are_texts = f"{listed(names)} {have} numbers with a decimal comma, read as texts"
    files = source.files
    if len(files) == 1 and files[0].lower().endswith(CSV_SUFFIXES):
        return f'{are_texts}; give init and run this query in place of the file: "FROM {_reading(files[0])}"'
    number = exp.TryCast(this=f.replace(column(names[0]), string(","), string(".")), to=exp.DataType.build("DOUBLE"))
    return (
        f"{are_texts}; give init and run a query in place of the source, with {number.sql(DIALECT)}, which is NULL for "
        "texts that are not numbers"
    )


def _reading(file: str) -> str:
    comma = exp.PropertyEQ(this=exp.to_identifier("decimal_separator"), expression=string(","))
    call = exp.Anonymous(this="read_csv", expressions=[string(Path(file).name), comma])
    return call.sql(DIALECT, normalize_functions=False)
