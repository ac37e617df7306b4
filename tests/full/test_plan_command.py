"""``sqlanon plan epsilon-safe``: what it prints and writes, and what it refuses."""

import io
import re
from pathlib import Path

from rich.console import Console

from sqlanon.evaluation import plan_epsilon_safe
from sqlanon.report.console import BAR_SIGNS, BAR_WIDTH, rendered
from tests.commands import document, sqlanon

GIVEN = ("plan", "epsilon-safe", "--rows", "100000", "--epsilon", "2", "--delta", "1e-6")


def test_a_row_for_each_share(tmp_path: Path) -> None:
    done = sqlanon(*GIVEN, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip().startswith("0.")}
    assert list(lines) == ["0.05", "0.1", *(f"{share / 100:g}" for share in range(15, 90, 5))]
    assert lines["0.4"][:7] == ["0.4", "18", "17", "40,000", "60", "0.6", "32"]
    assert all(set(line[7]) == set(BAR_SIGNS) for line in lines.values())
    assert "β = 0.4 and k = 18" in done.stdout
    assert "0.1 for the choice of the node" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_by_the_tight_k(tmp_path: Path) -> None:
    done = sqlanon(*GIVEN, "--tight", "--json", folder=tmp_path)
    assert document(done)["tight"] is True
    assert document(done)["best"]["shown_from"] < 60


def test_terminals_that_are_narrow_or_know_no_other_signs() -> None:
    plan = plan_epsilon_safe(100_000, 2, "1e-6")
    written = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    Console(file=written, width=120).print(*rendered(plan.document()))
    written.seek(0)
    text = written.read()
    assert ". lost, - in between, # shown" in text
    assert [len(bar) for bar in re.findall(r"\.+-+#+", text)] == [BAR_WIDTH] * len(plan.samples)
    narrow = Console(file=io.StringIO(), width=80)
    with narrow.capture() as captured:
        narrow.print(*rendered(plan.document()))
    lines = [line for line in captured.get().splitlines() if set(BAR_SIGNS) <= set(line) and "Bars" not in line]
    assert len(lines) == len(plan.samples)


def test_as_json_and_files(tmp_path: Path) -> None:
    done = sqlanon(*GIVEN, "--epsilon-node", "0", "--out", "out", "--json", folder=tmp_path)
    found = document(done)
    assert (found["epsilon_node"], found["epsilon_sampling"], found["budget"]["delta"]) == ("0", "2", "0.000001")
    assert found["samples"][-1]["beta"] == "0.864"
    assert found["best"] in found["samples"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(Path(p).name for p in found["files"])
    assert {Path(path).suffix for path in found["files"]} == {".csv", ".md", ".svg"}
    again = sqlanon(*GIVEN, "--out", "out", folder=tmp_path)
    assert again.returncode == 2
    assert "--replace" in again.stderr


def test_what_it_refuses(tmp_path: Path) -> None:
    for given, words in (
        ("--rows 0 --epsilon 2 --delta 1e-6", ["--rows"]),
        ("--rows 10 --epsilon 2", ["--delta"]),
        ("--rows 10 --epsilon 0.1 --delta 0", ["delta: must be above 0", "epsilon_node: must be below epsilon"]),
        ("--rows 10 --epsilon 0.1005 --delta 0.1", ["admits no beta of 1/1000"]),
        ("--rows 10 --epsilon 1 --delta 0.1 --epsilon-node x", ["epsilon_node: must be a number"]),
    ):
        done = sqlanon("plan", "epsilon-safe", *given.split(), folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert [word for word in words if word not in done.stderr] == []
