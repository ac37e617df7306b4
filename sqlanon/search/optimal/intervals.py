"""Optimal search that splits intervals: a proof about all nodes between two of them rules them out at once.

Where privacy models are not monotonic, a node proves little of finer ones and nothing of coarser ones, so that a search
that rules out by single nodes checks most of the lattice. The cells of a node prove more: how many rows every node
between it and a coarser one suppresses at least. An interval of nodes is dropped if that is more than may be
suppressed, or if its least general node loses more than the best so far with as many rows suppressed; else it is split.

Source: spec/bounds2.md. Only what loses more than the best is dropped, so that the ties are complete.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlanon.model.lattice import Levels, NodeSummary, with_level
from sqlanon.search.evidence import Evidence
from sqlanon.search.knowledge import Knowledge, check
from sqlanon.search.optimal.splits import Splits
from sqlanon.search.problem import Inquiry, Search, SearchProblem, SearchStopped, margin


@dataclass(frozen=True)
class Interval:
    """All nodes between two.

    Attributes:
        low, high: the least and the most general one.
        below: the cells of ``low``, or of a node below it.
        suppressed_rows: rows that every node of it suppresses at least, as far as is known.
        loss: a lower bound of the loss of each of its nodes.
    """

    low: Levels
    high: Levels
    below: Evidence
    suppressed_rows: int
    loss: float


class Stack:
    """The intervals whose nodes may satisfy the policy, the next one last."""

    def __init__(self, problem: SearchProblem, evidence: Evidence) -> None:
        self._problem = problem
        lattice = problem.context.lattice
        self._intervals: list[Interval] = []
        self._fewest = float("inf")
        self.push(lattice.bottom, lattice.top, evidence, 0)

    def push(self, low: Levels, high: Levels, below: Evidence, suppressed_rows: int) -> None:
        """Add an interval."""
        loss = self._problem.least_loss_from(low, suppressed_rows)
        self._intervals.append(Interval(low, high, below, suppressed_rows, loss))

    def last(self, loss: float) -> Interval | None:
        """The next interval, which stays; those before it are dropped that lose more than the best."""
        while self._intervals and self._intervals[-1].loss > loss + margin(loss):
            self._intervals.pop()
        return self._intervals[-1] if self._intervals else None

    def drop(self, suppressed_rows: int | None = None) -> None:
        """Remove the next interval; all of its nodes suppress too many rows, if it is known how many at least."""
        self._intervals.pop()
        if suppressed_rows is not None:
            self._fewest = min(self._fewest, suppressed_rows)

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """See :class:`sqlanon.search.knowledge.Region`; single nodes rule nothing out here."""

    def least_bound(self) -> float:
        """See :class:`sqlanon.search.knowledge.Region`."""
        return min((each.loss for each in self._intervals), default=float("inf"))

    def least_suppressed_rows(self) -> float:
        """See :class:`sqlanon.search.knowledge.Region`."""
        return min((each.suppressed_rows for each in self._intervals), default=self._fewest)


def by_intervals(problem: SearchProblem, evidence: Evidence) -> Search:
    """Find a node of least loss, and all its ties, by splitting the lattice into intervals."""
    stack = Stack(problem, evidence)
    knowledge = Knowledge(problem, stack)
    splits = Splits(problem)
    known: set[Levels] = set()
    with suppress(SearchStopped):
        while (interval := stack.last(knowledge.loss)) is not None:
            yield from _examined(problem, stack, knowledge, interval, known, splits)
    return knowledge.outcome()


def _examined(
    problem: SearchProblem, stack: Stack, knowledge: Knowledge, interval: Interval, known: set[Levels], splits: Splits
) -> Generator[Inquiry, Sequence[NodeSummary], None]:
    """Check the ends of an interval, then drop it or split it."""
    low, high, context = interval.low, interval.high, problem.context
    cells = interval.below if interval.below.levels == low else interval.below.at(low)
    proof = cells.up_to(high, context.allowed_rows)
    ends = [proof.summary]
    if cells is not interval.below or low == context.lattice.bottom:
        ends.append(cells.up_to(low, context.allowed_rows).summary)
    yield knowledge.ask(())  # whoever follows the search may end it here
    for summary in ends:
        if summary.levels not in known:
            known.add(summary.levels)
            yield from _checked(problem, knowledge, summary)
    suppressed = max(proof.suppressed_rows, interval.suppressed_rows)
    if suppressed > context.allowed_rows or suppressed == context.row_count:
        stack.drop(suppressed)
        return
    stack.drop()
    if low != high and problem.least_loss_from(low, suppressed) <= knowledge.loss + margin(knowledge.loss):
        position, middle = splits.of(low, high)
        stack.push(low, with_level(high, position, middle), cells, suppressed)
        stack.push(with_level(low, position, middle + 1), high, cells, suppressed)


def _checked(
    problem: SearchProblem, knowledge: Knowledge, summary: NodeSummary
) -> Generator[Inquiry, Sequence[NodeSummary], None]:
    """Ask for a node if it may be the best; else the arrays have said enough of it."""
    ceiling = knowledge.loss + margin(knowledge.loss)
    if problem.satisfies(summary) and problem.least_loss_from(summary.levels, summary.suppressed_rows) <= ceiling:
        yield from check(knowledge, [summary.levels])
    else:
        knowledge.note(summary)
