"""The graphical model against the full joint distribution: fits, rows that are drawn, how far it is from the table."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.chance.accountant import Accountant
from sqlanon.methods.synthetic.beliefs import Beliefs, Columns, JunctionTree, Structure, cells_of, mask_of
from sqlanon.methods.synthetic.choosing import ERROR, NoisyMarginal, Problem, candidates_of, chosen, largest_noise
from sqlanon.methods.synthetic.drawn_rows import drawn
from sqlanon.methods.synthetic.fitting import Measurement, fitted, total_of
from tests.effort import examples

Numbers = NDArray[Any]
SIZES = (3, 4, 2, 5, 3)
CYCLE: list[Columns] = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2)]
"""spec/synthetic.md, section 7: ab, bc, cd, de, ac."""


def joint_of(sizes: Sequence[int], potentials: Mapping[Columns, Numbers]) -> Numbers:
    """The distribution over all combinations, by its definition."""
    total = np.zeros(sizes)
    for columns, potential in potentials.items():
        total = total + np.expand_dims(potential, [axis for axis in range(len(sizes)) if axis not in columns])
    weights: Numbers = np.exp(total - total.max())
    return weights / weights.sum()


def summed(joint: Numbers, columns: Columns) -> Numbers:
    others = tuple(axis for axis in range(joint.ndim) if axis not in columns)
    result: Numbers = joint.sum(axis=others)
    return result


def random_potentials(
    sizes: Sequence[int], sets: Sequence[Columns], seed: int, *, never: float
) -> dict[Columns, Numbers]:
    """Normal numbers, a share of them -inf; the combination of first values stays possible."""
    generator = np.random.default_rng(seed)
    found = {}
    for columns in sets:
        potential = generator.normal(size=[sizes[each] for each in columns])
        cannot = generator.random(potential.shape) < never
        cannot.flat[0] = False
        found[columns] = np.where(cannot, -np.inf, potential)
    return found


@st.composite
def models(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[Columns, Numbers]]:
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=6)))
    subsets = st.sets(st.sampled_from(range(len(sizes))), min_size=1, max_size=3).map(lambda each: tuple(sorted(each)))
    sets = draw(st.lists(subsets, max_size=6, unique=True))
    return sizes, random_potentials(sizes, sets, draw(st.integers(0, 99)), never=draw(st.sampled_from([0.0, 0.3])))


class TestTrees:
    @given(models())
    def test_cliques_that_hold_a_column_hang_together(
        self, model: tuple[tuple[int, ...], dict[Columns, Numbers]]
    ) -> None:
        sizes, potentials = model
        tree = JunctionTree.of(sizes, potentials)
        assert all(tree.holder(columns) is not None for columns in potentials)
        assert not any({*one} <= {*other} for one, other in itertools.permutations(tree.cliques, 2))
        assert all(parent < number for number, parent in enumerate(tree.parents))
        assert cells_of(sizes, tree.cliques[0]) == max(cells_of(sizes, clique) for clique in tree.cliques)
        for column in range(len(sizes)):
            holding = [number for number, clique in enumerate(tree.cliques) if column in clique]
            heads = [each for each in holding if each == 0 or column not in tree.cliques[tree.parents[each]]]
            assert len(heads) == 1

    def test_a_cycle_is_closed_by_the_smallest_cliques(self) -> None:
        square: list[Columns] = [(0, 1), (1, 2), (2, 3), (0, 3)]
        tree = JunctionTree.of((2, 9, 3, 9), square)
        assert sorted(tree.cliques) == [(0, 1, 2), (0, 2, 3)]
        assert tree.cells == 2 * 2 * 9 * 3
        assert tree.separators[1] == (0, 2)
        assert mask_of((0, 2)) == 0b101


class TestBeliefs:
    @pytest.mark.parametrize("never", [0.0, 0.15])
    def test_marginals_are_those_of_the_joint_distribution(self, never: float) -> None:
        potentials = random_potentials(SIZES, CYCLE, 1, never=never)
        beliefs = Structure.of(SIZES, potentials).beliefs(potentials)
        joint = joint_of(SIZES, potentials)
        for size in (1, 2, 3):
            for columns in itertools.combinations(range(len(SIZES)), size):
                assert np.abs(beliefs.marginal(columns) - summed(joint, columns)).max() < 1e-12

    @given(models())
    def test_any_marginal_of_any_model(self, model: tuple[tuple[int, ...], dict[Columns, Numbers]]) -> None:
        sizes, potentials = model
        structure = Structure.of(sizes, potentials)
        beliefs = structure.beliefs(potentials)
        joint = joint_of(sizes, potentials)
        for columns, marginal in structure.marginals(beliefs).items():
            assert np.allclose(marginal, summed(joint, columns), atol=1e-12)
        for size in range(1, len(sizes) + 1):
            for columns in itertools.combinations(range(len(sizes)), size):
                assert np.allclose(beliefs.marginal(columns), summed(joint, columns), atol=1e-12)

    def test_nothing_is_possible_where_nothing_was(self) -> None:
        """A value that cannot occur, and what hangs on it."""
        potentials = {(0, 1): np.array([[0.0, 0.0], [-np.inf, -np.inf]]), (1, 2): np.zeros((2, 2))}
        beliefs = Structure.of((2, 2, 2), potentials).beliefs(potentials)
        assert beliefs.marginal((0,)).tolist() == [1.0, 0.0]
        assert np.allclose(beliefs.marginal((0, 2)), [[0.5, 0.5], [0.0, 0.0]])


class TestFits:
    def test_exact_counts_are_met(self) -> None:
        potentials = random_potentials(SIZES, CYCLE, 2, never=0.0)
        counts = {columns: 10_000 * summed(joint_of(SIZES, potentials), columns) for columns in CYCLE}
        model = fitted(SIZES, {each: Measurement(found, 1.0) for each, found in counts.items()}, steps=3000)
        assert model.total == pytest.approx(10_000)
        for columns in CYCLE:
            assert np.abs(model.counts(columns) - counts[columns]).max() < 0.5

    def test_contradictions_are_settled_by_precision(self) -> None:
        """Two totals of one column: the best table of counts of 0 or more is found by hand."""
        measurements = {(0,): Measurement(np.array([60.0, 40.0]), 1.0), (0, 1): Measurement(np.full((2, 2), 25.0), 4.0)}
        model = fitted((2, 2), measurements, steps=1000)
        # With x rows of the first value, by symmetry halved: (x - 60)² + 4 * 2 * (x / 2 - 25)² is least at x = 53 1/3.
        assert model.counts((0,))[0] == pytest.approx(160 / 3, abs=1e-3)
        assert model.loss == pytest.approx((20 / 3) ** 2 + 4 * 2 * (5 / 3) ** 2, rel=1e-4)

    def test_a_start_is_carried_on(self) -> None:
        measured = {(0,): Measurement(np.array([90.0, 10.0]), 1.0)}
        first = fitted((2, 2), measured, steps=500)
        more = {**measured, (1,): Measurement(np.array([30.0, 70.0]), 1.0)}
        assert fitted((2, 2), more, steps=0, start=first).counts((0,)) == pytest.approx(first.counts((0,)))
        assert fitted((2, 2), more, steps=500, start=first).counts((0, 1)) == pytest.approx(
            np.array([[27.0, 63.0], [3.0, 7.0]]), abs=0.01
        )

    def test_what_cannot_occur_has_no_rows(self) -> None:
        measured = {(0,): Measurement(np.array([50.0, 50.0]), 1.0), (1,): Measurement(np.array([50.0, 50.0]), 1.0)}
        model = fitted((2, 2), measured, steps=500, impossible={(0, 1): np.array([[False, True], [False, False]])})
        assert model.counts((0, 1))[0, 1] == 0
        assert model.counts((0, 1)) == pytest.approx(np.array([[50.0, 0.0], [0.0, 50.0]]), abs=2)

    def test_repeated_measurements_are_averaged_by_their_precision(self) -> None:
        one, other = Measurement.of(np.array([10, 20]), 2.0), Measurement.of(np.array([40, 20]), 4.0)
        merged = one.merged(other)
        assert merged.counts.tolist() == [16.0, 20.0]
        assert merged.precision == pytest.approx(1 / 4 + 1 / 16)

    def test_the_total_is_a_mean_of_noisy_totals(self) -> None:
        measured = [Measurement(np.array([100.0, 0.0]), 1.0), Measurement(np.full(4, 30.0), 1.0)]
        assert total_of(measured) == pytest.approx((100 / 2 + 120 / 4) / (1 / 2 + 1 / 4))
        assert total_of([Measurement(np.array([-5.0]), 1.0)]) == 1


class TestRows:
    def model(self, never: float) -> tuple[Beliefs, Numbers]:
        potentials = random_potentials(SIZES, CYCLE, 3, never=never)
        return Structure.of(SIZES, potentials).beliefs(potentials), joint_of(SIZES, potentials)

    def frequencies(self, rows: list[Numbers], columns: Columns) -> Numbers:
        shape = [SIZES[each] for each in columns]
        cells = np.ravel_multi_index([rows[each] for each in columns], shape)
        counted: Numbers = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
        return counted / len(rows[0])

    @pytest.mark.parametrize("never", [0.0, 0.15])
    def test_they_have_the_marginals_of_the_model(self, never: float) -> None:
        """The cliques to a few rows, all columns together as well as draws can, and none that cannot occur."""
        beliefs, joint = self.model(never)
        rows = drawn(beliefs, 200_000, np.random.default_rng(4))
        for columns in CYCLE:
            off = np.abs(self.frequencies(rows, columns) - summed(joint, columns)).sum() / 2
            assert off < 1e-4, "independent draws would be 3e-3 off"
        found = self.frequencies(rows, (0, 1, 2, 3, 4))
        independent = np.sqrt(2 * joint * (1 - joint) / np.pi / 200_000).sum() / 2
        assert np.abs(found - joint).sum() / 2 < 0.9 * independent
        assert not found[joint == 0].any()

    @pytest.mark.parametrize("rows", [0, 1, 7])
    def test_a_few_rows(self, rows: int) -> None:
        beliefs, _ = self.model(0.0)
        columns = drawn(beliefs, rows, np.random.default_rng(5))
        assert [len(each) for each in columns] == [rows] * 5
        assert all((each < size).all() for each, size in zip(columns, SIZES, strict=True))

    @pytest.mark.repeated
    def test_each_row_by_itself_follows_the_model(self) -> None:
        """One row of each of many draws: no position favours a value."""
        beliefs, joint = self.model(0.0)
        generator, draws = np.random.default_rng(6), examples(16_000)
        middle = [drawn(beliefs, 3, generator)[1][1] for _ in range(draws)]
        shares = np.bincount(middle, minlength=4) / draws
        assert np.abs(shares - summed(joint, (1,))).max() < 4 * math.sqrt(0.25 / draws)


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
