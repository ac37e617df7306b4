"""The one door through which randomness comes in, and sources of it: the entropy of the system, and a seed.

A source has uniform words, from which much is drawn, and noise, from which the rest is. A seed is for tests and
reproductions.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance import exact as words
from sqlanon.chance import grouped
from sqlanon.chance.accountant import Charge, RhoCharge, require_covered, require_rho
from sqlanon.chance.exact import Floats, Integers, Probability
from sqlanon.chance.scales import cost_in_rho, difference_sensitivity, scale_for, scale_in_rho
from sqlanon.errors import PolicyError
from sqlanon.model.extras import how_to_install

Generator: TypeAlias = np.random.Generator
"""What draws of post-processing are made with: see :meth:`RandomSource.generator`."""


class RandomSource(ABC):
    """Draws at a stated privacy loss, or with no loss of their own (post-processing and sampling).

    Methods that take a charge check that what they do costs no more than it allows. What is drawn from any other source
    than :class:`~sqlanon.OpenDPSource` itself is stamped NOT PRIVATE.
    """

    @abstractmethod
    def _words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform words of 64 bits."""

    @abstractmethod
    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        """Independent noise for a vector of integer counts, such that the noisy vector costs what the charge says in ε.

        P(Z = z) = (1 - a) / (1 + a) * a^|z| with a = exp(-1 / scale) at the scale of :func:`~.scales.scale_for`.

        Args:
            size: how many draws.
            charge: what the vector may cost.
            sensitivity: by how much, summed over the vector, one individual can change it.

        Raises:
            BudgetError: ε of the charge is 0, or the loss would exceed it.
        """

    def discrete_laplace_tail(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        """Draws of :meth:`discrete_laplace` that are 0 or more: P(j) = (1 - a) * a^j.

        By how much the noise of empty cells exceeds a threshold of 0 or more where it does, with :meth:`binomial` for
        how many cells that is. Together with the noise of the other cells they are one noisy vector, at one charge.

        Raises:
            BudgetError: as :meth:`discrete_laplace`.
        """
        found = np.empty(0, dtype=np.int64)
        while True:  # at least half of the draws are 0 or more
            drawn = self.discrete_laplace(2 * (size - len(found)), charge, sensitivity=sensitivity)
            found = np.concatenate([found, drawn[drawn >= 0]])[:size]
            if len(found) == size:
                return found

    @abstractmethod
    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        """Independent noise for a vector of integer counts, such that the noisy vector costs what the charge says in ρ.

        P(Z = z) is in proportion to e^(-z² / (2 σ²)) at the scale σ of :func:`~.scales.scale_in_rho`.

        Args:
            size: how many draws.
            charge: what the vector may cost.
            sensitivity: by how much one individual can change the vector in L2 norm.

        Raises:
            BudgetError: ρ of the charge is 0, or the loss would exceed it.
        """

    @abstractmethod
    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        """The position of a score that is nearly the largest, once per run, each run at the cost of the charge in ρ.

        The largest of the scores with Gumbel noise of the scale σ of :func:`~.scales.scale_in_rho`, hence a position
        with a probability in proportion to e^(score / σ). Permute-and-flip has no such bounded range: at the same scale
        it costs four times as much.

        Args:
            scores: integers, so that no rounding of sums widens their sensitivity; shape (candidates,).
            charge: what one choice may cost.
            sensitivity: by how much one individual can change any of them.
            runs: how many independent choices, shape of what is returned; more than one only to be audited.

        Raises:
            BudgetError: ρ of the charge is 0, or the loss would exceed it.
        """

    @abstractmethod
    def exponential_mechanism(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        """The position of a score that is nearly the largest, once per run, each run at the cost of the charge.

        By permute-and-flip (McKenna & Sheldon 2020), which expects no smaller score than the exponential mechanism of
        the same ε does: the largest of the scores with exponential noise of scale c / ε. One individual changes the
        difference between two scores by c at most (:func:`~.scales.difference_sensitivity`): by twice the sensitivity,
        or by the sensitivity if scores are monotonic.

        Proof. Let all noise but that of candidate i be given. Then i is chosen if its noise is above t, the largest
        q_j - q_i + noise_j over all other j. An individual changes t by c at most, and so the probability of that,
        min(1, e^(-t ε / c)), by a factor of e^ε at most. If all scores rise by 0 to the sensitivity, q_j - q_i changes
        by the sensitivity at most.

        Args:
            scores: integers, so that no rounding of sums widens their sensitivity; shape (candidates,).
            charge: what one choice may cost.
            sensitivity: by how much one individual can change any of them.
            monotonic: no score falls where a row is added, whatever the rows are.
            runs: how many independent choices, shape of what is returned; more than one only to be audited.

        Raises:
            BudgetError: the loss would exceed the charge.
        """

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
        """The exponential mechanism over candidates that come in groups of equal score, such as splits of an interval.

        A candidate is chosen with a probability in proportion to e^(score / scale), exactly, at the scale of
        :func:`~.scales.scale_for` for the c of :meth:`exponential_mechanism`: that is e^(ε * score / c) but for a float
        that is rounded. So group i has counts[i] * e^(scores[i] / scale), and its candidates are as likely as each
        other. It costs c / scale, since candidate i has probability 1 / Σ_j e^((q_j - q_i) / scale), and an individual
        changes every term by a factor of e^(c / scale) at most (McSherry & Talwar 2007, theorem 6, for c twice the
        sensitivity). All groups together must have the same candidates for all neighbours, which may be grouped
        differently.

        Args:
            scores: by group, integers, also the same for several; shape (groups,).
            counts: by group, how many candidates have this score: whole numbers of 0 or more, with a positive sum below
                2^62; a group with 0 is never chosen; shape (groups,).
            charge: what one choice may cost.
            sensitivity: by how much one individual can change the score of any candidate.
            monotonic: no score falls where a row is added, whatever the rows are.
            runs: how many independent choices; more than one only to be audited.

        Returns:
            The positions of the groups, and of the candidates within these, from 0 on; both of shape (runs,).

        Raises:
            BudgetError: ε of the charge is 0, or the loss would exceed it.
            ValueError: a count is below 0, there are no candidates or too many, or the arrays do not go together.
        """
        change = difference_sensitivity(sensitivity, monotonic=monotonic)
        scale = scale_for(charge.budget.epsilon, change)
        require_covered(charge, change / Fraction(scale))
        return grouped.grouped_choice(scores, counts, scale, runs, self._words)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        """Thin counts: a unit stays with this probability, in steps of 2^-64."""
        return words.thinned(counts, probability, self._words)

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        """The number of trials that succeed, exactly, also for 10^15 trials of probability 10^-15; shape (runs,).

        Takes time in proportion to the mean, which should be no larger than what can be listed.
        """
        return words.binomial(trials, probability, runs, self._words)

    def chosen(self, population: int, count: int) -> Integers:
        """``count`` different numbers below ``population``, each set of them equally likely, ascending."""
        return words.chosen(population, count, self._words)

    def sampled(self, weights: Integers, size: int) -> Integers:
        """``size`` positions, each on its own with a probability of its weight / the sum of all weights, exactly.

        Args:
            weights: whole numbers of 0 or more with a positive sum below 2^63, shape (positions,).
            size: how many are drawn.
        """
        return words.sampled(weights, size, self._words)

    def generator(self) -> Generator:
        """A generator of numpy, for rows that are made of what was drawn: it claims nothing."""
        return np.random.default_rng(self.seed())

    def seed(self) -> int:
        """64 random bits, for orders that are made in SQL."""
        return words.one_word(self._words)

    def uniform(self, size: int) -> Floats:
        """Numbers between 0 and 1, neither of them among these, for choices that are made in SQL: it claims nothing."""
        return words.uniforms(size, self._words)

    def laplace(self, size: int, scale: float) -> Floats:
        """Laplace noise in floating point, for algorithms as they were published: it claims nothing."""
        centred = self.uniform(size) - 0.5
        noise: Floats = -scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))
        return noise

    def softmax_choice(self, log_weights: Floats, *, runs: int = 1) -> Integers:
        """A position with probability in proportion to exp(weight), in floating point: it claims nothing.

        This is the exponential mechanism as published, with weights ε * score / (2 * sensitivity); shape (runs,).

        Args:
            log_weights: those of all runs, shape (candidates,), or of each, shape (runs, candidates); -inf for never.
            runs: how many independent choices.
        """
        weights = np.exp(log_weights - np.max(log_weights, axis=-1, keepdims=True))
        cumulative = np.cumsum(weights, axis=-1)
        drawn = self.uniform(runs)[:, None] * cumulative[..., -1:]
        positions: Integers = np.sum(cumulative <= drawn, axis=-1, dtype=np.int64)
        return positions


class SystemSource(RandomSource):
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


class SeededSource(RandomSource):
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
