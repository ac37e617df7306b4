"""The source of tests and of reproductions: fast, repeatable, and private to nobody who knows the seed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import PolicyError
from sqlanon.mechanisms.accountant import Charge, difference_sensitivity, require_covered, scale_for
from sqlanon.mechanisms.base import WordSource
from sqlanon.mechanisms.source import Integers

SCORES_AT_ONCE = 1 << 20


class SeededSource(WordSource):
    """The draws of :class:`OpenDPSource` from a generator that repeats itself; releases are stamped ``NOT PRIVATE``.

    Noise and permute-and-flip are made in floating point, and what they cost is our formula: sensitivity / scale for
    noise, difference sensitivity / scale for choices, which is what the same draw of OpenDP costs.

    Args:
        seed: a whole number of 0 or more; the same seed gives the same draws in the same order.

    Raises:
        PolicyError: it is none.
    """

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise PolicyError("the seed must be a whole number of 0 or more")
        self._generator = np.random.default_rng(seed)

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        scale = scale_for(charge.budget.epsilon, sensitivity)
        require_covered(charge, sensitivity / Fraction(scale))
        end = -np.expm1(-1 / scale)
        noise: Integers = self._generator.geometric(end, size) - self._generator.geometric(end, size)
        return noise

    def exponential_mechanism(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        change = difference_sensitivity(sensitivity, monotonic=monotonic)
        scale = scale_for(charge.budget.epsilon, change)
        require_covered(charge, change / Fraction(scale))
        scaled = (scores - np.max(scores)) / scale
        runs_at_once = max(1, SCORES_AT_ONCE // len(scores))
        portions = [
            np.argmax(scaled + self._generator.standard_exponential((min(runs_at_once, runs - start), len(scores))), 1)
            for start in range(0, runs, runs_at_once)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *portions])

    def _words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, count, dtype=np.uint64)
