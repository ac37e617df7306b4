"""Which listed class a cell goes to, against the least of all that cover it; and fits that hold where all cells do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.local.covering import ListedClasses, hold_covering
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.peeling import LocalClasses
from sqlanon.methods.local.settling import OUT, UnsettledError
from sqlanon.model.lattice import Lattice
from tests.effort import examples
from tests.naive_peel import Case, Levels, Row, Tree, Values, cell_arrays
from tests.property.test_peeling import cases, peeled

Class = tuple[Levels, Values]
"""The levels of a class, and the values of one of its rows."""


def naive_covering(case: Case, classes: Sequence[Class], values: Values) -> int:
    """The number of the class of the least loss that covers some values, of several the first."""
    covering = [
        (case.loss(levels, members), number)
        for number, (levels, members) in enumerate(classes)
        if all(
            tree.above[at][one] == tree.above[at][other]
            for tree, level, one, other in zip(case.trees, levels, members, values, strict=True)
            for at in range(level, len(tree.above))
        )
    ]
    return min(covering)[1] if covering else OUT


@st.composite
def lists(draw: st.DrawFn) -> tuple[Case, list[Class], int]:
    """A table, classes at any levels, some of them twice, and how many of the bits of keys a word has."""
    case = draw(cases())
    levels = st.tuples(*(st.integers(0, len(tree.above) - 1) for tree in case.trees))
    classes = draw(st.lists(st.tuples(levels, st.sampled_from([row.values for row in case.rows])), max_size=12))
    return case, classes, draw(st.sampled_from([63, 3]))


@settings(max_examples=examples(800), deadline=None)
@given(lists())
def test_of_all_classes_that_cover_a_cell_it_goes_to_that_of_the_least_loss(
    given: tuple[Case, list[Class], int],
) -> None:
    case, classes, width = given
    cells = cell_arrays(case)
    of_values = {tuple(values): cell for cell, values in enumerate(cells.values.T.tolist())}
    width_of = len(case.trees)
    levels = np.array([levels for levels, _ in classes], dtype=np.int64).reshape(len(classes), width_of).T
    members = np.array([of_values[values] for _, values in classes], dtype=np.int64)
    listed = ListedClasses.of(cells, Ladders.of(cells, case.lattice, case.shares), levels, members)
    keys = in_words(cells.keys, width)
    narrow = ListedClasses(in_words(listed.keys, width), in_words(listed.masks, width), listed.losses)
    found = narrow.covering(keys)
    expected = [naive_covering(case, classes, tuple(values)) for values in cells.values.T.tolist()]
    assert found.tolist() == expected


def in_words(keys: np.ndarray, width: int) -> np.ndarray:
    """The bits of keys in words of some bits each."""
    if width >= 63:
        return keys
    words = [word >> shift & (1 << width) - 1 for word in keys for shift in range(0, 63, width)]
    return np.array(words, dtype=np.int64).reshape(len(words), keys.shape[1])


@settings(max_examples=examples(400), deadline=None)
@given(cases())
def test_what_a_fit_lists_meets_the_bounds_with_the_rows_that_go_there(case: Case) -> None:
    try:
        before = peeled(case)
    except UnsettledError:
        assume(False)
    check_list(case, before)


def check_list(case: Case, before: LocalClasses) -> LocalClasses:
    """The list of a fit, after it was held against the naive choice of a class for each row."""
    cells = cell_arrays(case)
    found = hold_covering(cells, case.lattice, case.bounds, before, shares=case.shares, allowed_rows=case.allowed_rows)
    firsts = [int(np.flatnonzero(found.of_cells == number)[0]) for number in range(len(found.levels))]
    values = [tuple(each) for each in cells.values.T.tolist()]
    classes = [(tuple(levels), values[first]) for levels, first in zip(found.levels.tolist(), firsts, strict=True)]
    assert found.of_cells.tolist() == [naive_covering(case, classes, each) for each in values]
    members = defaultdict(list)
    for row in case.rows:
        members[naive_covering(case, classes, row.values)].append(row)
    assert len(members.pop(OUT, [])) == found.left_out
    assert all(map(case.judge.meets, members.values()))
    assert found.rows.tolist() == [len(members[number]) for number in range(len(classes))]
    assert len(np.unique(found.labels, axis=0)) == len(found.labels)
    lost = sum(case.loss(levels, row.values) for number, (levels, _) in enumerate(classes) for row in members[number])
    assert np.isclose(found.loss, (lost / 2**30 + found.left_out) / len(case.rows))
    return found


def test_a_class_that_loses_a_row_to_another_is_not_listed() -> None:
    """A class of three loses a row, which a class that was found later covers with less loss."""
    trees = (Tree(((0, 1, 2, 3), (0, 0, 1, 1), (0,) * 4)), Tree(((0, 1, 2), (0, 0, 1), (0,) * 3)))
    rows = tuple(map(Row, [(3, 1), (3, 2), (1, 2), (2, 2), (3, 0), (1, 2)]))
    case = Case(trees, rows, Lattice(("q0", "q1"), (2, 2)), sa.KAnonymity(3).bounds)
    before = peeled(case)
    assert before.rows.min() >= 3
    found = check_list(case, before)
    assert found.left_out == 0
    assert len(found.levels) < len(before.levels)
