"""Keys of cells in one word, however many words they fill: only what distinguishes the cells of a node goes there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.methods.shared.arrays import Ints
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.keys import WORD_BITS, Field, KeyLayout

Place = tuple[int, int]
"""A quasi-identifier and a level of it."""


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
        always = 0 if self.layout.always is None else self.layout.always.mask
        return sum(place.mask for place in self.layout.fields.values()) | always

    def keys(self, words: Ints) -> Ints:
        """The words packed."""
        keys: Ints = words[0] & self.stays
        for place, shift in self.moved:
            keys |= ((words[place.word] & place.mask) >> place.shift) << shift
        return keys


def packed(layout: KeyLayout, levels: Levels, free: int) -> Packing | None:
    """The labels of a node in one word whose lowest bits are free; None if the labels fill the word.

    Fields stay where they are if they can; others take the first gap that is wide enough. Below all of them is the
    field that distinguishes classes at every node, if there is one.
    """
    fields = {place: each for place, each in layout.fields.items() if place[1] >= levels[place[0]]}
    lowest = free + (0 if layout.always is None else layout.always.width)
    if lowest + sum(each.width for each in fields.values()) > WORD_BITS:
        return None
    fit = {place: each for place, each in fields.items() if each.word == 0 and each.shift >= lowest}
    found = _with_rest(fields, fit, lowest) or _with_rest(fields, {}, lowest)
    if found is None or layout.always is None:
        return found
    moved = ((layout.always, free), *found.moved)
    below = Field(0, free, layout.always.width)
    return Packing(found.stays, moved, KeyLayout(found.layout.fields, 1, below))


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
