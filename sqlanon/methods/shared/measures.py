"""What privacy models look at in classes, as functions of counts that the macros of ``sql/macros`` state.

What a macro computes in integers or as a quotient of two is computed so here; sums of doubles may differ in the last
digits, for which bounds have slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sqlanon.methods.shared.arrays import Floats, Ints, Mask, changes, sums_by, sums_of
from sqlanon.methods.shared.sensitive import Reference
from sqlanon.model.bounds import CLASS_SIZE, DISTINCT_DIVERSITY, Bound, Measure


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
        return sums_of(self.counts, self.starts)

    @cached_property
    def ratios(self) -> Floats:
        """Macro ``anon.rows_over_share``."""
        return self.counts / self.reference.shares[self.codes]

    def most(self, amounts: Floats | Ints) -> Floats:
        """The greatest amount of each class."""
        return np.maximum.reduceat(amounts, self.starts)

    def of(self, classes: Mask) -> Values:
        """The values of some of the classes."""
        found = np.flatnonzero(classes[self.classes])
        numbers = (np.cumsum(classes) - 1)[self.classes[found]]
        return Values(numbers, self.codes[found], self.counts[found], self.reference)

    def at_level(self, level: int) -> Values:
        """The labels of a level in place of the values, which those of level 0 are."""
        if level == 0:
            return self
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
    """Macro ``anon.ordered_distance_of``, with ``anon.work_between`` where rows are to be moved both ways."""
    known, starts, codes = values.reference, values.starts, values.codes
    lasts = np.append(starts[1:], len(codes)) - 1
    rows = np.cumsum(values.counts)
    rows -= (rows[starts] - values.counts[starts])[values.classes]
    rows_up_to = rows[:-1] * float(known.rows.sum())
    sizes, below = values.sizes[values.classes[:-1]].astype(np.float64), known.work_below[codes]
    up_to = np.cumsum(known.rows)
    # Between a value of a class and the next one, what is moved across a position decreases.
    work = np.zeros(len(codes))
    work[:-1] = np.abs(rows_up_to * np.diff(codes) - sizes * np.diff(below))
    is_upwards = rows_up_to > sizes * up_to[codes[:-1]]
    is_downwards = rows_up_to < sizes * (up_to - known.rows)[codes[1:]]
    turns = np.flatnonzero(is_upwards & is_downwards)
    shares = up_to / known.rows.sum()
    crossing = np.searchsorted(shares, rows[turns] / sizes[turns], side="right")
    crossing = np.minimum(crossing, len(shares) - 1)
    here, after = codes[turns], codes[turns + 1]
    work[turns] = rows_up_to[turns] * (np.abs(crossing - here) - np.abs(after - crossing))
    most = known.work_below
    work[turns] += sizes[turns] * (np.abs(most[after] - most[crossing]) - np.abs(most[crossing] - most[here]))
    work[lasts] = 0.0
    ends = below[starts] + known.work_above[codes[lasts]]
    distances: Floats = (np.add.reduceat(work, starts) + values.sizes * ends) / (values.sizes * known.most_work)
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


def measured(measure: Measure, values: Values) -> Floats | Ints:
    """A measure of each class, from the values of its column."""
    arguments = [] if measure.argument is None else [measure.argument]
    return MEASURES[measure.name](values, *arguments)


def unsupported(bounds: Iterable[Bound]) -> list[Bound]:
    """The bounds that classes can't be judged by here: those on a population, on attackers, and on whole nodes."""
    return [bound for bound in bounds if bound.measure != CLASS_SIZE and bound.measure.name not in MEASURES]
