"""Branch and bound: what is left of boxes, how they are split, and how few there are."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.lattice import Lattice, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from sqlanon.search.boxes import Batch, Box, Boxes, ExpectedRows, Facts
from sqlanon.search.optimal import Branching
from sqlanon.search.problem import Proof
from tests.brute_force import covers
from tests.effort import examples
from tests.search_cases import WideLimits


def problem(table: list[list[float]], quality: sa.Entropy | sa.LM | None = None) -> SearchProblem:
    flat = tuple(tuple(terms) for terms in table)
    names = tuple(f"q{position}" for position in range(len(table)))
    lattice = Lattice(names, tuple(len(terms) - 1 for terms in table))
    losses = LevelLosses(prec=flat, entropy=flat, lm=flat, ncp=flat)
    return SearchProblem(quality or sa.Entropy(), LossContext(lattice, losses, 1000, 50, 5))


MAX_INFORMATION = 90
"""The most information of the quasi-identifiers of a satisfying node."""


def information(position: int, level: int) -> int:
    return (3 - level) * (4 + position % 3)


def of_information(levels: Levels) -> NodeSummary:
    """A node satisfies if its quasi-identifiers, of four levels each, carry little enough information together."""
    return summary(
        levels, min(max(sum(itertools.starmap(information, enumerate(levels))) - MAX_INFORMATION + 50, 0), 1000)
    )


def summary(levels: Levels, rows: int) -> NodeSummary:
    return NodeSummary(levels, 100, 90, rows, rows, class_losses={"dm_star": 10_000, "dm": 10_000})


def least_loss(table: list[list[float]]) -> float:
    """By their information, the least loss of the quasi-identifiers so far."""
    least = {0: 0.0}
    for position, terms in enumerate(table):
        longer: dict[int, float] = {}
        for (before, loss), (level, term) in itertools.product(least.items(), enumerate(terms)):
            after = before + information(position, level)
            longer[after] = min(loss + term, longer.get(after, math.inf))
        least = longer
    return min(loss for together, loss in least.items() if together <= MAX_INFORMATION)


def losses(noise: float = 0.0, width: int = 15) -> list[list[float]]:
    return [[level * (1 + position / 7) * (1 + noise) for level in range(4)] for position in range(width)]


@pytest.mark.repeated
def test_few_boxes_wait_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The latest are split until they are gone, so that memory does not grow with what is checked."""
    made: list[Boxes] = []

    def boxes(*parts: Any) -> Boxes:
        made.append(Boxes(*parts))
        return made[-1]

    monkeypatch.setattr("sqlanon.search.optimal.Boxes", boxes)
    with WideLimits(at_once=32, most_boxes=100).imposed():
        running = SEARCHES["optimal"](problem(losses()))
        inquiry = next(running)
        for _ in range(examples(320)):
            assert len(made[0]) <= 100 + 2 * 32 * 15
            inquiry = running.send([of_information(levels) for levels in inquiry.nodes])


NODES = st.tuples(*[st.integers(0, 2)] * 3)
FLAT = ([0.0, 0.0, 0.0],) * 3


@given(
    ends=st.tuples(NODES, NODES),
    known=st.dictionaries(NODES, st.integers(0, 200), max_size=6),
    table=st.sampled_from([losses(width=3), FLAT]),
    ceiling=st.sampled_from([2.0, 4.5, math.inf]),
)
def test_boxes_hold_every_node_that_no_fact_rules_out(
    ends: tuple[Levels, Levels], known: dict[Levels, int], table: list[list[float]], ceiling: float
) -> None:
    task = problem(table)
    facts = Facts(task)
    boxes = Boxes(task, facts)
    for levels, rows in known.items():
        boxes.learn(summary(levels, rows), ruled_out=False)
    low, high = tuple(map(min, *ends)), tuple(map(max, *ends))
    left = boxes.narrowed(Batch.of([Box(low, high, 0, 0.0)]), ceiling)
    branching = Branching(task, boxes, ExpectedRows(task.context, facts))
    parts = [*left.only(left.are_single).boxes()]
    for half in branching.halves(left.only(~left.are_single), ceiling):
        parts += half.boxes()
    held = [node for part in parts for node in between(part.low, part.high)]
    assert len(held) == len(set(held))
    for node in between(low, high):
        rows = max((rows for levels, rows in known.items() if covers(levels, node)), default=0)
        if rows <= 50 and task.least_loss_from(node, rows) <= ceiling:
            (part,) = (part for part in parts if covers(part.high, node) and covers(node, part.low))
            assert part.suppressed_rows <= rows
            assert part.bound <= task.least_loss_from(node, rows)


def between(low: Levels, high: Levels) -> list[Levels]:
    return list(itertools.product(*(range(least, most + 1) for least, most in zip(low, high, strict=True))))


def test_a_search_that_knows_what_nodes_suppress_checks_few_of_them() -> None:
    """15 quasi-identifiers of four levels: a billion nodes, and a forecast that is learned from some of them."""
    table = losses()
    running = SEARCHES["optimal"](problem(table))
    inquiry = next(running)
    for _ in range(60):
        inquiry = running.send([of_information(levels) for levels in inquiry.nodes])
    assert inquiry.loss is not None
    assert inquiry.loss <= 1.1 * least_loss(table)
    assert inquiry.lower_bound() > 0.25 * least_loss(table)


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
    running = SEARCHES["optimal"](task)
    inquiry = next(running)
    with pytest.raises(StopIteration) as finished:
        while True:
            inquiry = running.send([nodes[levels] for levels in inquiry.nodes])
    outcome: SearchOutcome = finished.value.value
    assert outcome.best == nodes[0,]


@pytest.mark.repeated
@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_a_search_by_proofs_finds_every_node_of_least_loss(strength: float) -> None:
    """However little is proven of a box: a part of the fewest rows that one of its nodes suppresses."""
    task = replace(problem(losses(width=3)), has_proofs=True)
    lattice = between((0,) * 3, (3,) * 3)
    for seed in range(examples(240)):
        rows = np.random.default_rng(seed).permutation(250)[: len(lattice)].tolist()
        nodes = {
            levels: replace(summary(levels, suppressed), certain_suppressed_rows=0)
            for levels, suppressed in zip(lattice, rows, strict=True)
        }
        outcome = by_proofs(task, nodes, strength)
        found = {levels: task.loss(node) for levels, node in nodes.items() if task.satisfies(node)}
        assert outcome.proven_optimal == bool(found)
        assert {*outcome.ties} == {levels for levels in found if found[levels] == min(found.values())}


def by_proofs(task: SearchProblem, nodes: dict[Levels, NodeSummary], strength: float) -> SearchOutcome:
    def proof(low: Levels, high: Levels) -> Proof:
        fewest = min(nodes[levels].suppressed_rows for levels in between(low, high))
        return Proof(int(strength * fewest), nodes[high])

    running = SEARCHES["optimal"](task)
    inquiry = next(running)
    with pytest.raises(StopIteration) as finished:
        while True:
            proofs = [proof(*interval) for interval in inquiry.intervals]
            inquiry = running.send(proofs or [nodes[levels] for levels in inquiry.nodes])
    outcome: SearchOutcome = finished.value.value
    return outcome


def test_that_no_node_satisfies_is_found_out_by_few_checks() -> None:
    """The top fails for its own classes alone; each of the 15 nodes below it is certain to suppress too many rows."""
    task = problem(losses())
    top = task.context.lattice.top

    def answer(levels: Levels) -> NodeSummary:
        return replace(summary(levels, 900), certain_suppressed_rows=0 if levels == top else 60)

    running = SEARCHES["optimal"](task)
    inquiry = next(running)
    with pytest.raises(StopIteration) as finished:
        while True:
            inquiry = running.send([answer(levels) for levels in inquiry.nodes])
    outcome: SearchOutcome = finished.value.value
    assert outcome.unsatisfiable
    assert outcome.checked_nodes < 100
    assert outcome.least_suppressed_rows == 60
