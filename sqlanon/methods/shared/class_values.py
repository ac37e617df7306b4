"""Sensitive values of the classes of many nodes, from cells as arrays.

The value of a cell is a part of its key that no node masks. So cells are rolled up and grouped as where only sizes
count, and those of a class stand side by side, a cell for each of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Floats, Ints, Mask, changes, grouped, numbers_of, sums_by, sums_of
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.certain_shares import certain_shares
from sqlanon.methods.shared.class_sizes import SizedCells, carried_bits, sources_of
from sqlanon.methods.shared.coded_cells import CodedCells
from sqlanon.methods.shared.counting import NodeCounter
from sqlanon.methods.shared.measures import Values, measured
from sqlanon.methods.shared.packing import NarrowInts
from sqlanon.methods.shared.sensitive import Reference
from sqlanon.model.bounds import Bound
from sqlanon.model.criteria import Criteria
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search import Inquiry

EXACT = ("distinct_diversity", "largest_share", "recursive_ratio", "basic_likeness", "enhanced_likeness")
"""Measures that are made of integers and quotients: the database finds the same to the last bit."""

DOUBT = 1e-10
"""The database is asked for a node if another measure of a class is as close to its bound, relative to that.

Sums of doubles differ less, and a class that meets a bound exactly is further within it (model.bounds.TOLERANCE).
"""

ABSOLUTE_DOUBT = 1e-11
"""The same, whatever the bound is."""


@dataclass(frozen=True)
class ValueJudge:
    """Judges the classes of nodes by bounds on their sizes and on their values.

    Attributes:
        criteria: the bounds.
        codes: by sensitive column, the code of the value of each combination.
        references: by sensitive column, its values in the whole table.
    """

    criteria: Criteria
    codes: Mapping[str, Ints]
    references: Mapping[str, Reference]

    def summary(self, levels: Levels, cells: SizedCells, enough: int) -> NodeSummary | None:
        """What is counted of a node; None if only the database knows.

        Args:
            levels: the node.
            cells: its cells, in the order of their classes.
            enough: if the classes that are too small have more rows, nothing else counts: counts cover these alone.
        """
        keys, combinations = cells.keys_and_rest()
        starts = np.flatnonzero(changes(keys))
        rows = cells.rows.astype(np.int64)
        sizes = sums_of(rows, starts)
        large = sizes >= self.criteria.k
        small_rows = int(sizes[~large].sum())
        if small_rows > enough or not large.any():
            return NodeSummary(levels, len(sizes), int(large.sum()), small_rows, small_rows)
        classes = numbers_of(starts, len(rows))
        found = np.flatnonzero(large[classes])
        classes = (np.cumsum(large) - 1)[classes[found]]
        judged = self._judged(classes, combinations[found], rows[found], sizes[large])
        if judged is None:
            return None
        met, certain_rows = judged
        suppressed = small_rows + int(sizes[large][~met].sum())
        return NodeSummary(levels, len(sizes), int(met.sum()), suppressed, small_rows + certain_rows)

    def _judged(self, classes: Ints, combinations: NarrowInts, rows: Ints, sizes: Ints) -> tuple[Mask, int] | None:
        """Whether each class meets the bounds on values, and how many rows are certain to be suppressed."""
        met, shares = np.ones(len(sizes), dtype=bool), np.zeros(len(sizes))
        for name in self.codes:
            values = self._values(name, classes, combinations, rows)
            for bound in (bound for bound in self.criteria.bounds if bound.measure.column == name):
                amounts = measured(bound.measure, values)
                if bound.measure.name not in EXACT and _are_doubtful(amounts, bound):
                    return None
                fails = ~bound.met_by(amounts)
                met &= ~fails
                if bound in self.criteria.certain_bounds:
                    shares[fails] = 1.0
                elif bound in self.criteria.partly_certain_bounds and fails.any():
                    shares[fails] = np.maximum(shares[fails], certain_shares(bound, values.of(fails)))
        return met, int(np.ceil(sizes * shares).sum())

    def _values(self, name: str, classes: Ints, combinations: NarrowInts, rows: Ints) -> Values:
        """The values of a column in classes, from combinations of values."""
        reference, codes = self.references[name], self.codes[name][combinations]
        if len(self.codes) == 1:
            return Values(classes, codes, rows, reference)
        width = len(reference.rows)
        found, sums = sums_by(classes * width + codes, rows, (int(classes[-1]) + 1) * width)
        return Values(found // width, found % width, sums, reference)


def _are_doubtful(amounts: Floats | Ints, bound: Bound) -> bool:
    """Whether a measure is so close to its bound that a sum in another order may be on the other side."""
    return bool((np.abs(amounts - bound.threshold) <= DOUBT * abs(bound.threshold) + ABSOLUTE_DOUBT).any())


class ValueCounter:
    """Answers the inquiries of a search: arrays say how many rows are suppressed, the database what they lose."""

    def __init__(self, engine: Compute, table: EncodedTable, coded: CodedCells) -> None:
        self._context = table.context
        self._carried = carried_bits(table.context)
        self._others = NodeCounter(engine, table)
        self._cells, codes = _combined(coded, (0,) * len(table.encoding.spec.shapes))
        self._judge = ValueJudge(table.encoding.criteria, codes, coded.references)

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """What is asked of some nodes, in their order."""
        if inquiry.asks != "counts":
            return self._others.answer(inquiry)
        found: dict[Levels, NodeSummary] = {}
        # The error of a search that finds no node reports how many rows the closest one suppresses.
        enough = self._context.row_count if inquiry.loss is None else self._context.allowed_rows
        for levels, cells in sources_of(self._cells, inquiry.nodes, self._carried):
            if (summary := self._judge.summary(levels, cells.at(levels), enough)) is not None:
                found[levels] = summary
        if doubtful := [levels for levels in inquiry.nodes if levels not in found]:
            found |= {node.levels: node for node in self._others.answer(replace(inquiry, nodes=doubtful))}
        return [found[levels] for levels in inquiry.nodes]


def _combined(coded: CodedCells, levels: Levels) -> tuple[SizedCells, Mapping[str, Ints]]:
    """The cells of a node with the combination of their values in their keys, and its codes by column."""
    order, groups = grouped(np.array(list(coded.codes.values())))
    firsts = order[changes(groups[np.newaxis])]
    layout = coded.layout.with_number(len(firsts) - 1)
    assert layout.always is not None
    words = np.zeros((layout.word_count, len(coded.rows)), dtype=np.int64)
    words[: len(coded.words)] = coded.words
    words[layout.always.word, order] |= groups << layout.always.shift
    cells = SizedCells.of(layout, levels, words, coded.rows, int(coded.rows.sum()))
    return cells, {name: codes[firsts] for name, codes in coded.codes.items()}
