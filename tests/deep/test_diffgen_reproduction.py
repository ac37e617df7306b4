"""``sqlanon reproduce diffgen``: what it refuses, what it leaves behind, and the targets of spec/diffgen.md (d)."""

from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.evaluation.results import Reproduced
from sqlanon.papers import diffgen_experiment as diffgen
from sqlanon.papers.adult import BASELINE, LOWER_BOUND
from tests.conftest import data_folder
from tests.reproductions import reproduced_twice, write_adult

SETTINGS = {
    "EPSILONS": ("0.1", "1"),
    "SPECIALIZATIONS": (10,),
    "COMPARED_EPSILONS": ("1",),
    "COMPARED_SPECIALIZATIONS": 9,
}
"""Few enough to be tried in seconds."""

METHODS = [
    "rows as they are (BA)",
    "more frequent class (LA)",
    *["DiffGen, Max"] * 2,
    *["DiffGen, InfoGain"] * 2,
    "DiffGen, Max",
    diffgen.FEWER,
    "histogram",
    diffgen.TOP_DOWN,
]


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diffgen, "contenders", lambda: [diffgen.diffgen("DiffGen, Max", "max", "1", 10)])
    monkeypatch.setattr(diffgen, "findings", lambda _: ["found"])


@pytest.mark.usefixtures("one")
def test_files_repeat_themselves(tmp_path: Path) -> None:
    data = write_adult(tmp_path / "adult", [], {"adult.data": "", "adult.test": "."})
    found = reproduced_twice("diffgen", tmp_path / "out", "--data", data, "--seeds", "2")
    assert [row["method"] for row in found.rows] == METHODS[:3]
    assert all(method in found.chart for method in METHODS[:3])
    assert (found.document["seed"], found.document["seeds"]) == (0, 2)


@pytest.fixture(scope="module")
def reproduced() -> Reproduced:
    """Three seeds, where the figures of the README are means of ten."""
    folder = data_folder("adult_uci")
    with mock.patch.multiple(diffgen, **SETTINGS), sa.connect(":memory:") as session:
        return diffgen.REPRODUCTION.run(session, folder, range(3))


@pytest.mark.adult
class TestAdult:
    def test_all_are_there(self, reproduced: Reproduced) -> None:
        assert [row["method"] for row in reproduced.rows] == METHODS

    def tree(self, found: Reproduced, method: str, epsilon: float | None, count: int | None) -> Any:
        by_key = {(row["method"], row["epsilon"], row["specializations"]): row["tree"] for row in found.rows}
        return by_key[method, epsilon, count]

    def test_without_privacy(self, reproduced: Reproduced) -> None:
        assert round(self.tree(reproduced, LOWER_BOUND, None, None), 4) == 0.7543
        assert 0.84 <= self.tree(reproduced, BASELINE, None, None) <= 0.86

    def test_targets(self, reproduced: Reproduced) -> None:
        assert self.tree(reproduced, "DiffGen, Max", 1, 10) >= 0.81
        assert self.tree(reproduced, "DiffGen, Max", 0.1, 10) >= 0.765
        assert self.tree(reproduced, "DiffGen, Max", 1, 10) >= self.tree(reproduced, "DiffGen, Max", 0.1, 10) - 0.01

    def test_information_gain_is_worse(self, reproduced: Reproduced) -> None:
        for epsilon in (0.1, 1):
            gain, most = (self.tree(reproduced, f"DiffGen, {name}", epsilon, 10) for name in ("InfoGain", "Max"))
            assert gain < most
