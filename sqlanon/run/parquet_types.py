"""What becomes of values in Parquet: what it has no type for is refused, and what it may alter is read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp

from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.nodes import aliased, column, count_rows, exact_text, select, subquery
from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError

ALTERED = frozenset(
    ("HUGEINT", "UHUGEINT", "BIGNUM", "VARINT", "BIT", "UNION", "TUPLE", "TIME WITH TIME ZONE"),
)
"""Types that DuckDB writes to Parquet as others: wide integers as floats of 53 bits, the time of a zone as that of UTC,
bits and big numbers as texts, unions and tuples as structs with a field for each alternative or place."""

KEPT = frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        *("FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BLOB", "UUID", "JSON", "ENUM", "STRUCT", "MAP"),
        *("DATE", "TIME", "TIME_NS", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
        "TIMESTAMP WITH TIME ZONE",
    )
)
"""Types whose values all come back with the texts that they had."""

QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
WORD = re.compile(r"[^\W\d]\w*(?: WITH TIME ZONE)?(?=\s*(?:[][(),]|$))")
"""A word of a type that names a type: after the name of a field there is a space and a type."""

NEGATIVE = "negative intervals"
"""What DuckDB says that it does not write."""

INSTEAD = "cast them to VARCHAR in a view, or write to a table"


def written_columns(engine: Engine, query: exp.Query) -> list[SourceColumn]:
    """The columns of a query as they are in Parquet.

    Raises:
        EngineError: some are of types that Parquet does not have, nor any for the same values.
    """
    columns = as_written(engine, query)
    altered = {found.name: sorted(types_in(found.type) & ALTERED) for found in columns}
    lines = [f'"{name}" ({", ".join(types)})' for name, types in altered.items() if types]
    if lines:
        raise EngineError(
            f"Parquet has no types for the values of the columns {', '.join(lines)}; cast them in a view (HUGEINT to "
            "BIGINT or DECIMAL(38, 0), others to VARCHAR), or write to a table",
            step="target",
        )
    return columns


def as_written(engine: Engine, query: exp.Query) -> list[SourceColumn]:
    """The columns of a query as files have them, which have texts for the values of an ENUM."""
    return [
        SourceColumn(found.name, "VARCHAR") if found.type.startswith("ENUM(") else found
        for found in engine.describe(subquery(query.copy(), "anon_written"))
    ]


def types_in(kind: str) -> set[str]:
    """The names of the types that a type consists of, such as STRUCT and BIGINT."""
    bare = QUOTED.sub(lambda quoted: "quoted" if quoted[0].startswith('"') else "", kind)
    return {word.upper() for word in WORD.findall(bare)}


@contextmanager
def telling_of_intervals(columns: Sequence[SourceColumn]) -> Iterator[None]:
    """Name the columns whose values the database refuses to write inside the block."""
    try:
        yield
    except EngineError as error:
        if NEGATIVE not in str(error.original):
            raise
        names = ", ".join(f'"{found.name}"' for found in columns if "INTERVAL" in types_in(found.type))
        reason = f"Parquet has no negative intervals, which are in one of the columns {names}; {INSTEAD}"
        raise EngineError(reason, step="target", original=error.original) from None


def refuse_altered(engine: Engine, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
    """Read back what was written of a query, where types do not tell that nothing has changed.

    Raises:
        EngineError: values have another text now, such as intervals of microseconds, of which Parquet has none.
    """
    doubtful = [found for found in columns if not types_in(found.type) <= KEPT]
    problems = rows_altered(engine, query, written, doubtful)
    if problems:
        raise EngineError(
            f"Parquet alters values of the columns {', '.join(problems)}: of intervals it keeps months, days, and "
            f"whole milliseconds of up to a day; {INSTEAD}",
            step="target",
        )


def rows_altered(engine: Engine, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> list[str]:
    """The columns of a query whose values have other texts in what was written of it, each with how many rows."""
    problems = []
    for found in columns:
        before, after = (
            # With the value itself: DuckDB reads what is a text in the end from CSV as it is there.
            select([column(found.name), exact_text(column(found.name))], relation)
            for relation in (subquery(query.copy(), "anon_query"), written.copy())
        )
        lost = subquery(exp.Except(this=before, expression=after, distinct=False), "anon_lost")
        rows = engine.fetch(select([aliased(count_rows(), "rows")], lost), "what the file keeps")[0]["rows"]
        if rows:
            problems.append(f'"{found.name}" ({rows:,} rows)')
    return problems
