"""What classes are judged by: their cells without the quasi-identifiers, and those of many classes in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.shared.arrays import Ints, Mask, changes, grouped


@dataclass(frozen=True)
class Members:
    """Cells, or several that agree in all codes as one, without their quasi-identifiers.

    Attributes:
        rows: the rows of each.
        codes: the codes of the sensitive columns, of shape (columns, cells), and as the last ones of individuals if
            classes count these, or the numbers of joint classes if these are judged.
    """

    rows: Ints
    codes: Ints

    def __getitem__(self, places: Ints | Mask | slice) -> Members:
        """Those at some places."""
        return Members(self.rows[places], self.codes[:, places])

    @staticmethod
    def of(cells: CellArrays, joint_numbers: Ints | None = None) -> Members:
        """All cells."""
        last = [each for each in (cells.individuals, joint_numbers) if each is not None]
        codes = np.array(last, dtype=np.int64).reshape(len(last), cells.count)
        return Members(cells.rows, np.concatenate([cells.codes, codes]))

    @staticmethod
    def joined(parts: Sequence[Members]) -> Members:
        """The members of several, one after the other."""
        rows = np.concatenate([part.rows for part in parts])
        return Members(rows, np.concatenate([part.codes for part in parts], axis=1))

    def longer(self, count: int) -> Members:
        """The same, with space for this number of members."""
        added = count - len(self.rows)
        return Members(np.pad(self.rows, (0, added)), np.pad(self.codes, ((0, 0), (0, added))))

    def merged(self) -> Members:
        """The same with equal ones as one."""
        order, groups = grouped(self.codes)
        starts = np.flatnonzero(changes(groups[np.newaxis]))
        return Members(np.add.reduceat(self.rows[order], starts), self.codes[:, order[starts]])


class Roster:
    """The members of classes, which may get more: those of a class stand side by side.

    Args:
        classes: the class of each member, ascending; every class from 0 on has one.
        members: the members.
    """

    def __init__(self, classes: Ints, members: Members) -> None:
        self._sizes = np.bincount(classes)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._members, self._count = members, len(members.rows)

    def __getitem__(self, number: int) -> Members:
        """The members of a class."""
        start = self._starts[number]
        return self._members[start : start + self._sizes[number]]

    def beside(self, classes: Ints, added: Members) -> tuple[Ints, Members]:
        """The members of some classes, each together with the same others.

        Returns:
            the place of the class of each member among ``classes``, and the members.
        """
        sizes = self._sizes[classes]
        numbers = np.repeat(np.arange(len(classes)), sizes)
        places = np.arange(len(numbers)) + np.repeat(self._starts[classes] - (np.cumsum(sizes) - sizes), sizes)
        of_added = np.repeat(np.arange(len(classes)), len(added.rows))
        copies = Members(np.tile(added.rows, len(classes)), np.tile(added.codes, len(classes)))
        return np.concatenate([numbers, of_added]), Members.joined([self._members[places], copies])

    def add(self, number: int, added: Members) -> None:
        """Put members into a class, which moves behind all others."""
        found = Members.joined([self[number], added]).merged()
        end = self._count + len(found.rows)
        if end > len(self._members.rows):
            self._members = self._members.longer(2 * end)
        self._members.rows[self._count : end], self._members.codes[:, self._count : end] = found.rows, found.codes
        self._starts[number], self._sizes[number], self._count = self._count, len(found.rows), end
