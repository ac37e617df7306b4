"""What a search is asked and what it answers; the tie rule that all searches share.

A search is a generator that yields batches of nodes and receives their summaries in the same order. It knows no
database, so the same search runs against DuckDB, another engine, or a dictionary in a test.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from sqlanon.model.lattice import Levels, LossContext, NodeSummary, total
from sqlanon.model.quality import QualityModel

BATCH_SIZE = 32
"""Nodes per query: enough to share its fixed cost, few enough to learn from the answer."""

TOLERANCE = 1e-12
"""Losses that differ by less, relative to the larger of 1 and the loss, are equal: sums of floats in any order."""


@dataclass(frozen=True)
class SearchProblem:
    """Find the node with the least loss among those that satisfy the policy."""

    quality: QualityModel
    context: LossContext

    def satisfies(self, summary: NodeSummary) -> bool:
        """Whether the suppressed rows stay within the limit, and anything is left to publish."""
        return summary.suppressed_rows <= self.context.allowed_rows and summary.kept_class_count > 0

    def rules_out_below(self, summary: NodeSummary) -> bool:
        """Whether no less general node can satisfy the policy either."""
        return summary.certain_suppressed_rows > self.context.allowed_rows


@dataclass(frozen=True)
class SearchOutcome:
    """The answer of a search.

    Attributes:
        best: the node to publish, None if no node satisfies the policy.
        loss: its loss.
        ties: every satisfying node with that loss, ``best`` first, then in lexicographic order.
        checked_nodes: how many nodes were checked with a query.
        closest: the checked node with the fewest suppressed rows, for the message of a failed run.
        minimal_nodes: the satisfying nodes with no satisfying node below them, if the search looks for these; then
            ``ties`` are among them.
    """

    best: NodeSummary | None
    loss: float | None
    ties: tuple[Levels, ...]
    checked_nodes: int
    closest: NodeSummary | None
    minimal_nodes: tuple[Levels, ...] | None = None


Search = Generator[Sequence[Levels], Sequence[NodeSummary], SearchOutcome]


def margin(loss: float) -> float:
    """How far two losses may be apart and still count as equal."""
    return TOLERANCE * max(1.0, abs(loss))


def below(levels: Levels) -> tuple[slice, ...]:
    """The index of a node and everything less general, in an array with an axis per quasi-identifier."""
    return tuple(slice(0, level + 1) for level in levels)


def above(levels: Levels) -> tuple[slice, ...]:
    """The index of a node and everything more general, in an array with an axis per quasi-identifier."""
    return tuple(slice(level, None) for level in levels)


class Incumbent:
    """The best nodes so far; every search reports its summaries here."""

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        self.loss = float("inf")
        self._candidates: list[tuple[float, NodeSummary]] = []
        self._checked = 0
        self._closest: NodeSummary | None = None

    def note(self, summary: NodeSummary) -> bool:
        """Take note of a checked node; says whether it satisfies the policy."""
        self._checked += 1
        if self._closest is None or summary.suppressed_rows < self._closest.suppressed_rows:
            self._closest = summary
        return self.problem.satisfies(summary)

    def offer(self, summary: NodeSummary) -> None:
        """Take note of a checked node, and of its loss if it satisfies the policy."""
        if self.note(summary):
            self.propose(summary)

    def propose(self, summary: NodeSummary) -> None:
        """Compare a satisfying node that was noted with the best so far."""
        loss = self.problem.quality.loss(summary, self.problem.context)
        if loss <= self.loss + margin(self.loss):
            self.loss = min(self.loss, loss)
            self._candidates.append((loss, summary))

    def outcome(self, minimal_nodes: tuple[Levels, ...] | None = None) -> SearchOutcome:
        """The answer, once the search is over."""
        ties = [summary for loss, summary in self._candidates if loss <= self.loss + margin(self.loss)]
        best = self._first(ties) if ties else None
        others = sorted(summary.levels for summary in ties if summary is not best)
        return SearchOutcome(
            best=best,
            loss=self.loss if best else None,
            ties=(best.levels, *others) if best else (),
            checked_nodes=self._checked,
            closest=self._closest,
            minimal_nodes=minimal_nodes,
        )

    def _first(self, ties: list[NodeSummary]) -> NodeSummary:
        """spec/ola.md step 5: least entropy, then fewest suppressed rows, least height, lexicographic levels."""
        least = min(self._entropy(summary) for summary in ties)
        equal = [summary for summary in ties if self._entropy(summary) <= least + margin(least)]
        order: Callable[[NodeSummary], tuple[int, int, Levels]] = lambda summary: (  # noqa: E731
            summary.suppressed_rows,
            sum(summary.levels),
            summary.levels,
        )
        return min(equal, key=order)

    def _entropy(self, summary: NodeSummary) -> float:
        return total(self.problem.context.losses.entropy, summary.levels)
