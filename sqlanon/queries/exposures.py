"""What a policy leaves open: queries over the source, and over the published rows in groups of equal ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.encoding import ROW_COUNT, Encoding
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    c,
    cast,
    column,
    count_rows,
    f,
    filtered,
    number,
    select,
    union_all,
    unpivoted,
)
from sqlanon.queries.source import Traits

SQL = Queries("release")


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
            "values": _distinct(f.list(column(name))) if one_in == 1 else _some_values(name, is_some),
        }
        found += (aliased(count, f"{what}_{place}") for what, count in counts.items())
    return found


def value_counts(source: exp.Expr, traits: Mapping[str, Traits], names: Sequence[str], one_in: int) -> exp.Query:
    """The same of many columns, a row for each that has a value: its ``place``, ``filled``, ``rows`` and ``values``."""
    is_sampled = is_one_in(one_in, [c.anon_value])
    return union_all(
        SQL.query("value_counts", cells=cells, is_sampled=is_sampled)
        for cells in _cells(source, {place: (traits[name], column(name)) for place, name in enumerate(names)})
    )


def _cells(
    relation: exp.Expr, values: Mapping[int, tuple[Traits, exp.Expr]], beside: Sequence[exp.Column] = ()
) -> Iterator[exp.Select]:
    """The values of columns with their places, a query for each type."""
    types: dict[str, dict[int, exp.Expr]] = {}
    for place, (traits, value) in values.items():
        types.setdefault(traits.released_as, {})[place] = value
    yield from (unpivoted(relation, alike, beside) for alike in types.values())


def exposure(encoding: Encoding) -> exp.Query:
    """One row: ``row_count``, ``class_count`` and ``k`` of the source, and ``unique_rows``, alone in their class."""
    keys = [encoding.key(word) for word in range(encoding.keys.word_count)]
    return SQL.query("exposure", cells=encoding.cells, keys=keys)


def homogeneous_rows(
    groups: exp.Expr, labels: Sequence[str], traits: Mapping[str, Traits], names: Sequence[str]
) -> exp.Query:
    """One row: the published ``rows``, and for each column by its place those in classes with a single value of it.

    Args:
        groups: the published rows in groups of equal ones.
        labels: the columns of labels, which define classes.
        traits: the types of the columns, by name.
        names: the columns.
    """
    are = [
        aliased(scalar_call("is_homogeneous", comparable(traits, name)), f"anon_is_homogeneous_{place}")
        for place, name in enumerate(names)
    ]
    rows = (f.coalesce(filtered(f.sum(c.anon_class_rows), column(each.alias)), 0) for each in are)
    found = [aliased(each, f"homogeneous_{place}") for place, each in enumerate(rows)]
    return SQL.query("homogeneous_rows", groups=groups, labels=labels, are=are, homogeneous=found)


def distinct_estimates(groups: exp.Expr, traits: Mapping[str, Traits], names: Sequence[str]) -> exp.Query:
    """One row: about how many values some columns of groups have, ``values_<place>``, and the published ``rows``."""
    estimates = [
        aliased(exp.ApproxDistinct(this=comparable(traits, name)), f"values_{place}")
        for place, name in enumerate(names)
    ]
    return select([*estimates, aliased(f.coalesce(f.sum(column(ROW_COUNT)), 0), "rows")], groups.copy())


# More than six parameters: what is counted, and when a value is rare.
def rare_rows(
    groups: exp.Expr,
    traits: Mapping[str, Traits],
    names: Sequence[str],
    fewer_than: int,
    one_in: int,
    place: int = 0,
) -> exp.Select:
    """One row: published rows with one combination of values in ``one_in``, ``counted``, and the ``rare`` ones.

    Args:
        groups: the published rows in groups of equal ones.
        traits: the types of the columns, by name.
        names: a column, or several.
        fewer_than: a row is rare if fewer rows have its values.
        one_in: combinations are sampled by their hash, and all rows of one are counted or none.
        place: what the row has for ``place``.
    """
    values = [comparable(traits, name) for name in names]
    is_sampled = is_one_in(one_in, values) if one_in > 1 else exp.true()
    return SQL.query(
        "rare_rows", groups=groups, values=values, is_sampled=is_sampled, fewer_than=fewer_than, place=place
    )


def rare_rows_of_columns(
    groups: exp.Expr, traits: Mapping[str, Traits], names: Sequence[str], fewer_than: int, one_in: int
) -> exp.Query:
    """The same of many columns, in a row each with its ``place``."""
    is_sampled = is_one_in(one_in, [c.anon_value]) if one_in > 1 else exp.true()
    values = {place: (traits[name], comparable(traits, name)) for place, name in enumerate(names)}
    return union_all(
        SQL.query("rare_rows_of_columns", cells=cells, is_sampled=is_sampled, fewer_than=fewer_than)
        for cells in _cells(groups, values, [column(ROW_COUNT)])
    )


def rare_rows_of_pairs(
    groups: exp.Expr, traits: Mapping[str, Traits], pairs: Sequence[tuple[str, str]], fewer_than: int, one_in: int
) -> exp.Query:
    """The same of pairs of columns, in a row each with its ``place``."""
    return union_all(rare_rows(groups, traits, pair, fewer_than, one_in, place) for place, pair in enumerate(pairs))


def comparable(traits: Mapping[str, Traits], name: str) -> exp.Expr:
    """A column to compare its values by: not all nested types can be compared, and their texts can."""
    known, value = traits[name], column(name)
    # Without a barrier: no CSV file has such types, and DuckDB 1.5 cannot coalesce arrays.
    return value if known.has_one_form or known.is_number else cast(value, "VARCHAR")


def is_one_in(count: int, values: Sequence[exp.Expr]) -> exp.Expr:
    """Whether values, or combinations of them, are among one in ``one_in``."""
    place = exp.Mod(this=f.hash(*values), expression=number(count))
    return place.eq(number(0))


def _some_values(name: str, is_some: exp.Expr) -> exp.Expr:
    """How many values some rows have."""
    value = column(name)
    is_filled = value.is_(exp.null()).not_()
    return _distinct(filtered(f.list(f.hash(value)), exp.and_(is_filled, is_some.copy(), copy=False)))


def _distinct(listed: exp.Expr) -> exp.Expr:
    """How many values a list has but NULL.

    DISTINCT with a FILTER takes DuckDB three times as long; and without one, 484 columns of 300 rows take 6 s, which is
    0.04 s by lists.
    """
    return f.coalesce(f.list_unique(listed), 0)
