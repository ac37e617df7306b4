"""Peeling against the naive twin on random tables, and what holds of every local recoding."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.local import hosts
from sqlanon.methods.local.judging import Judge
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.peeling import LocalClasses, peel
from sqlanon.methods.local.settling import Parts, UnsettledError, settle
from sqlanon.methods.local.watching import Watch
from sqlanon.model.lattice import Lattice
from sqlanon.model.privacy import PrivacyModel
from tests.effort import examples
from tests.naive_peel import Case, NaiveUnsettledError, Row, Tree, cell_arrays, key_order_of, naive_peel

NAME = "s"


@pytest.fixture(autouse=True, scope="module")
def small_batches() -> Iterator[None]:
    """Keys are tried in several batches: the tables here have few classes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hosts, "FIRST_TRIALS", 1)
        patch.setattr(hosts, "GROWTH", 2)
        yield


MODELS: list[tuple[PrivacyModel, ...]] = [
    (sa.KAnonymity(2),),
    (sa.KAnonymity(3),),
    (sa.KAnonymity(2), sa.DistinctLDiversity(NAME, l=2)),
    (sa.DistinctLDiversity(NAME, l=3),),
    (sa.EntropyLDiversity(NAME, l=1.8),),
    (sa.RecursiveCLDiversity(NAME, c=2, l=2),),
    (sa.AlphaKAnonymity(NAME, alpha=0.5, k=2),),
    (sa.TCloseness(NAME, t=0.3),),
    (sa.TCloseness(NAME, t=0.2, distance="ordered"),),
    (sa.KAnonymity(2), sa.TCloseness(NAME, t=0.3, distance="hierarchical")),
    (sa.BetaLikeness(NAME, beta=1),),
    (sa.BetaLikeness(NAME, beta=2, variant="enhanced"),),
    (sa.DeltaDisclosure(NAME, delta=1.2),),
    (sa.DeltaDisclosure(NAME, delta=0.7), sa.KAnonymity(2)),
]


@st.composite
def trees(draw: st.DrawFn, max_values: int = 5, max_height: int = 3) -> Tree:
    """A taxonomy of a few values with one label at its top."""
    above = [tuple(range(draw(st.integers(1, max_values))))]
    for _ in range(draw(st.integers(0, max_height - 1))):
        parents = draw(st.lists(st.integers(0, 2), min_size=max(above[-1]) + 1, max_size=max(above[-1]) + 1))
        numbers = {parent: number for number, parent in enumerate(dict.fromkeys(parents))}
        above.append(tuple(numbers[parents[label]] for label in above[-1]))
    return Tree((*above, (0,) * len(above[0])), draw(st.booleans()))


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 24, max_attributes: int = 3) -> Case:
    """A table, bounds, and what else peeling takes."""
    found = tuple(draw(st.lists(trees(), min_size=1, max_size=max_attributes)))
    sensitive = draw(trees(max_values=4))
    values = st.tuples(*(st.integers(0, len(tree.above[0]) - 1) for tree in found))
    secrets = st.integers(0, len(sensitive.above[0]) - 1)
    row = st.builds(Row, values, secrets, st.integers(0, 5))
    rows = tuple(draw(st.lists(row, min_size=1, max_size=max_rows)))
    present = sorted({row.sensitive for row in rows})  # the database has no codes of absent values
    rows = tuple(replace(row, sensitive=present.index(row.sensitive)) for row in rows)
    sensitive = Tree(tuple(tuple(above[value] for value in present) for above in sensitive.above))
    heights = tuple(len(tree.above) - 1 for tree in found)
    top = tuple(draw(st.sampled_from([height, height, max(height - 1, 0)])) for height in heights)
    bottom = tuple(draw(st.sampled_from([0, 0, min(1, most)])) for most in top)
    return Case(
        trees=found,
        rows=rows,
        lattice=Lattice(tuple(f"q{number}" for number in range(len(found))), heights, bottom, top),
        bounds=tuple(bound for model in draw(st.sampled_from(MODELS)) for bound in model.bounds),
        sensitive_tree=replace(sensitive, above=(tuple(range(len(present))), *sensitive.above[1:])),
        counts_individuals=draw(st.booleans()),
        shares=draw(
            st.sampled_from([None, tuple((number + 1) / sum(range(len(found) + 1)) for number in range(len(found)))])
        ),
        min_share=draw(st.sampled_from([0.0, 0.0, 0.2])),
        allowed_rows=draw(st.sampled_from([0, 0, len(rows) // 4])),
    )


def peeled(case: Case, watch: Watch | None = None) -> LocalClasses:
    return peel(
        cell_arrays(case),
        case.lattice,
        case.bounds,
        shares=case.shares,
        min_share=case.min_share,
        allowed_rows=case.allowed_rows,
        watch=watch,
    )


def classes_of(case: Case, found: LocalClasses) -> tuple[dict[int, list[Row]], list[Row]]:
    """The rows of each class, and those that are left out."""
    cells = cell_arrays(case)
    of_values = {
        tuple(values): int(number) for values, number in zip(cells.values.T.tolist(), found.of_cells, strict=True)
    }
    classes = defaultdict(list)
    for row in case.rows:
        classes[of_values[row.values]].append(row)
    return classes, classes.pop(-1, [])


@settings(max_examples=examples(800), deadline=None)
@given(cases())
def test_the_classes_of_the_naive_twin(case: Case) -> None:
    try:
        expected = naive_peel(case, key_order_of(cell_arrays(case)))
    except NaiveUnsettledError:
        with pytest.raises(UnsettledError):
            peeled(case)
        return
    found = peeled(case)
    classes, out = classes_of(case, found)
    labels = {
        case.labels(tuple(found.levels[number].tolist()), rows[0].values): rows for number, rows in classes.items()
    }
    assert len(labels) == len(classes)
    assert {key: sorted(rows, key=repr) for key, rows in labels.items()} == {
        key: sorted(rows, key=repr) for key, rows in expected.classes.items()
    }
    assert sorted(out, key=repr) == sorted(expected.out, key=repr)
    assert (found.minimality.rows, found.minimality.finest_rows) == (expected.failed, expected.finest_failed)


@settings(max_examples=examples(500), deadline=None)
@given(cases(), st.none() | st.integers(1, 12))
def test_what_holds_of_every_recoding(case: Case, looks: int | None) -> None:
    """It holds of one that was stopped after some looks, too."""
    left = itertools.count(looks or 0, -1)
    try:
        found = peeled(case, None if looks is None else Watch(stopped=lambda: next(left) <= 1))
    except UnsettledError:
        assume(False)
    classes, out = classes_of(case, found)
    assert len(out) == found.left_out <= case.allowed_rows
    lost = 0
    for number, rows in classes.items():
        levels = tuple(found.levels[number].tolist())
        assert case.judge.meets(rows)
        assert found.rows[number] == len(rows)
        assert all(level <= most for level, most in zip(levels, case.lattice.top, strict=True))
        assert len({case.labels(levels, row.values) for row in rows}) == 1
        assert levels == case.finest(rows)
        lost += sum(case.loss(levels, row.values) for row in rows)
    assert len(np.unique(found.labels, axis=0)) == len(found.labels)
    assert np.isclose(found.loss, (lost / 2**30 + len(out)) / len(case.rows))


def alpha_case(secrets: Mapping[int, list[int]], allowed_rows: int = 0) -> Case:
    """A table of one attribute, with the secrets of each value: none may be in more than half of a class."""
    tree = Tree((tuple(range(4)), (0, 0, 0, 1), (0,) * 4))
    rows = [Row((value,), secret) for value, found in secrets.items() for secret in found]
    bounds = sa.AlphaKAnonymity(NAME, alpha=0.5, k=2).bounds
    sensitive = Tree((tuple(range(4)), (0,) * 4))
    return Case((tree,), tuple(rows), Lattice(("q0",), (2,)), bounds, sensitive, allowed_rows=allowed_rows)


def test_a_key_goes_to_the_nearest_class_that_still_meets_the_bounds_with_it() -> None:
    case = alpha_case({0: [0, 1], 1: [0, 0], 3: [0, 1, 2, 3]})
    classes, _ = classes_of(case, peeled(case))
    assert sorted({row.values[0] for row in rows} for rows in classes.values()) == [{0}, {1, 3}]


def test_a_class_that_has_grown_is_tried_again() -> None:
    case = alpha_case({0: [0, 0, 1, 1, 2, 2], 1: [0, 0, 0, 0], 2: [1, 1]}, allowed_rows=4)
    classes, out = classes_of(case, peeled(case))
    assert [{row.values[0] for row in rows} for rows in classes.values()] == [{0, 1, 2}]
    assert not out


def test_classes_that_come_to_have_equal_labels_are_judged_together() -> None:
    """A class without a value and a class with enough of it make one that has too little of it."""
    tree = Tree((tuple(range(5)), (0, 0, 0, 0, 1), (0,) * 5))
    counts = [(0, 4), (0, 4), (1, 1), (0, 2), (3, 5)]  # rows of the rare value and of the other one, by value
    rows = [
        Row((value,), secret) for value, found in enumerate(counts) for secret in (0, 1) for _ in range(found[secret])
    ]
    bounds = sa.DeltaDisclosure(NAME, delta=1).bounds
    sensitive = Tree(((0, 1), (0, 0)))
    case = Case((tree,), tuple(rows), Lattice(("q0",), (2,)), bounds, sensitive)
    cells = cell_arrays(case)
    classes = np.array([0, 0, 1, 1, 2])[cells.values[0]]
    assert all(case.judge.meets([row for row in rows if row.values[0] in few]) for few in ((0, 1), (2, 3), (4,)))
    assert not case.judge.meets([row for row in rows if row.values[0] < 4])
    parts = Parts(cells, Judge.of(cells, bounds), Ladders.of(cells, case.lattice), classes)
    settle(parts, 0, Watch())
    assert set(parts.of_cells.tolist()) == {0}
