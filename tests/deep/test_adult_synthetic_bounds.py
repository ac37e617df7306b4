"""The bounds in the report of synthetic rows, on UCI Adult: none is below what it bounds."""

from pathlib import Path

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.methods.synthetic import measuring
from sqlanon.methods.synthetic.choosing import Chosen, Problem

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
