"""The labels of a cut: what a value, or the numbers from one bound on and below another, become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from sqlglot import exp

from sqlanon.methods.cuts.shared.cut import Cut
from sqlanon.methods.cuts.shared.pieces import Axis, ItemAxis, Piece, TaxonomyAxis
from sqlanon.methods.cuts.shared.queries.points import LEAVES
from sqlanon.model.policy.ranges import Range, interval_label
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    count_rows,
    differing_rows,
    left_join,
    number,
    select,
    subquery,
    union_all,
)

ALL = "*"
"""The label of all values of a taxonomy whose top level has several labels."""

GIVEN = Relation("anon_given_pieces", "node")
"""The pieces of the cut: position, attribute, where they begin and end; depth of their label, or its text and range."""

CUT = Relation("anon_cut", "node")
"""The same with their labels; that of no item is NULL."""

COLUMNS = ("attribute", "value", "low", "high", "label")
"""The columns of a cut that is a table."""


def given_pieces(cut: Cut, ranges: Mapping[int, Range]) -> pa.Table:
    """The rows of :data:`GIVEN`."""
    types = {"position": pa.int64(), "attribute": pa.string(), "first": pa.int64(), "end": pa.int64()}
    types |= {"depth": pa.int64(), "text": pa.string(), "low": pa.float64(), "high": pa.float64()}
    return table(
        types, (_given(cut, ranges.get(axis.position), piece) for axis in cut.axes for piece in _pieces(cut, axis))
    )


def labelled_cut() -> Step:
    """The step that makes :data:`CUT`."""
    given = exp.alias_(GIVEN.table, "anon_given", table=True)
    named = [column(name, "anon_given") for name in ("position", "attribute", "first", "end", "depth", "low", "high")]
    label = exp.func("coalesce", column("text", "anon_given"), column("label", "anon_leaves"))
    on = all_of(
        [
            column("position", "anon_leaves").eq(column("position", "anon_given")),
            column("leaf", "anon_leaves").eq(column("first", "anon_given")),
            column("depth", "anon_leaves").eq(column("depth", "anon_given")),
        ]
    )
    query = select([*named, aliased(label, "label")], given)
    return Step(CUT, left_join(query, exp.alias_(LEAVES.table, "anon_leaves", table=True), on), "labels of the cut")


def cut_labels() -> exp.Query:
    """``attribute``, ``depth``, ``low``, ``high`` and ``label`` of each piece of :data:`CUT`, in order."""
    query = select([column(name) for name in ("attribute", "depth", "low", "high", "label")], CUT.table)
    query.set("order", ascending(column("position"), column("first")))
    return query


def cut_rows() -> exp.Query:
    """The cut as a table: what a value, or the numbers from ``low`` on and below ``high``, become.

    ``attribute``, ``value``, ``low``, ``high``, ``label``: a row per value of a taxonomy, one per interval, and one
    with neither for sets whose label stands for no items as well. It is what ``anon.apply_cut`` takes.
    """
    rows = _rows()
    rows.set("order", ascending(*(column(name) for name in ("attribute", "low", "value"))))
    return rows


def unlike_cut(written: exp.Expr) -> exp.Query:
    """One row, ``unlike``: how many rows of a table are not those of the cut, or are missing there."""
    found = select([column(name) for name in COLUMNS], written.copy())
    return select([aliased(count_rows(), "unlike")], subquery(differing_rows(_rows(), found), "anon_differing"))


def table(types: Mapping[str, pa.DataType], rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """Rows as a table, which may have none."""
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return pa.table({name: pa.array(each, kind) for (name, kind), each in zip(types.items(), columns, strict=True)})


def _pieces(cut: Cut, axis: Axis) -> Sequence[Piece]:
    return cut.partitions[axis.position].pieces if axis.position in cut.partitions else cut.pieces[axis.position]


def _given(cut: Cut, given: Range | None, piece: Piece) -> tuple[object, ...]:
    axis = cut.axes[piece.position]
    named = (piece.position, axis.name, piece.first, piece.end)
    if given is not None:
        low, high = given.at(piece.first), given.at(piece.end)
        return (*named, None, interval_label(low, high), float(low), float(high))
    assert isinstance(axis, TaxonomyAxis)
    if isinstance(axis, ItemAxis) and piece == axis.nothing:
        return (*named, None, None, None, None)
    depth = axis.depth(piece)
    return (*named, depth, ALL if depth is None else None, None, None)


def _rows() -> exp.Select:
    """The rows of the cut as a table, in any order."""
    return select([column(name) for name in COLUMNS], subquery(union_all([_values(), _of_no_items()]), "anon_rows"))


def _values() -> exp.Select:
    """The rows of values and of intervals."""
    within = all_of(
        [
            *_leaves_of_cut(),
            exp.GTE(this=column("leaf", "anon_leaves"), expression=column("first", "anon_cut")),
            exp.LT(this=column("leaf", "anon_leaves"), expression=column("end", "anon_cut")),
        ]
    )
    query = left_join(
        _of_cut(column("value", "anon_leaves")), exp.alias_(LEAVES.table, "anon_leaves", table=True), within
    )
    is_value = exp.or_(
        column("value", "anon_leaves").is_(exp.null()).not_(),
        column("low", "anon_cut").is_(exp.null()).not_(),
        copy=False,
    )
    return query.where(is_value, copy=False)


def _of_no_items() -> exp.Select:
    """The rows of sets without items: their place is behind those of all items."""
    last = exp.Sub(this=column("end", "anon_cut"), expression=number(1))
    is_last = all_of([*_leaves_of_cut(), column("leaf", "anon_leaves").eq(last)])
    query = _of_cut(cast(exp.null(), "VARCHAR"))
    query = left_join(query, exp.alias_(LEAVES.table, "anon_leaves", table=True), is_last)
    return query.where(
        column("leaf", "anon_leaves").is_(exp.null()),
        column("low", "anon_cut").is_(exp.null()),
        column("label", "anon_cut").is_(exp.null()).not_(),
        copy=False,
    )


def _of_cut(value: exp.Expr) -> exp.Select:
    named = {name: column(name, "anon_cut") for name in COLUMNS}
    columns = [aliased(value, name) if name == "value" else each for name, each in named.items()]
    return select(columns, exp.alias_(CUT.table, "anon_cut", table=True))


def _leaves_of_cut() -> list[exp.Expr]:
    return [
        column("position", "anon_leaves").eq(column("position", "anon_cut")),
        column("depth", "anon_leaves").eq(number(0)),
    ]
