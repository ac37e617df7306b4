"""Sizes of the classes of many nodes, from cells as arrays.

A node takes an AND of the keys and a sort. Cells are rolled up first for nodes that have many levels in common, and
these again for fewer nodes that have more in common, so that most nodes are counted from about as few cells as they
have classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints, Scratch, changes, grouped, key_words, sums_of
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.counting import NodeCounter
from sqlanon.methods.shared.packing import NARROW_BITS, NarrowInts, Packing, narrowed, packed
from sqlanon.model.bounds import CLASS_SIZE
from sqlanon.model.lattice import Levels, LossContext, NodeSummary, Table
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.cells.keys import KeyLayout
from sqlanon.queries.kit.nodes import aliased, column, number, select
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

ROLLED_UP_BITS = 2.0
"""How many bits more labels may carry than it takes to number cells, for these to be rolled up to them.

tests.benchmarks.wide, 15 columns of 1,000,000 rows: so cells become two thirds; of eight bits more, nine tenths.
"""


@dataclass(frozen=True)
class SizedCells:
    """The cells of a node, with their rows.

    Attributes:
        layout: where the labels of a cell stand in its key.
        most: rows from which on it does not matter how many they are; of a cell with more, as many are counted.
        levels: the node.
        words: the words of keys, of 32 bits and of shape (words, cells).
        rows: the rows of each cell.
        scratch: memory that cells of other nodes use as well.
    """

    layout: KeyLayout
    most: int
    levels: Levels
    words: NarrowInts
    rows: NDArray[Any]
    scratch: Scratch = field(default_factory=Scratch, repr=False, compare=False)

    @classmethod
    def of(cls, layout: KeyLayout, levels: Levels, words: Ints, rows: Ints, most: int) -> SizedCells:
        """Cells whose keys are in words of any number of bits."""
        layout, narrow = narrowed(layout, words)
        return cls(layout, most, levels, narrow, rows.astype(np.uint32 if most < 2**NARROW_BITS else np.int64))

    def sizes(self, levels: Levels) -> Ints:
        """The rows of each class of a more general node, ``most`` of those that have more."""
        return self._classes(levels)[1]

    def sizes_and_rest(self, levels: Levels) -> tuple[Ints, NDArray[Any]]:
        """The same, and what else distinguishes them, a number of each."""
        words, sizes, layout = self._classes(levels)
        assert layout.always is not None
        kind = words.dtype.type
        return sizes, (words[layout.always.word] & kind(layout.always.mask)) >> kind(layout.always.shift)

    def at(self, levels: Levels) -> SizedCells:
        """The cells of a more general node, ascending by class."""
        words, sizes, layout = self._classes(levels)
        if words.dtype != np.uint32:
            layout, words = narrowed(layout, words)
        return replace(self, layout=layout, levels=levels, words=words, rows=sizes.astype(self.rows.dtype))

    def keys_and_rest(self) -> tuple[NarrowInts, NarrowInts]:
        """The words of the keys of classes, and what else distinguishes cells, a number of each."""
        return self._parted(self.words)

    def packing(self, levels: Levels) -> Packing | None:
        """How keys of a more general node and numbers of rows go into one word; None if they don't."""
        return packed(self.layout, levels, self._row_bits)

    @cached_property
    def _row_bits(self) -> int:
        return int(self.rows.max(initial=0)).bit_length()

    @cached_property
    def _row_sum(self) -> int:
        return int(self.rows.sum(dtype=np.int64))

    def _classes(self, levels: Levels) -> tuple[NDArray[Any], Ints, KeyLayout]:
        """Keys and rows of the classes of a node, and the layout of these keys."""
        packing = self.packing(levels)
        if packing is not None:
            return self._packed_classes(packing)
        masks = self.layout.node_masks(levels)
        masked = np.stack([words & np.uint32(masks.get(word, 0)) for word, words in enumerate(self.words)])
        keys, rest = self._parted(masked)
        order, groups = grouped(np.concatenate([keys, rest[np.newaxis]]))
        starts = np.flatnonzero(changes(groups[np.newaxis]))
        return masked[:, order[starts]], np.minimum(sums_of(self.rows[order], starts), self.most), self.layout

    def _parted(self, words: NarrowInts) -> tuple[NarrowInts, NarrowInts]:
        """Words without the field that no node masks, and its numbers."""
        always = self.layout.always
        if always is None:
            return words, np.zeros(words.shape[1], dtype=np.uint32)
        rest = words[always.word] & np.uint32(always.mask)
        keys = words.copy()
        keys[always.word] -= rest
        return keys, rest >> np.uint32(always.shift)

    def _packed_classes(self, packing: Packing) -> tuple[NDArray[Any], Ints, KeyLayout]:
        """The same where keys and rows go into one word: numbers sort several times faster than places of numbers."""
        keyed = packing.keys(self.words, self.scratch)
        keyed |= self.rows.astype(keyed.dtype, copy=False)
        keyed.sort()
        kind, count = keyed.dtype.type, len(keyed)
        is_last, others = self.scratch.array(2, count, np.bool_), self.scratch.array(1, count, kind)
        is_last[-1:] = True
        row_mask = kind((1 << self._row_bits) - 1)
        np.greater(np.bitwise_xor(keyed[1:], keyed[:-1], out=others[1:]), row_mask, out=is_last[:-1])
        lasts = np.flatnonzero(is_last)
        words = keyed[lasts][np.newaxis] & kind(packing.mask)
        sums = others if self._row_sum < 2**NARROW_BITS else self.scratch.array(3, count, np.int64)
        up_to = np.cumsum(np.bitwise_and(keyed, row_mask, out=keyed), dtype=sums.dtype, out=sums)[lasts]
        up_to[1:] -= up_to[:-1].copy()
        return words, np.minimum(up_to.astype(np.int64), self.most), packing.layout


def sized_cells(engine: Compute, table: EncodedTable) -> SizedCells | None:
    """The cells of a table; None if more than their sizes counts, or they are too many or elsewhere."""
    encoding, bounds = table.encoding, table.encoding.criteria.bounds
    has_room = 0 < table.cell_count * encoding.keys.word_count <= MAX_WORDS
    sized = bool(bounds) and all(bound.measure == CLASS_SIZE for bound in bounds)
    if not (has_room and sized and rows_count(table)) or engine.is_far(encoding.cells.table):
        return None
    most = _most_that_counts(table)
    rows = aliased(exp.func("least", column(ROW_COUNT), number(most)), ROW_COUNT)
    names = map(encoding.key, range(encoding.keys.word_count))
    found = engine.arrays(select([*map(column, names), rows], encoding.cells.table), "cells as arrays")
    bottom, words = (0,) * len(encoding.spec.shapes), key_words(encoding, found, len(found[ROW_COUNT]))
    return SizedCells.of(encoding.keys, bottom, words, found[ROW_COUNT], most)


def _most_that_counts(table: EncodedTable) -> int:
    """The size from which on it does not matter how large a class is."""
    k, earlier = table.encoding.criteria.k, table.encoding.spec.earlier
    if earlier is None:
        return k
    # A class of twice k can lend whatever others need, if it can lend persons; else it is hidden with all of its rows.
    return 2 * k if earlier.is_by_person else max(table.context.row_count, 1)


def rows_count(table: EncodedTable) -> bool:
    """Whether the rows of its classes say of a node all that is counted: neither people nor weights."""
    policy = table.bound.policy
    is_plain = policy.individual is None and policy.objective != "privacy"
    return is_plain and not policy.quality.counts_suppressed_weight


class SizeCounter:
    """Answers the inquiries of a search: arrays say how many rows are suppressed, the database what they lose."""

    def __init__(self, engine: Compute, table: EncodedTable, cells: SizedCells) -> None:
        self._cells = cells
        self._carried = carried_bits(table.context)
        self._others = NodeCounter(engine, table)

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """What is asked of some nodes, in their order."""
        if inquiry.asks != "counts":
            return self._others.answer(inquiry)
        found = {
            levels: self.summary(levels, cells)
            for levels, cells in sources_of(self._cells, inquiry.nodes, self._carried)
        }
        return [found[levels] for levels in inquiry.nodes]

    def summary(self, levels: Levels, cells: SizedCells) -> NodeSummary:
        """What is counted of a node, from cells of one below it."""
        sizes = cells.sizes(levels)
        small = sizes[sizes < self._cells.most]
        suppressed = int(small.sum())
        return NodeSummary(levels, len(sizes), len(sizes) - len(small), suppressed, suppressed)


def sources_of(cells: SizedCells, nodes: Sequence[Levels], carried: Table) -> Iterator[tuple[Levels, SizedCells]]:
    """More general nodes in any order, each with cells from which it is counted.

    Args:
        cells: the cells of a node.
        nodes: the nodes.
        carried: what labels carry, see :func:`carried_bits`: nodes are separated where their levels differ most in it.
    """
    if len(nodes) > ROLLED_UP_NODES and len(cells.rows) > FEW_CELLS:
        common = tuple(map(min, zip(*nodes, strict=True)))
        bits = sum(of_levels[level] for of_levels, level in zip(carried, common, strict=True))
        are_fewer = bits <= np.log2(len(cells.rows)) + ROLLED_UP_BITS
        # Cells that fill more than a word are about as many as before, and take ten times as long to sort.
        if are_fewer and common != cells.levels and cells.packing(common) is not None:
            cells = cells.at(common)
        position = max(range(len(common)), key=lambda place: _spread(carried[place], [node[place] for node in nodes]))
        apart = sorted({levels[position] for levels in nodes})
        if len(apart) > 1:
            for level in apart:
                yield from sources_of(cells, [levels for levels in nodes if levels[position] == level], carried)
            return
    for levels in nodes:
        yield levels, cells


def carried_bits(context: LossContext) -> Table:
    """By quasi-identifier and level, how many bits the label of a row carries there: less at a higher level."""
    rows = max(context.row_count, 1)
    return tuple(tuple((lost[-1] - each) / rows for each in lost) for lost in context.losses.entropy)


def _spread(carried: Sequence[float], levels: Sequence[int]) -> float:
    """What labels carry between the least and the greatest of some levels."""
    return carried[min(levels)] - carried[max(levels)]
