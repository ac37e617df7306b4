"""Which nodes to check next: a binary search, generalized from a line to a lattice.

The nodes that are asked rule out most in the worse of the two cases, that they satisfy or that they fail.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Bounds, Index, Mask, above, below, neighbours

Losses = Bounds | NDArray[np.int64]


def most_informative(open_nodes: Mask, known: Losses, count: int) -> list[Index]:
    """Up to ``count`` open nodes, no two comparable, that each rule out many others whether they satisfy or fail.

    Args:
        open_nodes: the nodes that are left.
        known: lower bounds of their losses.
        count: how many nodes are wanted at most.
    """
    gain = np.where(open_nodes, np.minimum(count_below(open_nodes), _count_worse(open_nodes, known)), 0)
    batch: list[Index] = []
    while len(batch) < count and gain[best := np.unravel_index(int(gain.argmax()), gain.shape)] > 0:
        node = tuple(int(step) for step in best)
        batch.append(node)
        gain[below(node)] = 0
        gain[above(node)] = 0
    return batch


def count_below(open_nodes: Mask) -> NDArray[np.int64]:
    """For every node, how many open nodes a failure would rule out: itself and the less general ones."""
    counts = open_nodes.astype(np.int64)
    for axis in range(counts.ndim):
        for lower, upper in neighbours(counts, axis):
            upper += lower
    return counts


def _count_worse(open_nodes: Mask, known: Losses) -> NDArray[np.int64]:
    """For every node, how many open nodes a success is expected to rule out, itself included.

    Those above it, whose loss is at least as large, or those of larger known bound, whichever are more. Bounds
    inherited from checked nodes are left out: half known, they say more about the search than about the lattice.
    """
    more_general = np.flip(count_below(np.flip(open_nodes)))
    ordered = np.sort(known[open_nodes])
    larger = len(ordered) - np.searchsorted(ordered, known, side="right") + 1
    return np.maximum(more_general, larger)
