"""Optimal search of a lattice too large for arrays: a good node early, and a proven gap that closes as long as it runs.

Every batch has three parts:

- a walk downhill for a better node (:mod:`sqlanon.search.optimal.descent`);
- the most informative nodes of projections, until the least loss of each projection is known
  (:mod:`sqlanon.search.optimal.projections`): these add up to a lower bound of the loss of the whole;
- nodes that are to rule out the possible nodes of least bound, and much else besides
  (:mod:`sqlanon.search.optimal.walls`).

What rules nodes out is what does so in any optimal search, so it ends with the same node and the same ties.
"""

from __future__ import annotations

from contextlib import suppress

from sqlanon.model.lattice import NodeSummary
from sqlanon.search.arrays import Index
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.optimal.checks import check
from sqlanon.search.optimal.descent import Descent
from sqlanon.search.optimal.walls import Walls
from sqlanon.search.optimal.wide import WideRegion
from sqlanon.search.problem import BATCH_SIZE, Search, SearchProblem, SearchStopped, margin

PROJECTED = 2
"""Of nodes beyond the walk, one in this number is of a projection, as long as one is not solved.

tests.benchmarks.wide, 1,000,000 rows, gaps after 40 CPU s: 0.190 of 12 columns and 0.319 of 15; if all of them are,
0.199 and 0.350.
"""


def wide_optimal(problem: SearchProblem, region: WideRegion) -> Search:
    """Find a node of least loss, and all its ties, or the best that can be found before the search is stopped."""
    knowledge = Knowledge(problem, region)
    lattice = problem.context.lattice
    course = _Course(problem, region)
    with suppress(SearchStopped):
        while batch := course.next(knowledge.loss):
            for summary in (yield from check(knowledge, [lattice.node(index) for index in batch])):
                course.learn(summary)
    return knowledge.outcome()


class _Course:
    """What one search checks next."""

    def __init__(self, problem: SearchProblem, region: WideRegion) -> None:
        self._problem = problem
        self._region = region
        self._descent = Descent(problem, region)
        self._walls = Walls(problem, region)
        self._unsolved = list(region.projections)

    def learn(self, summary: NodeSummary) -> None:
        """Take note of a checked node."""
        index = self._problem.context.lattice.index(summary.levels)
        self._walls.learn(index, summary)
        if self._problem.satisfies(summary):
            self._descent.learn(index, summary)

    def next(self, loss: float) -> list[Index]:
        """The next batch, given the loss of the best node so far; empty once nothing can be better or as good."""
        region, ceiling = self._region, loss + margin(loss)
        if region.least_bound() > ceiling:
            return []
        if not region.is_checked(region.top):
            return [region.top]
        batch = dict.fromkeys(self._descent.next(BATCH_SIZE // 2))
        self._add_telling(batch, (BATCH_SIZE - len(batch)) // PROJECTED)
        if starts := region.boxes.lowest_open(BATCH_SIZE, ceiling):
            batch |= dict.fromkeys(self._walls.above(starts, BATCH_SIZE - len(batch), loss))
        return list(batch)

    def _add_telling(self, batch: dict[Index, None], count: int) -> None:
        """Add nodes of the projections that are not solved to a batch, from each about as many."""
        for waiting in range(len(self._unsolved), 0, -1):
            projection = self._unsolved.pop(0)
            share = -(-count // waiting)
            if share <= 0:
                self._unsolved.append(projection)
            elif telling := projection.most_informative(share):
                batch |= dict.fromkeys(telling)
                count -= len(telling)
                self._unsolved.append(projection)
