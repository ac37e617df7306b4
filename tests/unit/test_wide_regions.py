"""What a search without arrays of the lattice's size holds: whole numbers, antichains, projections, boxes."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary, total
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.optimal.boxes import Antichain
from sqlanon.search.optimal.projections import WholeTerms, parts
from sqlanon.search.optimal.walls import Walls, shares_below
from sqlanon.search.optimal.wide import WideRegion
from sqlanon.search.problem import BATCH_SIZE
from tests.search_cases import stopped

pytestmark = pytest.mark.one_line

NODES = st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=12)


def covers(general: Levels, levels: Levels) -> bool:
    return all(high >= low for high, low in zip(general, levels, strict=True))


@given(added=NODES)
def test_an_antichain_keeps_the_maximal_nodes(added: list[Levels]) -> None:
    chain = Antichain(3)
    for node in added:
        chain.add(node)
    maximal = {node for node in added if not any(covers(other, node) and other != node for other in added)}
    for node in itertools.product(range(4), repeat=3):
        above = [tuple(column) for column in chain.above(node).T.tolist()]
        assert sorted(above) == sorted(other for other in maximal if covers(other, node))
        assert chain.covers(node) == bool(above)


@given(shape=st.lists(st.integers(1, 9), min_size=1, max_size=20), most=st.integers(2, 5000))
def test_parts_have_every_quasi_identifier_once_and_few_nodes(shape: list[int], most: int) -> None:
    found = parts(shape, most)
    assert [position for run in found for position in run] == list(range(len(shape)))
    assert all(len(run) == 1 or math.prod(shape[position] for position in run) <= most for run in found)


def problem(table: list[list[float]], quality: sa.Entropy | sa.LM | None = None) -> SearchProblem:
    """A lattice of those losses; 50 of 1,000 rows may be suppressed."""
    flat = tuple(tuple(terms) for terms in table)
    names = tuple(f"q{position}" for position in range(len(table)))
    lattice = Lattice(names, tuple(len(terms) - 1 for terms in table))
    losses = LevelLosses(prec=flat, entropy=flat, lm=flat, ncp=flat)
    return SearchProblem(quality or sa.Entropy(), LossContext(lattice, losses, 1000, 50, 5))


TABLES = st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=4).map(sorted), min_size=1, max_size=4)


@given(table=TABLES, geometric=st.booleans())
def test_bounds_of_whole_terms_are_bounds_and_close(table: list[list[float]], geometric: bool) -> None:
    task = problem(table, sa.LM(aggregate="geometric") if geometric else None)
    terms = WholeTerms(task)
    for levels in task.context.lattice.nodes():
        known = task.quality.combined(total(task.quality.known_bounds(task.context), levels))
        assert terms.bound_of(levels) <= known * (1 + 1e-15)
        assert terms.bound_of(levels) == pytest.approx(known, rel=1e-9, abs=1e-10 * (1 + max(map(max, table))))


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


def batches_of(task: SearchProblem, check: Callable[[Levels], NodeSummary], count: int) -> list[list[Levels]]:
    """What a search asks first."""
    running = SEARCHES["optimal"](task)
    inquiry = next(running)
    asked = [list(inquiry.nodes)]
    for _ in range(count):
        inquiry = running.send([check(levels) for levels in inquiry.nodes])
        asked.append(list(inquiry.nodes))
    return asked


def losses(noise: float = 0.0) -> list[list[float]]:
    return [[level * (1 + position / 7) * (1 + noise) for level in range(4)] for position in range(15)]


@pytest.mark.deep
def test_the_last_bits_of_the_losses_do_not_steer_the_search() -> None:
    asked = batches_of(problem(losses()), of_information, 30)
    assert asked == batches_of(problem(losses(noise=4e-16)), of_information, 30)
    assert all(len(batch) == len(set(batch)) <= BATCH_SIZE for batch in asked)
    nodes = [levels for batch in asked for levels in batch]
    assert len(nodes) == len(set(nodes))


@pytest.mark.deep
def test_a_billion_nodes_take_little_memory_and_the_bound_rises() -> None:
    task = problem(losses())
    running = SEARCHES["optimal"](task)
    bounds = []
    tracemalloc.start()
    try:
        inquiry = next(running)
        for _ in range(45):
            bounds.append(inquiry.lower_bound())
            inquiry = running.send([of_information(levels) for levels in inquiry.nodes])
        outcome: SearchOutcome = stopped(running, inquiry)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64e6
    assert bounds == sorted(bounds)
    assert outcome.loss is not None
    assert outcome.lower_bound is not None
    assert 0.35 * outcome.loss < outcome.lower_bound <= least_loss(losses())
    assert least_loss(losses()) <= outcome.loss <= 1.1 * least_loss(losses())


WHOLE_TABLES = st.lists(st.lists(st.integers(0, 10**12), min_size=1, max_size=4).map(sorted), min_size=1, max_size=4)


@given(table=WHOLE_TABLES, share=st.floats(0, 1))
def test_nodes_are_drawn_with_the_mean_that_is_wanted(table: list[list[int]], share: float) -> None:
    least, most = (sum(terms[end] for terms in table) for end in (0, -1))
    mean = round(least + share * (most - least))
    drawn = [np.exp(logarithms) for logarithms in shares_below(table, mean)]
    assert all(shares[-1] == pytest.approx(1) and (np.diff(shares) >= 0).all() for shares in drawn)
    reached = sum(float(np.diff(shares, prepend=0) @ terms) for shares, terms in zip(drawn, table, strict=True))
    assert reached == pytest.approx(mean, abs=0.02 * max(most, 1))


def walls_after(task: SearchProblem, nodes: list[Levels]) -> tuple[WideRegion, Walls]:
    """What there is to know once the top and some nodes are checked."""
    region = WideRegion(task)
    knowledge, walls = Knowledge(task, region), Walls(task, region)
    for levels in dict.fromkeys([task.context.lattice.top, *nodes]):
        knowledge.learn(of_information(levels))
        walls.learn(levels, of_information(levels))
    return region, walls


@given(nodes=st.lists(st.tuples(*[st.integers(0, 3)] * 15), max_size=40), loss=st.floats(0) | st.just(math.inf))
def test_walls_are_open_nodes_above_others(nodes: list[Levels], loss: float) -> None:
    region, walls = walls_after(problem(losses()), nodes)
    starts = region.boxes.lowest_open(8, math.inf)
    found = walls.above(starts, 5, loss)
    assert 1 <= len(found) <= 5
    assert not any(region.is_checked(wall) or region.is_ruled_out(wall) for wall in found)
    assert all(any(covers(wall, start) for start in starts) for wall in found)


def test_walls_are_where_nodes_begin_to_satisfy() -> None:
    """Nodes fail by what their quasi-identifiers tell together, which is learned from nodes of two of them."""
    pairs = itertools.combinations(range(15), 2)
    lowered = [tuple(1 if position in pair else 3 for position in range(15)) for pair in pairs]
    lower = [tuple(max(level - 1, 0) for level in levels) for levels in lowered]
    _, walls = walls_after(problem(losses()), lowered + lower)
    (wall,) = walls.above([(0,) * 15], 1, math.inf)
    together = sum(itertools.starmap(told, enumerate(wall)))
    assert 0.9 * TOLD < together < 1.2 * TOLD


def test_where_nothing_is_likely_to_fail_nodes_are_checked_themselves() -> None:
    _, walls = walls_after(problem(losses()), [])
    assert walls.above([(0,) * 15], 1, math.inf) == [(0,) * 15]
