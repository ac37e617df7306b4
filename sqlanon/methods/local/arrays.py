"""Cells and taxonomies as arrays: what local recoding computes with, in place of statements."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.arrays import Arrays, Floats, Ints, cell_words, changes, grouped, key_words
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.sensitive import SensitiveValues, label_levels, sensitive_values
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import NCP
from sqlanon.queries.cells.encoding import INDIVIDUAL, ROW_COUNT, WEIGHT, Encoding
from sqlanon.queries.cells.keys import KeyLayout
from sqlanon.queries.cells.labels import dense_rank
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, column

Loss = Literal["ncp", "lm"]
UNITS = 2**30
"""Losses of labels, and masses of cells, are integers in units of 1 / 2^30: their products and sums are exact."""


MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5)
"""Odd numbers whose products spread the words of keys over slots."""


@dataclass(frozen=True)
class TaxonomyArrays:
    """The taxonomy of a quasi-identifier.

    Attributes:
        labels: the number of the label above each value at each level, of shape (height + 1, values). Labels have
            equal numbers if and only if their texts are equal, across levels too.
        losses: what each of these labels loses, in [0, 1]; of the same shape.
    """

    labels: Ints
    losses: Floats


@dataclass(frozen=True)
class CellArrays:
    """Cells: combinations of values of quasi-identifiers, of looked-at sensitive columns, and of individuals.

    Attributes:
        layout: where the labels of a cell stand in its key.
        keys: the words of keys, of shape (words, cells); ascending, so that cells of one key are adjacent.
        taxonomies: those of the quasi-identifiers; beside earlier releases the numbers of joint classes are one more.
        values: the value of each quasi-identifier in each cell, of shape (quasi-identifiers, cells).
        rows: the rows of each cell.
        mass: what losses are weighted by: rows, or their weights in :data:`UNITS` of all of them.
        sensitive: the values of the sensitive columns that classes are judged by.
        codes: their codes in each cell, from 0, of shape (sensitive columns, cells).
        individuals: the code of each cell's individual, None if classes count rows.
    """

    layout: KeyLayout
    keys: Ints
    taxonomies: tuple[TaxonomyArrays, ...]
    values: Ints
    rows: Ints
    mass: Ints
    sensitive: Mapping[str, SensitiveValues]
    codes: Ints
    individuals: Ints | None = None

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.rows)

    @property
    def joint_numbers(self) -> Ints:
        """The number of each cell's joint class in earlier releases: it is the last of the quasi-identifiers."""
        numbers: Ints = self.values[-1]
        return numbers

    @cached_property
    def firsts(self) -> Ints:
        """The first cell of each key."""
        return np.flatnonzero(changes(self.keys))

    @cached_property
    def label_masks(self) -> Ints:
        """The bits of keys that distinguish labels, of shape (quasi-identifiers, levels, words)."""
        height = max(len(taxonomy.labels) for taxonomy in self.taxonomies) - 1
        return label_masks(self.layout, len(self.taxonomies), height)


def label_masks(layout: KeyLayout, width: int, height: int) -> Ints:
    """The bits of keys that distinguish labels, of shape (quasi-identifiers, levels, words).

    Args:
        layout: where labels stand in keys.
        width: how many quasi-identifiers there are.
        height: the greatest height of their taxonomies.
    """
    masks = np.zeros((width, height + 1, layout.word_count), dtype=np.int64)
    for place, level, word in np.ndindex(*masks.shape):
        masks[place, level, word] = layout.label_masks(place, level).get(word, 0)
    return masks


def slots_of(words: Ints) -> tuple[Ints, int]:
    """A slot for each column, by all of its words: equal ones have equal slots, and few others share one.

    Returns:
        the slots, and how many there are.
    """
    bits = max(words.shape[1] - 1, 1).bit_length() + 1
    return (spread(words) >> np.uint64(64 - bits)).astype(np.int64), 2**bits


def spread(words: Ints) -> NDArray[np.uint64]:
    """A number for each column, by all of its words: equal ones have equal numbers, whose first bits differ most."""
    mixed = np.zeros(words.shape[1], dtype=np.uint64)
    for word, multiplier in zip(words, itertools.cycle(MULTIPLIERS), strict=False):
        mixed += word.view(np.uint64) * np.uint64(multiplier)
    return mixed


def loss_of(policy: Policy) -> Loss:
    """What labels lose by the quality model of a policy."""
    return "ncp" if isinstance(policy.quality, NCP) else "lm"


def cell_arrays(engine: Compute, table: EncodedTable, loss: Loss = "ncp") -> CellArrays:
    """Hand the cells of a table over, and the labels of its taxonomies.

    Args:
        engine: the database.
        table: the cells.
        loss: what labels lose.
    """
    encoding = table.encoding
    words = [encoding.key(word) for word in range(encoding.keys.word_count)]
    labels = engine.arrays(
        Queries("local").query("labels", labels=encoding.labels, loss=loss, keys=words), "labels as arrays"
    )
    names = tuple(dict.fromkeys(measure.column for measure in encoding.measures if measure.column is not None))
    columns = [*map(column, words), *_carried(encoding, names)]
    found = engine.arrays(Queries("local").query("cells", cells=encoding.cells, columns=columns), "cells as arrays")
    return _cells(encoding, names, found, labels)


def _carried(encoding: Encoding, names: Sequence[str]) -> list[exp.Expr]:
    labels = [encoding.sensitive_label(name, depth) for name in names for depth in label_levels(encoding, name)]
    weight = [] if encoding.spec.row_weight is None else [WEIGHT]
    individual = dense_rank(column(INDIVIDUAL), nulls_first=False)
    people = [] if encoding.spec.individual is None else [aliased(individual, INDIVIDUAL)]
    return [*map(column, [*labels, *weight, ROW_COUNT]), *people]


def _cells(encoding: Encoding, names: Sequence[str], found: Arrays, labels: Arrays) -> CellArrays:
    ranked = {name: _codes(encoding, name, found) for name in names}
    people = None if encoding.spec.individual is None else found[INDIVIDUAL].astype(np.int64) - 1
    rows = found[ROW_COUNT].astype(np.int64)
    weights = found[WEIGHT] if encoding.spec.row_weight is not None else rows
    words = cell_words(encoding, found, len(rows))
    distinguishing = [*words, *ranked.values(), *([] if people is None else [people])]
    order, groups = grouped(np.array(distinguishing, dtype=np.int64).reshape(len(distinguishing), len(rows)))
    starts = np.flatnonzero(changes(groups[np.newaxis]))
    firsts = order[starts]
    keys = words[:, firsts]
    taxonomies, values = _taxonomies(encoding, labels, keys)
    layout = encoding.keys.with_number_as_level(len(taxonomies))
    if encoding.spec.earlier is not None:
        values = np.vstack([values, packed(layout, len(taxonomies), keys)])
        taxonomies = (*taxonomies, _of_numbers(encoding.spec.earlier.count))
    return CellArrays(
        layout=layout,
        keys=keys,
        taxonomies=taxonomies,
        values=values,
        rows=np.add.reduceat(rows[order], starts),
        mass=masses(np.add.reduceat(weights[order], starts)),
        sensitive={
            name: sensitive_values(encoding, name, found, codes, label_levels(encoding, name))
            for name, codes in ranked.items()
        },
        codes=np.array([codes[firsts] for codes in ranked.values()], dtype=np.int64).reshape(len(names), len(firsts)),
        individuals=None if people is None else people[firsts],
    )


def _codes(encoding: Encoding, name: str, found: Arrays) -> Ints:
    """The code of each cell's value from 0 without a gap; those of persons are theirs, 0 if they have no value."""
    codes: Ints = found[encoding.sensitive(name)].astype(np.int64)
    return codes if name in encoding.spec.coded else np.unique(codes, return_inverse=True)[1]


def masses(weights: NDArray[Any]) -> Ints:
    """Weights as integers that sum up to about :data:`UNITS` at most; small integers stay as they are."""
    whole = weights.sum()
    if not whole or (weights.dtype.kind == "i" and whole <= UNITS):
        return weights.astype(np.int64)
    scaled: Ints = np.maximum(np.rint(weights * (UNITS / whole)), 1).astype(np.int64)
    return scaled


def _taxonomies(encoding: Encoding, labels: Arrays, keys: Ints) -> tuple[tuple[TaxonomyArrays, ...], Ints]:
    """The taxonomies, and the value of each of them in each cell, which its key determines."""
    words = key_words(encoding, labels, len(labels["position"]))
    taxonomies, values = [], []
    for position, shape in enumerate(encoding.spec.shapes):
        here = labels["position"] == position
        numbers, depths = labels["value_number"][here], labels["depth"][here]
        size = (shape.height + 1, int(numbers.max()) + 1)
        of_taxonomy = TaxonomyArrays(np.zeros(size, dtype=np.int64), np.zeros(size))
        of_taxonomy.labels[depths, numbers] = labels["label_number"][here]
        of_taxonomy.losses[depths, numbers] = labels["loss"][here]
        taxonomies.append(of_taxonomy)
        bits = packed(encoding.keys, position, words[:, here][:, depths == 0])
        order = bits.argsort()
        places = np.searchsorted(bits[order], packed(encoding.keys, position, keys))
        values.append(numbers[depths == 0][order][places])
    return tuple(taxonomies), np.array(values, dtype=np.int64).reshape(len(values), keys.shape[1])


def _of_numbers(largest: int) -> TaxonomyArrays:
    """A taxonomy of numbers from 0, none of whose labels loses anything, and a top above them."""
    labels = np.stack([np.arange(largest + 1), np.full(largest + 1, largest + 1)])
    return TaxonomyArrays(labels, np.zeros(labels.shape))


def packed(layout: KeyLayout, position: int, keys: Ints) -> Ints:
    """The bits of a quasi-identifier as one number: its fields may stand in several words."""
    offset, packed_bits = 0, np.zeros(keys.shape[1], dtype=np.int64)
    for (place, _), field in sorted(layout.fields.items()):
        if place == position and field.width:
            packed_bits |= ((keys[field.word] & field.mask) >> field.shift) << offset
            offset += field.width
    return packed_bits
