"""Split sources that are larger than memory into pieces of rows that can be read separately.

DuckDB spills a GROUP BY into a limited number of partitions, and each has to fit in memory. So grouping many rows at
once may fail where a few at a time would succeed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.engines.duckdb import catalog
from sqlanon.engines.duckdb.catalog import Describe, Rows
from sqlanon.engines.duckdb.file_readers import PARQUET, PARQUET_READER
from sqlanon.engines.relations import Stored, place_of
from sqlanon.queries.kit.nodes import DIALECT, all_of, column, select, string
from sqlanon.queries.kit.sql_files import query_text

FILE, ROW_OF_FILE, ROW_OF_TABLE = "filename", "file_row_number", "rowid"
"""Pseudo-columns of files and tables, unless hidden by real ones; conditions on them skip rows without reading."""

NUMBERS = frozenset({FILE, ROW_OF_FILE, ROW_OF_TABLE})

ROW_BYTES, COLUMN_BYTES = 32, 24  # memory per group, and per column of it, which is mostly a short text

SHARE = 0.5
"""The share of memory for the groups of a piece, if all rows differ; twice as much takes as long.

Measured by tests.benchmarks.lakes.
"""

CERTAIN = (
    exp.Where,
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Cast, exp.DataType),
    *(exp.Paren, exp.Not, exp.Neg, exp.And, exp.Or, exp.In, exp.Between, exp.Is, exp.EQ, exp.NEQ),
    *(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
    *(exp.Lower, exp.Upper, exp.Trim, exp.Length, exp.Coalesce, exp.Abs, exp.Year, exp.Month, exp.Day),
)
"""The node types of deterministic conditions: few functions, no other tables."""

MIN_TYPED_ROWS = 100_000
"""Casting texts to types takes as long as grouping this many rows by texts (tests.benchmarks.runs)."""

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")  # DuckDB's size units, each 1024 times the previous


def pieces(relation: exp.Expr, columns: int, rows: Rows, describe: Describe) -> list[exp.Expr]:
    """Split a relation into parts that can each be grouped in memory by ``columns`` columns.

    Returns the relation itself if it fits, or cannot be split: views, CSV files, frames, and queries that are more than
    columns of a table under conditions.
    """
    table = _table_of(relation)
    if table is None:
        return [relation]
    size, unit = rows(query_text("engines", "memory_limit"), ())[0][0].split()
    most = rows_at_once(float(size) * 1024.0 ** UNITS.index(unit), columns)
    conditions = list(_of_files(table, most, rows) if _is_parquet(table, rows) else _of_table(table, most, rows))
    if len(conditions) <= 1 or not NUMBERS.isdisjoint(each.name.lower() for each in describe(table)):
        return [relation]  # the pseudo-column is missing or hidden
    return [_where(relation, condition) for condition in conditions]


def has_dictionaries(relation: exp.Expr, rows: Rows) -> bool:
    """Return whether texts of a relation are dictionary-encoded, as in Parquet files and tables stored in a file.

    Tables in memory, CSV files, frames and views, which may be any of these, count as not encoded, and so do small
    sources.
    """
    table = _table_of(relation)
    if table is None:
        return False
    if _is_parquet(table, rows):
        paths = _paths(table.this)
        count = rows(query_text("engines", "rows_of_first_files"), (paths,))[0][0] if paths else 0
        return bool(count >= MIN_TYPED_ROWS)
    files = {database.name for database in catalog.databases(rows) if database.file is not None}
    found = _stored(table, rows) if files else None
    return (
        found is not None
        and not found.is_view
        and found.table.catalog in files
        and any(count >= MIN_TYPED_ROWS for count in _counts(found.table, rows))
    )


def rows_at_once(memory: float, columns: int) -> int:
    return max(1, int(SHARE * memory / (ROW_BYTES + COLUMN_BYTES * columns)))


def _table_of(relation: exp.Expr) -> exp.Table | None:
    """Return the table whose rows and columns a relation selects."""
    if isinstance(relation, exp.Table):
        return relation if relation.args.keys() <= {"this", "db", "catalog", "alias"} else None
    if isinstance(relation, exp.Subquery) and isinstance(relation.this, exp.Select) and _is_plain(relation.this):
        return _table_of(relation.this.args["from_"].this)
    return None


def _is_plain(query: exp.Select) -> bool:
    """Return whether a query selects deterministic expressions of one relation's rows."""
    clauses = {name for name, clause in query.args.items() if clause}
    columns = [each.this if isinstance(each, exp.Alias) else each for each in query.expressions]
    conditions = query.args.get("where") or exp.Where()
    return (
        {"from_"} <= clauses <= {"expressions", "from_", "where"}
        and all(isinstance(node, (*CERTAIN, exp.Star)) for each in columns for node in each.walk())
        and NUMBERS.isdisjoint(each.alias.lower() for each in query.expressions)
        and all(isinstance(node, CERTAIN) for node in conditions.walk())
    )


def _where(relation: exp.Expr, condition: exp.Expr) -> exp.Expr:
    if isinstance(relation, exp.Table):
        bare = relation.copy()
        alias = bare.args.pop("alias", None)
        return exp.Subquery(this=select([exp.Star()], bare).where(condition, copy=False), alias=alias)
    found = relation.copy()
    table = _table_of(found)
    query = None if table is None else table.parent_select
    assert query is not None, "pieces are of queries that a table is below"
    query.where(condition, copy=False)
    return found


def _is_parquet(table: exp.Table, rows: Rows) -> bool:
    """Return whether a table is Parquet files, by a reader call or a path as its name."""
    call = table.this
    if isinstance(call, exp.Identifier):
        return not table.db and PARQUET.has(call.name) and _stored(table, rows) is None
    return isinstance(call, exp.ReadParquet) or (isinstance(call, exp.Anonymous) and call.name == PARQUET_READER)


def _of_files(table: exp.Table, most: int, rows: Rows) -> Iterator[exp.Expr]:
    """Yield conditions that group small files together, and split larger ones.

    A file that is listed twice has its rows twice under a condition.
    """
    paths = _paths(table.this)
    together: list[str] = []
    taken = 0
    listed = Counter(rows(query_text("engines", "rows_of_files"), (paths,)) if paths else ())
    for (file, rows_once), times in listed.items():
        count = rows_once * times
        if together and taken + count > most:
            yield _any_of(together)
            together, taken = [], 0
        if count > most:
            ranges = _ranges(ROW_OF_FILE, rows_once, max(1, most // times))
            yield from (all_of([_any_of([file]), within]) for within in ranges)
        else:
            together.append(file)
            taken += count
    if together:
        yield _any_of(together)


def _paths(call: exp.Expr) -> list[str]:
    if isinstance(call, exp.Identifier):
        return [call.name]
    given = call.expressions[0]
    paths = given.expressions if isinstance(given, exp.Array) else [given]
    return [path.name for path in paths] if all(path.is_string for path in paths) else []


def _any_of(files: Sequence[str]) -> exp.Expr:
    return column(FILE).isin(*map(string, files))


def _of_table(table: exp.Table, most: int, rows: Rows) -> Iterator[exp.Expr]:
    found = _stored(table, rows)
    if found is not None and not found.is_view:
        for count in _counts(found.table, rows):
            yield from _ranges(ROW_OF_TABLE, count, most)


def _stored(table: exp.Table, rows: Rows) -> Stored | None:
    """Look up a named table in the catalog; a reader call, with maybe thousands of columns, is not one."""
    return catalog.of_reference(rows, table.sql(DIALECT)) if isinstance(table.this, exp.Identifier) else None


def _counts(table: exp.Table, rows: Rows) -> list[int]:
    """Estimate the rows of a fully qualified table; empty for other systems' tables."""
    return [count for (count,) in rows(query_text("engines", "rows_of_table"), place_of(table))]


def _ranges(name: str, count: int, most: int) -> Iterator[exp.Expr]:
    """Yield ranges of row numbers of similar length; the last has no end, as the count may be an underestimate."""
    parts = -(-count // most)
    for part in range(parts):
        begin = column(name) >= part * count // parts
        end = column(name) < (part + 1) * count // parts
        yield begin if part == parts - 1 else all_of([begin, end])
