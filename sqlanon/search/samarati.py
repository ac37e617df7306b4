"""Samarati's search: the least height at which a node satisfies, by binary search.

Source: Samarati 2001; Mazzone 2019, section 4.3.4. Sound for monotonic privacy models only: a height above
a satisfying node then has one too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.dense import region_of
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.ola import at_height
from sqlanon.search.problem import Part, Search, SearchProblem, SearchStopped, batches


def samarati(problem: SearchProblem) -> Search:
    """Find the satisfying nodes of least height, and take the one of least loss.

    The paper takes any of them, or one by a preference of the user; the loss is ours. As in the paper a height is
    left once a node there satisfies; the rest of the least height is checked at the end, to compare losses. The node
    need not be optimal: one of larger height may lose less. A stopped search returns the best of what it checked.
    """
    knowledge = Knowledge(problem, region_of(problem), monotonic=True)
    heights = _Heights(knowledge)
    bottom, top = problem.context.lattice.bottom, problem.context.lattice.top
    least, most = sum(bottom), sum(top)
    with suppress(SearchStopped):
        while least < most:
            middle = (least + most) // 2
            yield from heights.check_until_one_satisfies(middle)
            if heights.satisfying[middle]:
                most = middle
            else:
                least = middle + 1
        yield from heights.check_rest(least)
        return knowledge.outcome(heights.satisfying[least])
    return knowledge.outcome()


class _Heights:
    """The nodes by height: those still to check, and those that satisfy."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.satisfying: dict[int, list[NodeSummary]] = defaultdict(list)
        self._knowledge = knowledge
        self._unchecked: dict[int, Iterator[list[Levels]]] = {}

    def check_until_one_satisfies(self, height: int) -> Part:
        """Check the nodes of a height, batch by batch, until a batch has a satisfying one."""
        for batch in self._batches(height):
            yield from self._check(height, batch)
            if self.satisfying[height]:
                return

    def check_rest(self, height: int) -> Part:
        """Check the nodes of a height that were not checked yet."""
        for batch in self._batches(height):
            yield from self._check(height, batch)

    def _check(self, height: int, batch: list[Levels]) -> Part:
        for summary in (yield self._knowledge.ask(batch)):
            if self._knowledge.learn(summary):
                self.satisfying[height].append(summary)

    def _batches(self, height: int) -> Iterator[list[Levels]]:
        lattice = self._knowledge.problem.context.lattice
        if height not in self._unchecked:
            self._unchecked[height] = batches(at_height(lattice.bottom, lattice.top, height))
        return self._unchecked[height]
