"""Top-down specialization on the example of its paper, as one table and a release of it."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods.top_down.top_down_run import STOPPED
from tests.naive_diffgen import Labels
from tests.naive_top_down import Case, Naive, gain

EDUCATION = [
    ["9th", "Junior", "Secondary", "*"],
    ["10th", "Junior", "Secondary", "*"],
    ["11th", "Senior", "Secondary", "*"],
    ["12th", "Senior", "Secondary", "*"],
    ["Bachelors", "Bachelors", "University", "*"],
    ["Masters", "Graduate", "University", "*"],
    ["Doctorate", "Graduate", "University", "*"],
]

APPLICANTS = [
    ("9th", "M", 30, 0, 3),
    ("10th", "M", 32, 0, 4),
    ("11th", "M", 35, 2, 3),
    ("12th", "F", 37, 3, 1),
    ("Bachelors", "F", 42, 4, 2),
    ("Bachelors", "F", 44, 4, 0),
    ("Masters", "M", 44, 4, 0),
    ("Masters", "F", 44, 3, 0),
    ("Doctorate", "F", 44, 1, 0),
]
"""Education, sex, hours of work a week, and how many are granted and refused: Fung, Wang and Yu 2005, table 1."""

HOURS = (1, 99)


def applicants() -> list[dict[str, Any]]:
    return [
        {"education": education, "sex": sex, "hours": hours, "target": answer}
        for education, sex, hours, granted, refused in APPLICANTS
        for answer in ["yes"] * granted + ["no"] * refused
    ]


def case_of(k: int) -> Case:
    """The example for the oracle."""
    education = Labels({path[0]: tuple(reversed(path)) for path in EDUCATION})
    sex = Labels({value: ("*", value) for value in "MF"})
    order = ("education", "sex", "hours")
    return Case(applicants(), {"education": education, "sex": sex}, {"hours": HOURS}, order, k)


@pytest.fixture(scope="module")
def made() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE TABLE applicants (education VARCHAR, sex VARCHAR, hours INTEGER, target VARCHAR)")
        connection.executemany("INSERT INTO applicants VALUES (?, ?, ?, ?)", [[*row.values()] for row in applicants()])
        session = sa.connect(connection)
        session.taxonomies.load("education", sa.Taxonomy.from_rows(EDUCATION))
        session.taxonomies.load("sex", sa.Taxonomy.from_rows([["M", "*"], ["F", "*"]]))
        yield session


@pytest.fixture
def session(made: sa.Session) -> Iterator[sa.Session]:
    yield made
    made.connection.execute("DROP TABLE IF EXISTS other")


@pytest.fixture(scope="module")
def release(made: sa.Session) -> Any:
    """The release of k = 4, as table ``released``."""
    return made.anonymize("applicants", policy_of(), "released")


def policy_of(k: int = 4, **options: Any) -> sa.Policy:
    roles = {"quasi_identifiers": ["education", "sex", "hours"], "sensitive": ["target"]}
    method = sa.TopDownSpecialization(k, target="target", numeric={"hours": HOURS})
    return sa.Policy(**{**roles, "method": method, **options})


def note_of(session: sa.Session, table: str) -> dict[str, Any]:
    note: dict[str, Any] = json.loads(session.provenance(table) or "")["sqlanon"]
    return note


def test_the_gain_and_the_split_of_the_paper(session: sa.Session) -> None:
    """InfoGain of the hours of work is 0.9597 - (12 · 0.6500 + 22 · 0.5746) / 34."""
    low, high = ([row["target"] for row in applicants() if (row["hours"] < 37) == is_low] for is_low in (True, False))
    assert (len(low), len(high)) == (12, 22)
    assert round(gain([low, high]), 4) == 0.3584
    # Less of it is lost by every other predictor, and a class loses 22 rows.
    session.anonymize("applicants", policy_of(12), "other")
    assert note_of(session, "other")["labels"] == {
        "kind": "cut",
        "labels": {"education": [[3, "*"]], "sex": [[1, "*"]]},
        "intervals": {"hours": [[1, 37], [37, 99]]},
        "items": {},
    }


@pytest.mark.parametrize("k", [2, 13, 34])
def test_rows_are_those_of_the_naive_algorithm(session: sa.Session, k: int) -> None:
    release = session.anonymize("applicants", policy_of(k), "other")
    naive = Naive(case_of(k))
    assert Counter(session.connection.execute("FROM other").fetchall()) == naive.run()
    assert list(release.report.specialized) == naive.specialized
    assert release.report.min_class_size == naive.smallest(naive.cuts) >= k
    assert session.verify("other", policy_of(k)).met


def test_report_and_guarantee(session: sa.Session, release: Any) -> None:
    report, guarantee = release.report, release.guarantee
    assert (report.rows.source, report.rows.released, report.rows.dropped) == (34, 34, 0)
    assert guarantee.claims[0].startswith('every equivalence class of the release over "education", "sex"')
    assert "k-anonymity (k = 4)" in guarantee.claims[0]
    assert any('bounds of the intervals of "hours" come from the data' in each for each in guarantee.not_covered)
    note = note_of(session, "released")
    assert note["privacy"] == [
        {"model": "k-anonymity (k = 4)", "measure": "class_size", "required": 4, "attained": report.min_class_size}
    ]
    assert note["taxonomy_sha256"].keys() == {"education", "sex"}
    assert note["report"]["specialized"] == list(report.specialized)


@pytest.mark.usefixtures("release")
def test_new_rows_become_like_it(session: sa.Session) -> None:
    session.generalize("applicants", "released", into="other")
    released, again = (Counter(session.connection.table(name).fetchall()) for name in ("released", "other"))
    assert released == again


@pytest.mark.usefixtures("release")
def test_labels_that_are_not_those_of_the_note(session: sa.Session) -> None:
    for name, label, words in (
        ("hours", "[37, 40)", "that are none of the intervals of the release"),
        ("education", "*", "that its taxonomy does not have in the cut of the release"),
    ):
        session.connection.execute(
            f"CREATE OR REPLACE TABLE other AS SELECT * REPLACE ('{label}' AS {name}) FROM released"
        )
        comment = json.dumps({"sqlanon": note_of(session, "released")}).replace("'", "''")
        session.connection.execute(f"COMMENT ON TABLE other IS '{comment}'")
        found = session.verify("other", policy_of(), strict=False)
        assert f'column "{name}" has 1 labels, in 34 rows, {words}' in found.shortfalls


def test_a_search_that_is_stopped_publishes_what_it_has(session: sa.Session) -> None:
    asked = iter([False, True])
    report = session.anonymize("applicants", policy_of(), "other", stop=lambda: next(asked)).report
    assert (report.specialized, report.notes) == (("hours",), (STOPPED,))


def test_its_statements(session: sa.Session) -> None:
    purposes = [step.purpose for step in session.explain("applicants", policy_of())]
    assert {"classes after specializations", "rows in their classes", "splits of intervals"} <= {*purposes}
    assert purposes[-1] != "rows in one class"
