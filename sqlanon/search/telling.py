"""Which nodes to check next: a binary search, generalized from a line to a lattice.

The nodes that are asked rule out most in the worse of the two cases, that they satisfy or that they fail. Where it is
known how likely these are, they rule out most on average: on that of logarithms, since what is left is a product. That
is a guess, so that half of the weight stays with the worse case, unless losses are unknown before a check: then the
worse case is no more than a guess, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Bounds, Counts, Index, Mask, above, below, neighbours

Losses = NDArray[np.float64] | NDArray[np.int64]


def most_telling(open_nodes: Mask, known: Losses, count: int, failing: Bounds | None = None) -> list[Index]:
    """Up to ``count`` open nodes, no two comparable, that each rule out many others whether they satisfy or fail.

    Args:
        open_nodes: the nodes that are left.
        known: lower bounds of their losses.
        count: how many nodes are wanted at most.
        failing: how likely each is to fail; if None, the worse case counts.
    """
    below_each, worse_each = _count_below(open_nodes), _count_worse(open_nodes, known)
    gain = np.where(open_nodes, _gain(below_each, worse_each, failing, is_guess=not known.any()), 0)
    batch: list[Index] = []
    while len(batch) < count and gain[best := np.unravel_index(int(gain.argmax()), gain.shape)] > 0:
        node = tuple(int(step) for step in best)
        batch.append(node)
        gain[below(node)] = 0
        gain[above(node)] = 0
    return batch


def _gain(below: Counts, worse: Counts, failing: Bounds | None, *, is_guess: bool) -> Counts | Bounds:
    """What nodes are worth that rule out so many others if they fail, and so many if they satisfy.

    ARX's Adult blown up to 10,000,000 rows, k = 5, nothing suppressed, geometric LM: 183 nodes are checked, 213 by the
    worse case alone and 356 by the average alone.
    """
    if failing is None:
        return np.minimum(below, worse)
    # No node rules out less than itself; those that are not open may, and are left out.
    least = np.maximum(np.minimum(below, worse), 1)
    average = np.exp(failing * np.log(np.maximum(below, 1)) + (1 - failing) * np.log(np.maximum(worse, 1)))
    gain: Bounds = average if is_guess else np.sqrt(average * least)
    return gain


def _count_below(open_nodes: Mask) -> NDArray[np.int64]:
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
    more_general = np.flip(_count_below(np.flip(open_nodes)))
    ordered = np.sort(known[open_nodes])
    larger = len(ordered) - np.searchsorted(ordered, known, side="right") + 1
    return np.maximum(more_general, larger)
