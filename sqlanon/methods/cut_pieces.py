"""Cuts of axes: a predictor's values lie on an axis, and labels stand for pieces of it, which split into smaller ones.

Values of a taxonomy are numbered in the order of their labels from the top down, so the values under any label form a
range, like those of an interval. The axis of a set-valued predictor holds its items.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple


class Piece(NamedTuple):
    """The values from ``first`` up to but excluding ``end`` of a predictor."""

    position: int
    first: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.first


class Specialization(NamedTuple):
    piece: Piece
    children: tuple[Piece, ...]


@dataclass(frozen=True)
class Axis:
    position: int  # among the predictors
    name: str  # the column
    size: int  # the number of values

    @property
    def root(self) -> Piece:
        return Piece(self.position, 0, self.size)


@dataclass(frozen=True)
class NumericAxis(Axis): ...


@dataclass(frozen=True)
class TaxonomyAxis(Axis):
    """The values of a taxonomy in the order of their labels from the top down."""

    levels: tuple[tuple[int, ...], ...]  # by depth from level 0, the ascending first values of labels

    def children(self, piece: Piece) -> tuple[Piece, ...]:
        """Return the pieces at the first lower level with several labels; none without one."""
        for starts in reversed(self.levels):
            within = starts[bisect_left(starts, piece.first) : bisect_left(starts, piece.end)]
            if len(within) > 1:
                ends = (*within[1:], piece.end)
                return tuple(Piece(self.position, first, end) for first, end in zip(within, ends, strict=True))
        return ()

    def depth(self, piece: Piece) -> int | None:
        """Return the highest level with the piece as a label; None if there is none, as for a flat root."""
        for depth in reversed(range(len(self.levels))):
            starts = (*self.levels[depth], self.size)
            place = bisect_left(starts, piece.first)
            if starts[place : place + 2] == (piece.first, piece.end):
                return depth
        return None


@dataclass(frozen=True)
class ItemAxis(TaxonomyAxis):
    """The items of sets, followed by a stand-in item for rows with empty sets.

    The stand-in has its own piece, directly under the root.
    """

    @property
    def root(self) -> Piece:
        return Piece(self.position, 0, self.size + 1)

    @property
    def nothing(self) -> Piece:
        return Piece(self.position, self.size, self.size + 1)

    def children(self, piece: Piece) -> tuple[Piece, ...]:
        if piece != self.root:
            return super().children(piece)
        items = Piece(self.position, 0, self.size)
        return (*(super().children(items) or (items,)), self.nothing)

    def depth(self, piece: Piece) -> int | None:
        return super().depth(Piece(self.position, 0, self.size) if piece == self.root else piece)


Masks = tuple[int, ...]
"""The state of rows whose sets have items under the same pieces: an antichain that covers their items.

For each specialized piece, the bits of a number mark its children with items; 0 if the piece has no items.
"""


@dataclass(frozen=True)
class Partitions:
    axis: ItemAxis
    specialized: tuple[Specialization, ...] = ()
    kept: tuple[Masks, ...] = ((),)

    @cached_property
    def antichains(self) -> tuple[tuple[Piece, ...], ...]:
        found = []
        for masks in self.kept:
            pieces = {self.axis.root}
            for (piece, children), mask in zip(self.specialized, masks, strict=True):
                if piece in pieces:
                    pieces.remove(piece)
                    pieces.update(child for bit, child in enumerate(children) if mask >> bit & 1)
            found.append(tuple(sorted(pieces)))
        return tuple(found)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The sorted pieces of the axis after all specializations, with or without items of a remaining set."""
        gone = {specialization.piece for specialization in self.specialized}
        children = (child for specialization in self.specialized for child in specialization.children)
        return tuple(sorted(piece for piece in (self.axis.root, *children) if piece not in gone))

    @cached_property
    def having(self) -> Mapping[Piece, list[int]]:
        places: dict[Piece, list[int]] = {}
        for place, antichain in enumerate(self.antichains):
            for piece in antichain:
                places.setdefault(piece, []).append(place)
        return places

    def masks(self, specialization: Specialization) -> list[int]:
        """Return all possible sets of children with items; the stand-in never goes with another item."""
        children = specialization.children
        if self.axis.nothing in children:
            several = 1 << (len(children) - 1)
            return [*range(1, several), several]
        return list(range(1, 1 << len(children)))

    def after(self, specialization: Specialization, kept: Sequence[tuple[int, int]]) -> Partitions:
        having = {*self.having[specialization.piece]}
        others = [(*masks, 0) for place, masks in enumerate(self.kept) if place not in having]
        new = [(*self.kept[place], mask) for place, mask in kept]
        return Partitions(self.axis, (*self.specialized, specialization), (*others, *new))


@dataclass(frozen=True)
class Cut:
    axes: tuple[Axis, ...]  # the predictors, by position
    pieces: Mapping[int, tuple[Piece, ...]]  # by position of scalar predictors, the ordered pieces
    partitions: Mapping[int, Partitions]  # by position of set-valued predictors
    splits: Mapping[Piece, Specialization] = field(default_factory=dict)  # of intervals in two, once drawn

    @classmethod
    def of_roots(cls, axes: Sequence[Axis]) -> Cut:
        sets = {axis.position: Partitions(axis) for axis in axes if isinstance(axis, ItemAxis)}
        return cls(tuple(axes), {axis.position: (axis.root,) for axis in axes if axis.position not in sets}, sets)

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(
            len(self.partitions[place].kept) if place in self.partitions else len(self.pieces[place])
            for place in range(len(self.axes))
        )

    @property
    def size(self) -> int:
        return prod(self.widths)

    def strides(self, classes: int) -> tuple[int, ...]:
        """Return each predictor's factor in the number of a combination and class; the class is the lowest digit."""
        return tuple(accumulate(self.widths[:-1], mul, initial=classes))

    def unsplit(self) -> list[Piece]:
        return [
            piece
            for axis in self.axes
            if isinstance(axis, NumericAxis)
            for piece in self.pieces[axis.position]
            if piece.size > 1 and piece not in self.splits
        ]

    def with_splits(self, splits: Mapping[Piece, int]) -> Cut:
        """Add splits of intervals into the values below a place, and those from there on."""
        found = {
            piece: Specialization(piece, (Piece(piece.position, piece.first, at), Piece(piece.position, at, piece.end)))
            for piece, at in splits.items()
        }
        return replace(self, splits={**self.splits, **found})

    def candidates(self) -> Iterator[Specialization]:
        """Yield all possible specializations in an order that only depends on the cut."""
        for axis in self.axes:
            at = axis.position
            for piece in self.pieces[at] if at in self.pieces else sorted(self.partitions[at].having):
                if isinstance(axis, TaxonomyAxis):
                    if children := axis.children(piece):
                        yield Specialization(piece, children)
                elif piece in self.splits:
                    yield self.splits[piece]

    def size_after(self, specialization: Specialization) -> int:
        position = specialization.piece.position
        if position in self.partitions:
            partitions = self.partitions[position]
            more = len(partitions.having[specialization.piece]) * (len(partitions.masks(specialization)) - 1)
        else:
            more = len(specialization.children) - 1
        return self.size // self.widths[position] * (self.widths[position] + more) if self.size else 0

    def specialized(self, specialization: Specialization) -> Cut:
        position = specialization.piece.position
        pieces = (
            child
            for piece in self.pieces[position]
            for child in (specialization.children if piece == specialization.piece else (piece,))
        )
        return replace(self, pieces={**self.pieces, position: tuple(pieces)})
