"""Sources of all randomness: the system's entropy, or a seed for tests and reproductions."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance import exact as words
from sqlanon.chance import grouped
from sqlanon.chance.accountant import Charge, RhoCharge, require_covered, require_rho
from sqlanon.chance.exact import Floats, Integers, Probability
from sqlanon.chance.scales import cost_in_rho, difference_sensitivity, scale_for, scale_in_rho
from sqlanon.errors import PolicyError
from sqlanon.satellites import how_to_install

if TYPE_CHECKING:
    from sqlanon.model.methods.noisy import Selection

Generator: TypeAlias = np.random.Generator
"""The generator for post-processing, by :meth:`RandomSource.generator`."""


class RandomSource(ABC):
    """A source of draws: at a stated privacy loss, or with no loss of their own (post-processing and sampling).

    Methods that take a charge refuse to cost more than it allows. Releases drawn from any source but
    :class:`~sqlanon.OpenDPSource` itself are stamped NOT PRIVATE.
    """

    @abstractmethod
    def _words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform words of 64 bits."""

    @abstractmethod
    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        """Draw independent noise for a vector of integer counts, which then costs at most the charge in ε.

        P(Z = z) = (1 - a) / (1 + a) * a^|z| with a = exp(-1 / scale) at the scale of :func:`~.scales.scale_for`.

        Args:
            size: the number of draws.
            charge: the maximum cost of the vector.
            sensitivity: the largest change by one individual, summed over the vector.

        Raises:
            BudgetError: ε of the charge is 0, or the loss would exceed it.
        """

    def discrete_laplace_tail(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        """Draw from :meth:`discrete_laplace`, given 0 or more: P(j) = (1 - a) * a^j.

        That is the excess of the noise of empty cells above a threshold of 0 or more, in cells where it is reached;
        :meth:`binomial` draws their number. With the noise of the other cells they are one noisy vector, at one charge.

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
        """Draw independent noise for a vector of integer counts, which then costs at most the charge in ρ.

        P(Z = z) is in proportion to e^(-z² / (2 σ²)) at the scale σ of :func:`~.scales.scale_in_rho`.

        Args:
            size: the number of draws.
            charge: the maximum cost of the vector.
            sensitivity: the largest change of the vector by one individual, in L2 norm.

        Raises:
            BudgetError: ρ of the charge is 0, or the loss would exceed it.
        """

    @abstractmethod
    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        """Choose the position of a score that is nearly the largest, once per run, each run at the charge in ρ.

        It is the position of the largest score with Gumbel noise of the scale σ of :func:`~.scales.scale_in_rho`, so
        its probability is in proportion to e^(score / σ). Permute-and-flip lacks such a bounded range: it costs four
        times as much at this scale.

        Args:
            scores: integers, so that no rounding of sums widens their sensitivity; shape (candidates,).
            charge: the maximum cost of one choice.
            sensitivity: the largest change of any score by one individual.
            runs: the number of independent choices, the shape of the result; more than one only for audits.

        Raises:
            BudgetError: ρ of the charge is 0, or the loss would exceed it.
        """

    @abstractmethod
    def permute_and_flip(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        """Choose the position of a score that is nearly the largest, once per run, each run at the charge.

        By permute-and-flip (McKenna & Sheldon 2020), which never expects a smaller score than the exponential
        mechanism at the same ε: the largest score with exponential noise of scale c / ε. One individual changes the
        difference between two scores by at most c (:func:`~.scales.difference_sensitivity`): twice the sensitivity,
        or the sensitivity if scores are monotonic.

        Proof. Fix all noise but the noise of candidate i. Then i is chosen if its noise is above t, the largest
        q_j - q_i + noise_j over all other j. An individual changes t by at most c, and so this probability,
        min(1, e^(-t ε / c)), by a factor of at most e^ε. If all scores rise by 0 to the sensitivity, q_j - q_i changes
        by at most the sensitivity.

        Args:
            scores: integers, so that no rounding of sums widens their sensitivity; shape (candidates,).
            charge: the maximum cost of one choice.
            sensitivity: the largest change of any score by one individual.
            monotonic: whether an added row never lowers a score.
            runs: the number of independent choices, the shape of the result; more than one only for audits.

        Raises:
            BudgetError: the loss would exceed the charge.
        """

    # More than six parameters: the mechanism, and all that its proof needs.
    def choice(
        self,
        scores: Integers,
        charge: Charge,
        *,
        by: Selection,
        sensitivity: int,
        monotonic: bool = False,
        runs: int = 1,
    ) -> Integers:
        """Choose a position by one of the two mechanisms in ε, whose costs are equal.

        Args:
            scores, charge, sensitivity, monotonic, runs: as for :meth:`permute_and_flip`.
            by: the mechanism; by ``"exponential"`` a position has a probability in proportion to e^(ε * score / c).

        Raises:
            BudgetError: the loss would exceed the charge.
        """
        if by == "permute-and-flip":
            return self.permute_and_flip(scores, charge, sensitivity=sensitivity, monotonic=monotonic, runs=runs)
        single = np.ones_like(scores)
        found, _ = self.grouped_exponential_mechanism(
            scores, single, charge, sensitivity=sensitivity, monotonic=monotonic, runs=runs
        )
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
        """Run the exponential mechanism over candidates in groups of equal score, such as splits of an interval.

        A candidate is chosen with a probability in proportion to e^(score / scale), exactly, at the scale of
        :func:`~.scales.scale_for` for the c of :meth:`permute_and_flip`: e^(ε * score / c) up to the rounding of
        a float. So group i has the weight counts[i] * e^(scores[i] / scale), and its candidates are equally likely.
        It costs c / scale, since candidate i has probability 1 / Σ_j e^((q_j - q_i) / scale), and an individual
        changes every term by a factor of at most e^(c / scale) (McSherry & Talwar 2007, theorem 6, for c twice the
        sensitivity). Neighbours must have the same candidates in all groups together, but may group them differently.

        Args:
            scores: integers by group, not necessarily different; shape (groups,).
            counts: the number of candidates by group: whole numbers of 0 or more, with a positive sum below 2^62;
                a group with 0 is never chosen; shape (groups,).
            charge: the maximum cost of one choice.
            sensitivity: the largest change of the score of any candidate by one individual.
            monotonic: whether an added row never lowers a score.
            runs: the number of independent choices; more than one only for audits.

        Returns:
            The positions of the groups, and of the candidates within them, from 0 on; both of shape (runs,).

        Raises:
            BudgetError: ε of the charge is 0, or the loss would exceed it.
            ValueError: a count is below 0, there are no candidates or too many, or the arrays don't match.
        """
        change = difference_sensitivity(sensitivity, monotonic=monotonic)
        scale = scale_for(charge.budget.epsilon, change)
        require_covered(charge, change / Fraction(scale))
        return grouped.grouped_choice(scores, counts, scale, runs, self._words)

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        """Thin counts: a unit stays with this probability, in steps of 2^-64."""
        return words.thinned(counts, probability, self._words)

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        """Draw numbers of successes, exactly, even for 10^15 trials of probability 10^-15; shape (runs,).

        It takes time in proportion to the mean.
        """
        return words.binomial(trials, probability, runs, self._words)

    def chosen(self, population: int, count: int) -> Integers:
        """Draw ``count`` different numbers below ``population``, ascending; all such sets are equally likely."""
        return words.chosen(population, count, self._words)

    def sampled(self, weights: Integers, size: int) -> Integers:
        """Draw ``size`` independent positions with probabilities exactly in proportion to their weights.

        Args:
            weights: whole numbers of 0 or more with a positive sum below 2^63, shape (positions,).
            size: the number of draws.
        """
        return words.sampled(weights, size, self._words)

    def generator(self) -> Generator:
        """Return a generator of numpy for post-processing; it guarantees nothing."""
        return np.random.default_rng(self.seed())

    def seed(self) -> int:
        """Draw 64 random bits, for orders in SQL."""
        return words.one_word(self._words)

    def uniform(self, size: int) -> Floats:
        """Draw numbers strictly between 0 and 1, for choices in SQL; it guarantees nothing."""
        return words.uniforms(size, self._words)

    def laplace(self, size: int, scale: float) -> Floats:
        """Draw Laplace noise in floating point, for algorithms as published; it guarantees nothing."""
        centred = self.uniform(size) - 0.5
        noise: Floats = -scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))
        return noise

    def softmax_choice(self, log_weights: Floats, *, runs: int = 1) -> Integers:
        """Choose a position with probability in proportion to exp(weight), in floating point; it guarantees nothing.

        This is the exponential mechanism as published, with weights ε * score / (2 * sensitivity); shape (runs,).

        Args:
            log_weights: one vector for all runs, shape (candidates,), or one per run, shape (runs, candidates);
                -inf for never.
            runs: the number of independent choices.
        """
        weights = np.exp(log_weights - np.max(log_weights, axis=-1, keepdims=True))
        cumulative = np.cumsum(weights, axis=-1)
        drawn = self.uniform(runs)[:, None] * cumulative[..., -1:]
        positions: Integers = np.sum(cumulative <= drawn, axis=-1, dtype=np.int64)
        return positions


class SystemSource(RandomSource):
    """Draws from the operating system's entropy; noise and noisy choices need OpenDP."""

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        raise without_opendp()

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        raise without_opendp()

    def discrete_laplace(self, size: int, charge: Charge, *, sensitivity: int = 1) -> Integers:
        raise without_opendp()

    def permute_and_flip(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        raise without_opendp()

    def _words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def nonce() -> str:
    """Return 256 bits of the operating system's entropy in hexadecimal, a salt for hashes."""
    return os.urandom(32).hex()


def without_opendp() -> PolicyError:
    return PolicyError("differential privacy needs OpenDP, which is not installed", [how_to_install("dp")])


SCORES_AT_ONCE = 1 << 20


class SeededSource(RandomSource):
    """The draws of :class:`OpenDPSource` from a repeatable generator; releases are stamped ``NOT PRIVATE``.

    Noise and permute-and-flip are drawn in floating point. Their cost, as OpenDP's, is sensitivity / scale for noise,
    and difference sensitivity / scale for choices.

    Args:
        seed: a whole number of 0 or more; equal seeds give equal draws in equal order.

    Raises:
        PolicyError: the seed is not a whole number of 0 or more.
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

    def permute_and_flip(
        self, scores: Integers, charge: Charge, *, sensitivity: int, monotonic: bool = False, runs: int = 1
    ) -> Integers:
        change = difference_sensitivity(sensitivity, monotonic=monotonic)
        scale = scale_for(charge.budget.epsilon, change)
        require_covered(charge, change / Fraction(scale))
        return self._noisiest(scores, scale, self._generator.exponential, runs)

    def _noisiest(self, scores: Integers, scale: float, noise: Callable[..., Floats], runs: int) -> Integers:
        """Find the position of the largest score plus noise, in each run."""
        scaled = (scores - np.max(scores)) / scale
        runs_at_once = max(1, SCORES_AT_ONCE // len(scores))
        portions = [
            np.argmax(scaled + noise(size=(min(runs_at_once, runs - start), len(scores))), 1)
            for start in range(0, runs, runs_at_once)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *portions])

    def _words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, count, dtype=np.uint64)
