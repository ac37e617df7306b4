"""Probabilities as precise as they are asked for, and draws by them from uniform words: no float decides either."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

Interval = tuple[Fraction, Fraction]  # the least and the greatest that a number can be

DIGITS_PER_BIT = Fraction(30103, 100000)
MIN_BITS = 64


class Refinable(Hashable, Protocol):
    """A probability with no finite digits, such as one made of powers of e."""

    def bounds(self, bits: int) -> Interval:
        """Two numbers in [0, 1], no further apart than 2^-bits, with the probability between them."""


Probability = Fraction | Refinable


@dataclass(frozen=True)
class Complement:
    """The probability of the opposite."""

    of: Refinable

    # guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
    def bounds(self, bits: int) -> Interval:
        low, high = self.of.bounds(bits)
        return 1 - high, 1 - low


def bounds(probability: Probability, bits: int) -> Interval:
    """Two numbers in [0, 1], no further apart than 2^-bits, with the probability between them."""
    return (probability, probability) if isinstance(probability, Fraction) else probability.bounds(bits)


def complement(probability: Probability) -> Probability:
    """The probability of the opposite."""
    return 1 - probability if isinstance(probability, Fraction) else Complement(probability)


# guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
def is_at_most(probability: Probability, limit: Fraction) -> bool:
    """Whether a probability is at most a limit; an irrational one never equals it, so that this ends."""
    if isinstance(probability, Fraction):
        return probability <= limit
    for bits in (MIN_BITS << doublings for doublings in count()):
        low, high = probability.bounds(bits)
        if high <= limit:  # no mutants: more bits decide the same
            return True
        if low > limit:  # no mutants: more bits decide the same
            return False
    raise AssertionError("precision has no end")  # no mutants: never reached


def require_probability(probability: Probability) -> None:
    """Refuse a fraction outside of [0, 1]."""
    if isinstance(probability, Fraction) and not 0 <= probability <= 1:
        raise ValueError(f"{probability} is not a probability: it must lie between 0 and 1")


# guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
def exponential(exponent: Fraction, bits: int) -> Interval:
    """Bounds of e^-x for x >= 0, no further apart than 2^-bits.

    Python documents ``Decimal.exp`` as correctly rounded, so its neighbours enclose what it stands for.
    """
    if exponent > bits:  # no mutants: a shortcut
        return Fraction(0), Fraction(1, 2**bits)  # no mutants: a shortcut
    digits = int(bits * DIGITS_PER_BIT) + len(str(bits)) + 4  # no mutants: digits to spare
    least, most = (_quotient(-exponent, digits, rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    context = _context(digits, ROUND_FLOOR)
    low, high = least.exp(context).next_minus(context), most.exp(context).next_plus(context)
    return max(Fraction(low), Fraction(0)), min(Fraction(high), Fraction(1))


def power_floor(base: int, exponent: int, precision: int) -> int:
    """At most (base / 2^precision)^exponent, as a multiple of 2^-precision."""
    power, square = 1 << precision, base
    while exponent:
        if exponent & 1:
            power = power * square >> precision
        square = square * square >> precision
        exponent >>= 1
    return power


def power_ceiling(base: int, exponent: int, precision: int) -> int:
    """At least (base / 2^precision)^exponent, as a multiple of 2^-precision."""
    power, square = 1 << precision, base
    while exponent:
        if exponent & 1:
            power = -(-power * square >> precision)
        square = -(-square * square >> precision)
        exponent >>= 1
    return power


def _quotient(number: Fraction, digits: int, rounding: str) -> Decimal:
    return _context(digits, rounding).divide(Decimal(number.numerator), Decimal(number.denominator))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)


Words = Callable[[int], NDArray[np.uint64]]  # returns the given number of independent uniform words

WORD = 64
WORDS_AT_ONCE = 1 << 17
MAX_POPULATION = 2**63

LARGEST_MEAN = 64  # binomials are drawn in parts of no larger mean, since the table of a part is about as long

# Bounds of P(B <= 0), P(B <= 1), ... from below and from above, as multiples of 2^-bits.
Cumulative = tuple[list[int], list[int]]


def one_word(words: Words) -> int:
    """A uniform number below 2^64."""
    return int(words(1)[0])


def uniforms(size: int, words: Words) -> Floats:
    """The middles of 2^52 equal parts of (0, 1): never 0, never 1."""
    return ((words(size) >> np.uint64(WORD - 52)).astype(np.float64) + 0.5) * 2.0**-52


def thinned(counts: Integers, probability: Fraction, words: Words) -> Integers:
    """Thin counts: a unit stays if a word of its own is below ⌊2^64 * probability⌋.

    Rounded down, as fewer units that stay never cost more. The units lie one after the other, count after count, and
    are looked at in portions, so that memory is bounded.
    """
    require_probability(probability)
    if (counts < 0).any():
        raise ValueError("a count below 0 has no units to keep")
    limit = int(probability * 2**WORD)
    if limit == 2**WORD:
        return counts.astype(np.int64)
    ends = np.cumsum(counts, dtype=np.int64)
    units = int(ends[-1]) if len(ends) else 0
    kept_until_end = np.zeros(len(ends), dtype=np.int64)
    kept_before = 0
    for start in range(0, units, WORDS_AT_ONCE):
        stop = min(start + WORDS_AT_ONCE, units)
        kept = kept_before + np.cumsum(words(stop - start) < np.uint64(limit))
        first, last = np.searchsorted(ends, [start, stop], side="right")
        kept_until_end[first:last] = kept[ends[first:last] - start - 1]
        kept_before = int(kept[-1])
    return np.diff(kept_until_end, prepend=0)


def chosen(population: int, count: int, words: Words) -> Integers:
    """``count`` different numbers below ``population``, ascending: the first different ones of a uniform sequence.

    Of more than half of the population, those that stay behind are drawn instead.
    """
    if not 0 <= count <= population <= MAX_POPULATION:
        raise ValueError(f"cannot choose {count} of {population}: at most all, and of at most 2^63")
    if 2 * count > population:
        left = np.ones(population, dtype=np.bool_)
        left[chosen(population, population - count, words)] = False
        return np.flatnonzero(left)
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        drawn = np.concatenate([found, _below(population, count - len(found), words)])
        found = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return np.sort(found)


def sampled(weights: Integers, size: int, words: Words) -> Integers:
    """``size`` positions, each with a probability of its weight / the sum of all: where a uniform number falls."""
    if (weights < 0).any() or not 0 < weights.sum(dtype=object) <= MAX_POPULATION - 1:
        raise ValueError("weights are whole numbers of 0 or more, with a sum of 1 to 2^63 - 1")
    ends = np.cumsum(weights, dtype=np.int64)
    return np.searchsorted(ends, _below(int(ends[-1]), size, words), side="right")


def below_each(populations: Integers, words: Words) -> Integers:
    """A uniform number below each population of 1 to 2^63 - 1, as :func:`_below` makes them."""
    limits = populations.astype(np.uint64)
    masks = limits - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):  # so that all bits below the highest are set
        masks |= masks >> np.uint64(shift)
    found = words(len(limits)) & masks
    while len(large := np.flatnonzero(found >= limits)):
        found[large] = words(len(large)) & masks[large]
    return found.astype(np.int64)


def _below(population: int, size: int, words: Words) -> Integers:
    """Uniform numbers below ``population``: the lowest bits of words, drawn again where they are too large."""
    mask = np.uint64((1 << (population - 1).bit_length()) - 1)
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        drawn = words(size - len(found)) & mask
        found = np.concatenate([found, drawn[drawn < np.uint64(population)].astype(np.int64)])
    return found


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
    successes = np.zeros(runs, dtype=np.int64)
    for part, drawn_parts in ((size, parts - larger), (size + 1, larger)):
        drawn = [_successes(part, probability, word, words) for word in words(runs * drawn_parts).tolist()]
        successes += np.array(drawn, dtype=np.int64).reshape(runs, drawn_parts).sum(axis=1)
    return successes


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
