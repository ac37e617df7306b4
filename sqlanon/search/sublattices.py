"""Divide and conquer on a lattice: which nodes have a property that everything above a node with it has.

Source: El Emam et al. 2009; Mazzone 2019, section 4.3; spec/ola.md (b) step 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlanon.search.arrays import Index
from sqlanon.search.problem import Answer, Part
from sqlanon.search.tags import HOLDS, OPEN, Tags


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
