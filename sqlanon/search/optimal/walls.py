"""Nodes that rule out all below them, as walls around what is left of a lattice, and boxes that are cut along them.

A node that is below no wall exceeds each of them in some quasi-identifier: it hits all of them. The loss of a least
hitting set is therefore a lower bound of the loss of every node that may satisfy. A box whose lowest node is below a
wall is cut into one box for each quasi-identifier in which the wall can be exceeded, without a check. A box is open if
its lowest node is below none: what its nodes lose at least is known until another wall is found.

Few walls suffice if each is as high as can be: 15 columns of 1,000,000 rows (tests.benchmarks.wide) take 2,400 checks
to prove a loss of 0.32, and more than 41,000 if the highest node of every box is checked.
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

CUT_AT_ONCE = 4096
"""How many boxes are cut at once: what numpy does for many takes little longer than for one."""

COMPARED_AT_ONCE = 256
"""How many of them are compared with all walls at once, in memory that a processor has nearby."""

MAX_CUT_BOXES = 2**20
"""The most boxes that wait to be cut: of more, the last ones are cut first.

A box takes 70 bytes with 15 quasi-identifiers, and there is room for as many more.
"""

Nodes = NDArray[np.int16]
"""Nodes by their levels: a row per node."""


class Cut(NamedTuple):
    """Boxes as arrays.

    Attributes:
        low, high: their lowest and their highest nodes.
        bounds: lower bounds of the loss of their nodes.
    """

    low: Nodes
    high: Nodes
    bounds: Bounds

    def of(self, kept: Mask | NDArray[np.int64] | slice) -> Cut:
        """Some of them."""
        return Cut(self.low[kept], self.high[kept], self.bounds[kept])

    def join(self, other: Cut) -> Cut:
        """These and others."""
        low, high = np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high])
        return Cut(low, high, np.concatenate([self.bounds, other.bounds]))


class Pool:
    """Boxes in no order, which come and go without moving the others."""

    def __init__(self, width: int) -> None:
        nodes: Nodes = np.empty((0, width), dtype=np.int16)
        self._room = Cut(nodes, nodes, np.empty(0))
        self._count = 0

    @property
    def bounds(self) -> Bounds:
        """Those of the boxes."""
        return self._room.bounds[: self._count]

    def add(self, boxes: Cut) -> None:
        """Add boxes."""
        count = self._count + len(boxes.bounds)
        if count > len(self._room.bounds):
            # As many again as there are, so that they seldom move.
            self._room = self._room.of(slice(self._count)).join(boxes).join(self._room)
        low, high, bounds = self._room.of(slice(self._count, count))
        low[:], high[:], bounds[:] = boxes
        self._count = count

    def take(self, places: NDArray[np.int64]) -> Cut:
        """Remove some of the boxes, whose places are taken by the last ones."""
        taken, count = self._room.of(places), self._count - len(places)
        is_last = np.ones(len(places), dtype=bool)
        is_last[places[places >= count] - count] = False
        last, gaps = count + np.flatnonzero(is_last), places[places < count]
        low, high, bounds = self._room
        low[gaps], high[gaps], bounds[gaps] = self._room.of(last)
        self._count = count
        return taken


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
        self._barriers = bits_of(np.empty((0, len(self._axes)), dtype=bool))
        self._waiting = Pool(self._width)
        self._open = Cut(self._nodes, self._nodes, np.empty(0))

    def __len__(self) -> int:
        return len(self._waiting.bounds) + len(self._open.bounds)

    def add(self, levels: Levels) -> None:
        """Add a node that rules out all below it, unless one above it is there."""
        node = np.array(levels, dtype=np.int16)
        if (self._nodes >= node).all(axis=1).any():
            return
        stays = (self._nodes > node).any(axis=1)
        self._nodes = np.concatenate([self._nodes[stays], node[np.newaxis]])
        self._barriers = np.concatenate([self._barriers[stays], bits_of(~self._reached(node[np.newaxis]))])

    def put(self, boxes: Sequence[Box]) -> None:
        """Add boxes to cut."""
        shape = (len(boxes), self._width)
        low, high = (np.array([box[end] for box in boxes], dtype=np.int16).reshape(shape) for end in (0, 1))
        self._waiting.add(Cut(low, high, np.array([box.bound for box in boxes])))

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
        self._waiting.add(self._open.of(~gone))
        self._open = self._open.of(slice(0))

    def _taken(self) -> Cut:
        size = len(self._waiting.bounds)
        if size <= CUT_AT_ONCE or size > MAX_CUT_BOXES:
            return self._waiting.take(np.arange(max(size - CUT_AT_ONCE, 0), size))
        return self._waiting.take(np.argpartition(self._waiting.bounds, CUT_AT_ONCE - 1)[:CUT_AT_ONCE])

    def _cut(self, boxes: Cut, ceiling: float) -> None:
        """Cut boxes along walls, set those aside that are open, and drop those that are ruled out."""
        boxes = boxes.of(boxes.bounds <= ceiling)
        if not len(self._nodes) or not len(boxes.bounds):
            self._open = self._open.join(boxes)
            return
        box, wall = self._above(boxes.low)
        is_open = np.ones(len(boxes.bounds), dtype=bool)
        is_open[box] = False
        self._open = self._open.join(boxes.of(is_open))
        if not len(box):
            return
        cheapest = self._cheapest_ways(boxes, box, wall)
        starts = np.flatnonzero(np.diff(box, prepend=-1))
        dearest = np.maximum.reduceat(cheapest, starts)
        places = np.where(
            cheapest == np.repeat(dearest, np.diff(starts, append=len(box))), np.arange(len(box)), len(box)
        )
        is_cut = np.isfinite(dearest)
        if is_cut.any():
            chosen = np.minimum.reduceat(places, starts)[is_cut]
            left = self._parts(boxes.of(box[chosen]), self._nodes[wall[chosen]])
            self._waiting.add(left.of(left.bounds <= ceiling))

    def _above(self, low: Nodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every pair of a node and a wall above it, by their numbers and in the order of nodes."""
        reached, walls = bits_of(self._reached(low)), len(self._nodes)
        room, found = np.empty((COMPARED_AT_ONCE, walls), dtype=np.uint64), []
        for start in range(0, len(low), COMPARED_AT_ONCE):
            some = reached[start : start + COMPARED_AT_ONCE, :, np.newaxis]
            beyond = np.bitwise_and(some[:, 0], self._barriers[:, 0], out=room[: len(some)])
            for word in range(1, reached.shape[1]):
                beyond |= some[:, word] & self._barriers[:, word]
            found.append(start * walls + np.flatnonzero(beyond == 0))
        return np.divmod(np.concatenate(found), walls)

    def _parts(self, boxes: Cut, wall: Nodes) -> Cut:
        """What is left of boxes, each cut along a wall."""
        beyond = self._losses(np.minimum(wall + 1, boxes.high))
        cost = np.where(wall < boxes.high, beyond - self._losses(boxes.low), np.inf)
        each = np.arange(len(boxes.bounds))
        # The dearest way out first: the boxes of the cheap ones, which are many, are the smaller.
        order = np.argsort(np.where(np.isfinite(cost), -cost, 1.0), axis=1, kind="stable")
        parts, ceilings = [], boxes.high.copy()
        for axes in order.T:
            leaves = np.flatnonzero(np.isfinite(cost[each, axes]))
            if not len(leaves):
                break
            own, left = axes[leaves], wall[leaves, axes[leaves]] + 1
            lower = boxes.low[leaves]
            lower[np.arange(len(leaves)), own] = left
            bounds = np.maximum(self._bounds_of(lower), boxes.bounds[leaves])
            parts.append(Cut(lower, ceilings[leaves], bounds))
            # Nodes that leave this way are in this part, so that the next ones do without them.
            ceilings[leaves, own] = left - 1
        return Cut(*map(np.concatenate, zip(*parts, strict=True)))

    def _cheapest_ways(self, boxes: Cut, box: NDArray[np.int64], wall: NDArray[np.int64]) -> Bounds:
        """What it takes at least for nodes of each box to exceed the wall beside it; infinite if none does."""
        beyond = self._losses(np.minimum(self._nodes + 1, self._terms.shape[1] - 1))
        losses, cheapest = self._losses(boxes.low), np.full(len(box), np.inf)
        for axis in range(self._width):
            of_walls, highest = self._nodes[:, axis].copy(), boxes.high[:, axis].copy()
            ways = beyond[:, axis].copy()[wall] - losses[:, axis].copy()[box]
            np.minimum(cheapest, np.where(of_walls[wall] < highest[box], ways, np.inf), out=cheapest)
        return cheapest

    def _losses(self, nodes: Nodes) -> Bounds:
        """The known terms of their losses."""
        terms: Bounds = self._terms[np.arange(self._width), nodes]
        return terms

    def _reached(self, nodes: Nodes) -> Mask:
        """For each node, the levels of quasi-identifiers that it reaches."""
        reached: Mask = nodes[:, self._axes] >= self._levels
        return reached


def bits_of(marks: Mask) -> NDArray[np.uint64]:
    """Rows of marks as bits of words, at least one."""
    words = max(-(-marks.shape[1] // 64), 1)
    padded = np.zeros((len(marks), 64 * words), dtype=bool)
    padded[:, : marks.shape[1]] = marks
    return np.packbits(padded, axis=1).view(np.uint64)


def table_of(terms: Table) -> Bounds:
    """Terms of levels as an array, the last one of a quasi-identifier repeated; to as many digits as bounds have."""
    most = max(map(len, terms))
    table = np.array([[*row, *[row[-1]] * (most - len(row))] for row in terms], dtype=np.float64)
    rounded: Bounds = np.round(table / max(float(table.max()), 1e-300), DIGITS)
    return rounded
