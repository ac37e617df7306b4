"""What a policy leaves open: queries over the source, and over the published rows in groups of equal ones."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    column,
    count_distinct,
    count_rows,
    filtered,
    grouped,
    number,
    select,
    subquery,
    text,
)
from sqlanon.queries.release.rows import EQUAL_ROWS

CLASS_ROWS = "anon_class_rows"


def rows_per_value(source: exp.Expr, names: Sequence[str], one_in: int) -> exp.Query:
    """One row: for each column by its place, the ``rows`` that have a value, and those of one value in ``one_in``.

    The latter are ``counted_<place>``, and have ``values_<place>`` distinct values.
    """
    columns: list[exp.Expr] = []
    counts: dict[str, exp.Expr]
    for place, name in enumerate(names):
        rows: exp.Expr = exp.Count(this=column(name), big_int=True)
        counts = {"counted": rows.copy(), "values": count_distinct(column(name))}
        if one_in > 1:
            counts = {key: filtered(each, _is_one_in(one_in, [column(name)])) for key, each in counts.items()}
        columns += [aliased(each, f"{key}_{place}") for key, each in {"rows": rows, **counts}.items()]
    return select([*columns, aliased(count_rows(), "source_rows")], source.copy())


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


def comparable(encoding: Encoding, name: str) -> exp.Expr:
    """A column whose values can be compared; those of nested types are not all comparable, and their texts are."""
    traits = encoding.traits[name]
    return column(name) if traits.has_one_form or traits.is_number else text(column(name))


def _is_one_in(count: int, values: Sequence[exp.Expr]) -> exp.Expr:
    """Whether values, or combinations of them, are among one in so many; all rows of a value are or none."""
    place = exp.Mod(this=exp.Anonymous(this="hash", expressions=list(values)), expression=number(count))
    return place.eq(number(0))


def _is(place: int) -> str:
    return f"anon_is_homogeneous_{place}"


def _rows(condition: exp.Expr | None = None) -> exp.Expr:
    """The rows of all classes, or of those that meet a condition."""
    rows: exp.Expr = exp.Sum(this=column(CLASS_ROWS))
    return exp.func("coalesce", rows if condition is None else filtered(rows, condition), number(0))
