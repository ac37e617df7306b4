"""AIM: the choice of marginals to measure, and how exactly (McKenna, Mullins, Sheldon & Miklau 2022, algorithm 4).

What is measured anyway also bounds how far the model is from the table: that costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sqlanon.chance.accountant import RhoPortions
from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import scale_in_rho
from sqlanon.methods.synthetic.beliefs import Columns, Floats, JunctionTree, cells_of
from sqlanon.methods.synthetic.fitting import Measurement, Model, fitted

ERROR = 0.05  # the chance that one bound of a run or more is wrong


@dataclass(frozen=True)
class NoisyMarginal:
    columns: Columns
    number: int  # its place among the measurements of a run, from 1 on
    counts: Integers  # an axis for each column
    sigma: float  # the scale of the noise of a count

    def largest_distance(self, estimate: Floats) -> float:
        """Bound the sum of all differences between the true marginal and an estimate.

        It holds for all measurements of a run and any estimates together, with a probability of 1 - :data:`ERROR`: see
        :func:`largest_noise`. The estimate may be made of the same noise, as that of a model is.
        """
        return float(np.abs(self.counts - estimate).sum()) + largest_noise(self.counts.size, self.sigma, self.number)


def largest_noise(cells: int, sigma: float, number: int) -> float:
    """Bound the sum of the sizes of the noise of all counts of a measurement, the first of its run having number 1.

    All measurements of a run keep it together, with a probability of 1 - :data:`ERROR` or more.

    Proof. Discrete Gaussian noise Z of scale σ has E e^(tZ) <= e^(t²σ²/2) for every t (Canonne, Kamath & Steinke 2020).
    Of n counts, Σ|Z_i| is the largest of the 2^n sums Σ±Z_i, and each of these is above u with a probability of
    e^(-u²/(2nσ²)) at most. So Σ|Z_i| is above u = σ √(2n (n ln 2 + λ²)) with a probability of e^(-λ²) at most.
    Whether a run has a j-th measurement, and its n and σ, follow from what was drawn before; its noise does not. So it
    is above its u with a probability of ERROR / (j (j + 1)) at most, where λ² = ln(j (j + 1) / ERROR), whatever was
    drawn before. The sum of these over all j >= 1 is ERROR.

    A mean of several measurements of a marginal has no such bound of its own: whether there is one more may depend on
    the noise of those before, so that it is not the mean of a fixed number of draws.
    """
    squared = math.log(number * (number + 1) / ERROR)
    return sigma * math.sqrt(2 * cells * (cells * math.log(2) + squared))


def candidates_of(sizes: Sequence[int], workload: Mapping[Columns, int], max_cells: int) -> dict[Columns, int]:
    """Return the sets within a set of the workload that have at most ``max_cells`` cells, or one column, with weights.

    The weight of a set is the sum over the workload of how many columns it shares with each set of it, times the weight
    of that: a measurement of it improves what these ask for (McKenna et al. 2022, section 4).
    """
    found = {
        subset for columns in workload for size in range(len(columns)) for subset in combinations(columns, size + 1)
    }
    found |= {(column,) for column in range(len(sizes))}
    kept = sorted(each for each in found if len(each) == 1 or cells_of(sizes, each) <= max_cells)
    return {
        each: sum(weight * len({*each}.intersection(columns)) for columns, weight in workload.items()) for each in kept
    }


MEASURED = Fraction(9, 10)
"""The share of ρ that is spent on noisy counts; the rest is spent on the choices between marginals."""

GRID = 1024
"""Scores count in units of 1 / 1024 rows: as whole numbers, they are of the stated sensitivity to the last bit."""

STEPS, LAST_STEPS = 100, 1000  # steps of the descent after each measurement, and after the last one

FASTER = 2
"""The factor of the ρ that is spent on each round once one has taught nothing new.

McKenna et al. take 4, at which pairs of Adult are wrong by 2 % more (tests.benchmarks.synthetic, ε = 1).
"""

MEAN_NOISE = math.sqrt(2 / math.pi)  # the mean size of Gaussian noise, in units of its scale


@dataclass(frozen=True)
class Problem:
    """The marginals that may be measured of a table; all but the counts is public."""

    sizes: tuple[int, ...]  # the number of values of each column
    counts: Mapping[Columns, Integers]  # the rows of each combination of values, by candidate
    weights: Mapping[Columns, int]  # by candidate
    sensitivity: int  # the rows of one individual that are counted
    max_cells: int  # of the tree of the model
    rounds: int  # about as many marginals are measured
    impossible: Mapping[Columns, NDArray[np.bool_]]  # by set of columns, the combinations that cannot occur
    fine: Mapping[int, Integers]  # the rows of each single value, by column that is refined


@dataclass(frozen=True)
class Chosen:
    """The model of all measurements."""

    model: Model
    measurements: Mapping[Columns, Measurement]
    fine: Mapping[int, tuple[Integers, float]]  # noisy counts of single values, with their scale, by refined column
    log: Sequence[NoisyMarginal]  # all measurements of marginals, in their order

    def measured(self, columns: Columns) -> Sequence[NoisyMarginal]:
        """Return the measurements of a marginal; the last one has the least noise."""
        return [each for each in self.log if each.columns == columns]


def chosen(problem: Problem, rho: Fraction, portions: RhoPortions, source: RandomSource) -> Chosen:
    """Measure marginals one by one for ρ of the portions, each where the model before is most wrong for its cost."""
    return Run(problem, rho, portions, source).chosen()


@dataclass(frozen=True)
class ErrorEstimate:
    """The rows of a marginal that the model has in another place than the table, with noise."""

    rows: float  # the mean over the workload, not below 0
    sigma: float  # the scale of its noise


def estimated_error(
    problem: Problem,
    model: Model,
    workload: Sequence[Columns],
    rho: Fraction,
    portions: RhoPortions,
    source: RandomSource,
) -> ErrorEstimate:
    """Measure how far the marginals of a workload are from those of the model, summed in L1 norm.

    The model is made of what was drawn before, all sets of the workload were counted, and ρ is spent of the portions.
    """
    wrong = sum(distance_on_grid(problem.counts[each], model.counts(each)) for each in workload)
    sensitivity = GRID * problem.sensitivity * len(workload)
    noise = source.discrete_gaussian(1, portions.take("error", rho), sensitivity=sensitivity)
    unit = GRID * len(workload)
    return ErrorEstimate(max(0.0, (wrong + int(noise[0])) / unit), scale_in_rho(rho, sensitivity) / unit)


def distance_on_grid(counts: Integers, estimate: NDArray[np.float64]) -> int:
    """Sum all differences, in units of the grid: one row more or less changes the sum by :data:`GRID` at most."""
    return int(np.abs(GRID * counts - np.rint(GRID * estimate).astype(np.int64)).sum())


class Run:
    def __init__(self, problem: Problem, rho: Fraction, portions: RhoPortions, source: RandomSource) -> None:
        self._problem = problem
        self._rho = rho
        self._portions = portions
        self.source = source
        self._left = rho
        self._for_noise = MEASURED * rho / problem.rounds
        self._for_choice = (1 - MEASURED) * rho / problem.rounds
        self._measurements: dict[Columns, Measurement] = {}
        self._log: list[NoisyMarginal] = []
        self._cells: dict[tuple[frozenset[Columns], Columns], int] = {}  # of trees with one more set

    def chosen(self) -> Chosen:
        problem = self._problem
        for column in range(len(problem.sizes)):
            self._measure((column,))
        fine = {column: (self.noisy(counts), self._sigma) for column, counts in problem.fine.items()}
        model = self._fitted(None, STEPS)
        while self._left > 0:
            if self._left < 2 * (self._for_noise + self._for_choice):
                self._for_noise, self._for_choice = MEASURED * self._left, (1 - MEASURED) * self._left
            columns = self._worst(model)
            self._measure(columns)
            before, model = model, self._fitted(model, STEPS)
            moved = np.abs(model.counts(columns) - before.counts(columns)).sum()
            if moved <= self._expected_noise(columns):
                self._for_noise, self._for_choice = FASTER * self._for_noise, FASTER * self._for_choice
        return Chosen(self._fitted(model, LAST_STEPS), self._measurements, fine, self._log)

    def _measure(self, columns: Columns) -> None:
        counts = self.noisy(self._problem.counts[columns])
        new, before = Measurement.of(counts, self._sigma), self._measurements.get(columns)
        self._measurements[columns] = new if before is None else before.merged(new)
        self._log.append(NoisyMarginal(columns, len(self._log) + 1, counts, self._sigma))

    def noisy(self, counts: Integers) -> Integers:
        """Add noise to counts, for the present portion of ρ."""
        charge = self._portions.take("measure", self._for_noise)
        self._left -= charge.rho
        noise = self.source.discrete_gaussian(counts.size, charge, sensitivity=self._problem.sensitivity)
        return counts + noise.reshape(counts.shape)

    def _worst(self, model: Model) -> Columns:
        problem = self._problem
        allowed = self._allowed(model)
        scores = np.empty(len(allowed), dtype=np.int64)
        for place, each in enumerate(allowed):
            # The rows that are counted wrong beyond what a measurement would, weighted, in units of the grid.
            wrong = distance_on_grid(problem.counts[each], model.counts(each))
            scores[place] = problem.weights[each] * (wrong - round(GRID * self._expected_noise(each)))
        sensitivity = GRID * problem.sensitivity * max(problem.weights[each] for each in allowed)
        charge = self._portions.take("choose", self._for_choice)
        self._left -= charge.rho
        return allowed[int(self.source.gumbel_choice(scores, charge, sensitivity=sensitivity)[0])]

    def _allowed(self, model: Model) -> list[Columns]:
        """Return the candidates that leave the tree within its share of cells, which grows with what is spent."""
        problem, tree = self._problem, model.beliefs.tree
        spent = self._rho - self._left + self._for_noise + self._for_choice
        limit = problem.max_cells * min(Fraction(1), spent / self._rho)
        allowed: list[Columns] = []
        for each in problem.counts:
            if tree.holder(each) is None:
                key = (frozenset(tree.cliques), each)
                if key not in self._cells:
                    sets = [*self._measurements, *problem.impossible, each]
                    self._cells[key] = JunctionTree.of(tree.sizes, sets).cells
                if self._cells[key] > limit:
                    continue
            allowed.append(each)
        return allowed

    def _fitted(self, model: Model | None, steps: int) -> Model:
        problem = self._problem
        return fitted(problem.sizes, self._measurements, steps=steps, start=model, impossible=problem.impossible)

    def _expected_noise(self, columns: Columns) -> float:
        return MEAN_NOISE * self._sigma * self._problem.counts[columns].size

    @property
    def _sigma(self) -> float:
        return scale_in_rho(self._for_noise, self._problem.sensitivity)
