"""A lower bound of what any local recoding loses: all rows have the cheapest labels that enough rows share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.methods.local.arrays import UNITS, CellArrays, slots_of
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.shared.arrays import Ints, Mask, changes, grouped
from sqlanon.model.lattice import Lattice


def lower_bound(cells: CellArrays, lattice: Lattice, least_size: int, shares: Sequence[float] | None = None) -> float:
    """The mean over rows of the least loss of labels under which the whole table has enough rows, or 1.

    No recoding loses less, whichever rows it leaves out and whatever else it asks of classes: all rows of a class have
    its labels in the whole table, too.

    Args:
        cells: the cells.
        lattice: the levels that may be published.
        least_size: the rows that every class has at least.
        shares: how much each quasi-identifier counts, 1 together; equal ones if None.
    """
    least = cheapest(cells, Ladders.of(cells, lattice, shares), least_size)
    return int(least @ cells.mass) / (UNITS * max(int(cells.mass.sum()), 1))


def cheapest(cells: CellArrays, ladders: Ladders, least_size: int) -> Ints:
    """What each cell loses at its cheapest labels that enough rows share, in :data:`UNITS`; all of them if none are."""
    bottom = ladders.lowest[:, np.newaxis]
    losses = ladders.losses_at(np.broadcast_to(bottom, cells.values.shape), cells.values)
    whole = _Classes(cells.keys, np.arange(cells.count), cells.rows, losses)
    classes, of_cells = whole.masked(ladders.node_masks(bottom.T)[0])
    # The quasi-identifiers of many values are raised first: what the others are raised from is small then.
    turns = sorted(range(len(cells.values)), key=lambda place: -len(np.unique(cells.values[place])))
    walk = _Walk(cells.values, ladders, turns, least_size)
    return walk.least(classes, ladders.lowest.tolist(), 0, np.full(len(classes.rows), UNITS))[of_cells]


@dataclass(frozen=True)
class _Classes:
    """The classes of a node.

    Attributes:
        keys: their keys.
        cells: a cell of each.
        rows: the rows of each.
        losses: what the labels of each lose.
    """

    keys: Ints
    cells: Ints
    rows: Ints
    losses: Ints

    def __getitem__(self, places: Ints) -> _Classes:
        return _Classes(self.keys[:, places], self.cells[places], self.rows[places], self.losses[places])

    def masked(self, masks: Ints) -> tuple[_Classes, Ints]:
        """The classes of a more general node, by the bits of its keys, and in which of them each of these is."""
        keys = self.keys & masks[:, np.newaxis]
        order, groups = grouped(keys)
        starts = np.flatnonzero(changes(groups[np.newaxis]))
        numbers = np.empty_like(groups)
        numbers[order] = groups
        firsts = order[starts]
        rows = np.add.reduceat(self.rows[order], starts)
        return _Classes(keys[:, firsts], self.cells[firsts], rows, self.losses[firsts]), numbers


@dataclass(frozen=True)
class _Walk:
    """A walk through the lattice that makes the classes of each node of those of a node below it.

    Attributes:
        values: the values of cells, of shape (quasi-identifiers, cells).
        ladders: the labels.
        turns: the order in which quasi-identifiers are raised.
        least_size: the rows that every class has at least.
    """

    values: Ints
    ladders: Ladders
    turns: Sequence[int]
    least_size: int

    def least(self, classes: _Classes, levels: list[int], turn: int, known: Ints) -> Ints:
        """The least of what is known and of what classes lose that are large enough, from a node on.

        Args:
            classes: those of the node.
            levels: the node.
            turn: quasi-identifiers from this turn on are raised.
            known: the most that is known to be attainable for the cells of each class.
        """
        least = np.where(classes.rows >= self.least_size, np.minimum(classes.losses, known), known)
        for later in range(turn, len(self.turns)):
            place = self.turns[later]
            if levels[place] < self.ladders.highest[place]:
                near = self._near(classes, levels, later, classes.losses < least)
                if not len(near):
                    break
                raised = [*levels]
                raised[place] += 1
                least[near] = self._above(classes[near], raised, later, least[near])
        return least

    def _near(self, classes: _Classes, levels: list[int], turn: int, may_gain: Mask) -> Ints:
        """The classes that fall into one with some that may gain, at the most general node of the rest of the walk."""
        if not may_gain.any():
            return np.zeros(0, dtype=np.int64)
        top = np.array(levels)
        rest = self.turns[turn:]
        top[rest] = self.ladders.highest[rest]
        slots, count = slots_of(classes.keys & self.ladders.node_masks(top[np.newaxis])[0][:, np.newaxis])
        is_near = np.zeros(count, dtype=bool)
        is_near[slots[may_gain]] = True
        return np.flatnonzero(is_near[slots])

    def _above(self, classes: _Classes, levels: list[int], turn: int, known: Ints) -> Ints:
        place = self.turns[turn]
        above, numbers = classes.masked(self.ladders.node_masks(np.array([levels]))[0])
        of_level = self.ladders.losses[place, levels[place]] - self.ladders.losses[place, levels[place] - 1]
        above = replace(above, losses=above.losses + of_level[self.values[place, above.cells]])
        most = np.zeros(len(above.rows), dtype=np.int64)
        np.maximum.at(most, numbers, known)
        return np.minimum(known, self.least(above, levels, turn, most)[numbers])
