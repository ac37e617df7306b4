"""What the checked nodes prove about the others, and the tie rule that all searches share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np

from sqlanon.model.lattice import Levels, NodeSummary, total
from sqlanon.search.arrays import Bounds, Mask, spread_downwards, spread_upwards
from sqlanon.search.problem import Inquiry, SearchOutcome, SearchProblem, margin


class Knowledge:
    """Every search reports its summaries here, and gets its outcome from here whenever it is over or stopped.

    Attributes:
        known: the lower bound of every node's loss that needs no check.
        loss: the least loss of a checked node that satisfies, infinite if there is none.
        checked_nodes: how many nodes were checked.
        closest: the checked node with the fewest suppressed rows.
    """

    def __init__(self, problem: SearchProblem, *, monotonic: bool = False) -> None:
        """Nothing is checked yet. ``monotonic`` promises that nothing below a node that fails can satisfy."""
        self.problem = problem
        self.known = _known_bounds(problem)
        self.loss = float("inf")
        self.checked_nodes = 0
        self.closest: NodeSummary | None = None
        self._monotonic = monotonic
        self._satisfying: list[NodeSummary] = []
        self._checked: Mask = np.zeros(self.known.shape, dtype=bool)
        self._ruled_out: Mask = np.zeros(self.known.shape, dtype=bool)
        self._inherited: Bounds = np.full(self.known.shape, -np.inf)

    def ask(self, nodes: Sequence[Levels]) -> Inquiry:
        """Ask for the summaries of some nodes."""
        inverse = self.problem.max_loss is not None
        loss = None if inverse or self.loss == float("inf") else self.loss
        return Inquiry(nodes, loss, (lambda: None) if inverse else self._lower_bound)

    def learn(self, summary: NodeSummary) -> bool:
        """Take note of a checked node; says whether it satisfies the policy."""
        index = self.problem.context.lattice.index(summary.levels)
        satisfies = self.problem.satisfies(summary)
        self.checked_nodes += 1
        if self.closest is None or summary.suppressed_rows < self.closest.suppressed_rows:
            self.closest = summary
        if satisfies:
            self._compare(summary)
        self._checked[index] = True
        self._ruled_out[index] = self.problem.rules_out_below(summary) or (self._monotonic and not satisfies)
        self._inherited[index] = self.problem.quality.bound_above(summary, self.problem.context)
        return satisfies

    def possible(self) -> Mask:
        """The nodes that are neither checked nor ruled out: any of them may satisfy the policy."""
        spread_downwards(self._ruled_out)
        possible: Mask = ~(self._checked | self._ruled_out)
        return possible

    def bounds(self) -> Bounds:
        """The lower bound of the loss of every node, should it satisfy the policy."""
        spread_upwards(self._inherited)
        return np.maximum(self.known, self._inherited)

    def outcome(
        self, candidates: Iterable[NodeSummary] | None = None, minimal_nodes: tuple[Levels, ...] | None = None
    ) -> SearchOutcome:
        """The answer so far: the best of all nodes that satisfy, or of the ``candidates`` among them."""
        found = self._satisfying if candidates is None else list(candidates)
        loss = min(map(self._loss, found), default=float("inf"))
        ties = ranked(self.problem, (summary for summary in found if self._loss(summary) <= loss + margin(loss)))
        bound = self._lower_bound()
        proven = bool(ties) and loss <= bound + margin(loss)
        return SearchOutcome(
            best=ties[0] if ties else None,
            loss=loss if ties else None,
            ties=tuple(summary.levels for summary in ties),
            checked_nodes=self.checked_nodes,
            closest=self.closest,
            proven_optimal=proven,
            lower_bound=loss if proven else None if bound == float("inf") else bound,
            unsatisfiable=bound == float("inf"),
            minimal_nodes=minimal_nodes,
        )

    def _compare(self, summary: NodeSummary) -> None:
        """Keep a satisfying node if none found before is better."""
        loss = self._loss(summary)
        if loss <= self.loss + margin(self.loss):
            self.loss = min(self.loss, loss)
            self._satisfying.append(summary)

    def _loss(self, summary: NodeSummary) -> float:
        return self.problem.quality.loss(summary, self.problem.context)

    def _lower_bound(self) -> float:
        """The least that a satisfying node may lose, checked or not; infinite if there is none."""
        return min(self.loss, float(self.bounds()[self.possible()].min(initial=np.inf)))


def ranked(problem: SearchProblem, ties: Iterable[NodeSummary]) -> list[NodeSummary]:
    """Nodes of equal loss, the one to publish first, the others in lexicographic order.

    spec/ola.md step 5: least entropy, then fewest suppressed rows, least height, lexicographic levels.
    """
    others = sorted(ties, key=lambda summary: summary.levels)
    if not others:
        return []
    entropies = {summary.levels: total(problem.context.losses.entropy, summary.levels) for summary in others}
    least = min(entropies.values())
    order: Callable[[NodeSummary], tuple[int, int, Levels]] = lambda summary: (  # noqa: E731
        summary.suppressed_rows,
        sum(summary.levels),
        summary.levels,
    )
    best = min((summary for summary in others if entropies[summary.levels] <= least + margin(least)), key=order)
    others.remove(best)
    return [best, *others]


def _known_bounds(problem: SearchProblem) -> Bounds:
    """The bounds that follow from the levels alone: an array with an entry per node."""
    lattice = problem.context.lattice
    terms = [
        np.asarray(losses[least : most + 1], dtype=np.float64)
        for losses, least, most in zip(
            problem.quality.known_bounds(problem.context), lattice.bottom, lattice.top, strict=True
        )
    ]
    return problem.quality.combined(reduce(np.add.outer, terms))
