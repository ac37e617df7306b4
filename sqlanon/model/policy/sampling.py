"""k, β and δ of published classes of a sample: what is claimed, what is admissible, and the third of the three."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from sqlanon.model.budget import as_float

CLAIMED = Context(prec=4, rounding=ROUND_CEILING)
"""δ is claimed in four digits, rounded up."""

WITHIN = Decimal("1e-6")
"""How far a computed δ may be below the true one, as a share of it: tails of many rows are not much more precise."""

LEAST_DELTA = Decimal("1e-300")
"""What is claimed of a δ that may be too small for a float."""

DIGITS = Context(prec=60)


@dataclass(frozen=True)
class Sampling:
    """How a table is sampled, which classes of the sample are published, and what that costs besides ε.

    Attributes:
        k: the least number of rows of a class that is published.
        beta: the probability with which each row is in the sample.
        delta: δ.
    """

    k: int
    beta: Fraction
    delta: Fraction


def claimed_delta(found: float, limit: Fraction | None = None) -> Fraction:
    """A δ as it is claimed: no less than it is, in four digits or, if these are more, at a limit that it is within."""
    most = max(Decimal(found) * (1 + WITHIN), LEAST_DELTA)
    claimed = Fraction(CLAIMED.plus(most))
    return claimed if limit is None or limit < Fraction(most) else min(claimed, limit)


def is_admissible(beta: Fraction, epsilon: Fraction) -> bool:
    """Whether ε >= -ln(1 - β), exactly: e^-ε, which is irrational, is known to 60 digits."""
    exponent = DIGITS.divide(Decimal(-epsilon.numerator), Decimal(epsilon.denominator))
    return Fraction(DIGITS.exp(exponent).next_plus(DIGITS).next_plus(DIGITS)) <= 1 - beta


@lru_cache(maxsize=256)
def solved(k: int | None, beta: Fraction | None, delta: Fraction | None, epsilon: Fraction, *, tight: bool) -> Sampling:
    """All three of k, β and δ, of which two are given at least.

    Raises:
        PolicyError: no k, or no β, costs as little as δ.
    """
    # It brings numpy, which a command does not wait for.
    from sqlanon.model import sampled_classes

    spent = as_float(epsilon)
    if delta is not None:
        limit = as_float(delta) * (1 - 2 * float(WITHIN))
        if beta is None:
            assert k is not None
            beta = sampled_classes.maximum_beta(k, spent, limit, tight=tight)
            if not is_admissible(beta, epsilon):
                beta -= Fraction(1, sampled_classes.SHARES)
        if k is None:
            k = sampled_classes.minimum_k(as_float(beta), spent, limit, tight=tight)
    assert k is not None
    assert beta is not None
    found: float = sampled_classes.delta(k, as_float(beta), spent, tight=tight)
    return Sampling(k, beta, claimed_delta(found, delta))
