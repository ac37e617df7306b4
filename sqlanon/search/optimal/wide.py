"""What is left of a lattice too large for arrays, in memory that grows with what was checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import NodeSummary
from sqlanon.search.arrays import Index
from sqlanon.search.optimal.boxes import Antichain, Boxes, Nodes, as_column
from sqlanon.search.optimal.projections import NOTHING, Projection, WholeTerms, parts
from sqlanon.search.problem import SearchProblem

PROJECTED_NODES = 2**16
"""How many nodes a projection has at most, unless a single quasi-identifier has more levels.

tests.benchmarks.wide, 12 columns of 30,000 rows, the gap after 15 CPU s: 0.125; with a sixty-fourth of it, which makes
three projections in place of two, 0.120.
"""

NEGLIGIBLE = 1e-9
"""Bounds that exceed the known ones by less, relative to the larger of 1 and the bound, are not kept: that is noise."""


class WideRegion:
    """The nodes that may still satisfy the policy.

    Attributes:
        terms: the known terms of the loss.
        top: the index of the most general node.
        projections: projections that have every quasi-identifier once.
        boxes: the nodes that are possible, as far as they were looked at.
    """

    def __init__(self, problem: SearchProblem) -> None:
        lattice = problem.context.lattice
        self.top: Index = lattice.index(lattice.top)
        self.terms = WholeTerms(problem)
        self._problem = problem
        self._size = lattice.size
        self._checked: set[Index] = set()
        self._ruled_out = Antichain(len(self.top))
        self._cleared = Antichain(len(self.top))
        self._inherited = _Inherited(len(self.top))
        self._steps = _padded(self.terms.table)
        self.projections = [
            Projection(positions, self.top, self.terms) for positions in parts(lattice.shape, PROJECTED_NODES)
        ]
        self.boxes = Boxes(self.top, self)

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """Take note of a checked node; ``ruled_out`` says that neither it nor anything below it satisfies."""
        index = self._problem.context.lattice.index(summary.levels)
        self._checked.add(index)
        if ruled_out:
            self._ruled_out.add(index)
        else:
            self._cleared.add(_negative(index))
        for projection in self.projections:
            projection.learn(index, ruled_out=ruled_out)
        bound = self._problem.quality.bound_above(summary, self._problem.context)
        if bound > self.terms.bound_of(index) + NEGLIGIBLE * max(1.0, bound):
            self._inherited.add(index, bound)

    def least_bound(self) -> float:
        """What is proven to be at most the loss of every satisfying node that was not checked; infinite for none."""
        if len(self._checked) == self._size:
            return float("inf")
        return max(self.boxes.least_bound(), self.bound_above((0,) * len(self.top)))

    def least_suppressed_rows(self) -> float:
        """What is proven to be at most what any node suppresses that was not checked; infinite if there is none."""
        return float("inf") if len(self._checked) == self._size else 0.0

    def bound_above(self, node: Index) -> float:
        """A lower bound of the loss of every possible node that is equal to this one or above it; infinite for none."""
        least = sum(projection.least_above(node) for projection in self.projections)
        return float("inf") if least >= NOTHING else max(self.terms.bound(least), self._inherited.at(node))

    def ways_out(self, low: Index, high: Index) -> Sequence[tuple[int, int]] | None:
        """Steps such that each possible node of a box reaches one; None if its lowest node is neither checked nor out.

        Of the nodes that rule the lowest out, the one that costs most to pass is taken.
        """
        walls = self._ruled_out.above(low)
        if not walls.size:
            if low not in self._checked:
                return None
            walls = as_column(low)
        positions = np.arange(len(low))[:, np.newaxis]
        costs = np.where(walls < as_column(high), self._steps[positions, walls + 1], NOTHING)
        costs -= self._steps[positions, as_column(low)]
        wall = int(costs.min(axis=0).argmax())
        order = sorted((-int(costs[position, wall]), position) for position in range(len(low)))
        steps = [int(step) + 1 for step in walls[:, wall]]
        return [(position, steps[position]) for _, position in order if steps[position] <= high[position]]

    def is_checked(self, node: Index) -> bool:
        """Whether a node was checked."""
        return node in self._checked

    def is_ruled_out(self, node: Index) -> bool:
        """Whether a checked node proves that this one does not satisfy the policy."""
        return self._ruled_out.covers(node)

    def is_cleared(self, node: Index) -> bool:
        """Whether a checked node proves that this one cannot rule out the nodes below it."""
        return self._cleared.covers(_negative(node))


class _Inherited:
    """Checked nodes with a bound of the loss of what is above them that is more than the known one."""

    def __init__(self, width: int) -> None:
        self._nodes: Nodes = np.empty((width, 0), dtype=np.int16)
        self._bounds: NDArray[np.float64] = np.empty(0)

    def add(self, node: Index, bound: float) -> None:
        """Take note of a bound, unless one of a node below is as large."""
        if self.at(node) >= bound:
            return
        column = as_column(node)
        stays = (self._nodes < column).any(axis=0) | (self._bounds > bound)
        self._nodes = np.concatenate([self._nodes[:, stays], column], axis=1)
        self._bounds = np.append(self._bounds[stays], bound)

    def at(self, node: Index) -> float:
        """The largest bound that a node inherits."""
        below = (self._nodes <= as_column(node)).all(axis=0)
        return float(self._bounds[below].max(initial=float("-inf")))


def _negative(node: Index) -> Index:
    """Turns the lattice upside down."""
    return tuple(-step for step in node)


def _padded(table: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """The terms as a rectangle; padding costs more than any step."""
    steps = np.full((len(table), max(map(len, table)) + 1), NOTHING, dtype=np.int64)
    for position, terms in enumerate(table):
        steps[position, : len(terms)] = terms
    return steps
