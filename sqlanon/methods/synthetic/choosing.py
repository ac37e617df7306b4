"""AIM: which marginals are measured, and how exactly (McKenna, Mullins, Sheldon & Miklau 2022, algorithm 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlanon.mechanisms.accountant import RhoPortions
from sqlanon.mechanisms.scales import scale_in_rho
from sqlanon.mechanisms.source import Integers, RandomSource
from sqlanon.methods.synthetic.bounds import NoisyMarginal
from sqlanon.methods.synthetic.fitting import Measurement, Model, fitted
from sqlanon.methods.synthetic.tree import Columns, JunctionTree

MEASURED = Fraction(9, 10)
"""The share of ρ that is spent on noisy counts; the rest is spent on the choices between marginals."""

GRID = 1024
"""Scores count in units of 1 / 1024 rows: as whole numbers, they are of the stated sensitivity to the last bit."""

STEPS, LAST_STEPS = 100, 1000
"""Steps of the descent after each measurement, and after the last one."""

FASTER = 2
"""By how much more ρ is spent on each round once one has taught nothing new.

McKenna et al. take 4, at which pairs of Adult are wrong by 2 % more (tests.benchmarks.synthetic, ε = 1).
"""

MEAN_NOISE = math.sqrt(2 / math.pi)
"""The mean size of Gaussian noise, in units of its scale."""


@dataclass(frozen=True)
class Problem:
    """What may be measured of a table; all but the counts is public.

    Attributes:
        sizes: how many values each column has.
        counts: how many rows each combination of values of each candidate has.
        weights: by candidate, how much it matters.
        sensitivity: how many rows of one individual are counted at most.
        max_cells: how many cells the tree of the model may have.
        rounds: about how many marginals are measured.
        impossible: by set of columns, the combinations that cannot occur.
        fine: by column that is refined, how many rows each single value has.
    """

    sizes: tuple[int, ...]
    counts: Mapping[Columns, Integers]
    weights: Mapping[Columns, int]
    sensitivity: int
    max_cells: int
    rounds: int
    impossible: Mapping[Columns, NDArray[np.bool_]]
    fine: Mapping[int, Integers]


@dataclass(frozen=True)
class Chosen:
    """The model of all measurements.

    Attributes:
        model: fitted to them.
        measurements: by set of columns.
        fine: by column that is refined, the noisy counts of single values, and the scale of their noise.
        log: all measurements of marginals, in their order.
    """

    model: Model
    measurements: Mapping[Columns, Measurement]
    fine: Mapping[int, tuple[Integers, float]]
    log: Sequence[NoisyMarginal]

    def measured(self, columns: Columns) -> Sequence[NoisyMarginal]:
        """The measurements of a marginal; the last one has the least noise."""
        return [each for each in self.log if each.columns == columns]


def chosen(problem: Problem, rho: Fraction, portions: RhoPortions, source: RandomSource) -> Chosen:
    """Measure marginals one by one, each where the model before is most wrong for what it costs.

    Args:
        problem: what may be measured.
        rho: what may be spent.
        portions: where it is taken from; at least ρ is left.
        source: of noise and choices.

    Raises:
        BudgetError: ρ is too small for noise that fits 64-bit integers.
    """
    return Run(problem, rho, portions, source).chosen()


@dataclass(frozen=True)
class ErrorEstimate:
    """How many rows of a marginal the model has in another place than the table, with noise.

    Attributes:
        rows: the mean over the workload, not below 0.
        sigma: the scale of its noise.
    """

    rows: float
    sigma: float


def estimated_error(
    problem: Problem,
    model: Model,
    workload: Sequence[Columns],
    rho: Fraction,
    portions: RhoPortions,
    source: RandomSource,
) -> ErrorEstimate:
    """Measure how far the marginals of a workload are from those of the model, summed in L1 norm.

    Args:
        problem: the counts.
        model: what they are compared with, made of what was drawn before.
        workload: the sets of columns, all of them counted.
        rho: what is spent.
        portions: where it is taken from.
        source: of noise.
    """
    wrong = sum(distance_on_grid(problem.counts[each], model.counts(each)) for each in workload)
    sensitivity = GRID * problem.sensitivity * len(workload)
    noise = source.discrete_gaussian(1, portions.take("error", rho), sensitivity=sensitivity)
    unit = GRID * len(workload)
    return ErrorEstimate(max(0.0, (wrong + int(noise[0])) / unit), scale_in_rho(rho, sensitivity) / unit)


def distance_on_grid(counts: Integers, estimate: NDArray[np.float64]) -> int:
    """The sum of all differences, in units of the grid: one row more or less changes it by :data:`GRID` at most."""
    return int(np.abs(GRID * counts - np.rint(GRID * estimate).astype(np.int64)).sum())


class Run:
    """The choices of one release, one after the other."""

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
        self._cells: dict[tuple[frozenset[Columns], Columns], int] = {}

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
        """Counts with noise, for the present portion of ρ."""
        charge = self._portions.take("measure", self._for_noise)
        self._left -= charge.rho
        noise = self.source.discrete_gaussian(counts.size, charge, sensitivity=self._problem.sensitivity)
        return counts + noise.reshape(counts.shape)

    def _worst(self, model: Model) -> Columns:
        """The marginal that the model gets most wrong, by a noisy choice."""
        problem = self._problem
        allowed = self._allowed(model)
        scores = np.array([self._score(model, each) for each in allowed], dtype=np.int64)
        sensitivity = GRID * problem.sensitivity * max(problem.weights[each] for each in allowed)
        charge = self._portions.take("choose", self._for_choice)
        self._left -= charge.rho
        return allowed[int(self.source.gumbel_choice(scores, charge, sensitivity=sensitivity)[0])]

    def _score(self, model: Model, columns: Columns) -> int:
        """How many rows the model counts wrong beyond what a measurement would, weighted, in units of the grid."""
        wrong = distance_on_grid(self._problem.counts[columns], model.counts(columns))
        return self._problem.weights[columns] * (wrong - round(GRID * self._expected_noise(columns)))

    def _allowed(self, model: Model) -> list[Columns]:
        """The candidates that leave the tree within its share of cells, which grows with what is spent."""
        problem, tree = self._problem, model.beliefs.tree
        spent = self._rho - self._left + self._for_noise + self._for_choice
        limit = problem.max_cells * min(Fraction(1), spent / self._rho)
        return [
            each for each in problem.counts if tree.holder(each) is not None or self._cells_with(tree, each) <= limit
        ]

    def _cells_with(self, tree: JunctionTree, columns: Columns) -> int:
        """How many cells the tree has with one more set."""
        key = (frozenset(tree.cliques), columns)
        if key not in self._cells:
            sets = [*self._measurements, *self._problem.impossible, columns]
            self._cells[key] = JunctionTree.of(tree.sizes, sets).cells
        return self._cells[key]

    def _fitted(self, model: Model | None, steps: int) -> Model:
        problem = self._problem
        return fitted(problem.sizes, self._measurements, steps=steps, start=model, impossible=problem.impossible)

    def _expected_noise(self, columns: Columns) -> float:
        """The mean sum of the noise of all counts of a marginal."""
        return MEAN_NOISE * self._sigma * self._problem.counts[columns].size

    @property
    def _sigma(self) -> float:
        return scale_in_rho(self._for_noise, self._problem.sensitivity)
