"""What a catalog is made from: the classes as they are published, and which of their rows are counterfeits.

A class that has fewer than k rows is filled up to exactly k with counterfeits; one that has k or more is left alone.
A catalog says of a group of classes how many counterfeits of each sensitive value are in it, not where.

What an adversary knows is the published table, the catalog and k; with ``rule_known``, as has to be assumed, also the
rule by which classes are filled. Then only a class of exactly k rows can have counterfeits, a *host*, and at most k - 1
of them, since no class is published that nobody is in. Without the rule, any class can, in all its rows but one.

Source: spec/hceiling.md (b) and (G); Lee, Kim, Kim & Chung 2017, definitions 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Positions = NDArray[np.intp]
Amounts = Mapping[int, int]
"""Numbers of rows, at least 1 each, by value."""


@dataclass(frozen=True, eq=False)
class FilledClasses:
    """Classes with their counts of rows by sensitive value, as a sparse matrix of classes by values.

    The entries of the class at position t are those from ``starts[t]`` up to ``starts[t + 1]``.

    Attributes:
        k: what classes were filled up to, in rows.
        identifiers: of the classes, ascending; shape (classes,).
        starts: shape (classes + 1,).
        values: codes of the sensitive values, ascending within a class; shape (entries,).
        published: how many rows of the class have the value, at least 1; shape (entries,).
        counterfeits: how many of these rows are counterfeits; shape (entries,).
    """

    k: int
    identifiers: Counts
    starts: Positions
    values: Counts
    published: Counts
    counterfeits: Counts

    @classmethod
    def of_columns(
        cls, k: int, classes: Counts, values: Counts, published: Counts, counterfeits: Counts
    ) -> FilledClasses:
        """Classes from columns with one row a class and value, in any order.

        Raises:
            ValueError: the counts can't come from classes that were filled up to k.
        """
        order = np.lexsort((values, classes))
        identifiers, starts = np.unique(classes[order], return_index=True)
        filled = cls(
            k,
            identifiers.astype(np.int64),
            np.append(starts, len(order)),
            values[order].astype(np.int64),
            published[order].astype(np.int64),
            counterfeits[order].astype(np.int64),
        )
        filled._check()
        return filled

    def __len__(self) -> int:
        return len(self.identifiers)

    @cached_property
    def sizes(self) -> Counts:
        """How many rows each class has; shape (classes,)."""
        return self.sums(self.published)

    @cached_property
    def filled_by(self) -> Counts:
        """How many counterfeits each class has; shape (classes,)."""
        return self.sums(self.counterfeits)

    @property
    def deficient(self) -> Positions:
        """The classes that have counterfeits, by position: those with the most of them first, then in their order."""
        return np.argsort(-self.filled_by, kind="stable")[: np.count_nonzero(self.filled_by)]

    @cached_property
    def positions(self) -> Positions:
        """The position of the class of each entry; shape (entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def own_counterfeits(self) -> Mapping[int, Amounts]:
        """The counterfeits of each class that has any, by position."""
        return self.by_position(self.counterfeits)

    def by_position(self, counts: Counts) -> Mapping[int, Amounts]:
        """Counts by entry as mappings by value, of each class that has any above 0, by position."""
        found: dict[int, dict[int, int]] = {}
        entries = np.flatnonzero(counts > 0)
        columns = (self.positions[entries], self.values[entries], counts[entries])
        for position, value, count in zip(*(column.tolist() for column in columns), strict=True):
            found.setdefault(position, {})[value] = count
        return found

    def most_counterfeits(self, *, rule_known: bool) -> Counts:
        """How many counterfeits each class can have, as far as an adversary knows; shape (classes,)."""
        most = self.sizes - 1
        return np.where(self.sizes == self.k, most, 0) if rule_known else most

    def entries_of(self, positions: Positions) -> Positions:
        """The entries of some classes, one class after the other."""
        lengths = self.starts[positions + 1] - self.starts[positions]
        before = np.cumsum(lengths) - lengths
        return np.repeat(self.starts[positions] - before, lengths) + np.arange(lengths.sum())

    def sums(self, counts: Counts) -> Counts:
        """Counts by entry, summed up by class."""
        return np.add.reduceat(counts, self.starts[:-1]) if len(self) else np.zeros(0, dtype=np.int64)

    def _check(self) -> None:
        repeated = (np.diff(self.positions) == 0) & (np.diff(self.values) == 0)
        if repeated.any():
            raise ValueError("a class has a value twice")
        if (self.published < 1).any() or (self.counterfeits < 0).any() or (self.counterfeits > self.published).any():
            raise ValueError("a class has fewer rows of a value than counterfeits, or none at all")
        if ((self.filled_by > 0) & (self.sizes != self.k)).any():
            raise ValueError(f"a class has counterfeits, but not {self.k} rows")
        if (self.filled_by == self.sizes).any():
            raise ValueError("a class has no rows but counterfeits")
