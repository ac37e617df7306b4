"""The cut that rows are generalized at: the pieces that the values of predictors lie in, and what can be drawn next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import prod
from operator import mul

from sqlanon.methods.cuts.shared.pieces import (
    Axis,
    ItemAxis,
    NumericAxis,
    Partitions,
    Piece,
    Specialization,
    TaxonomyAxis,
)


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
            for piece in self._pieces_of(axis):
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
            more = len(partitions.having(specialization.piece)) * (len(partitions.masks(specialization)) - 1)
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

    def with_partitions(self, partitions: Partitions) -> Cut:
        """With other partitions of the predictor that these are of."""
        return replace(self, partitions={**self.partitions, partitions.axis.position: partitions})

    def _pieces_of(self, axis: Axis) -> Sequence[Piece]:
        if axis.position in self.pieces:
            return self.pieces[axis.position]
        return self.partitions[axis.position].present
