"""Scales of noise, the smallest that cost no more than a charge, and ρ-zCDP (Bun & Steinke 2016) as (ε, δ)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import BudgetError
from sqlanon.model.budget import Budget, spelled

SMALLEST_SCALE = 2.0**-10  # its noise never shows, since e^(-1 / scale) is below 10^-444
RHO_ROUNDING = Fraction(1, 2**48)  # a relative bound for OpenDP's rounding of the cost of a draw
LARGEST_SCALE = 2**53  # its noise leaves 64-bit integers with a probability below e^-500

Floats = NDArray[np.float64]

ORDERS = np.linspace(-16.0, 64.0, 1281)  # the grid of ln(α - 1) where the search for the best order α starts

REFINEMENTS = 6  # of the grid around its best order, each 640 times as fine
ROUNDING = 1e-13  # a bound for the rounding error of a conversion, relative to its largest term


# guarded: tests/unit/test_discrete_laplace.py::TestScales
def scale_for(epsilon: Fraction, sensitivity: int) -> float:
    """Return the scale of noise that costs ε where one individual changes the noised value by ``sensitivity``.

    It is the smallest float whose loss, rounded up to a float by OpenDP's privacy map, is at most ε exactly: 10 is too
    small for ε = 1/10, since the float 0.1 is above 1/10. Sources draw at this scale and thresholds are computed for
    it, so proofs about thresholds hold for draws to the last bit.

    Raises:
        BudgetError: ε is 0, or so small that the noise would not fit 64-bit integers.
        ValueError: the sensitivity is below 1.
    """
    _refuse_no_sensitivity(sensitivity)
    if epsilon == 0:
        raise BudgetError("nothing can be drawn", ["ε must be above 0"])
    if sensitivity > epsilon * LARGEST_SCALE:
        small = f"ε = {spelled(epsilon)} is too small for a sensitivity of {sensitivity}"
        raise BudgetError("nothing can be drawn", [f"{small}: the noise would not fit 64-bit integers"])
    scale = max(SMALLEST_SCALE, _rounded_up(sensitivity / epsilon))
    while Fraction(_rounded_up(sensitivity / Fraction(scale))) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return scale


# guarded: tests/unit/test_discrete_laplace.py::TestScales
def difference_sensitivity(sensitivity: int, *, monotonic: bool) -> int:
    """Return how far one individual can change the difference between two scores.

    It determines the cost of a choice: candidate i is chosen if its noise is t = max_j (q_j - q_i + noise_j) or more,
    and t moves no further than the differences q_j - q_i. In general one score rises and another falls. Monotonic
    scores never fall when a row is added, so both rise by 0 to ``sensitivity``.
    """
    return sensitivity if monotonic else 2 * sensitivity


# guarded: tests/unit/test_zcdp.py::TestScales
@lru_cache(maxsize=256)
def scale_in_rho(rho: Fraction, sensitivity: int) -> float:
    """Return the scale of discrete Gaussian noise, or of the Gumbel noise of a choice, that costs ρ.

    Noise of scale σ costs sensitivity² / (2 σ²) where one individual changes the noised vector by the sensitivity in
    L2 norm (Canonne, Kamath & Steinke 2020). So does a choice with Gumbel noise of scale σ between scores of this
    sensitivity: its bounded range is 2 * sensitivity / σ, and it costs an eighth of the square of that (Dong, Durfee &
    Rogers 2020; Cesar & Rogers 2021). The result is about the smallest float whose cost, rounded up by OpenDP, is at
    most ρ.

    Raises:
        BudgetError: ρ is 0, or so small that the noise would not fit 64-bit integers.
        ValueError: the sensitivity is below 1.
    """
    _refuse_no_sensitivity(sensitivity)
    if rho <= 0:
        raise BudgetError("nothing can be drawn", ["ρ must be above 0"])
    if sensitivity**2 > 2 * rho * LARGEST_SCALE**2:
        small = f"ρ = {float(rho):.6g} is too small for a sensitivity of {sensitivity}"
        raise BudgetError("nothing can be drawn", [f"{small}: the noise would not fit 64-bit integers"])
    scale = max(SMALLEST_SCALE, sensitivity / math.sqrt(2 * rho))
    while cost_in_rho(scale, sensitivity) * (1 + RHO_ROUNDING) > rho:
        scale = math.nextafter(scale, math.inf)
    return scale


# guarded: tests/unit/test_zcdp.py::TestScales
def cost_in_rho(scale: float, sensitivity: int) -> Fraction:
    """Return the exact cost of a draw at a scale, by :func:`scale_in_rho`."""
    return sensitivity**2 / (2 * Fraction(scale) ** 2)


def _rounded_up(number: Fraction) -> float:
    """Return the smallest float that is not below a number."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


# guarded: tests/unit/test_discrete_laplace.py::TestScales
def _refuse_no_sensitivity(sensitivity: int) -> None:
    if sensitivity < 1:
        raise ValueError(f"sensitivity must be 1 or more, not {sensitivity}")


# guarded: tests/unit/test_zcdp.py
# no mutants of rho <= 0: no float is just there
def rho_of(budget: Budget) -> Fraction:
    """Return the largest ρ, up to rounding, such that ρ-zCDP implies (ε, δ)-differential privacy.

    By Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for Differential Privacy", it does if, for some order
    α > 1, δ is at least e^((α - 1)(αρ - ε)) / (α - 1) * (1 - 1/α)^α. Any α is a proof, so one that is not quite the
    best costs a little of ρ, and no privacy.

    Raises:
        BudgetError: ε or δ is 0, for which zCDP guarantees nothing, or both are too small to be converted.
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
    """Return the smallest ε, up to rounding, such that ρ-zCDP implies (ε, δ)-differential privacy, for δ above 0."""
    epsilon = -_highest(lambda orders: _room(orders, delta) - _alpha(orders) * float(rho))
    return max(0.0, epsilon * (1 + ROUNDING))


def _alpha(orders: Floats) -> Floats:
    return 1 + np.exp(orders)


def _room(orders: Floats, delta: Fraction) -> Floats:
    """Return (ln δ + ln(α - 1) - α ln(1 - 1/α)) / (α - 1), rounded down, at orders given as ln(α - 1).

    By this much δ lets ε be below αρ.
    """
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    last = _alpha(orders) * np.logaddexp(0.0, -orders)
    rounding = ROUNDING * (abs(log_delta) + np.abs(orders) + last)
    room: Floats = (log_delta + orders + last - rounding) / np.exp(orders)
    return room


def _highest(function: Callable[[Floats], Floats]) -> float:
    """Return the maximum of a function of the order that rises and then falls."""
    orders = ORDERS
    for _ in range(REFINEMENTS):
        best = int(np.argmax(function(orders)))
        orders = np.linspace(orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)], len(orders))
    return float(np.max(function(orders)))
