"""The nodes of a lattice that are left, as arrays with an entry per node."""

from __future__ import annotations

from functools import reduce

import numpy as np

from sqlanon.model.lattice import NodeSummary
from sqlanon.search.arrays import Bounds, Mask, levels_of, spread_downwards, spread_upwards
from sqlanon.search.optimal.boxes import Boxes
from sqlanon.search.optimal.facts import Facts
from sqlanon.search.problem import SearchProblem


class DenseRegion:
    """The nodes that may still satisfy the policy, for lattices so small that a few arrays fit into memory."""

    def __init__(self, problem: SearchProblem) -> None:
        self.known = known_bounds(problem)  # the lower bound of every node's loss that needs no check
        self._problem = problem
        self.checked: Mask = np.zeros(self.known.shape, dtype=bool)
        # The nodes that fail for certain, as do all below them; and the share of rows that a node suppresses at least.
        # Both are spread from the checked nodes when they are needed.
        self.ruled_out: Mask = np.zeros(self.known.shape, dtype=bool)
        self.suppressed: Bounds = np.zeros(self.known.shape)
        self._inherited: Bounds = np.full(self.known.shape, -np.inf)

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """Take note of a checked node; ``ruled_out`` says that neither it nor anything below it satisfies."""
        index = self._problem.context.lattice.index(summary.levels)
        self.checked[index] = True
        self.ruled_out[index] = ruled_out
        context = self._problem.context
        self._inherited[index] = self._problem.quality.bound_above(summary, context)
        self.suppressed[index] = summary.certain_suppressed_rows / context.row_count

    def bounds(self) -> Bounds:
        """The lower bound of the loss of every node that may satisfy the policy; infinite for the others."""
        spread_downwards(self.ruled_out)
        possible: Mask = ~(self.checked | self.ruled_out)
        spread_upwards(self._inherited)
        bounds: Bounds = np.where(possible, np.maximum(self.known, self._inherited), np.inf)
        context, quality = self._problem.context, self._problem.quality
        if quality.counts_suppression(context):
            # Nodes suppress no fewer rows than the checked nodes above them.
            spread_downwards(self.suppressed)
            concerned = possible & (self.suppressed > 0)
            levels = levels_of(np.argwhere(concerned), context.lattice)
            lifted = quality.bounds_with_suppression(levels, self.suppressed[concerned], context)
            bounds[concerned] = np.maximum(bounds[concerned], lifted)
        return bounds

    def least_bound(self) -> float:
        """The least that a possible node may lose; infinite if there is none. A pass over the lattice."""
        return float(self.bounds().min())

    def least_suppressed_rows(self) -> float:
        """Bound the rows that any unchecked node suppresses from below; infinite without such a node."""
        spread_downwards(self.suppressed)
        least = self.suppressed[~self.checked].min(initial=np.inf)
        return float(np.rint(least * self._problem.context.row_count))


def known_bounds(problem: SearchProblem) -> Bounds:
    """The bounds that follow from the levels alone: an array with an entry per node."""
    terms = [np.asarray(losses, dtype=np.float64) for losses in problem.known_terms()]
    return problem.quality.combined(reduce(np.add.outer, terms))


DENSE_NODES = 2**16
"""The most nodes of a lattice that is held as arrays with an entry per node: every batch takes passes over them."""


def region_of(problem: SearchProblem) -> DenseRegion | Boxes:
    """Every node of the lattice, none of them checked yet."""
    return DenseRegion(problem) if problem.context.lattice.size <= DENSE_NODES else Boxes(problem, Facts(problem))
