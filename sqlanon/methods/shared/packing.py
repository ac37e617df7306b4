"""Keys of cells in one word, however many words they fill: only what distinguishes the cells of a node goes there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.methods.shared.arrays import Ints, Scratch
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.keys import WORD_BITS, Field, KeyLayout

NarrowInts = NDArray[np.uint32]

Place = tuple[int, int]
"""A quasi-identifier and a level of it."""

Moves = dict[tuple[int, int], int]
"""Bits that stay together: by their word, and by how far they are shifted up."""

NARROW_BITS = 32
"""Words of as few bits take half the memory, and half the time to sort."""


def narrowed(layout: KeyLayout, words: Ints) -> tuple[KeyLayout, NarrowInts]:
    """Keys in words of 32 bits: halves of those that they have, and one more for each field that is in both halves."""
    halves: dict[tuple[int, int], int] = {}
    parts: list[NarrowInts] = []

    def moved(each: Field) -> Field:
        start = each.shift // NARROW_BITS * NARROW_BITS
        if each.shift + each.width > start + NARROW_BITS:
            start = each.shift
        if (each.word, start) not in halves:
            halves[each.word, start] = len(parts)
            parts.append((words[each.word] >> start).astype(np.uint32))  # the lowest bits
        return Field(halves[each.word, start], each.shift - start, each.width)

    fields = {place: moved(each) for place, each in layout.fields.items()}
    always = None if layout.always is None else moved(layout.always)
    return KeyLayout(fields, len(parts), always), np.array(parts, dtype=np.uint32).reshape(len(parts), words.shape[1])


@dataclass(frozen=True)
class Packing:
    """How the labels of a node go into one word.

    Attributes:
        moves: bits of the words, by word and by how far they are shifted up.
        layout: where the labels stand then.
        mask: all bits that are taken.
    """

    moves: Moves
    layout: KeyLayout

    @property
    def mask(self) -> int:
        """All bits that are taken."""
        always = 0 if self.layout.always is None else self.layout.always.mask
        return sum(place.mask for place in self.layout.fields.values()) | always

    @property
    def is_narrow(self) -> bool:
        """Whether it is a word of few bits."""
        return self.mask.bit_length() <= NARROW_BITS

    def keys(self, words: NarrowInts, scratch: Scratch) -> NDArray[Any]:
        """Narrow words packed, in memory that is used again."""
        count, kind = words.shape[1], np.uint32 if self.is_narrow else np.int64
        keys, moving = scratch.array(0, count, kind), scratch.array(1, count, kind)
        keys[:] = 0
        for (word, shift), mask in self.moves.items():
            np.bitwise_and(words[word], np.uint32(mask), out=moving)
            if shift < 0:
                moving >>= kind(-shift)
            elif shift:
                moving <<= kind(shift)
            keys |= moving
        return keys


def packed(layout: KeyLayout, levels: Levels, free: int) -> Packing | None:
    """The labels of a node in one word whose lowest bits are free; None if the labels fill the word.

    Below all of them is the field that distinguishes classes at every node, if there is one. The word has few bits if
    that is enough.
    """
    fields = {place: each for place, each in layout.fields.items() if place[1] >= levels[place[0]]}
    always, lowest = None, free
    moves: Moves = {}
    if layout.always is not None:
        always, lowest = Field(0, free, layout.always.width), free + layout.always.width
        moves = {(layout.always.word, free - layout.always.shift): layout.always.mask}
    bits = lowest + sum(each.width for each in fields.values())
    if bits > WORD_BITS:
        return None
    room = NARROW_BITS if bits <= NARROW_BITS else WORD_BITS
    found = _in_blocks(fields, lowest, room, moves) or _one_by_one(fields, lowest, moves)
    return Packing(found[0], KeyLayout(found[1], 1, always))


Placed = tuple[Moves, Mapping[Place, Field]]


def _in_blocks(fields: Mapping[Place, Field], lowest: int, room: int, moves: Moves) -> Placed | None:
    """As many fields together as fit into gaps between others; None if all gaps are too narrow for one of them."""
    moves, places, taken = dict(moves), {}, (1 << lowest) - 1
    of_words: dict[int, list[tuple[Place, Field]]] = {}
    for place, each in sorted(fields.items(), key=lambda found: found[1].shift):
        if each.width:
            of_words.setdefault(each.word, []).append((place, each))
        else:
            places[place] = Field(0, lowest, 0)
    blocks = sorted(of_words.values(), key=len)
    while blocks:
        block = blocks.pop()
        shift = _gap(block, lowest, room, taken)
        if shift is not None:
            mask = sum(each.mask for _, each in block)
            taken |= _shifted(mask, shift)
            word = block[0][1].word
            moves[word, shift] = moves.get((word, shift), 0) | mask
            places |= {place: Field(0, each.shift + shift, each.width) for place, each in block}
        elif len(block) == 1:
            return None
        else:
            middle = len(block) // 2
            blocks += [block[:middle], block[middle:]]
    return moves, places


def _gap(block: Sequence[tuple[Place, Field]], lowest: int, room: int, taken: int) -> int | None:
    """How far a block is shifted up to where its bits are free."""
    (_, first), (_, last) = block[0], block[-1]
    mask = sum(each.mask for _, each in block)
    shifts = range(room - last.shift - last.width, lowest - first.shift - 1, -1)
    return next((shift for shift in shifts if not _shifted(mask, shift) & taken), None)


def _shifted(mask: int, shift: int) -> int:
    return mask << shift if shift >= 0 else mask >> -shift


def _one_by_one(fields: Mapping[Place, Field], lowest: int, moves: Moves) -> Placed:
    """Fields one above the other."""
    moves, places = dict(moves), {}
    for place, each in fields.items():
        shift = lowest - each.shift
        places[place] = Field(0, lowest, each.width)
        if each.width:
            moves[each.word, shift] = moves.get((each.word, shift), 0) | each.mask
        lowest += each.width
    return moves, places
