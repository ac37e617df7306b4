"""``sqlanon reproduce ola`` and ``thesis-accuracy``: worst cases, settings, refusals, and what findings say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.papers import income_accuracy as thesis_accuracy
from sqlanon.papers import ola_runs as ola
from sqlanon.papers.adult import BASELINE, LOWER_BOUND
from sqlanon.papers.income_accuracy import SEVEN, THESIS, Contender
from tests.adult import OLA_COUNTS
from tests.conftest import UCI_QUASI_IDENTIFIERS

# spec/mconcealing.md (d): model -> 1/m in the worst case, by k
WORST_CASES = {
    "A": (4.47, 6.62, 9.04, 25.62, 29.45, 30.49, 32.61, 33.51, 33.669),
    "B": (3.18, 4.00, 4.67, 6.63, 6.83, 6.88, 6.97, 7.01, 7.011),
    "C": (3.92, 5.40, 6.83, 12.84, 13.70, 13.91, 14.32, 14.48, 14.513),
    "D": (4.18, 5.96, 7.80, 17.20, 18.80, 19.21, 20.02, 20.35, 20.404),
}
CLASS_SIZES = (5, 8, 12, 104, 228, 313, 1009, 7003, math.inf)


@pytest.mark.parametrize("model", WORST_CASES)
def test_worst_cases_are_those_of_the_spec(model: str) -> None:
    found = [ola.worst_case(ola.MODELS[model], k) for k in CLASS_SIZES]
    assert found == [pytest.approx(expected, abs=0.006) for expected in WORST_CASES[model]]
    assert found[-1] == pytest.approx(WORST_CASES[model][-1], abs=0.0006)


def test_settings_are_those_of_the_thesis() -> None:
    assert len(ola.CHECKED) == 18
    assert ola.CHECKED.keys() == OLA_COUNTS.keys()
    assert sum(ola.CHECKED.values()) == 18_930
    assert ola.PUBLISHED.keys() <= set(ola.BOUNDS)


def test_columns_of_the_thesis() -> None:
    assert list(THESIS.quasi_identifiers) == UCI_QUASI_IDENTIFIERS
    policy = Contender(THESIS, 25, 10, "DM*").policy
    assert (policy.suppression_limit, policy.suppression, policy.search) == (0.1, "drop", "optimal")
    assert Contender(THESIS, 25, 10, "DM*").published == 0.8155


def test_all_files_that_are_missing_are_named(tmp_path: Path) -> None:
    (tmp_path / "hierarchies").mkdir()
    for name in THESIS.quasi_identifiers[1:]:
        (tmp_path / "hierarchies" / f"{name}.csv").touch()
    (tmp_path / "adult.data").touch()
    command = ["reproduce", "thesis-accuracy", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, command).exception
    assert isinstance(refused, sa.PolicyError)
    assert len(refused.problems) == 2
    assert not (tmp_path / "out").exists()


def test_a_loss_that_is_as_good_as_another_counts_too() -> None:
    def row(loss: str, tree: float) -> dict[str, Any]:
        return {"columns": SEVEN.name, "loss": loss, "k": 5, "suppression_limit": 0.1, "tree": tree, "logistic": tree}

    rows = [
        {**row(loss, accuracy), "columns": design.name, "thesis": 0.75}
        for design in thesis_accuracy.DESIGNS
        for loss, accuracy in ((BASELINE, 0.9), (LOWER_BOUND, 0.6), ("Prec", 0.8), ("DM*", 0.7), ("Entropy", 0.8))
    ]
    found = [*thesis_accuracy.findings(rows)]
    assert sum("Prec in 1, DM* in 0, Entropy in 1 of 1 settings" in finding for finding in found) == 4
    assert [finding.endswith("by 0.0500 at most") for finding in found[-3:]] == [True] * 3
