"""The values of sensitive columns, and how often a whole table has them, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sqlanon.methods.shared.arrays import Arrays, Floats, Ints
from sqlanon.queries.cells.encoding import Encoding


@dataclass(frozen=True)
class SensitiveValues:
    """The values of a sensitive column, in their order.

    Attributes:
        labels: the number of each value's label at the levels below the top, of shape (levels, values); the label at
            level 0 is the value.
    """

    labels: Ints

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self.labels.shape[1])


@dataclass(frozen=True)
class Reference:
    """The values of a sensitive column in the whole table, with which those of classes are compared.

    Attributes:
        rows: the rows, or individuals, of each value.
        labels: see :class:`SensitiveValues`.
    """

    rows: Ints
    labels: Ints

    @cached_property
    def shares(self) -> Floats:
        """The share of each value."""
        shares: Floats = self.rows / self.rows.sum()
        return shares

    @cached_property
    def levels(self) -> tuple[Reference, ...]:
        """The labels of each level in place of the values."""
        numbers = [np.unique(labels, return_inverse=True)[1] for labels in self.labels]
        return tuple(Reference(np.bincount(each, self.rows).astype(np.int64), each[np.newaxis]) for each in numbers)

    @cached_property
    def positions(self) -> Floats:
        """The positions of values in their order."""
        return np.arange(1.0, len(self.rows) + 1)

    @cached_property
    def work_below(self) -> Floats:
        """See macro ``anon.reference_work``, as of the next ones."""
        return self.positions * np.cumsum(self.rows) - np.cumsum(self.positions * self.rows)

    @cached_property
    def work_above(self) -> Floats:
        """What it takes to move the rows of higher values down to each."""
        rows, moments = np.cumsum(self.rows), np.cumsum(self.positions * self.rows)
        work: Floats = (moments[-1] - moments) - self.positions * (rows[-1] - rows)
        return work

    @cached_property
    def most_work(self) -> float:
        """What it takes to move all rows from one end to the other; 1 if there is one value."""
        return max(float(self.rows.sum() * (len(self.rows) - 1)), 1.0)


def label_levels(encoding: Encoding, name: str) -> range:
    """The levels of a sensitive column that cells have codes of, below the top; level 0 has the values."""
    return range(max(encoding.sensitive_height(name), 1) if name in encoding.spec.labelled else 1)


def sensitive_values(encoding: Encoding, name: str, found: Arrays, codes: Ints, levels: range) -> SensitiveValues:
    """The values of a column, by arrays with their labels at the levels from 0 on, and the code of each, from 0."""
    labels = np.zeros((len(levels), int(codes.max(initial=-1)) + 1), dtype=np.int64)
    for level in levels[1:]:
        labels[level, codes] = found[encoding.sensitive_label(name, level)]
    labels[0] = np.arange(labels.shape[1])
    return SensitiveValues(labels)
