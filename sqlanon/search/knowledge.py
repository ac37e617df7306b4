"""Knowledge of a search: what checked nodes prove about others, which nodes are left, and the tie rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from sqlanon.model.lattice import Asked, Levels, NodeSummary, total
from sqlanon.search.arrays import Bounds, Mask, levels_of, spread_downwards, spread_upwards
from sqlanon.search.boxes import Boxes, Facts
from sqlanon.search.problem import Inquiry, Part, SearchOutcome, SearchProblem, margin


class Region(Protocol):
    """The nodes of a lattice that may still satisfy the policy."""

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """Record a checked node; ``ruled_out`` means that neither it nor anything below it satisfies."""

    def least_bound(self) -> float:
        """Return a lower bound of the loss of every unchecked satisfying node; infinite without one."""

    def least_suppressed_rows(self) -> float:
        """Return a lower bound of the rows that any unchecked node suppresses; infinite without one."""


class DenseRegion:
    """A region of a lattice small enough for arrays with an entry per node."""

    def __init__(self, problem: SearchProblem) -> None:
        self.known = problem.known_bounds()  # the lower bounds of losses that need no check
        self._problem = problem
        self.checked: Mask = np.zeros(self.known.shape, dtype=bool)
        # The nodes that certainly fail, like all below them, and lower bounds of shares of suppressed rows.
        # Both are spread from checked nodes on demand.
        self.ruled_out: Mask = np.zeros(self.known.shape, dtype=bool)
        self.suppressed: Bounds = np.zeros(self.known.shape)
        self._inherited: Bounds = np.full(self.known.shape, -np.inf)

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        index = self._problem.context.lattice.index(summary.levels)
        self.checked[index] = True
        self.ruled_out[index] = ruled_out
        context = self._problem.context
        self._inherited[index] = self._problem.quality.bound_above(summary, context)
        self.suppressed[index] = summary.certain_suppressed_rows / context.row_count

    def bounds(self) -> Bounds:
        """Return lower bounds of the loss of nodes that may satisfy the policy; infinite for all others."""
        spread_downwards(self.ruled_out)
        possible: Mask = ~(self.checked | self.ruled_out)
        spread_upwards(self._inherited)
        bounds: Bounds = np.where(possible, np.maximum(self.known, self._inherited), np.inf)
        context, quality = self._problem.context, self._problem.quality
        if quality.counts_suppression(context):
            # A node suppresses at least as many rows as the nodes above it.
            spread_downwards(self.suppressed)
            concerned = possible & (self.suppressed > 0)
            levels = levels_of(np.argwhere(concerned), context.lattice)
            lifted = quality.bounds_with_suppression(levels, self.suppressed[concerned], context)
            bounds[concerned] = np.maximum(bounds[concerned], lifted)
        return bounds

    def least_bound(self) -> float:
        return float(self.bounds().min())

    def least_suppressed_rows(self) -> float:
        spread_downwards(self.suppressed)
        least = self.suppressed[~self.checked].min(initial=np.inf)
        return float(np.rint(least * self._problem.context.row_count))


DENSE_NODES = 2**16  # larger lattices aren't held as arrays, since every batch takes passes over them


def region_of(problem: SearchProblem) -> DenseRegion | Boxes:
    """Return a region of the whole lattice."""
    return DenseRegion(problem) if problem.context.lattice.size <= DENSE_NODES else Boxes(problem, Facts(problem))


class Knowledge:
    """The knowledge of a search: it collects summaries, and has the outcome whenever the search ends or is stopped."""

    def __init__(self, problem: SearchProblem, region: Region, *, monotonic: bool = False) -> None:
        """Begin with no checked node. ``monotonic`` promises that nothing below a failing node satisfies."""
        self.problem = problem
        self.loss = float("inf")  # of the best satisfying node so far
        self.best: Levels | None = None  # the first node of this loss
        self.checked_nodes = 0
        self.closest: NodeSummary | None = None  # the checked node with the fewest suppressed rows
        self._region = region
        self._monotonic = monotonic
        self._satisfying: list[NodeSummary] = []

    def ask(self, nodes: Sequence[Levels], asks: Asked | None = None) -> Inquiry:
        """Ask for summaries of nodes; by default for all that comparing losses needs."""
        if asks is None:
            asks = "counts" if self.problem.quality.follows_from_counts else "everything"
        inverse = self.problem.max_loss is not None
        loss = None if inverse or self.loss == float("inf") else self.loss
        return Inquiry(nodes, loss, (lambda: None) if inverse else self.lower_bound, asks)

    def may_be_best(self, summary: NodeSummary) -> bool:
        """Return whether a counted node satisfies and may lose no more than the best so far."""
        return self.problem.satisfies(summary) and self.problem.least_loss(summary) <= self.loss + margin(self.loss)

    def learn(self, summary: NodeSummary) -> bool:
        """Record a checked node, and return whether it satisfies; the loss of its labels matters only for the best."""
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
        """Record a checked node that cannot be the best."""
        self.checked_nodes += 1
        if self.closest is None or summary.suppressed_rows < self.closest.suppressed_rows:
            self.closest = summary

    def lower_bound(self) -> float:
        """Return a lower bound of the loss of all satisfying nodes, checked or not; infinite without one."""
        return min(self.loss, self._region.least_bound())

    def outcome(
        self, candidates: Iterable[NodeSummary] | None = None, minimal_nodes: tuple[Levels, ...] | None = None
    ) -> SearchOutcome:
        """Return the answer so far: the best satisfying node, or the best of the ``candidates``."""
        found = self._satisfying if candidates is None else list(candidates)
        loss = min(map(self.problem.loss, found), default=float("inf"))
        ties = ranked(self.problem, (node for node in found if self.problem.loss(node) <= loss + margin(loss)))
        bound = self.lower_bound()
        proven = bool(ties) and loss <= bound + margin(loss)
        fewest = self._region.least_suppressed_rows()
        if self.problem.context.allowed_rows == 0:  # a model may prove that rows are suppressed, but not their number
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
    """Order nodes of equal loss: first the node to publish, then the others in lexicographic order.

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
    """Count nodes, and ask for the loss of labels only where it decides.

    It is asked node by node, the most promising first, which may rule out the rest.
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
