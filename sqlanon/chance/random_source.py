"""The one protocol through which randomness comes in."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np

from sqlanon.chance.accountant import Charge, RhoCharge
from sqlanon.chance.exact import Floats, Integers, Probability

Generator: TypeAlias = np.random.Generator
"""What draws of post-processing are made with: see :meth:`RandomSource.generator`."""


class RandomSource(Protocol):
    """Draws at a stated privacy loss, or with no loss of their own (post-processing and sampling).

    Methods that take a charge check that what they do costs no more than it allows. What is drawn from any other source
    than :class:`~sqlanon.OpenDPSource` itself is stamped NOT PRIVATE.
    """

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

    def thinned(self, counts: Integers, probability: Fraction) -> Integers:
        """Thin counts: a unit stays with this probability, in steps of 2^-64."""

    def binomial(self, trials: int, probability: Probability, *, runs: int = 1) -> Integers:
        """The number of trials that succeed, exactly, also for 10^15 trials of probability 10^-15; shape (runs,).

        Takes time in proportion to the mean, which should be no larger than what can be listed.
        """

    def chosen(self, population: int, count: int) -> Integers:
        """``count`` different numbers below ``population``, each set of them equally likely, ascending."""

    def sampled(self, weights: Integers, size: int) -> Integers:
        """``size`` positions, each on its own with a probability of its weight / the sum of all weights, exactly.

        Args:
            weights: whole numbers of 0 or more with a positive sum below 2^63, shape (positions,).
            size: how many are drawn.
        """

    def generator(self) -> Generator:
        """A generator of numpy, for rows that are made of what was drawn: it claims nothing."""

    def seed(self) -> int:
        """64 random bits, for orders that are made in SQL."""

    def uniform(self, size: int) -> Floats:
        """Numbers between 0 and 1, neither of them among these, for choices that are made in SQL: it claims nothing."""

    def laplace(self, size: int, scale: float) -> Floats:
        """Laplace noise in floating point, for algorithms as they were published: it claims nothing."""

    def softmax_choice(self, log_weights: Floats, *, runs: int = 1) -> Integers:
        """A position with probability in proportion to exp(weight), in floating point: it claims nothing.

        This is the exponential mechanism as published, with weights ε * score / (2 * sensitivity); shape (runs,).

        Args:
            log_weights: those of all runs, shape (candidates,), or of each, shape (runs, candidates); -inf for never.
            runs: how many independent choices.
        """
