"""Which group has most of what a class is short of: the candidates of the greedy grouping, as counts by value.

The first class of a group identifies it. What is asked for is at most k - 1 rows, so that counts above that are all
the same: they are kept as small integers, and one request is a few passes over an array with an element a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.methods.h_ceiling.catalog.classes import Counts, FilledClasses, Positions

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
