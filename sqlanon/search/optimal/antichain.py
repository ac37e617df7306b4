"""The greatest of all nodes that were added: none is above another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Index

Nodes = NDArray[np.int16]
"""A row for each quasi-identifier, a column for each node: comparisons then run along the nodes."""


class Antichain:
    """The maximal ones of a growing set of nodes."""

    def __init__(self, width: int) -> None:
        self._nodes: Nodes = np.empty((width, 0), dtype=np.int16)

    def add(self, node: Index) -> None:
        """Add a node, unless one above it is there; it takes the place of those below it."""
        if self.covers(node):
            return
        column = as_column(node)
        others = self._nodes[:, (self._nodes > column).any(axis=0)]
        self._nodes = np.concatenate([others, column], axis=1)

    def covers(self, node: Index) -> bool:
        """Whether a node of the set is equal to this one or above it."""
        return bool((self._nodes >= as_column(node)).all(axis=0).any())

    def above(self, node: Index) -> Nodes:
        """The maximal nodes that are equal to this one or above it."""
        return self._nodes[:, (self._nodes >= as_column(node)).all(axis=0)]


def as_column(node: Index) -> Nodes:
    """A single node."""
    return np.asarray(node, dtype=np.int16)[:, np.newaxis]
