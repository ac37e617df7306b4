"""Scales of noise: the smallest that cost no more than a charge, exactly, and ρ-zCDP as (ε, δ).

Zero-concentrated differential privacy (Bun & Steinke 2016) adds up in ρ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import BudgetError
from sqlanon.model.budget import Budget, spelled

SMALLEST_SCALE = 2.0**-10  # noise that never shows, since e^(-1 / scale) is below 10^-444: less would buy nothing
RHO_ROUNDING = Fraction(1, 2**48)  # more than what OpenDP rounds the cost of a draw up by, as a share of it
LARGEST_SCALE = 2**53  # noise that is still far from the end of 64-bit integers: the chance to reach it is below e^-500

Floats = NDArray[np.float64]

ORDERS = np.linspace(-16.0, 64.0, 1281)  # the logarithms of α - 1 among which the best order α is looked for first

REFINEMENTS = 6  # searches for the best order between its neighbours: each time the distance falls to a 640th
ROUNDING = 1e-13  # more than what rounding can change in a conversion, as a share of the largest of its terms


# guarded: tests/unit/test_discrete_laplace.py::TestScales
def scale_for(epsilon: Fraction, sensitivity: int) -> float:
    """The scale of noise that costs ε where one individual can change what is noised by ``sensitivity``.

    It is the smallest float whose loss, rounded up to a float as OpenDP's privacy map does, is at most ε exactly:
    10 is too little for ε = 1/10, since the float 0.1 is above 1/10. Every source draws at this scale and thresholds
    are computed for it, so that what is proven of one is true of the other to the last bit.

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
    """By how much one individual can change the difference between two scores.

    That is what a choice between them costs: candidate i is chosen if its noise is t = max_j (q_j - q_i + noise_j) or
    more, and t moves by no more than the differences q_j - q_i do. In general one score rises and another falls. If
    scores are monotonic, none falls where a row is added, so that both rise by 0 to ``sensitivity``.
    """
    return sensitivity if monotonic else 2 * sensitivity


# guarded: tests/unit/test_zcdp.py::TestScales
@lru_cache(maxsize=256)
def scale_in_rho(rho: Fraction, sensitivity: int) -> float:
    """The scale of discrete Gaussian noise, or of the Gumbel noise of a choice, that costs ρ.

    Noise of scale σ costs sensitivity² / (2 σ²) where one individual changes what is noised by the sensitivity in L2
    norm (Canonne, Kamath & Steinke 2020). So does a choice with Gumbel noise of scale σ, whose scores one
    individual changes by the sensitivity: it has a bounded range of 2 * sensitivity / σ, hence costs an eighth of its
    square (Dong, Durfee & Rogers 2020; Cesar & Rogers 2021). It is about the
    smallest float whose cost is at most ρ, however OpenDP rounds it up.

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
    """Return the exact cost of a draw at a scale: see :func:`scale_in_rho`."""
    return sensitivity**2 / (2 * Fraction(scale) ** 2)


def _rounded_up(number: Fraction) -> float:
    """The smallest float that is not below a number."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


# guarded: tests/unit/test_discrete_laplace.py::TestScales
def _refuse_no_sensitivity(sensitivity: int) -> None:
    if sensitivity < 1:
        raise ValueError(f"a sensitivity of {sensitivity} is not 1 or more")


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
    """Return by how much δ lets ε be below αρ at orders α, given as the logarithms of α - 1; rounded down.

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
