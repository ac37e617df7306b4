"""OLA, optimal lattice anonymization: the k-minimal nodes by divide and conquer, then the best of them.

Source: El Emam et al. 2009; Mazzone 2019, section 4.3; exactly spec/ola.md (b). Sound for monotonic privacy models and
monotonic losses only: what is ruled out, and that the best node is a minimal one, follow from monotonicity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.arrays import Index, Mask, above, below, minimal
from sqlanon.search.dense import DenseRegion
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import Answer, Part, Search, SearchProblem, SearchStopped

OPEN, HOLDS, FAILS = 0, 1, -1


class Tags:
    """The nodes where the property holds or fails, as far as that follows from those that were asked."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._tags = np.full(shape, OPEN, dtype=np.int8)

    def __getitem__(self, index: Index) -> int:
        return int(self._tags[index])

    def set(self, index: Index, *, holds: bool) -> None:
        """Tag a node and what follows from it."""
        if holds:
            self._tags[above(index)] = HOLDS
        else:
            self._tags[below(index)] = FAILS

    def minimal(self) -> list[Index]:
        """The nodes where the property is known to hold that have no such node below, in lexicographic order."""
        return list(minimal(self._tags == HOLDS))

    def open_between(self, bottom: Index, top: Index) -> bool:
        """Whether a node of the sublattice from ``bottom`` to ``top`` is not tagged yet."""
        between = tuple(slice(least, most + 1) for least, most in zip(bottom, top, strict=True))
        return not self._tags[between].all()

    def open(self) -> Mask:
        """The nodes that are not tagged yet."""
        nodes: Mask = self._tags == OPEN
        return nodes


class Sublattices:
    """One search by divide and conquer; what it finds is in its ``tags``: once it is over, no node is open.

    ``ask`` is asked about open nodes, given by their place in an array with an entry per node.
    """

    def __init__(self, shape: tuple[int, ...], ask: Callable[[Index], Answer]) -> None:
        self.tags = Tags(shape)
        self._ask = ask

    def search(self, bottom: Index, top: Index) -> Part:
        """Tag every node of the sublattice from ``bottom`` to ``top``."""
        if not self.tags.open_between(bottom, top):
            return
        height = sum(top) - sum(bottom)
        if height == 0:
            yield from self.holds(bottom)
        elif height == 1:
            if not (yield from self.holds(bottom)):
                yield from self.holds(top)
        else:
            for middle in at_height(bottom, top, sum(bottom) + height // 2):
                if (yield from self.holds(middle)):
                    yield from self.search(bottom, middle)
                else:
                    yield from self.search(middle, top)

    def holds(self, index: Index) -> Answer:
        """Whether the property holds at a node; if that is open, it is asked."""
        if self.tags[index] == OPEN:
            self.tags.set(index, holds=(yield from self._ask(index)))
        return self.tags[index] == HOLDS


def at_height(bottom: Index, top: Index, height: int) -> Iterator[Index]:
    """The nodes of a sublattice whose levels sum to ``height``, in lexicographic order."""
    if not bottom:
        if height == 0:
            yield ()
        return
    least, most = sum(bottom[1:]), sum(top[1:])
    for level in range(max(bottom[0], height - most), min(top[0], height - least) + 1):
        for rest in at_height(bottom[1:], top[1:], height - level):
            yield (level, *rest)


def ola(problem: SearchProblem) -> Search:
    """Find the k-minimal nodes, which satisfy the policy while no node below them does, and take the best of them.

    Yields one node at a time, because each answer decides what is asked next.
    """
    lattice = problem.context.lattice
    knowledge = Knowledge(problem, DenseRegion(problem), monotonic=True)
    checked: dict[Levels, NodeSummary] = {}

    def ask(index: Index) -> Answer:
        (summary,) = yield knowledge.ask([lattice.node(index)])
        checked[summary.levels] = summary
        return knowledge.learn(summary)

    sublattices = Sublattices(lattice.shape, ask)
    with suppress(SearchStopped):
        yield from sublattices.search(lattice.index(lattice.bottom), lattice.index(lattice.top))
        # A node that was only tagged follows from one below it, so the minimal ones were all checked.
        minimal = tuple(lattice.node(index) for index in sublattices.tags.minimal())
        return knowledge.outcome([checked[levels] for levels in minimal], minimal)
    return knowledge.outcome()
