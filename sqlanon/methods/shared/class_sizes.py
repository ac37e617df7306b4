"""Sizes of the classes of many nodes, from cells as arrays.

A node takes an AND of the keys and a sort. Cells are rolled up first for nodes that have many levels in common, and
these again for fewer nodes that have more in common, so that most nodes are counted from about as few cells as they
have classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints, changes, grouped, key_words, sums_of
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.counting import NodeCounter
from sqlanon.methods.shared.packing import Packing, packed
from sqlanon.model.bounds import CLASS_SIZE
from sqlanon.model.lattice import Levels, NodeSummary, Table
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.cells.keys import KeyLayout
from sqlanon.queries.kit.nodes import column, select
from sqlanon.search import Inquiry

AT_ONCE = 256
"""How many nodes are worth asking at once: many have levels in common, and the clock is looked at between them.

tests.benchmarks.wide, 15 columns of 1,000,000 rows: 297 checks a CPU second, a batch takes about one; of 1,024, 329.
"""

MAX_WORDS = 2**25
"""The most words that the keys of cells may have as an array: 256 MB."""

ROLLED_UP_NODES = 3
"""The most nodes that are counted without cells rolled up for them."""

FEW_CELLS = 8_000
"""Cells that are not rolled up any further."""


@dataclass(frozen=True)
class SizedCells:
    """The cells of a node, with their rows.

    Attributes:
        layout: where the labels of a cell stand in its key.
        most: rows from which on it does not matter how many they are; of a cell with more, as many are counted.
        levels: the node.
        words: the words of keys, of shape (words, cells).
        rows: the rows of each cell.
    """

    layout: KeyLayout
    most: int
    levels: Levels
    words: Ints
    rows: Ints

    def sizes(self, levels: Levels) -> Ints:
        """The rows of each class of a more general node, ``most`` of those that have more."""
        return self._classes(levels)[1]

    def at(self, levels: Levels) -> SizedCells:
        """The cells of a more general node, ascending by class."""
        words, sizes, layout = self._classes(levels)
        return replace(self, layout=layout, levels=levels, words=words, rows=sizes)

    def keys_and_rest(self) -> tuple[Ints, Ints]:
        """The words of the keys of classes, and what else distinguishes cells, a number of each."""
        always = self.layout.always
        if always is None:
            return self.words, np.zeros(len(self.rows), dtype=np.int64)
        keys = self.words.copy()
        keys[always.word] &= ~always.mask
        return keys, self.rest

    @property
    def rest(self) -> Ints:
        """What distinguishes cells besides the keys of classes, a number of each."""
        always = self.layout.always
        assert always is not None
        found: Ints = (self.words[always.word] & always.mask) >> always.shift
        return found

    def packing(self, levels: Levels) -> Packing | None:
        """How keys of a more general node and numbers of rows go into one word; None if they don't."""
        return packed(self.layout, levels, self._row_bits)

    @cached_property
    def _row_bits(self) -> int:
        return int(self.rows.max(initial=0)).bit_length()

    def _classes(self, levels: Levels) -> tuple[Ints, Ints, KeyLayout]:
        """Keys and rows of the classes of a node, and the layout of these keys."""
        packing = self.packing(levels)
        if packing is None:
            masks = self.layout.node_masks(levels)
            masked: Ints = np.stack([words & masks.get(word, 0) for word, words in enumerate(self.words)])
            order, groups = grouped(masked)
            starts = np.flatnonzero(changes(groups[np.newaxis]))
            rows, words, layout = self.rows[order], masked[:, order[starts]], self.layout
        else:
            # Rows in bits below the key: numbers sort several times faster than places of numbers.
            keyed = packing.keys(self.words) | self.rows
            keyed.sort()
            keys = keyed & packing.mask
            starts = np.flatnonzero(changes(keys[np.newaxis]))
            keyed -= keys
            rows, words, layout = keyed, keys[starts][np.newaxis], packing.layout
        return words, np.minimum(sums_of(rows, starts), self.most), layout


def sized_cells(engine: Compute, table: EncodedTable) -> SizedCells | None:
    """The cells of a table; None if more than their sizes counts, or they are too many or elsewhere."""
    encoding, bounds = table.encoding, table.encoding.criteria.bounds
    words = range(encoding.keys.word_count)
    has_room = 0 < table.cell_count * len(words) <= MAX_WORDS
    sized = bool(bounds) and all(bound.measure == CLASS_SIZE for bound in bounds)
    if not (has_room and sized and rows_count(table)) or engine.is_far(encoding.cells.table):
        return None
    names = [*(encoding.key(word) for word in words), ROW_COUNT]
    found = engine.arrays(select([*map(column, names)], encoding.cells.table), "cells as arrays")
    # A class of twice k can lend whatever others need beside earlier releases.
    most = encoding.criteria.k * (1 if encoding.spec.earlier is None else 2)
    rows: Ints = np.minimum(found[ROW_COUNT], most).astype(np.int64)
    bottom = (0,) * len(encoding.spec.shapes)
    return SizedCells(encoding.keys, most, bottom, key_words(encoding, found, len(rows)), rows)


def rows_count(table: EncodedTable) -> bool:
    """Whether the rows of its classes say of a node all that is counted: neither people nor weights."""
    policy = table.bound.policy
    is_plain = policy.individual is None and policy.objective != "privacy"
    return is_plain and not policy.quality.counts_suppressed_weight


class SizeCounter:
    """Answers the inquiries of a search: arrays say how many rows are suppressed, the database what they lose."""

    def __init__(self, engine: Compute, table: EncodedTable, cells: SizedCells) -> None:
        self._cells = cells
        self._entropies = table.context.losses.entropy
        self._others = NodeCounter(engine, table)

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """What is asked of some nodes, in their order."""
        if inquiry.asks != "counts":
            return self._others.answer(inquiry)
        found = {
            levels: self.summary(levels, cells)
            for levels, cells in sources_of(self._cells, inquiry.nodes, self._entropies)
        }
        return [found[levels] for levels in inquiry.nodes]

    def summary(self, levels: Levels, cells: SizedCells) -> NodeSummary:
        """What is counted of a node, from cells of one below it."""
        sizes = cells.sizes(levels)
        small = sizes[sizes < self._cells.most]
        suppressed = int(small.sum())
        return NodeSummary(levels, len(sizes), len(sizes) - len(small), suppressed, suppressed)


def sources_of(cells: SizedCells, nodes: Sequence[Levels], entropies: Table) -> Iterator[tuple[Levels, SizedCells]]:
    """More general nodes in any order, each with cells from which it is counted.

    Args:
        cells: the cells of a node.
        nodes: the nodes.
        entropies: by quasi-identifier and level, what is lost there: nodes are separated where most is.
    """
    if len(nodes) > ROLLED_UP_NODES and len(cells.rows) > FEW_CELLS:
        common = tuple(map(min, zip(*nodes, strict=True)))
        # Cells that fill more than a word are about as many as before, and take ten times as long to sort.
        if common != cells.levels and cells.packing(common) is not None:
            cells = cells.at(common)
        position = max(range(len(common)), key=lambda place: _spread(entropies[place], [node[place] for node in nodes]))
        apart = sorted({levels[position] for levels in nodes})
        if len(apart) > 1:
            for level in apart:
                yield from sources_of(cells, [levels for levels in nodes if levels[position] == level], entropies)
            return
    for levels in nodes:
        yield levels, cells


def _spread(entropies: Sequence[float], levels: Sequence[int]) -> float:
    """The entropy between the least and the greatest of some levels."""
    return entropies[max(levels)] - entropies[min(levels)]
