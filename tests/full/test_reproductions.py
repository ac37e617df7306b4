"""The command sqlanon reproduce: what it refuses, what it leaves behind, worst cases and settings."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon import papers
from sqlanon.evaluation import CountQuery
from sqlanon.evaluation import results as files
from sqlanon.papers import adult, experiments
from sqlanon.papers import ceiling_experiment as h_ceiling
from sqlanon.papers import income_accuracy as thesis_accuracy
from sqlanon.papers import ola_runs as ola
from sqlanon.papers.adult import BASELINE, LOWER_BOUND
from sqlanon.papers.experiments import Contender
from sqlanon.papers.income_accuracy import SEVEN, THESIS
from tests.adult import OLA_COUNTS
from tests.commands import sqlanon
from tests.conftest import UCI_QUASI_IDENTIFIERS, data_folder
from tests.reproductions import reproduced_twice, rows_of_adult, run, write_adult

NOT_SAID = "alice-1970"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_adult(tmp_path / "adult", h_ceiling.HIERARCHIES, {"adult.data": ""})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One release of each kind, and queries for one value."""
    queries = [CountQuery(column=name, where={h_ceiling.SENSITIVE: "Sales"}) for name in h_ceiling.QUASI_IDENTIFIERS]
    monkeypatch.setattr(h_ceiling, "queries", lambda _session: queries)
    monkeypatch.setattr(h_ceiling, "CLASS_SIZES", (5,))
    monkeypatch.setattr(h_ceiling, "CEILINGS", (0.3,))


def check_files(data: Path, out: Path) -> None:
    """Reproduce h-ceiling, and check that all of its files have all releases."""
    found = reproduced_twice("h-ceiling", out, "--data", data, "--seed", "3")
    methods = ["h-ceiling, h = 0.3", "k-anonymity", "k-anonymity, 5 % suppressed", "relocation, 5 % moved"]
    assert [row["method"] for row in found.rows] == [methods[0], *methods]
    assert [row["catalog"] for row in found.rows] == ["", "paper", "", "", ""]
    assert all(f"| {method} |" in found.report and method in found.output for method in methods)
    assert found.chart.startswith("<svg")
    assert found.document["seed"] == 3


class TestRegistry:
    def test_each_is_found_by_its_name(self) -> None:
        found = [papers.reproduction(name) for name in papers.NAMES]
        assert [each.name for each in found] == [*papers.NAMES]
        assert all(each.shown and len(each.notes(1)) > 1 for each in found)
        assert "{" not in "".join(note for each in found for note in each.notes(3))
        assert "means of 3 seeds" in " ".join(papers.reproduction("ipa").notes(3))

    def test_a_name_that_is_none(self) -> None:
        message = r'"hceiling" is not one of the reproductions .*; did you mean "h-ceiling"\?'
        with pytest.raises(sa.PolicyError, match=message):
            papers.reproduction("hceiling")

    def test_help_names_them(self, tmp_path: Path) -> None:
        done = sqlanon("reproduce", "--help", folder=tmp_path)
        assert all(name in done.stdout for name in papers.NAMES)


class TestRows:
    """The files of the repository, as they are and as the repository has them."""

    def test_rows_for_tests_are_spelled_like_those_for_training(self, data: Path) -> None:
        rows = (data / "adult.data").read_text()
        for title in ("", "|1x3 Cross validator\n"):
            (data / "adult.test").write_text(title + rows.replace("<=50K", "<=50K."))
            assert adult.test_rows(data, adult.COLUMNS) == adult.training_rows(data, adult.COLUMNS)

    def test_known_rows_have_no_question_mark(self, data: Path) -> None:
        (data / "adult.test").write_text((data / "adult.data").read_text())
        expected = [row[0] for row in rows_of_adult() if "?" not in row]
        assert 0 < len(expected) < 400
        for rows in adult.known_rows(data, ["age"]):
            assert rows.to_pydict() == {"age": expected}

    def test_a_row_of_something_else_is_refused(self, data: Path) -> None:
        (data / "adult.test").write_text((data / "adult.data").read_text() + f"{NOT_SAID}, 2\n")
        with pytest.raises(sa.PolicyError, match="cannot be read as UCI Adult") as refused:
            adult.test_rows(data, ["age"])
        assert NOT_SAID not in str(refused.value)

    @pytest.mark.adult
    def test_their_rows(self) -> None:
        folder = data_folder("adult_uci")
        assert adult.training_rows(folder, ["age"]).num_rows == 32_561
        assert adult.test_rows(folder, ["age"]).num_rows == 16_281
        known = adult.known_rows(folder, adult.COLUMNS)
        assert [rows.num_rows for rows in known] == [30_162, 15_060]
        for rows in known:
            assert tuple(rows.column_names) == adult.COLUMNS
            assert set(rows["income"].to_pylist()) == {"<=50K", ">50K"}
            assert all("?" not in rows[name].to_pylist() for name in adult.COLUMNS)


class TestRefusals:
    """Before anything is computed, and without a file."""

    def refused(self, data: Path, out: Path, code: int, *words: str, name: str = "h-ceiling") -> None:
        before = sorted(data.parent.rglob("*"))
        done = sqlanon("reproduce", name, "--data", str(data), "--out", str(out), folder=data.parent)
        assert done.returncode == code, done.stderr
        said = " ".join(done.stderr.split())
        assert [word for word in words if word not in said] == []
        assert "Traceback" not in said
        assert NOT_SAID not in said
        assert sorted(data.parent.rglob("*")) == before

    def test_an_experiment_that_there_is_not(self, data: Path, out: Path) -> None:
        self.refused(data, out, 2, "is not one of the reproductions", name="diffgenn")

    def test_no_data(self, tmp_path: Path, out: Path) -> None:
        self.refused(tmp_path / "nowhere", out, 2, "lacks the data of UCI Adult", "adult.data", "hierarchies")

    def test_a_hierarchy_that_is_not_there(self, data: Path, out: Path) -> None:
        (data / "hierarchies" / "race.csv").unlink()
        self.refused(data, out, 2, "does not exist", "race.csv")

    def test_data_of_something_else(self, data: Path, out: Path) -> None:
        for text in ("", f"{NOT_SAID}{', 1' * 14}\n"):
            (data / "adult.data").write_text(text)
            self.refused(data, out, 2, "cannot be read as UCI Adult", "15 columns")

    def test_values_that_a_hierarchy_lacks(self, data: Path, out: Path) -> None:
        (data / "hierarchies" / "race.csv").write_text("White;*\n")
        self.refused(data, out, 2, "race")

    def test_files_that_are_there(self, data: Path, out: Path) -> None:
        out.mkdir()
        (out / "h-ceiling.md").write_text("mine")
        self.refused(data, out, 2, "h-ceiling.md exists")

    def test_folders_that_are_none(self, data: Path, out: Path) -> None:
        out.write_text("mine")
        self.refused(data, out, 1, "is not a folder")
        self.refused(data, out.with_name("missing") / "out", 1, "does not exist")


@pytest.mark.usefixtures("fewer", "stubbed")
class TestFiles:
    @pytest.fixture
    def stubbed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is released: that takes a minute, and is in tests/deep."""
        errors = {f"query_error_{name}": 0.5 for name in h_ceiling.QUASI_IDENTIFIERS}
        errors |= {f"{h_ceiling.BY_COUNT}{count}": 0.5 for count in range(1, 8)}

        def measured(_: sa.Session, contender: Contender, _seeds: Sequence[int]) -> list[dict[str, Any]]:
            return [{**dict.fromkeys(papers.reproduction("h-ceiling").shown, 1), **errors, **contender.setting}]

        monkeypatch.setattr(h_ceiling, "measured", measured)

    def test_they_are_whole(self, data: Path, out: Path) -> None:
        check_files(data, out)

    def test_nothing_is_half_written(self, data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last file fails; what was there stays, and the parts, from which the next run makes all files."""

        def failing(*_: object) -> Any:
            class Chart:
                def save(self, *_: object, **__: object) -> None:
                    raise OSError(28, "No space left on device")

            return Chart()

        out.mkdir()
        (out / "mine.txt").write_text("mine")
        with monkeypatch.context() as patched:
            patched.setattr(experiments, "with_printed", failing)
            done = run("h-ceiling", "--data", data, "--out", out)
        assert isinstance(done.exception, sa.EngineError)
        assert "the disk is full" in str(done.exception)
        assert sorted(path.name for path in out.rglob("*")) == ["h-ceiling.parts.json", "mine.txt"]
        monkeypatch.setattr(h_ceiling, "measured", None)
        assert run("h-ceiling", "--data", data, "--out", out).exit_code == 0
        assert len(list(out.rglob("*"))) == 4

    def test_without_altair(self, data: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing() -> Any:
            raise sa.EngineError("A chart needs altair", step="import")

        monkeypatch.setattr(files, "required_altair", missing)
        assert isinstance(run("h-ceiling", "--data", data, "--out", out).exception, sa.EngineError)
        assert not out.exists()


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


def test_columns_of_the_thesis() -> None:
    assert list(THESIS.quasi_identifiers) == UCI_QUASI_IDENTIFIERS
    found = thesis_accuracy.contender(THESIS, 25, 10, "DM*")
    policy = found.policy
    assert (policy.suppression_limit, policy.suppression, policy.search) == (0.1, "drop", "optimal")
    assert found.setting["thesis"] == 0.8155


@pytest.mark.parametrize(
    ("name", "hierarchies", "missing"),
    [
        ("thesis-accuracy", THESIS.quasi_identifiers, ["adult.test", f"hierarchies/{THESIS.quasi_identifiers[0]}.csv"]),
        ("epsilon-safe", UCI_QUASI_IDENTIFIERS, ["adult.data", "hierarchies/relationship.csv"]),
        ("diffgen", [], ["adult.data", "adult.test"]),
    ],
)
def test_all_files_that_are_missing_are_named(
    tmp_path: Path, name: str, hierarchies: Sequence[str], missing: list[str]
) -> None:
    data = write_adult(tmp_path / "adult", hierarchies, {"adult.data": "", "adult.test": "."})
    for file in missing:
        (data / file).unlink()
    refused = run(name, "--data", data, "--out", tmp_path / "out").exception
    assert isinstance(refused, sa.PolicyError)
    assert len(refused.problems) == 2
    assert not (tmp_path / "out").exists()


def test_a_loss_that_is_as_good_as_another_counts_too() -> None:
    def row(loss: str, tree: float) -> dict[str, Any]:
        of = {"columns": SEVEN.name, "loss": loss, "k": 5, "suppression_limit": 0.1, "value": 0.5}
        return {**of, "tree": tree, "logistic": tree}

    rows = [
        {**row(loss, accuracy), "columns": design.name, "thesis": 0.75}
        for design in thesis_accuracy.DESIGNS
        for loss, accuracy in ((BASELINE, 0.9), (LOWER_BOUND, 0.6), ("Prec", 0.8), ("DM*", 0.7), ("Entropy", 0.8))
    ]
    found = [*thesis_accuracy.findings(rows)]
    assert sum("Prec in 1, DM* in 0, Entropy in 1 of 1 settings" in finding for finding in found) == 4
    assert sum(finding.endswith("by 0.0500 at most") for finding in found) == 3
    assert sum("of 0 pairs of settings" in finding for finding in found) == 3
