"""What is left of a lattice too large for arrays: boxes in a queue, that of the least bound first.

A box stands for the possible nodes between its lowest and its highest; none loses less than the bound of the
box. Together the boxes stand for every node that may satisfy and lose no more than the best so far. A box is looked at
when its bound is the least of all: if its lowest node is ruled out or checked, it is split into boxes without it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import with_level
from sqlanon.search.arrays import Index

# The numbers below were set by tests.benchmarks.wide. Of 12 columns of 30,000 rows the gap after 15 CPU s is 0.125 with
# them, and differs by 0.005 for reasons of time alone.

SPLITS = 256
"""How many boxes are split, the least first, before those at hand are followed to a node to check.

The gap with half of it: 0.143; with twice: 0.125.
"""

MAX_BOXES = 50_000
"""The most boxes that are kept: of more, those with the largest bounds are joined.

The gap with half of it: 0.130; with twice: 0.130; with 5,000: 0.202.
"""

JOINED = 8
"""How many boxes are joined into one.

The gap with half of it: 0.139; with twice: 0.130.
"""


class Box(NamedTuple):
    """A sublattice; of equal bounds the box that starts at the greatest height comes first.

    Attributes:
        bound: a lower bound of the loss of its possible nodes.
        depth: minus the height of its lowest node.
        low, high: its lowest and its highest node.
    """

    bound: float
    depth: int
    low: Index
    high: Index


class Proof(Protocol):
    """What is known of the nodes."""

    def bound_above(self, node: Index) -> float:
        """A lower bound of the loss of every possible node that is equal to this one or above it; infinite for none."""

    def ways_out(self, low: Index, high: Index) -> Sequence[tuple[int, int]] | None:
        """None if the lowest node of a box is neither checked nor ruled out.

        Else pairs of a quasi-identifier and a step: a node of the box that is possible reaches one of these steps.
        """


class Boxes:
    """The queue."""

    def __init__(self, top: Index, proof: Proof) -> None:
        bottom = (0,) * len(top)
        self._proof = proof
        self._queue = [Box(proof.bound_above(bottom), 0, bottom, top)]

    def least_bound(self) -> float:
        """A lower bound of the loss of every possible node; infinite if there is none."""
        return self._queue[0].bound if self._queue else float("inf")

    def lowest_open(self, count: int, ceiling: float) -> list[Index]:
        """Up to ``count`` nodes, the lowest of their boxes, that are neither ruled out nor checked.

        Boxes whose bound exceeds the ceiling are dropped. There is no node only if no box is left.
        """
        found: list[Box] = []
        splits = 0
        following: Box | None = None
        while len(found) < count and not (found and splits >= 2 * SPLITS):
            box = following or self._next(ceiling)
            if box is None:
                break
            following = None
            rest = self._without_lowest(box, ceiling)
            if rest is None:
                found.append(box)
                continue
            splits += 1
            if splits >= SPLITS and rest:
                following = rest.pop(rest.index(min(rest)))
            for other in rest:
                heapq.heappush(self._queue, other)
        for box in (*found, *([following] if following else [])):
            heapq.heappush(self._queue, box)
        self._join()
        return [box.low for box in found]

    def _next(self, ceiling: float) -> Box | None:
        while self._queue:
            box = heapq.heappop(self._queue)
            if box.bound > ceiling:
                self._queue.clear()
                break
            bound = self._proof.bound_above(box.low)
            if bound <= box.bound:
                return box
            if _within(bound, ceiling):
                heapq.heappush(self._queue, box._replace(bound=bound))
        return None

    def _without_lowest(self, box: Box, ceiling: float) -> list[Box] | None:
        """Boxes with what is left of a box whose lowest node is ruled out or checked; None if it is neither."""
        ways = self._proof.ways_out(box.low, box.high)
        if ways is None:
            return None
        children = []
        high = list(box.high)
        for position, step in ways:
            low = with_level(box.low, position, step)
            bound = max(box.bound, self._proof.bound_above(low))
            if _within(bound, ceiling):
                children.append(Box(bound, -sum(low), low, tuple(high)))
            # Nodes that reach this step are in this child, so the next ones do without them.
            high[position] = step - 1
        return children

    def _join(self) -> None:
        """Keep the boxes few; what a box around several holds beyond them is not possible, or in another box too."""
        if len(self._queue) <= MAX_BOXES:
            return
        self._queue.sort()
        half = len(self._queue) // 2
        worse = sorted(self._queue[half:], key=lambda box: box.low)
        del self._queue[half:]
        self._queue += [_around(worse[start : start + JOINED]) for start in range(0, len(worse), JOINED)]
        heapq.heapify(self._queue)


def _within(bound: float, ceiling: float) -> bool:
    return bound <= ceiling and bound != float("inf")


def _around(boxes: Sequence[Box]) -> Box:
    """A box that holds several; its bound is the least of theirs, which holds for the nodes that it stands for."""
    low = tuple(map(min, zip(*(box.low for box in boxes), strict=True)))
    high = tuple(map(max, zip(*(box.high for box in boxes), strict=True)))
    return Box(min(box.bound for box in boxes), -sum(low), low, high)


Nodes = NDArray[np.int16]
"""A row for each quasi-identifier, a column for each node: comparisons then run along the nodes."""


class Antichain:
    """The maximal ones of a growing set of nodes."""

    def __init__(self, width: int) -> None:
        self._nodes: Nodes = np.empty((width, 0), dtype=np.int16)

    def add(self, node: Index) -> None:
        """Add a node, unless one above it is there; it takes the place of those below it."""
        if self.covers(node):
            return
        column = as_column(node)
        others = self._nodes[:, (self._nodes > column).any(axis=0)]
        self._nodes = np.concatenate([others, column], axis=1)

    def covers(self, node: Index) -> bool:
        """Whether a node of the set is equal to this one or above it."""
        return bool((self._nodes >= as_column(node)).all(axis=0).any())

    def above(self, node: Index) -> Nodes:
        """The maximal nodes that are equal to this one or above it."""
        return self._nodes[:, (self._nodes >= as_column(node)).all(axis=0)]


def as_column(node: Index) -> Nodes:
    """A single node."""
    return np.asarray(node, dtype=np.int16)[:, np.newaxis]
