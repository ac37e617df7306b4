"""Scales of noise, the smallest that cost no more than a charge; ρ-zCDP (Bun & Steinke 2016) as (ε, δ); thresholds.

The discrete Laplace distribution has P(Z = z) = (1 - a) / (1 + a) * a^|z| for whole z, with a = exp(-1 / scale), and
P(Z >= m) = a^m / (1 + a) for m >= 0. Decisions compare exact bounds of it, never floats, at the scale of the draws.

The δ of a threshold is computed here, not by OpenDP's ``make_laplace_threshold``: its map gives P(Z >= τ) for a count
that appears out of nothing, but that count is already 1 and is published if 1 + Z >= τ. This has probability
P(Z >= τ - 1), which is e^ε times as large (OpenDP 0.16, its issue 2922: scale 1/0.6 and τ = 24 map to 3.6e-7, and the
true value is 6.6e-7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance.exact import Interval, Probability, exponential, is_at_most
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
        BudgetError: ε or δ is 0, so that zCDP guarantees nothing, or both are too small to be converted.
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


@dataclass(frozen=True)
class Tail:
    """P(Z >= least), for discrete Laplace noise Z."""

    scale: Fraction
    least: int

    # guarded: tests/unit/test_discrete_laplace.py::TestProbabilities
    def bounds(self, bits: int) -> Interval:
        # Z is symmetric: P(Z >= m) = 1 - P(Z >= 1 - m)
        if self.least <= 0:  # no mutants: both are the same at 0
            low, high = Tail(self.scale, 1 - self.least).bounds(bits)
            return 1 - high, 1 - low
        low_base, high_base = exponential(1 / self.scale, bits + 2)  # no mutants: digits to spare
        low, high = exponential(self.least / self.scale, bits + 2)  # no mutants: digits to spare
        return low / (1 + high_base), high / (1 + low_base)


# guarded: tests/unit/test_discrete_laplace.py::TestThresholds
def threshold(epsilon: Fraction, delta: Fraction, *, rows: int = 1) -> int:
    """Return the smallest count to publish, so that cells that weren't listed beforehand cost no more than δ.

    Noise of scale ``rows`` / ε, as a source draws at sensitivity ``rows``, is added to the nonempty cells, and noisy
    counts that reach the threshold are published. An individual owns up to ``rows`` rows, in any cells. Without the
    individual such a cell may be empty, and is not published; with x of these rows, it is published with probability
    P(x + Z >= τ). The result is the smallest τ >= ``rows`` for which P(``rows`` + Z >= τ) <= δ and
    ``rows`` * P(1 + Z >= τ) <= δ.

    Proof. Write c for ``rows``, b for 1 / a, and let the individual's rows in otherwise empty cells be x_1, ..., x_d,
    each 1 or more, at most c together. (1) By the union bound, any of these cells is published with probability at
    most q = Σ P(Z >= τ - x_i). As τ >= c, each term is K * b^x_i with one K > 0. A sum of convex functions of x_i >= 1
    with a given sum s is greatest where all but one x_i are 1, that is (d - 1) * b + b^(s - d + 1), which grows with s
    and is convex in d: it is greatest for s = c and d = 1 or d = c. So q <= max(P(c + Z >= τ), c * P(1 + Z >= τ)) <= δ.
    (2) The rows in cells that aren't empty without them change counts by at most c in all, at a loss of at most ε with
    noise of scale c / ε, whatever is done with the noisy counts. (3) Let S be any set of outcomes, N the event that
    none of the otherwise empty cells is published. With the individual, P'(S) <= P'(S, N) + q <= e^ε P(S) + q.
    Without, P(S) <= (1 - q') P(S) + q' for the chance q' <= q of the complement of N, and (1 - q') P(S) <=
    e^ε P'(S, N) <= e^ε P'(S). For one row this is 1 + max(0, ⌈ln(1 / (δ (1 + a))) / ε⌉).

    Args:
        epsilon: the cost of the noisy counts, for all rows of an individual together.
        delta: the greatest chance that a cell with only one individual is published, above 0.
        rows: the maximum number of rows of an individual.

    Raises:
        BudgetError: ε is 0, or too small to draw at.
        ValueError: δ is 0, which no threshold can meet, or ``rows`` is below 1.
    """
    if delta <= 0:
        raise ValueError("no threshold has δ = 0: publish noisy counts of all cells of a public domain instead")
    scale = Fraction(scale_for(epsilon, rows))
    return _smallest(
        rows,
        lambda least: is_at_most(Tail(scale, least - rows), delta) and is_at_most(Tail(scale, least - 1), delta / rows),
    )


# guarded: tests/unit/test_discrete_laplace.py::TestThresholds
def pure_threshold(cells: int, epsilon: Fraction, *, rows: int = 1) -> int:
    """Return the smallest positive count to publish that lets at most one of ``cells`` empty cells through on average.

    It serves noise on every cell of a public domain, which costs no δ at any threshold.

    Raises:
        BudgetError: ε is 0, or too small to draw at.
        ValueError: ``cells`` or ``rows`` is below 1.
    """
    if cells < 1:
        raise ValueError(f"a domain of {cells} cells has nothing to publish")
    scale = Fraction(scale_for(epsilon, rows))
    return _smallest(1, lambda least: is_at_most(Tail(scale, least), Fraction(1, cells)))


def empty_cell_probability(threshold: int, epsilon: Fraction, *, rows: int = 1) -> Probability:
    """Return the chance that the noise of an empty cell reaches a threshold, at the scale of the draws.

    Raises:
        BudgetError: ε is 0, or too small to draw at.
        ValueError: ``rows`` is below 1.
    """
    return Tail(Fraction(scale_for(epsilon, rows)), threshold)


def _smallest(least: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest number from ``least`` up that ``holds``, which never turns false again."""
    step = 1
    while not holds(least + step - 1):
        step *= 2
    low, high = least + step // 2, least + step - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
