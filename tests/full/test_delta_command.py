"""``sqlanon delta``: which number it prints of three, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon as sa
from tests.commands import document, sqlanon


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("--k 50 --beta 0.75 --epsilon 2", "7.6454e-06"),
        ("--k 50 --beta 0.75 --epsilon 2 --tight", "3.4608e-06"),
        ("--beta 0.75 --epsilon 2 --delta 1e-6", "66"),
        ("--k 50 --epsilon 2 --delta 1e-6", "0.687"),
        ("--k 50 --epsilon 2 --delta 1e-6 --tight", "0.729"),
        ("--k 50 --beta 0.25 --epsilon 1/2", "1.0742e-09"),
        ("--k 5000 --beta 0.5 --epsilon 800", "1e-300"),
    ],
)
def test_the_number_that_is_not_given(tmp_path: Path, given: str, printed: str) -> None:
    done = sqlanon("delta", *given.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{printed}\n")
    assert done.stderr.startswith("To publish the classes of")


def test_delta_is_rounded_up(tmp_path: Path) -> None:
    printed = float(sqlanon("delta", "--k", "10", "--beta", "0.5", "--epsilon", "2", folder=tmp_path).stdout)
    assert 2**-10 < printed == 9.7657e-4


def test_as_json(tmp_path: Path) -> None:
    done = sqlanon("delta", "--k", "50", "--delta", "1e-6", "--epsilon", "2", "--json", folder=tmp_path)
    assert document(done) == {
        "computed": "beta",
        "k": 50,
        "beta": 0.687,
        "epsilon": 2.0,
        "delta": sa.delta(50, 0.687, 2.0),
        "delta_limit": 1e-6,
        "tight": False,
    }
    done = sqlanon("delta", "--k", "50", "--beta", "0.75", "--epsilon", "2", "--json", folder=tmp_path)
    assert document(done)["delta_limit"] is None
    assert document(done)["delta"] == sa.delta(50, 0.75, 2.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--k 50 --epsilon 2", ["give two of --k, --beta and --delta"]),
        ("--k 50 --beta 0.5 --delta 0.1 --epsilon 2", ["give two of --k, --beta and --delta"]),
        ("--k 50 --beta 0.5", ["--epsilon"]),
        ("--k 1 --beta 2 --epsilon 1e400", ["at least 2", "below 1", "finite"]),
        ("--k 5 --beta 0.75 --epsilon 1", ["at least -ln(1 - beta)"]),
        ("--beta 0.5 --epsilon 1 --delta 0", ["delta must be above 0"]),
        ("--beta 0.5 --epsilon x --delta 1", ["epsilon: must be a number", "delta: must be below 1"]),
        ("--k 2 --epsilon 2 --delta 1e-9", ["no beta of 1/1000 or more"]),
    ],
)
def test_what_it_refuses(tmp_path: Path, given: str, words: list[str]) -> None:
    for more in ((), ("--json",)):
        done = sqlanon("delta", *given.split(), *more, folder=tmp_path)
        assert done.returncode == 2
        assert [word for word in words if word not in done.stderr] == []
    if "--epsilon" in given:
        assert set(document(done)) == {"error"}
