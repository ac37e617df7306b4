"""Combinations of labels and class: counted, with noise, and those that nobody has drawn by their number alone.

A combination is a number: the places of its labels and of its class are digits. Relations of what was drawn have a run,
so that an audit can draw many releases of one cut at once; a release is run 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from sqlglot import exp

from sqlanon.methods.cuts.diffgen.queries import item_sets
from sqlanon.methods.cuts.shared.cut import Cut
from sqlanon.methods.cuts.shared.queries.points import CLASS, POINTS, value_column, values_in
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    ascending,
    cast,
    column,
    count_rows,
    grouped,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.noise.combinations import NOISY, PLACE, RUN
from sqlanon.queries.noise.unseen import DRAWN, INDEX
from sqlanon.queries.noise.unseen import SQL as UNSEEN_SQL

PIECES = Relation("anon_pieces", "node")
"""The pieces of the cut, of predictors that are no sets and have several: position, place, where they begin and end."""

OCCUPIED = Relation("anon_occupied_leaves", "cell")
"""The combinations that somebody has, by their number, with their rows and their place among them."""

NOISE = Relation("anon_noise_of_leaves", "cell")
"""Noise by run and place."""

SHOWN = Relation("anon_shown_leaves", "cell")
"""The combinations that are shown, by run and number, with their noisy rows."""


def pieces(cut: Cut) -> pa.Table:
    """The rows of :data:`PIECES`."""
    rows = [
        (piece.position, place, piece.first, piece.end)
        for found in cut.pieces.values()
        if len(found) > 1
        for place, piece in enumerate(found)
    ]
    names = ("position", "place", "first", "end")
    columns: Iterable[Iterable[int]] = zip(*rows, strict=True) if rows else ([] for _ in names)
    return pa.table({name: pa.array(each, pa.int64()) for name, each in zip(names, columns, strict=True)})


def occupied(cut: Cut, classes: int) -> Step:
    """The step that makes :data:`OCCUPIED`."""
    numbered = subquery(_numbered(cut, classes), "anon_numbered")
    counts = grouped(select([column(INDEX), aliased(count_rows(), ROW_COUNT)], numbered), [column(INDEX)])
    window = exp.Window(this=exp.RowNumber(), order=ascending(column(INDEX)))
    place = aliased(exp.Sub(this=window, expression=number(1)), PLACE)
    query = select([column(INDEX), column(ROW_COUNT), place], subquery(counts, "anon_counted"))
    return Step(OCCUPIED, query, "rows of every combination of labels and class")


def shown(least: int) -> Step:
    """The step that makes :data:`SHOWN`, of :data:`OCCUPIED`, :data:`NOISE` and what was drawn of the others."""
    sums = exp.Add(this=column(ROW_COUNT, "anon_leaves"), expression=column("anon_noise", "anon_drawn"))
    query = select(
        [column(RUN, "anon_drawn"), column(INDEX, "anon_leaves"), aliased(sums, NOISY)],
        exp.alias_(OCCUPIED.table, "anon_leaves", table=True),
    )
    on = column(PLACE, "anon_drawn").eq(column(PLACE, "anon_leaves"))
    query = query.join(exp.alias_(NOISE.table, "anon_drawn", table=True), on=on, copy=False)
    noisy = select([exp.Star()], subquery(query, "anon_noisy"))
    noisy = noisy.where(exp.GTE(this=column(NOISY), expression=number(least)), copy=False)
    gaps = UNSEEN_SQL.query("gaps", numbered=OCCUPIED)
    unseen = UNSEEN_SQL.query("unseen_numbers", drawn=DRAWN, seen=gaps)
    others = select([column(name) for name in (RUN, INDEX, NOISY)], subquery(unseen, "anon_unseen"))
    return Step(SHOWN, union_all([noisy, others]), "noisy combinations that are shown")


def _numbered(cut: Cut, classes: int) -> exp.Select:
    """The numbers of the combinations that points have; points in no partition are left out."""
    points: exp.Expr = POINTS.table
    columns = [CLASS, *(value_column(axis.position) for axis in cut.axes if _tells(cut, axis.position))]
    for position, partitions in cut.partitions.items():
        if partitions.specialized:
            name = f"{item_sets.PLACE}_{position}"
            points = subquery(item_sets.placed(points, columns, partitions, name), f"anon_placed_{position}")
            columns = [name, *(each for each in columns if each != value_column(position))]
    query = select([], exp.alias_(points, "anon_points", table=True))
    index: exp.Expr = cast(column(CLASS, "anon_points"), "BIGINT")
    for position, stride in enumerate(cut.strides(classes)):
        place = None
        if position in cut.partitions and cut.partitions[position].specialized:
            place = column(f"{item_sets.PLACE}_{position}", "anon_points")
        elif position in cut.pieces and len(cut.pieces[position]) > 1:
            alias = f"anon_pieces_{position}"
            on = column("value", alias).eq(column(value_column(position), "anon_points"))
            query = query.join(subquery(values_in(PIECES, position, ["place"]), alias), on=on, copy=False)
            place = column("place", alias)
        if place is not None:
            index = exp.Add(this=index, expression=exp.Mul(this=place, expression=number(stride)))
    return query.select(aliased(index, INDEX), copy=False)


def _tells(cut: Cut, position: int) -> bool:
    """Whether a predictor tells rows apart."""
    if position in cut.partitions:
        return bool(cut.partitions[position].specialized)
    return len(cut.pieces[position]) > 1
