"""What is shown of a cut as rows: labels in place of numbers, in the order of the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from sqlanon.methods.cuts.diffgen.queries.leaves import SHOWN
from sqlanon.methods.cuts.shared.cut import Cut
from sqlanon.methods.cuts.shared.pieces import Axis, Piece
from sqlanon.methods.cuts.shared.queries.labels import CUT, table
from sqlanon.methods.cuts.shared.queries.points import LEAVES
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    filtered,
    grouped,
    number,
    select,
    subquery,
)
from sqlanon.queries.kit.values import cast_value
from sqlanon.queries.noise.combinations import NOISY
from sqlanon.queries.noise.unseen import INDEX
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.source import SourceColumn

PLACES = Relation("anon_places", "node")
"""The places of labels by position, with where the piece begins: of a set of labels one row for each."""


def places(cut: Cut) -> pa.Table:
    """The rows of :data:`PLACES`."""
    rows = [
        (axis.position, place, piece.first)
        for axis in cut.axes
        for place, pieces in enumerate(_antichains(cut, axis))
        for piece in pieces
    ]
    return table(dict.fromkeys(("position", "place", "first"), pa.int64()), rows)


def equal_rows(cut: Cut, classes: int, columns: Sequence[SourceColumn], target: tuple[int, str]) -> Step:
    """The step that makes :data:`EQUAL_ROWS`: columns by name, in the order of the source, and their number.

    Args:
        cut: the cut.
        classes: how many classes there are.
        columns: the columns of the source that are published.
        target: the position of the taxonomy of classes, and their column.
    """
    query = select([], exp.alias_(SHOWN.table, "anon_shown", table=True))
    places = {axis.name: axis.position for axis in cut.axes}
    strides = cut.strides(classes)
    for found in columns:
        position = places.get(found.name, target[0])
        alias = f"anon_labels_{position}"
        shown: exp.Expr = column("label", alias)
        if found.name in places:
            digit = _digit(strides[position], cut.widths[position])
            labels = _labels(position, is_set=position in cut.partitions)
        else:
            digit, labels = _digit(1, classes), _classes(position)
            shown = cast_value(shown, found.traits.released_as)
        query = query.join(subquery(labels, alias), on=column("place", alias).eq(digit), copy=False)
        query = query.select(aliased(shown, found.name), copy=False)
    query = query.select(aliased(column(NOISY, "anon_shown"), ROW_COUNT), copy=False)
    query.set("order", ascending(column(INDEX, "anon_shown")))
    return Step(EQUAL_ROWS, query, "equal rows")


def _labels(position: int, *, is_set: bool) -> exp.Select:
    """``place`` and ``label`` of a predictor, a list of labels if it is a set."""
    on = all_of([column(each, "anon_cut").eq(column(each, "anon_places")) for each in ("position", "first")])
    query = select([column("place", "anon_places")], exp.alias_(PLACES.table, "anon_places", table=True))
    query = query.join(exp.alias_(CUT.table, "anon_cut", table=True), on=on, copy=False)
    query = query.where(column("position", "anon_places").eq(number(position)), copy=False)
    label = column("label", "anon_cut")
    if not is_set:
        return query.select(label, copy=False)
    # In the order of their text, and each once, as anon.apply_cut has them.
    distinct = exp.Distinct(expressions=[label])
    listed = exp.func("list", exp.Order(this=distinct, expressions=ascending(label.copy()).expressions))
    some = filtered(listed, label.copy().is_(exp.null()).not_())
    empty = cast(exp.Array(expressions=[]), "VARCHAR[]")
    labels = aliased(exp.func("coalesce", some, empty), "label")
    return grouped(query.select(labels, copy=False), [column("place", "anon_places")])


def _classes(position: int) -> exp.Select:
    """``place`` and ``label`` of the classes."""
    query = select([aliased(column("leaf"), "place"), aliased(column("value"), "label")], LEAVES.table)
    return query.where(column("position").eq(number(position)), column("depth").eq(number(0)), copy=False)


def _digit(stride: int, base: int) -> exp.Paren:
    place = exp.IntDiv(this=column(INDEX, "anon_shown"), expression=number(stride))
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=place), expression=number(base)))


def _antichains(cut: Cut, axis: Axis) -> Sequence[Sequence[Piece]]:
    """The pieces of every label, or set of labels, that there is."""
    if axis.position in cut.partitions:
        return cut.partitions[axis.position].antichains
    return [(piece,) for piece in cut.pieces[axis.position]]
