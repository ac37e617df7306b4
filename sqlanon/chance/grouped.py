"""Choices between candidates that come in groups of equal score, exactly, however many they are."""

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
TOO_FAR = 88  # the exponent from which on e^-x is taken for 0 at first: it is below 2^-126 there
ROUGH_BITS = 256

# Bits of weights beyond the ones of the uniform number: as many as counts and gaps may have, and a word.
SPARE_BITS = 192


def grouped_choice(
    scores: Integers, counts: Integers, scale: float, runs: int, words: Words
) -> tuple[Integers, Integers]:
    """Draw a group, with a probability in proportion to count * e^(score / scale), and one of its candidates.

    By inversion: a uniform number is drawn word after word until bounds of the cumulative weights settle where it
    falls. Bounds of floats nearly always settle it at one word; otherwise integers do.
    """
    _require_candidates(scores, counts)
    inhabited = np.flatnonzero(counts)
    weights = Weights.of(scores[inhabited], counts[inhabited], Fraction(scale))
    groups: Integers = inhabited[inverted(weights, words(runs), words)]
    return groups, below_each(counts[groups], words)


@dataclass(frozen=True)
class Weights:
    """Of groups: count * e^(-gap / scale)."""

    counts: Integers  # how many candidates, 1 or more, no more than 2^62 - 1 in all
    gaps: NDArray[np.uint64]  # how far the score is below the largest, which is the score of some group
    scale: Fraction  # above 0

    @classmethod
    def of(cls, scores: Integers, counts: Integers, scale: Fraction) -> Weights:
        """The weights of scores, which may differ by up to 2^64 - 1."""
        return cls(counts, scores.max().astype(np.uint64) - scores.astype(np.uint64), scale)

    def rough_ends(self) -> tuple[Integers, int]:
        """The cumulative weights in some unit, below 2^62, and by how much they may mislead.

        Write C_i for the sum of the first i weights, W for that of all n, D_i and V = D_n for what is returned in their
        place, r for any number in [k, k + 1) / 2^64, and x for V * (k / 2^64) in floating point, cut to an integer. If
        x is above D_i by the slack or more, then r W > C_i; if it is below D_i by the slack or more, then r W < C_i.

        Proof, for n < 2^40, with u = 2^-53. IEEE 754 rounds each product to a number that is off by at most u, relative
        to it. (1) e^(-2^k / scale) is rounded to a float from a lower bound that is at most 2^-256 too low, so that it
        is off by 1.01 u, or it is 0 for what is below 2^-126. (2) The power of a gap is a product of at most 64 of
        them. Those that are not 0 have exponents of less than 2 * 88 together, so that nothing underflows. The power is
        off by less than 130 u, or it is 0 for what is below 2^-126. (3) Its product with the count, which is rounded to
        a float, is off by less than 133 u, or it is 0 for what is below count / 2^126. All that is taken for 0 is below
        2^-64 together, and W >= 1. (4) The unit is a power of two for which V is from 2^59 up to 2^62, as the sum that
        it is made of is off by n u at most. Cutting to whole units takes less than one off each weight, and their sums
        are exact. So D_i is off by less than (133 u + 2^-64) W in all, and n units. (5) x is off by what V is off by,
        by 3 u V for two factors and one product that are rounded, by 2^-64 V for the rest of r, and by 1. What D_i and
        x are off by together is below 280 u V + 2 n + 2 < V / 2^44 + 2 n + 2, and that is below the slack.
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
        """Bounds of the cumulative weights from below and from above, in one unit.

        They are as close as a uniform number of this length needs, unless it is very close to a boundary.
        """
        precision = bits + SPARE_BITS
        low, high = exponential(1 / self.scale, precision)
        floor, ceiling = int(low * 2**precision), -int(-high * 2**precision // 1)
        counts, gaps = self.counts.tolist(), self.gaps.tolist()
        lows = (count * power_floor(floor, gap, precision) for count, gap in zip(counts, gaps, strict=True))
        highs = (count * power_ceiling(ceiling, gap, precision) for count, gap in zip(counts, gaps, strict=True))
        return list(accumulate(lows)), list(accumulate(highs))


def inverted(weights: Weights, drawn: NDArray[np.uint64], words: Words) -> Integers:
    """Find the groups in which uniform numbers that begin with these words fall."""
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
    """Find the group in which a uniform number that begins with this word falls, by integers alone."""
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
        problems.append(f"{scores.shape} scores do not go with {counts.shape} counts: both have one for each group")
    if scores.dtype != np.int64 or counts.dtype != np.int64:
        problems.append(f"scores of type {scores.dtype} and counts of type {counts.dtype} are to be of type int64")
    elif (counts < 0).any():
        problems.append(f"{np.count_nonzero(counts < 0)} counts are below 0")
    elif not 0 < (candidates := counts.sum(dtype=object)) <= MAX_CANDIDATES:
        problems.append(f"{candidates} candidates are none, or more than 2^62 - 1")
    if problems:
        raise ValueError("; ".join(problems))
