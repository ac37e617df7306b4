"""The discrete Laplace distribution: its exact probabilities, and the thresholds that make unseen cells private.

P(Z = z) = (1 - a) / (1 + a) * a^|z| for whole z, with a = exp(-1 / scale); P(Z >= m) = a^m / (1 + a) for m >= 0.

Decisions compare exact bounds, never floats, at the scale of the draws (:func:`scale_for`).

δ is computed here, not by OpenDP's ``make_laplace_threshold``: its map gives P(Z >= τ) for a count that appears out of
nothing, but that count is already 1 and is published if 1 + Z >= τ. This has probability P(Z >= τ - 1), which is e^ε
times as large (OpenDP 0.16, its issue 2922: scale 1/0.6 and τ = 24 map to 3.6e-7, and the true value is 6.6e-7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.chance.exact import Interval, Probability, exponential, is_at_most
from sqlanon.chance.scales import scale_for


@dataclass(frozen=True)
class Tail:
    """P(Z >= least)."""

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
        ValueError: δ is 0, for which there is no threshold, or ``rows`` is below 1.
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
