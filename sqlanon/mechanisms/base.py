"""What all sources share: the draws that are made of uniform words, and the noise that is made of other noise."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlanon.mechanisms import binomial, grouped, words
from sqlanon.mechanisms.accountant import Charge, difference_sensitivity, require_covered, scale_for
from sqlanon.mechanisms.probability import Probability
from sqlanon.mechanisms.source import Floats, Integers, RandomSource


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
        return binomial.binomial(trials, probability, runs, self._words)

    def chosen(self, population: int, count: int) -> Integers:
        return words.chosen(population, count, self._words)

    def sampled(self, weights: Integers, size: int) -> Integers:
        return words.sampled(weights, size, self._words)

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
