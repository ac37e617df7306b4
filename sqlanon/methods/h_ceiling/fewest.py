"""Which nodes to look at to find the one that needs the fewest counterfeits.

A more general node needs no more counterfeits than a less general one, since its classes are theirs put together. So
none needs fewer than the most general nodes below the ceiling do. One above the ceiling that needs many rules out all
of these that it is above, which is why some of them are looked at, too; which ones is a guess from what is known. Where
small classes are suppressed, a less general node may need fewer, but not by more than what it suppresses saves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sqlanon.search.arrays import Bounds, Counts, Index, Mask, above, below, indexes, spread_downwards
from sqlanon.search.informative import count_below, most_informative
from sqlanon.search.optimal.forecast import POWER, forecast_of
from sqlanon.search.problem import BATCH_SIZE

UNKNOWN = -1

OUT_OF_LIMIT = 2**62
"""What a node needs that suppresses more rows than it may, as all below it do: more than any other."""

AT_ONCE = 4
"""How many nodes are looked at before it is thought again which ones to look at.

With what nodes need in tests.benchmarks.ceilings, 1,000,000 rows, h = 0.15, 0.2, ... 0.45, and a simpler forecast: 841
nodes in all, 902 by 8 at once, and 1,900 if all of the most general nodes below a ceiling are looked at.
"""

CAUTION = 1.5
"""The worth of a node above the ceiling is its chance of ruling nodes out to this power: by 1 it is 1,088."""

MIN_ERROR = 1e-3
"""By how much a forecast is taken to be off at least."""

MOST = 50.0
"""This many errors apart are as good as certain."""


class FewestCounterfeits:
    """What is known of the counterfeits that the nodes of a lattice need.

    Args:
        allowed: the nodes that keep to the ceiling; with a node, all that are less general. An array of the shape of
            the lattice, as the next two.
        ranks: the order of nodes that need equally many, the best one first.
        lost: by quasi-identifier and level, the share of information that its labels lose: needs are forecast by it.

    Attributes:
        best: the best node below the ceiling that was looked at, None before any was.
    """

    def __init__(self, allowed: Mask, ranks: Counts, lost: Sequence[Bounds]) -> None:
        self.best: Index | None = None
        self._allowed = allowed
        self._ranks = ranks
        self._lost = lost
        self._at_least: Counts = np.zeros(allowed.shape, dtype=np.int64)
        self._known: Counts = np.full(allowed.shape, UNKNOWN, dtype=np.int64)

    def batches(self) -> Iterator[list[Index]]:
        """The nodes to look at, in batches; what a batch needs is to be learnt before the next."""
        most_general = _most_general(self._allowed)
        yield sorted(indexes(most_general), key=self._lost_at, reverse=True)[:AT_ONCE]
        while (left := self._open() & most_general).any():
            yield self._ruling_out(left)
        while nodes := most_informative(self._open(), self._ranks, BATCH_SIZE):
            yield nodes

    def learn(self, index: Index, cost: int, cost_below: int) -> None:
        """Take note of what a node costs, and of what every less general one costs at least."""
        self._known[index] = cost
        self._at_least[index] = max(self._at_least[index], cost_below)
        if self.keeps_to_ceiling(index) and (self.best is None or self.order(index) < self.order(self.best)):
            self.best = index

    def fewest(self) -> int:
        """Proven to be at most what any node below the ceiling needs."""
        spread_downwards(self._at_least)
        at_least = np.where(self._known == UNKNOWN, self._at_least, self._known)
        return int(at_least[self._allowed].min())

    def keeps_to_ceiling(self, index: Index) -> bool:
        """Whether a node may be published."""
        return bool(self._allowed[index])

    def order(self, index: Index) -> tuple[int, int]:
        """What nodes that were looked at are compared by: of two, the one with less is better."""
        return int(self._known[index]), int(self._ranks[index])

    def is_proven(self) -> bool:
        """Whether no other node can be better."""
        return self.best is not None and not self._open().any()

    def _open(self) -> Mask:
        """The nodes below the ceiling that were not looked at and may be better than the best one."""
        assert self.best is not None
        spread_downwards(self._at_least)
        needed, rank = self.order(self.best)
        better = (self._at_least < needed) | ((self._at_least == needed) & (self._ranks < rank))
        is_open: Mask = self._allowed & (self._known == UNKNOWN) & better & (self._at_least < OUT_OF_LIMIT)
        return is_open

    def _ruling_out(self, left: Mask) -> list[Index]:
        """Nodes, no two comparable, that are expected to rule out most of those that are left, or to be the best.

        One of those that are left rules out itself, whatever it needs; one above the ceiling all below it if it needs
        more than the best one.
        """
        needs_more, many = self._needs_more(), count_below(left)
        others = (self._known == UNKNOWN) & ~self._allowed & (many > 1)
        gain = np.where(left, 1 + 3 * (1 - needs_more), np.where(others, needs_more**CAUTION * many, 0))
        batch: list[Index] = []
        while len(batch) < AT_ONCE and gain[best := np.unravel_index(int(gain.argmax()), gain.shape)] >= 1:
            index = tuple(int(step) for step in best)
            batch.append(index)
            gain[below(index)] = 0
            gain[above(index)] = 0
        return batch

    def _needs_more(self) -> Bounds:
        """How likely each node is to need more than the best one: a guess, by what others need."""
        known = np.argwhere(self._known != UNKNOWN)
        most = self._known[self._known < OUT_OF_LIMIT].max()
        needed = np.clip(self._known, 0.5, max(most, 0.5))  # a root of 0 is far from all others
        shares = needed / needed.max()
        target = float(shares[self.best])
        forecast = forecast_of(known, shares[tuple(known.T)], target, self._lost)
        apart = (forecast.everywhere() - target ** (1 / POWER)) / max(forecast.error, MIN_ERROR)
        likely: Bounds = 1 / (1 + np.exp(-np.clip(apart, -MOST, MOST)))
        return likely

    def _lost_at(self, index: Index) -> float:
        """What is lost at a node."""
        return float(sum(lost[step] for lost, step in zip(self._lost, index, strict=True)))


def _most_general(allowed: Mask) -> Mask:
    """The allowed nodes with none above them; everything below an allowed node is allowed."""
    has_above = np.zeros_like(allowed)
    for axis in range(allowed.ndim):
        levels, marks = np.moveaxis(allowed, axis, 0), np.moveaxis(has_above, axis, 0)
        marks[:-1] |= levels[1:]
    most_general: Mask = allowed & ~has_above
    return most_general
