"""The known terms of the loss as whole numbers, so that their sums are exact: equal runs check equal nodes."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from sqlanon.search.arrays import Index
from sqlanon.search.problem import SearchProblem

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
