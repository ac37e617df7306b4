"""The key of a cell: where in the bits of one number, or of a few, stand the labels of all its quasi-identifiers.

A field encodes the label of a quasi-identifier at a level, among the labels that share the next one above. So the
classes of a node are the cells that agree in the fields of its levels and of all above: one AND with the mask of the
node gives the key of the class, and nothing needs to be looked up. Fields of higher levels are more significant: in
the order of their keys, cells that fall into one class stand close together, which makes grouping them several times
faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlanon.model.lattice import Levels

WORD_BITS = 63
"""As many as a BIGINT has besides its sign."""


@dataclass(frozen=True)
class Field:
    """Some bits of a word; none where there is a single label."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """The bits of the field."""
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class KeyLayout:
    """Where the fields stand.

    Attributes:
        fields: the field of each quasi-identifier (its position) at each level (its depth) below the top.
        word_count: how many words a key has.
        always: a field that distinguishes classes at every node; None if there is none.
    """

    fields: Mapping[tuple[int, int], Field] = field(default_factory=dict)
    word_count: int = 0
    always: Field | None = None

    def label_masks(self, position: int, depth: int) -> Mapping[int, int]:
        """The bits that distinguish the labels of a level, for each word that has any."""
        return self._label_masks.get((position, depth), {})

    def node_masks(self, levels: Levels) -> dict[int, int]:
        """The bits that distinguish the classes of a node, for each word that has any."""
        masks: dict[int, int] = {} if self.always is None else {self.always.word: self.always.mask}
        for position, depth in enumerate(levels):
            for word, mask in self.label_masks(position, depth).items():
                masks[word] = masks.get(word, 0) | mask
        return dict(sorted(masks.items()))

    @cached_property
    def _label_masks(self) -> dict[tuple[int, int], dict[int, int]]:
        """Those of every level: its own field and the fields of all levels above."""
        found: dict[tuple[int, int], dict[int, int]] = {}
        for (position, depth), place in sorted(self.fields.items(), reverse=True):
            masks = {place.word: place.mask} if place.width else {}
            for word, mask in found.get((position, depth + 1), {}).items():
                masks[word] = masks.get(word, 0) | mask
            found[position, depth] = masks
        return found

    def with_number(self, largest: int) -> KeyLayout:
        """The layout with one more field, for numbers up to the largest, in which classes differ at every node."""
        width = largest.bit_length()
        last = self.word_count - 1
        free = min((place.shift for place in self.fields.values() if place.word == last), default=0)
        if width <= free:
            return replace(self, always=Field(last, 0, width))
        return replace(self, always=Field(self.word_count, 0, width), word_count=self.word_count + 1)


def words_of(masks: Iterable[Mapping[int, int]]) -> list[int]:
    """The words of keys that distinguish classes of some nodes, given the masks of each."""
    return sorted({word for of_node in masks for word in of_node})


def key_layout(last_children: Mapping[tuple[int, int], int]) -> KeyLayout:
    """Place the fields, those of the highest levels first.

    Args:
        last_children: per quasi-identifier and level below the top, the largest number that its field has to hold.
    """
    highest: dict[int, int] = {}
    for position, depth in last_children:
        highest[position] = max(depth, highest.get(position, 0))
    word, free, fields = 0, WORD_BITS, {}
    for position, depth in sorted(last_children, key=lambda place: (highest[place[0]] - place[1], place[0])):
        width = last_children[position, depth].bit_length()
        if width > free:
            word, free = word + 1, WORD_BITS
        free -= width
        fields[position, depth] = Field(word, free, width)
    return KeyLayout(fields, word + 1 if any(last_children.values()) else 0)
