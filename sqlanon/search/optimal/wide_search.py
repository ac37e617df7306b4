"""Optimal search of a lattice too large for arrays: a good node early, and a proven gap that closes as long as it runs.

Every batch has three parts:

- a walk downhill for a better node (:mod:`sqlanon.search.optimal.descent`);
- the nodes of projections that tell most, until the least loss of each projection is known
  (:mod:`sqlanon.search.optimal.projections`): these add up to a lower bound of the loss of the whole;
- then chains from the possible nodes of least bound (:mod:`sqlanon.search.optimal.chains`), which are ruled out or
  satisfy.

What rules nodes out is what does so in any optimal search, so it ends with the same node and the same ties.
"""

from __future__ import annotations

from contextlib import suppress

from sqlanon.search.arrays import Index
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.optimal.chains import Chain
from sqlanon.search.optimal.checks import check
from sqlanon.search.optimal.descent import Descent
from sqlanon.search.optimal.wide import WideRegion
from sqlanon.search.problem import BATCH_SIZE, Search, SearchProblem, SearchStopped, margin


def wide_optimal(problem: SearchProblem, region: WideRegion) -> Search:
    """Find a node of least loss, and all its ties, or the best that can be found before the search is stopped."""
    knowledge = Knowledge(problem, region)
    lattice = problem.context.lattice
    course = _Course(problem, region)
    with suppress(SearchStopped):
        while batch := course.next(knowledge.loss):
            for summary in (yield from check(knowledge, [lattice.node(index) for index in batch])):
                if problem.satisfies(summary):
                    course.descent.learn(lattice.index(summary.levels), summary)
    return knowledge.outcome()


class _Course:
    """What one search checks next."""

    def __init__(self, problem: SearchProblem, region: WideRegion) -> None:
        self.descent = Descent(problem, region)
        self._region = region
        self._chains: dict[Index, Chain] = {}
        self._chain_count = 0
        self._unsolved = list(region.projections)

    def next(self, loss: float) -> list[Index]:
        """The next batch, given the loss of the best node so far; empty once nothing can be better or as good."""
        if self._region.least_bound() > loss + margin(loss):
            return []
        top = self._region.top
        first = not self._region.is_checked(top)
        batch = dict.fromkeys([top] if first else self.descent.next(BATCH_SIZE // 2))
        self._add_telling(batch)
        if not first and not self._unsolved:
            self._add_of_chains(batch, loss)
        return list(batch)

    def _add_telling(self, batch: dict[Index, None]) -> None:
        """Fill a batch with nodes of the projections that are not solved, from each about as many."""
        for waiting in range(len(self._unsolved), 0, -1):
            projection = self._unsolved.pop(0)
            share = -(-(BATCH_SIZE - len(batch)) // waiting)
            if share <= 0:
                self._unsolved.append(projection)
            elif telling := projection.most_telling(share):
                batch |= dict.fromkeys(telling)
                self._unsolved.append(projection)

    def _add_of_chains(self, batch: dict[Index, None], loss: float) -> None:
        """Fill a batch with the next nodes of chains, one from each, and start chains while there is room."""
        self._chains = {start: chain for start, chain in self._chains.items() if self._added(batch, chain)}
        for start in self._region.boxes.lowest_open(BATCH_SIZE, loss + margin(loss)):
            if len(batch) >= BATCH_SIZE:
                break
            if start not in self._chains:
                self._chains[start] = Chain(start, self._region.top, self._chain_count)
                self._chain_count += 1
                self._added(batch, self._chains[start])

    def _added(self, batch: dict[Index, None], chain: Chain) -> bool:
        """Add the next node of a chain to a batch; says whether there was one."""
        node = chain.next(self._region)
        if node is not None:
            batch[node] = None
        return node is not None
