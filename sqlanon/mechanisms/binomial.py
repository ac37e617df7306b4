"""Binomial numbers, exactly: also of 10^15 trials with a probability that has no finite digits."""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sqlanon.mechanisms.probability import (
    MIN_BITS,
    Probability,
    bounds,
    complement,
    power_ceiling,
    power_floor,
    require_probability,
)
from sqlanon.mechanisms.source import Integers
from sqlanon.mechanisms.words import WORD, Words, one_word

LARGEST_MEAN = 64
"""Binomials are drawn in parts of no larger mean, since the table of a part is about as long."""

Cumulative = tuple[list[int], list[int]]
"""Bounds of P(B <= 0), P(B <= 1), ... from below and from above, as multiples of 2^-bits."""


def binomial(trials: int, probability: Probability, runs: int, words: Words) -> Integers:
    """The number of trials that succeed, exactly; shape (runs,).

    By inversion: a uniform number is drawn bit after bit until bounds of the cumulative probabilities settle where it
    falls. Sums of independent parts keep the tables short, so a draw takes time in proportion to its mean.
    """
    require_probability(probability)
    if trials < 0:
        raise ValueError(f"{trials} trials are fewer than none")
    if bounds(probability, MIN_BITS)[0] > Fraction(1, 2):
        return trials - binomial(trials, complement(probability), runs, words)
    most_likely = bounds(probability, MIN_BITS + trials.bit_length())[1]
    parts = 1 + int(trials * most_likely / LARGEST_MEAN)
    size, larger = divmod(trials, parts)
    draws = [
        _inverted(size, (runs, parts - larger), probability, words),
        _inverted(size + 1, (runs, larger), probability, words),
    ]
    successes: Integers = np.concatenate(draws, axis=1).sum(axis=1)
    return successes


def _inverted(trials: int, shape: tuple[int, int], probability: Probability, words: Words) -> Integers:
    successes = [_successes(trials, probability, word, words) for word in words(math.prod(shape)).tolist()]
    return np.array(successes, dtype=np.int64).reshape(shape)


def _successes(trials: int, probability: Probability, word: int, words: Words) -> int:
    """The outcome of a uniform number that begins with this word."""
    bits, uniform = WORD, word
    while True:
        low, high = cumulative_bounds(trials, probability, bits)
        found = bisect_left(low, uniform + 1)
        if found < len(low) and (found == 0 or high[found - 1] <= uniform):
            return found
        bits, uniform = bits + WORD, uniform << WORD | one_word(words)


@lru_cache(maxsize=16)
def cumulative_bounds(trials: int, probability: Probability, bits: int) -> Cumulative:
    """Bounds as exact as a uniform number of ``bits`` bits; complete unless the last entry is below 1.

    P(B <= k) falls as the probability rises: its bounds are those of the greatest and of the least it can be.
    """
    precision = 2 * bits + trials.bit_length() + 4 * LARGEST_MEAN
    one = 1 << precision
    low, high = bounds(probability, precision)
    rare, often = int(low * one), -(-high * one // 1)
    mass_low, mass_high = power_floor(one - often, trials, precision), power_ceiling(one - rare, trials, precision)
    sum_low = sum_high = 0
    lows, highs = list[int](), list[int]()
    shift = precision - bits
    for successes in range(trials):
        sum_low, sum_high = sum_low + mass_low, min(one, sum_high + mass_high)
        lows.append(sum_low >> shift)
        highs.append(-(-sum_high >> shift))
        if lows[-1] >= (1 << bits) - 1:
            return lows, highs
        left, following = trials - successes, successes + 1
        mass_low = mass_low * left * often // (following * (one - often))
        mass_high = -(-mass_high * left * rare // (following * (one - rare)))
    return [*lows, 1 << bits], [*highs, 1 << bits]
