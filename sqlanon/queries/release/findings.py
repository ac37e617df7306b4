"""What a policy leaves open: queries over the source, and over the published rows in groups of equal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    cast,
    column,
    count_distinct,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    subquery,
)
from sqlanon.queries.release.rare_values import comparable, is_one_in
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.source import Traits

CLASS_ROWS = "anon_class_rows"


def identifier_counts(names: Sequence[str], one_in: int) -> list[exp.Alias]:
    """Aggregates of rows: ``source_rows``, and for each column by its place the ``filled_<place>`` ones with a value.

    Of these, ``rows_<place>`` have one value in ``one_in``, by its hash, and ``values_<place>`` is how many such values
    there are: fewer if some repeat.
    """
    found = [aliased(count_rows(), "source_rows")]
    for place, name in enumerate(names):
        filled = exp.Count(this=column(name), big_int=True)
        is_some = is_one_in(one_in, [column(name)])
        counts = {
            "filled": filled,
            "rows": filled.copy() if one_in == 1 else filtered(filled.copy(), is_some),
            "values": count_distinct(column(name)) if one_in == 1 else _some_values(name, is_some),
        }
        found += (aliased(count, f"{what}_{place}") for what, count in counts.items())
    return found


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


def homogeneous_rows(labels: Sequence[str], traits: Mapping[str, Traits], names: Sequence[str]) -> exp.Query:
    """One row: the published ``rows``, and for each column by its place those in classes with a single value of it.

    Args:
        labels: the columns of labels, which define classes.
        traits: the types of the columns, by name.
        names: the columns.
    """
    of_class = [
        aliased(scalar_call("is_homogeneous", comparable(traits, name)), _is(place)) for place, name in enumerate(names)
    ]
    of_class.append(aliased(exp.Sum(this=column(ROW_COUNT)), CLASS_ROWS))
    classes = grouped(select(of_class, EQUAL_ROWS.table), [column(label) for label in labels])
    found = [aliased(_rows(column(_is(place))), f"homogeneous_{place}") for place in range(len(names))]
    return select([*found, aliased(_rows(), "rows")], subquery(classes, "anon_classes"))


def _some_values(name: str, is_some: exp.Expr) -> exp.Expr:
    """How many values some rows have: in a list, since DISTINCT with a FILTER takes DuckDB three times as long."""
    value = column(name)
    hashes = exp.Anonymous(this="list", expressions=[exp.Anonymous(this="hash", expressions=[value])])
    is_filled = exp.Not(this=value.copy().is_(exp.null()))
    listed = filtered(hashes, exp.and_(is_filled, is_some.copy(), copy=False))
    return exp.func("coalesce", exp.Anonymous(this="list_unique", expressions=[listed]), number(0))


def _is(place: int) -> str:
    return f"anon_is_homogeneous_{place}"


def _rows(condition: exp.Expr | None = None) -> exp.Expr:
    """The rows of all classes, or of those that meet a condition."""
    rows: exp.Expr = exp.Sum(this=column(CLASS_ROWS))
    return exp.func("coalesce", rows if condition is None else filtered(rows, condition), number(0))
