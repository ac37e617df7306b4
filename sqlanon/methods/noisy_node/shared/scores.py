"""The scores of the nodes of a lattice: exact near the best, and of the others that they are far below it.

Most of a lattice is never counted: bounds show that it is far from the best node, as in
:mod:`sqlanon.search.optimal.search`.

- What labels lose is a sum over the quasi-identifiers, known for every level.
- A combination does not get smaller at a more general node. So a node has no fewer rows at risk than one above it, and
  each of them loses all that its labels do not.

Which nodes are counted depends on the data, and so does the time that it takes; the scores do not depend on which are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np

from sqlanon.mechanisms.accountant import Charge
from sqlanon.mechanisms.scales import scale_for
from sqlanon.mechanisms.source import Integers, RandomSource
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.search.arrays import Mask, spread_downwards
from sqlanon.search.informative import most_informative
from sqlanon.search.problem import batches

MAX_ROWS = 1 << 32
"""How many rows scores can count, as integers of 63 bits in parts of a row."""

TELLING_NODES = 8
"""How many nodes are scored before it is looked which ones are still near the best."""


FAILURE_PROBABILITY = 2.0**-64
"""The probability, at most, that a node is drawn whose score was merged with those of others far below the best."""


Parts = Mapping[tuple[int, int], int]
"""A number for each quasi-identifier and level, in parts of :data:`WHOLE` of a row."""


class Losses:
    """What all nodes of a lattice lose, as far as it is known: scores without their sign, in parts of a row.

    Args:
        lattice: the lattice.
        row_count: rows of the source.
        whole: what a row loses that is at risk.
        lost: what all rows together lose by the labels of each node; shape of the lattice.
        most: what a row loses by them at most.
        reach: how far above the least loss losses are distinguished.
    """

    def __init__(
        self, lattice: Lattice, row_count: int, *, whole: int, lost: Integers, most: Integers, reach: int
    ) -> None:
        self._lattice = lattice
        self._largest = row_count * whole
        self._reach = min(reach, self._largest)
        self._lost = lost
        self._spared = whole - most
        self._known = np.full(lattice.shape, -1, dtype=np.int64)
        self._at_risk = np.zeros(lattice.shape, dtype=np.int64)
        self._least = self._largest

    def learn(self, levels: Levels, at_risk: int, loss: int) -> None:
        """Take note of the rows of a node that are at risk in whole, and of what it loses."""
        index = self._lattice.index(levels)
        self._at_risk[index] = at_risk
        self._known[index] = loss
        self._least = min(self._least, loss)

    def batches(self) -> Iterator[list[Levels]]:
        """The nodes to count, in batches; what a batch loses is to be learnt before the next.

        If nothing can be out of reach, bounds are of no use.
        """
        if self._reach == self._largest:
            yield from batches(self._lattice.nodes())
        else:
            while telling := most_informative(self._open(), self._lost, TELLING_NODES):
                yield [self._lattice.node(index) for index in telling]

    def scores(self) -> Integers:
        """All losses, with their sign, in lexicographic order of the nodes: what is not known is out of reach."""
        above = np.where(self._known < 0, self._reach, np.minimum(self._known - self._least, self._reach))
        scores: Integers = -(self._least + above).ravel()
        return scores

    def _open(self) -> Mask:
        """The nodes that are not known and may be within reach."""
        spread_downwards(self._at_risk)
        bounds = self._lost + self._at_risk * self._spared
        is_open: Mask = (self._known < 0) & (bounds - self._least < self._reach)
        return is_open


def sums(lattice: Lattice, table: Parts) -> Integers:
    """For every node the sum over its levels of a number for each; 0 for those that no row has."""
    terms = [
        np.array([table.get((position, depth), 0) for depth in range(least, most + 1)], dtype=np.int64)
        for position, (least, most) in enumerate(zip(lattice.bottom, lattice.top, strict=True))
    ]
    return reduce(np.add.outer, terms)


def reach(charge: Charge, sensitivity: int, nodes: int) -> int:
    """How far below the best score nodes are distinguished, for scores of this sensitivity: a public number.

    One further below would have to beat the best by noise alone. Each does with a probability of at most
    exp(-reach / scale) / 2, all of them together with no more than :data:`FAILURE_PROBABILITY`.
    """
    scale = scale_for(charge.budget.epsilon, 2 * sensitivity)
    return math.ceil(scale * (math.log(nodes) - math.log(FAILURE_PROBABILITY)))


def nodes_by_scores(
    lattice: Lattice, scores: Integers, source: RandomSource, charge: Charge, *, sensitivity: int, runs: int
) -> list[tuple[Levels, int]]:
    """The nodes that are drawn by the scores of all, in lexicographic order; each with in how many runs it is."""
    drawn = source.exponential_mechanism(scores, charge, sensitivity=sensitivity, runs=runs)
    places, times = np.unique(drawn, return_counts=True)
    nodes = [lattice.node(np.unravel_index(place, lattice.shape)) for place in places]
    return [(levels, int(count)) for levels, count in zip(nodes, times, strict=True)]
