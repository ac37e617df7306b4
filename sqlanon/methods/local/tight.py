"""A tighter lower bound of what local recodings lose: prices of rows that no class can afford to exceed.

Each row has a price in [0, 1]. Prices are feasible if at every node and in each class of at least k rows of the whole
table the k greatest prices sum up to at most k times what the class's labels lose of a row. Then no recoding whose
classes have at least k rows loses less than the sum of all prices.

Proof: let a class of a recoding have n >= k rows and lose c a row. The class of the same labels in the whole table has
all these rows. The mean price of the n rows is at most that of the k dearest of them, which is at most that of the k
dearest of the whole table's class, which is at most c. So the n rows pay at most n c, which is what they lose. A row
that is left out loses 1 and pays at most 1. The sum over the rows is the claim. Other privacy models and limits leave
fewer recodings to choose from, and change nothing. Weights do: rows of one cell would differ in what they count.

Source: spec/local.md, "The gap". The prices are the dual of covering rows by classes that are taken in fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.methods.local.arrays import UNITS, CellArrays, slots_of, spread
from sqlanon.methods.local.bound import cheapest
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.peeling import LocalClasses
from sqlanon.methods.progress import Stopped, never
from sqlanon.methods.shared.arrays import Ints, Mask, changes
from sqlanon.model.lattice import Lattice

PASSES = 5
"""How often prices are raised: each time gains about half of what the time before gained."""


def tight_lower_bound(
    cells: CellArrays,
    lattice: Lattice,
    least_size: int,
    shares: Sequence[float] | None,
    recoding: LocalClasses,
    stopped: Stopped = never,
) -> float:
    """The mean of feasible prices of rows, or :func:`~.bound.lower_bound` where that is more.

    Args:
        cells: the cells, without weights.
        lattice: the levels that may be published.
        least_size: the rows that every class has at least.
        shares: how much each quasi-identifier counts, 1 together; equal ones if None.
        recoding: any recoding of the cells: prices are near the greatest if it is near the best.
        stopped: is asked each time before prices are raised whether to make do with them; they are checked anyway.
    """
    ladders = Ladders.of(cells, lattice, shares)
    prices = Prices(cells, ladders, least_size)
    least = cheapest(cells, ladders, least_size)
    # What rows lose in a recoding is too much where the order of its nodes did not suit them, and the least too little.
    found = np.sqrt(least.astype(float) * _losses(cells, ladders, recoding)).astype(np.int64)
    for _ in range(PASSES):
        if stopped():
            break
        found = prices.raised(found)
    most = max(int(least @ cells.rows), int(prices.lowered(found) @ cells.rows))
    return most / (UNITS * max(int(cells.rows.sum()), 1))


def _losses(cells: CellArrays, ladders: Ladders, recoding: LocalClasses) -> Ints:
    """What a row of each cell loses in a recoding."""
    losses, is_in = np.full(cells.count, UNITS), recoding.of_cells >= 0
    losses[is_in] = ladders.losses_at(recoding.levels[recoding.of_cells[is_in]].T, cells.values[:, is_in])
    return losses


@dataclass(frozen=True)
class Prices:
    """What makes prices feasible: integers in :data:`UNITS`, one for all rows of a cell.

    Attributes:
        cells: the cells.
        ladders: their labels.
        least_size: the rows that every class has at least, k.
    """

    cells: CellArrays
    ladders: Ladders
    least_size: int

    def raised(self, prices: Ints) -> Ints:
        """Feasible prices, which are at most half as much again as some others, feasible or not.

        If the k greatest prices of a class have the mean m, and the least of them is t, then a price p of the class
        may become max(p, t) c / m. Any k such prices sum up to at most k c, as the greatest do. A class whose prices
        may all be at most c needs no such limit.
        """
        order = (-prices).argsort(kind="stable")
        rank_bits = 2 ** len(order).bit_length() - 1
        prices, rows, keys = prices[order], self.cells.rows[order], self.cells.keys[:, order]
        limits = np.minimum(prices + prices // 2, UNITS)
        for masks, losses in self._nodes(self.cells.values[:, order], limits):
            words = keys & masks[:, np.newaxis]
            near = self._near(words, limits > losses, rows)
            # One sort by class and price. If two classes had one number, their least loss would limit both.
            numbers = np.sort((spread(words[:, near]).view(np.int64) & ~rank_bits) | near)
            places = numbers & rank_bits
            starts = np.flatnonzero(changes((numbers & ~rank_bits)[np.newaxis]))
            if len(starts):
                means, least, of_class = self._greatest(prices[places], rows[places], starts)
                costs = np.minimum.reduceat(losses[places], starts)[of_class]
                most = np.maximum(prices[places], least[of_class]) * costs // np.maximum(means, 1)[of_class]
                limits[places] = np.where(means[of_class] > 0, np.minimum(limits[places], most), limits[places])
        prices[order] = limits
        return prices

    def lowered(self, prices: Ints) -> Ints:
        """The same prices if they are feasible; else those of each class that they exceed are lowered to its loss.

        This checks every class from scratch, in exact integers, whatever the prices come from. Lower prices exceed no
        class that higher ones did not.
        """
        prices, rows = prices.copy(), self.cells.rows
        for masks, losses in self._nodes(self.cells.values, prices):
            words = self.cells.keys & masks[:, np.newaxis]
            near = self._near(words, prices > losses, rows)
            places = near[np.lexsort((-prices[near], *words[:, near]))]
            starts = np.flatnonzero(changes(words[:, places]))
            if len(starts):
                means, _, of_class = self._greatest(prices[places], rows[places], starts)
                costs = losses[places]
                exceeds = means[of_class] > costs
                lower = prices[places] * costs // np.maximum(means, 1)[of_class]
                prices[places[exceeds]] = lower[exceeds]
        return prices

    def _nodes(self, values: Ints, prices: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The masks of each node, and what cells lose there, while some price is above; prices may fall meanwhile."""

        def above(place: int, masks: Ints, losses: Ints) -> Iterator[tuple[Ints, Ints]]:
            if not (prices > losses).any():
                return
            if place == len(values):
                yield masks, losses
                return
            for level in range(self.ladders.lowest[place], self.ladders.highest[place] + 1):
                of_level = self.ladders.losses[place, level][values[place]]
                yield from above(place + 1, masks | self.ladders.masks[place, level], losses + of_level)

        yield from above(0, np.zeros(len(self.cells.keys), dtype=np.int64), np.zeros(len(prices), dtype=np.int64))

    def _near(self, words: Ints, is_above: Mask, rows: Ints) -> Ints:
        """The cells of the classes in which one is above, and which may have enough rows."""
        slots, count = slots_of(words)
        marked = np.zeros(count, dtype=bool)
        marked[slots[is_above]] = True
        marked &= np.bincount(slots, rows, count) >= self.least_size
        return np.flatnonzero(marked[slots])

    def _greatest(self, prices: Ints, rows: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
        """The k greatest prices of each class.

        Args:
            prices: a price for each cell, those of a class side by side, the greatest first.
            rows: the rows of each cell.
            starts: the first cell of each class.

        Returns:
            their mean, rounded up, 0 if the class has fewer rows; the least of them; and the class of each cell.
        """
        of_class = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(prices))))
        ends = rows.cumsum()
        before = ends - rows
        ends, before = ends - before[starts][of_class], before - before[starts][of_class]
        taken = np.minimum(ends, self.least_size) - np.minimum(before, self.least_size)
        means = -(-np.add.reduceat(taken * prices, starts) // self.least_size)
        means[np.add.reduceat(taken, starts) < self.least_size] = 0
        return means, np.minimum.reduceat(np.where(taken > 0, prices, UNITS), starts), of_class
