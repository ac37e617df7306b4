"""Top-down specialization on the example of its paper and on UCI Adult, and what it refuses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.methods.cuts.top_down.method import STOPPED
from tests.conftest import copy_of
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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "w.duckdb"
    with sa.connect(path) as session:
        connection = session.connection
        connection.execute("CREATE TABLE applicants (education VARCHAR, sex VARCHAR, hours INTEGER, target VARCHAR)")
        connection.executemany("INSERT INTO applicants VALUES (?, ?, ?, ?)", [[*row.values()] for row in applicants()])
        session.taxonomies.load("education", sa.Taxonomy.from_rows(EDUCATION))
        session.taxonomies.load("sex", sa.Taxonomy.from_rows([["M", "*"], ["F", "*"]]))
    return path


@pytest.fixture
def session(made: Path) -> Iterator[sa.Session]:
    """The example as table ``applicants``."""
    with copy_of(made) as found:
        yield found


def policy_of(k: int = 4, **options: Any) -> sa.Policy:
    roles = {"quasi_identifiers": ["education", "sex", "hours"], "sensitive": ["target"]}
    method = sa.TopDownSpecialization(k, target="target", numeric={"hours": HOURS})
    return sa.Policy(**{**roles, "method": method, **options})


def note_of(session: sa.Session, table: str) -> dict[str, Any]:
    found = session.connection.execute("SELECT comment FROM duckdb_tables() WHERE table_name = ?", [table]).fetchall()
    note: dict[str, Any] = json.loads(found[0][0])["sqlanon"]
    return note


class TestThePaper:
    def test_its_gain_and_its_split(self, session: sa.Session) -> None:
        """InfoGain of the hours of work is 0.9597 - (12 · 0.6500 + 22 · 0.5746) / 34."""
        low, high = (
            [row["target"] for row in applicants() if (row["hours"] < 37) == is_low] for is_low in (True, False)
        )
        assert (len(low), len(high)) == (12, 22)
        assert round(gain([low, high]), 4) == 0.3584
        # Less of it is lost by every other predictor, and a class loses 22 rows.
        session.anonymize("applicants", policy_of(12), "released")
        assert note_of(session, "released")["labels"] == {
            "kind": "cut",
            "labels": {"education": [[3, "*"]], "sex": [[1, "*"]]},
            "intervals": {"hours": [[1, 37], [37, 99]]},
            "items": {},
        }

    @pytest.mark.parametrize("k", [2, 3, 5, 12, 13, 34])
    def test_ks(self, session: sa.Session, k: int) -> None:
        release = session.anonymize("applicants", policy_of(k), "released")
        naive = Naive(case_of(k))
        assert Counter(session.connection.execute("FROM released").fetchall()) == naive.run()
        report = release.report
        assert list(report.specialized) == naive.specialized
        assert report.min_class_size == naive.smallest(naive.cuts) >= k
        assert session.verify("released", policy_of(k)).met


class TestRelease:
    def test_what_is_said_of_it(self, session: sa.Session) -> None:
        release = session.anonymize("applicants", policy_of(), "released")
        report = release.report
        assert (report.rows.source, report.rows.released, report.rows.dropped) == (34, 34, 0)
        assert release.guarantee.claims[0].startswith('every equivalence class of the release over "education", "sex"')
        assert "k-anonymity (k = 4)" in release.guarantee.claims[0]
        assert any(
            'bounds of the intervals of "hours" come from the data' in each for each in release.guarantee.not_covered
        )
        note = note_of(session, "released")
        assert note["privacy"] == [
            {"model": "k-anonymity (k = 4)", "measure": "class_size", "required": 4, "attained": report.min_class_size}
        ]
        assert note["taxonomy_sha256"].keys() == {"education", "sex"}
        assert note["report"]["specialized"] == list(report.specialized)

    def test_new_rows_become_like_it(self, session: sa.Session) -> None:
        session.anonymize("applicants", policy_of(), "released")
        session.generalize("applicants", "released", into="again")
        released, again = (Counter(session.connection.table(name).fetchall()) for name in ("released", "again"))
        assert released == again

    def test_labels_that_are_not_those_of_the_note(self, session: sa.Session) -> None:
        session.anonymize("applicants", policy_of(), "released")
        for name, label, words in (
            ("hours", "[37, 40)", "that are none of the intervals of the release"),
            ("education", "*", "that its taxonomy does not have in the cut of the release"),
        ):
            session.connection.execute(
                f"CREATE OR REPLACE TABLE changed AS SELECT * REPLACE ('{label}' AS {name}) FROM released"
            )
            comment = json.dumps({"sqlanon": note_of(session, "released")}).replace("'", "''")
            session.connection.execute(f"COMMENT ON TABLE changed IS '{comment}'")
            found = session.verify("changed", policy_of(), strict=False)
            assert f'column "{name}" has 1 labels, in 34 rows, {words}' in found.shortfalls

    def test_numbers_with_steps_and_no_taxonomy_at_all(self) -> None:
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.execute(
                "CREATE TABLE given AS SELECT i / 8 AS dose, i >= 20 AS cured FROM range(40) AS numbers (i)"
            )
            session = sa.connect(connection)
            method = sa.TopDownSpecialization(10, numeric={"dose": (0, "5.25", "0.25")})
            policy = sa.Policy(quasi_identifiers=["dose"], sensitive=["cured"], method=method)
            session.anonymize("given", policy, "released")
            assert session.verify("released", policy).met
            found = connection.execute(
                "SELECT dose, cured, count(*) FROM released GROUP BY ALL ORDER BY ALL"
            ).fetchall()
        assert found == [("[0, 2.5)", False, 20), ("[2.5, 5.25)", True, 20)]

    def test_a_search_that_is_stopped_publishes_what_it_has(self, session: sa.Session) -> None:
        asked = iter([False, True])
        release = session.anonymize("applicants", policy_of(), "released", stop=lambda: next(asked))
        report = release.report
        assert (report.specialized, report.notes) == (("hours",), (STOPPED,))

    def test_its_statements(self, session: sa.Session) -> None:
        steps = session.explain("applicants", policy_of())
        purposes = [step.purpose for step in steps]
        assert {"classes after specializations", "rows in their classes", "splits of intervals"} <= {*purposes}
        assert purposes[-1] != "rows in one class"

    def test_a_policy_as_a_file(self, session: sa.Session, tmp_path: Any) -> None:
        file = tmp_path / "policy.toml"
        file.write_text(
            'quasi_identifiers = ["education", "sex", "hours"]\nsensitive = ["target"]\n'
            'method = { model = "top-down-specialization", k = 4, target = "target", numeric = { hours = [1, 99] } }\n'
        )
        assert sa.Policy.from_toml(file) == policy_of()
        assert sa.Policy(**policy_of().model_dump(mode="json")) == policy_of()


def test_a_run_from_the_command_line(tmp_path: Any) -> None:
    database, policy = tmp_path / "people.duckdb", tmp_path / "policy.toml"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 20 + i AS age, i > 9 AS ill FROM range(20) AS people (i)")
    policy.write_text(
        'quasi_identifiers = ["age"]\nsensitive = ["ill"]\n'
        'method = { model = "top-down-specialization", k = 5, numeric = { age = [0, 100] } }\n'
    )
    command = ["run", "people", "--db", str(database), "--policy", str(policy), "--into", str(tmp_path / "x.parquet")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "20 of 20 rows" in said
    assert "No lattice was searched: lm loss" in said, said
    assert "age 2 labels" in said
