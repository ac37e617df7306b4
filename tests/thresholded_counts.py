"""The distribution of thresholded noisy counts with a roll-up of what they leave out, exact for small tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from sqlanon.chance.exact import Interval, exponential
from sqlanon.chance.scales import Tail, scale_for

Cell = tuple[str, str]
"""A class and a value."""

Published = tuple[tuple[tuple[Cell, int], ...], tuple[tuple[str, int], ...]]
"""The cells that are published, with their noisy counts, and the rolled-up values with theirs; both in their order."""

BITS = 320
"""Probabilities as small as 10^-80 have all digits of a float."""


@dataclass(frozen=True)
class Mass:
    """P(Z = value)."""

    scale: Fraction
    value: int

    def bounds(self, bits: int) -> Interval:
        low_base, high_base = exponential(1 / self.scale, bits + 3)
        low, high = exponential(abs(self.value) / self.scale, bits + 3)
        return low * (1 - high_base) / (1 + high_base), high * (1 - low_base) / (1 + low_base)


@dataclass(frozen=True)
class NoisyThreshold:
    """Discrete Laplace noise on counts above 0; those that reach the threshold with it are published.

    Attributes:
        epsilon: what the noise costs, above 0.
        threshold: the smallest noisy count that is published.
        largest: the largest count that there is in the tables to be compared. Noisy counts above it are one outcome,
            named by the smallest of them: all of them are equally much likelier for one count than for another, so that
            putting them together hides nothing.
    """

    epsilon: Fraction
    threshold: int
    largest: int

    @property
    def _last(self) -> int:
        return max(self.largest + 1, self.threshold)

    def distribution(self, count: int) -> dict[int | None, float]:
        """The probability of None, which is published as nothing, and then of each noisy count."""
        if count == 0:
            return {None: 1.0}
        found: dict[int | None, float] = {None: _tail(self.epsilon, count - self.threshold + 1)}
        for noisy in range(self.threshold, self._last):
            found[noisy] = _mass(self.epsilon, noisy - count)
        found[self._last] = _tail(self.epsilon, self._last - count)
        return found


@dataclass(frozen=True)
class ThresholdedCounts:
    """Noisy thresholded counts of cells of a class and a value; the rows of the others are counted again by value.

    A table is a mapping of cells to counts. This is what a private release does at a fixed node, and small enough to
    be audited exactly.

    Attributes:
        cells: what is done with the count of each cell.
        roll_up: what is done with the counts by value of the cells that were not published; None publishes them as
            they are, which no (ε, δ) covers.
    """

    cells: NoisyThreshold
    roll_up: NoisyThreshold | None

    def distribution(self, table: Mapping[Cell, int]) -> dict[Published, float]:
        """The probability of each release."""
        by_value: dict[str, dict[Cell, int]] = {}
        for cell in sorted(table, key=lambda cell: (cell[1], cell[0])):
            by_value.setdefault(cell[1], {})[cell] = table[cell]
        found: dict[Published, float] = {((), ()): 1.0}
        for value, cells in by_value.items():
            parts = list(self._of_value(value, cells))
            found = {
                (published + more, rolled_up + total): probability * chance
                for (published, rolled_up), probability in found.items()
                for (more, total), chance in parts
            }
        return found

    def _of_value(self, value: str, cells: Mapping[Cell, int]) -> Iterator[tuple[Published, float]]:
        """What is published of one value, which is independent of all others."""
        so_far: list[tuple[tuple[tuple[Cell, int], ...], int, float]] = [((), 0, 1.0)]
        for cell, count in cells.items():
            hidden, *shown = self.cells.distribution(count).items()
            published = [(((cell, noisy),), chance) for noisy, chance in shown if noisy is not None]
            so_far = [
                *((known, left + count, probability * hidden[1]) for known, left, probability in so_far),
                *(
                    (known + more, left, probability * chance)
                    for known, left, probability in so_far
                    for more, chance in published
                ),
            ]
        rolled_up = {left: self._rolled_up(value, left) for left in {left for _, left, _ in so_far}}
        for known, left, probability in so_far:
            for totals, chance in rolled_up[left]:
                yield (known, totals), probability * chance

    def _rolled_up(self, value: str, count: int) -> list[tuple[tuple[tuple[str, int], ...], float]]:
        drawn = {count or None: 1.0} if self.roll_up is None else self.roll_up.distribution(count)
        return [(() if total is None else ((value, total),), chance) for total, chance in drawn.items()]


@cache
def _mass(epsilon: Fraction, value: int) -> float:
    return float(Mass(_scale(epsilon), value).bounds(BITS)[0])


@cache
def _tail(epsilon: Fraction, least: int) -> float:
    return float(Tail(_scale(epsilon), least).bounds(BITS)[0])


@cache
def _scale(epsilon: Fraction) -> Fraction:
    return Fraction(scale_for(epsilon, 1))
