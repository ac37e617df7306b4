"""What the cells of a node prove of every node between it and a more general one.

Source: spec/bounds2.md. A class of the more general node is made of cells of the other one, and every node between
groups these cells into classes. Where the scores of the cells (:mod:`.scores`) add up to more than 0, some of them are
suppressed in each such node: as few rows as make up for the excess, if they have the highest scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.methods.shared.arrays import Floats, Ints, Mask, changes, grouped
from sqlanon.methods.shared.intervals.scores import Counts, Excess, Score
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.queries.cells.keys import KeyLayout
from sqlanon.search.evidence import Proof

HALVINGS = 3
"""How often the price of a row is halved, if the first one rules nothing out.

ARX's Adult, 1,000,000 rows (spec/bounds2.md): 367, 1,473 and 308 intervals for δ-disclosure, β-likeness and
t-closeness; without halving 482, 3,147 and 1,417.
"""


@dataclass(frozen=True)
class Judged:
    """A sensitive column, by the bounds on it.

    Attributes:
        least_values: how many distinct values a class has at least.
        scores: the scores of the other bounds.
    """

    least_values: int
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class CellEvidence:
    """The cells of a node: classes of it, with the rows of each value of the sensitive columns.

    Attributes:
        layout: where the labels of a cell stand in its key.
        k: the least rows of a class.
        columns: the sensitive columns.
        levels: the node.
        keys: the words of keys, of shape (words, cells).
        rows: the rows of each cell.
        counts: for each sensitive column the rows with each value, of shape (values, cells).
    """

    layout: KeyLayout
    k: int
    columns: tuple[Judged, ...]
    levels: Levels
    keys: Ints
    rows: Floats
    counts: tuple[Floats, ...]

    def at(self, levels: Levels) -> CellEvidence:
        """The cells of a more general node."""
        order, starts, _ = self._classes(levels)
        return replace(
            self,
            levels=levels,
            keys=self._masked(levels)[:, order[starts]],
            rows=np.add.reduceat(self.rows[order], starts),
            counts=tuple(np.add.reduceat(each[:, order], starts, axis=1) for each in self.counts),
        )

    def up_to(self, high: Levels, allowed: int) -> Proof:
        """What is proven of the nodes between this one and a more general one.

        Args:
            high: that one.
            allowed: how many rows may be suppressed: what rules all of these nodes out need not be any stronger.
        """
        order, starts, groups = self._classes(high)
        cell_rows = self.rows[order]
        rows = np.add.reduceat(cell_rows, starts)
        least = np.where(rows < self.k, rows, 0.0)
        violates = rows < self.k
        judged: list[tuple[Score, Counts]] = []
        for column, counts in zip(self.columns, self.counts, strict=True):
            of_cells = counts[:, order]
            of_classes = np.add.reduceat(of_cells, starts, axis=1)
            is_poor = (of_classes > 0).sum(axis=0) < column.least_values
            least[is_poor], violates[is_poor] = rows[is_poor], True
            found = Counts(starts, groups, cell_rows, rows, of_cells, of_classes)
            judged += [(score, found) for score in column.scores]
        for score, found in judged:
            violates |= score.violated(found) > 0
        summary = _summary(high, rows, violates)
        if self.levels == high:
            return Proof(summary.suppressed_rows, summary)
        excesses = [excess for score, found in judged for excess in score.excesses(found)]
        for suppressed in (_at_first_price, _at_lower_prices):
            for excess in excesses:
                least[excess.classes] = np.maximum(least[excess.classes], suppressed(excess))
            proven = int(np.minimum(np.ceil(least), rows).sum())
            if proven > allowed:
                break
        return Proof(proven, summary)

    def _classes(self, levels: Levels) -> tuple[Ints, Ints, Ints]:
        """The order of cells by classes of a node, the first cell of each class, and the class of each in order."""
        order, groups = grouped(self._masked(levels))
        return order, np.flatnonzero(changes(groups[np.newaxis])), groups

    def _masked(self, levels: Levels) -> Ints:
        masks = self.layout.node_masks(levels)
        words: Ints = np.stack([self.keys[word] & masks.get(word, 0) for word in range(len(self.keys))])
        return words


# At a price p per row, suppressed cells X score at most p times their rows, and what single cells score beyond that. So
# X has at least (excess - what cells score beyond) / p rows, at every price.


def _at_first_price(excess: Excess) -> Floats:
    """The least rows of each class that are suppressed to make up for an excess, where no cell scores beyond."""
    found: Floats = excess.sums / _first_prices(excess)
    return found


def _at_lower_prices(excess: Excess) -> Floats:
    """The same at lower prices, each of them half of the one before."""
    prices = _first_prices(excess)
    found = np.zeros(len(prices))
    for _ in range(HALVINGS):
        prices = prices / 2
        beyond = np.add.reduceat(np.maximum(excess.scores - prices[excess.groups] * excess.rows, 0.0), excess.starts)
        np.maximum(found, (excess.sums - beyond) / prices, out=found)
    return found


def _first_prices(excess: Excess) -> Floats:
    """The most that a cell of each class scores per row."""
    prices: Floats = np.maximum.reduceat(excess.scores / excess.rows, excess.starts)
    return prices


def _summary(levels: Levels, rows: Floats, violates: Mask) -> NodeSummary:
    suppressed = int(rows[violates].sum())
    return NodeSummary(levels, len(rows), int((~violates).sum()), suppressed, 0, int(rows.min(initial=0)))


def cells_with_counts(
    keys: Ints, codes: Sequence[Ints], widths: Sequence[int], rows: Ints
) -> tuple[Ints, Floats, tuple[Floats, ...]]:
    """Distinct keys with their rows and the rows of each code of some columns, from cells that may share a key."""
    order, groups = grouped(keys)
    starts = np.flatnonzero(changes(groups[np.newaxis]))
    amounts = rows[order].astype(np.float64)
    counts = tuple(
        _amounts(code[order] * len(starts) + groups, amounts, (width, len(starts)))
        for code, width in zip(codes, widths, strict=True)
    )
    return keys[:, order[starts]], np.add.reduceat(amounts, starts), counts


def _amounts(places: Ints, amounts: Floats, shape: tuple[int, int]) -> Floats:
    """The sum of the amounts of each place."""
    sums: Floats = np.bincount(places, amounts, shape[0] * shape[1]).astype(np.float64)
    return sums.reshape(shape)
