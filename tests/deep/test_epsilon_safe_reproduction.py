"""``sqlanon reproduce epsilon-safe``: what it leaves behind, and the targets of spec/epsafe.md (d) on UCI Adult."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon as sa
from sqlanon import papers
from sqlanon.evaluation.results import Reproduced, Row
from sqlanon.papers import adult
from sqlanon.papers import epsilon_safe_probabilities as choice
from sqlanon.papers import epsilon_safe_runs as epsilon_safe
from sqlanon.papers.epsilon_safe_probabilities import (
    AS_PUBLISHED,
    CHOICE,
    DELTA,
    MINIMUM_K,
    ON_SAMPLE,
    ON_TABLE,
    UNIFORM,
)
from sqlanon.papers.epsilon_safe_runs import FOUR, NINE
from tests.conftest import UCI_QUASI_IDENTIFIERS, data_folder
from tests.reproductions import reproduced_twice, write_adult

PARTS = [DELTA, MINIMUM_K, CHOICE, FOUR, NINE]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder like that of UCI Adult, with invented rows and flat hierarchies."""
    return write_adult(tmp_path / "adult", UCI_QUASI_IDENTIFIERS, {"adult.data": ""})


def test_files_repeat_themselves(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a few of the releases, of as many kinds."""
    few = [each for each in epsilon_safe.contenders() if each.setting["weight"] in (None, 5)]
    kinds = {(each.setting["part"], type(each.policy.method), each.policy.suppression_limit): each for each in few}
    monkeypatch.setattr(epsilon_safe, "contenders", kinds.values)
    monkeypatch.setattr(choice, "EPSILONS", ("0.1", "1"))
    found = reproduced_twice("epsilon-safe", tmp_path / "out", "--data", data, "--seeds", "2")
    assert [*dict.fromkeys(row["part"] for row in found.rows)] == PARTS
    headings = [line.removeprefix("## ") for line in found.report.splitlines() if line.startswith("## ")]
    assert headings == [*PARTS, "Beside the paper"]
    assert "None" not in found.report
    assert all(method in found.report for method in (UNIFORM, ON_TABLE, ON_SAMPLE, AS_PUBLISHED))
    assert "private: EpsilonSafe" in found.chart
    assert all(part in found.output for part in PARTS)
    assert (found.document["source"], found.document["seeds"]) == ("Mazzone 2019", 2)


class TestNodes:
    """Three nodes of 100 rows: the first suppresses too many, the second is good, and the third loses too much."""

    nodes = choice.Nodes(
        [(0,), (1,), (2,)], 100, np.array([0.25, 0.4, 0.5]), np.array([5, 4, 0]), {5: np.array([-60.0, -50.0, -50.0])}
    )

    def test_what_is_good(self) -> None:
        assert self.nodes.good == ["1"]
        found = self.nodes.figures(np.array([0.5, 0.25, 0.25]))
        assert found == {"good": 0.25, "precision": 0.35, "suppressed": 0.035}

    def test_by_score(self) -> None:
        """Of two that are best one each in half of the orders, unless the other one has passed before."""
        passing = math.exp(-1)
        found = self.nodes.by_score(5, "1")
        assert found["good"] == pytest.approx((1 - passing / 3) / 2)
        assert found["good_by_softmax"] == pytest.approx(1 / (2 + passing))

    def test_as_published(self) -> None:
        """1 / (Prec + p) with p = 0.1, of which the first two have it, or none with 5 % tolerated."""
        for tolerated, worth in ((0, [1 / 0.35, 1 / 0.5, 1 / 0.5]), (5, [1 / 0.25, 1 / 0.4, 1 / 0.5])):
            weights = [math.exp(0.5 * each / (2 * 0.1)) for each in worth]
            found = self.nodes.as_published("k-anonymity", "0.1", tolerated, "0.5")
            assert found["good"] == pytest.approx(weights[1] / sum(weights))


def by_setting(rows: Sequence[Row], method: str, *names: str) -> Mapping[tuple[Any, ...], Row]:
    return {tuple(row[name] for name in names): row for row in rows if row["method"] == method}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    folder = data_folder("adult_uci")
    with sa.connect(":memory:") as session:
        session.connection.execute("SET threads = 1")
        session.taxonomies.load_all(adult.taxonomies(folder, choice.QUASI_IDENTIFIERS))
        session.connection.from_arrow(adult.training_rows(folder, choice.QUASI_IDENTIFIERS)).create("people")
        return [*choice.rows(*choice.table_and_samples(session, "people", range(4)))]


@pytest.fixture(scope="module")
def found() -> Reproduced:
    with sa.connect(":memory:") as session:
        return papers.reproduction("epsilon-safe").run(session, data_folder("adult_uci"), [0, 1])


@pytest.mark.adult
class TestChoiceOnAdult:
    """spec/epsafe.md (d), and what the thesis says of its figures 6.3 and 6.4."""

    def test_the_baseline(self, rows: list[Row]) -> None:
        (row,) = by_setting(rows, UNIFORM, "method").values()
        assert (round(row["good"], 4), round(row["suppressed"], 4)) == (0.0648, 0.0577)

    def test_drawn_on_the_table(self, rows: list[Row]) -> None:
        found = by_setting(rows, ON_TABLE, "weight", "epsilon_node")
        assert round(found[5, 0.05]["good_by_softmax"], 4) == 0.3234
        assert found[4, 0.05]["good"] > 0.99
        assert max(found[weight, epsilon]["good"] for weight in (1, 10) for epsilon in (0.05, 2)) < 1e-4
        assert {row["delta"] for row in found.values()} == {"7.645e-06"}

    def test_drawn_on_the_sample(self, rows: list[Row]) -> None:
        found = by_setting(rows, ON_SAMPLE, "epsilon_node")
        assert [found[epsilon,]["delta"] for epsilon in (0.1, 2)] == ["0.003445", "1"]
        assert all(row["good"] > 0.1 for row in found.values())

    def test_a_penalty_for_suppression_has_a_peak_as_in_the_thesis(self, rows: list[Row]) -> None:
        """Almost 1 with p = 0.04, and below the baseline with 0.2, if nothing is tolerated."""
        found = by_setting(rows, AS_PUBLISHED, "penalty", "tolerated", "penalty_factor", "epsilon_node")
        for epsilon in (0.05, 0.1, 0.5, 2):
            assert found["suppression", 0, 0.04, epsilon]["good"] > 0.99
            assert found["suppression", 0, 0.2, epsilon]["good"] < 0.0648
            assert found["suppression", 5, 0.2, epsilon]["good"] > 0.99

    def test_a_penalty_for_k_anonymity_is_best_where_the_thesis_finds_it(self, rows: list[Row]) -> None:
        found = by_setting(rows, AS_PUBLISHED, "penalty", "tolerated", "epsilon_node", "penalty_factor")
        good = {key[-1]: row["good"] for key, row in found.items() if key[:3] == ("k-anonymity", 5, 2)}
        assert max(good, key=lambda factor: good[factor]) == 0.5
        assert 0.0648 < good[0.5] < 0.5
        assert all(row["good"] < 0.0648 for key, row in found.items() if key[:2] == ("k-anonymity", 0))


@pytest.mark.adult
class TestReleasesOfAdult:
    def test_all_that_is_printed_is_computed(self, found: Reproduced) -> None:
        counts = ("70 of 70", "45 of 45", "16 of 16", "16 of 16")
        assert all(count in finding for count, finding in zip(counts, found.findings, strict=False))

    def test_what_is_kept(self, found: Reproduced) -> None:
        """A sample has three quarters of the rows; the larger the weight, the fewer of these are lost."""
        rows = [row for row in found.rows if row["part"] == NINE]
        shown = [row["shown"] for row in rows if row["weight"] is not None]
        assert shown == sorted(shown)
        assert 0.5 < shown[0] < shown[-1] < 0.76
        plain, suppressing = (row for row in rows if row["epsilon"] is None)
        assert (plain["shown"], round(plain["precision"], 4)) == (1, 0.7778)
        assert 0.95 <= suppressing["shown"] < 1

    def test_releases_have_the_nodes_that_are_likely(self, found: Reproduced) -> None:
        rows = {(row["method"], row["weight"]): row for row in found.rows if row["part"] == FOUR}
        assert [rows[ON_TABLE, weight]["node"] for weight in (1, 4, 10)] == ["0 0 1 0", "0 0 1 3", "0 1 2 3"]
        assert rows[ON_TABLE, 4]["good"] == 1
        assert rows[f"{AS_PUBLISHED}, penalty for suppression", None]["good"] == 1
        assert rows[ON_SAMPLE, 5]["delta"] == epsilon_safe.DELTA_ON_SAMPLE
