"""Queries of DiffGen: item sets as masks, and the occupied and shown combinations of labels and class.

A partition has a mask for each specialized label: the children under which a row has items. Rows whose masks match no
remaining partition are not counted any more.

A combination is a number whose digits are the places of its labels and its class. Relations of draws have a run column,
so that an audit can draw many releases of one cut at once; a release is run 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.stored_taxonomies import LEAVES
from sqlanon.methods.cut_pieces import Cut, Partitions, Piece, Specialization
from sqlanon.methods.points import CLASS, CUT, POINTS, table, value_column, values_in
from sqlanon.queries.encoding import ROW_COUNT, row_sum
from sqlanon.queries.kit.macros import cast_value
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    f,
    grouped,
    number,
    select,
    string,
    subquery,
    union_all,
    values,
)
from sqlanon.queries.noise import DRAWN, INDEX, NOISY, PLACE, digit
from sqlanon.queries.published_rows import EQUAL_ROWS
from sqlanon.queries.source import SourceColumn

PIECES = Relation("anon_pieces", "node")
"""The pieces of the cut, for scalar predictors with several: position, place and bounds."""

OCCUPIED = Relation("anon_occupied_leaves", "cell")
"""The combinations that rows have, with number, row count and place among them."""

NOISE = Relation("anon_noise_of_leaves", "cell")  # Noise by run and place
SHOWN = Relation("anon_shown_leaves", "cell")  # the shown combinations by run and number, with noisy counts

PLACES = Relation("anon_places", "node")
"""By position and place, the start of the label's piece; a set of labels has several rows."""

SQL = Queries("diffgen", {"occupied": OCCUPIED, "noise": NOISE, "places": PLACES, "cut": CUT, "leaves": LEAVES})

MASK = "anon_mask"

MAX_BITS = 120  # of a HUGEINT, which has 127


# Item sets


def partition_relation(position: int) -> Relation:
    return Relation(f"anon_partitions_{position}", "node")


def partition_table(partitions: Partitions) -> pa.Table:
    columns = {PLACE: list(range(len(partitions.kept)))}
    for place in range(len(partitions.specialized)):
        columns[_mask_column(place)] = [masks[place] for masks in partitions.kept]
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def mask_counts(partitions: Partitions, candidates: Iterable[tuple[int, Specialization]]) -> exp.Query:
    """Select ``candidate``, ``child`` (a mask), ``class`` and ``row_count`` of labels over all partitions with them.

    One pass over the items makes the masks of several labels, as parts of one number.
    """
    parts: list[list[tuple[int, Specialization]]] = []
    bits = MAX_BITS + 1
    for candidate in candidates:
        more = len(candidate[1].children)
        if bits + more > MAX_BITS:
            parts.append([])
            bits = 0
        parts[-1].append(candidate)
        bits += more
    return union_all(_counts_in_one_number(partitions, together) for together in parts)


def partition_counts(partitions: Partitions, specialization: Specialization) -> exp.Select:
    items = value_column(partitions.axis.position)
    points = subquery(placed(POINTS.table, [items, ROW_COUNT], partitions, PLACE), "anon_placed")
    mask = aliased(_bits_of(column(items), specialization.children), MASK)
    rows = subquery(select([column(PLACE), mask, column(ROW_COUNT)], points), "anon_masked")
    keys = [aliased(column(PLACE), "place"), aliased(column(MASK), "mask")]
    query = select([*keys, row_sum(name="rows")], rows).where(
        exp.NEQ(this=column(MASK), expression=number(0)), copy=False
    )
    return grouped(query, [key.this.copy() for key in keys])


def placed(points: exp.Expr, columns: Sequence[str], partitions: Partitions, name: str) -> exp.Select:
    if not partitions.specialized:
        return select([*map(column, columns), aliased(number(0), name)], points)
    items = value_column(partitions.axis.position)
    masks = {
        _mask_column(place): _bits_of(column(items), each.children) for place, each in enumerate(partitions.specialized)
    }
    found = select([*map(column, columns), *(aliased(mask, each) for each, mask in masks.items())], points)
    kept = exp.alias_(partition_relation(partitions.axis.position).table, "anon_kept", table=True)
    same = all_of([column(each, "anon_found").eq(column(each, "anon_kept")) for each in masks])
    shown = [*(column(each, "anon_found") for each in columns), aliased(column(PLACE, "anon_kept"), name)]
    return select(shown, subquery(found, "anon_found")).join(kept, on=same, copy=False)


def _counts_in_one_number(partitions: Partitions, candidates: Sequence[tuple[int, Specialization]]) -> exp.Query:
    shifts = list(accumulate((len(each.children) for _, each in candidates), initial=0))
    children = [child for _, each in candidates for child in each.children]
    items = value_column(partitions.axis.position)
    masks = aliased(_bits_of(column(items), children), MASK)
    points = subquery(placed(POINTS.table, [items, CLASS, ROW_COUNT], partitions, PLACE), "anon_placed")
    parts = values(
        "anon_parts",
        ("candidate", "shift", "all_children"),
        [
            [number(candidate), number(shift), number((1 << len(each.children)) - 1)]
            for (candidate, each), shift in zip(candidates, shifts, strict=False)
        ],
    )
    part = exp.BitwiseRightShift(this=column(MASK), expression=column("shift"))
    mask = cast(exp.BitwiseAnd(this=exp.Paren(this=part), expression=column("all_children")), "BIGINT")
    masked = subquery(select([column(CLASS), column(ROW_COUNT), masks], points), "anon_masked")
    each_mask = select([column("candidate"), column(CLASS), column(ROW_COUNT), aliased(mask, MASK)], parts)
    each_mask = each_mask.join(masked, join_type="cross", copy=False)
    keys = [column("candidate"), aliased(column(MASK), "child"), aliased(column(CLASS), "class")]
    query = select([*keys, row_sum(name="row_count")], subquery(each_mask, "anon_parted"))
    return grouped(
        query.where(exp.NEQ(this=column(MASK), expression=number(0)), copy=False),
        [column("candidate"), column(MASK), column(CLASS)],
    )


def _bits_of(items: exp.Expr, pieces: Sequence[Piece]) -> exp.Expr:
    """Return, as the bits of a number, the pieces with items of a list; 0 for none."""
    bits = {piece: 1 << place for place, piece in enumerate(pieces)}
    ends = {piece.end: 0 for piece in pieces}
    starts = sorted({0: 0, **ends, **{piece.first: bit for piece, bit in bits.items()}}.items())
    each = exp.Lambda(this=_bit(starts), expressions=[exp.to_identifier("anon_item")])
    return f.list_aggregate(f.list_transform(items, each), string("bit_or"))


def _bit(starts: Sequence[tuple[int, int]]) -> exp.Expr:
    """Find, by bisection, the value of the last start at or before an item."""
    if len(starts) == 1:
        return number(starts[0][1])
    middle = len(starts) // 2
    is_before = exp.LT(this=exp.column("anon_item"), expression=number(starts[middle][0]))
    return exp.case().when(is_before, _bit(starts[:middle]), copy=False).else_(_bit(starts[middle:]), copy=False)


def _mask_column(place: int) -> str:
    return f"{MASK}_{place}"


# Combinations


def pieces(cut: Cut) -> pa.Table:
    rows = [
        (piece.position, place, piece.first, piece.end)
        for found in cut.pieces.values()
        if len(found) > 1
        for place, piece in enumerate(found)
    ]
    return table(dict.fromkeys(("position", "place", "first", "end"), pa.int64()), rows)


def shown(least: int) -> Step:
    noise = Queries("noise")
    unseen = noise.query("unseen_numbers", drawn=DRAWN, seen=noise.query("gaps", numbered=OCCUPIED))
    return SQL.step(SHOWN, "shown", unseen=unseen, threshold=least)


def numbered(cut: Cut, classes: int) -> exp.Select:
    sets = [position for position, partitions in cut.partitions.items() if partitions.specialized]
    several = sorted([*sets, *(position for position, pieces in cut.pieces.items() if len(pieces) > 1)])
    points: exp.Expr = POINTS.table
    columns = [CLASS, ROW_COUNT, *map(value_column, several)]
    for position in sets:
        name = f"{PLACE}_{position}"
        points = subquery(placed(points, columns, cut.partitions[position], name), f"anon_placed_{position}")
        columns = [name, *(each for each in columns if each != value_column(position))]
    query = select([], exp.alias_(points, "anon_points", table=True))
    index: exp.Expr = cast(column(CLASS, "anon_points"), "BIGINT")
    strides = cut.strides(classes)
    for position in several:
        if position in sets:
            place = column(f"{PLACE}_{position}", "anon_points")
        else:
            alias = f"anon_pieces_{position}"
            on = column("value", alias).eq(column(value_column(position), "anon_points"))
            query = query.join(subquery(values_in(PIECES, position, ["place"]), alias), on=on, copy=False)
            place = column("place", alias)
        index = exp.Add(this=index, expression=exp.Mul(this=place, expression=number(strides[position])))
    return query.select(aliased(index, INDEX), column(ROW_COUNT, "anon_points"), copy=False)


# Rows


def places(cut: Cut) -> pa.Table:
    rows = [(piece.position, place, piece.first) for found in cut.pieces.values() for place, piece in enumerate(found)]
    rows += [
        (piece.position, place, piece.first)
        for partitions in cut.partitions.values()
        for place, antichain in enumerate(partitions.antichains)
        for piece in antichain
    ]
    return table(dict.fromkeys(("position", "place", "first"), pa.int64()), rows)


def equal_rows(cut: Cut, classes: int, columns: Sequence[SourceColumn], target: tuple[int, str]) -> Step:
    """Make :data:`EQUAL_ROWS`, with the published columns in the source's order.

    ``target`` is the position and the column of classes.
    """
    query = select([], exp.alias_(SHOWN.table, "anon_shown", table=True))
    places = {axis.name: axis.position for axis in cut.axes}
    strides = cut.strides(classes)
    for found in columns:
        position = places.get(found.name, target[0])
        alias = f"anon_labels_{position}"
        shown: exp.Expr = column("label", alias)
        if found.name in places:
            place = digit(strides[position], cut.widths[position], "anon_shown")
            labels = SQL.query("sets_of_labels" if position in cut.partitions else "labels", position=position)
        else:
            place, labels = digit(1, classes, "anon_shown"), SQL.query("classes", position=position)
            shown = cast_value(shown, found.traits.released_as)
        query = query.join(subquery(labels, alias), on=column("place", alias).eq(place), copy=False)
        query = query.select(aliased(shown, found.name), copy=False)
    query = query.select(aliased(column(NOISY, "anon_shown"), ROW_COUNT), copy=False)
    query.set("order", ascending(column(INDEX, "anon_shown")))
    return Step(EQUAL_ROWS, query, "equal rows")
