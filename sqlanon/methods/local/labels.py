"""The labels of classes of cells, and what they lose: every attribute at the finest level at which all rows agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.methods.local.arrays import UNITS, CellArrays, Ints, Mask, changes
from sqlanon.model.lattice import Lattice


@dataclass(frozen=True)
class Ladders:
    """The labels above all values, as arrays of shape (quasi-identifiers, levels, values).

    Values and levels that a taxonomy does not have are filled up; the levels repeat the top.

    Attributes:
        labels: the numbers of labels.
        losses: what each loses of a whole row, in :data:`UNITS`.
        lowest: the least level of each quasi-identifier that may be published.
        highest: the greatest.
    """

    labels: Ints
    losses: Ints
    lowest: Ints
    highest: Ints

    @staticmethod
    def of(cells: CellArrays, lattice: Lattice, shares: Sequence[float] | None = None) -> Ladders:
        """The labels of the taxonomies of some cells.

        Args:
            cells: the cells.
            lattice: the levels that may be published.
            shares: how much each quasi-identifier counts, 1 together; equal ones if None.
        """
        width = len(cells.taxonomies)
        shares = [1 / width] * width if shares is None else shares
        shape = (
            width,
            max(len(taxonomy.labels) for taxonomy in cells.taxonomies),
            max(taxonomy.labels.shape[1] for taxonomy in cells.taxonomies),
        )
        labels, losses = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for place, (taxonomy, share) in enumerate(zip(cells.taxonomies, shares, strict=True)):
            levels, values = taxonomy.labels.shape
            repeated = np.minimum(np.arange(shape[1]), levels - 1)
            labels[place, :, :values] = taxonomy.labels[repeated]
            losses[place, :, :values] = np.rint(taxonomy.losses[repeated] * (share * UNITS))
        return Ladders(labels, losses, np.array(lattice.bottom), np.array(lattice.top))

    def finest(self, values: Ints, classes: Ints) -> Ints:
        """The finest level of each quasi-identifier at which all cells of a class have one label.

        Args:
            values: those of the cells, of shape (quasi-identifiers, cells), a class after the other.
            classes: the class of each cell, ascending.

        Returns:
            levels, of shape (quasi-identifiers, classes).
        """
        starts = np.flatnonzero(changes(classes[np.newaxis]))
        levels = []
        for labels, of_cells, lowest in zip(self.labels, values, self.lowest, strict=True):
            least = np.minimum.reduceat(labels[:, of_cells], starts, axis=1)
            most = np.maximum.reduceat(labels[:, of_cells], starts, axis=1)
            levels.append(np.maximum(_above(least != most), lowest))
        return np.array(levels)

    def meeting(self, values: Ints, others: Ints) -> Ints:
        """The least levels at which values have the labels of other ones; arrays of shape (quasi-identifiers, n)."""
        return np.array([_above(labels[:, one] != labels[:, other]) for labels, one, other in self._pairs(values, others)])

    def labels_at(self, levels: Ints, values: Ints) -> Ints:
        """The numbers of labels of values; arrays of shape (quasi-identifiers, n)."""
        return self.labels[np.arange(len(levels))[:, np.newaxis], levels, values]

    def losses_at(self, levels: Ints, values: Ints) -> Ints:
        """What the labels of values lose, summed over the quasi-identifiers."""
        losses: Ints = self.losses[np.arange(len(levels))[:, np.newaxis], levels, values].sum(axis=0)
        return losses

    def by_level(self, cells: CellArrays) -> list[Ints]:
        """What all cells lose at each level of each quasi-identifier that may be published."""
        return [
            losses[lowest : highest + 1, values] @ cells.mass
            for losses, lowest, highest, values in zip(self.losses, self.lowest, self.highest, cells.values, strict=True)
        ]

    def _pairs(self, values: Ints, others: Ints) -> zip[tuple[Ints, Ints, Ints]]:
        return zip(self.labels, values, others, strict=True)


def _above(differs: Mask) -> Ints:
    """The level above the last one that differs: 0 if none does."""
    steps = np.arange(1, len(differs) + 1)[:, np.newaxis]
    above: Ints = (differs * steps).max(axis=0)
    return above
