"""Zero-concentrated differential privacy (Bun & Steinke 2016): ρ as (ε, δ), and (ε, δ) as ρ."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import BudgetError
from sqlanon.model.budget import Budget

Floats = NDArray[np.float64]

ORDERS = np.linspace(-16.0, 64.0, 1281)
"""The logarithms of α - 1 among which the best order α is looked for first."""

REFINEMENTS = 6
"""How often the best order is looked for between its neighbours: each time the distance falls to a 640th."""

ROUNDING = 1e-13
"""More than what rounding can change in a conversion, as a share of the largest of its terms."""


# guarded: tests/unit/test_zcdp.py
# no mutants of rho <= 0: no float is just there
def rho_of(budget: Budget) -> Fraction:
    """The largest ρ, up to rounding, such that ρ-zCDP is (ε, δ)-differential privacy.

    By Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for Differential Privacy", it is where, for some order
    α > 1, δ is at least e^((α - 1)(αρ - ε)) / (α - 1) * (1 - 1/α)^α. Every α is proof enough, so that one that
    is not quite the best costs a little of ρ, and no privacy.

    Raises:
        BudgetError: ε or δ is 0, at which zCDP promises nothing.
    """
    if not budget.epsilon or not budget.delta:
        raise BudgetError("zero-concentrated privacy buys nothing", [f"{budget} has an ε or a δ of 0; give both"])
    epsilon = float(budget.epsilon) * (1 - ROUNDING)
    rho = _highest(lambda orders: (epsilon + _room(orders, budget.delta)) / _alpha(orders))
    if rho <= 0:
        raise BudgetError("zero-concentrated privacy buys nothing", [f"{budget} is too small to be converted"])
    return Fraction(rho * (1 - ROUNDING))


# guarded: tests/unit/test_zcdp.py
# no mutants of 1 + ROUNDING: rounding only
def epsilon_of(rho: Fraction, delta: Fraction) -> float:
    """The smallest ε, up to rounding, such that ρ-zCDP is (ε, δ)-differential privacy; see :func:`rho_of`.

    Args:
        rho: 0 or more.
        delta: above 0.
    """
    epsilon = -_highest(lambda orders: _room(orders, delta) - _alpha(orders) * float(rho))
    return max(0.0, epsilon * (1 + ROUNDING))


def _alpha(orders: Floats) -> Floats:
    return 1 + np.exp(orders)


def _room(orders: Floats, delta: Fraction) -> Floats:
    """What δ allows ε to be below αρ at orders α, given as the logarithms of α - 1; rounded down.

    It is (ln δ + ln(α - 1) - α ln(1 - 1/α)) / (α - 1).
    """
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    last = _alpha(orders) * np.logaddexp(0.0, -orders)
    rounding = ROUNDING * (abs(log_delta) + np.abs(orders) + last)
    room: Floats = (log_delta + orders + last - rounding) / np.exp(orders)
    return room


def _highest(function: Callable[[Floats], Floats]) -> float:
    """The highest value of a function of the order that rises and then falls."""
    orders = ORDERS
    for _ in range(REFINEMENTS):
        best = int(np.argmax(function(orders)))
        orders = np.linspace(orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)], len(orders))
    return float(np.max(function(orders)))
