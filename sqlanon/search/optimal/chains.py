"""Chains of ever more general nodes: the most general one that rules out what is below it, by binary search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.search.arrays import Index
from sqlanon.search.optimal.wide import WideRegion

GOLDEN = 0.6180339887498949
"""What squares times this leave, modulo 1, looks shuffled: chains differ in their order, equal runs do not."""


class Chain:
    """The search of one chain, which starts at a node that may satisfy and ends at the top, which rules out nothing.

    Where it ends the node at the start is checked or ruled out.
    """

    def __init__(self, start: Index, top: Index, number: int) -> None:
        self._nodes = list(_chain(start, top, number))
        self._out, self._clear = -1, len(self._nodes) - 1

    def next(self, region: WideRegion) -> Index | None:
        """The node to check next; None if the search is over."""
        if self._out < 0 and region.is_cleared(self._nodes[0]):
            self._clear = 0
        while self._clear - self._out > 1:
            middle = (self._out + self._clear) // 2
            if region.is_ruled_out(self._nodes[middle]):
                self._out = middle
            elif region.is_cleared(self._nodes[middle]):
                self._clear = middle
            else:
                return self._nodes[middle]
        start = self._nodes[0]
        return start if self._out < 0 and not region.is_checked(start) else None


def _chain(start: Index, top: Index, number: int) -> Iterator[Index]:
    """The nodes from one to the top, each a step above the one before."""
    raises = [position for position, most in enumerate(top) for _ in range(most - start[position])]
    node = list(start)
    yield start
    for position in _shuffled(raises, number):
        node[position] += 1
        yield tuple(node)


def _shuffled(items: Sequence[int], number: int) -> list[int]:
    """The items in one of many orders."""
    stride = GOLDEN * (number + 1)
    order = sorted(range(len(items)), key=lambda place: ((place + 1) * stride * (place + 1 + number)) % 1.0)
    return [items[place] for place in order]
