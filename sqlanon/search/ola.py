"""OLA, optimal lattice anonymization: the k-minimal nodes by divide and conquer, then the best of them.

Source: El Emam et al. 2009; Mazzone 2019, section 4.3; exactly spec/ola.md (b). Sound for monotonic privacy models and
monotonic losses only: what is ruled out, and that the best node is a minimal one, follow from monotonicity.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

import numpy as np

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.problem import Incumbent, Search, SearchProblem, above, below

Answer = Generator[Sequence[Levels], Sequence[NodeSummary], bool]
Part = Generator[Sequence[Levels], Sequence[NodeSummary], None]

OPEN, SATISFIES, FAILS = 0, 1, -1


def ola(problem: SearchProblem) -> Search:
    """Find the k-minimal nodes, which satisfy the policy while no node below them does, and take the best of them.

    Yields one node at a time, because each answer decides what is asked next.
    """
    lattice = problem.context.lattice
    incumbent = Incumbent(problem)
    sublattices = _Sublattices(incumbent)
    yield from sublattices.search(lattice.bottom, lattice.top)
    minimal = _antichain(sublattices.found)
    for levels in minimal:
        incumbent.propose(sublattices.found[levels])
    return incumbent.outcome(minimal)


class _Sublattices:
    """The state of one search: predictive tags, the sublattices that were searched, and the nodes found in them."""

    def __init__(self, incumbent: Incumbent) -> None:
        self.found: dict[Levels, NodeSummary] = {}
        self._incumbent = incumbent
        heights = incumbent.problem.context.lattice.heights
        self._tags = np.zeros([height + 1 for height in heights], dtype=np.int8)
        self._checked: dict[Levels, NodeSummary] = {}
        self._searched: set[tuple[Levels, Levels]] = set()

    def search(self, bottom: Levels, top: Levels) -> Part:
        """spec/ola.md (b) step 2: ``kmin`` of the sublattice from ``bottom`` to ``top``."""
        if (bottom, top) in self._searched or self._tags[top] == FAILS:
            return
        self._searched.add((bottom, top))
        height = sum(top) - sum(bottom)
        # Nothing is open above a node that satisfies, and only the node itself can be minimal there.
        if height == 0 or self._tags[bottom] == SATISFIES:
            yield from self._find(bottom)
        elif height == 1:
            if not (yield from self._find(bottom)):
                yield from self._find(top)
        else:
            for middle in _at_height(bottom, top, sum(bottom) + height // 2):
                if (yield from self._satisfies(middle)):
                    yield from self.search(bottom, middle)
                else:
                    yield from self.search(middle, top)

    def _find(self, levels: Levels) -> Answer:
        """Keep a node that satisfies; one that only follows from a node below it is not minimal."""
        satisfies = yield from self._satisfies(levels)
        if satisfies and levels in self._checked:
            self.found[levels] = self._checked[levels]
        return satisfies

    def _satisfies(self, levels: Levels) -> Answer:
        """The tag of a node; an open one is checked, and its answer tags what follows from it."""
        if self._tags[levels] == OPEN:
            (summary,) = yield [levels]
            self._checked[levels] = summary
            if self._incumbent.note(summary):
                self._tags[above(levels)] = SATISFIES
            else:
                self._tags[below(levels)] = FAILS
        return bool(self._tags[levels] == SATISFIES)


def _at_height(bottom: Levels, top: Levels, height: int) -> Iterator[Levels]:
    """The nodes of a sublattice whose levels sum to ``height``, in lexicographic order."""
    if not bottom:
        if height == 0:
            yield ()
        return
    least, most = sum(bottom[1:]), sum(top[1:])
    for level in range(max(bottom[0], height - most), min(top[0], height - least) + 1):
        for rest in _at_height(bottom[1:], top[1:], height - level):
            yield (level, *rest)


def _antichain(nodes: Iterable[Levels]) -> tuple[Levels, ...]:
    """The nodes without another one of them below, in lexicographic order."""
    minimal: list[Levels] = []
    for levels in sorted(nodes, key=lambda levels: (sum(levels), levels)):
        if not any(_covers(levels, other) for other in minimal):
            minimal.append(levels)
    return tuple(sorted(minimal))


def _covers(levels: Levels, other: Levels) -> bool:
    return all(level >= less for level, less in zip(levels, other, strict=True))
