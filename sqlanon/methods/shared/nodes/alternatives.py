"""Nodes that keep a quasi-identifier finer than the chosen one does, and what they lose more.

They are the cheapest of those that the search checked, and of a few more: not proven to be the cheapest of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from sqlanon.model.lattice import Levels, NodeSummary, total
from sqlanon.model.release import FinerNode
from sqlanon.search import Inquiry, SearchOutcome, SearchProblem

MAX_SWAPS = 32
"""Nodes that are counted for it after a search: as many as in a batch."""

MIN_SWAPS = 8
"""Nodes that are counted for it however few the search has checked."""

SHARE_OF_SWAPS = 1 / 10
"""Nodes that are counted for it, by node that the search has checked."""

MAX_COMPARED = 1
"""Nodes by quasi-identifier whose losses are computed: those of the least known losses."""

MAX_REMEMBERED = 10_000
"""Nodes of a search that are remembered: an exhaustive one checks millions."""

Answer = Callable[[Inquiry], Sequence[NodeSummary]]


class Satisfying:
    """The satisfying nodes of a search; of too many, those of the least known losses.

    Attributes:
        nodes: their summaries.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self.nodes: list[NodeSummary] = []
        self._problem = problem

    def add(self, node: NodeSummary) -> None:
        """Remember a node."""
        self.nodes.append(node)
        if len(self.nodes) >= 2 * MAX_REMEMBERED:
            self.nodes = sorted(self.nodes, key=partial(known_loss, self._problem))[:MAX_REMEMBERED]


def finer_nodes(
    problem: SearchProblem, outcome: SearchOutcome, satisfying: Sequence[NodeSummary], answer: Answer
) -> tuple[FinerNode, ...]:
    """For each quasi-identifier the satisfying node of the least loss that has it finer, the least loss first.

    Args:
        problem: what was searched for.
        outcome: of the search, which found a node.
        satisfying: nodes that were checked and satisfy.
        answer: gives the summaries of nodes.
    """
    assert outcome.best is not None
    assert outcome.loss is not None
    best, least = outcome.best.levels, outcome.loss

    def asked(nodes: Sequence[Levels], *, counts: bool) -> list[NodeSummary]:
        inquiry = Inquiry(nodes, least, lambda: None, "counts" if counts else "everything")
        return [node for node in answer(inquiry) if problem.satisfies(node)] if nodes else []

    checked = {node.levels for node in satisfying}
    swaps = [levels for levels in _cheapest_swaps(problem, best) if levels not in checked]
    swaps = swaps[: min(max(int(SHARE_OF_SWAPS * outcome.checked_nodes), MIN_SWAPS), MAX_SWAPS)]
    nodes = [*satisfying, *asked(swaps, counts=not problem.quality.class_losses)]
    compared = {
        node.levels for place in range(len(best)) for node in _finer(problem, best, nodes, place)[:MAX_COMPARED]
    }
    found = sorted(
        (_compared(problem, best, least, node) for node in asked(sorted(compared), counts=False)),
        key=lambda node: node.loss,
    )
    names = problem.context.lattice.quasi_identifiers
    cheapest = (next((node for node in found if name in node.finer), None) for name in names)
    chosen = [node for node in cheapest if node is not None]
    return tuple(node for node in found if node in chosen)


def _compared(problem: SearchProblem, best: Levels, least: float, node: NodeSummary) -> FinerNode:
    lattice = problem.context.lattice
    before, now, loss = lattice.named(best), lattice.named(node.levels), problem.quality.loss(node, problem.context)
    return FinerNode(
        node=now,
        finer={name: level for name, level in now.items() if level < before[name]},
        coarser={name: level for name, level in now.items() if level > before[name]},
        loss=loss,
        loss_difference=loss - least,
        suppressed_rows=node.suppressed_rows,
    )


def _finer(problem: SearchProblem, best: Levels, nodes: Sequence[NodeSummary], place: int) -> list[NodeSummary]:
    """The nodes that are finer than the best one in a place, those of the least known losses first."""
    finer = [node for node in nodes if node.levels[place] < best[place]]
    return sorted(finer, key=lambda node: (known_loss(problem, node), node.levels))


def known_loss(problem: SearchProblem, node: NodeSummary) -> float:
    """The loss of a node, or a lower bound of it where it takes what labels lose, which may not have been asked."""
    return problem.least_loss(node) if problem.quality.label_losses else problem.quality.loss(node, problem.context)


def _cheapest_swaps(problem: SearchProblem, best: Levels) -> list[Levels]:
    """The nodes with one quasi-identifier a level finer and another one coarser, those of the least known losses."""
    quality, known = problem.quality, problem.quality.known_bounds(problem.context)
    return sorted(_swaps(problem, best), key=lambda levels: (quality.combined(total(known, levels)), levels))


def _swaps(problem: SearchProblem, best: Levels) -> Iterator[Levels]:
    lattice, places = problem.context.lattice, range(len(best))
    for finer in (place for place in places if best[place] > lattice.bottom[place]):
        for coarser in (place for place in places if place != finer and best[place] < lattice.top[place]):
            yield tuple(level - (place == finer) + (place == coarser) for place, level in enumerate(best))
