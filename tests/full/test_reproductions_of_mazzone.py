"""``sqlanon reproduce uniqueness`` and ``run-times``, and errors of counts by several columns, on invented rows."""

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path
from statistics import fmean

import pytest

import sqlanon as sa
from sqlanon import papers
from sqlanon.evaluation import CountQuery, query_errors
from sqlanon.papers import run_times, uniqueness
from sqlanon.papers.ceiling_experiment import errors_by_count
from sqlanon.papers.income_accuracy import THESIS
from tests.reproductions import reproduced_twice, rows_of_adult, run, write_adult


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_adult(tmp_path / "adult", THESIS.quasi_identifiers, {"adult.data": ""})


def test_unique_rows_are_those_of_classes_of_one(data: Path, tmp_path: Path) -> None:
    found = reproduced_twice("uniqueness", tmp_path / "out", "--data", data, "--seeds", "2")
    shares = {row["known"]: float(row["unique_share"]) for row in found.rows}
    assert [*shares] == [known.name for known in uniqueness.KNOWN]
    rows = [*rows_of_adult()]
    for known, columns in (
        ("demographics with the ages of Adult", (0, 5, 7, 8, 9, 13)),
        ("the first two events", (6, 3)),
    ):
        sizes = Counter(tuple(row[at] for at in columns) for row in rows)
        assert shares[known] == pytest.approx(sum(size == 1 for size in sizes.values()) / len(rows))
    drawn = shares["demographics, ages from a normal distribution"]
    assert drawn > shares["demographics without age"]


def test_times_are_in_units_of_a_checked_node(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_times, "SETTINGS", ((5, 1),))
    monkeypatch.setattr(run_times, "BOUNDS", ((0.8, 50),))
    monkeypatch.setattr(run_times, "K", 2)
    done = run("run-times", "--data", data, "--out", tmp_path / "out", "--seeds", "1")
    assert done.exit_code == 0, done.output
    assert run_times.CONCEALING in (tmp_path / "out" / "run-times.md").read_text()
    measures = [
        {"what": what, "setting": "any", "seconds": seconds, "nodes": nodes}
        for what, seconds, nodes in (
            (run_times.OLA.format("Prec"), 3.0, 10),
            (run_times.OLA.format("Prec"), 1.0, 10),
            (run_times.INVERSE, 0.5, 10),
            (run_times.SAFE.format("suppression"), 2.0, 2),
            (run_times.SAFE.format("k-anonymity"), 1.0, 2),
        )
    ]
    found = papers.reproduction("run-times").results(measures, 2)
    assert [row["ratio"] for row in found.rows] == [1, 0.5, 10, 5]
    assert found.rows[0]["thesis"] == 1
    assert "2.00 times as long" in found.findings[1]


ROWS = [
    (age, sex, zone, disease)
    for number, (age, sex, zone) in enumerate(itertools.product((1, 2, 12, 13), "fm", ("a", "b")))
    for disease in ("flu", "cold")[: 1 + number % 2] * (1 + number % 3)
]


def test_counts_by_several_columns_are_estimated_as_by_one() -> None:
    """By brute force, with labels of ten years, any sex, and zones as they are."""
    names, spans = ("age", "sex", "zone"), {"age": 20, "sex": 2, "zone": 2}
    with sa.connect(":memory:") as session:
        session.connection.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, zone VARCHAR, disease VARCHAR)")
        session.connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
        taxonomies = {
            "age": sa.Taxonomy.intervals([10], minimum=0, maximum=spans["age"] - 1),
            "sex": sa.Taxonomy.flat(["f", "m"]),
            "zone": sa.Taxonomy.flat(["a", "b"]),
        }
        session.taxonomies.load_all(taxonomies)
        policy = sa.Policy(
            quasi_identifiers=names,
            sensitive=["disease"],
            privacy=[sa.KAnonymity(2)],
            minimum_levels={"age": 1, "sex": 1},
        )
        session.anonymize("people", policy, "released")
        found = errors_by_count(session, "people", "released", names, "disease")
        queries = [CountQuery(column=name, where={"disease": value}) for name in names for value in ("flu", "cold")]
        alone = query_errors(session, "people", "released", queries).to_pylist()
    assert found[1] == pytest.approx(fmean(row["mean_relative_error"] for row in alone))
    errors = []
    for value in ("flu", "cold"):
        truth = Counter(row[:3] for row in ROWS if row[3] == value)
        shown = Counter((age // 10, zone) for age, _, zone, disease in ROWS if disease == value)
        relative = [
            abs(Fraction(shown[age // 10, zone], 10 * spans["sex"]) - count) / count
            for (age, _, zone), count in truth.items()
        ]
        errors.append(float(fmean(relative)))
    assert found[3] == pytest.approx(fmean(errors))
