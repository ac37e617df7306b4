"""Item sets as masks: which children of a label a row has items under, and which partition its masks put it in.

A partition is told by the masks of all labels that have been specialized. A row whose masks are those of none that is
left is in none, and is not counted any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import pyarrow as pa
from sqlglot import exp

from sqlanon.methods.cuts.shared.pieces import Partitions, Piece, Specialization
from sqlanon.methods.cuts.shared.queries.points import CLASS, POINTS, ROW_COUNT, value_column
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    all_of,
    cast,
    column,
    count_rows,
    grouped,
    number,
    select,
    string,
    subquery,
    union_all,
    values,
)

PLACE = "anon_place"
MASK = "anon_mask"

MOST_BITS = 120
"""Of a HUGEINT, which has 127."""


def partition_relation(position: int) -> Relation:
    """The partitions that are left of a predictor: their place, and their mask for every label that was specialized."""
    return Relation(f"anon_partitions_{position}", "node")


def partition_table(partitions: Partitions) -> pa.Table:
    """The rows of :func:`partition_relation`."""
    columns = {PLACE: list(range(len(partitions.kept)))}
    for place in range(len(partitions.specialized)):
        columns[_mask_column(place)] = [partition.masks[place] for partition in partitions.kept]
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def mask_counts(partitions: Partitions, candidates: Iterable[tuple[int, Specialization]]) -> exp.Query:
    """``candidate``, ``child`` (a mask), ``class`` and ``row_count`` of labels, each over all partitions that have it.

    Masks of several labels are made in one pass over the items, as parts of one number.

    Args:
        partitions: those that are left.
        candidates: the labels by their number.
    """
    return union_all(_counts_in_one_number(partitions, together) for together in _that_fit_in_numbers(candidates))


def partition_counts(partitions: Partitions, specialization: Specialization) -> exp.Select:
    """``place`` of a partition, ``mask`` and ``rows`` of a label."""
    rows = subquery(_masked(partitions, specialization, []), "anon_masked")
    keys = [aliased(column(PLACE), "place"), aliased(column(MASK), "mask")]
    query = select([*keys, aliased(count_rows(), "rows")], rows).where(_some(), copy=False)
    return grouped(query, [key.this.copy() for key in keys])


def placed(points: exp.Expr, columns: Sequence[str], partitions: Partitions, name: str) -> exp.Select:
    """Some columns of the points that are in a partition, with its place under a name.

    Args:
        points: a relation of points.
        columns: which columns of it.
        partitions: those that are left.
        name: what the place is called.
    """
    if not partitions.specialized:
        return select([*map(column, columns), aliased(number(0), name)], points)
    items = value_column(partitions.axis.position)
    masks = {_mask_column(place): _mask(column(items), each) for place, each in enumerate(partitions.specialized)}
    found = select([*map(column, columns), *(aliased(mask, each) for each, mask in masks.items())], points)
    kept = exp.alias_(partition_relation(partitions.axis.position).table, "anon_kept", table=True)
    same = all_of([column(each, "anon_found").eq(column(each, "anon_kept")) for each in masks])
    shown = [*(column(each, "anon_found") for each in columns), aliased(column(PLACE, "anon_kept"), name)]
    return select(shown, subquery(found, "anon_found")).join(kept, on=same, copy=False)


def _masked(partitions: Partitions, specialization: Specialization, columns: Sequence[str]) -> exp.Select:
    """Some columns of the points in partitions, the place of the partition, and the mask of a label."""
    items = value_column(partitions.axis.position)
    points = placed(POINTS.table, [items, *columns], partitions, PLACE)
    mask = aliased(_mask(column(items), specialization), MASK)
    return select([*map(column, columns), column(PLACE), mask], subquery(points, "anon_placed"))


def _counts_in_one_number(partitions: Partitions, candidates: Sequence[tuple[int, Specialization]]) -> exp.Query:
    """As :func:`mask_counts`, of labels whose children are not too many for the bits of a number."""
    shifts = list(accumulate((len(each.children) for _, each in candidates), initial=0))
    children = [child for _, each in candidates for child in each.children]
    items = value_column(partitions.axis.position)
    masks = aliased(_bits_of(column(items), children), MASK)
    points = subquery(placed(POINTS.table, [items, CLASS], partitions, PLACE), "anon_placed")
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
    each_mask = select([column("candidate"), column(CLASS), aliased(mask, MASK)], parts).join(
        subquery(select([column(CLASS), masks], points), "anon_masked"), join_type="cross", copy=False
    )
    keys = [column("candidate"), aliased(column(MASK), "child"), aliased(column(CLASS), "class")]
    query = select([*keys, aliased(count_rows(), ROW_COUNT)], subquery(each_mask, "anon_parted"))
    return grouped(query.where(_some(), copy=False), [column("candidate"), column(MASK), column(CLASS)])


def _that_fit_in_numbers(
    candidates: Iterable[tuple[int, Specialization]],
) -> Iterator[list[tuple[int, Specialization]]]:
    """Candidates in order, as many together as have no more children than :data:`MOST_BITS`."""
    together: list[tuple[int, Specialization]] = []
    bits = 0
    for candidate in candidates:
        more = len(candidate[1].children)
        if bits + more > MOST_BITS and together:
            yield together
            together, bits = [], 0
        together.append(candidate)
        bits += more
    if together:
        yield together


def _mask(items: exp.Expr, specialization: Specialization) -> exp.Expr:
    """Which children a list has items under, as the bits of a number: 0 for none."""
    return _bits_of(items, specialization.children)


def _bits_of(items: exp.Expr, pieces: Sequence[Piece]) -> exp.Expr:
    """Which pieces a list has items in, as the bits of a number: 0 for none."""
    bits = {piece: 1 << place for place, piece in enumerate(pieces)}
    ends = {piece.end: 0 for piece in pieces}
    starts = sorted({0: 0, **ends, **{piece.first: bit for piece, bit in bits.items()}}.items())
    each = exp.Lambda(this=_bit(starts), expressions=[exp.to_identifier("anon_item")])
    found = exp.Anonymous(this="list_transform", expressions=[items, each])
    return exp.Anonymous(this="list_aggregate", expressions=[found, string("bit_or")])


def _bit(starts: Sequence[tuple[int, int]]) -> exp.Expr:
    """The number of the last start that is not behind an item, found by halves."""
    if len(starts) == 1:
        return number(starts[0][1])
    middle = len(starts) // 2
    is_before = exp.LT(this=exp.column("anon_item"), expression=number(starts[middle][0]))
    return exp.case().when(is_before, _bit(starts[:middle]), copy=False).else_(_bit(starts[middle:]), copy=False)


def _some() -> exp.Expr:
    return exp.NEQ(this=column(MASK), expression=number(0))


def _mask_column(place: int) -> str:
    return f"{MASK}_{place}"
