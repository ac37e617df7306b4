"""How much noise a charge buys, and whether what it buys costs no more than was paid."""

from __future__ import annotations

import math
from fractions import Fraction

from sqlanon.errors import BudgetError
from sqlanon.mechanisms.accountant import Charge
from sqlanon.model.budget import spelled

SMALLEST_SCALE = 2.0**-10
"""Noise that never shows, since e^(-1 / scale) is below 10^-444; a smaller scale would buy nothing."""

LARGEST_SCALE = 2**53
"""Noise that is still far from the end of 64-bit integers: the chance to reach it is below e^-500."""


def scale_for(epsilon: Fraction, sensitivity: int) -> float:
    """The scale of noise that costs ε where one individual can change what is noised by ``sensitivity``.

    It is the smallest float whose loss, rounded up to a float as OpenDP's privacy map does, is at most ε exactly:
    10 is too little for ε = 1/10, since the float 0.1 is above 1/10. Every source draws at this scale and thresholds
    are computed for it, so that what is proven of one is true of the other to the last bit.

    Raises:
        BudgetError: ε is 0, or so small that the noise would not fit 64-bit integers.
        ValueError: the sensitivity is below 1.
    """
    if sensitivity < 1:
        raise ValueError(f"a sensitivity of {sensitivity} is not 1 or more")
    if epsilon == 0:
        raise BudgetError("nothing can be drawn", ["ε is 0: only what looks at no data costs nothing"])
    if sensitivity > epsilon * LARGEST_SCALE:
        small = f"ε = {spelled(epsilon)} is too small for a sensitivity of {sensitivity}"
        raise BudgetError("nothing can be drawn", [f"{small}: the noise would not fit 64-bit integers"])
    scale = max(SMALLEST_SCALE, _rounded_up(sensitivity / epsilon))
    while Fraction(_rounded_up(sensitivity / Fraction(scale))) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return scale


def difference_sensitivity(sensitivity: int, *, monotonic: bool) -> int:
    """By how much one individual can change the difference between two scores.

    That is what a choice between them costs: candidate i is chosen if its noise is t = max_j (q_j - q_i + noise_j) or
    more, and t moves by no more than the differences q_j - q_i do. In general one score rises and another falls. If
    scores are monotonic, none falls where a row is added, so that both rise by 0 to ``sensitivity``.
    """
    return sensitivity if monotonic else 2 * sensitivity


def require_covered(charge: Charge, loss: float | Fraction) -> None:
    """Refuse a draw that costs more than was paid for it; a float is compared as the number that it is.

    Raises:
        BudgetError: the loss is greater than the charge's ε.
    """
    if math.isinf(loss) or Fraction(loss) > charge.budget.epsilon:
        raise BudgetError(
            f"{charge.purpose}: nothing is drawn",
            [f"it would cost ε = {float(loss):.17g}, but {spelled(charge.budget.epsilon)} was paid"],
        )


def _rounded_up(number: Fraction) -> float:
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)
