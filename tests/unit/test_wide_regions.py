"""A search without arrays of the lattice's size: where it splits boxes, what it asks, and what it holds."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SearchOutcome, SearchProblem
from sqlanon.search.optimal.boxes import Boxes
from sqlanon.search.optimal.splits import Splits
from sqlanon.search.optimal.wide import by_boxes, exchanges
from tests.search_cases import WideLimits


def problem(table: list[list[float]], quality: sa.Entropy | sa.LM | None = None) -> SearchProblem:
    """A lattice of those losses; 50 of 1,000 rows may be suppressed."""
    flat = tuple(tuple(terms) for terms in table)
    names = tuple(f"q{position}" for position in range(len(table)))
    lattice = Lattice(names, tuple(len(terms) - 1 for terms in table))
    losses = LevelLosses(prec=flat, entropy=flat, lm=flat, ncp=flat)
    return SearchProblem(quality or sa.Entropy(), LossContext(lattice, losses, 1000, 50, 5))


TOLD = 90
"""What the quasi-identifiers of a satisfying node tell together at most."""


def told(position: int, level: int) -> int:
    return (3 - level) * (4 + position % 3)


def of_information(levels: Levels) -> NodeSummary:
    """A node satisfies if its quasi-identifiers, of four levels each, tell little enough together."""
    rows = min(max(sum(itertools.starmap(told, enumerate(levels))) - TOLD + 50, 0), 1000)
    return NodeSummary(levels, 100, 90, rows, rows, class_losses={"dm_star": 10_000, "dm": 10_000})


def least_loss(table: list[list[float]]) -> float:
    """By what they tell, the least loss of the quasi-identifiers so far."""
    least = {0: 0.0}
    for position, terms in enumerate(table):
        longer: dict[int, float] = {}
        for (before, loss), (level, term) in itertools.product(least.items(), enumerate(terms)):
            after = before + told(position, level)
            longer[after] = min(loss + term, longer.get(after, math.inf))
        least = longer
    return min(loss for together, loss in least.items() if together <= TOLD)


def losses(noise: float = 0.0) -> list[list[float]]:
    return [[level * (1 + position / 7) * (1 + noise) for level in range(4)] for position in range(15)]


def test_few_boxes_wait_however_many_there_are() -> None:
    """The latest are split until they are gone, so that memory does not grow with what is checked."""
    task = problem(losses())
    with WideLimits(at_once=32, most_boxes=100).imposed():
        boxes = Boxes(task)
        running = by_boxes(task, boxes)
        inquiry = next(running)
        for _ in range(80):
            assert len(boxes) <= 100 + 2 * 32 * 15
            inquiry = running.send([of_information(levels) for levels in inquiry.nodes])


BOXES = st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)] * 15)


@given(box=BOXES)
def test_halves_of_a_box_are_all_of_it(box: list[list[int]]) -> None:
    low, high = (tuple(ends[place] for ends in box) for place in (0, 1))
    assume(low != high)
    position, level = Splits(problem(losses())).of(low, high)
    assert low[position] <= level < high[position]


def test_a_box_is_split_where_most_is_lost() -> None:
    table = [[0.0, 1.0, 2.0], [0.0, 1.0, 5.0], [0.0, 0.0, 4.0]]
    splits = Splits(problem(table))
    assert splits.of((0, 0, 0), (2, 2, 2)) == (1, 1)
    assert splits.of((0, 2, 0), (2, 2, 2)) == (2, 1)
    assert splits.of((0, 0, 0), (2, 1, 1)) == (0, 0)


def test_exchanges_have_one_level_lower_and_one_higher() -> None:
    lattice = Lattice(("a", "b"), (2, 3), minimum=(0, 1), maximum=(2, 2))
    assert list(exchanges((1, 1), lattice)) == [(0, 2)]
    assert sorted(exchanges((2, 1), lattice)) == [(0, 2), (1, 2)]
    assert list(exchanges((0, 1), lattice)) == []


def test_what_a_node_suppresses_is_not_held_against_finer_ones_unless_it_is_certain() -> None:
    """A coarser class may violate a model that is not monotonic, where its parts do not."""
    shares = ((0.0, 0.1, 0.5),)
    losses = LevelLosses(prec=shares, entropy=shares, lm=shares, ncp=shares, largest_lm=shares)
    task = SearchProblem(sa.LM(), LossContext(Lattice(("q",), (2,)), losses, 1000, 50, 5))
    nodes = {
        (0,): NodeSummary((0,), 9, 9, 0, 0, lm=0.0),
        (1,): NodeSummary((1,), 5, 4, 900, 0, lm=0.91),
        (2,): NodeSummary((2,), 1, 1, 0, 0, lm=0.5),
    }
    running = by_boxes(task, Boxes(task))
    inquiry = next(running)
    with pytest.raises(StopIteration) as finished:
        while True:
            inquiry = running.send([nodes[levels] for levels in inquiry.nodes])
    outcome: SearchOutcome = finished.value.value
    assert outcome.best == nodes[0,]
