"""How far a model is from the table at most: the bound by exact distributions of noise, and by runs on small tables."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.chance.accountant import Accountant
from sqlanon.methods.synthetic.choosing import ERROR, NoisyMarginal, Problem, candidates_of, chosen, largest_noise
from tests.effort import examples

Floats = NDArray[np.float64]


def sizes_of_noise(sigma: float) -> Floats:
    """The probabilities of |Z| = 0, 1, 2, ..., for discrete Gaussian noise, up to 16 scales."""
    places = np.arange(int(16 * sigma) + 2)
    weights = np.exp(-(places**2) / (2 * sigma**2)) * np.where(places == 0, 1, 2)
    found: Floats = weights / weights.sum()
    return found


def sums_of_sizes(sigma: float, cells: int) -> Floats:
    """The probabilities of Σ|Z| = 0, 1, 2, ... for some cells."""
    found = np.ones(1)
    for _ in range(cells):
        found = np.convolve(found, sizes_of_noise(sigma))
    return found


def above(distribution: Floats, bound: float) -> float:
    """The probability of more than a bound."""
    return float(distribution[math.floor(bound) + 1 :].sum())


class TestLargestNoise:
    def test_it_is_above_its_bound_as_seldom_as_is_said(self) -> None:
        """Exactly, for the first measurements of a run."""
        for sigma, cells in itertools.product((0.3, 1.0, 40.0), (1, 2, 20)):
            distribution = sums_of_sizes(sigma, cells)
            for number in (1, 2, 5, 30, 100):
                assert above(distribution, largest_noise(cells, sigma, number)) <= ERROR / (number * (number + 1))

    def test_a_bound_of_three_quarters_would_be_too_low(self) -> None:
        """So that the test above can fail. Of more cells the bound is further off."""
        for cells, number in itertools.product((1, 2), (1, 5, 30)):
            bound = 0.75 * largest_noise(cells, 40.0, number)
            assert above(sums_of_sizes(40.0, cells), bound) > ERROR / (number * (number + 1))

    def test_noise_is_subgaussian(self) -> None:
        """What the proof takes from Canonne, Kamath & Steinke 2020."""
        for sigma in (0.2, 1.0, 40.0):
            places = np.arange(-int(40 * sigma) - 20, int(40 * sigma) + 21)
            weights = np.exp(-(places**2) / (2 * sigma**2))
            for t in np.linspace(0, 8 / sigma, 60):
                tilted = np.exp(t * places - places**2 / (2 * sigma**2)).sum() / weights.sum()
                assert tilted <= math.exp(t**2 * sigma**2 / 2) * (1 + 1e-12)

    def test_all_of_a_run_together(self) -> None:
        """By the exact probabilities of single counts, for which the bound is tightest."""
        distribution = sizes_of_noise(5.0)
        chances = [above(distribution, largest_noise(1, 5.0, number)) for number in range(1, 10_001)]
        assert 0.001 < sum(chances) <= ERROR

    def test_a_distance_is_that_of_the_counts_and_the_noise(self) -> None:
        found = NoisyMarginal((0,), 1, np.array([3, 8]), 2.0).largest_distance(np.array([5.0, 7.5]))
        assert found == pytest.approx(2.5 + 2 * math.sqrt(4 * (2 * math.log(2) + math.log(40))))


def problem(seed: int) -> Problem:
    """A table of three columns that depend on each other."""
    cells = np.random.default_rng(seed).multinomial(300, [0.3, 0, 0.05, 0.1, 0.02, 0.03, 0, 0.2, 0, 0.1, 0.2, 0])
    table = cells.reshape(2, 3, 2)
    sets = candidates_of((2, 3, 2), {(0, 1): 1, (0, 2): 1, (1, 2): 1}, 100)
    counts = {each: table.sum(tuple({0, 1, 2}.difference(each))) for each in sets}
    return Problem((2, 3, 2), counts, sets, 1, 100, 24, {}, {})


def runs_with_a_wrong_bound(runs: int) -> int:
    """In how many runs some bound of a measured marginal was too low."""
    wrong = 0
    for seed in range(runs):
        table, source = problem(seed % 7), sa.SeededSource(seed)
        accountant = Accountant(None, dataset="", method="", policy_sha256="")
        whole = accountant.charge_in_rho("marginals", sa.Budget(1, "1e-6"))
        found = chosen(table, whole.rho, whole, source)
        last = {each: found.measured(each)[-1] for each in found.measurements}
        bounds = {each: last[each].largest_distance(found.model.counts(each)) for each in last}
        distances = {each: np.abs(table.counts[each] - found.model.counts(each)).sum() for each in bounds}
        wrong += any(distances[each] > bound for each, bound in bounds.items())
    return wrong


class TestRuns:
    @pytest.mark.repeated
    def test_bounds_are_kept(self) -> None:
        """One of 20 runs may have a wrong one."""
        runs = examples(112)
        assert runs_with_a_wrong_bound(runs) <= runs // 7

    def test_a_bound_without_noise_is_not_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that the test above can fail."""
        monkeypatch.setattr("sqlanon.methods.synthetic.choosing.largest_noise", lambda *_: 0.0)
        assert runs_with_a_wrong_bound(4) > 2

    def test_the_last_measurement_has_the_least_noise(self) -> None:
        accountant = Accountant(None, dataset="", method="", policy_sha256="")
        whole = accountant.charge_in_rho("marginals", sa.Budget(4, "1e-6"))
        log = chosen(problem(1), whole.rho, whole, sa.SeededSource(1)).log
        sigmas = [each.sigma for each in log]
        assert sigmas == sorted(sigmas, reverse=True)
        assert len(log) > len({each.columns for each in log}), "some were measured again"
        assert [each.number for each in log] == [*range(1, len(log) + 1)]
