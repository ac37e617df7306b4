"""Which classes the catalog puts together: a greedy grouping, by condition F or, as published, by lemma 1.

The classes with counterfeits are taken in turn, those with the most first. Each is a group, and while the condition
fails for a class of that group, it is merged with the other group that offers most of what that class is short of. It
finds groups if there are any: what holds in a group holds in every larger one, so that the condition fails for all
classes together where no group has anything to offer. They need not be the best groups.

An adversary who runs the algorithm again may rule out some of the worlds that the condition counts: what is merged
depends on where the counterfeits are. The condition, and what :mod:`sqlanon.methods.h_ceiling.catalog.link` measures,
are as the specification has them, against an adversary who does not.

Source: spec/hceiling.md (G); Lee, Kim, Kim & Chung 2017, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sqlanon.methods.h_ceiling.catalog.classes import Amounts, Counts, FilledClasses, Positions
from sqlanon.methods.h_ceiling.catalog.offers import Offers

Group = Sequence[int]
"""The positions of classes."""


class Condition(Protocol):
    """When a group conceals the counterfeits of its classes.

    What holds for a class in a group must hold for it in any group that this one is merged into.
    """

    @property
    def classes(self) -> FilledClasses: ...

    @property
    def offered(self) -> Counts:
        """How many rows of each class and value could conceal a counterfeit of others, by entry; shape (entries,)."""

    def missing(self, target: int, group: Group) -> Amounts:
        """What a class of a group is short of, by value; empty if the condition holds for it."""

    def wanted(self, target: int, group: Group) -> Amounts:
        """What else would help a class that is short of something, where no group has what is missing."""


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


def one_group(condition: Condition) -> Catalog | None:
    """A catalog of a single group, of all classes that can conceal counterfeits, None if it fails the condition.

    It meets it whenever any catalog does. Which classes are in it depends on k and on what is published alone, and so
    an adversary who runs the algorithm again learns nothing.
    """
    classes = condition.classes
    own = classes.deficient.tolist()
    group = np.union1d(own, classes.positions[condition.offered > 0]).tolist() if own else []
    if any(condition.missing(target, group) for target in own):
        return None
    return Catalog(classes, (tuple(group),) if group else ())


def _together(some: list[int], others: list[int]) -> list[int]:
    """The classes of two groups, the few appended to the many: what a class is short of may be in any of them."""
    longer, shorter = (some, others) if len(some) >= len(others) else (others, some)
    longer += shorter
    return longer
