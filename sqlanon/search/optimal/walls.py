"""Nodes that rule out all below them, as walls around what is left of a lattice, and boxes that are cut along them.

A node that is below no wall exceeds each of them in some quasi-identifier: it hits all of them. The loss of a least
hitting set is therefore a lower bound of the loss of every node that may satisfy. A box whose lowest node is below a
wall is cut into one box for each quasi-identifier in which the wall can be exceeded, without a check. A box is open if
its lowest node is below none: what its nodes lose at least is known until another wall is found.

Few walls suffice if each is as high as can be: 15 columns of 1,000,000 rows (tests.benchmarks.wide) take 3,300 checks
to prove a loss of 0.31, and 41,000 if the highest node of every box is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import Levels, Table
from sqlanon.search.arrays import Bounds, Mask
from sqlanon.search.optimal.boxes import DIGITS, Box
from sqlanon.search.problem import SearchProblem

CUT_AT_ONCE = 1024
"""How many boxes are cut at once: what numpy does for many takes little longer than for one."""

MAX_CUT_BOXES = 2**20
"""The most boxes that wait to be cut, 70 bytes each for 15 quasi-identifiers: of more, the latest are cut first."""

COMPARED_WALLS = 32
"""How many walls are compared for the cut of a box: those that leave it in the fewest quasi-identifiers."""

Nodes = NDArray[np.int16]
"""Nodes by their levels: a row per node."""

APART = 2.0**16
"""More than quasi-identifiers have levels together: sums below it are of walls above the lowest node of a box."""


class Cut(NamedTuple):
    """Boxes as arrays.

    Attributes:
        low, high: their lowest and their highest nodes.
        bounds: lower bounds of the loss of their nodes.
    """

    low: Nodes
    high: Nodes
    bounds: Bounds

    def of(self, kept: Mask | NDArray[np.int64]) -> Cut:
        """Some of them."""
        return Cut(self.low[kept], self.high[kept], self.bounds[kept])

    def join(self, other: Cut) -> Cut:
        """These and others."""
        low, high = np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high])
        return Cut(low, high, np.concatenate([self.bounds, other.bounds]))


class Walls:
    """The walls, none of them below another, and the boxes that wait to be cut, in the order of their bounds."""

    def __init__(self, problem: SearchProblem, bounds: Callable[[Nodes], Bounds]) -> None:
        lattice = problem.context.lattice
        self._width = len(lattice.shape)
        self._axes = np.repeat(np.arange(self._width), [size - 1 for size in lattice.shape])
        self._levels = np.concatenate(
            [np.arange(least + 1, most + 1) for least, most in zip(lattice.bottom, lattice.top, strict=True)]
        )
        self._terms = table_of(problem.quality.known_bounds(problem.context))
        self._bounds_of = bounds
        self._nodes: Nodes = np.empty((0, self._width), dtype=np.int16)
        self._barriers = np.empty((0, 2 * len(self._axes)), dtype=np.float32)
        nothing = Cut(self._nodes, self._nodes, np.empty(0))
        self._waiting = nothing
        self._open = nothing

    def __len__(self) -> int:
        return len(self._waiting.bounds) + len(self._open.bounds)

    def add(self, levels: Levels) -> None:
        """Add a node that rules out all below it, unless one above it is there."""
        node = np.array(levels, dtype=np.int16)
        if (self._nodes >= node).all(axis=1).any():
            return
        stays = (self._nodes > node).any(axis=1)
        leaves = self._levels == node[self._axes] + 1
        barrier = np.concatenate([APART * ~self._reached(node[np.newaxis])[0], leaves]).astype(np.float32)
        self._nodes = np.concatenate([self._nodes[stays], node[np.newaxis]])
        self._barriers = np.concatenate([self._barriers[stays], barrier[np.newaxis]])

    def put(self, boxes: Sequence[Box]) -> None:
        """Add boxes to cut."""
        shape = (len(boxes), self._width)
        low, high = (np.array([box[end] for box in boxes], dtype=np.int16).reshape(shape) for end in (0, 1))
        self._waiting = self._waiting.join(Cut(low, high, np.array([box.bound for box in boxes])))

    def least_bound(self) -> float:
        """A lower bound of the loss of the nodes of all boxes; infinite if there is none."""
        return float(min(self._waiting.bounds.min(initial=np.inf), self._open.bounds.min(initial=np.inf)))

    def opened(self, count: int, ceiling: float) -> Cut:
        """Open boxes, those of the least bounds first: as many as wanted, more of the last cut, or all that there are.

        They stay here until they are closed. Boxes that lose more than the ceiling are dropped.
        """
        while len(self._open.bounds) < count and len(self._waiting.bounds):
            self._cut(self._taken(), ceiling)
        self._open = self._open.of(np.argsort(self._open.bounds, kind="stable"))
        return self._open

    def close(self, gone: Mask) -> None:
        """Have the open boxes wait again to be cut, without those that are gone."""
        self._waiting, self._open = self._waiting.join(self._open.of(~gone)), self._open.of(np.empty(0, dtype=np.int64))

    def _taken(self) -> Cut:
        waiting = self._waiting
        size = len(waiting.bounds)
        if size <= CUT_AT_ONCE:
            order, count = np.arange(size), size
        elif size > MAX_CUT_BOXES:
            order, count = np.arange(size)[::-1], CUT_AT_ONCE
        else:
            order, count = np.argpartition(waiting.bounds, CUT_AT_ONCE - 1), CUT_AT_ONCE
        taken = waiting.of(order[:count])
        # Only the places of the taken ones are filled: to move all boxes takes longer than to cut some.
        stays = np.ones(size, dtype=bool)
        stays[order[:count]] = False
        self._waiting = waiting.of(stays)
        return taken

    def _cut(self, boxes: Cut, ceiling: float) -> None:
        """Cut boxes along walls, set those aside that are open, and drop those that are ruled out."""
        boxes = boxes.of(boxes.bounds <= ceiling)
        if not len(self._nodes) or not len(boxes.bounds):
            self._open = self._open.join(boxes)
            return
        ends = np.concatenate([self._reached(boxes.low), self._reached(boxes.high)], axis=1).astype(np.float32)
        ways = ends @ self._barriers.T
        fewest = ways.min(axis=1)
        self._open = self._open.join(boxes.of(fewest >= APART))
        is_cut = (fewest > 0) & (fewest < APART)
        if is_cut.any():
            left = self._parts(boxes.of(is_cut), ways[is_cut])
            self._waiting = self._waiting.join(left.of(left.bounds <= ceiling))

    def _parts(self, boxes: Cut, ways: NDArray[np.float32]) -> Cut:
        """What is left of boxes, each cut along the wall whose cheapest way out is the dearest."""
        count = min(COMPARED_WALLS, ways.shape[1])
        walls = np.argpartition(ways, count - 1, axis=1)[:, :count]
        nodes = self._nodes[walls]
        low, high = boxes.low[:, np.newaxis], boxes.high[:, np.newaxis]
        costs = np.where(nodes < high, self._losses(np.minimum(nodes + 1, high)) - self._losses(low), np.inf)
        above = np.take_along_axis(ways, walls, axis=1) < APART
        chosen = np.where(above, costs.min(axis=2), -1.0).argmax(axis=1)
        each = np.arange(len(boxes.bounds))
        wall, cost = nodes[each, chosen], costs[each, chosen]
        # The dearest way out first: the boxes of the cheap ones, which are many, are the smaller.
        order = np.argsort(np.where(np.isfinite(cost), -cost, 1.0), axis=1, kind="stable")
        parts, ceilings = [], boxes.high.copy()
        for axes in order.T:
            leaves = np.flatnonzero(np.isfinite(cost[each, axes]))
            if not len(leaves):
                break
            own, beyond = axes[leaves], wall[leaves, axes[leaves]] + 1
            lower = boxes.low[leaves]
            lower[np.arange(len(leaves)), own] = beyond
            bounds = np.maximum(self._bounds_of(lower), boxes.bounds[leaves])
            parts.append(Cut(lower, ceilings[leaves], bounds))
            # Nodes that leave this way are in this part, so that the next ones do without them.
            ceilings[leaves, own] = beyond - 1
        return Cut(*map(np.concatenate, zip(*parts, strict=True)))

    def _losses(self, nodes: Nodes) -> Bounds:
        """The known terms of their losses."""
        terms: Bounds = self._terms[np.arange(self._width), nodes]
        return terms

    def _reached(self, nodes: Nodes) -> Mask:
        """For each node, the levels of quasi-identifiers that it reaches."""
        reached: Mask = nodes[:, self._axes] >= self._levels
        return reached


def table_of(terms: Table) -> Bounds:
    """Terms of levels as an array, the last one of a quasi-identifier repeated; to as many digits as bounds have."""
    most = max(map(len, terms))
    table = np.array([[*row, *[row[-1]] * (most - len(row))] for row in terms], dtype=np.float64)
    rounded: Bounds = np.round(table / max(float(table.max()), 1e-300), DIGITS)
    return rounded
