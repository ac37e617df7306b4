"""Columns that are released as they are and depend on a quasi-identifier, or determine a finer label than is published.

A few rows of the source refute most dependencies: one counterexample does, wherever it is. The others are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from sqlanon.queries.coded_labels import at_level
from sqlanon.queries.encoding import ROW_COUNT, VALUE, Encoding
from sqlanon.queries.exposures import SQL, comparable
from sqlanon.queries.kit.macros import exact_text, scalar_call, table_call
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    column,
    f,
    left_join,
    number,
    same,
    select,
    subquery,
    union_all,
)

FEW_ROWS = Relation("anon_few_rows", "row")
"""Some rows of the source: values and finer labels of quasi-identifiers, and kept columns."""

PAIRS = Relation("anon_pairs", "count")
"""The pairs of values of a quasi-identifier and a kept column, with their rows."""

GROUPING = "anon_grouping"

Side = Literal["value", "kept"] | int
"""A side of a dependency: the value of the quasi-identifier, the kept column, or the label at a level."""


def few_rows(encoding: Encoding, levels: Mapping[int, int], names: Sequence[str], limit: int) -> Step:
    """The step that makes :data:`FEW_ROWS`; ``levels`` are those of the labels that are looked up, by position."""
    kept = [aliased(comparable(encoding.traits, name), _kept(place)) for place, name in enumerate(names)]
    values = [aliased(_text(encoding, position), _value(position)) for position in levels]
    rows = select([*values, *kept], encoding.spec.source.copy()).limit(limit, copy=False)
    query = select([column(name, "anon_rows") for name in rows.named_selects], subquery(rows, "anon_rows"))
    for position, level in levels.items():
        query = _with_label(encoding, position, level, query, column(_value(position), "anon_rows"), _finer(position))
    return Step(FEW_ROWS, query, "some rows of the source")


def kept_that_may_depend(positions: Sequence[int], count: int) -> exp.Query:
    """A row per quasi-identifier, ``position``: whether it may determine each kept column, by its place."""
    return union_all(
        _all_homogeneous(position, _value(position), [_kept(place) for place in range(count)]) for position in positions
    )


def kept_that_may_determine(positions: Sequence[int], count: int) -> exp.Query:
    """A row per kept column, ``position`` its place: whether it may determine the finer label of each position."""
    return union_all(
        _all_homogeneous(place, _kept(place), [_finer(position) for position in positions]) for place in range(count)
    )


@dataclass(frozen=True)
class PairCounts:
    """Pairs of values that are counted in one scan of the source.

    Attributes:
        encoding: that of the run.
        pairs: the quasi-identifiers, by their positions, and the kept columns.
    """

    encoding: Encoding
    pairs: Sequence[tuple[int, str]]

    def step(self) -> Step:
        """The step that makes :data:`PAIRS`."""
        rows = select([aliased(value, name) for name, value in self._values.items()], self.encoding.spec.source.copy())
        sets = [exp.Tuple(expressions=[*map(column, self._names(pair))]) for pair in self.pairs]
        return SQL.step(PAIRS, "pairs", rows=rows, columns=[*self._values], sets=sets)

    def dependency(self, pair: tuple[int, str], determinant: Side, dependent: Side) -> exp.Query:
        """``anon.dependency`` of one side of a pair on another."""
        value, kept = self._names(pair)
        query = select([], exp.alias_(PAIRS.table, "anon_paired", table=True))
        for role, side in (("determinant", determinant), ("dependent", dependent)):
            if isinstance(side, int):
                query = _with_label(self.encoding, pair[0], side, query, column(value, "anon_paired"), role)
            else:
                name = value if side == "value" else kept
                query = query.select(aliased(column(name, "anon_paired"), role), copy=False)
        query = query.select(aliased(column(ROW_COUNT, "anon_paired"), "row_count"), copy=False)
        query = query.where(column(GROUPING, "anon_paired").eq(number(self._grouping(pair))), copy=False)
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

    def _grouping(self, pair: tuple[int, str]) -> int:
        """What GROUPING has for a pair: the bits of the columns that are not in it, that of the last column is 1."""
        names = self._names(pair)
        return sum(1 << place for place, name in enumerate(reversed([*self._values])) if name not in names)


def _all_homogeneous(position: int, key: str, names: Sequence[str]) -> exp.Select:
    """Whether all rows of a value of a column have one value, for each of some other columns."""
    are = [aliased(scalar_call("is_homogeneous", column(name)), f"anon_{place}") for place, name in enumerate(names)]
    every = (f.coalesce(f.bool_and(column(each.alias)), exp.true()) for each in are)
    hold = [aliased(each, f"holds_{place}") for place, each in enumerate(every)]
    return SQL.query("homogeneous_values", rows=FEW_ROWS, position=position, key=key, are=are, hold=hold)


def _with_label(
    encoding: Encoding, position: int, level: int, query: exp.Select, value: exp.Expr, name: str
) -> exp.Select:
    """The query with the label of a value at a level."""
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
