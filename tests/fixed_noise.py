"""A source of chance that leaves nothing to chance, for tests of what is made of its draws."""

from fractions import Fraction
from typing import Any

import numpy as np

from sqlanon.chance.accountant import Charge, RhoCharge
from sqlanon.chance.exact import Floats, Integers, Probability


class FixedNoise:
    """A source that adds the same to every count, and takes the node of the largest score and the likeliest value."""

    def __init__(self, noise: int) -> None:
        self.noise = noise
        self.sensitivities: list[int] = []
        """Of the draws so far."""

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        self.sensitivities.append(sensitivity)
        return np.full(size, self.noise, dtype=np.int64)

    def choice(self, scores: Integers, _charge: Charge, *, sensitivity: int, runs: int = 1, **_: Any) -> Integers:
        self.sensitivities.append(sensitivity)
        return np.full(runs, scores.argmax())

    def grouped_exponential_mechanism(
        self, scores: Integers, _counts: Integers, _charge: Charge, *, sensitivity: int, runs: int = 1, **_: Any
    ) -> tuple[Integers, Integers]:
        """The first candidate of the first group of the largest score."""
        self.sensitivities.append(sensitivity)
        return np.full(runs, scores.argmax()), np.zeros(runs, dtype=np.int64)

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        self.sensitivities.append(sensitivity)
        return np.full(size, self.noise, dtype=np.int64)

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        self.sensitivities.append(sensitivity)
        return np.full(runs, scores.argmax())

    def discrete_laplace_tail(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        return np.zeros(size, dtype=np.int64)

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        """Nothing is shown that nobody has."""
        return np.zeros(runs, dtype=np.int64)

    def chosen(self, population: int, count: int) -> Integers:
        return np.arange(count)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        """Three quarters stay."""
        return counts - counts // 4

    def sampled(self, weights: Integers, size: int) -> Integers:
        return np.full(size, weights.argmax())

    def uniform(self, size: int) -> Floats:
        return np.full(size, 0.5)

    def generator(self) -> Any:
        return FixedGenerator()

    def seed(self) -> int:
        return 1


class FixedGenerator:
    """A generator of numpy that draws the middle, keeps every order, and takes the least number."""

    def random(self, size: int) -> Floats:
        return np.full(size, 0.5)

    def permutation(self, size: int) -> Integers:
        return np.arange(size)

    def integers(self, low: Integers, high: Integers) -> Integers:
        return low
