"""DiffGen by the examples of spec/diffgen.md (e), and a few more that can be seen through."""

from fractions import Fraction

import numpy as np

import sqlanon as sa
from sqlanon.methods.cut_pieces import (
    Cut,
    ItemAxis,
    NumericAxis,
    Partitions,
    Piece,
    Specialization,
    TaxonomyAxis,
)
from sqlanon.methods.diffgen.draws import Scored, groups, threshold

AGES = {f"number {place}": (0, 10) for place in range(6)}


def test_what_a_step_costs() -> None:
    adult = sa.DiffGen(numeric=AGES, specializations=10)
    assert adult.step == Fraction(1, 52)
    assert adult.step * (6 + 2 * 10) == Fraction(1, 2)
    assert sa.DiffGen(numeric={"age": (0, 10)}, specializations=2).step == Fraction(1, 10)


def test_splits_of_two_values() -> None:
    """{20, 40} in [15, 95): 16 to 20, 21 to 40 and 41 to 94, of which the first and the last put all rows together."""
    scored = Scored(np.array([5, 25]), np.array([2, 1]))
    first, counts, scores = groups(Piece(0, 0, 80), scored)
    assert (first + 15).tolist() == [16, 21, 41]
    assert counts.tolist() == [5, 20, 54]
    assert scores.tolist() == [1, 2, 1]


def test_splits_without_rows_and_at_the_ends() -> None:
    nobody = Scored(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    assert [each.tolist() for each in groups(Piece(0, 3, 8), nobody)] == [[4], [4], [0]]
    # The least value leaves no split below it, and the largest none above.
    ends = Scored(np.array([3, 7]), np.array([9, 4]))
    assert [each.tolist() for each in groups(Piece(0, 3, 8), ends)] == [[4], [4], [9]]


def test_thresholds() -> None:
    assert threshold(None, Fraction(1, 2), 1) == 3
    assert threshold(None, Fraction(1, 2), 2) == 6
    assert threshold(0, Fraction(1, 2), 1) == 1
    assert threshold(2.5, Fraction(1), 1) == 3


ITEMS = ItemAxis(0, "items", 4, ((0, 1, 2, 3), (0, 2), (0,)))
"""11 and 12 under 1*, 21 and 22 under 2*."""


def test_partitions_of_item_sets() -> None:
    """Items 11 and 12 are {**}, then {1*}, and when 1* is specialized {11, 12} (spec, example of the paper)."""
    root = Specialization(ITEMS.root, ITEMS.children(ITEMS.root))
    assert [tuple(child)[1:] for child in root.children] == [(0, 2), (2, 4), (4, 5)]
    start = Partitions(ITEMS)
    assert start.masks(root) == [1, 2, 3, 4]
    only_ones, both = 1, 3
    after = start.after(root, [(0, only_ones), (0, both)])
    ones, twos = Piece(0, 0, 2), Piece(0, 2, 4)
    assert after.antichains == ((ones,), (ones, twos))
    assert after.having[ones] == [0, 1]
    assert after.having[twos] == [1]
    of_ones = Specialization(ones, ITEMS.children(ones))
    last = after.after(of_ones, [(0, 3), (1, 1)])
    assert last.antichains == ((Piece(0, 0, 1), Piece(0, 1, 2)), (Piece(0, 0, 1), twos))
    assert last.pieces == (Piece(0, 0, 1), Piece(0, 1, 2), twos, Piece(0, 4, 5))


def test_labels_that_tell_nothing_apart_are_passed_over() -> None:
    axis = TaxonomyAxis(0, "place", 3, ((0, 1, 2), (0, 2), (0, 2), (0,)))
    assert axis.children(axis.root) == (Piece(0, 0, 2), Piece(0, 2, 3))
    assert axis.children(Piece(0, 0, 2)) == (Piece(0, 0, 1), Piece(0, 1, 2))
    assert axis.children(Piece(0, 2, 3)) == ()
    assert [axis.depth(piece) for piece in (axis.root, Piece(0, 0, 2), Piece(0, 0, 1), Piece(0, 2, 3))] == [3, 2, 0, 2]


def test_how_many_combinations_there_are() -> None:
    axes = (ITEMS, NumericAxis(1, "age", 80), TaxonomyAxis(2, "place", 3, ((0, 1, 2), (0, 2), (0,))))
    cut = Cut.of_roots(axes)
    assert cut.size == 1
    assert [piece.position for piece in cut.unsplit()] == [1]
    cut = cut.with_splits({Piece(1, 0, 80): 30})
    sizes = {candidate.piece.position: cut.size_after(candidate) for candidate in cut.candidates()}
    assert sizes == {0: 4, 1: 2, 2: 2}
    cut = cut.specialized(cut.splits[Piece(1, 0, 80)])
    assert cut.pieces[1] == (Piece(1, 0, 30), Piece(1, 30, 80))
    assert cut.widths == (1, 2, 1)
    assert cut.strides(2) == (2, 2, 4)
