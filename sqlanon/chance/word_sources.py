"""Sources of chance that draw from uniform words: the entropy of the system, and a seed, for tests and reproductions.

What they share are the draws that are made of words, and the noise that is made of other noise.
"""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance import exact as words
from sqlanon.chance import grouped
from sqlanon.chance.accountant import Charge, RhoCharge, require_covered, require_rho
from sqlanon.chance.exact import Floats, Integers, Probability
from sqlanon.chance.random_source import Generator, RandomSource
from sqlanon.chance.scales import cost_in_rho, difference_sensitivity, scale_for, scale_in_rho
from sqlanon.errors import PolicyError
from sqlanon.model.extras import how_to_install


class WordSource(RandomSource):
    """A source that has uniform 64-bit words."""

    @abstractmethod
    def _words(self, count: int) -> NDArray[np.uint64]:
        """``count`` independent uniform words."""

    def discrete_laplace_tail(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        found = np.empty(0, dtype=np.int64)
        while True:  # at least half of the draws are 0 or more
            drawn = self.discrete_laplace(2 * (size - len(found)), charge, sensitivity=sensitivity)
            found = np.concatenate([found, drawn[drawn >= 0]])[:size]
            if len(found) == size:
                return found

    def grouped_exponential_mechanism(
        self,
        scores: Integers,
        counts: Integers,
        charge: Charge,
        *,
        sensitivity: int,
        monotonic: bool = False,
        runs: int = 1,
    ) -> tuple[Integers, Integers]:
        change = difference_sensitivity(sensitivity, monotonic=monotonic)
        scale = scale_for(charge.budget.epsilon, change)
        require_covered(charge, change / Fraction(scale))
        return grouped.grouped_choice(scores, counts, scale, runs, self._words)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        return words.thinned(counts, probability, self._words)

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        return words.binomial(trials, probability, runs, self._words)

    def chosen(self, population: int, count: int) -> Integers:
        return words.chosen(population, count, self._words)

    def sampled(self, weights: Integers, size: int) -> Integers:
        return words.sampled(weights, size, self._words)

    def generator(self) -> Generator:
        return np.random.default_rng(self.seed())

    def seed(self) -> int:
        return words.one_word(self._words)

    def uniform(self, size: int) -> Floats:
        return words.uniforms(size, self._words)

    def laplace(self, size: int, scale: float) -> Floats:
        centred = self.uniform(size) - 0.5
        noise: Floats = -scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))
        return noise

    def softmax_choice(self, log_weights: Floats, *, runs: int = 1) -> Integers:
        weights = np.exp(log_weights - np.max(log_weights, axis=-1, keepdims=True))
        cumulative = np.cumsum(weights, axis=-1)
        drawn = self.uniform(runs)[:, None] * cumulative[..., -1:]
        positions: Integers = np.sum(cumulative <= drawn, axis=-1, dtype=np.int64)
        return positions


class SystemSource(WordSource):
    """Draws made of the operating system's entropy; noise and noisy choices are OpenDP's alone."""

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        raise without_opendp()

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        raise without_opendp()

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        raise without_opendp()

    def exponential_mechanism(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        raise without_opendp()

    def _words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def nonce() -> str:
    """256 bits of the operating system's entropy, in hexadecimal: what hides the rest of what is hashed with it."""
    return os.urandom(32).hex()


def without_opendp() -> PolicyError:
    """Return the error of a draw that needs OpenDP where it is not installed."""
    return PolicyError("differential privacy needs OpenDP, which is not installed", [how_to_install("dp")])


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

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        sigma = scale_in_rho(charge.rho, sensitivity)
        require_rho(charge, cost_in_rho(sigma, sensitivity))
        width = math.floor(sigma) + 1
        end = -np.expm1(-1 / width)
        noise = np.empty(0, dtype=np.int64)
        while len(noise) < size:  # by rejection from Laplace noise, as Canonne, Kamath & Steinke 2020
            tried = self._generator.geometric(end, size) - self._generator.geometric(end, size)
            accepted = self._generator.random(size) < np.exp(
                -((np.abs(tried) - sigma**2 / width) ** 2) / (2 * sigma**2)
            )
            noise = np.concatenate([noise, tried[accepted]])
        return noise[:size]

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        scale = scale_in_rho(charge.rho, sensitivity)
        require_rho(charge, cost_in_rho(scale, sensitivity))
        return self._noisiest(scores, scale, self._generator.gumbel, runs)

    def exponential_mechanism(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        change = difference_sensitivity(sensitivity, monotonic=monotonic)
        scale = scale_for(charge.budget.epsilon, change)
        require_covered(charge, change / Fraction(scale))
        return self._noisiest(scores, scale, self._generator.exponential, runs)

    def _noisiest(self, scores: Integers, scale: float, noise: Callable[..., Floats], runs: int) -> Integers:
        """Find the largest score with noise of a scale, in each run."""
        scaled = (scores - np.max(scores)) / scale
        runs_at_once = max(1, SCORES_AT_ONCE // len(scores))
        portions = [
            np.argmax(scaled + noise(size=(min(runs_at_once, runs - start), len(scores))), 1)
            for start in range(0, runs, runs_at_once)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *portions])

    def _words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, count, dtype=np.uint64)
