"""Optimal search: the same answer as exhaustive search from a fraction of the checks.

A node stays open until it is checked or ruled out. Two things rule nodes out, and both are proofs:

- a checked node whose rows in violation of *monotonic* privacy models exceed the limit rules out every less
  general node, which has at least as many such rows;
- a satisfying node rules out every node whose loss is bounded from below by more than its own loss. Bounds come
  from the quality model: known for every node beforehand (Prec, Entropy, LM, NCP), or inherited from the checked
  nodes below (DM*, DM, AECS).

The next nodes to check are those that rule out most in the worse of the two cases: a binary search, generalized
from a line to a lattice. Nodes of equal loss are never ruled out, so the tie set is complete.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Bounds, Index, Mask, above, below
from sqlanon.search.knowledge import Knowledge
from sqlanon.search.problem import BATCH_SIZE, Search, SearchProblem, SearchStopped, margin


def optimal(problem: SearchProblem) -> Search:
    """Find a node of least loss, and all its ties, by ruling out the rest of the lattice."""
    knowledge = Knowledge(problem)
    lattice = problem.context.lattice
    known = _without_noise(knowledge.known)
    with suppress(SearchStopped):
        while batch := _most_telling(_open_nodes(knowledge), known):
            for summary in (yield knowledge.ask([lattice.node(index) for index in batch])):
                knowledge.learn(summary)
    return knowledge.outcome()


def _open_nodes(knowledge: Knowledge) -> Mask:
    """The nodes that may satisfy the policy and lose no more than the best so far."""
    open_nodes: Mask = knowledge.possible() & (knowledge.bounds() <= knowledge.loss + margin(knowledge.loss))
    return open_nodes


def _without_noise(known: Bounds) -> Bounds:
    """Known losses to twelve digits, so that the last bits of sums of floats do not steer the search.

    A database adds them in any order; equal runs are to check equal nodes.
    """
    rounded: Bounds = np.round(known / max(float(known.max()), 1e-300), 12)
    return rounded


def _most_telling(open_nodes: Mask, known: Bounds) -> list[Index]:
    """A batch of open nodes, no two comparable, that each rule out many others whether they satisfy or fail."""
    gain = np.where(open_nodes, np.minimum(_count_below(open_nodes), _count_worse(open_nodes, known)), 0)
    batch: list[Index] = []
    while len(batch) < BATCH_SIZE and gain[best := np.unravel_index(int(gain.argmax()), gain.shape)] > 0:
        node = tuple(int(step) for step in best)
        batch.append(node)
        gain[below(node)] = 0
        gain[above(node)] = 0
    return batch


def _count_below(open_nodes: Mask) -> NDArray[np.int64]:
    """For every node, how many open nodes a failure would rule out: itself and the less general ones."""
    counts = open_nodes.astype(np.int64)
    for axis in range(counts.ndim):
        np.cumsum(counts, axis=axis, out=counts)
    return counts


def _count_worse(open_nodes: Mask, known: Bounds) -> NDArray[np.int64]:
    """For every node, how many open nodes a success is expected to rule out, itself included.

    Those above it, whose loss is at least as large, or those of larger known bound, whichever are more. Bounds
    inherited from checked nodes are left out: half known, they say more about the search than about the lattice.
    """
    more_general = np.flip(_count_below(np.flip(open_nodes)))
    ordered = np.sort(known[open_nodes])
    larger = len(ordered) - np.searchsorted(ordered, known, side="right") + 1
    return np.maximum(more_general, larger)
