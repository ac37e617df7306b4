"""AIM: choose the marginals to measure, and their noise (McKenna, Mullins, Sheldon & Miklau 2022, algorithm 4).

The same measurements also bound the model's distance from the table, at no privacy cost.
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

ERROR = 0.05  # the probability that at least one bound of a run is wrong


@dataclass(frozen=True)
class NoisyMarginal:
    columns: Columns
    number: int  # among the measurements of a run, from 1
    counts: Integers  # an axis per column
    sigma: float  # of the noise of a count

    def largest_distance(self, estimate: Floats) -> float:
        """Bound the sum of all differences between the true marginal and an estimate.

        The bounds of all measurements of a run hold together with a probability of 1 - :data:`ERROR`, for any estimates
        (:func:`largest_noise`), including those fitted to the same noise.
        """
        return float(np.abs(self.counts - estimate).sum()) + largest_noise(self.counts.size, self.sigma, self.number)


def largest_noise(cells: int, sigma: float, number: int) -> float:
    """Bound the sum of the absolute noise of a measurement's counts; ``number`` counts the run's measurements from 1.

    All bounds of a run hold together with a probability of at least 1 - :data:`ERROR`.

    Proof. Discrete Gaussian noise Z of scale σ has E e^(tZ) <= e^(t²σ²/2) for every t (Canonne, Kamath & Steinke 2020).
    Of n counts, Σ|Z_i| is the largest of the 2^n sums Σ±Z_i, and each of these is above u with a probability of
    e^(-u²/(2nσ²)) at most. So Σ|Z_i| is above u = σ √(2n (n ln 2 + λ²)) with a probability of e^(-λ²) at most.
    Whether a run has a j-th measurement, and its n and σ, follow from earlier draws; its noise does not. So it
    is above its u with a probability of ERROR / (j (j + 1)) at most, where λ² = ln(j (j + 1) / ERROR), whatever the
    earlier draws. The sum of these over all j >= 1 is ERROR.

    The mean of several measurements of a marginal has no such bound: whether there is one more may depend on the noise
    of earlier ones, so it is not the mean of a fixed number of draws.
    """
    squared = math.log(number * (number + 1) / ERROR)
    return sigma * math.sqrt(2 * cells * (cells * math.log(2) + squared))


def candidates_of(sizes: Sequence[int], workload: Mapping[Columns, int], max_cells: int) -> dict[Columns, int]:
    """Return the weights of the sets to measure: subsets of workload sets with one column or few enough cells.

    A set's weight sums, over the workload, the weight of each workload set times the number of columns they share: a
    measurement improves all of these (McKenna et al. 2022, section 4).
    """
    found = {
        subset for columns in workload for size in range(len(columns)) for subset in combinations(columns, size + 1)
    }
    found |= {(column,) for column in range(len(sizes))}
    kept = sorted(each for each in found if len(each) == 1 or cells_of(sizes, each) <= max_cells)
    return {
        each: sum(weight * len({*each}.intersection(columns)) for columns, weight in workload.items()) for each in kept
    }


MEASURED = Fraction(9, 10)  # the share of ρ for noisy counts; the rest pays for choosing marginals
GRID = 1024  # scores are integers in units of 1 / 1024 rows, so their stated sensitivity holds to the last bit

STEPS, LAST_STEPS = 100, 1000  # of the descent after each measurement, and after the last one

FASTER = 2
"""The factor of the ρ per round after a round that taught nothing new.

McKenna et al. take 4, at which pairs of Adult are wrong by 2 % more (tests.benchmarks.synthetic, ε = 1).
"""

MEAN_NOISE = math.sqrt(2 / math.pi)  # the mean absolute value of Gaussian noise, in units of its scale


@dataclass(frozen=True)
class Problem:
    sizes: tuple[int, ...]  # the number of values of each column
    counts: Mapping[Columns, Integers]  # by candidate, the rows of each combination of values
    weights: Mapping[Columns, int]  # by candidate
    sensitivity: int  # the maximum number of counted rows of one individual
    max_cells: int  # of the model's tree
    rounds: int  # about as many marginals are measured
    impossible: Mapping[Columns, NDArray[np.bool_]]  # by set of columns, the combinations that cannot occur
    fine: Mapping[int, Integers]  # by refined column, the rows of each single value


@dataclass(frozen=True)
class Chosen:
    model: Model
    measurements: Mapping[Columns, Measurement]
    fine: Mapping[int, tuple[Integers, float]]  # by refined column, noisy counts of single values and their scale
    log: Sequence[NoisyMarginal]  # all measurements of marginals, in order

    def measured(self, columns: Columns) -> Sequence[NoisyMarginal]:
        """Return the measurements of a marginal, the least noisy last."""
        return [each for each in self.log if each.columns == columns]


def chosen(problem: Problem, rho: Fraction, portions: RhoPortions, source: RandomSource) -> Chosen:
    return Run(problem, rho, portions, source).chosen()


@dataclass(frozen=True)
class ErrorEstimate:
    rows: float  # the mean over the workload, not below 0
    sigma: float  # of its noise


def estimated_error(
    problem: Problem,
    model: Model,
    workload: Sequence[Columns],
    rho: Fraction,
    portions: RhoPortions,
    source: RandomSource,
) -> ErrorEstimate:
    """Spend ρ on the L1 distance between the workload's marginals and the model's, summed.

    The model depends on earlier draws only, and all sets of the workload have counts.
    """
    wrong = sum(distance_on_grid(problem.counts[each], model.counts(each)) for each in workload)
    sensitivity = GRID * problem.sensitivity * len(workload)
    noise = source.discrete_gaussian(1, portions.take("error", rho), sensitivity=sensitivity)
    unit = GRID * len(workload)
    return ErrorEstimate(max(0.0, (wrong + int(noise[0])) / unit), scale_in_rho(rho, sensitivity) / unit)


def distance_on_grid(counts: Integers, estimate: NDArray[np.float64]) -> int:
    """Sum all differences in grid units; one row changes the sum by at most :data:`GRID`."""
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
        self._cells: dict[tuple[frozenset[Columns], Columns], int] = {}  # by tree and one more set

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
        charge = self._portions.take("measure", self._for_noise)
        self._left -= charge.rho
        noise = self.source.discrete_gaussian(counts.size, charge, sensitivity=self._problem.sensitivity)
        return counts + noise.reshape(counts.shape)

    def _worst(self, model: Model) -> Columns:
        problem = self._problem
        allowed = self._allowed(model)
        scores = np.empty(len(allowed), dtype=np.int64)
        for place, each in enumerate(allowed):
            # The rows wrong beyond the noise of a measurement, weighted, in grid units.
            wrong = distance_on_grid(problem.counts[each], model.counts(each))
            scores[place] = problem.weights[each] * (wrong - round(GRID * self._expected_noise(each)))
        sensitivity = GRID * problem.sensitivity * max(problem.weights[each] for each in allowed)
        charge = self._portions.take("choose", self._for_choice)
        self._left -= charge.rho
        return allowed[int(self.source.gumbel_choice(scores, charge, sensitivity=sensitivity)[0])]

    def _allowed(self, model: Model) -> list[Columns]:
        """Return the candidates that keep the tree within its share of cells, which grows with the spent ρ."""
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
