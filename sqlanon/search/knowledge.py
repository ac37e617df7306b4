"""Knowledge of a search: what checked nodes prove about the others, the nodes that are left, and the tie rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Protocol

import numpy as np

from sqlanon.model.lattice import Asked, Levels, NodeSummary, total
from sqlanon.search.arrays import Bounds, Mask, levels_of, spread_downwards, spread_upwards
from sqlanon.search.optimal.boxes import Boxes, Facts
from sqlanon.search.problem import Inquiry, Part, SearchOutcome, SearchProblem, margin


class Region(Protocol):
    """The nodes of a lattice that may still satisfy the policy."""

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """Take note of a checked node; ``ruled_out`` says that neither it nor anything below it satisfies."""

    def least_bound(self) -> float:
        """Bound the loss of every unchecked satisfying node from below.

        Infinite if there is none.
        """

    def least_suppressed_rows(self) -> float:
        """Bound the rows that any unchecked node suppresses from below; infinite without such a node."""


class DenseRegion:
    """The nodes that may still satisfy the policy, for lattices so small that a few arrays fit into memory."""

    def __init__(self, problem: SearchProblem) -> None:
        self.known = known_bounds(problem)  # the lower bound of every node's loss that needs no check
        self._problem = problem
        self.checked: Mask = np.zeros(self.known.shape, dtype=bool)
        # The nodes that fail for certain, as do all below them; and the share of rows that a node suppresses at least.
        # Both are spread from the checked nodes when they are needed.
        self.ruled_out: Mask = np.zeros(self.known.shape, dtype=bool)
        self.suppressed: Bounds = np.zeros(self.known.shape)
        self._inherited: Bounds = np.full(self.known.shape, -np.inf)

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """Take note of a checked node; ``ruled_out`` says that neither it nor anything below it satisfies."""
        index = self._problem.context.lattice.index(summary.levels)
        self.checked[index] = True
        self.ruled_out[index] = ruled_out
        context = self._problem.context
        self._inherited[index] = self._problem.quality.bound_above(summary, context)
        self.suppressed[index] = summary.certain_suppressed_rows / context.row_count

    def bounds(self) -> Bounds:
        """The lower bound of the loss of every node that may satisfy the policy; infinite for the others."""
        spread_downwards(self.ruled_out)
        possible: Mask = ~(self.checked | self.ruled_out)
        spread_upwards(self._inherited)
        bounds: Bounds = np.where(possible, np.maximum(self.known, self._inherited), np.inf)
        context, quality = self._problem.context, self._problem.quality
        if quality.counts_suppression(context):
            # Nodes suppress no fewer rows than the checked nodes above them.
            spread_downwards(self.suppressed)
            concerned = possible & (self.suppressed > 0)
            levels = levels_of(np.argwhere(concerned), context.lattice)
            lifted = quality.bounds_with_suppression(levels, self.suppressed[concerned], context)
            bounds[concerned] = np.maximum(bounds[concerned], lifted)
        return bounds

    def least_bound(self) -> float:
        """The least that a possible node may lose; infinite if there is none. A pass over the lattice."""
        return float(self.bounds().min())

    def least_suppressed_rows(self) -> float:
        """Bound the rows that any unchecked node suppresses from below; infinite without such a node."""
        spread_downwards(self.suppressed)
        least = self.suppressed[~self.checked].min(initial=np.inf)
        return float(np.rint(least * self._problem.context.row_count))


def known_bounds(problem: SearchProblem) -> Bounds:
    """The bounds that follow from the levels alone: an array with an entry per node."""
    terms = [np.asarray(losses, dtype=np.float64) for losses in problem.known_terms()]
    return problem.quality.combined(reduce(np.add.outer, terms))


DENSE_NODES = 2**16
"""The most nodes of a lattice that is held as arrays with an entry per node: every batch takes passes over them."""


def region_of(problem: SearchProblem) -> DenseRegion | Boxes:
    """Every node of the lattice, none of them checked yet."""
    return DenseRegion(problem) if problem.context.lattice.size <= DENSE_NODES else Boxes(problem, Facts(problem))


class Knowledge:
    """Every search reports its summaries here, and gets its outcome from here whenever it is over or stopped."""

    def __init__(self, problem: SearchProblem, region: Region, *, monotonic: bool = False) -> None:
        """Nothing is checked yet. ``monotonic`` promises that nothing below a node that fails can satisfy."""
        self.problem = problem
        self.loss = float("inf")  # the least of a checked node that satisfies
        self.best: Levels | None = None  # the first node found of that loss
        self.checked_nodes = 0
        self.closest: NodeSummary | None = None  # the checked node with the fewest suppressed rows
        self._region = region
        self._monotonic = monotonic
        self._satisfying: list[NodeSummary] = []

    def ask(self, nodes: Sequence[Levels], asks: Asked | None = None) -> Inquiry:
        """Ask for the summaries of some nodes: if it is not said what, for all that a comparison of losses needs."""
        if asks is None:
            asks = "counts" if self.problem.quality.follows_from_counts else "everything"
        inverse = self.problem.max_loss is not None
        loss = None if inverse or self.loss == float("inf") else self.loss
        return Inquiry(nodes, loss, (lambda: None) if inverse else self.lower_bound, asks)

    def may_be_best(self, summary: NodeSummary) -> bool:
        """Whether a counted node satisfies and may lose no more than the best so far, whatever its labels lose."""
        return self.problem.satisfies(summary) and self.problem.least_loss(summary) <= self.loss + margin(self.loss)

    def learn(self, summary: NodeSummary) -> bool:
        """Take note of a checked node; says whether it satisfies the policy.

        What its labels lose has to be known only if it may be the best.
        """
        satisfies = self.problem.satisfies(summary)
        self.note(summary)
        if self.may_be_best(summary):
            loss = self.problem.loss(summary)
            if self.best is None or loss < self.loss - margin(self.loss):
                self.best = summary.levels
            if loss <= self.loss + margin(self.loss):
                self.loss = min(self.loss, loss)
                self._satisfying.append(summary)
        ruled_out = self.problem.rules_out_below(summary) or (self._monotonic and not satisfies)
        self._region.learn(summary, ruled_out=ruled_out)
        return satisfies

    def note(self, summary: NodeSummary) -> None:
        """Take note of a checked node that cannot be the best."""
        self.checked_nodes += 1
        if self.closest is None or summary.suppressed_rows < self.closest.suppressed_rows:
            self.closest = summary

    def lower_bound(self) -> float:
        """The least that a satisfying node may lose, checked or not; infinite if there is none."""
        return min(self.loss, self._region.least_bound())

    def outcome(
        self, candidates: Iterable[NodeSummary] | None = None, minimal_nodes: tuple[Levels, ...] | None = None
    ) -> SearchOutcome:
        """The answer so far: the best of all nodes that satisfy, or of the ``candidates`` among them."""
        found = self._satisfying if candidates is None else list(candidates)
        loss = min(map(self.problem.loss, found), default=float("inf"))
        ties = ranked(self.problem, (node for node in found if self.problem.loss(node) <= loss + margin(loss)))
        bound = self.lower_bound()
        proven = bool(ties) and loss <= bound + margin(loss)
        fewest = self._region.least_suppressed_rows()
        if self.problem.context.allowed_rows == 0:  # a model may prove that some row is suppressed, and not how many
            fewest = min(fewest, 1)
        if self.closest is not None:
            fewest = min(fewest, self.closest.suppressed_rows)
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
            least_suppressed_rows=int(fewest),
        )


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


def check(knowledge: Knowledge, nodes: Sequence[Levels]) -> Part:
    """Count some nodes, and ask what labels lose only where that decides.

    It is asked of one node after another, the most promising first: that one may rule out the rest.
    """
    labels_lose = bool(knowledge.problem.quality.label_losses)
    waiting: list[NodeSummary] = []
    for summary in (yield knowledge.ask(nodes, "counts" if labels_lose else None)):
        if knowledge.problem.needs_labels(summary) and knowledge.may_be_best(summary):
            waiting.append(summary)
        else:
            knowledge.learn(summary)
    for counted in sorted(waiting, key=knowledge.problem.least_loss):
        summary = counted
        if knowledge.may_be_best(counted):
            (summary,) = yield knowledge.ask([counted.levels], "loss")
        knowledge.learn(summary)
