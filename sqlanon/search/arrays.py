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
    """The index of a node and everything less general."""
    return tuple(slice(0, step + 1) for step in index)


def above(index: Index) -> tuple[slice, ...]:
    """The index of a node and everything more general."""
    return tuple(slice(step, None) for step in index)


def levels_of(nodes: Nodes, lattice: Lattice) -> NDArray[np.int64]:
    """The levels of nodes, as quality models take them: a row per quasi-identifier, a column per node."""
    levels: NDArray[np.int64] = nodes.T + np.array(lattice.bottom)[:, np.newaxis]
    return levels


def neighbours(entries: Entries, axis: int) -> Iterator[tuple[Entries, Entries]]:
    """The entries of each level of an axis beside those of the next, as views.

    Axes have few levels, along which numpy's own ``accumulate`` takes many times as long.
    """
    levels = np.moveaxis(entries, axis, 0)
    for step in range(1, len(levels)):
        yield levels[step - 1 : step], levels[step : step + 1]


def spread_upwards(entries: Entries) -> None:
    """Give every node the largest of its own entry and those of the nodes below it, in place; a mark is the larger."""
    for axis in range(entries.ndim):
        for lower, upper in neighbours(entries, axis):
            np.maximum(lower, upper, out=upper)


def spread_downwards(entries: Entries) -> None:
    """Give every node the largest of its own entry and those of the nodes above it, in place; a mark is the larger."""
    spread_upwards(np.flip(entries))


def minimal(upper: Mask) -> Iterator[Index]:
    """The marked nodes with none below them, in lexicographic order; everything above a marked node is marked."""
    least = upper.copy()
    for axis in range(upper.ndim):
        predecessors = [slice(None)] * upper.ndim
        successors = [slice(None)] * upper.ndim
        predecessors[axis] = slice(None, -1)
        successors[axis] = slice(1, None)
        least[tuple(successors)] &= ~upper[tuple(predecessors)]
    yield from indexes(least)


def indexes(mask: Mask) -> Iterator[Index]:
    """The marked nodes, in lexicographic order."""
    for index in np.argwhere(mask):
        yield tuple(int(step) for step in index)


Losses = Bounds | NDArray[np.int64]


def most_informative(open_nodes: Mask, known: Losses, count: int) -> list[Index]:
    """Choose up to ``count`` open nodes, no two comparable, that rule out many others whether they satisfy or fail.

    It is a binary search, generalized from a line to a lattice: the nodes rule out most in the worse of the two cases.
    ``known`` are lower bounds of losses.
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
