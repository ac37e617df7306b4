"""How much noise a charge buys: the smallest scales that cost no more, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from sqlanon.errors import BudgetError
from sqlanon.model.budget import spelled

SMALLEST_SCALE = 2.0**-10
"""Noise that never shows, since e^(-1 / scale) is below 10^-444; a smaller scale would buy nothing."""

RHO_ROUNDING = Fraction(1, 2**48)
"""More than what OpenDP rounds the cost of a draw up by, as a share of it."""

LARGEST_SCALE = 2**53
"""Noise that is still far from the end of 64-bit integers: the chance to reach it is below e^-500."""


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
        raise BudgetError("nothing can be drawn", ["ε is 0: only what looks at no data costs nothing"])
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
        raise BudgetError("nothing can be drawn", ["ρ is 0: only what looks at no data costs nothing"])
    if sensitivity**2 > 2 * rho * LARGEST_SCALE**2:
        small = f"ρ = {float(rho):.6g} is too small for a sensitivity of {sensitivity}"
        raise BudgetError("nothing can be drawn", [f"{small}: the noise would not fit 64-bit integers"])
    scale = max(SMALLEST_SCALE, sensitivity / math.sqrt(2 * rho))
    while cost_in_rho(scale, sensitivity) * (1 + RHO_ROUNDING) > rho:
        scale = math.nextafter(scale, math.inf)
    return scale


# guarded: tests/unit/test_zcdp.py::TestScales
def cost_in_rho(scale: float, sensitivity: int) -> Fraction:
    """What a draw at a scale costs, exactly: see :func:`scale_in_rho`."""
    return sensitivity**2 / (2 * Fraction(scale) ** 2)


def _rounded_up(number: Fraction) -> float:
    """The smallest float that is not below a number."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


# guarded: tests/unit/test_discrete_laplace.py::TestScales
def _refuse_no_sensitivity(sensitivity: int) -> None:
    if sensitivity < 1:
        raise ValueError(f"a sensitivity of {sensitivity} is not 1 or more")
