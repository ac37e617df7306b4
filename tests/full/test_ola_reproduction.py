"""``sqlanon reproduce ola``: the numbers of spec/ola.md and spec/mconcealing.md, and what the command leaves behind."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.papers import adult
from sqlanon.papers.thesis import ola
from sqlanon.papers.thesis.accuracy import THESIS
from tests.adult import OLA_COUNTS
from tests.conftest import data_folder

pytestmark = pytest.mark.one_line

# spec/mconcealing.md (d): model -> 1/m in the worst case, by k
WORST_CASES = {
    "A": (4.47, 6.62, 9.04, 25.62, 29.45, 30.49, 32.61, 33.51, 33.669),
    "B": (3.18, 4.00, 4.67, 6.63, 6.83, 6.88, 6.97, 7.01, 7.011),
    "C": (3.92, 5.40, 6.83, 12.84, 13.70, 13.91, 14.32, 14.48, 14.513),
    "D": (4.18, 5.96, 7.80, 17.20, 18.80, 19.21, 20.02, 20.35, 20.404),
}
CLASS_SIZES = (5, 8, 12, 104, 228, 313, 1009, 7003, math.inf)

# spec/ola.md (d): k and suppression in percent, of runs that check few nodes -> Prec, DM*, Entropy
LOSSES = {
    (5, 0): (0.7222, 64222978 + 123307, 496831.5),
    (25, 0): (0.7778, 103278268 + 123307, 536332.6),
    (100, 0): (0.7778, 151996586 + 123307, 546056.4),
    (100, 1): (0.7407, 41708752 + 123307, 501692.8),
}

# spec/ola.md (d): Prec and suppression in percent -> the largest k
BEST_K = {(0.2, 0): 1, (0.2, 10): 2, (0.2, 50): 72, (0.5, 10): 47, (0.5, 50): 1650, (0.8, 10): 1873, (0.8, 50): 25621}


def run(*arguments: str | Path) -> Any:
    """The command in this process, where tests can change what it does."""
    from typer.testing import CliRunner

    from sqlanon.cli.app import app

    return CliRunner().invoke(app, ["reproduce", "ola", *map(str, arguments)])


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


@pytest.mark.deep
def test_files_repeat_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On invented rows, with one setting of each search."""
    monkeypatch.setattr(ola, "CHECKED", {(5, 10): 2058})
    monkeypatch.setattr(ola, "BOUNDS", ((0.2, 0), (0.8, 0)))
    folder, out = tmp_path / "adult", tmp_path / "out"
    (folder / "hierarchies").mkdir(parents=True)
    rows = [
        [
            str(20 + number * 7 % 60), "Private", "1", ["HS-grad", "Masters"][number % 3 == 0], "9", "Divorced",
            ["Sales", "Craft-repair"][number % 2], "Husband", ["White", "Black"][number % 11 == 0],
            ["Male", "Female"][number % 2], str(number % 5), "0", "40", "United-States", ">50K",
        ]
        for number in range(60)
    ]  # fmt: skip
    (folder / "adult.data").write_text("".join(f"{', '.join(row)}\n" for row in rows))
    for name in THESIS.quasi_identifiers:
        values = sorted({row[adult.COLUMNS.index(name)] for row in rows})
        (folder / "hierarchies" / f"{name}.csv").write_text("".join(f"{value};*\n" for value in values))
    done = run("--data", folder, "--out", out)
    assert done.exit_code == 0, done.output
    made = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(made) == [f"ola{ending}" for ending in (".csv", ".md", ".svg")]
    found = [*csv.DictReader(made["ola.csv"].decode().splitlines())]
    assert [row["part"] for row in found].count(ola.OLA) == 3
    assert {row["model"] for row in found} == {"", *ola.MODELS}
    again = run("--data", folder, "--out", out, "--replace", "--json")
    assert again.exit_code == 0, again.output
    document = json.loads(again.stdout)
    assert (document["source"], len(document["rows"])) == ("Mazzone 2019", len(found))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == made


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    folder = data_folder("adult_uci")
    with sa.connect(":memory:") as found:
        found.connection.from_arrow(adult.training_rows(folder, adult.COLUMNS)).create(ola.SOURCE)
        found.taxonomies.load_all(adult.taxonomies(folder, THESIS.quasi_identifiers))
        yield found


@pytest.mark.adult
@pytest.mark.deep
class TestAdult:
    @pytest.mark.parametrize("setting", LOSSES)
    def test_checked_nodes_and_losses(self, session: sa.Session, setting: tuple[int, int]) -> None:
        found = [ola.optimum(session, *setting, loss) for loss in ("Prec", "DM*", "Entropy")]
        assert (found[0]["checked"], found[0]["minimal_nodes"]) == OLA_COUNTS[setting]
        prec, dm_star, entropy = (row["value"] for row in found)
        assert (round(prec, 4), dm_star) == LOSSES[setting][:2]
        assert entropy == pytest.approx(LOSSES[setting][2], abs=0.051)

    @pytest.mark.parametrize("setting", BEST_K)
    def test_largest_k(self, session: sa.Session, setting: tuple[float, int]) -> None:
        assert ola.largest_k(session, *setting)["attained_k"] == BEST_K[setting]

    def test_m_is_between_its_worst_case_and_k(self, session: sa.Session) -> None:
        rows: list[Mapping[str, Any]] = [*ola.concealing(session, 0.5, 50)]
        assert [row["model"] for row in rows] == [*ola.MODELS]
        for row in rows:
            assert row["worst_case"] - 1e-9 <= row["one_over_m"] <= row["attained_k"] + 1e-9
