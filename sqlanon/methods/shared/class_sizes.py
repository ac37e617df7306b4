"""Sizes of the classes of many nodes, from cells as arrays, where only sizes count.

A node takes an AND of the keys and a sort. Cells are rolled up first for nodes that have many levels in common, and
these again for fewer nodes that have more in common, so that most nodes are counted from about as few cells as they
have classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Ints, changes, grouped, key_words
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.counting import NodeCounter
from sqlanon.model.bounds import CLASS_SIZE
from sqlanon.model.lattice import Levels, NodeSummary, Table
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.cells.keys import WORD_BITS, Field, KeyLayout
from sqlanon.queries.kit.nodes import column, select
from sqlanon.search import Inquiry

AT_ONCE = 256
"""How many nodes are worth asking at once: many have levels in common, and the clock is looked at between them.

tests.benchmarks.wide, 15 columns of 1,000,000 rows: 297 checks a CPU second, a batch takes about one; of 1,024, 329.
"""

MAX_WORDS = 2**25
"""The most words that the keys of cells may have as an array: 256 MB."""

Place = tuple[int, int]
"""A quasi-identifier and a level of it."""

ROLLED_UP_NODES = 3
"""The most nodes that are counted without cells rolled up for them."""

FEW_CELLS = 8_000
"""Cells that are not rolled up any further."""


@dataclass(frozen=True)
class SizedCells:
    """The cells of a node, with their rows.

    Attributes:
        layout: where the labels of a cell stand in its key.
        k: rows from which on a class is large enough; of a cell with more, as many are counted.
        levels: the node.
        words: the words of keys, of shape (words, cells).
        rows: the rows of each cell.
    """

    layout: KeyLayout
    k: int
    levels: Levels
    words: Ints
    rows: Ints

    def sizes(self, levels: Levels) -> Ints:
        """The rows of each class of a more general node, ``k`` of those that have more."""
        return self._classes(levels)[1]

    def at(self, levels: Levels) -> SizedCells:
        """The cells of a more general node."""
        words, sizes, layout = self._classes(levels)
        return replace(self, layout=layout, levels=levels, words=words, rows=sizes)

    def _classes(self, levels: Levels) -> tuple[Ints, Ints, KeyLayout]:
        """Keys and rows of the classes of a node, and the layout of these keys."""
        packing = packed(self.layout, levels, self.k.bit_length())
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
        return words, np.minimum(np.add.reduceat(rows, starts), self.k), layout


def sized_cells(engine: Compute, table: EncodedTable) -> SizedCells | None:
    """The cells of a table; None if more than their sizes counts, or they are too many or elsewhere."""
    encoding, bounds = table.encoding, table.encoding.criteria.bounds
    words = range(encoding.keys.word_count)
    has_room = 0 < table.cell_count * len(words) <= MAX_WORDS
    if not has_room or not _only_sizes_count(table) or engine.is_far(encoding.cells.table):
        return None
    names = [*(encoding.key(word) for word in words), ROW_COUNT]
    found = engine.arrays(select([*map(column, names)], encoding.cells.table), "cells as arrays")
    k = max(int(bound.required) for bound in bounds)
    rows: Ints = np.minimum(found[ROW_COUNT], k).astype(np.int64)
    bottom = (0,) * len(encoding.spec.shapes)
    return SizedCells(encoding.keys, k, bottom, key_words(encoding, found, len(rows)), rows)


def _only_sizes_count(table: EncodedTable) -> bool:
    """Whether the rows of its classes say of a node all that is counted: neither people nor weights."""
    bounds, policy = table.encoding.criteria.bounds, table.bound.policy
    is_plain = policy.individual is None and policy.objective != "privacy"
    sized = bool(bounds) and all(bound.measure == CLASS_SIZE for bound in bounds)
    return is_plain and sized and not policy.quality.counts_suppressed_weight


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
            levels: self._summary(levels, sizes)
            for levels, sizes in sizes_of(self._cells, inquiry.nodes, self._entropies)
        }
        return [found[levels] for levels in inquiry.nodes]

    def _summary(self, levels: Levels, sizes: Ints) -> NodeSummary:
        small = sizes[sizes < self._cells.k]
        suppressed = int(small.sum())
        return NodeSummary(levels, len(sizes), len(sizes) - len(small), suppressed, suppressed)


@dataclass(frozen=True)
class Packing:
    """How the labels of a node go into one word.

    Attributes:
        stays: the bits of the first word that stay where they are.
        moved: fields that go elsewhere, and how far their lowest bits are shifted to.
        layout: where they stand then.
        mask: all bits that are taken.
    """

    stays: int
    moved: tuple[tuple[Field, int], ...]
    layout: KeyLayout

    @property
    def mask(self) -> int:
        """All bits that are taken."""
        return sum(place.mask for place in self.layout.fields.values())

    def keys(self, words: Ints) -> Ints:
        """The words packed."""
        keys: Ints = words[0] & self.stays
        for place, shift in self.moved:
            keys |= ((words[place.word] & place.mask) >> place.shift) << shift
        return keys


def packed(layout: KeyLayout, levels: Levels, free: int) -> Packing | None:
    """The labels of a node in one word whose lowest bits are free; None if the labels fill the word.

    Fields stay where they are if they can; others take the first gap that is wide enough.
    """
    fields = {place: each for place, each in layout.fields.items() if place[1] >= levels[place[0]]}
    if free + sum(each.width for each in fields.values()) > WORD_BITS:
        return None
    fit = {place: each for place, each in fields.items() if each.word == 0 and each.shift >= free}
    return _with_rest(fields, fit, free) or _with_rest(fields, {}, free)


def _with_rest(fields: Mapping[Place, Field], stay: Mapping[Place, Field], free: int) -> Packing | None:
    """The packing where some fields stay and the others go into gaps; None if these are too narrow."""
    taken = sum(each.mask for each in stay.values())
    places, moved = dict(stay), []
    for place, each in fields.items():
        if place in stay:
            continue
        wanted = (1 << each.width) - 1
        gaps = (shift for shift in range(free, WORD_BITS - each.width + 1) if not taken >> shift & wanted)
        shift = next(gaps, None)
        if shift is None:
            return None
        if each.width:
            moved.append((each, shift))
        places[place] = Field(0, shift, each.width)
        taken |= wanted << shift
    return Packing(sum(each.mask for each in stay.values()), tuple(moved), KeyLayout(places, 1))


def sizes_of(cells: SizedCells, nodes: Sequence[Levels], entropies: Table) -> Iterator[tuple[Levels, Ints]]:
    """The sizes of the classes of more general nodes, in any order.

    Args:
        cells: the cells of a node.
        nodes: the nodes.
        entropies: by quasi-identifier and level, what is lost there: nodes are separated where most is.
    """
    if len(nodes) > ROLLED_UP_NODES and len(cells.rows) > FEW_CELLS:
        common = tuple(map(min, zip(*nodes, strict=True)))
        # Cells that fill more than a word are about as many as before, and take ten times as long to sort.
        if common != cells.levels and packed(cells.layout, common, cells.k.bit_length()) is not None:
            cells = cells.at(common)
        position = max(range(len(common)), key=lambda place: _spread(entropies[place], [node[place] for node in nodes]))
        apart = sorted({levels[position] for levels in nodes})
        if len(apart) > 1:
            for level in apart:
                yield from sizes_of(cells, [levels for levels in nodes if levels[position] == level], entropies)
            return
    for levels in nodes:
        yield levels, cells.sizes(levels)


def _spread(entropies: Sequence[float], levels: Sequence[int]) -> float:
    """The entropy between the least and the greatest of some levels."""
    return entropies[max(levels)] - entropies[min(levels)]
