"""What labels stand for: pieces of an axis on which the values of a predictor lie, and how they fall into smaller ones.

The values of a taxonomy are numbered in the order of their labels from the top down, so that the values under any label
are a range, as those of an interval are. A predictor that is a set has its items on the axis.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple


class Piece(NamedTuple):
    """The values from ``first`` on and before ``end``, of the predictor at a position among all."""

    position: int
    first: int
    end: int

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.end - self.first


class Specialization(NamedTuple):
    """A piece and the smaller ones that it falls into, in order."""

    piece: Piece
    children: tuple[Piece, ...]


@dataclass(frozen=True)
class Axis:
    """The values of a predictor.

    Attributes:
        position: its place among the predictors.
        name: its column.
        size: how many values there are.
    """

    position: int
    name: str
    size: int

    @property
    def root(self) -> Piece:
        """All values."""
        return Piece(self.position, 0, self.size)


@dataclass(frozen=True)
class NumericAxis(Axis):
    """The steps of a public range."""


@dataclass(frozen=True)
class TaxonomyAxis(Axis):
    """The values of a taxonomy, in the order of their labels from the top down.

    Attributes:
        levels: by depth, from level 0 on, where the values under each label begin, ascending.
    """

    levels: tuple[tuple[int, ...], ...]

    def children(self, piece: Piece) -> tuple[Piece, ...]:
        """What a piece falls into at the first level below with several labels; nothing without one."""
        for starts in reversed(self.levels):
            within = starts[bisect_left(starts, piece.first) : bisect_left(starts, piece.end)]
            if len(within) > 1:
                ends = (*within[1:], piece.end)
                return tuple(Piece(self.position, first, end) for first, end in zip(within, ends, strict=True))
        return ()

    def depth(self, piece: Piece) -> int | None:
        """The highest level that has the piece as a label; None if none has, as all values of a flat taxonomy."""
        for depth in reversed(range(len(self.levels))):
            starts = (*self.levels[depth], self.size)
            place = bisect_left(starts, piece.first)
            if starts[place : place + 2] == (piece.first, piece.end):
                return depth
        return None


NO_ITEM = "∅"
"""The item that a row has in whose set there is none."""


@dataclass(frozen=True)
class ItemAxis(TaxonomyAxis):
    """The items of sets, and behind them :data:`NO_ITEM`, of a piece of its own that is directly under the root."""

    @property
    def root(self) -> Piece:
        return Piece(self.position, 0, self.size + 1)

    @property
    def nothing(self) -> Piece:
        """The item of rows without any."""
        return Piece(self.position, self.size, self.size + 1)

    def children(self, piece: Piece) -> tuple[Piece, ...]:
        if piece != self.root:
            return super().children(piece)
        items = Piece(self.position, 0, self.size)
        return (*(super().children(items) or (items,)), self.nothing)

    def depth(self, piece: Piece) -> int | None:
        return super().depth(Piece(self.position, 0, self.size) if piece == self.root else piece)


def taxonomy_levels(labels: Iterable[Mapping[str, int]]) -> tuple[tuple[int, ...], ...]:
    """The levels of a taxonomy from the labels of each: ``depth`` and where its values begin, ``first``."""
    levels: dict[int, list[int]] = {}
    for label in labels:
        levels.setdefault(label["depth"], []).append(label["first"])
    return tuple(tuple(sorted(levels[depth])) for depth in sorted(levels))


Masks = tuple[int, ...]
"""The rows whose sets have items under the same pieces: an antichain that all items are under.

For each piece that has been specialized so far, which of its children the sets have items under, as the bits of a
number; 0 if they have none under the piece.
"""


@dataclass(frozen=True)
class Partitions:
    """How a predictor that is a set distinguishes rows: its specializations, in order, and the partitions left."""

    axis: ItemAxis
    specialized: tuple[Specialization, ...] = ()
    kept: tuple[Masks, ...] = ((),)

    @cached_property
    def antichains(self) -> tuple[tuple[Piece, ...], ...]:
        """The pieces of each partition that is left, in their order."""
        return tuple(self._antichain(masks) for masks in self.kept)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces that items lie in, whether any set is left that has one under them, in order."""
        gone = {specialization.piece for specialization in self.specialized}
        children = (child for specialization in self.specialized for child in specialization.children)
        return tuple(sorted(piece for piece in (self.axis.root, *children) if piece not in gone))

    @cached_property
    def having(self) -> Mapping[Piece, list[int]]:
        """By piece, the places of the partitions that have it in their antichain, if any does."""
        places: dict[Piece, list[int]] = {}
        for place, antichain in enumerate(self.antichains):
            for piece in antichain:
                places.setdefault(piece, []).append(place)
        return places

    def masks(self, specialization: Specialization) -> list[int]:
        """All sets of children that a set of items can have some under: no item goes with none but itself."""
        children = specialization.children
        if self.axis.nothing in children:
            several = 1 << (len(children) - 1)
            return [*range(1, several), several]
        return list(range(1, 1 << len(children)))

    def after(self, specialization: Specialization, kept: Sequence[tuple[int, int]]) -> Partitions:
        """The partitions once a piece is specialized.

        Args:
            specialization: the piece, and its children.
            kept: of the partitions that have the piece, by place, the masks that are kept.
        """
        having = {*self.having[specialization.piece]}
        others = [(*masks, 0) for place, masks in enumerate(self.kept) if place not in having]
        new = [(*self.kept[place], mask) for place, mask in kept]
        return Partitions(self.axis, (*self.specialized, specialization), (*others, *new))

    def _antichain(self, masks: Masks) -> tuple[Piece, ...]:
        pieces = {self.axis.root}
        for (piece, children), mask in zip(self.specialized, masks, strict=True):
            if piece in pieces:
                pieces.remove(piece)
                pieces.update(child for bit, child in enumerate(children) if mask >> bit & 1)
        return tuple(sorted(pieces))


@dataclass(frozen=True)
class Cut:
    """For each predictor, the labels of its values.

    Attributes:
        axes: the predictors, by position.
        pieces: of each but sets, by position, the pieces of its cut, in order.
        partitions: of each that is a set, by position.
        splits: how the intervals of the cut can be split in two, as far as that has been drawn.
    """

    axes: tuple[Axis, ...]
    pieces: Mapping[int, tuple[Piece, ...]]
    partitions: Mapping[int, Partitions]
    splits: Mapping[Piece, Specialization] = field(default_factory=dict)

    @classmethod
    def of_roots(cls, axes: Sequence[Axis]) -> Cut:
        """One label for all values of each predictor."""
        sets = {axis.position: Partitions(axis) for axis in axes if isinstance(axis, ItemAxis)}
        return cls(tuple(axes), {axis.position: (axis.root,) for axis in axes if axis.position not in sets}, sets)

    @property
    def widths(self) -> tuple[int, ...]:
        """By predictor, how many labels, or sets of labels, there are."""
        return tuple(
            len(self.partitions[place].kept) if place in self.partitions else len(self.pieces[place])
            for place in range(len(self.axes))
        )

    @property
    def size(self) -> int:
        """How many combinations there are of labels of all predictors: the leaves, whether any row has them or not."""
        return prod(self.widths)

    def strides(self, classes: int) -> tuple[int, ...]:
        """How much the number of a combination and class grows with the place of each label; the class comes last."""
        return tuple(accumulate(self.widths[:-1], mul, initial=classes))

    def unsplit(self) -> list[Piece]:
        """The intervals of numeric predictors whose split is still to be drawn, if there is anything to split."""
        return [
            piece
            for axis in self.axes
            if isinstance(axis, NumericAxis)
            for piece in self.pieces[axis.position]
            if piece.size > 1 and piece not in self.splits
        ]

    def with_splits(self, splits: Mapping[Piece, int]) -> Cut:
        """With where intervals are split: each into the values below, and those from there on."""
        found = {
            piece: Specialization(piece, (Piece(piece.position, piece.first, at), Piece(piece.position, at, piece.end)))
            for piece, at in splits.items()
        }
        return replace(self, splits={**self.splits, **found})

    def candidates(self) -> Iterator[Specialization]:
        """All that can be specialized now, in an order that depends on the cut alone."""
        for axis in self.axes:
            at = axis.position
            for piece in self.pieces[at] if at in self.pieces else sorted(self.partitions[at].having):
                if isinstance(axis, TaxonomyAxis):
                    if children := axis.children(piece):
                        yield Specialization(piece, children)
                elif piece in self.splits:
                    yield self.splits[piece]

    def size_after(self, specialization: Specialization) -> int:
        """How many combinations there are at most once a piece is specialized."""
        position = specialization.piece.position
        if position in self.partitions:
            partitions = self.partitions[position]
            more = len(partitions.having[specialization.piece]) * (len(partitions.masks(specialization)) - 1)
        else:
            more = len(specialization.children) - 1
        return self.size // self.widths[position] * (self.widths[position] + more) if self.size else 0

    def specialized(self, specialization: Specialization) -> Cut:
        """With a piece of a predictor, other than a set, replaced by its children."""
        position = specialization.piece.position
        pieces = (
            child
            for piece in self.pieces[position]
            for child in (specialization.children if piece == specialization.piece else (piece,))
        )
        return replace(self, pieces={**self.pieces, position: tuple(pieces)})
