"""The open boxes of a lattice, which don't overlap, in the order in which they are split.

A box has the nodes between its lowest and its highest one. Together the boxes contain every unchecked node that may be
as good as the best so far.

Facts are what checked nodes prove about boxes. Rows that a node certainly suppresses are suppressed by every less
general node, too, so by a whole box below it. If a box lies below a checked node in all quasi-identifiers but one, its
part up to the node's level in this one lies below the node: if that part is ruled out, the box begins above it.

A forecast of suppressed rows is learned from checked nodes. It steers a search, and proves nothing.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sqlanon.model.lattice import Lattice, LossContext, NodeSummary
from sqlanon.model.lattice import Levels as Node
from sqlanon.search.arrays import Bounds, Mask, Nodes
from sqlanon.search.problem import SearchProblem

Levels = NDArray[np.int64]  # a row per node
Places = NDArray[np.int64]  # indexes of another array

MAX_BOXES = 100_000  # a few hundred bytes each; above this, the latest boxes are split first
DIGITS = 12  # bounds are rounded to these: a database adds in any order, but equal runs must check equal nodes
HALVINGS = 12  # steps of the bisection for the number of suppressed rows that rules out a node


class Facts:
    """The checked nodes, and what they prove."""

    def __init__(self, problem: SearchProblem) -> None:
        # Whether a checked node bounds the loss of more general ones better than levels do.
        self.inherits = not any(map(any, problem.known_terms()))
        self.fewest = float("inf")  # a lower bound of the rows that ruled out parts suppress
        self._problem = problem
        self._count = 0
        self._nodes = np.empty((64, len(problem.context.lattice.shape)), dtype=np.int64)
        self._rows, self._losses = np.empty(64), np.empty(64)

    @property
    def nodes(self) -> Levels:
        return self._nodes[: self._count]

    @property
    def rows(self) -> Bounds:
        """The rows that each checked node certainly suppresses."""
        return self._rows[: self._count]

    def add(self, summary: NodeSummary) -> None:
        if self._count == len(self._rows):
            # Double the arrays, so that they are seldom copied.
            self._nodes, self._rows, self._losses = (
                np.concatenate([each, each]) for each in (self._nodes, self._rows, self._losses)
            )
        self._nodes[self._count] = summary.levels
        self._rows[self._count] = summary.certain_suppressed_rows
        self._losses[self._count] = self._problem.quality.bound_above(summary, self._problem.context)
        self._count += 1

    def left(self, low: Levels, high: Levels, enough: Bounds) -> tuple[Levels, Bounds]:
        """Cut off the parts of boxes that suppress enough rows to be ruled out.

        Returns:
            the new lowest nodes, above the highest one where nothing is left, and rows that all nodes suppress.
        """
        ways = np.zeros((len(low), self._count), dtype=np.int8)
        for of_boxes, of_nodes in zip(high.T, self.nodes.T, strict=True):
            ways += of_boxes[:, np.newaxis] > of_nodes
        rows = np.where(ways == 0, self.rows, 0.0).max(axis=1, initial=0.0)
        box, node = np.nonzero((ways == 1) & (self.rows >= enough[:, np.newaxis]))
        axis = (high[box] > self.nodes[node]).argmax(axis=1)
        level = self.nodes[node, axis]
        begins = low.copy()
        np.maximum.at(begins, (box, axis), level + 1)
        if (rises := level >= low[box, axis]).any():
            self.fewest = min(self.fewest, float(self.rows[node[rises]].min()))
        return begins, rows

    def inherited(self, low: Levels) -> Bounds:
        """Bound the loss of nodes and of more general ones by the checked nodes below them."""
        below = np.ones((len(low), self._count), dtype=bool)
        for of_boxes, of_nodes in zip(low.T, self.nodes.T, strict=True):
            below &= of_boxes[:, np.newaxis] >= of_nodes
        losses = self._losses[: self._count]
        inherited: Bounds = np.where(below, losses, -np.inf).max(axis=1, initial=-np.inf)
        return inherited


class Box(NamedTuple):
    """The sublattice between two nodes."""

    low: Node
    high: Node
    suppressed_rows: float  # by every node at least
    bound: float  # a lower bound of losses

    def nodes(self) -> Iterator[Node]:
        return itertools.product(*(range(least, most + 1) for least, most in zip(self.low, self.high, strict=True)))


Steps = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Steps to the next level: the positions of quasi-identifiers, and their levels before the step."""


def steps_of(lattice: Lattice) -> Steps:
    ends = enumerate(zip(lattice.bottom, lattice.top, strict=True))
    steps = [(axis, level) for axis, (least, most) in ends for level in range(least, most)]
    axes, levels = np.array(steps, dtype=np.int64).reshape(-1, 2).T
    return axes, levels


class Batch(NamedTuple):
    """Boxes as arrays, with an entry, or a row of levels, per box."""

    low: Levels
    high: Levels
    suppressed_rows: Bounds
    bounds: Bounds

    @classmethod
    def of(cls, boxes: Iterable[Box]) -> Batch:
        low, high, rows, bounds = zip(*boxes, strict=True)
        return cls(np.array(low), np.array(high), np.array(rows, dtype=np.float64), np.array(bounds))

    @classmethod
    def joined(cls, *batches: Batch) -> Batch:
        return cls(*map(np.concatenate, zip(*batches, strict=True)))

    @property
    def sizes(self) -> Bounds:
        sizes: Bounds = (self.high - self.low + 1.0).prod(axis=1)
        return sizes

    @property
    def are_single(self) -> Mask:
        single: Mask = (self.low == self.high).all(axis=1)
        return single

    def splits(self, steps: Steps) -> tuple[Levels, Levels, Levels, Levels]:
        """Return all ways to split boxes in two.

        Returns:
            the positions of the box and of the step, the highest node of the lower half, and the lowest node of the
            upper half.
        """
        axes, levels = steps
        each, step = np.nonzero((self.low[:, axes] <= levels) & (levels < self.high[:, axes]))
        lower, upper, places = self.high[each], self.low[each], np.arange(len(each))
        lower[places, axes[step]] = levels[step]
        upper[places, axes[step]] = levels[step] + 1
        return each, step, lower, upper

    def only(self, chosen: Mask) -> Batch:
        low, high, rows, bounds = self
        return Batch(low[chosen], high[chosen], rows[chosen], bounds[chosen])

    def boxes(self) -> list[Box]:
        columns = (each.tolist() for each in self)
        return [Box(tuple(low), tuple(high), rows, bound) for low, high, rows, bound in zip(*columns, strict=True)]


class Boxes:
    """The open boxes, at first one of the whole lattice."""

    def __init__(self, problem: SearchProblem, facts: Facts) -> None:
        lattice, context = problem.context.lattice, problem.context
        self._problem = problem
        self._facts = facts
        self._unchecked = lattice.size
        self._unit = (problem.least_loss_from(lattice.top, 0) or 1.0) * 10**-DIGITS
        self._too_many = float(min(context.allowed_rows + 1, context.row_count))
        self._steps = steps_of(lattice)
        self._fewest = float("inf")
        self._rows_of_all = 0
        self._numbers = 0
        self._waiting: dict[int, Box] = {}
        self._order: list[tuple[float, int]] = []
        self._taken: list[Box] = []
        bottom = self.losses(np.array([lattice.bottom]), [0])
        self.put([Box(lattice.bottom, lattice.top, 0, float(bottom[0]))])

    def __len__(self) -> int:
        return len(self._waiting)

    def losses(self, nodes: Levels, suppressed_rows: ArrayLike) -> Bounds:
        """Bound the loss of nodes that suppress ``suppressed_rows``, and of more general ones; infinite if too many."""
        rows = np.asarray(suppressed_rows, dtype=np.float64)
        exact = self._problem.least_losses_from(nodes.T, rows)
        rounded = np.where(exact > 0, np.maximum(np.rint(exact / self._unit) - 1, 0) * self._unit, exact)
        losses: Bounds = np.where(rows >= self._too_many, np.inf, rounded)
        return losses

    def enough(self, low: Levels, ceiling: float) -> Bounds:
        """Return the suppressed rows at which each node and all more general ones lose more than the ceiling."""
        enough, least = np.full(len(low), self._too_many), np.zeros(len(low))
        if self._problem.quality.counts_suppression(self._problem.context):
            for _ in range(HALVINGS):
                middle = (least + enough) / 2
                loses = self.losses(low, middle) > ceiling
                enough, least = np.where(loses, middle, enough), np.where(loses, least, middle)
        return enough

    def narrowed(self, boxes: Batch, ceiling: float) -> Batch:
        """Narrow boxes to the parts that may lose at most the ceiling."""
        low, rows = self._facts.left(boxes.low, boxes.high, self.enough(boxes.low, ceiling))
        rows = np.maximum(rows, boxes.suppressed_rows)
        bounds = np.maximum(boxes.bounds, self.losses(low, rows))
        if self._facts.inherits:
            bounds = np.maximum(bounds, self._facts.inherited(low))
        narrowed = Batch(low, boxes.high.copy(), rows, bounds)
        is_left = np.isfinite(bounds) & (bounds <= ceiling) & (low <= boxes.high).all(axis=1)
        if not self._facts.inherits and np.isfinite(ceiling):
            (axes, levels), (each, step, _, upper) = self._steps, narrowed.splits(self._steps)
            out = self.losses(upper, rows[each]) > ceiling
            np.minimum.at(narrowed.high, (each[out], axes[step[out]]), levels[step[out]])
        is_changed = ~is_left | (narrowed.high < boxes.high).any(axis=1)
        self._fewest = min(self._fewest, float(rows[is_changed].min(initial=np.inf)))
        return narrowed.only(is_left)

    def put(self, boxes: Iterable[Box]) -> None:
        """Put back the remainder of the boxes that were taken last."""
        self._taken = []
        for box in boxes:
            self._numbers += 1
            self._waiting[self._numbers] = box
            heapq.heappush(self._order, (box.bound, self._numbers))
        if len(self._order) > 2 * len(self._waiting) + 1024:
            # Most entries are stale: their boxes were taken as the latest ones.
            self._order = [(box.bound, number) for number, box in self._waiting.items()]
            heapq.heapify(self._order)

    def take(self, count: int) -> list[Box]:
        """Take up to ``count`` boxes of the least bounds, or the latest ones if too many are open."""
        if len(self._waiting) > MAX_BOXES:
            self._taken = [self._waiting.popitem()[1] for _ in range(min(count, len(self._waiting)))]
            return self._taken
        while self._order and len(self._taken) < count:
            box = self._waiting.pop(heapq.heappop(self._order)[1], None)
            if box is not None:
                self._taken.append(box)
        return self._taken

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        self._unchecked -= 1
        self._facts.add(summary)
        if summary.levels == self._problem.context.lattice.top:
            self._rows_of_all = summary.certain_suppressed_rows
            if ruled_out:
                self._waiting.clear()

    def least_bound(self) -> float:
        if self._unchecked == 0:
            return float("inf")
        while self._order and self._order[0][1] not in self._waiting:
            heapq.heappop(self._order)
        first = [self._waiting[self._order[0][1]]] if self._order else []
        return min((box.bound for box in (*first, *self._taken)), default=float("inf"))

    def least_suppressed_rows(self) -> float:
        left = (box.suppressed_rows for box in (*self._waiting.values(), *self._taken))
        return max(min(self._fewest, self._facts.fewest, min(left, default=float("inf"))), self._rows_of_all)


POWER = 4  # this root of the share of suppressed rows is close to a sum of one term per level, over a wide range
SMOOTHING = 1e-3  # the ridge penalty, relative to the mean weight of a node

INFORMATION_SCALE = 30.0  # weakens the penalty on lost information, which stands in for levels without nodes


@dataclass(frozen=True)
class Forecast:
    """Roots of shares as a constant and one term per level, which never increases with the level."""

    constant: float  # the mean
    terms: tuple[Bounds, ...]  # by quasi-identifier and level
    error: float  # the root mean square error on the nodes that it was learned from

    def everywhere(self) -> Bounds:
        """Return the roots of all nodes, an entry per node."""
        return reduce(np.add.outer, self.terms, np.array(self.constant))


def forecast_of(nodes: Nodes, shares: Bounds, target: float, lost_information: Sequence[Bounds]) -> Forecast:
    """Fit a ridge regression to one or more nodes.

    Each level has a term, and so has lost information, which covers levels without nodes. Nodes weigh more the nearer
    their share of suppressed rows is to the target.
    """
    weights = np.exp(-(np.log(np.maximum(shares, 1e-12) / target) ** 2) / 4) + 1e-12
    roots = shares ** (1 / POWER)
    reached = [nodes[:, [axis]] >= np.arange(1, len(lost)) for axis, lost in enumerate(lost_information)]
    lost = sum(lost[nodes[:, [axis]]] for axis, lost in enumerate(lost_information))
    features = np.hstack([INFORMATION_SCALE * lost, *reached])
    mean = np.average(roots, weights=weights)
    centered = features - np.average(features, axis=0, weights=weights)
    smoothing = SMOOTHING * weights.mean() * np.eye(features.shape[1])
    fitted = np.linalg.solve((centered.T * weights) @ centered + smoothing, (centered.T * weights) @ (roots - mean))
    error = np.sqrt(np.average((centered @ fitted + mean - roots) ** 2, weights=weights))
    information, own = fitted[0], list(fitted[1:])
    terms = []
    for axis, lost in enumerate(lost_information):
        steps = [own.pop(0) + INFORMATION_SCALE * information * step for step in np.diff(lost)]
        # A more general level never suppresses more rows.
        heights = np.concatenate([[0.0], np.cumsum(np.minimum(steps, 0))])
        terms.append(heights - np.average(heights[nodes[:, axis]], weights=weights))
    return Forecast(float(mean), tuple(terms), float(error))


def lost_information(context: LossContext) -> list[Bounds]:
    """Return, by quasi-identifier and level in the lattice, the lost share of all information."""
    everything = max(sum(losses[-1] for losses in context.losses.entropy), 1e-300)
    lattice = context.lattice
    return [
        np.array(losses[start : start + size]) / everything
        for losses, start, size in zip(context.losses.entropy, lattice.bottom, lattice.shape, strict=True)
    ]


MIN_TARGET = 1e-3
"""The smallest target for the share of suppressed rows: nodes that suppress none don't show their distance from it."""

NEWS = 1.1  # the forecast is fitted again after checked nodes grew by this factor
MAX_LEARNED = 2**12  # it is fitted to the latest nodes


class ExpectedRows:
    """The rows that a search expects nodes to suppress."""

    def __init__(self, context: LossContext, facts: Facts) -> None:
        self._context = context
        self._facts = facts
        self._bottom = np.array(context.lattice.bottom)
        self._target = max(context.allowed_rows / context.row_count, MIN_TARGET)
        self._information = lost_information(context)
        self._learned = 0
        self._constant = 0.0
        self._terms = np.zeros((len(self._bottom), max(context.lattice.top) + 1))
        # By quasi-identifier and level, the fall of the root to the next level; 0 at the last one.
        self.drops = self._terms

    def of(self, nodes: Levels) -> Bounds:
        roots = self._constant + self._terms[np.arange(nodes.shape[1]), nodes].sum(axis=1)
        rows: Bounds = np.round(np.maximum(roots, 0) ** POWER * self._context.row_count, 3)
        return rows

    def learn(self) -> None:
        """Fit again, if many checked nodes are new."""
        if len(self._facts.nodes) < NEWS * self._learned:
            return
        self._learned = len(self._facts.nodes)
        nodes, rows = self._facts.nodes[-MAX_LEARNED:], self._facts.rows[-MAX_LEARNED:]
        shares = np.maximum(rows, 0.5) / self._context.row_count
        forecast = forecast_of(nodes - self._bottom, shares, self._target, self._information)
        self._constant, terms = round(forecast.constant, 9), np.zeros_like(self._terms)
        for axis, (least, of_axis) in enumerate(zip(self._bottom, forecast.terms, strict=True)):
            terms[axis, least : least + len(of_axis)] = of_axis.round(9)
            terms[axis, least + len(of_axis) :] = of_axis[-1].round(9)
        self._terms = terms
        self.drops = -np.diff(terms, axis=1, append=terms[:, -1:])
