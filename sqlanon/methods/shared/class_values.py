"""Sensitive values of the classes of many nodes, from cells as arrays.

The value of a cell is a part of its key that no node masks. So cells are rolled up and grouped as where only sizes
count, and those of a class stand side by side, a cell for each of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints, Mask, changes, grouped, numbers_of, sums_by, sums_of
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
class NodeClasses:
    """The classes of a node, and their cells in the order of classes.

    Attributes:
        levels: the node.
        cells: the cells.
        combinations: the combination of values of each.
        rows: the rows of each.
        starts: the first cell of each class.
    """

    levels: Levels
    cells: SizedCells
    combinations: NarrowInts
    rows: Ints
    starts: Ints

    @cached_property
    def sizes(self) -> Ints:
        """The rows of each class."""
        return sums_of(self.rows, self.starts)

    @cached_property
    def of_cells(self) -> Ints:
        """The class of each cell."""
        return numbers_of(self.starts, len(self.rows))


class DoubtfulError(Exception):
    """A measure of a class is so close to its bound that only the database knows whether it keeps it."""


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

    def summary(self, levels: Levels, cells: SizedCells, enough: int) -> NodeSummary:
        """What is counted of a node.

        Args:
            levels: the node.
            cells: its cells, in the order of their classes.
            enough: if the classes that are too small, or out of bounds themselves, have more rows, nothing else counts:
                counts cover these alone.

        Raises:
            DoubtfulError: only the database knows.
        """
        keys, combinations = cells.keys_and_rest()
        rows = cells.rows.astype(np.int64)
        classes = NodeClasses(levels, cells, combinations, rows, np.flatnonzero(self._are_first(keys, combinations)))
        sizes, of_cells = classes.sizes, classes.of_cells
        met = sizes >= self.criteria.k
        small_rows = int(sizes[~met].sum())
        if small_rows > enough or not met.any():
            return NodeSummary(levels, len(sizes), int(met.sum()), small_rows, small_rows)
        found = np.flatnonzero(met[of_cells])
        of_large = (np.cumsum(met) - 1)[of_cells[found]]
        met[met], certain_rows = self._judged(of_large, combinations[found], rows[found], sizes[met])
        kept = self._shown(classes, met) if sizes[~met].sum() <= enough else met
        return NodeSummary(levels, len(sizes), int(kept.sum()), int(sizes[~kept].sum()), small_rows + certain_rows)

    def _are_first(self, keys: NarrowInts, combinations: NarrowInts) -> Mask:
        """Whether each cell is the first one of its class."""
        return changes(keys)

    def _shown(self, classes: NodeClasses, met: Mask) -> Mask:
        """Which classes are shown of those that meet the bounds."""
        return met

    def _judged(self, classes: Ints, combinations: NarrowInts, rows: Ints, sizes: Ints) -> tuple[Mask, int]:
        """Whether each class meets the bounds on values, and how many rows are certain to be suppressed."""
        met, shares = np.ones(len(sizes), dtype=bool), np.zeros(len(sizes))
        for name in self.criteria.bounded_columns:
            values = self._values(name, classes, combinations, rows)
            for bound in (bound for bound in self.criteria.bounds if bound.measure.column == name):
                fails = ~are_within(bound, values)
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


def are_within(bound: Bound, values: Values) -> Mask:
    """Whether classes keep a bound on their values.

    Raises:
        DoubtfulError: a sum in another order may be on the other side of the bound.
    """
    amounts = measured(bound.measure, values)
    if bound.measure.name not in EXACT:
        distances = np.abs(amounts - bound.threshold)
        if (distances <= DOUBT * abs(bound.threshold) + ABSOLUTE_DOUBT).any():
            raise DoubtfulError
    return bound.met_by(amounts)


class ValueCounter:
    """Answers the inquiries of a search: arrays say how many rows are suppressed, the database what they lose.

    Attributes:
        context: what is known of the source.
        others: counts in the database.
    """

    def __init__(self, engine: Compute, table: EncodedTable, cells: SizedCells, judge: ValueJudge) -> None:
        self.context, self._carried = table.context, carried_bits(table.context)
        self.others = NodeCounter(engine, table)
        self._cells, self._judge = cells, judge

    @classmethod
    def of(cls, engine: Compute, table: EncodedTable, coded: CodedCells) -> ValueCounter:
        """That of a table, beside no earlier release."""
        cells, codes = combined(coded, (0,) * len(table.encoding.spec.shapes), coded.codes)
        return cls(engine, table, cells, ValueJudge(table.encoding.criteria, codes, coded.references))

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """What is asked of some nodes, in their order."""
        if inquiry.asks != "counts":
            return self.others.answer(inquiry)
        found: dict[Levels, NodeSummary] = {}
        # The error of a search that finds no node reports how many rows the closest one suppresses.
        enough = self.context.row_count if inquiry.loss is None else self.context.allowed_rows
        for levels, cells in sources_of(self._cells, inquiry.nodes, self._carried):
            with suppress(DoubtfulError):
                found[levels] = self._judge.summary(levels, cells.at(levels), enough)
        if doubtful := [levels for levels in inquiry.nodes if levels not in found]:
            found |= {node.levels: node for node in self.others.answer(replace(inquiry, nodes=doubtful))}
        return [found[levels] for levels in inquiry.nodes]


def combined(coded: CodedCells, levels: Levels, codes: Mapping[str, Ints]) -> tuple[SizedCells, dict[str, Ints]]:
    """The cells of a node with the combination of some codes in their keys, and the codes of each, ascending."""
    order, groups = grouped(np.array(list(codes.values())))
    firsts = order[changes(groups[np.newaxis])]
    layout = coded.layout.with_number(len(firsts) - 1)
    assert layout.always is not None
    words = np.zeros((layout.word_count, len(coded.rows)), dtype=np.int64)
    words[: len(coded.words)] = coded.words
    words[layout.always.word, order] |= groups << layout.always.shift
    cells = SizedCells.of(layout, levels, words, coded.rows, int(coded.rows.sum()))
    return cells, {name: each[firsts] for name, each in codes.items()}
