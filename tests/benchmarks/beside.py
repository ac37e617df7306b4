"""Synthetic rows of UCI Adult beside what other methods make of it, at ε = 1 and δ = 1e-6.

    python -m tests.benchmarks.beside [--seeds 3]

Needs the Adult data (SQLANON_DATA), and scikit-learn. Three tables of means over seeds: rows of all columns, by
``Synthetic``, by MST (McKenna, Miklau & Sheldon 2021) and by independent columns, all with the model, the noise and the
drawing of ``Synthetic``; counts by occupation, also of ``IPA`` and ``Histogram``, whose labels count evenly for the
values under them; and the accuracy of decision trees, also that of ``DiffGen``.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np

import sqlanon as sa
from sqlanon.chance.accountant import RhoPortions
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import scale_in_rho
from sqlanon.methods.synthetic import measuring
from sqlanon.methods.synthetic.beliefs import Columns
from sqlanon.methods.synthetic.choosing import (
    GRID,
    LAST_STEPS,
    Chosen,
    NoisyMarginal,
    Problem,
    chosen,
    distance_on_grid,
)
from sqlanon.methods.synthetic.fitting import Measurement, fitted
from sqlanon.papers import adult
from sqlanon.papers import diffgen_experiment as releases
from tests.benchmarks.synthetic import CLASS, QUERIES, common, figures_of, make_adult
from tests.conftest import DATA

BUDGET = sa.Budget(1, "1e-6")
LABELLED = ("age", "education", "marital_status", "sex")
"""The quasi-identifiers of IPA and Histogram."""

BY_OCCUPATION = {"sex": None, "age": 10, "education": None}
"""What is counted by occupation, and the width of its groups."""

Choose = Callable[[Problem, Fraction, RhoPortions, RandomSource], Chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    with tempfile.TemporaryDirectory() as folder, sa.connect(Path(folder) / "adult.duckdb") as session:
        make_adult(session)
        for name, choose in WAYS.items():
            with mock.patch.object(measuring, "chosen", choose):
                settings = sa.Synthetic(**common(), budget=BUDGET)
                show(name, [figures_of(session, settings, seed) for seed in seeds])
        target = sa.Synthetic(**common(), budget=BUDGET, target=CLASS)
        show("synthetic, target", [{**figures_of(session, target, seed), **tree(session, seed)} for seed in seeds])
    with tempfile.TemporaryDirectory() as folder, sa.connect(Path(folder) / "adult.duckdb") as session:
        make_labelled(session)
        for name, labelled in labelling().items():
            show(name, [labelled_figures(session, labelled, seed) for seed in seeds])
    with tempfile.TemporaryDirectory() as folder, sa.connect(Path(folder) / "adult.duckdb") as session:
        releases.prepare(session, DATA / "adult_uci")
        contender = releases.diffgen("DiffGen", "max", "1", 10)
        rows = [row for seed in seeds for row in releases.measured(session, contender, [seed])]
        show("DiffGen", [{"accuracy of a tree": row["tree"]} for row in rows])


def show(name: str, found: list[dict[str, float]]) -> None:
    means = {figure: statistics.fmean(each[figure] for each in found) for figure in found[0]}
    sys.stdout.write(f"{name}\n" + "".join(f"    {figure:<60}{mean:9.4f}\n" for figure, mean in means.items()))
    sys.stdout.flush()


def independent(problem: Problem, rho: Fraction, portions: RhoPortions, source: RandomSource) -> Chosen:
    singles = [(column,) for column in range(len(problem.sizes))]
    return model_of(problem, measured(problem, singles, rho, portions, source))


def spanning_tree(problem: Problem, rho: Fraction, portions: RhoPortions, source: RandomSource) -> Chosen:
    """Each column, and a tree of pairs that are far from independent: MST (algorithm 3), a third of ρ for each step."""
    columns, third = range(len(problem.sizes)), rho / 3
    singles = measured(problem, [(column,) for column in columns], third, portions, source)
    alone = model_of(problem, singles).model
    scores = {pair: distance_on_grid(problem.counts[pair], alone.counts(pair)) for pair in combinations(columns, 2)}
    groups = {column: column for column in columns}
    edges: list[Columns] = []
    for _ in columns[1:]:
        open_pairs = [pair for pair in scores if groups[pair[0]] != groups[pair[1]]]
        charge = portions.take("choose", third / (len(columns) - 1))
        found = np.array([scores[pair] for pair in open_pairs], dtype=np.int64)
        one, other = open_pairs[int(source.gumbel_choice(found, charge, sensitivity=GRID)[0])]
        edges.append((one, other))
        joined = groups[other]
        groups = {column: groups[one] if group == joined else group for column, group in groups.items()}
    return model_of(problem, singles | measured(problem, edges, third, portions, source))


def measured(
    problem: Problem, sets: list[Columns], rho: Fraction, portions: RhoPortions, source: RandomSource
) -> dict[Columns, NoisyMarginal]:
    found = {}
    for number, columns in enumerate(sets, start=1):
        charge = portions.take("measure", rho / len(sets))
        counts = problem.counts[columns]
        noise = source.discrete_gaussian(counts.size, charge, sensitivity=1)
        found[columns] = NoisyMarginal(
            columns, number, counts + noise.reshape(counts.shape), scale_in_rho(charge.rho, 1)
        )
    return found


def model_of(problem: Problem, found: Mapping[Columns, NoisyMarginal]) -> Chosen:
    measurements = {columns: Measurement.of(each.counts, each.sigma) for columns, each in found.items()}
    return Chosen(fitted(problem.sizes, measurements, steps=LAST_STEPS), measurements, {}, list(found.values()))


WAYS: Mapping[str, Choose] = {"synthetic": chosen, "MST": spanning_tree, "independent": independent}


def by_occupation(session: sa.Session) -> dict[str, float]:
    """The mean absolute error of counts by occupation, over all combinations; labels count evenly for their values."""
    occupations = session.connection.execute("SELECT DISTINCT occupation FROM adult ORDER BY ALL").fetchall()
    return {
        f"mean absolute error, {name} x occupation": sum(
            abs(each["truth"] - each["answer"])
            for (occupation,) in occupations
            for each in sa.evaluation.query_answers(
                session,
                "adult",
                "released",
                sa.evaluation.CountQuery(column=name, width=width, where={"occupation": occupation}),
            ).to_pylist()
        )
        / QUERIES[name, "occupation"]
        for name, width in BY_OCCUPATION.items()
    }


def tree(session: sa.Session, seed: int) -> dict[str, float]:
    """How well a decision tree predicts the incomes of the test rows that learns from the released ones."""
    test = adult.test_rows(DATA / "adult_uci", adult.COLUMNS)
    found = sa.evaluation.classification(session, "released", test, target=CLASS, models="tree", seeds=[seed])
    return {"accuracy of a tree": found.ca["tree"].mean}


def make_labelled(session: sa.Session) -> None:
    make_adult(session)
    for name, taxonomy in adult.taxonomies(DATA / "adult_uci", LABELLED).items():
        session.taxonomies.load(name, taxonomy)


def labelling() -> dict[str, sa.IPA | sa.Histogram]:
    """The methods that publish noisy counts of labels; the second at a public node, of ages by tens and all else."""
    node = dict.fromkeys(LABELLED, 0) | {"age": 1}
    return {
        "IPA": sa.IPA(budget=BUDGET, accept_observed_domain=True),
        "Histogram": sa.Histogram(budget=BUDGET, node=node, accept_observed_domain=True),
    }


def labelled_figures(session: sa.Session, labelled: sa.IPA | sa.Histogram, seed: int) -> dict[str, float]:
    others = [name for name in adult.COLUMNS if name not in (*LABELLED, "occupation")]
    few = sa.Policy(quasi_identifiers=LABELLED, sensitive=["occupation"], identifiers=others, method=labelled)
    session.anonymize("adult", few, into="released", replace=True, random_source=sa.SeededSource(seed))
    return by_occupation(session)


if __name__ == "__main__":
    main()
