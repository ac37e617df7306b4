"""The labels of classes of cells, and what they lose: every attribute at the finest level at which all rows agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.methods.local.arrays import UNITS, CellArrays
from sqlanon.methods.shared.arrays import Ints
from sqlanon.model.lattice import Lattice


@dataclass(frozen=True)
class Ladders:
    """The labels above all values, as arrays of shape (quasi-identifiers, levels, values).

    Values and levels that a taxonomy does not have are filled up; the levels repeat the top.

    Attributes:
        labels: the numbers of labels.
        losses: what each loses of a whole row, in :data:`UNITS`.
        masks: the bits of keys that distinguish labels, of shape (quasi-identifiers, levels, words).
        lowest: the least level of each quasi-identifier that may be published.
        highest: the greatest.
    """

    labels: Ints
    losses: Ints
    masks: Ints
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
        height = max(len(taxonomy.labels) for taxonomy in cells.taxonomies)
        shape = (width, height, max(taxonomy.labels.shape[1] for taxonomy in cells.taxonomies))
        labels, losses = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for place, (taxonomy, share) in enumerate(zip(cells.taxonomies, shares, strict=True)):
            levels, values = taxonomy.labels.shape
            repeated = np.minimum(np.arange(height), levels - 1)
            labels[place, :, :values] = taxonomy.labels[repeated]
            losses[place, :, :values] = np.rint(taxonomy.losses[repeated] * (share * UNITS))
        return Ladders(labels, losses, cells.label_masks, np.array(lattice.bottom), np.array(lattice.top))

    def node_masks(self, nodes: Ints) -> Ints:
        """The bits that distinguish the classes of nodes, of shape (nodes, words), for nodes as rows of levels."""
        of_labels = self.masks[np.arange(nodes.shape[1]), nodes]
        masks: Ints = np.bitwise_or.reduce(of_labels, axis=1)
        return masks

    def meeting(self, differences: Ints) -> Ints:
        """The least levels, of shape (quasi-identifiers, n), at which keys agree that differ in some bits.

        Args:
            differences: the bits, of shape (words, n).
        """
        levels = np.zeros((len(self.masks), differences.shape[1]), dtype=np.int64)
        for of_levels, masks in zip(levels, self.masks, strict=True):
            for mask in masks[masks.any(axis=1)]:
                of_levels += (differences & mask[:, np.newaxis]).any(axis=0)
        return np.maximum(levels, self.lowest[:, np.newaxis])

    def labels_at(self, levels: Ints, values: Ints) -> Ints:
        """The numbers of labels of values; arrays of shape (quasi-identifiers, n)."""
        return self.labels[np.arange(len(levels))[:, np.newaxis], levels, values]

    def losses_at(self, levels: Ints, values: Ints) -> Ints:
        """What the labels of values lose, summed over the quasi-identifiers."""
        losses: Ints = self.losses[np.arange(len(levels))[:, np.newaxis], levels, values].sum(axis=0)
        return losses

    def by_level(self, cells: CellArrays) -> list[Ints]:
        """What all cells lose at each level of each quasi-identifier that may be published."""
        mass = [np.bincount(values, cells.mass, self.losses.shape[2]).astype(np.int64) for values in cells.values]
        return [
            losses[lowest : highest + 1] @ of_values
            for losses, lowest, highest, of_values in zip(self.losses, self.lowest, self.highest, mass, strict=True)
        ]
