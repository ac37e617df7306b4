"""Branching: where to split boxes, and which nodes to check.

A box is split between two levels of a quasi-identifier. The value of a split is the product of the gains of both halves
in their bounds (the product rule of Achterberg 2007): the upper half gains by the loss of its lowest node, the lower
half by the rows that its highest node is expected to suppress. The node that is checked for this is the highest one
that is expected to rule out the lower half: a higher node proves more about other boxes, and has fewer classes.

Proofs can't be forecast. Where a search asks for them, it splits the quasi-identifier with the largest product of
entropy and loss between its ends, at the step of most entropy.
"""

from __future__ import annotations

import numpy as np

from sqlanon.model.lattice import Levels as Node
from sqlanon.model.lattice import Table
from sqlanon.model.quality import padded
from sqlanon.search.arrays import Bounds, Mask
from sqlanon.search.forecast import ExpectedRows
from sqlanon.search.optimal.boxes import Batch, Boxes, Levels, Places, steps_of
from sqlanon.search.problem import SearchProblem

SAFETY = 0.9  # the part of the expected rows to rely on
MIN_GAIN = 1e-2  # the minimum gain of a half, relative to the gain of ruling it out
WORTH = 0.2  # how far a check must raise the bound of a box, relative to ruling it out


class Branching:
    """Choices by losses, as far as known, and by expected suppressed rows."""

    def __init__(self, problem: SearchProblem, boxes: Boxes, expected: ExpectedRows) -> None:
        lattice = problem.context.lattice
        self._top = np.array(lattice.top)
        self._boxes = boxes
        self._expected = expected
        self._steps = steps_of(lattice)
        self._known = shares_of(problem.quality.known_bounds(problem.context))
        self._is_blind = not self._known.any()
        self._entropies = shares_of(problem.context.losses.entropy)
        if self._is_blind:
            self._known = self._entropies
        self._has_proofs = problem.has_proofs

    def halves(self, boxes: Batch, ceiling: float) -> tuple[Batch, Batch]:
        """Split each box of two or more nodes into a lower and an upper half."""
        each, step, lower, upper = boxes.splits(self._steps)
        if self._has_proofs:
            gains, entropies = self._spreads(boxes, each, step)
        else:
            gains, entropies = self._gains(boxes, each, lower, upper, ceiling), np.zeros(len(each))
        # The first of equal splits.
        order = np.lexsort((step, -entropies.round(12), -gains.round(12), each))
        chosen = order[np.flatnonzero(np.diff(each[order], prepend=-1))]
        return boxes._replace(high=lower[chosen]), boxes._replace(low=upper[chosen])

    def _spreads(self, boxes: Batch, each: Places, step: Places) -> tuple[Bounds, Bounds]:
        """Return entropy times loss between the ends of boxes in a quasi-identifier, and the entropy of steps."""
        axes, levels = (places[step] for places in self._steps)
        low, high = boxes.low[each, axes], boxes.high[each, axes]
        entropies = self._entropies[axes, high] - self._entropies[axes, low]
        spreads = entropies * (self._known[axes, high] - self._known[axes, low])
        return spreads, self._entropies[axes, levels + 1] - self._entropies[axes, levels]

    def _gains(self, boxes: Batch, each: Places, lower: Levels, upper: Levels, ceiling: float) -> Bounds:
        low, rows = boxes.low[each], boxes.suppressed_rows[each]
        expected = np.maximum(self._expected.of(lower), rows)
        if self._is_blind:
            losses = [self._losses(nodes) for nodes in (low, lower, upper, boxes.high[each])]
            begins, ends, most = losses[0], losses[2], losses[3]
            fails = expected >= self._boxes.enough(boxes.low, ceiling)[each]
            of_lower, of_upper, most = np.where(fails, most - begins, most - losses[1]), ends - begins, most - begins
        else:
            bounds = boxes.bounds[each]
            worst = self._boxes.losses(self._top[np.newaxis], [0])
            most = (np.full(len(each), ceiling) if np.isfinite(ceiling) else worst) - bounds
            of_lower = np.minimum(self._boxes.losses(low, expected) - bounds, most)
            of_upper = np.minimum(self._boxes.losses(upper, rows) - bounds, most)
        least = MIN_GAIN * most + 1e-12
        gains: Bounds = np.maximum(of_lower, least) * np.maximum(of_upper, least) / np.maximum(most, 1e-12) ** 2
        return gains

    def lifted(self, nodes: Levels, low: Levels, ceiling: float) -> Levels:
        """Raise nodes, where the fewest rows come back, while a check is expected to rule out all down to ``low``."""
        enough = self._boxes.enough(low, ceiling)
        lifted, places = nodes.copy(), np.arange(len(nodes))
        going = np.ones(len(nodes), dtype=bool)
        while going.any():
            drops = np.where(lifted < self._top, self._expected.drops[np.arange(nodes.shape[1]), lifted], np.inf)
            axes = drops.argmin(axis=1)
            risen = lifted.copy()
            risen[places, axes] += 1
            going &= np.isfinite(drops[places, axes]) & (
                SAFETY * self._expected.of(np.minimum(risen, self._top)) >= enough
            )
            lifted[going] = risen[going]
        return lifted

    def are_worth(self, nodes: Levels, boxes: Batch, ceiling: float) -> Mask:
        """Return whether checks of nodes above boxes are expected to raise bounds, or to find a better node."""
        worth = boxes.bounds + (WORTH * (ceiling - boxes.bounds) if np.isfinite(ceiling) else 0.0)
        raises = self._boxes.losses(boxes.low, self._expected.of(nodes)) > worth
        return raises | (self._expected_losses(nodes) <= ceiling)

    def promising(self, boxes: Batch) -> tuple[Levels, Bounds]:
        """Find in each box the node on a path up that is expected to satisfy and to lose least, and its expected loss.

        Each step of the path goes where the most rows come back per loss.
        """
        node, axes, places = boxes.low.copy(), np.arange(boxes.low.shape[1]), np.arange(len(boxes.low))
        best, least = node.copy(), self._expected_losses(node)
        costs = np.diff(self._known, axis=1, append=self._known[:, -1:]) + 1e-9
        while (rises := node < boxes.high).any():
            worth = (self._expected.drops[axes, node] + 1e-4) / costs[axes, node]
            axis = np.where(rises, worth.round(9), -1.0).argmax(axis=1)
            goes = rises.any(axis=1)
            node[places[goes], axis[goes]] += 1
            losses = self._expected_losses(node)
            better = losses < least
            best[better], least[better] = node[better], losses[better]
        return best, least

    def _expected_losses(self, nodes: Levels) -> Bounds:
        losses = self._boxes.losses(nodes, self._expected.of(nodes))
        return np.where(np.isfinite(losses), self._losses(nodes), np.inf) if self._is_blind else losses

    def _losses(self, nodes: Levels) -> Bounds:
        losses: Bounds = self._known[np.arange(nodes.shape[1]), nodes].sum(axis=1)
        return losses


def as_nodes(levels: Levels) -> list[Node]:
    return [tuple(node) for node in levels.tolist()]


def shares_of(table: Table) -> Bounds:
    """Divide losses of levels by the loss at the top."""
    losses = padded(table)
    return losses / (losses[:, -1].sum() or 1.0)
