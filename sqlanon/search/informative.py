"""Which nodes to check next: a binary search, generalized from a line to a lattice.

The nodes that are asked rule out most in the worse of the two cases, that they satisfy or that they fail. Where it is
known how likely these are, they rule out most on average: on that of logarithms, since what is left is a product. That
is a guess, so that half of the weight may stay with the worse case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Bounds, Counts, Index, Mask, above, below, neighbours

Losses = NDArray[np.float64] | NDArray[np.int64]


def most_informative(
    open_nodes: Mask, known: Losses, count: int, failing: Bounds | None = None, *, is_hedged: bool = False
) -> list[Index]:
    """Up to ``count`` open nodes, no two comparable, that each rule out many others whether they satisfy or fail.

    Args:
        open_nodes: the nodes that are left.
        known: lower bounds of their losses.
        count: how many nodes are wanted at most.
        failing: how likely each is to fail; if None, the worse case counts.
        is_hedged: whether the worse case counts as much as what is likely.
    """
    below_each, worse_each = count_below(open_nodes), _count_worse(open_nodes, known)
    gain = np.where(open_nodes, _gain(below_each, worse_each, failing, is_hedged=is_hedged), 0)
    batch: list[Index] = []
    while len(batch) < count and gain[best := np.unravel_index(int(gain.argmax()), gain.shape)] > 0:
        node = tuple(int(step) for step in best)
        batch.append(node)
        gain[below(node)] = 0
        gain[above(node)] = 0
    return batch


def _gain(below: Counts, worse: Counts, failing: Bounds | None, *, is_hedged: bool) -> Counts | Bounds:
    """The worth of nodes that rule out ``below`` others if they fail, and ``worse`` others if they satisfy."""
    if failing is None:
        return np.minimum(below, worse)
    # No node rules out less than itself; those that are not open may, and are left out.
    least = np.maximum(np.minimum(below, worse), 1)
    average = np.exp(failing * np.log(np.maximum(below, 1)) + (1 - failing) * np.log(np.maximum(worse, 1)))
    gain: Bounds = np.sqrt(average * least) if is_hedged else average
    return gain


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
