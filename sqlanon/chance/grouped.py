"""Exact choices between any number of candidates, which come in groups of equal score."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance.exact import WORD, Integers, Words, below_each, exponential, one_word, power_ceiling, power_floor

MAX_CANDIDATES = 2**62 - 1
TOO_FAR = 88  # above this exponent e^-x is below 2^-126, and rough weights take it for 0
ROUGH_BITS = 256

# Bits of weights beyond the bits of the uniform number: enough for counts, gaps and one word.
SPARE_BITS = 192


def grouped_choice(
    scores: Integers, counts: Integers, scale: float, runs: int, words: Words
) -> tuple[Integers, Integers]:
    """Draw a group, with a probability in proportion to count * e^(score / scale), and one of its candidates.

    By inversion: a uniform number is drawn word by word until bounds of the cumulative weights settle where it falls.
    Float bounds nearly always settle it at one word; otherwise integers do.
    """
    _require_candidates(scores, counts)
    inhabited = np.flatnonzero(counts)
    weights = Weights.of(scores[inhabited], counts[inhabited], Fraction(scale))
    groups: Integers = inhabited[inverted(weights, words(runs), words)]
    return groups, below_each(counts[groups], words)


@dataclass(frozen=True)
class Weights:
    """Weights of groups, count * e^(-gap / scale), for a scale above 0."""

    counts: Integers  # candidates of each group, at least 1, at most 2^62 - 1 in all
    gaps: NDArray[np.uint64]  # the distance of a score from the largest; 0 for at least one group
    scale: Fraction

    @classmethod
    def of(cls, scores: Integers, counts: Integers, scale: Fraction) -> Weights:
        return cls(counts, scores.max().astype(np.uint64) - scores.astype(np.uint64), scale)

    def rough_ends(self) -> tuple[Integers, int]:
        """Return the cumulative weights in some unit, below 2^62, and the slack: how far they can mislead.

        Write C_i for the sum of the first i weights, W for the sum of all n, D_i and V = D_n for the values returned in
        their place, r for any number in [k, k + 1) / 2^64, and x for V * (k / 2^64) in floating point, truncated. If x
        is above D_i by the slack or more, then r W > C_i; if it is below D_i by the slack or more, then r W < C_i.

        Proof, for n < 2^40, with u = 2^-53. IEEE 754 rounds each product with a relative error of at most u.
        (1) e^(-2^k / scale) is rounded to a float from a lower bound that is at most 2^-256 too low, so it is off by
        1.01 u, or it is 0 if it was below 2^-126. (2) The power of a gap is a product of at most 64 of these factors.
        Nonzero factors have exponents of less than 2 * 88 together, so nothing underflows. The power is off by less
        than 130 u, or it is 0 if it was below 2^-126. (3) Its product with the count, which is rounded to a float, is
        off by less than 133 u, or it is 0 if it was below count / 2^126. All weights taken for 0 are below 2^-64
        together, and W >= 1. (4) The unit is a power of two for which V lies between 2^59 and 2^62, as the sum behind
        it is off by at most n u. Truncating to whole units takes less than one off each weight, and their sums are
        exact. So D_i is off by less than (133 u + 2^-64) W in all, and n units. (5) x inherits the error of V, plus
        3 u V for two factors and one product that are rounded, 2^-64 V for the rest of r, and 1. The errors of D_i and
        x together are below 280 u V + 2 n + 2 < V / 2^44 + 2 n + 2, which is below the slack.
        """
        powers = np.ones(len(self.gaps))
        for place in range(int(self.gaps.max()).bit_length()):
            exponent = (1 << place) / self.scale
            factor = 0.0 if exponent > TOO_FAR else float(exponential(exponent, ROUGH_BITS)[0])
            np.multiply(powers, factor, out=powers, where=(self.gaps >> np.uint64(place) & np.uint64(1)).astype(bool))
        weights = self.counts * powers
        unit = math.frexp(weights.sum())[1] - 61
        ends = np.cumsum(np.ldexp(weights, -unit).astype(np.int64))
        return ends, (int(ends[-1]) >> 43) + 3 * len(ends)

    def ends(self, bits: int) -> tuple[list[int], list[int]]:
        """Return lower and upper bounds of the cumulative weights, in one unit.

        They are close enough for a uniform number of this length, unless it lies very close to a boundary.
        """
        precision = bits + SPARE_BITS
        low, high = exponential(1 / self.scale, precision)
        floor, ceiling = int(low * 2**precision), -int(-high * 2**precision // 1)
        counts, gaps = self.counts.tolist(), self.gaps.tolist()
        lows = (count * power_floor(floor, gap, precision) for count, gap in zip(counts, gaps, strict=True))
        highs = (count * power_ceiling(ceiling, gap, precision) for count, gap in zip(counts, gaps, strict=True))
        return list(accumulate(lows)), list(accumulate(highs))


def inverted(weights: Weights, drawn: NDArray[np.uint64], words: Words) -> Integers:
    ends, slack = weights.rough_ends()
    places = (drawn.astype(np.float64) * 2.0**-WORD * float(ends[-1])).astype(np.int64)
    last = len(ends) - 1
    found = np.minimum(np.searchsorted(ends, places, side="right"), last)
    is_above = (found == 0) | (places - ends[found - 1] >= slack)
    is_below = (found == last) | (ends[found] - places >= slack)
    for run in np.flatnonzero(~(is_above & is_below)):
        found[run] = exactly_inverted(weights, int(drawn[run]), words)
    return found


def exactly_inverted(weights: Weights, word: int, words: Words) -> int:
    """Find the group of a uniform number that begins with ``word``, in integers."""
    bits, uniform = WORD, word
    while True:
        lows, highs = weights.ends(bits)
        above = (uniform + 1) * highs[-1]
        found = min(bisect_left(lows, above, key=lambda low: low << bits), len(lows) - 1)
        if found == 0 or highs[found - 1] << bits <= uniform * lows[-1]:
            return found
        bits, uniform = bits + WORD, uniform << WORD | one_word(words)


def _require_candidates(scores: Integers, counts: Integers) -> None:
    problems = []
    if scores.shape != counts.shape or scores.ndim != 1:
        problems.append(f"{scores.shape} scores do not match {counts.shape} counts: each group has one of both")
    if scores.dtype != np.int64 or counts.dtype != np.int64:
        problems.append(f"scores of type {scores.dtype} and counts of type {counts.dtype} must be of type int64")
    elif (counts < 0).any():
        problems.append(f"{np.count_nonzero(counts < 0)} counts are below 0")
    elif not 0 < (candidates := counts.sum(dtype=object)) <= MAX_CANDIDATES:
        problems.append(f"there must be between 1 and 2^62 - 1 candidates, not {candidates}")
    if problems:
        raise ValueError("; ".join(problems))
