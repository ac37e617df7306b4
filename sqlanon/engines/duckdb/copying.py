"""COPY statements: how rows become files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import NOTE_KEY
from sqlanon.queries.kit.nodes import identifier, string

PARQUET: dict[str, exp.Expr] = {"FORMAT": exp.var("parquet"), "COMPRESSION": exp.var("zstd")}


def parquet(path: Path, query: exp.Query, metadata: str | None) -> exp.Copy:
    """One Parquet file, with ``metadata``, if any, under our key."""
    if metadata is None:
        return _copy(path, query, **PARQUET)
    noted = exp.PropertyEQ(this=exp.to_identifier(NOTE_KEY), expression=string(metadata))
    return _copy(path, query, **PARQUET, KV_METADATA=exp.Struct(expressions=[noted]))


def partitions(folder: Path, query: exp.Query, columns: Sequence[str], suffix: str) -> exp.Copy:
    """Parquet files in folders by the values of columns; ``folder`` is there, and empty."""
    by = exp.Tuple(expressions=[exp.column(identifier(name)) for name in columns])
    extension = string(suffix.removeprefix("."))
    return _copy(folder, query, **PARQUET, PARTITION_BY=by, FILE_EXTENSION=extension, OVERWRITE_OR_IGNORE=exp.true())


def csv(path: Path, query: exp.Query, quoted: Sequence[str], *, header: bool, delimiter: str) -> exp.Copy:
    """One CSV file, with every value of some columns in quotes; what is missing is empty, and in none.

    See :func:`sqlanon.engines.duckdb.reading.lake.csv_reader`, which reads it.
    """
    options: dict[str, exp.Expr] = {
        "HEADER": exp.true() if header else exp.false(),
        "DELIMITER": string(delimiter),
        "QUOTE": string('"'),
        "ESCAPE": string('"'),
        "NULLSTR": string(""),
        "COMPRESSION": exp.var("none"),
    }
    if quoted:
        options["FORCE_QUOTE"] = exp.Tuple(expressions=[exp.column(identifier(name)) for name in quoted])
    return _copy(path, query, FORMAT=exp.var("csv"), **options)


def _copy(path: Path, query: exp.Query, **parameters: exp.Expr) -> exp.Copy:
    options = [exp.CopyParameter(this=exp.var(name), expression=value.copy()) for name, value in parameters.items()]
    return exp.Copy(this=exp.Subquery(this=query), kind=False, files=[string(str(path))], params=options)
