"""Scores of privacy models: numbers of cells that sum up to at most 0 in every class that a model keeps.

Source: spec/bounds2.md, where each is proven. Models without scores prove nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sqlanon.methods.shared.arrays import Floats, Ints, changes
from sqlanon.methods.shared.sensitive import Reference
from sqlanon.model.bounds import Bound

SLACK = 1e-11
"""By how many times the rows of a class a sum is lowered: more than what rounding adds to it."""


@dataclass(frozen=True)
class Counts:
    """Cells in the order of their classes, and how often a sensitive column has each value in both.

    Attributes:
        starts: the first cell of each class.
        groups: the class of each cell.
        cell_rows, class_rows: rows.
        of_cells, of_classes: rows with each value, of shape (values, cells) and (values, classes).
    """

    starts: Ints
    groups: Ints
    cell_rows: Floats
    class_rows: Floats
    of_cells: Floats
    of_classes: Floats

    def excess(self, sums: Floats, scores: Callable[[Ints, Floats], Floats]) -> Excess:
        """The classes of a positive score.

        Args:
            sums: the score of each class.
            scores: gives those of some cells, by their places and their rows.
        """
        is_positive = sums > 0
        cells = np.flatnonzero(is_positive[self.groups])
        groups = (np.cumsum(is_positive) - 1)[self.groups[cells]]
        starts = np.flatnonzero(changes(groups[np.newaxis]))
        rows = self.cell_rows[cells]
        return Excess(np.flatnonzero(is_positive), sums[is_positive], starts, groups, rows, scores(cells, rows))


@dataclass(frozen=True)
class Excess:
    """A score in the classes that exceed what a model allows.

    Attributes:
        classes: these classes.
        sums: the score of each of them, above 0: that of its cells, lowered by the slack.
        starts, groups: the first cell of each of them, and the place of its class for each of their cells.
        rows: of their cells.
        scores: of their cells.
    """

    classes: Ints
    sums: Floats
    starts: Ints
    groups: Ints
    rows: Floats
    scores: Floats


class Score(Protocol):
    """The scores of a model."""

    def violated(self, counts: Counts) -> Floats:
        """A number of each class that is above 0 where it violates the model."""

    def excesses(self, counts: Counts) -> Iterator[Excess]:
        """The scores that have an excess in some class."""


@dataclass(frozen=True)
class AtMost:
    """At most a share of each value: (α,k)-anonymity, β-likeness, and the upper side of δ-disclosure.

    Attributes:
        shares: the largest share of each value.
    """

    shares: Floats

    def violated(self, counts: Counts) -> Floats:
        """See :class:`Score`."""
        most: Floats = self._sums(counts).max(axis=0)
        return most

    def excesses(self, counts: Counts) -> Iterator[Excess]:
        """See :class:`Score`."""
        sums = self._sums(counts)
        for value in np.flatnonzero((sums > 0).any(axis=1)):
            of_cells, share = counts.of_cells[value], self.shares[value]
            yield counts.excess(sums[value], lambda cells, rows: of_cells[cells] - share * rows)  # noqa: B023

    def _sums(self, counts: Counts) -> Floats:
        sums: Floats = counts.of_classes - (self.shares[:, np.newaxis] + SLACK) * counts.class_rows
        return sums


@dataclass(frozen=True)
class AtLeast:
    """At least a share of each value that a class has: the lower side of δ-disclosure.

    Attributes:
        shares: the least share of each value.
    """

    shares: Floats

    def violated(self, counts: Counts) -> Floats:
        """See :class:`Score`."""
        least = (self.shares[:, np.newaxis] - SLACK) * counts.class_rows
        most: Floats = np.where(counts.of_classes > 0, least - counts.of_classes, 0.0).max(axis=0)
        return most

    def excesses(self, counts: Counts) -> Iterator[Excess]:
        """See :class:`Score`."""
        for value, share in enumerate(self.shares):
            of_cells = counts.of_cells[value]
            having = np.add.reduceat(np.where(of_cells > 0, counts.cell_rows, 0.0), counts.starts)
            sums = share * having - counts.of_classes[value] - SLACK * counts.class_rows
            if (sums > 0).any():
                yield counts.excess(
                    sums,
                    lambda cells, rows: share * rows * (of_cells[cells] > 0) - of_cells[cells],  # noqa: B023
                )


@dataclass(frozen=True)
class AtDistance:
    """At most an earth mover's distance from the whole table, by a dual potential that is the best of each class.

    Attributes:
        reference: the values of the whole table.
        most: the largest distance.
        distance: ``equal``, ``ordered`` or ``hierarchical``.
    """

    reference: Reference
    most: float
    distance: str

    def violated(self, counts: Counts) -> Floats:
        """See :class:`Score`."""
        return self._sums(counts, self._potentials(counts))

    def excesses(self, counts: Counts) -> Iterator[Excess]:
        """See :class:`Score`."""
        potentials = self._potentials(counts)
        sums = self._sums(counts, potentials)
        expected = self.reference.shares @ potentials + self.most

        def scores(cells: Ints, rows: Floats) -> Floats:
            groups = counts.groups[cells]
            of_values: Floats = (counts.of_cells[:, cells] * potentials[:, groups]).sum(axis=0)
            return of_values - expected[groups] * rows

        if (sums > 0).any():
            yield counts.excess(sums, scores)

    def _sums(self, counts: Counts, potentials: Floats) -> Floats:
        expected = self.reference.shares @ potentials + self.most + SLACK
        sums: Floats = (counts.of_classes * potentials).sum(axis=0) - expected * counts.class_rows
        return sums

    def _potentials(self, counts: Counts) -> Floats:
        """Of each value in each class: their means in a class and in the table differ by the distance of the class."""
        surplus = counts.of_classes - self.reference.shares[:, np.newaxis] * counts.class_rows
        if self.distance == "equal":
            return (surplus > 0).astype(np.float64)
        if self.distance == "ordered":
            steps = np.sign(np.cumsum(surplus, axis=0)[:-1]) / max(len(surplus) - 1, 1)
            above: Floats = np.zeros_like(surplus)
            above[:-1] = np.cumsum(steps[::-1], axis=0)[::-1]
            return above
        total = np.zeros_like(surplus)
        for level in self.reference.levels:
            (labels,) = level.labels
            of_labels = np.zeros((len(level.rows), surplus.shape[1]))
            np.add.at(of_labels, labels, surplus)
            total += (of_labels > 0)[labels]
        return total / len(self.reference.levels)


def scores_of(bound: Bound, reference: Reference) -> tuple[Score, ...]:
    """The scores of a bound on the values of a column; none if it has none."""
    shares, most = reference.shares, float(bound.threshold)
    match bound.measure.name:
        case "largest_share":
            return (AtMost(np.full(len(shares), most)),)
        case "basic_likeness":
            return (AtMost((1 + most) * shares),)
        case "enhanced_likeness":
            return (AtMost((1 + np.minimum(most, -np.log(shares))) * shares),)
        case "disclosure":
            return (AtMost(2.0**most * shares), AtLeast(2.0**-most * shares))
        case "equal_distance" | "ordered_distance" | "hierarchical_distance":
            return (AtDistance(reference, most, bound.measure.name.removesuffix("_distance")),)
    return ()
