"""Boxes that are cut along walls, and ways up to nodes that may be walls: compared with all nodes of small lattices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SearchProblem
from sqlanon.search.optimal import climbs as climbs_module
from sqlanon.search.optimal import walls as module
from sqlanon.search.optimal.boxes import Box, Boxes
from sqlanon.search.optimal.climbs import Climbs
from sqlanon.search.optimal.walls import Walls
from tests.brute_force import covers
from tests.effort import examples

EXAMPLES = settings(max_examples=examples(400), deadline=None)


@st.composite
def problems(draw: st.DrawFn) -> SearchProblem:
    """A lattice of up to 64 nodes, with levels that are not allowed; 5 of 100 rows may be suppressed."""
    terms, bounds = [], []
    for _ in range(draw(st.integers(1, 3))):
        steps = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=4))
        terms.append(tuple(np.cumsum([0.0, *steps]).tolist()))
        most = draw(st.integers(0, len(steps)))
        bounds.append((draw(st.integers(0, most)), most))
    names = tuple(f"q{position}" for position in range(len(terms)))
    low, high = (tuple(ends[side] for ends in bounds) for side in (0, 1))
    lattice = Lattice(names, tuple(len(each) - 1 for each in terms), low, high)
    table = tuple(terms)
    losses = LevelLosses(prec=table, entropy=table, lm=table, ncp=table)
    return SearchProblem(sa.Entropy(), LossContext(lattice, losses, 100, 5, 5))


def walls_of(problem: SearchProblem) -> Walls:
    return Walls(problem, Boxes(problem).known_bounds)


@EXAMPLES
@given(problem=problems(), data=st.data(), at_once=st.integers(1, 3), most=st.sampled_from([1, 1000]))
def test_boxes_hold_the_nodes_that_are_below_no_wall(
    problem: SearchProblem, data: st.DataObject, at_once: int, most: int
) -> None:
    lattice = problem.context.lattice
    nodes = list(lattice.nodes())
    ceiling = data.draw(st.sampled_from([2.0, 5.0, float("inf")]))
    walls = walls_of(problem)
    walls.put([Box(lattice.bottom, lattice.top, 0, 0.0, 0.0)])
    found: list[Levels] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CUT_AT_ONCE", at_once)
        patch.setattr(module, "COMPARED_AT_ONCE", at_once)
        patch.setattr(module, "MAX_CUT_BOXES", most)
        for _ in range(data.draw(st.integers(1, 4))):
            found += (added := data.draw(st.lists(st.sampled_from(nodes), max_size=6)))
            for node in added:
                walls.add(node)
            opened = walls.opened(10**6, ceiling)
            assert walls.least_bound() == opened.bounds.min(initial=np.inf)
            assert len(walls) == len(opened.bounds)
            held = [
                [node for node in nodes if covers(node, tuple(low)) and covers(tuple(high), node)]
                for low, high in zip(opened.low.tolist(), opened.high.tolist(), strict=True)
            ]
            inside = [node for each in held for node in each]
            assert len(inside) == len(set(inside))
            left = [node for node in nodes if not any(covers(wall, node) for wall in found)]
            cheap = {node for node in left if problem.least_loss_from(node, 0) <= ceiling}
            assert cheap <= set(inside)
            for low, bound, each in zip(opened.low.tolist(), opened.bounds, held, strict=True):
                assert tuple(low) in left
                assert bound <= min(problem.least_loss_from(node, 0) for node in each)
            walls.close(np.zeros(len(opened.bounds), dtype=bool))


@given(seed=st.integers(0, 2**32), width=st.integers(1, 30), count=st.integers(0, 5))
def test_walls_are_found_above_nodes_of_many_levels(seed: int, width: int, count: int) -> None:
    """More levels than a word has bits."""
    heights = (4,) * width
    table = ((0.0, 1.0, 2.0, 3.0, 4.0),) * width
    lattice = Lattice(tuple(f"q{place}" for place in range(width)), heights, (0,) * width, heights)
    losses = LevelLosses(prec=table, entropy=table, lm=table, ncp=table)
    walls = walls_of(SearchProblem(sa.Entropy(), LossContext(lattice, losses, 100, 5, 5)))
    random = np.random.default_rng(seed)
    found: list[Levels] = [tuple(each) for each in random.integers(2, 5, (count, width)).tolist()]
    for wall in found:
        walls.add(wall)
    nodes: list[Levels] = [tuple(each) for each in random.integers(0, 4, (7, width)).tolist()]
    walls.put([Box(node, node, 0, 0.0, 0.0) for node in nodes])
    opened = walls.opened(10**6, float("inf"))
    left = [node for node in nodes if not any(covers(wall, node) for wall in found)]
    assert sorted(map(tuple, opened.low.tolist())) == sorted(left)


@given(problem=problems(), data=st.data(), limit=st.integers(0, 8))
def test_a_way_up_ends_with_the_last_node_that_fails(problem: SearchProblem, data: st.DataObject, limit: int) -> None:
    """Whatever the forecast says, unless it is sure: a node suppresses fewer rows the higher it is."""
    lattice = problem.context.lattice
    climbs = Climbs(problem)

    def summary(levels: Levels) -> NodeSummary:
        rows = max(100 - 15 * sum(levels), 0) + 5 - limit
        return NodeSummary(levels, 9, 9, max(rows, 0), max(rows, 0))

    nodes = list(lattice.nodes())
    for levels in data.draw(st.lists(st.sampled_from(nodes), min_size=1)):
        climbs.learn(summary(levels))
    starts = np.array(data.draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True)), dtype=np.int16)
    ways = list(climbs.from_nodes(starts, 5))
    assert 1 <= len(ways) <= 5
    for way in ways:
        assert way.nodes[0] == tuple(starts[way.start])
        for before, after in itertools.pairwise(way.nodes):
            assert covers(after, before)
            assert sum(after) == sum(before) + 1
        asked = []
        is_sure = data.draw(st.booleans())
        while not way.is_over:
            asked.append(way.place)
            found = summary(way.nodes[way.place])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(climbs_module, "SURE", 2.0 if is_sure else float("inf"))
                way.learn(problem.rules_out_below(found), climbs.root(found), climbs.failing)
        assert len(asked) == len(set(asked))
        fails = [problem.rules_out_below(summary(node)) for node in way.nodes]
        assert way.fails <= sum(fails) - 1
        assert is_sure or way.fails == sum(fails) - 1
