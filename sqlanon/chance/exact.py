"""Probabilities to any precision, and draws by them from uniform words: no float decides either."""

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

Interval = tuple[Fraction, Fraction]  # a lower and an upper bound

DIGITS_PER_BIT = Fraction(30103, 100000)
MIN_BITS = 64


class Refinable(Hashable, Protocol):
    """A probability without finite digits, such as a power of e."""

    def bounds(self, bits: int) -> Interval:
        """Return two numbers in [0, 1] around the probability, at most 2^-bits apart."""


Probability = Fraction | Refinable


@dataclass(frozen=True)
class Complement:
    of: Refinable

    # guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
    def bounds(self, bits: int) -> Interval:
        low, high = self.of.bounds(bits)
        return 1 - high, 1 - low


def bounds(probability: Probability, bits: int) -> Interval:
    return (probability, probability) if isinstance(probability, Fraction) else probability.bounds(bits)


def complement(probability: Probability) -> Probability:
    return 1 - probability if isinstance(probability, Fraction) else Complement(probability)


# guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
def is_at_most(probability: Probability, limit: Fraction) -> bool:
    """Compare a probability with a limit; an irrational one never equals it, so this ends."""
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
    if isinstance(probability, Fraction) and not 0 <= probability <= 1:
        raise ValueError(f"{probability} is not a probability: it must lie between 0 and 1")


# guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
def exponential(exponent: Fraction, bits: int) -> Interval:
    """Return bounds of e^-x for x >= 0, at most 2^-bits apart.

    Python documents ``Decimal.exp`` as correctly rounded, so its neighbours enclose the true value.
    """
    if exponent > bits:  # no mutants: a shortcut
        return Fraction(0), Fraction(1, 2**bits)  # no mutants: a shortcut
    digits = int(bits * DIGITS_PER_BIT) + len(str(bits)) + 4  # no mutants: digits to spare
    least, most = (_quotient(-exponent, digits, rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    context = _context(digits, ROUND_FLOOR)
    low, high = least.exp(context).next_minus(context), most.exp(context).next_plus(context)
    return max(Fraction(low), Fraction(0)), min(Fraction(high), Fraction(1))


def power_floor(base: int, exponent: int, precision: int) -> int:
    """Return a lower bound of (base / 2^precision)^exponent, as a multiple of 2^-precision."""
    power, square = 1 << precision, base
    while exponent:
        if exponent & 1:
            power = power * square >> precision
        square = square * square >> precision
        exponent >>= 1
    return power


def power_ceiling(base: int, exponent: int, precision: int) -> int:
    """Return an upper bound of (base / 2^precision)^exponent, as a multiple of 2^-precision."""
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

LARGEST_MEAN = 64  # of a part of a binomial draw, whose table is about as long

# Lower and upper bounds of P(B <= 0), P(B <= 1), ..., as multiples of 2^-bits.
Cumulative = tuple[list[int], list[int]]


def one_word(words: Words) -> int:
    return int(words(1)[0])


def uniforms(size: int, words: Words) -> Floats:
    """Draw midpoints of 2^52 equal parts of (0, 1): never 0, never 1."""
    return ((words(size) >> np.uint64(WORD - 52)).astype(np.float64) + 0.5) * 2.0**-52


def thinned(counts: Integers, probability: Fraction, words: Words) -> Integers:
    """Thin counts: a unit stays if its word is below ⌊2^64 * probability⌋.

    Rounding down is safe, as fewer units never cost more. Units are laid end to end and read in portions, which bounds
    memory.
    """
    require_probability(probability)
    if (counts < 0).any():
        raise ValueError("counts must be 0 or more")
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
    """Draw ``count`` different numbers below ``population``, ascending: the first distinct ones of a uniform sequence.

    Above half of the population, the numbers to leave out are drawn instead.
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
    """Draw ``size`` positions with probabilities in proportion to their weights."""
    if (weights < 0).any() or not 0 < weights.sum(dtype=object) <= MAX_POPULATION - 1:
        raise ValueError("weights must be whole numbers of 0 or more, with a sum of 1 to 2^63 - 1")
    ends = np.cumsum(weights, dtype=np.int64)
    return np.searchsorted(ends, _below(int(ends[-1]), size, words), side="right")


def below_each(populations: Integers, words: Words) -> Integers:
    """Draw a uniform number below each population, from 1 to 2^63 - 1, in the way of :func:`_below`."""
    limits = populations.astype(np.uint64)
    masks = limits - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):  # so that all bits below the highest are set
        masks |= masks >> np.uint64(shift)
    found = words(len(limits)) & masks
    while len(large := np.flatnonzero(found >= limits)):
        found[large] = words(len(large)) & masks[large]
    return found.astype(np.int64)


def _below(population: int, size: int, words: Words) -> Integers:
    """Draw uniform numbers below ``population``: the lowest bits of words, drawn again where too large."""
    mask = np.uint64((1 << (population - 1).bit_length()) - 1)
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        drawn = words(size - len(found)) & mask
        found = np.concatenate([found, drawn[drawn < np.uint64(population)].astype(np.int64)])
    return found


def binomial(trials: int, probability: Probability, runs: int, words: Words) -> Integers:
    """Draw numbers of successes, exactly; shape (runs,).

    By inversion: a uniform number is drawn bit by bit until bounds of the cumulative probabilities settle where it
    falls. Sums of independent parts keep tables short, so a draw takes time in proportion to its mean.
    """
    require_probability(probability)
    if trials < 0:
        raise ValueError(f"trials must be 0 or more, not {trials}")
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
    """Return the outcome for a uniform number that begins with ``word``."""
    bits, uniform = WORD, word
    while True:
        low, high = cumulative_bounds(trials, probability, bits)
        found = bisect_left(low, uniform + 1)
        if found < len(low) and (found == 0 or high[found - 1] <= uniform):
            return found
        bits, uniform = bits + WORD, uniform << WORD | one_word(words)


@lru_cache(maxsize=16)
def cumulative_bounds(trials: int, probability: Probability, bits: int) -> Cumulative:
    """Return bounds as exact as a uniform number of ``bits`` bits; a table may end early, close enough to 1.

    P(B <= k) falls as the probability rises, so its bounds come from the upper and the lower bound of the probability.
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
