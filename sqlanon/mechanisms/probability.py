"""Probabilities as precise as they are asked for: no float decides a guarantee or an exact draw."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import count
from typing import Protocol

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
    """Refuse a fraction outside of [0, 1].

    Raises:
        ValueError: it is below 0 or above 1.
    """
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
