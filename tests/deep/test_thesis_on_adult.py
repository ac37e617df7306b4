"""``sqlanon reproduce ola`` and ``thesis-accuracy``: what they leave behind, and the numbers of Mazzone 2019."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon import papers
from sqlanon.evaluation.results import Reproduced
from sqlanon.papers import adult
from sqlanon.papers import income_accuracy as thesis_accuracy
from sqlanon.papers import ola_runs as ola
from sqlanon.papers.adult import BASELINE, LOWER_BOUND
from sqlanon.papers.income_accuracy import LOSSES, PUBLISHED, SEVEN, THESIS
from tests.adult import OLA_COUNTS
from tests.conftest import data_folder
from tests.reproductions import reproduced_twice, write_adult

LABELS = [BASELINE, LOWER_BOUND, *LOSSES]


def adult_of(folder: Path) -> Path:
    return write_adult(folder / "adult", THESIS.quasi_identifiers, {"adult.data": "", "adult.test": "."})


def test_files_of_ola_repeat_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On invented rows, with one setting of each search."""
    monkeypatch.setattr(ola, "CHECKED", {(5, 10): 2058})
    monkeypatch.setattr(ola, "BOUNDS", ((0.2, 0), (0.8, 0)))
    rows = reproduced_twice("ola", tmp_path / "out", "--data", adult_of(tmp_path)).rows
    assert [row["part"] for row in rows].count(ola.OLA) == 3
    assert {row["model"] for row in rows} == {"", *ola.MODELS}


def test_files_of_accuracies_repeat_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesis_accuracy, "PUBLISHED", {(25, 50): PUBLISHED[25, 50]})
    found = reproduced_twice("thesis-accuracy", tmp_path / "out", "--data", adult_of(tmp_path), "--seeds", "1")
    assert [row["loss"] for row in found.rows] == LABELS * 2
    assert [row["columns"] for row in found.rows] == [SEVEN.name] * 5 + [THESIS.name] * 5
    assert (found.document["source"], found.document["seeds"]) == ("Mazzone 2019", 1)


@pytest.mark.adult
class TestOla:
    """The numbers of spec/ola.md (d) that its runs have, at settings at which they check few nodes."""

    @pytest.fixture(scope="class")
    @classmethod
    def session(cls) -> Iterator[sa.Session]:
        folder = data_folder("adult_uci")
        with sa.connect(":memory:") as found:
            found.connection.from_arrow(adult.training_rows(folder, adult.COLUMNS)).create(ola.SOURCE)
            found.taxonomies.load_all(adult.taxonomies(folder, THESIS.quasi_identifiers))
            yield found

    def test_checked_nodes_and_losses(self, session: sa.Session) -> None:
        found = [*chain.from_iterable(ola.optimum(session, 100, 1, loss) for loss in ("Prec", "DM*", "Entropy"))]
        assert (found[0]["checked"], found[0]["minimal_nodes"]) == OLA_COUNTS[100, 1]
        prec, dm_star, entropy = (row["value"] for row in found)
        assert (round(prec, 4), dm_star) == (0.7407, 41708752 + 123307)
        assert entropy == pytest.approx(501692.8, abs=0.051)

    def test_largest_k(self, session: sa.Session) -> None:
        for setting, k in {(0.2, 0): 1, (0.2, 50): 72, (0.8, 10): 1873}.items():
            assert [row["attained_k"] for row in ola.largest_k(session, *setting)] == [k]

    def test_largest_k_of_few_columns_keeps_something_of_the_secrets(self, session: sa.Session) -> None:
        """Where the thesis has it for two settings, table 6.3."""
        rows = {setting: [*ola.reduced(session, *setting)] for setting in ((0.2, 10), (0.5, 10), (0.8, 10))}
        found = {setting: [(row["attained_k"], row["kept_secrets"]) for row in each] for setting, each in rows.items()}
        assert found == {
            (0.2, 10): [(16, 3), (49, 3)],
            (0.5, 10): [(536, 2), (536, 2)],
            (0.8, 10): [(10771, 0), (1665, 2)],
        }
        assert [row["thesis"] for row in rows[0.5, 10]] == [12, None]

    def test_m_is_between_its_worst_case_and_k(self, session: sa.Session) -> None:
        rows: list[Mapping[str, Any]] = [*ola.concealing(session, 0.5, 50)]
        assert [row["model"] for row in rows] == [*ola.MODELS]
        for row in rows:
            assert row["worst_case"] - 1e-9 <= row["one_over_m"] <= row["attained_k"] + 1e-9


@pytest.mark.adult
class TestUniqueness:
    """Sections 3.1 and 3.2, on Adult."""

    @pytest.fixture(scope="class")
    @classmethod
    def shares(cls) -> dict[str, float]:
        with sa.connect(":memory:") as session:
            found = papers.reproduction("uniqueness").run(session, data_folder("adult_uci"), range(2))
        return {row["known"]: row["unique_share"] for row in found.rows}

    def test_age_singles_out_twelve_times_as_many_as_in_the_thesis(self, shares: dict[str, float]) -> None:
        aged, _, _, ageless, *_ = shares.values()
        assert (round(aged, 2), round(ageless, 4)) == (0.17, 0.0144)
        assert aged / ageless == pytest.approx(8254 / 23236 / 0.0303, rel=0.05)

    def test_events_of_adult_single_out_few(self, shares: dict[str, float]) -> None:
        three, two, far = [*shares.values()][-3:]
        assert two < three < far < 0.01


@pytest.mark.adult
class TestAccuracy:
    """The losses of spec/ola.md (d), each within its tolerance; DM* has no target."""

    @pytest.fixture(scope="class")
    @classmethod
    def reproduced(cls) -> Reproduced:
        few = {(25, 50): PUBLISHED[25, 50], (100, 0): PUBLISHED[100, 0]}
        folder = data_folder("adult_uci")
        with mock.patch.object(thesis_accuracy, "PUBLISHED", few), sa.connect(":memory:") as session:
            return papers.reproduction("thesis-accuracy").run(session, folder, [0])

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
