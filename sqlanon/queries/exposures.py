"""Risks that a policy leaves open: queries over the source, and over groups of equal published rows.

Columns that are released unchanged may depend on a quasi-identifier, or determine a finer label than the published one.
A few rows of the source refute most dependencies, since one counterexample suffices. The others are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from sqlanon.queries.coded_labels import at_level
from sqlanon.queries.encoding import ROW_COUNT, VALUE, Encoding
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    c,
    called,
    cast,
    column,
    count_rows,
    f,
    filtered,
    is_there,
    left_join,
    number,
    same,
    select,
    subquery,
    union_all,
    unpivoted,
)
from sqlanon.queries.source import Traits

SQL = Queries("release")

FEW_ROWS = Relation("anon_few_rows", "row")
"""A few rows of the source: values and finer labels of quasi-identifiers, and kept columns."""

PAIRS = Relation("anon_pairs", "count")
"""Pairs of values of a quasi-identifier and a kept column, with their rows."""

GROUPING = "anon_grouping"

Side = Literal["value", "kept"] | int
"""A side of a dependency: the value of the quasi-identifier, the kept column, or the label at a level."""


def identifier_counts(names: Sequence[str], one_in: int) -> list[exp.Alias]:
    """Count ``source_rows``, and for each column the rows with a value, ``filled_<place>``.

    ``rows_<place>`` counts the rows with one value in ``one_in``, by its hash, and ``values_<place>`` these values.
    """
    found = [aliased(count_rows(), "source_rows")]
    for place, value in enumerate(map(column, names)):
        filled = exp.Count(this=value, big_int=True)
        rows: exp.Expr = filled.copy()
        values = f.list(value)
        if one_in > 1:
            is_some = is_one_in(one_in, [value])
            is_filled = is_there(value)
            rows = filtered(rows, is_some)
            values = filtered(f.list(f.hash(value)), exp.and_(is_filled, is_some.copy(), copy=False))
        # DISTINCT with a FILTER is three times as slow in DuckDB; without one, 484 columns of 300 rows take 6 s, and
        # lists 0.04 s.
        counts = {"filled": filled, "rows": rows, "values": f.coalesce(f.list_unique(values), 0)}
        found += (aliased(count, f"{what}_{place}") for what, count in counts.items())
    return found


def value_counts(source: exp.Expr, traits: Mapping[str, Traits], names: Sequence[str], one_in: int) -> exp.Query:
    """Count many columns, a row for each that has a value: ``place``, ``filled``, ``rows`` and ``values``."""
    is_sampled = is_one_in(one_in, [c.anon_value])
    return union_all(
        SQL.query("value_counts", cells=cells, is_sampled=is_sampled)
        for cells in _cells(source, {place: (traits[name], column(name)) for place, name in enumerate(names)})
    )


def _cells(
    relation: exp.Expr, values: Mapping[int, tuple[Traits, exp.Expr]], beside: Sequence[exp.Column] = ()
) -> Iterator[exp.Select]:
    types: dict[str, dict[int, exp.Expr]] = {}
    for place, (traits, value) in values.items():
        types.setdefault(traits.released_as, {})[place] = value
    yield from (unpivoted(relation, alike, beside) for alike in types.values())


def exposure(encoding: Encoding) -> exp.Query:
    """Select one row about the source: ``row_count``, ``class_count``, ``k`` and ``unique_rows``."""
    return SQL.query("exposure", cells=encoding.cells, keys=encoding.word_columns)


def homogeneous_rows(
    groups: exp.Expr, labels: Sequence[str], traits: Mapping[str, Traits], names: Sequence[str]
) -> exp.Query:
    """Select one row: the published ``rows``, and by column the rows in classes with one value of it."""
    return SQL.query(
        "homogeneous_rows",
        groups=groups,
        labels=labels,
        values=[comparable(traits, name) for name in names],
        are=[f"anon_is_homogeneous_{place}" for place in range(len(names))],
        homogeneous=[f"homogeneous_{place}" for place in range(len(names))],
    )


def distinct_estimates(groups: exp.Expr, traits: Mapping[str, Traits], names: Sequence[str]) -> exp.Query:
    """Select one row: estimated counts of distinct values, ``values_<place>``, and the published ``rows``."""
    estimates = [
        aliased(exp.ApproxDistinct(this=comparable(traits, name)), f"values_{place}")
        for place, name in enumerate(names)
    ]
    return select([*estimates, aliased(f.coalesce(f.sum(column(ROW_COUNT)), 0), "rows")], groups.copy())


# More than six parameters: the values, and when they are rare.
def rare_rows(
    groups: exp.Expr,
    traits: Mapping[str, Traits],
    names: Sequence[str],
    fewer_than: int,
    one_in: int,
    place: int = 0,
) -> exp.Select:
    """Select one row: the ``counted`` rows, with one combination of values in ``one_in``, and the ``rare`` ones.

    Combinations are sampled by their hash, with all their rows. A row is rare if fewer than ``fewer_than`` share its
    values.
    """
    values = [comparable(traits, name) for name in names]
    is_sampled = is_one_in(one_in, values) if one_in > 1 else exp.true()
    return SQL.query(
        "rare_rows", groups=groups, values=values, is_sampled=is_sampled, fewer_than=fewer_than, place=place
    )


def rare_rows_of_columns(
    groups: exp.Expr, traits: Mapping[str, Traits], names: Sequence[str], fewer_than: int, one_in: int
) -> exp.Query:
    """Count the rare rows of many columns, in a row each with its ``place``."""
    is_sampled = is_one_in(one_in, [c.anon_value]) if one_in > 1 else exp.true()
    values = {place: (traits[name], comparable(traits, name)) for place, name in enumerate(names)}
    return union_all(
        SQL.query("rare_rows_of_columns", cells=cells, is_sampled=is_sampled, fewer_than=fewer_than)
        for cells in _cells(groups, values, [column(ROW_COUNT)])
    )


def rare_rows_of_pairs(
    groups: exp.Expr, traits: Mapping[str, Traits], pairs: Sequence[tuple[str, str]], fewer_than: int, one_in: int
) -> exp.Query:
    """Count the rare rows of pairs of columns, in a row each with its ``place``."""
    return union_all(rare_rows(groups, traits, pair, fewer_than, one_in, place) for place, pair in enumerate(pairs))


def comparable(traits: Mapping[str, Traits], name: str) -> exp.Expr:
    """Return a column whose values can be compared: the texts of nested types that can't."""
    known, value = traits[name], column(name)
    # Without a barrier: no CSV file has such types, and DuckDB 1.5 cannot coalesce arrays.
    return value if known.has_one_form or known.is_number else cast(value, "VARCHAR")


def is_one_in(count: int, values: Sequence[exp.Expr]) -> exp.Expr:
    """Test whether values, or combinations of them, are in a sample of one in ``count``."""
    place = exp.Mod(this=f.hash(*values), expression=number(count))
    return place.eq(0)


def few_rows(encoding: Encoding, levels: Mapping[int, int], names: Sequence[str], limit: int) -> Step:
    """Make :data:`FEW_ROWS`, with the labels at ``levels`` by position."""
    kept = [aliased(comparable(encoding.traits, name), _kept(place)) for place, name in enumerate(names)]
    values = [aliased(_text(encoding, position), _value(position)) for position in levels]
    rows = select([*values, *kept], encoding.spec.source.copy()).limit(limit, copy=False)
    query = select([column(name, "anon_rows") for name in rows.named_selects], subquery(rows, "anon_rows"))
    for position, level in levels.items():
        query = _with_label(encoding, position, level, query, column(_value(position), "anon_rows"), _finer(position))
    return Step(FEW_ROWS, query, "some rows of the source")


def kept_that_may_depend(positions: Sequence[int], count: int) -> exp.Query:
    """Select a row per quasi-identifier, ``position``: whether it may determine each kept column."""
    return union_all(
        _all_homogeneous(position, _value(position), [_kept(place) for place in range(count)]) for position in positions
    )


def kept_that_may_determine(positions: Sequence[int], count: int) -> exp.Query:
    """Select a row per kept column, ``position``: whether it may determine the finer label of each position."""
    return union_all(
        _all_homogeneous(place, _kept(place), [_finer(position) for position in positions]) for place in range(count)
    )


@dataclass(frozen=True)
class PairCounts:
    """Pairs of columns whose values are counted in one scan of the source."""

    encoding: Encoding
    pairs: Sequence[tuple[int, str]]  # the position of a quasi-identifier, and a kept column

    def step(self) -> Step:
        rows = select([aliased(value, name) for name, value in self._values.items()], self.encoding.spec.source.copy())
        sets = [exp.Tuple(expressions=[*map(column, self._names(pair))]) for pair in self.pairs]
        return SQL.step(PAIRS, "pairs", rows=rows, columns=[*self._values], sets=sets)

    def dependency(self, pair: tuple[int, str], determinant: Side, dependent: Side) -> exp.Query:
        """Call ``anon_helpers.dependency`` of one side of a pair on the other."""
        value, kept = self._names(pair)
        query = select([], called(PAIRS.table, "anon_paired"))
        for role, side in (("determinant", determinant), ("dependent", dependent)):
            if isinstance(side, int):
                query = _with_label(self.encoding, pair[0], side, query, column(value, "anon_paired"), role)
            else:
                name = value if side == "value" else kept
                query = query.select(aliased(column(name, "anon_paired"), role), copy=False)
        query = query.select(aliased(column(ROW_COUNT, "anon_paired"), "row_count"), copy=False)
        # GROUPING sets the bits of columns outside the pair; the last column is bit 1.
        others = [name not in (value, kept) for name in reversed([*self._values])]
        grouping = sum(1 << place for place, is_other in enumerate(others) if is_other)
        query = query.where(column(GROUPING, "anon_paired").eq(grouping), copy=False)
        return table_call("dependency", subquery(SQL.query("counted_sides", pairs=query), "anon_sides"))

    @property
    def _kept(self) -> dict[str, str]:
        return {name: _kept(place) for place, name in enumerate(dict.fromkeys(name for _, name in self.pairs))}

    @property
    def _values(self) -> dict[str, exp.Expr]:
        values = {_value(position): _text(self.encoding, position) for position, _ in self.pairs}
        return {**values, **{alias: comparable(self.encoding.traits, name) for name, alias in self._kept.items()}}

    def _names(self, pair: tuple[int, str]) -> tuple[str, str]:
        return _value(pair[0]), self._kept[pair[1]]


def _all_homogeneous(position: int, key: str, names: Sequence[str]) -> exp.Select:
    """Select whether all rows of each value of a column agree in each of some other columns."""
    are, hold = ([f"{name}_{place}" for place in range(len(names))] for name in ("anon", "holds"))
    return SQL.query("homogeneous_values", rows=FEW_ROWS, position=position, key=key, names=names, are=are, hold=hold)


def _with_label(
    encoding: Encoding, position: int, level: int, query: exp.Select, value: exp.Expr, name: str
) -> exp.Select:
    alias = f"anon_labels_of_{name}"
    found = at_level(encoding, position, level, [column(VALUE), column("label")])
    query = left_join(query, subquery(found, alias), same(column(VALUE, alias), value))
    return query.select(aliased(column("label", alias), name), copy=False)


def _text(encoding: Encoding, position: int) -> exp.Expr:
    return exact_text(column(encoding.spec.quasi_identifiers[position]))


def _value(position: int) -> str:
    return f"anon_value_{position}"


def _finer(position: int) -> str:
    return f"anon_finer_{position}"


def _kept(place: int) -> str:
    return f"anon_kept_{place}"
