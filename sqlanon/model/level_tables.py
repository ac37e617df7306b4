"""Tables of numbers by quasi-identifier and level, looked up for many nodes at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import Table

Columns = NDArray[np.int64]
"""The levels of some nodes: a row per quasi-identifier, a column per node."""

Bounds = NDArray[np.float64]
"""A number per node."""


@lru_cache(maxsize=16)
def padded(table: Table) -> Bounds:
    """A table as an array with a row per quasi-identifier, the last level of each repeated to the longest."""
    longest = max(map(len, table))
    return np.array([[*losses, *[losses[-1]] * (longest - len(losses))] for losses in table], dtype=np.float64)


def at_levels(table: Table, nodes: Columns) -> Bounds:
    """Look up the levels of nodes in a table: a row per quasi-identifier, a column per node."""
    found: Bounds = padded(table)[np.arange(len(nodes))[:, np.newaxis], nodes]
    return found


def totals(table: Table, nodes: Columns) -> Bounds:
    """The sums of a table over the levels of nodes."""
    sums: Bounds = at_levels(table, nodes).sum(axis=0)
    return sums
