"""A good node early: a walk downhill from the top, then exchanges of one quasi-identifier's level for another's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sqlanon.model.lattice import NodeSummary, with_level
from sqlanon.search.arrays import Index
from sqlanon.search.optimal.wide import WideRegion
from sqlanon.search.problem import SearchProblem, margin


class Descent:
    """The walk.

    From a node it goes to the one a level below that satisfies and loses the less the fewer rows it suppresses for it.
    Where there is none, it looks for a better node among those with one level raised and another lowered. A better node
    found by anybody is where it goes on from then.
    """

    def __init__(self, problem: SearchProblem, region: WideRegion) -> None:
        self._problem = problem
        self._region = region
        self._satisfying: dict[Index, NodeSummary] = {}
        self._best: Index | None = None
        self._here: Index | None = None
        self._exchanges: Iterator[Index] | None = None

    def learn(self, index: Index, summary: NodeSummary) -> None:
        """Take note of a satisfying node."""
        self._satisfying[index] = summary
        if self._best is None or self._less(index, self._best):
            self._best = index

    def next(self, count: int) -> list[Index]:
        """Up to ``count`` nodes to check; none if there is nothing to gain nearby, or no node satisfies yet."""
        if self._best is None:
            return []
        if self._here is None or (self._exchanges is not None and self._less(self._best, self._here)):
            self._go(self._best)
        while self._exchanges is None:
            assert self._here is not None
            unknown = [node for node in _lowered(self._here) if self._is_open(node)]
            if unknown:
                return unknown[:count]
            downhill = [
                node for node in _lowered(self._here) if node in self._satisfying and self._less(node, self._here)
            ]
            if downhill:
                self._go(max(downhill, key=self._worth))
            elif self._less(self._best, self._here):
                self._go(self._best)
            else:
                self._exchanges = iter(self._exchanged(self._here))
        # They seldom gain, and need less of a batch than the walk.
        return list(itertools.islice(filter(self._is_open, self._exchanges), -(-count // 2)))

    def _go(self, node: Index) -> None:
        self._here = node
        self._exchanges = None

    def _exchanged(self, node: Index) -> list[Index]:
        """The exchanges that may gain, first those that gain least: they are the likeliest to satisfy."""
        loss = self._loss(node)
        found = [
            (self._region.terms.of(other), other)
            for other in _exchanges(node, self._region.top)
            if self._region.terms.bound_of(other) < loss
        ]
        return [other for _, other in sorted(found, key=lambda pair: (-pair[0], pair[1]))]

    def _is_open(self, node: Index) -> bool:
        return not self._region.is_checked(node) and not self._region.is_ruled_out(node)

    def _worth(self, node: Index) -> tuple[float, Index]:
        """How much less a node loses than the one that the walk is at, for each row more that it suppresses."""
        assert self._here is not None
        rows = self._satisfying[node].suppressed_rows - self._satisfying[self._here].suppressed_rows
        return (self._loss(self._here) - self._loss(node)) / (1 + max(rows, 0)), node

    def _less(self, node: Index, other: Index) -> bool:
        loss = self._loss(other)
        return self._loss(node) < loss - margin(loss)

    def _loss(self, node: Index) -> float:
        """The loss of a satisfying node, as far as it was asked for: levels determine what labels lose."""
        summary = self._satisfying[node]
        return (self._problem.least_loss if self._problem.quality.label_losses else self._problem.loss)(summary)


def _lowered(node: Index) -> Iterator[Index]:
    for position, step in enumerate(node):
        if step:
            yield with_level(node, position, step - 1)


def _exchanges(node: Index, top: Index) -> Iterator[Index]:
    for raised, lowered in itertools.permutations(range(len(node)), 2):
        for more in range(node[raised] + 1, top[raised] + 1):
            for less in range(node[lowered]):
                changed = list(node)
                changed[raised], changed[lowered] = more, less
                yield tuple(changed)
