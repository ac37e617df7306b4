"""Which classes the catalog puts together: a greedy grouping, by condition F or, as published, by lemma 1.

The classes with counterfeits are taken in turn, those with the most first. Each is a group, and while the condition
fails for a class of that group, it is merged with the other group that offers most of what that class is short of. It
finds groups if there are any: what holds in a group holds in every larger one, so that the condition fails for all
classes together where no group has anything to offer. They need not be the best groups.

An adversary who runs the algorithm again may rule out some of the worlds that the condition counts: what is merged
depends on where the counterfeits are. The condition, and what :mod:`sqlanon.methods.h_ceiling.catalog.links` measures,
are as the specification has them, against an adversary who does not.

Source: spec/hceiling.md (G); Lee, Kim, Kim & Chung 2017, algorithm 2.

Which group has most of what a class is short of: the candidates of the greedy grouping, as counts by value.

The first class of a group identifies it. What is asked for is at most k - 1 rows, so that counts above that are all
the same: they are kept as small integers, and one request is a few passes over an array with an element a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.methods.h_ceiling.catalog.conditions import Condition, Counts, FilledClasses, Positions


@dataclass(frozen=True, eq=False)
class Catalog:
    """How many counterfeits of each value are in which groups of classes.

    Attributes:
        classes: the classes that are published.
        groups: the positions of their classes, ascending, in the order of the first of each. Each class that has
            counterfeits is in one of them, and no class is in two.
    """

    classes: FilledClasses
    groups: tuple[tuple[int, ...], ...]

    @property
    def members(self) -> tuple[Counts, Counts]:
        """The number of a group, from 0 on, and the identifier of a class in it; each of shape (members,)."""
        return self._numbers, self.classes.identifiers[self._positions]

    @property
    def totals(self) -> tuple[Counts, Counts, Counts]:
        """The number of a group, a value, and how many counterfeits of it the group has, at least 1; shape (rows,)."""
        number_of = np.zeros(len(self.classes), dtype=np.int64)
        number_of[self._positions] = self._numbers
        entries = np.flatnonzero(self.classes.counterfeits)
        pairs = np.stack([number_of[self.classes.positions[entries]], self.classes.values[entries]])
        (numbers, values), row_of = np.unique(pairs, axis=1, return_inverse=True)
        counts = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(counts, row_of.ravel(), self.classes.counterfeits[entries])
        return numbers, values, counts

    @property
    def _numbers(self) -> Counts:
        return np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])

    @property
    def _positions(self) -> Positions:
        return np.array([position for group in self.groups for position in group], dtype=np.intp)


def grouped(condition: Condition) -> Catalog | None:
    """A catalog whose groups all meet the condition, None if the greedy grouping finds none.

    Of the groups that offer equally much, the one with fewest rows is taken, of these the one whose first class is.
    """
    classes = condition.classes
    offers = Offers(classes, condition.offered)
    turn = {position: rank for rank, position in enumerate(classes.deficient.tolist())}
    groups: dict[int, list[int]] = {}
    while turn:
        first = next(iter(turn))
        group, members = first, groups.pop(first, [first])
        pending = [first]
        while pending:
            target = pending[0]
            missing = condition.missing(target, members)
            if not missing:
                del turn[pending.pop(0)]
                continue
            other = offers.best(missing, group)
            if other is None:
                other = offers.best(condition.wanted(target, members), group)
            if other is None:
                return None
            joined = groups.pop(other, [other])
            pending = sorted(pending + [position for position in joined if position in turn], key=turn.__getitem__)
            offers.merge(min(group, other), max(group, other))
            group, members = min(group, other), _together(members, joined)
        groups[group] = members
    return Catalog(classes, tuple(sorted(tuple(sorted(members)) for members in groups.values())))


def _together(some: list[int], others: list[int]) -> list[int]:
    """The classes of two groups, the few appended to the many: what a class is short of may be in any of them."""
    longer, shorter = (some, others) if len(some) >= len(others) else (others, some)
    longer += shorter
    return longer


MAX_BYTES = 1 << 28
"""What the counts that are kept may take; those of the values that were not asked for lately are counted anew."""


class Offers:
    """What groups offer; at first, each class is a group.

    Args:
        classes: the classes.
        offered: how many rows each class offers of each value, by entry; shape (entries,).
    """

    def __init__(self, classes: FilledClasses, offered: Counts) -> None:
        self._classes = classes
        self._offered = offered
        self._most = classes.k - 1
        self._rows = classes.sizes.copy()
        self._group_of = np.arange(len(classes))
        self._by_value = np.argsort(classes.values, kind="stable")
        self._sorted_values = classes.values[self._by_value]
        kind = np.min_scalar_type(-2 * classes.k)  # two counts fit into it
        values = len(np.unique(classes.values[classes.counterfeits > 0]))
        slots = min(values, max(1, MAX_BYTES // (kind.itemsize * max(1, len(classes)))))
        self._counts = np.zeros((slots, len(classes)), dtype=kind)
        self._slot_of: dict[int, int] = {}  # the value that was asked for last comes last
        self._gain, self._part = np.empty((2, len(classes)), dtype=kind)

    def best(self, wanted: Mapping[int, int], group: int) -> int | None:
        """The other group that has most of what is wanted, of these one with the fewest rows, of these the first.

        Args:
            wanted: rows by value. Of all values together, k - 1 count at most.
            group: the one that wants them.

        Returns:
            None if no other group has any of them.
        """
        gain, part = self._gain, self._part
        gain[:] = 0
        for value, count in wanted.items():
            np.minimum(self._of(value), min(count, self._most), out=part)
            np.add(gain, part, out=gain)
            np.minimum(gain, self._most, out=gain)
        gain[group] = 0
        most = gain.max(initial=0)
        if most == 0:
            return None
        candidates = np.flatnonzero(gain == most)
        return int(candidates[self._rows[candidates].argmin()])

    def merge(self, kept: int, gone: int) -> None:
        """Make one group of two, identified by the first class of both."""
        used = self._counts[: len(self._slot_of)]
        used[:, kept] = np.minimum(used[:, kept] + used[:, gone], self._most)
        used[:, gone] = 0
        self._rows[kept] += self._rows[gone]
        self._group_of[gone] = kept

    def _of(self, value: int) -> NDArray[Any]:
        """How many rows of a value each group offers, k - 1 standing for more; shape (classes,)."""
        slot = self._slot_of.pop(value, None)
        if slot is None:
            full = len(self._slot_of) == len(self._counts)
            slot = self._slot_of.pop(next(iter(self._slot_of))) if full else len(self._slot_of)
            self._counts[slot] = self._counted(value)
        self._slot_of[value] = slot
        row: NDArray[Any] = self._counts[slot]
        return row

    def _counted(self, value: int) -> Counts:
        first, end = np.searchsorted(self._sorted_values, [value, value + 1])
        entries = self._by_value[first:end]
        counts = np.zeros(len(self._classes), dtype=np.int64)
        np.add.at(counts, self._groups()[self._classes.positions[entries]], self._offered[entries])
        return np.minimum(counts, self._most)

    def _groups(self) -> Positions:
        """The group of each class. A group that was merged points to the one that it was merged into."""
        while (further := self._group_of[self._group_of] != self._group_of).any():
            self._group_of[further] = self._group_of[self._group_of[further]]
        return self._group_of
