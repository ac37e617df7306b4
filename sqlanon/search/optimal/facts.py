"""Facts: what checked nodes prove of boxes of nodes, and rule out.

What a node is certain to suppress, every less general node suppresses, too. So a box below a checked node suppresses
as many rows. If all of a box is below it but for one quasi-identifier, the part up to the node's level of that one is
below it: where that part is ruled out, the box begins above it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import NodeSummary
from sqlanon.search.arrays import Bounds
from sqlanon.search.problem import SearchProblem

Levels = NDArray[np.int64]  # nodes by their levels: a row per node
Places = NDArray[np.int64]  # places in another array


class Facts:
    """The checked nodes."""

    def __init__(self, problem: SearchProblem) -> None:
        # Whether a checked node says more of the loss of more general ones than is known without a check.
        self.inherits = not any(map(any, problem.known_terms()))
        self.fewest = float("inf")  # the least rows that a part suppresses that was ruled out
        self._problem = problem
        self._count = 0
        self._nodes = np.empty((64, len(problem.context.lattice.shape)), dtype=np.int64)
        self._rows, self._losses = np.empty(64), np.empty(64)

    @property
    def nodes(self) -> Levels:
        """The checked nodes."""
        return self._nodes[: self._count]

    @property
    def rows(self) -> Bounds:
        """The rows that each of them is certain to suppress."""
        return self._rows[: self._count]

    def add(self, summary: NodeSummary) -> None:
        """Take note of a checked node."""
        if self._count == len(self._rows):
            # As many again as there are, so that they seldom move.
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
            the lowest node of each, above its highest one if nothing is left, and rows that all of its nodes suppress.
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
