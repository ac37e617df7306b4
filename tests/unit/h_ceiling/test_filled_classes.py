"""What a catalog is made from: built from columns in any order, and refused if no filling can have made it."""

import numpy as np
import pytest

from sqlanon.methods.h_ceiling.conditions import FilledClasses
from tests.worlds import filled, read


def of_rows(k: int, *rows: tuple[int, int, int, int]) -> FilledClasses:
    return FilledClasses.of_columns(k, *np.array(rows).T)


def test_the_order_of_the_columns_is_all_the_same() -> None:
    rows = [(7, 1, 3, 1), (7, 4, 1, 0), (-2, 4, 5, 0), (30, 0, 2, 0), (30, 1, 1, 1), (30, 2, 1, 1)]
    for order in (rows, rows[::-1], rows[1::2] + rows[::2]):
        classes = of_rows(4, *order)
        assert classes.identifiers.tolist() == [-2, 7, 30]
        assert classes.sizes.tolist() == [5, 4, 4]
        assert classes.filled_by.tolist() == [0, 1, 2]
        assert classes.own_counterfeits == {1: {1: 1}, 2: {1: 1, 2: 1}}
        assert classes.by_position(classes.published) == {0: {4: 5}, 1: {1: 3, 4: 1}, 2: {0: 2, 1: 1, 2: 1}}
        assert classes.entries_of(np.array([2, 0])).tolist() == [3, 4, 5, 0]


def test_classes_with_most_counterfeits_come_first_then_those_before_others() -> None:
    classes = filled(4, [read(text) for text in ("AB*CD", "ABCD", "AB*C*D*", "ABCD*", "AB*C*D*", "ABCDE")])
    assert classes.deficient.tolist() == [2, 4, 0, 3]


def test_only_a_class_of_k_rows_can_have_counterfeits_and_no_more_than_k_less_one() -> None:
    classes = filled(3, [read(text) for text in ("ABC", "ABCD", "ABCDEF")])
    assert classes.most_counterfeits.tolist() == [2, 0, 0]


def test_there_may_be_no_classes() -> None:
    classes = FilledClasses.of_columns(4, *np.zeros((4, 0), dtype=np.int64))
    assert len(classes) == len(classes.sizes) == len(classes.deficient) == len(classes.positions) == 0


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([(1, 1, 2, 0), (1, 1, 2, 1)], "twice"),
        ([(1, 1, 2, 3), (1, 2, 2, 0)], "fewer rows of a value than counterfeits"),
        ([(1, 1, 4, -1)], "fewer rows of a value than counterfeits"),
        ([(1, 1, 4, 0), (1, 2, 0, 0)], "or none at all"),
        ([(1, 1, 4, 0), (1, 2, 1, 1)], "not 4 rows"),
        ([(1, 1, 3, 3), (1, 2, 1, 1)], "no rows but counterfeits"),
    ],
)
def test_counts_that_no_filling_makes_are_refused(rows: list[tuple[int, int, int, int]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        of_rows(4, *rows)
