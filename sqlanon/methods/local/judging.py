"""Classes judged from arrays, many at once, by the functions of counts that the macros of ``sql/macros`` state.

What a macro computes in integers or as a quotient of two is computed so here; sums of doubles may differ in the last
digits, for which bounds have slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sqlanon.methods.local.arrays import CellArrays, sums_by
from sqlanon.methods.local.members import Members
from sqlanon.methods.shared.arrays import Floats, Ints, Mask, changes
from sqlanon.methods.shared.sensitive import Reference, SensitiveValues
from sqlanon.model.bounds import CLASS_SIZE, DISTINCT_DIVERSITY, Bound, Measure

LARGEST_EXCESS = 1e6
"""The excess over a bound that stands for an infinite one."""


@dataclass(frozen=True)
class Values:
    """How often sensitive values stand in classes: a row per class and value, by classes and then by values.

    Attributes:
        classes: the class of each row; every class from 0 on has one.
        codes: the value.
        counts: the rows, or individuals, with the value.
        reference: the values in the whole table.
    """

    classes: Ints
    codes: Ints
    counts: Ints
    reference: Reference

    @cached_property
    def starts(self) -> Ints:
        """The first row of each class."""
        return np.flatnonzero(changes(self.classes[np.newaxis]))

    @cached_property
    def sizes(self) -> Ints:
        """The sum of the counts of each class."""
        return np.add.reduceat(self.counts, self.starts)

    @cached_property
    def ratios(self) -> Floats:
        """Macro ``anon.rows_over_share``."""
        return self.counts / self.reference.shares[self.codes]

    def most(self, amounts: Floats | Ints) -> Floats:
        """The greatest amount of each class."""
        return np.maximum.reduceat(amounts, self.starts)

    def at_level(self, level: int) -> Values:
        """The labels of a level in place of the values."""
        reference = self.reference.levels[level]
        width = len(reference.rows)
        keys = self.classes * width + reference.labels[0, self.codes]
        found, counts = sums_by(keys, self.counts, (int(self.classes[-1]) + 1) * width)
        return Values(found // width, found % width, counts, reference)


def distinct_diversity(values: Values) -> Ints:
    """Macro ``anon.distinct_diversity_of``."""
    return np.diff(values.starts, append=len(values.counts))


def entropy_diversity(values: Values) -> Floats:
    """Macro ``anon.entropy_diversity_of``."""
    terms = np.add.reduceat(values.counts * np.log(values.counts), values.starts)
    return np.exp(np.log(values.sizes) - terms / values.sizes)


def largest_share(values: Values) -> Floats:
    """Macro ``anon.largest_share_of``."""
    return values.most(values.counts) / values.sizes


def recursive_ratio(values: Values, l: int) -> Floats:  # noqa: E741 - the name of the literature
    """Macro ``anon.recursive_ratio_of``."""
    order = np.lexsort((-values.counts, values.classes))
    counts = values.counts[order]
    ranks = np.arange(len(counts)) - values.starts[values.classes]
    rare = np.add.reduceat(np.where(ranks >= l - 1, counts, 0), values.starts)
    return np.where(rare > 0, counts[values.starts] / np.maximum(rare, 1), np.inf)


def equal_distance(values: Values) -> Floats:
    """Macro ``anon.equal_distance_of``."""
    shares = values.counts / values.sizes[values.classes]
    return np.add.reduceat(np.maximum(shares - values.reference.shares[values.codes], 0.0), values.starts)


def hierarchical_distance(values: Values) -> Floats:
    """The mean of the equal distances at the levels below the top."""
    height = len(values.reference.labels)
    distances: Floats = np.sum([equal_distance(values.at_level(level)) for level in range(height)], axis=0) / height
    return distances


def ordered_distance(values: Values) -> Floats:
    """Macro ``anon.ordered_distance_of``, with ``anon.work_between``."""
    known, sizes, starts = values.reference, values.sizes, values.starts
    rows_up_to = np.cumsum(values.counts)
    rows_up_to -= (rows_up_to[starts] - values.counts[starts])[values.classes]
    shares = np.cumsum(known.rows) / known.rows.sum()
    lasts = np.append(starts[1:], len(values.codes)) - 1
    inner = np.delete(np.arange(len(values.codes)), lasts)
    here, after = values.codes[inner], values.codes[inner + 1]
    crossing = np.searchsorted(shares, rows_up_to[inner] / sizes[values.classes[inner]], side="right")
    work = np.zeros(len(values.codes))
    work[inner] = rows_up_to[inner] * float(known.rows.sum()) * (np.abs(crossing - here) - np.abs(after - crossing))
    below = known.work_below
    work[inner] += sizes[values.classes[inner]] * (
        np.abs(below[after] - below[crossing]) - np.abs(below[crossing] - below[here])
    )
    ends = below[values.codes[starts]] + known.work_above[values.codes[lasts]]
    whole = max(float(known.rows.sum() * (len(known.rows) - 1)), 1.0)
    distances: Floats = (np.add.reduceat(work, starts) + sizes * ends) / (sizes * whole)
    return distances


def disclosure(values: Values) -> Floats:
    """Macro ``anon.disclosure_of``."""
    least = np.minimum.reduceat(values.ratios, values.starts)
    largest = np.log(values.most(values.ratios) / values.sizes)
    bits: Floats = np.maximum(largest, -np.log(least / values.sizes)) / np.log(2.0)
    return bits


def basic_likeness(values: Values) -> Floats:
    """Macro ``anon.basic_likeness_of``."""
    gains: Floats = np.maximum(values.most(values.ratios) / values.sizes - 1, 0.0)
    return gains


def enhanced_likeness(values: Values) -> Floats:
    """Macro ``anon.enhanced_likeness_of``."""
    limits = values.ratios / (1 - np.log(values.reference.shares[values.codes]))
    return np.where(values.most(limits) > values.sizes, np.inf, basic_likeness(values))


MEASURES: Mapping[str, Callable[..., Floats | Ints]] = {
    DISTINCT_DIVERSITY: distinct_diversity,
    "entropy_diversity": entropy_diversity,
    "largest_share": largest_share,
    "recursive_ratio": recursive_ratio,
    "equal_distance": equal_distance,
    "ordered_distance": ordered_distance,
    "hierarchical_distance": hierarchical_distance,
    "disclosure": disclosure,
    "basic_likeness": basic_likeness,
    "enhanced_likeness": enhanced_likeness,
}
"""By the name of a measure, what makes it of the values of classes and of its argument if it has one."""


def unsupported(bounds: Iterable[Bound]) -> list[Bound]:
    """The bounds that classes can't be judged by here: those on a population, on attackers, and on whole nodes."""
    return [bound for bound in bounds if bound.measure != CLASS_SIZE and bound.measure.name not in MEASURES]


@dataclass(frozen=True)
class Judge:
    """Judges classes by the bounds of privacy models.

    Attributes:
        bounds: what every class has to meet.
        sensitive: the values of the columns that these look at, in the order of the codes of members.
        has_people: whether classes count individuals.
        whole: all members of the table.
    """

    bounds: tuple[Bound, ...]
    sensitive: Mapping[str, SensitiveValues]
    has_people: bool
    whole: Members = field(repr=False)

    @staticmethod
    def of(cells: CellArrays, bounds: Sequence[Bound]) -> Judge:
        """The judge of the classes of a table.

        Raises:
            ValueError: a bound is not on the rows or the values of a class.
        """
        if others := unsupported(bounds):
            raise ValueError(f"classes can't be judged here by {', '.join(bound.measure.name for bound in others)}")
        return Judge(tuple(bounds), cells.sensitive, cells.individuals is not None, Members.of(cells))

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
        for bound, measured in self._measured(classes, members):
            met &= bound.met_by(measured)
        return met

    def excess(self, classes: Ints, members: Members) -> Floats:
        """By how much each class exceeds its bounds, relative to them and summed; 0 if it meets all."""
        sizes = self.sizes(classes, members)
        excess = np.maximum(self.least_size - sizes, 0) / self.least_size
        for bound, measured in self._measured(classes, members):
            distance = np.abs(measured - bound.threshold) / bound.threshold
            excess += np.where(bound.met_by(measured), 0.0, np.clip(distance, 1e-9, LARGEST_EXCESS))
        return excess

    def _measured(self, classes: Ints, members: Members) -> list[tuple[Bound, Floats | Ints]]:
        values = {name: self.values(name, classes, members) for name in {b.measure.column for b in self.others} if name}
        return [(bound, _measure(bound.measure, values[bound.measure.column or ""])) for bound in self.others]

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


def _measure(measure: Measure, values: Values) -> Floats | Ints:
    arguments = [] if measure.argument is None else [measure.argument]
    return MEASURES[measure.name](values, *arguments)
