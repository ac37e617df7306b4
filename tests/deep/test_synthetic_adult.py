"""The model of UCI Adult without noise, by spec/synthetic.md, section 7, and bounds in a report of its rows."""

from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.synthetic import measuring
from sqlanon.methods.synthetic.beliefs import Columns
from sqlanon.methods.synthetic.choosing import Chosen, Problem, distance_on_grid
from sqlanon.methods.synthetic.fitting import Measurement, Model, fitted
from sqlanon.methods.synthetic.measuring import checked, counted
from tests.benchmarks.synthetic import common, make_adult, policy
from tests.conftest import UCI_COLUMNS, data_folder
from tests.engines import engine_of

ROWS = 32561
PAIRS = [*combinations(range(15), 2)]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """The marginals of Adult as the method counts them, before a draw."""
    data_folder("adult_uci")
    with sa.connect() as session:
        make_adult(session)
        engine = engine_of(session)
        settings = sa.Synthetic(**common(), budget=sa.Budget(1, "1e-6"))
        bound = checked(prepare(engine, engine.resolve("adult"), policy(settings)))
        with engine.transaction(), engine.scratch():
            return counted(engine, bound, sa.SeededSource(1)).problem


def independent(problem: Problem, columns: Columns) -> NDArray[np.float64]:
    """How many rows each pair of values would have if columns were independent."""
    one, other = (problem.counts[each,] for each in columns)
    return np.outer(one, other) / ROWS


def score(problem: Problem, columns: Columns) -> int:
    return distance_on_grid(problem.counts[columns], independent(problem, columns))


def mean_distance(problem: Problem, expected: Callable[[Columns], NDArray[np.float64]]) -> float:
    """The mean total variation of pairs."""
    return float(np.mean([np.abs(problem.counts[pair] - expected(pair)).sum() / 2 / ROWS for pair in PAIRS]))


def maximum_spanning_tree(problem: Problem) -> list[Columns]:
    """The pairs of a tree whose scores have the largest sum (Kruskal)."""
    groups = [{column} for column in range(15)]
    tree = []
    for pair in sorted(PAIRS, key=lambda each: -score(problem, each)):
        one, other = (next(group for group in groups if column in group) for column in pair)
        if one is not other:
            groups = [group for group in groups if group is not one and group is not other] + [one | other]
            tree.append(pair)
    return tree


def fitted_to(problem: Problem, pairs: Iterable[Columns]) -> Model:
    """The model of exact counts of all columns and some pairs."""
    sets = [*((column,) for column in range(15)), *pairs]
    return fitted(problem.sizes, {each: Measurement.of(problem.counts[each], 1.0) for each in sets}, steps=1000)


def test_sizes_of_columns(problem: Problem) -> None:
    assert problem.sizes == (16, 9, 24, 16, 16, 7, 15, 6, 5, 2, 12, 11, 13, 42, 2)
    assert all(counts.sum() == ROWS for counts in problem.counts.values())


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (("education", "education_num"), 53_986_768),
        (("marital_status", "relationship"), 34_366_825),
        (("relationship", "sex"), 17_871_552),
        (("age", "marital_status"), 17_165_056),
    ],
)
def test_scores_of_pairs(problem: Problem, columns: tuple[str, str], expected: int) -> None:
    assert score(problem, tuple(map(UCI_COLUMNS.index, columns))) == expected


def test_distances_without_noise(problem: Problem) -> None:
    alone, tree = fitted_to(problem, ()), fitted_to(problem, maximum_spanning_tree(problem))
    assert mean_distance(problem, alone.counts) == pytest.approx(0.07906, abs=5e-6)
    assert mean_distance(problem, tree.counts) == pytest.approx(0.0327, abs=5e-5)


COLUMNS = ("age", "education", "marital_status", "relationship", "race", "sex")

RUNS = 2
"""Each has some 20 bounds. One of 20 seeds may have a wrong one, and these have none."""


def test_bounds_of_adult(uci_adult: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[Problem] = []
    models: list[Chosen] = []
    choose = measuring.chosen

    def watched(problem: Problem, *others: object) -> Chosen:
        problems.append(problem)
        models.append(choose(problem, *others))  # type: ignore[arg-type]
        return models[-1]

    monkeypatch.setattr(measuring, "chosen", watched)
    policy = sa.Policy(
        quasi_identifiers=COLUMNS,
        taxonomies={name: {"kind": "flat"} for name in COLUMNS[1:]},
        identifiers=[],
        method=sa.Synthetic(numeric={"age": (15, 95, 5)}, accept_observed_domain=True, rounds=40),
    )
    wrong = 0
    with sa.connect() as session:
        session.connection.execute(f"ATTACH '{uci_adult}' AS kept (READ_ONLY)")
        session.connection.execute(f"CREATE TABLE adult AS SELECT {', '.join(COLUMNS)} FROM kept.adult")
        for seed in range(RUNS):
            source = sa.SeededSource(seed)
            report = session.anonymize("adult", policy, into="released", replace=True, random_source=source).report
            counts, model = problems[-1].counts, models[-1].model
            distances = {
                tuple(COLUMNS[each] for each in columns): np.abs(counts[columns] - model.counts(columns)).sum() / 2
                for columns in models[-1].measurements
            }
            bounds = {each.columns: each.error_at_most for each in report.measured}
            assert bounds.keys() == distances.keys()
            assert len(bounds) > 12
            wrong += any(distances[each] > bound for each, bound in bounds.items())
            ratios = [bound / max(distances[each], 1) for each, bound in bounds.items()]
            assert np.median(ratios) < 12, "a bound, and one that says something"
    assert wrong == 0
