"""``sqlanon reproduce thesis-accuracy``: what it refuses, what it leaves behind, and table 6.1 of Mazzone 2019."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.evaluation.results import Reproduced
from sqlanon.papers.adult import BASELINE, LOWER_BOUND
from sqlanon.papers.thesis import accuracy as thesis_accuracy
from sqlanon.papers.thesis.accuracy import LOSSES, PUBLISHED, SEVEN, THESIS, Contender
from tests.conftest import UCI_QUASI_IDENTIFIERS, data_folder
from tests.papers.invented_adult import write_adult

pytestmark = pytest.mark.one_line

FEW = {(25, 50): PUBLISHED[25, 50], (100, 0): PUBLISHED[100, 0]}
"""Settings that are tried in seconds."""

LABELS = [BASELINE, LOWER_BOUND, *LOSSES]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder like that of UCI Adult, with invented rows, the same for training and for tests."""
    return write_adult(tmp_path / "adult", THESIS.quasi_identifiers, {"adult.data": "", "adult.test": "."})


def run(*arguments: str | Path) -> Any:
    """The command in this process, where tests can change what it does."""
    from typer.testing import CliRunner

    return CliRunner().invoke(app, ["reproduce", "thesis-accuracy", *map(str, arguments)])


@pytest.mark.deep
def test_files_repeat_themselves(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesis_accuracy, "PUBLISHED", {(25, 50): PUBLISHED[25, 50]})
    out = tmp_path / "out"
    done = run("--data", data, "--out", out, "--seeds", "1")
    assert done.exit_code == 0, done.output
    made = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(made) == [f"thesis-accuracy{ending}" for ending in (".csv", ".md", ".svg")]
    rows = [*csv.DictReader(made["thesis-accuracy.csv"].decode().splitlines())]
    assert [row["loss"] for row in rows] == LABELS * 2
    assert [row["columns"] for row in rows] == [SEVEN.name] * 5 + [THESIS.name] * 5
    assert all(loss in made["thesis-accuracy.svg"].decode() for loss in LOSSES)
    again = run("--data", data, "--out", out, "--seeds", "1", "--replace", "--json")
    assert again.exit_code == 0, again.output
    document = json.loads(again.stdout)
    assert (document["source"], document["seeds"], len(document["rows"])) == ("Mazzone 2019", 1, 10)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == made


def test_all_files_that_are_missing_are_named(data: Path, tmp_path: Path) -> None:
    (data / "adult.test").unlink()
    (data / "hierarchies" / "relationship.csv").unlink()
    refused = run("--data", data, "--out", tmp_path / "out").exception
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


def test_columns_of_the_thesis() -> None:
    assert list(THESIS.quasi_identifiers) == UCI_QUASI_IDENTIFIERS
    policy = Contender(THESIS, 25, 10, "DM*").policy
    assert (policy.suppression_limit, policy.suppression, policy.search) == (0.1, "drop", "optimal")
    assert Contender(THESIS, 25, 10, "DM*").published == 0.8155


@pytest.fixture(scope="module")
def reproduced() -> Reproduced:
    folder = data_folder("adult_uci")
    with mock.patch.object(thesis_accuracy, "PUBLISHED", FEW), sa.connect(":memory:") as session:
        return thesis_accuracy.run(session, folder, [0], lambda _: None)


@pytest.mark.adult
@pytest.mark.one_line
@pytest.mark.deep
class TestAdult:
    """spec/ola.md (d), with what it accepts of each loss; DM* is no target."""

    def by_loss(self, found: Reproduced, design: str) -> dict[tuple[Any, ...], Any]:
        return {
            (row["loss"], row["k"], row["suppression_limit"]): row for row in found.rows if row["columns"] == design
        }

    def test_bounds(self, reproduced: Reproduced) -> None:
        for design, accuracy in ((SEVEN, 0.8265), (THESIS, 0.8519)):
            rows = self.by_loss(reproduced, design.name)
            assert rows[BASELINE, None, None]["logistic"] == pytest.approx(accuracy, abs=0.002)
            assert round(rows[LOWER_BOUND, None, None]["tree"], 4) == 0.7638

    def test_nodes_and_accuracies_of_the_thesis(self, reproduced: Reproduced) -> None:
        rows = self.by_loss(reproduced, THESIS.name)
        assert rows["Prec", 100, 0]["node"] == "3 2 2 2 2 1 0 0 3"
        assert rows["DM*", 100, 0]["node"] == "2 2 1 2 2 1 1 0 3"
        assert rows["Entropy", 100, 0]["node"] == "3 2 2 1 2 0 1 1 3"
        assert [rows["Prec", *each]["tied_nodes"] for each in ((25, 0.5), (100, 0))] == [2, 1]
        for loss, slack in (("Prec", 0.003), ("Entropy", 0.01)):
            for each in ((25, 0.5), (100, 0)):
                assert rows[loss, *each]["logistic"] == pytest.approx(rows[loss, *each]["thesis"], abs=slack)

    def test_suppression_stays_within_its_limit(self, reproduced: Reproduced) -> None:
        released = [row for row in reproduced.rows if row["loss"] in LOSSES]
        assert len(released) == 12
        assert all(row["released_rows"] >= 32_561 * (1 - row["suppression_limit"]) for row in released)
