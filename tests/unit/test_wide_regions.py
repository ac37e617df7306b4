"""What a search without arrays of the lattice's size holds: whole numbers, antichains, projections, boxes."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary, total
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from sqlanon.search.optimal.antichain import Antichain
from sqlanon.search.optimal.projections import parts
from sqlanon.search.optimal.terms import WholeTerms
from sqlanon.search.problem import BATCH_SIZE
from tests.search_cases import stopped

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


def test_the_last_bits_of_the_losses_do_not_steer_the_search() -> None:
    asked = batches_of(problem(losses()), of_information, 30)
    assert asked == batches_of(problem(losses(noise=4e-16)), of_information, 30)
    assert all(len(batch) == len(set(batch)) <= BATCH_SIZE for batch in asked)
    nodes = [levels for batch in asked for levels in batch]
    assert len(nodes) == len(set(nodes))


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
