"""Columns that are released as they are and depend on a quasi-identifier, or determine a finer label than is published.

A few rows of the source refute most dependencies: one counterexample does, wherever it is. The others are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from sqlglot import exp

from sqlanon.model.recoding import AtLevel
from sqlanon.queries.cells.encoding import ROW_COUNT, VALUE, Encoding
from sqlanon.queries.cells.recoding import labels_of_values
from sqlanon.queries.kit.macros import scalar_call, table_call
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    column,
    count_rows,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.kit.values import exact_text
from sqlanon.queries.release.rare_values import comparable

FEW_ROWS = Relation("anon_few_rows", "row")
"""Some rows of the source: values and finer labels of quasi-identifiers, and kept columns."""

PAIRS = Relation("anon_pairs", "count")
"""The pairs of values of a quasi-identifier and a kept column, with their rows."""

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


def pairs(encoding: Encoding, position: int, name: str) -> Step:
    """The step that makes :data:`PAIRS`."""
    value, kept = _text(encoding, position), comparable(encoding.traits, name)
    columns = [aliased(value, VALUE), aliased(kept, _kept(0)), aliased(count_rows(), ROW_COUNT)]
    query = grouped(select(columns, encoding.spec.source.copy()), [value.copy(), kept.copy()])
    return Step(PAIRS, query, f'pairs of values of "{encoding.spec.quasi_identifiers[position]}" and "{name}"')


def dependency(encoding: Encoding, position: int, determinant: Side, dependent: Side) -> exp.Query:
    """``anon.dependency`` of one side of :data:`PAIRS` on another."""
    query = select([], exp.alias_(PAIRS.table, "anon_paired", table=True))
    sides = {"determinant": determinant, "dependent": dependent}
    for role, side in sides.items():
        if isinstance(side, int):
            query = _with_label(encoding, position, side, query, column(VALUE, "anon_paired"), role)
        else:
            name = VALUE if side == "value" else _kept(0)
            query = query.select(aliased(column(name, "anon_paired"), role), copy=False)
    query = query.select(aliased(column(ROW_COUNT, "anon_paired"), "row_count"), copy=False)
    keys = [column(role) for role in sides]
    counts = [*(key.copy() for key in keys), aliased(exp.Sum(this=column("row_count")), "row_count")]
    return table_call(
        "dependency", subquery(grouped(select(counts, subquery(query, "anon_sides")), keys), "anon_sides")
    )


def _all_homogeneous(position: int, key: str, names: Sequence[str]) -> exp.Select:
    """Whether all rows of a value of a column have one value, for each of some other columns."""
    are = [aliased(scalar_call("is_homogeneous", column(name)), f"anon_{place}") for place, name in enumerate(names)]
    groups = grouped(select(are, FEW_ROWS.table), [column(key)])
    every = (exp.func("bool_and", column(f"anon_{place}")) for place in range(len(names)))
    found = [aliased(exp.func("coalesce", each, exp.true()), f"holds_{place}") for place, each in enumerate(every)]
    return select([aliased(number(position), "position"), *found], subquery(groups, "anon_groups"))


def _with_label(
    encoding: Encoding, position: int, level: int, query: exp.Select, value: exp.Expr, name: str
) -> exp.Select:
    """The query with the label of a value at a level."""
    alias = f"anon_labels_of_{name}"
    found = labels_of_values(encoding, position, AtLevel(level), [column(VALUE), column("label")])
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
