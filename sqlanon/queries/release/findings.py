"""What a policy leaves open: queries over the source, and over the published rows in groups of equal ones."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    cast,
    column,
    copies,
    count_distinct,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.release.rare_values import comparable
from sqlanon.queries.release.rows import EQUAL_ROWS

SOME_VALUES = Relation("anon_some_values", "count")
"""Hashes of some values of columns."""

CLASS_ROWS = "anon_class_rows"


def rows_per_value(source: exp.Expr, names: Sequence[str], *, counts_values: bool) -> exp.Query:
    """One row: ``source_rows``, and for each column by its place its ``rows`` with a value, and their ``values``."""
    columns: list[exp.Expr] = [aliased(count_rows(), "source_rows")]
    for place, name in enumerate(names):
        columns.append(aliased(exp.Count(this=column(name), big_int=True), f"rows_{place}"))
        if counts_values:
            columns.append(aliased(count_distinct(column(name)), f"values_{place}"))
    return select(columns, source.copy())


def some_values(source: exp.Expr, names: Sequence[str], one_in: int) -> Step:
    """The step that makes :data:`SOME_VALUES`: hashes of all columns where any is among one value in ``one_in``."""
    raw = (exp.Anonymous(this="hash", expressions=[column(name)]) for name in names)
    hashes = [
        aliased(exp.case().when(column(name).is_(exp.null()).not_(), hashed), _hash(place))
        for place, (name, hashed) in enumerate(zip(names, raw, strict=True))
    ]
    is_any = exp.or_(*(_is_some(_hash(place), one_in) for place in range(len(names))), copy=False)
    query = select([exp.Star()], subquery(select(hashes, source.copy()), "anon_hashes")).where(is_any, copy=False)
    return Step(SOME_VALUES, query, "some values of identifiers")


def rows_of_some_values(count: int, one_in: int) -> exp.Query:
    """A row for each column, its ``place``, ``values`` and ``rows``."""
    counts = [aliased(count_distinct(column("anon_hash")), "values"), aliased(count_rows(), "rows")]
    hashes = (
        select([aliased(column(_hash(place)), "anon_hash")], SOME_VALUES.table).where(
            _is_some(_hash(place), one_in), copy=False
        )
        for place in range(count)
    )
    return union_all(
        select([aliased(number(place), "place"), *copies(counts)], subquery(query, "anon_hashes"))
        for place, query in enumerate(hashes)
    )


def exposure(encoding: Encoding) -> exp.Query:
    """One row: ``row_count``, ``class_count`` and ``k`` of the source, and ``unique_rows``, alone in their class."""
    keys = [column(encoding.key(word)) for word in range(encoding.keys.word_count)]
    rows = aliased(cast(exp.Sum(this=column(ROW_COUNT)), "BIGINT"), CLASS_ROWS)
    classes = grouped(select([rows], encoding.cells.table), keys)
    size = column(CLASS_ROWS)
    counts = [
        aliased(cast(_rows(), "BIGINT"), "row_count"),
        aliased(count_rows(), "class_count"),
        aliased(exp.Min(this=size.copy()), "k"),
        aliased(filtered(count_rows(), size.eq(number(1))), "unique_rows"),
    ]
    return select(counts, subquery(classes, "anon_classes"))


def homogeneous_rows(encoding: Encoding, names: Sequence[str]) -> exp.Query:
    """One row: the published ``rows``, and for each column by its place those in classes with a single value of it."""
    labels = [column(encoding.label(position)) for position in range(len(encoding.spec.quasi_identifiers))]
    of_class = [
        aliased(scalar_call("is_homogeneous", comparable(encoding, name)), _is(place))
        for place, name in enumerate(names)
    ]
    of_class.append(aliased(exp.Sum(this=column(ROW_COUNT)), CLASS_ROWS))
    classes = grouped(select(of_class, EQUAL_ROWS.table), labels)
    found = [aliased(_rows(column(_is(place))), f"homogeneous_{place}") for place in range(len(names))]
    return select([*found, aliased(_rows(), "rows")], subquery(classes, "anon_classes"))


def _hash(place: int) -> str:
    return f"anon_hash_{place}"


def _is_some(name: str, one_in: int) -> exp.Expr:
    return exp.Mod(this=column(name), expression=number(one_in)).eq(number(0))


def _is(place: int) -> str:
    return f"anon_is_homogeneous_{place}"


def _rows(condition: exp.Expr | None = None) -> exp.Expr:
    """The rows of all classes, or of those that meet a condition."""
    rows: exp.Expr = exp.Sum(this=column(CLASS_ROWS))
    return exp.func("coalesce", rows if condition is None else filtered(rows, condition), number(0))
