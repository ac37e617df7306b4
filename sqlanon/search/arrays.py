"""Arrays with an entry per allowed node and an axis per quasi-identifier (see :attr:`Lattice.shape`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import Lattice

Index = tuple[int, ...]
Mask = NDArray[np.bool_]
Bounds = NDArray[np.float64]
Counts = NDArray[np.int64]
Entries = TypeVar("Entries", Mask, Bounds, Counts)
Nodes = NDArray[np.int64]  # nodes by their indexes: a row per node, a column per quasi-identifier


def below(index: Index) -> tuple[slice, ...]:
    """Select a node and all less general ones."""
    return tuple(slice(0, step + 1) for step in index)


def above(index: Index) -> tuple[slice, ...]:
    """Select a node and all more general ones."""
    return tuple(slice(step, None) for step in index)


def levels_of(nodes: Nodes, lattice: Lattice) -> NDArray[np.int64]:
    """Return the levels of nodes as quality models take them: a row per quasi-identifier, a column per node."""
    levels: NDArray[np.int64] = nodes.T + np.array(lattice.bottom)[:, np.newaxis]
    return levels


def neighbours(entries: Entries, axis: int) -> Iterator[tuple[Entries, Entries]]:
    """Yield the entries of each level of an axis and of the next one, as views: faster than numpy's ``accumulate``."""
    levels = np.moveaxis(entries, axis, 0)
    for step in range(1, len(levels)):
        yield levels[step - 1 : step], levels[step : step + 1]


def spread_upwards(entries: Entries) -> None:
    """Raise every entry to the maximum over the node and all nodes below it, in place."""
    for axis in range(entries.ndim):
        for lower, upper in neighbours(entries, axis):
            np.maximum(lower, upper, out=upper)


def spread_downwards(entries: Entries) -> None:
    """Raise every entry to the maximum over the node and all nodes above it, in place."""
    spread_upwards(np.flip(entries))


def minimal(upper: Mask) -> Iterator[Index]:
    """Yield the minimal nodes of an upward closed mask, in lexicographic order."""
    least = upper.copy()
    for axis in range(upper.ndim):
        predecessors = [slice(None)] * upper.ndim
        successors = [slice(None)] * upper.ndim
        predecessors[axis] = slice(None, -1)
        successors[axis] = slice(1, None)
        least[tuple(successors)] &= ~upper[tuple(predecessors)]
    yield from indexes(least)


def indexes(mask: Mask) -> Iterator[Index]:
    for index in np.argwhere(mask):
        yield tuple(int(step) for step in index)


Losses = Bounds | NDArray[np.int64]


def most_informative(open_nodes: Mask, known: Losses, count: int) -> list[Index]:
    """Choose up to ``count`` incomparable open nodes that rule out many others whether they satisfy or fail.

    This generalizes binary search from a line to a lattice: it maximizes the nodes that are ruled out in the worse
    case. ``known`` has lower bounds of losses.
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
    """Count, for every node, the open nodes that a failure would rule out: itself and the less general ones."""
    counts = open_nodes.astype(np.int64)
    for axis in range(counts.ndim):
        for lower, upper in neighbours(counts, axis):
            upper += lower
    return counts


def _count_worse(open_nodes: Mask, known: Losses) -> NDArray[np.int64]:
    """Count, for every node, the open nodes that a success is expected to rule out, itself included.

    These are the nodes above it, whose loss is at least as large, or the nodes of larger known bound, if more. Bounds
    inherited from checked nodes don't count: they describe the search more than the lattice.
    """
    more_general = np.flip(count_below(np.flip(open_nodes)))
    ordered = np.sort(known[open_nodes])
    larger = len(ordered) - np.searchsorted(ordered, known, side="right") + 1
    return np.maximum(more_general, larger)
