"""Projections of a lattice: the nodes that keep all quasi-identifiers but a few at the top.

A projection of a node is above it: if it rules out what is below it, the node is ruled out. The least sum of terms of
the possible nodes of a projection is therefore at most the part that its quasi-identifiers have in the loss of every
satisfying node. Projections are small enough for arrays, whatever the size of the lattice.

The known terms of the loss are whole numbers here, so that their sums are exact: equal runs check equal nodes.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Index, Mask, below, neighbours
from sqlanon.search.informative import most_informative
from sqlanon.search.problem import SearchProblem

Sums = NDArray[np.int64]
"""Sums of terms, an entry per node of a projection."""

NOTHING = 2**60
"""The sum of the terms where no node is possible: more than any sum, and a few of them still fit into 64 bits."""


class Projection:
    """One projection, with what the checked nodes rule out of it."""

    def __init__(self, positions: Sequence[int], top: Index, terms: WholeTerms) -> None:
        self.positions = tuple(positions)
        self._top = top
        self._others = tuple(position for position in range(len(top)) if position not in self.positions)
        self._sums: Sums = reduce(
            np.add.outer, [np.asarray(terms.table[position], dtype=np.int64) for position in self.positions]
        )
        self._possible: Mask = np.ones(self._sums.shape, dtype=bool)
        self._unchecked: Mask = np.ones(self._sums.shape, dtype=bool)
        self._ceiling = NOTHING
        self._least_above: Sums | None = None

    def learn(self, node: Index, *, ruled_out: bool) -> None:
        """Take note of a checked node, if it is one of the projection."""
        if any(node[position] < self._top[position] for position in self._others):
            return
        own = self._own(node)
        self._unchecked[own] = False
        if ruled_out:
            self._possible[below(own)] = False
            self._least_above = None
        else:
            self._ceiling = min(self._ceiling, int(self._sums[own]))

    def least(self) -> int:
        """The least sum of terms of a possible node, ``NOTHING`` if there is none."""
        return int(self._least_above_all().flat[0])

    def least_above(self, node: Index) -> int:
        """The same, of those that are equal to the projection of a node or above it."""
        return int(self._least_above_all()[self._own(node)])

    def most_informative(self, count: int) -> list[Index]:
        """The nodes to check next so that the least sum is found; none if it is known.

        A node that was checked and is possible stays so: what has no smaller sum need not be looked at.
        """
        open_nodes = self._possible & self._unchecked & (self._sums < self._ceiling)
        return [self._node(own) for own in most_informative(open_nodes, self._sums, count)]

    def _least_above_all(self) -> Sums:
        if self._least_above is None:
            least = np.where(self._possible, self._sums, NOTHING)
            for axis in range(least.ndim):
                for upper, lower in neighbours(np.flip(least), axis):
                    np.minimum(upper, lower, out=lower)
            self._least_above = least
        return self._least_above

    def _own(self, node: Index) -> Index:
        return tuple(node[position] for position in self.positions)

    def _node(self, own: Index) -> Index:
        node = list(self._top)
        for position, step in zip(self.positions, own, strict=True):
            node[position] = step
        return tuple(node)


def parts(shape: Sequence[int], most_nodes: int) -> list[list[int]]:
    """The positions of the quasi-identifiers in as few runs as will do, of similar size, up to ``most_nodes`` nodes.

    A quasi-identifier with more levels than that is a run of its own.
    """
    least = max(math.ceil(math.log(math.prod(shape)) / math.log(most_nodes)), 1)
    for count in range(least, len(shape)):
        runs = _even_runs(shape, count)
        if all(math.prod(shape[position] for position in run) <= most_nodes for run in runs):
            return runs
    return [[position] for position in range(len(shape))]


def _even_runs(shape: Sequence[int], count: int) -> list[list[int]]:
    """As many runs, cut where the logarithm of the number of nodes passes equal steps."""
    whole = math.log(math.prod(shape)) or 1.0
    runs: list[list[int]] = [[] for _ in range(count)]
    before = 0.0
    for position, levels in enumerate(shape):
        middle = before + math.log(levels) / 2
        runs[min(int(count * middle / whole), count - 1)].append(position)
        before += math.log(levels)
    return [run for run in runs if run]


DIGITS = 12
"""Digits of the largest term in which sums agree, in whatever order a database adds them up."""


class WholeTerms:
    """Per quasi-identifier and step above the bottom, the known term of the loss in units of 1e-12 of the largest."""

    def __init__(self, problem: SearchProblem) -> None:
        terms = problem.known_terms()
        self._unit = max(max(steps) for steps in terms) / 10**DIGITS or 1.0
        self._quality = problem.quality
        self.table: tuple[tuple[int, ...], ...] = tuple(
            tuple(round(term / self._unit) for term in steps) for steps in terms
        )

    def of(self, index: Sequence[int]) -> int:
        """The sum of the terms of a node."""
        return sum(steps[step] for steps, step in zip(self.table, index, strict=True))

    def bound(self, whole: int) -> float:
        """A lower bound of every loss whose terms sum to at least so much.

        A term may be half a unit too large; with a unit for each quasi-identifier off, the sum is not.
        """
        return float(self._quality.combined(max(whole - len(self.table), 0) * self._unit))

    def of_loss(self, loss: float, top: Index) -> int:
        """The largest sum of terms whose bound is at most a loss, that of the top at most."""
        return max(bisect.bisect_right(range(self.of(top) + 1), loss, key=self.bound) - 1, 0)

    def bound_of(self, index: Index) -> float:
        """The known bound of a node."""
        return self.bound(self.of(index))
