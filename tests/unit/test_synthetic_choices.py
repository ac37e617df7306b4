"""Which marginals are measured: the candidates, their scores, and what is drawn for, against all small tables."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.chance.accountant import Accountant, RhoCharge, RhoPortions
from sqlanon.methods.synthetic import choosing
from sqlanon.methods.synthetic.beliefs import Columns
from sqlanon.methods.synthetic.choosing import GRID, Problem, candidates_of, chosen, distance_on_grid, estimated_error
from sqlanon.methods.synthetic.drawn_rows import weights_within

SIZES = (2, 2)
WEIGHTS = candidates_of(SIZES, {(0, 1): 1}, 100)
Counts = NDArray[np.int64]


class Asked(sa.SeededSource):
    """A source that adds no noise, takes the last candidate, and keeps what it is asked for."""

    def __init__(self) -> None:
        super().__init__(1)
        self.scores: list[list[int]] = []
        self.for_choices: list[int] = []
        self.for_noise: list[tuple[int, Fraction]] = []

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Counts:
        self.for_noise.append((sensitivity, charge.rho))
        return np.zeros(size, dtype=np.int64)

    def gumbel_choice(self, scores: Counts, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Counts:
        assert scores.dtype == np.int64
        self.scores.append(scores.tolist())
        self.for_choices.append(sensitivity)
        return np.full(runs, len(scores) - 1)


def portions() -> RhoPortions:
    return Accountant(None, dataset="", method="", policy_sha256="").charge_in_rho("marginals", sa.Budget(1, "1e-6"))


def problem_of(cells: Sequence[int], *, sensitivity: int = 1, rounds: int = 8) -> Problem:
    """The marginals of a table of two columns of two values."""
    table = np.array(cells, dtype=np.int64).reshape(SIZES)
    counts = {(0,): table.sum(1), (1,): table.sum(0), (0, 1): table}
    return Problem(SIZES, counts, WEIGHTS, sensitivity, 100, rounds, {}, {})


def neighbours(most: int, rows: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All tables with up to ``most`` rows in a cell, each beside those with ``rows`` rows more."""
    for table in itertools.product(range(most + 1), repeat=4):
        for cells in itertools.combinations_with_replacement(range(4), rows):
            more = list(table)
            for cell in cells:
                more[cell] += 1
            yield table, tuple(more)


@pytest.fixture
def same_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All noisy counts are the same for every table, so that the models are, and scores differ by the rows alone."""
    noisy = choosing.Run.noisy
    monkeypatch.setattr(choosing.Run, "noisy", lambda run, counts: 0 * noisy(run, counts) + 3)


class TestCandidates:
    def test_weights_are_those_of_the_specification(self) -> None:
        """Pairs of 15 columns: 28, as each shares two columns with itself and one with 26 others."""
        pairs = dict.fromkeys(itertools.combinations(range(15), 2), 1)
        found = candidates_of((2,) * 15, pairs, 1000)
        assert found[0, 1] == 28
        assert found[0,] == 14
        assert len(found) == 15 + 105

    def test_large_sets_are_left_out_and_weights_count(self) -> None:
        found = candidates_of((10, 10, 3), {(0, 1, 2): 2, (2,): 5}, 50)
        assert found == {(0,): 2, (1,): 2, (2,): 7, (0, 2): 9, (1, 2): 9}


class TestScores:
    @pytest.mark.usefixtures("same_outputs")
    @pytest.mark.parametrize("rows", [1, 2])
    def test_no_score_changes_by_more_than_is_drawn_for(self, rows: int) -> None:
        """And some score changes by just as much: sensitivities are neither too small nor wasteful."""
        asked: dict[tuple[int, ...], Asked] = {}

        def of(table: tuple[int, ...]) -> Asked:
            if table not in asked:
                asked[table] = Asked()
                whole = portions()
                chosen(problem_of(table, sensitivity=rows, rounds=3), whole.rho, whole, asked[table])
            return asked[table]

        largest = 0
        for one, other in neighbours(1, rows):
            here, there = of(one), of(other)
            assert here.for_choices == there.for_choices == [GRID * rows * 2] * len(here.scores)
            for before, after in zip(here.scores, there.scores, strict=True):
                largest = max(largest, *(abs(score - new) for score, new in zip(before, after, strict=True)))
        assert largest == GRID * rows * 2

    def test_noise_is_for_the_rows_of_one(self) -> None:
        source, whole = Asked(), portions()
        chosen(problem_of((5, 2, 0, 1), sensitivity=3), whole.rho, whole, source)
        assert {sensitivity for sensitivity, _ in source.for_noise} == {3}

    def test_noise_is_as_large_as_it_is_said_to_be(self) -> None:
        """Of some 960 counts; half of it would be 16 standard deviations off."""
        table = 600 * np.eye(30, dtype=np.int64)
        counts = {(0,): table.sum(1), (1,): table.sum(0), (0, 1): table}
        weights, whole = candidates_of((30, 30), {(0, 1): 1}, 1000), portions()
        problem = Problem((30, 30), counts, weights, 1, 10_000, 8, {}, {})
        found = chosen(problem, whole.rho, whole, sa.SeededSource(5)).measurements
        scaled = [(each.counts - counts[key]).ravel() * each.precision**0.5 for key, each in found.items()]
        errors = np.concatenate(scaled)
        assert len(errors) >= 930
        assert np.square(errors).mean() == pytest.approx(1, abs=5 * (2 / len(errors)) ** 0.5)

    def test_a_distance_is_a_whole_number(self) -> None:
        found = distance_on_grid(np.array([1, 2]), np.array([0.3, 2.7]))
        assert found == (1024 - 307) + (2765 - 2048)
        assert isinstance(found, int)

    def test_a_score_counts_rows_that_are_wrong_beyond_noise(self) -> None:
        """By hand, in the first round: all counts are exact, so that a pair is wrong by what independence is off."""
        source, whole = Asked(), portions()
        problem = problem_of((400, 0, 0, 400))
        chosen(problem, whole.rho, whole, source)
        sigma = (8 / (2 * 0.9 * float(whole.rho))) ** 0.5
        expected = round(GRID * (2 / np.pi) ** 0.5 * sigma * 4)
        first = source.scores[0]
        assert first[[*problem.counts].index((0, 1))] == pytest.approx(2 * (800 * GRID - expected), abs=4)


class TestRounds:
    def test_all_is_spent_and_nothing_more(self) -> None:
        whole = portions()
        found = chosen(problem_of((50, 20, 10, 30)), whole.rho, whole, sa.SeededSource(3))
        assert whole.left == 0
        assert sum(each.purpose == "measure" for each in whole.given) == len(found.log)
        assert sum(each.purpose == "choose" for each in whole.given) == len(found.log) - 2

    def test_noise_falls_once_nothing_is_learnt(self) -> None:
        whole = portions()
        source = Asked()
        chosen(problem_of((500, 500, 500, 500), rounds=64), whole.rho, whole, source)
        spent = [rho for _, rho in source.for_noise]
        assert spent[2] == spent[0], "no faster than that"
        assert spent[3] == 2 * spent[2]

    def test_the_tree_is_small_until_most_is_spent(self) -> None:
        """A pair of 30 x 30 values is left out while its share of the cells is not reached."""
        counts = {(0,): np.full(30, 3), (1,): np.full(30, 3), (0, 1): np.full((30, 30), 1)}
        weights = candidates_of((30, 30), {(0, 1): 1}, 1000)
        source, whole = Asked(), portions()
        chosen(Problem((30, 30), counts, weights, 1, 1000, 100, {}, {}), whole.rho, whole, source)
        sizes = [len(each) for each in source.scores]
        assert sizes[0] == 2
        assert sizes[-1] == 3
        assert sizes == sorted(sizes)


class TestErrors:
    def test_it_is_the_mean_distance_of_the_workload(self) -> None:
        whole = portions()
        problem = problem_of((400, 0, 0, 400))
        model = chosen(problem_of((200, 200, 200, 200)), whole.rho / 2, whole, Asked()).model
        source = Asked()
        workload: list[Columns] = [(0, 1), (0,)]
        found = estimated_error(problem, model, workload, whole.left, whole, source)
        assert found.rows == pytest.approx((800 + 0) / 2, abs=1)
        assert source.for_noise == [(2 * GRID, whole.rho / 2)]
        assert found.sigma == pytest.approx((1 / float(whole.rho)) ** 0.5, rel=1e-6)


class TestSingleValues:
    def test_counts_that_may_be_noise_say_nothing(self) -> None:
        assert weights_within(np.array([10, 12, 9, 11]), [0, 0, 0, 0], 5.0).tolist() == [1, 1, 1, 1]

    def test_counts_that_differ_are_shrunk(self) -> None:
        """Two values, by hand: d = ±40, q = 3200, σ = 10, so that 1 - 100 / 3200 of the difference is left."""
        found = weights_within(np.array([90, 10, 7]), [0, 0, 1], 10.0)
        assert found == pytest.approx([50 + 40 * (1 - 100 / 3200), 50 - 40 * (1 - 100 / 3200), 1])
