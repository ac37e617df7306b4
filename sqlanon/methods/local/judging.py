"""Classes judged from arrays, many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.local.members import Members
from sqlanon.methods.shared.arrays import Floats, Ints, Mask, sums_by
from sqlanon.methods.shared.joint_bounds import JointBounds
from sqlanon.methods.shared.measures import Values, measured, unsupported
from sqlanon.methods.shared.sensitive import Reference, SensitiveValues
from sqlanon.model.bounds import CLASS_SIZE, Bound

JOINT_EXCESS = 1.0
"""The excess of a class over bounds on what earlier releases show of it."""

LARGEST_EXCESS = 1e6
"""The excess over a bound that stands for an infinite one."""


@dataclass(frozen=True)
class Judge:
    """Judges classes by the bounds of privacy models.

    Attributes:
        bounds: what every class has to meet.
        sensitive: the values of the columns that these look at, in the order of the codes of members.
        has_people: whether classes count individuals.
        whole: all members of the table.
        joint: the bounds on what earlier releases show of a class, which has one number.
    """

    bounds: tuple[Bound, ...]
    sensitive: Mapping[str, SensitiveValues]
    has_people: bool
    whole: Members = field(repr=False)
    joint: JointBounds | None = None

    @staticmethod
    def of(cells: CellArrays, bounds: Sequence[Bound], joint: JointBounds | None = None) -> Judge:
        """The judge of the classes of a table.

        Raises:
            ValueError: a bound is not on the rows or the values of a class.
        """
        if others := unsupported(bounds):
            raise ValueError(f"classes can't be judged here by {', '.join(bound.measure.name for bound in others)}")
        members = Members.of(cells, None if joint is None else cells.joint_numbers)
        return Judge(tuple(bounds), cells.sensitive, cells.individuals is not None, members, joint)

    @cached_property
    def least_size(self) -> int:
        """The rows, or individuals, that every class has at least."""
        return max((int(bound.threshold) for bound in self.bounds if bound.measure == CLASS_SIZE), default=1)

    @cached_property
    def is_monotonic(self) -> bool:
        """Whether a class that meets all bounds meets them with any other cells, too."""
        return all(bound.monotonic for bound in self.bounds)

    @cached_property
    def others(self) -> tuple[Bound, ...]:
        """The bounds on values."""
        return tuple(bound for bound in self.bounds if bound.measure != CLASS_SIZE)

    def sizes(self, classes: Ints, members: Members) -> Ints:
        """The rows of each class, or its distinct individuals.

        Args:
            classes: the class of each member; every class from 0 on has one.
            members: the members of all classes.
        """
        count = int(classes.max()) + 1
        if not self.has_people:
            return np.bincount(classes, members.rows, count).astype(np.int64)
        width = int(self.whole.codes[-1].max()) + 1
        found, _ = sums_by(classes * width + members.codes[-1], members.rows, count * width)
        return np.bincount(found // width, minlength=count)

    def met(self, classes: Ints, members: Members) -> Mask:
        """Whether each class meets every bound; the arguments are those of :meth:`sizes`."""
        met: Mask = self.sizes(classes, members) >= self.least_size
        return met & self.met_by_values(classes, members)

    def met_by_values(self, classes: Ints, members: Members) -> Mask:
        """Whether each class meets the bounds on values."""
        met = np.ones(int(classes.max()) + 1, dtype=bool)
        for bound, found in self._measured(classes, members):
            met &= bound.met_by(found)
        met[self._out_of_joint_bounds(classes, members)] = False
        return met

    def excess(self, classes: Ints, members: Members) -> Floats:
        """By how much each class exceeds its bounds, relative to them and summed; 0 if it meets all."""
        sizes = self.sizes(classes, members)
        excess = np.maximum(self.least_size - sizes, 0) / self.least_size
        for bound, found in self._measured(classes, members):
            distance = np.abs(found - bound.threshold) / bound.threshold
            excess += np.where(bound.met_by(found), 0.0, np.clip(distance, 1e-9, LARGEST_EXCESS))
        excess[self._out_of_joint_bounds(classes, members)] += JOINT_EXCESS
        return excess

    def _out_of_joint_bounds(self, classes: Ints, members: Members) -> Ints:
        """The classes whose values in other sources, which earlier releases show of them, are out of bounds."""
        failing: list[Ints] = [np.zeros(0, dtype=np.int64)]
        if self.joint is None:
            return failing[0]
        for shown in self.joint.shown:
            found = shown.is_shown[members.codes[-1]]
            if shown.is_changed and found.any():
                codes = members.codes[list(self.sensitive).index(shown.column), found] - 1
                numbers, keeps = self.joint.keep(shown, classes[found], codes, members.rows[found])
                failing.append(numbers[~keeps])
        return np.unique(np.concatenate(failing))

    def _measured(self, classes: Ints, members: Members) -> list[tuple[Bound, Floats | Ints]]:
        values = {name: self.values(name, classes, members) for name in {b.measure.column for b in self.others} if name}
        return [(bound, measured(bound.measure, values[bound.measure.column or ""])) for bound in self.others]

    def values(self, name: str, classes: Ints, members: Members) -> Values:
        """The values of a column in classes."""
        return Values(*self._counted(name, classes, members), self.references[name])

    @cached_property
    def references(self) -> Mapping[str, Reference]:
        """The values of each column in the whole table."""
        everyone = np.zeros(len(self.whole.rows), dtype=np.int64)
        return {
            name: Reference(self._counted(name, everyone, self.whole)[2], values.labels)
            for name, values in self.sensitive.items()
        }

    def _counted(self, name: str, classes: Ints, members: Members) -> tuple[Ints, Ints, Ints]:
        """The class, the value, and the rows or distinct individuals of each value that stands in a class."""
        width, rows = self.sensitive[name].count, members.rows
        keys = classes * width + members.codes[list(self.sensitive).index(name)]
        size = (int(classes.max()) + 1) * width
        if self.has_people:
            people = int(self.whole.codes[-1].max()) + 1
            keys = sums_by(keys * people + members.codes[-1], rows, size * people)[0] // people
            rows = np.ones(len(keys), dtype=np.int64)
        found, counts = sums_by(keys, rows, size)
        return found // width, found % width, counts
