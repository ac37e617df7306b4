"""Relocation on UCI Adult, and what it refuses; the oracle has its say in tests/property."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.methods.relocation.report import RelocationReport
from tests.conftest import clinic_policy, open_clinic


def session_of_people() -> sa.Session:
    """Ten ages of both sexes; of the age of 0 there is one man, and of the age of 9 one woman."""
    session = sa.connect(duckdb.connect())
    session.connection.execute(
        "CREATE TABLE people AS SELECT 1 + i // 10 AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
        "'d' || (i % 5) AS disease, i AS number FROM range(80) AS numbers (i)"
    )
    session.connection.execute("INSERT INTO people VALUES (0, 'm', 'rare', 100), (9, 'f', NULL, 101)")
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def people_policy(**settings: Any) -> sa.Policy:
    method = sa.Relocation(**{"k": 4, "limit": 0.05, **settings})
    return sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["number"], method=method)


class TestRelease:
    def test_what_is_told_of_it(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(), "released")
            report = release.report
            assert isinstance(report, RelocationReport)
            assert release.node == {"age": 0, "sex": 0}
            assert (report.relocated_rows, report.relocated_classes) == (2, 2)
            # To another age below the same label of five, at (5 - 1) / (10 - 1) of age and nothing of sex.
            assert report.mean_distance == pytest.approx(4 / 9 / 2)
            assert report.losses["lm"] == 0
            assert report.loss == pytest.approx(2 / 82)
            assert report.rows_in_words == (
                "82 rows, 2 of them untruthful (2.4 %; the limit is 5 %): they are shown in other classes, at a mean "
                "distance of 0.222."
            )
            told = release.model_dump(mode="json")["report"]
            assert (told["relocated_rows"], told["untruthful_share"]) == (2, 2 / 82)
            assert "mean distance" in report._repr_html_()
            assert "2 rows (2.4 %) have quasi-identifiers of other rows" in release.guarantee.not_covered[0]
            assert 'its values of "disease", "number" are true' in release.guarantee.claims[-1]
            # Of equally near classes, which are equally large, the first by its key.
            moved = session.connection.sql("SELECT age, sex, disease FROM released WHERE number >= 100").fetchall()
            assert moved == [("1", "m", "rare"), ("5", "f", None)]

    def test_the_larger_of_equally_near_classes_is_taken(self) -> None:
        with session_of_people() as session:
            session.connection.execute("INSERT INTO people VALUES (3, 'm', 'x', 90)")
            session.anonymize("people", people_policy(), "released")
            (moved,) = session.connection.sql("SELECT age, sex FROM released WHERE number = 100").fetchall()
            assert moved == ("3", "m")

    def test_what_travels_with_it(self, tmp_path: Path) -> None:
        """How many rows are not true, without how far they are from where they belong."""
        file = tmp_path / "released.csv"
        with session_of_people() as session:
            session.anonymize("people", people_policy(), file)
            facts = json.loads(session.provenance(file) or "")["sqlanon"]
            assert facts["rows"] == {"source": 82, "released": 82, "masked": 0, "dropped": 0, "unknown": 0}
            assert (facts["report"]["relocated_rows"], facts["report"]["untruthful_share"]) == (2, 2 / 82)
            assert not {"mean_distance", "relocated_classes", "source", "into"} & set(facts["report"])
            assert session.verify(file, people_policy()).met

    def test_it_is_the_same_every_time(self, tmp_path: Path) -> None:
        rows = []
        with session_of_people() as session:
            for order in ("number", "number DESC", "hash(number)"):
                session.anonymize(f"FROM people ORDER BY {order}", people_policy(), "released", replace=True)
                rows.append(session.connection.table("released").fetchall())
        assert rows[0] == rows[1] == rows[2]

    def test_a_heuristic_search(self) -> None:
        with session_of_people() as session:
            policy = people_policy().model_copy(update={"search": "datafly"})
            assert session.anonymize("people", policy, "released").report.rows.released == 82

    def test_its_lattice(self) -> None:
        with session_of_people() as session:
            nodes = session.lattice("people", people_policy())
            found = session.connection.sql("SELECT count(*) FROM nodes WHERE satisfies").fetchall()
            assert nodes.num_rows == 6
            assert found == [(6,)]

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        steps = clinic.explain("visits", clinic_policy(method=sa.Relocation(2)))
        purposes = dict.fromkeys(step.purpose for step in steps)
        wanted = ["cells", "classes by size", "where they go", "cells where they go", "the release"]
        assert [purpose for purpose in purposes if purpose in wanted] == wanted


class TestCommand:
    def test_a_run(self, tmp_path: Path) -> None:
        database, policy = tmp_path / "clinic.duckdb", tmp_path / "policy.toml"
        with duckdb.connect(str(database)) as connection:
            open_clinic(connection)
        policy.write_text(
            'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
            'method = { model = "relocation", k = 2, limit = 0.5 }\n'
        )
        command = ["run", "visits", "--db", str(database), "--policy", str(policy), "--into"]
        done = CliRunner().invoke(app, [*command, str(tmp_path / "moved.parquet")])
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert "12 rows, 4 of them untruthful (33.3 %; the limit is 50 %)" in said
        assert "the release is not truthful" in said
