"""What a mechanism asks of chance: the one protocol through which randomness comes in."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sqlanon.mechanisms.accountant import Charge

Integers = NDArray[np.int64]


class RandomSource(Protocol):
    """Draws at a stated privacy loss, or with no loss of their own (post-processing and sampling).

    Methods that take a charge check that what they do costs no more than it allows.
    """

    @property
    def is_private(self) -> bool:
        """Whether nobody can know the draws: false for a seeded source, whose releases are stamped NOT PRIVATE."""

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        """Independent noise for a vector of integer counts, such that the noisy vector costs what the charge says in ε.

        P(Z = z) = (1 - a) / (1 + a) * a^|z| with a = exp(-1 / scale), scale no smaller than sensitivity / ε.

        Args:
            size: how many draws.
            charge: what the vector may cost.
            sensitivity: by how much, summed over the vector, one individual can change it.

        Raises:
            BudgetError: ε of the charge is 0, or the loss would exceed it.
        """

    def exponential_mechanism(self, scores: Integers, charge: Charge, *, sensitivity: int, runs: int = 1) -> Integers:
        """The position of a score that is nearly the largest, once per run, each run at the cost of the charge.

        Args:
            scores: integers, so that no rounding of sums widens their sensitivity; shape (candidates,).
            charge: what one choice may cost.
            sensitivity: by how much one individual can change any of them.
            runs: how many independent choices, shape of what is returned; more than one only to be audited.

        Raises:
            BudgetError: the loss would exceed the charge.
        """

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        """How many of each count stay if each unit stays with a probability of its own chance, in steps of 2^-64."""

    def binomial(self, trials: int, probability: Fraction, *, runs: int = 1) -> Integers:
        """How many of so many trials succeed, exactly, also for 10^15 trials of probability 10^-15; shape (runs,)."""

    def chosen(self, population: int, count: int) -> Integers:
        """So many different numbers below ``population``, each set of them equally likely, ascending."""

    def seed(self) -> int:
        """64 random bits, for orders that are made in SQL."""
