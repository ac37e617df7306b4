"""``sqlanon delta``: which number it prints of three, and what it refuses."""

from pathlib import Path

import sqlanon as sa
from tests.commands import document, sqlanon

PRINTED = {
    "--k 50 --beta 0.75 --epsilon 2": "7.6454e-06",
    "--k 50 --beta 0.75 --epsilon 2 --tight": "3.4608e-06",
    "--beta 0.75 --epsilon 2 --delta 1e-6": "66",
    "--k 50 --epsilon 2 --delta 1e-6 --tight": "0.729",
    "--k 50 --beta 0.25 --epsilon 1/2": "1.0742e-09",
    "--k 5000 --beta 0.5 --epsilon 800": "1e-300",
    "--k 10 --beta 0.5 --epsilon 2": "0.00097657",
}
REFUSED = {
    "--k 50 --epsilon 2": ["give two of --k, --beta and --delta"],
    "--k 50 --beta 0.5 --delta 0.1 --epsilon 2": ["give two of --k, --beta and --delta"],
    "--k 1 --beta 2 --epsilon 1e400": ["at least 2", "below 1", "finite"],
    "--k 5 --beta 0.75 --epsilon 1": ["at least -ln(1 - beta)"],
    "--beta 0.5 --epsilon 1 --delta 0": ["delta must be above 0"],
    "--beta 0.5 --epsilon x --delta 1": ["epsilon: must be a number", "delta: must be below 1"],
    "--k 2 --epsilon 2 --delta 1e-9": ["no beta of 1/1000 or more"],
}


def test_the_number_that_is_not_given(tmp_path: Path) -> None:
    for given, printed in PRINTED.items():
        done = sqlanon("delta", *given.split(), folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, f"{printed}\n")
        assert done.stderr.startswith("To publish the classes of")
    assert float(printed) > 2**-10, "it is rounded up"


def test_as_json(tmp_path: Path) -> None:
    given = ("delta", "--k", "50", "--epsilon", "2", "--json")
    assert document(sqlanon(*given, "--delta", "1e-6", folder=tmp_path)) == {
        "computed": "beta",
        "k": 50,
        "beta": 0.687,
        "epsilon": 2.0,
        "delta": sa.delta(50, 0.687, 2.0),
        "delta_limit": 1e-6,
        "tight": False,
    }
    computed = document(sqlanon(*given, "--beta", "0.75", folder=tmp_path))
    assert (computed["delta_limit"], computed["delta"]) == (None, sa.delta(50, 0.75, 2.0))


def test_what_it_refuses(tmp_path: Path) -> None:
    for given, words in REFUSED.items():
        done = sqlanon("delta", *given.split(), "--json", folder=tmp_path)
        assert done.returncode == 2
        assert [word for word in words if word not in done.stderr] == []
        assert set(document(done)) == {"error"}
    for given, words in {"--k 50 --beta 0.5": ["--epsilon"], "--k 50 --epsilon 2": ["give two of"]}.items():
        done = sqlanon("delta", *given.split(), folder=tmp_path)
        assert done.returncode == 2
        assert words[0] in done.stderr
