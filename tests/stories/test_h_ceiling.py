"""h-ceiling on UCI Adult, and what it refuses; the oracle has its say in tests/property."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.methods.h_ceiling.report import CeilingReport
from tests.conftest import ROOT, clinic_policy, open_clinic

SEED = sa.SeededSource(20)


def session_of_people(rows: int = 40) -> sa.Session:
    """People of ten ages and two sexes, with a disease each."""
    session = sa.connect(duckdb.connect())
    session.connection.execute(
        "CREATE TABLE people AS SELECT i // 4 AS age, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, "
        f"'d' || (i % 5) AS disease FROM range({rows}) AS numbers (i)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def people_policy(**settings: Any) -> sa.Policy:
    method = sa.HCeiling(**{"k": 4, "h": 0.3, **settings})
    return sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["disease"], method=method)


class TestRelease:
    def test_what_is_told_of_it(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(), "released", random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert release.node == {"age": 1, "sex": 0}
            assert report.counterfeits == 0
            release = session.anonymize("people", people_policy(h=0.1), "other", random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert release.node == {"age": 0, "sex": 0}
            assert report.counterfeits == 40
            assert report.rows_in_words == (
                "80 rows, 40 of them counterfeits (50.0 %) in 20 of 20 classes; the class of the fewest true rows "
                "has 1."
            )
            told = release.model_dump(mode="json")["report"]
            assert (told["counterfeits"], told["fewest_true_rows"]) == (40, 1)
            assert json.loads(release.model_dump_json())["report"] == told
            assert "counterfeit share" in report._repr_html_()
            claims = " ".join(release.guarantee.claims)
            assert "4 rows or more" in claims
            assert "rows are counted, not persons" in " ".join(release.guarantee.conditions)
            assert "with a probability of 1/4 at most" in claims
            assert "whoever could recognize all of them, with certainty" in claims

    def test_nothing_in_it_tells_counterfeits(self, tmp_path: Path) -> None:
        """Not the order, nor a column, nor NULL, nor the note, from which the number of true rows cannot be had."""
        file = tmp_path / "released.parquet"
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(h=0.1), file, random_source=SEED)
            rows = duckdb.read_parquet(str(file)).fetchall()
            assert rows == sorted(rows)
            assert list(duckdb.read_parquet(str(file)).columns) == ["age", "sex", "disease"]
            assert not any(value is None for row in rows for value in row)
            note = session.provenance(file) or ""
            facts = json.loads(note)["sqlanon"]
            assert facts["rows"] == {"released": 80, "masked": 0}
            assert set(facts["report"]) == {
                "node", "heights", "domains", "ceiling", "degree", "class_count", "min_class_size"
            }  # fmt: skip
            assert "counterfeit" not in json.dumps({**facts, "policy": None, "promise": None})
            assert session.verify(file, people_policy(h=0.1)).met
            assert release.report.rows.source == 40  # told to whoever ran it

    def test_draws_differ_unless_they_are_seeded(self) -> None:
        with session_of_people() as session:

            def released(source: sa.SeededSource | None) -> Counter[Any]:
                session.anonymize("people", people_policy(h=0.1), "released", replace=True, random_source=source)
                return Counter(session.connection.table("released").fetchall())

            assert released(sa.SeededSource(1)) == released(sa.SeededSource(1))
            assert released(sa.SeededSource(1)) != released(sa.SeededSource(2))
            assert released(None) != released(None)  # equal once in 5^40

    def test_a_search_that_is_stopped(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(h=0.1), "released", stop=lambda: True)
            assert isinstance(release.report, CeilingReport)
            assert release.report.lower_bound is not None
            assert release.report.lower_bound <= release.report.counterfeits

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        steps = clinic.explain("visits", clinic_policy(method=sa.HCeiling(2, h=0.5)))
        purposes = dict.fromkeys(step.purpose for step in steps)
        wanted = ["cells", "classes that lack rows", "counterfeits", "cells with counterfeits", "the release"]
        assert [purpose for purpose in purposes if purpose in wanted] == wanted

    def test_one_class_of_all_rows(self) -> None:
        with session_of_people(rows=3) as session:
            policy = people_policy(k=3, h=1).model_copy(update={"minimum_levels": {"age": 2, "sex": 1}})
            release = session.anonymize("people", policy, "released")
            assert session.connection.sql("SELECT DISTINCT age, sex FROM released").fetchall() == [("*", "*")]
            assert release.report.rows.released == 3


class TestFewestTrueRows:
    """Ages have four people each, of two sexes: classes of one to three true rows."""

    def policy(self, fewest: int, **options: Any) -> sa.Policy:
        method = sa.HCeiling(4, h=0.1, fewest_true_rows=fewest)
        roles: dict[str, Any] = {
            "quasi_identifiers": ["age", "sex"],
            "sensitive": ["disease"],
            "suppression_limit": 0.5,
        }
        return sa.Policy(**{**roles, "method": method, **options})

    def test_classes_of_fewer_are_left_out(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", self.policy(2), "released", random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert (report.fewest_true_rows, report.suppressed_rows, report.rows.dropped) == (2, 6, 6)
            assert report.rows_in_words == (
                "56 rows, 22 of them counterfeits (39.3 %) in 14 of 14 classes; the class of the fewest true rows has "
                "2. 6 suppressed (15.0 %; the limit is 50 %)."
            )
            assert "could recognize all of them, with 1/2, where 2 is the fewest true rows of a class" in " ".join(
                release.guarantee.claims
            )
            assert session.verify("released", self.policy(2)).met
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(56,)]

    def test_more_rows_than_may_be(self) -> None:
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            with pytest.raises(sa.UnsatisfiableError, match=r"suppresses 4 rows or fewer.*\n.*leaves out 6 of 40 rows"):
                session.anonymize("people", self.policy(2, suppression_limit=0.1), "released", replace="anything")
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(40,)]

    @pytest.mark.parametrize(
        ("fewest", "options", "words"),
        [
            (2, {"suppression_limit": 0}, "fewest_true_rows = 2 needs a suppression_limit"),
            (2, {"suppression": "mask"}, "takes no suppression, search or objective"),
            (1, {}, "takes no suppression_limit.*unless fewest_true_rows is above 1"),
        ],
    )
    def test_policies_that_do_not_fit(self, fewest: int, options: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            self.policy(fewest, **options)

    @pytest.mark.parametrize(("fewest", "words"), [(5, "fewest_true_rows is k at most"), (0, "fewest_true_rows: ")])
    def test_settings_that_cannot_be(self, fewest: int, words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(4, fewest_true_rows=fewest)


class TestPrivateTable:
    def test_it_tells_the_custodian_which_rows_are_invented(self) -> None:
        with session_of_people() as session:
            for policy in (people_policy(h=0.1), people_policy(h=0.1, catalog="paper"), people_policy(k=20, h=0.6)):
                tables = {"counterfeits": "invented"}
                if policy.method.added_columns:
                    tables["catalog"] = "told"
                release = session.anonymize("people", policy, "released", tables=tables, replace=True)
                assert isinstance(release.report, CeilingReport)
                connection = session.connection
                assert connection.table("invented").columns == ["age", "sex", "disease", "counterfeits"]
                told = connection.sql("SELECT age, sex, disease, counterfeits FROM invented").fetchall()
                invented = {tuple(values): count for *values, count in told}
                assert sum(invented.values()) == release.report.counterfeits > 0
                node = "MAP {" + ", ".join(f"'{name}': {level}" for name, level in release.node.items()) + "}"
                session.install()
                true = Counter(
                    connection.sql(f"SELECT age, sex, disease FROM anon.generalize('people', {node})").fetchall()
                )
                shown = Counter(connection.sql("SELECT age, sex, disease FROM released").fetchall())
                assert dict(shown - true) == invented

    def test_it_is_not_made_unless_it_is_asked_for(self, tmp_path: Path) -> None:
        with session_of_people() as session:
            session.anonymize("people", people_policy(), "released")
            assert {row[0] for row in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "released"}
            with pytest.raises(sa.EngineError, match="give the names of tables"):
                session.anonymize(
                    "people", people_policy(), tmp_path / "x.parquet", tables={"counterfeits": "invented"}
                )

    def test_a_column_of_its_name(self) -> None:
        with session_of_people() as session:
            session.connection.execute("ALTER TABLE people RENAME disease TO Counterfeits")
            policy = sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["Counterfeits"], method=sa.HCeiling(4))
            with pytest.raises(sa.PolicyError, match='"Counterfeits"'):
                session.anonymize("people", policy, "released", tables={"counterfeits": "invented"})


class TestCommand:
    def test_a_run_with_a_seed(self, tmp_path: Path) -> None:
        database, policy = tmp_path / "clinic.duckdb", tmp_path / "policy.toml"
        with duckdb.connect(str(database)) as connection:
            open_clinic(connection)
            connection.execute("DELETE FROM visits WHERE diagnosis IS NULL")
        policy.write_text(
            'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
            'method = { model = "h-ceiling", k = 3, h = 0.3 }\n'
        )
        command = ["run", "visits", "--db", str(database), "--policy", str(policy), "--into"]
        outputs = []
        for name in ("one", "two"):
            done = CliRunner().invoke(app, [*command, str(tmp_path / f"{name}.parquet"), "--seed", "3"])
            assert done.exit_code == 0, done.output
            assert "24 rows, 13 of them counterfeits (54.2 %)" in " ".join(done.output.split())
            outputs.append(duckdb.read_parquet(str(tmp_path / f"{name}.parquet")).fetchall())
        assert outputs[0] == outputs[1]

    def test_a_seed_for_what_draws_nothing(self, tmp_path: Path) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text('quasi_identifiers = ["age"]\nprivacy = [{ model = "k-anonymity", k = 2 }]\n')
        source = str(ROOT / "fixtures" / "clinic.sql")
        done = CliRunner().invoke(app, ["run", source, "--policy", str(policy), "--into", "x.parquet", "--seed", "3"])
        assert done.exit_code == 2
