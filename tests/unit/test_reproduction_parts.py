"""Experiments in parts: what is kept, what a later run takes of it, progress, and means over seeds."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon import papers
from sqlanon.cli.output import watched_steps
from sqlanon.evaluation.results import Row, required_altair
from sqlanon.papers import experiments, reproduce_command
from sqlanon.papers.experiments import Part, Reproduction, averaged
from tests.reproductions import run

STOPPED_AT = 3


class Counting:
    """An experiment of five parts that doubles numbers, and can be interrupted at the fourth."""

    def __init__(self) -> None:
        self.measured: list[int] = []
        self.is_interrupted = False

    def prepare(self, _session: sa.Session, _folder: Path) -> None:
        pass

    def parts(self, seeds: Sequence[int]) -> Iterator[Part]:
        for number in range(5):
            yield Part(f"number {number} [bold]", lambda _, number=number: self.rows(number, seeds[0]))

    def rows(self, number: int, seed: int) -> Iterable[Row]:
        if self.is_interrupted and number == STOPPED_AT:
            raise KeyboardInterrupt
        self.measured.append(number)
        yield {"number": number, "double": 2 * number, "seed": seed, "pair": (number, None)}

    def printed(self, rows: Sequence[Row]) -> Iterator[Row]:
        yield {"item": "Table 1", "what": "all", "paper": 20, "here": sum(row["double"] for row in rows)}


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    made = Counting()
    experiment = Reproduction(
        "counting",
        "A paper",
        "Numbers",
        range(2),
        made.prepare,
        made.parts,
        {"number": "number", "double": "double"},
        lambda _: ["found"],
        lambda _: ["noted"],
        chart=lambda _: required_altair().Chart().mark_point(),
        printed=made.printed,
        files=("numbers.txt",),
    )
    monkeypatch.setattr(reproduce_command, "reproduction", lambda _name: experiment)
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.txt").write_text("0 1 2 3 4")
    return tmp_path / "data"


@pytest.fixture
def interrupted(counting: Counting, data: Path, tmp_path: Path) -> Path:
    """The folder of a run that was interrupted in its fourth part."""
    out = tmp_path / "out"
    counting.is_interrupted = True
    stopped = run("counting", "--data", data, "--out", out)
    assert stopped.exit_code != 0
    counting.is_interrupted = False
    return out


class TestKept:
    def test_an_interruption_leaves_the_finished_parts_and_says_so(
        self, counting: Counting, data: Path, tmp_path: Path
    ) -> None:
        counting.is_interrupted = True
        out = tmp_path / "out"
        with sa.connect(":memory:") as session:
            experiment = reproduce_command.reproduction("counting")
            kept = experiments.KeptParts(out / "parts.json", experiment.facts(data, range(2)))
            with pytest.raises(KeyboardInterrupt, match=r"3 of 5 parts are finished, and kept in .*parts\.json"):
                experiment.run(session, data, range(2), kept)
        assert [*json.loads((out / "parts.json").read_text())["found"]] == [
            f"number {each} [bold]" for each in range(3)
        ]

    def test_the_same_command_goes_on_and_ends_as_a_run_that_was_not_stopped(
        self, counting: Counting, data: Path, interrupted: Path
    ) -> None:
        assert [path.name for path in interrupted.iterdir()] == ["counting.parts.json"]
        resumed = run("counting", "--data", data, "--out", interrupted)
        assert resumed.exit_code == 0, resumed.output
        assert counting.measured == [0, 1, 2, 3, 4]
        whole = interrupted.with_name("whole")
        assert run("counting", "--data", data, "--out", whole).exit_code == 0
        names = ["counting.csv", "counting.md", "counting.svg"]
        for folder in (interrupted, whole):
            assert sorted(path.name for path in folder.iterdir()) == names
        assert all((interrupted / name).read_text() == (whole / name).read_text() for name in names)
        assert "in the paper" in (whole / "counting.svg").read_text()
        assert "| Table 1 | all | 20 | 20 |" in (whole / "counting.md").read_text()

    @pytest.mark.parametrize("other", ["seeds", "data", "code", "damage"])
    def test_parts_of_another_run_are_refused_or_replaced(
        self, counting: Counting, data: Path, interrupted: Path, other: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seeds = ["--seeds", "3"] if other == "seeds" else []
        if other == "data":
            (data / "numbers.txt").write_text("5")
        elif other == "code":
            monkeypatch.setattr(experiments, "code_sha256", lambda: "other")
        elif other == "damage":
            (interrupted / "counting.parts.json").write_text('{"facts"')
        before = (interrupted / "counting.parts.json").read_text()
        refused = run("counting", "--data", data, "--out", interrupted, *seeds).exception
        assert isinstance(refused, sa.PolicyError)
        assert "has parts of another run" in str(refused)
        if other != "damage":
            assert [each.partition(":")[0] for each in refused.problems] == [other]
        assert (interrupted / "counting.parts.json").read_text() == before
        counting.measured.clear()
        replaced = run("counting", "--data", data, "--out", interrupted, *seeds, "--replace")
        assert replaced.exit_code == 0, replaced.output
        assert counting.measured == [0, 1, 2, 3, 4]


class TestProgress:
    def test_lines(self, counting: Counting, data: Path, interrupted: Path) -> None:
        said = run("counting", "--data", data, "--out", interrupted).stderr.splitlines()
        assert said[0] == "[4 of 5] number 3 [bold]"
        assert re.fullmatch(r"\[5 of 5, about 0:00:\d\d left\] number 4 \[bold\]", said[1])

    def test_none_with_json(self, counting: Counting, data: Path, tmp_path: Path) -> None:
        done = run("counting", "--data", data, "--out", tmp_path / "out", "--json")
        assert done.stderr == ""
        assert json.loads(done.stdout)["printed"] == [{"item": "Table 1", "what": "all", "paper": 20, "here": 20}]

    def test_a_bar_on_a_terminal(
        self, counting: Counting, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        parts = [*counting.parts(range(1))]
        assert [*watched_steps(parts[2:], len(parts))] == parts[2:]
        assert "━" in capsys.readouterr().err


def test_a_mean_is_of_rows_with_equal_settings() -> None:
    rows = [
        {"method": "a", "node": "0 1", "rows": 10, "loss": 0.5, "error": None},
        {"method": "b", "node": "2", "rows": 1, "loss": 0.25, "error": None},
        {"method": "a", "node": "1 1", "rows": 13, "loss": 0.7, "error": 4.0},
        {"method": "a", "node": "1 1", "rows": 11, "loss": 0.9, "error": 2.0},
    ]
    assert averaged(rows, by=["method"], spread=["loss"]) == [
        {
            "method": "a",
            "node": "1 1",
            "rows": 11,
            "loss": pytest.approx(0.7),
            "loss_sd": pytest.approx(0.2),
            "error": 3.0,
        },
        {"method": "b", "node": "2", "rows": 1, "loss": 0.25, "loss_sd": None, "error": None},
    ]


def test_seeds() -> None:
    assert papers.reproduction("diffgen").seeds_from(5, 2) == range(5, 7)
    assert papers.reproduction("h-ceiling").seeds_from(None, None) == range(20, 21)
    with pytest.raises(sa.PolicyError, match="ola draws nothing"):
        papers.reproduction("ola").seeds_from(None, 2)
