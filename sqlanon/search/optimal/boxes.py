"""What is left of a lattice too large for arrays: boxes of nodes, in the order in which they are split.

A box stands for the nodes between its lowest and its highest. Its highest is checked: what that one is certain to
suppress, every node of the box suppresses, and loses no less than the lowest node does with as many rows suppressed.
Boxes do not overlap, and together they stand for every node that may satisfy and lose no more than the best so far.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.arrays import Bounds
from sqlanon.search.problem import SearchProblem, margin

MAX_BOXES = 100_000
"""The most boxes that wait to be split, a few hundred bytes each: of more, the latest are split until they are gone."""

DIGITS = 12
"""Digits by which bounds are compared: a database adds in any order, and equal runs are to check equal nodes."""


class Box(NamedTuple):
    """A sublattice.

    Attributes:
        low, high: its lowest and its highest node.
        suppressed_rows: rows that every node of it suppresses at least.
        bound: a lower bound of the loss of its nodes.
        promise: what its highest node loses, as far as is known.
    """

    low: Levels
    high: Levels
    suppressed_rows: int
    bound: float
    promise: float


class Boxes:
    """The boxes that wait, first the whole lattice."""

    def __init__(self, problem: SearchProblem) -> None:
        lattice = problem.context.lattice
        self._problem = problem
        self._top = lattice.top
        self._unchecked = lattice.size
        self._suppressed_at_top = 0
        self._scale = problem.least_loss_from(lattice.top, 0) or 1.0
        self._taken: list[Box] = []
        self._waiting: dict[int, Box] = {}
        self._numbers = 0
        self._by_bound: list[tuple[float, int]] = []
        self._by_promise: list[tuple[float, int]] = []
        least = float(self.bounds([lattice.bottom], [0])[0])
        self.put([Box(lattice.bottom, lattice.top, 0, least, 0.0)])

    def bounds(self, levels: ArrayLike, suppressed_rows: ArrayLike) -> Bounds:
        """What nodes that suppress as many rows, and more general ones, lose at least, up to noise (``DIGITS``)."""
        return self._without_noise(self._problem.least_losses_from(np.asarray(levels).T, suppressed_rows))

    def known_bounds(self, levels: ArrayLike) -> Bounds:
        """What nodes and more general ones lose at least whatever they suppress, up to noise; takes less time."""
        return self._without_noise(self._problem.known_losses(np.asarray(levels).T))

    def _without_noise(self, exact: Bounds) -> Bounds:
        unit = self._scale * 10**-DIGITS
        rounded: Bounds = np.where(exact > 0, np.maximum(np.rint(exact / unit) - 1, 0) * unit, exact)
        return rounded

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, boxes: Sequence[Box]) -> None:
        """Take back what is left of the boxes that were taken last."""
        self._taken = []
        for box in boxes:
            self._numbers += 1
            self._waiting[self._numbers] = box
            heapq.heappush(self._by_bound, (box.bound, self._numbers))
            heapq.heappush(self._by_promise, (box.promise, -self._numbers))
        self._by_bound = self._without_gone(self._by_bound)
        self._by_promise = self._without_gone(self._by_promise)

    def take(self, count: int, loss: float, *, promising: bool = False) -> list[Box]:
        """Up to ``count`` boxes, those of the least bounds or the most promising; none only if no box is left.

        Boxes that lose more than the best are dropped.
        """
        if len(self._waiting) > MAX_BOXES:
            order = self._latest()
        else:
            order = self._first(self._by_promise if promising else self._by_bound)
        ceiling = loss + margin(loss)
        while len(self._taken) < count and (box := next(order, None)) is not None:
            if box.bound <= ceiling:
                self._taken.append(box)
        return self._taken

    @property
    def all_checked(self) -> bool:
        """Whether every node of the lattice is checked."""
        return self._unchecked == 0

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """See :class:`sqlanon.search.knowledge.Region`."""
        self._unchecked -= 1
        if summary.levels == self._top:
            self._suppressed_at_top = summary.certain_suppressed_rows
            if ruled_out:
                self._waiting.clear()

    def least_bound(self) -> float:
        """See :class:`sqlanon.search.knowledge.Region`."""
        if self.all_checked:
            return float("inf")
        while self._by_bound and self._by_bound[0][1] not in self._waiting:
            heapq.heappop(self._by_bound)
        first = [self._waiting[self._by_bound[0][1]]] if self._by_bound else []
        return min((box.bound for box in (*first, *self._taken)), default=float("inf"))

    def least_suppressed_rows(self) -> float:
        """See :class:`sqlanon.search.knowledge.Region`."""
        return float("inf") if self.all_checked else float(self._suppressed_at_top)

    def _first(self, heap: list[tuple[float, int]]) -> Iterator[Box]:
        while heap:
            box = self._waiting.pop(abs(heapq.heappop(heap)[1]), None)
            if box is not None:
                yield box

    def _latest(self) -> Iterator[Box]:
        while self._waiting:
            yield self._waiting.popitem()[1]

    def _without_gone(self, heap: list[tuple[float, int]]) -> list[tuple[float, int]]:
        """The heap, without boxes that were taken from the other one, once these are more than half."""
        if len(heap) <= 2 * len(self._waiting) + 1024:
            return heap
        kept = [entry for entry in heap if abs(entry[1]) in self._waiting]
        heapq.heapify(kept)
        return kept
