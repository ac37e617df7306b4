"""Chance that is known beforehand, for the algorithm of IPA as published."""

import numpy as np

import sqlanon as sa
from sqlanon.chance.exact import Floats, Integers
from sqlanon.papers.methods import CANDIDATES, INSERTION, SUPPRESSION, VALUE


class FixedChance:
    """The same noise for every class, the same number for every counterfeit row, and the node of the most utility.

    Args:
        method: which is drawn for; its scales tell the noise of thresholds and that of counterfeit rows apart.
        threshold: noise.
        counterfeits: noise.
        uniform: the number.

    Attributes:
        utilities: of the nodes between which there was a choice.
    """

    def __init__(self, method: sa.IPA, threshold: float, counterfeits: float, uniform: float) -> None:
        self.epsilons = {step: float(budget.epsilon) for step, budget in method.budgets.items()}
        scale = (method.threshold - 1) / self.epsilons[SUPPRESSION]
        self.noise = {scale: threshold, 1 / self.epsilons[INSERTION]: counterfeits}
        self.threshold = method.threshold + threshold
        self.counterfeits = max(0, int(np.floor(counterfeits + 0.5)))
        self.value_epsilon = self.epsilons[VALUE]
        self.number = uniform
        self.utilities: list[float] = []

    def laplace(self, size: int, scale: float) -> Floats:
        return np.full(size, self.noise[scale], dtype=np.float64)

    def uniform(self, size: int) -> Floats:
        return np.full(size, self.number)

    def softmax_choice(self, log_weights: Floats, *, runs: int = 1) -> Integers:
        """Of nodes that come together the best; what an earlier one had stays."""
        self.utilities += list(log_weights[0, 1:] * 6 / self.epsilons[CANDIDATES])
        return log_weights.argmax(axis=1) if np.isinf(log_weights[0, 0]) else np.zeros(runs, dtype=np.int64)

    def seed(self) -> int:
        return 1
