"""Rows become files: types that a format lacks are refused, values that it may alter are read back, and COPY writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.engines.relations import FileFormat
from sqlanon.engines.types import column_of, types_in
from sqlanon.errors import EngineError
from sqlanon.model.destination import NOTE_KEY
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import column, counted_rows, identifier, select, string, subquery
from sqlanon.queries.source import SourceColumn

NOT_IN_PARQUET = frozenset(
    ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT", "BIT", "UNION", "TUPLE", "TIME WITH TIME ZONE"),
)
"""Types that DuckDB writes to Parquet as others: wide integers as floats of 53 bits, the time of a zone as that of UTC,
bits and big numbers as texts, unions and tuples as structs with a field for each alternative or place."""

KEPT_BY_BOTH = frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "UUID", "JSON"),
        *("DATE", "TIME", "TIME_NS", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    )
)
KEPT_BY_PARQUET = KEPT_BY_BOTH | {"BLOB", "ENUM", "STRUCT", "MAP", "TIMESTAMP WITH TIME ZONE"}
KEPT_BY_CSV = KEPT_BY_BOTH | {"HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"}
"""Types whose values all come back with the texts that they had."""

READ_BACK_FROM_CSV = frozenset(("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE", "INTERVAL"))
"""Types with values that may not, such as a time zone that was seconds off that of today."""

NEGATIVE = "negative intervals"
"""What DuckDB says that it does not write to Parquet."""

TOO_LONG = "line size"
"""In the error of DuckDB about a row of a CSV that is longer than it reads."""

INSTEAD_OF_PARQUET = "cast them to VARCHAR in a view, or write to a table"
INSTEAD_OF_CSV = "cast them to VARCHAR in a view, or write to a .parquet file or a table"


def file_columns(compute: Compute, query: exp.Query, file_format: FileFormat) -> list[SourceColumn]:
    """The columns of a query as files have them: texts for the values of an ENUM, and where all values are missing.

    Raises:
        EngineError: Parquet has no type for some, nor any for the same values; or CSV no form, as for lists and bytes.
    """
    columns = [
        column_of(found.name, found.traits.released_as) if found.traits.is_enum or found.traits.is_missing else found
        for found in compute.describe(subquery(query.copy(), "anon_written"))
    ]
    if file_format == "CSV":
        _refuse_nested(columns)
    else:
        _refuse_types_that_parquet_lacks(columns)
    return columns


def _refuse_nested(columns: Sequence[SourceColumn]) -> None:
    plain = KEPT_BY_CSV | READ_BACK_FROM_CSV
    lines = [
        f'"{found.name}" ({found.type})'
        for found in columns
        if found.type.endswith("]") or not types_in(found.type) <= plain
    ]
    if lines:
        raise EngineError(
            f"CSV has no form for the values of the columns {', '.join(lines)}; {INSTEAD_OF_CSV}", step="target"
        )


def _refuse_types_that_parquet_lacks(columns: Sequence[SourceColumn]) -> None:
    altered = {found.name: sorted(types_in(found.type) & NOT_IN_PARQUET) for found in columns}
    lines = [f'"{name}" ({", ".join(types)})' for name, types in altered.items() if types]
    if lines:
        raise EngineError(
            f"Parquet has no types for the values of the columns {', '.join(lines)}; cast them in a view (HUGEINT to "
            "BIGINT or DECIMAL(38, 0), others to VARCHAR), or write to a table",
            step="target",
        )


def quoted(columns: Sequence[SourceColumn]) -> list[str]:
    """The columns whose values a CSV has in quotes, so that an empty text is none that is missing."""
    return [found.name for found in columns if found.traits.is_text or found.traits.is_json]


@contextmanager
def telling_of_intervals(columns: Sequence[SourceColumn]) -> Iterator[None]:
    """Name the columns whose values DuckDB refuses to write to Parquet inside the block."""
    try:
        yield
    except EngineError as error:
        if NEGATIVE not in str(error.original):
            raise
        names = ", ".join(f'"{found.name}"' for found in columns if "INTERVAL" in types_in(found.type))
        reason = f"Parquet has no negative intervals, which are in one of the columns {names}; {INSTEAD_OF_PARQUET}"
        raise error.reworded(reason, "target") from None


def refuse_altered(
    compute: Compute, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn], file_format: FileFormat
) -> None:
    """Read back what was written of a query, where types do not prove that nothing has changed.

    Raises:
        EngineError: values have another text now, such as intervals of microseconds, which Parquet lacks; or a
            CSV cannot be read.
    """
    if file_format == "CSV":
        _refuse_altered_csv(compute, query, written, columns)
        return
    doubtful = [found for found in columns if not types_in(found.type) <= KEPT_BY_PARQUET]
    problems = _rows_altered(compute, query, written, doubtful)
    if problems:
        raise EngineError(
            f"Parquet alters values of the columns {', '.join(problems)}: of intervals it keeps months, days, and "
            f"whole milliseconds of up to a day; {INSTEAD_OF_PARQUET}",
            step="target",
        )


def _refuse_altered_csv(compute: Compute, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
    _refuse_long_rows(compute, written)
    doubtful = [found for found in columns if not types_in(found.type) <= KEPT_BY_CSV]
    try:
        problems, original = _rows_altered(compute, query, written, doubtful), None
    except EngineError as error:
        problems, original = [f'"{found.name}" ({found.type})' for found in doubtful], error.original
    if problems:
        reason = f"CSV alters values of the columns {', '.join(problems)}; {INSTEAD_OF_CSV}"
        raise EngineError(reason, step="target", original=original)


def _refuse_long_rows(compute: Compute, written: exp.Expr) -> None:
    """Refuse rows that are longer than readers of CSV take."""
    counted = subquery(select([exp.Star()], written.copy()), "anon_written")
    try:
        compute.fetch(counted_rows(counted), "read the CSV")
    except EngineError as error:
        if TOO_LONG not in str(error.original):
            raise
        reason = "a row has more than 2,000,000 bytes, which is too long for CSV; write to a .parquet file or a table"
        raise error.reworded(reason, "target") from None


def _rows_altered(compute: Compute, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> list[str]:
    """The columns of a query whose values have other texts in what was written of it, each with how many rows."""
    problems = []
    for found in columns:
        before, after = (
            select([exact_text(column(found.name))], relation)
            for relation in (subquery(query.copy(), "anon_query"), written.copy())
        )
        lost = subquery(exp.Except(this=before, expression=after, distinct=False), "anon_lost")
        rows = compute.fetch(counted_rows(lost), "what the file keeps")[0]["rows"]
        if rows:
            problems.append(f'"{found.name}" ({rows:,} rows)')
    return problems


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
