"""Synthetic rows from end to end: what is refused, charged, promised and written."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.evaluation import AverageQuery, CountQuery
from sqlanon.mechanisms.accountant import RhoCharge
from sqlanon.mechanisms.source import Integers
from sqlanon.methods.synthetic import choosing, measuring
from tests.commands import sqlanon
from tests.strategies import HOSTILE_NAMES

DISEASES = [("flu", "infection", "*"), ("cold", "infection", "*"), ("burn", "injury", "*"), ("cut", "injury", "*")]
TOML = """
quasi_identifiers = ["age", "sex"]
sensitive = ["disease"]
identifiers = ["person"]

[method]
model = "synthetic"
budget = { epsilon = "2", delta = "1e-6" }
numeric = { age = { low = 0, high = 100, width = 10 } }
"""


class Silent(sa.SeededSource):
    """No noise, and the best choice: what is drawn is what was counted."""

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        assert sensitivity > 0
        assert charge.rho > 0
        return np.zeros(size, dtype=np.int64)

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        assert charge.rho > 0
        return np.full(runs, np.argmax(scores), dtype=np.int64)


class First(sa.SeededSource):
    """The first choice, whatever the scores are."""

    def gumbel_choice(self, scores: Integers, charge: RhoCharge, *, sensitivity: int, runs: int = 1) -> Integers:
        return np.zeros(runs, dtype=np.int64)


def fixed(counts: Integers) -> Integers:
    """The same counts for every table."""
    return np.arange(counts.size).reshape(counts.shape)


def make_warehouse(path: Path | str, rows: int = 1200) -> sa.Session:
    """A warehouse with invented patients, and declared taxonomies."""
    session = sa.connect(path)
    session.connection.execute(
        f"""
        CREATE TABLE patients AS
        SELECT
            i // 2 AS person,
            CAST(20 + i * 7 % 60 AS INTEGER) AS age,
            CASE WHEN i % 3 = 0 THEN 'm' ELSE 'f' END AS sex,
            ['flu', 'cold', 'burn', 'cut'][1 + (i // 5 + i % 3) % 4] AS disease
        FROM range({rows}) AS numbers (i)
        """
    )
    session.taxonomies.load("sex", sa.Taxonomy.flat(["m", "f"]))
    session.taxonomies.load("disease", sa.Taxonomy.from_rows(DISEASES))
    return session


def policy(**options: Any) -> sa.Policy:
    given = {"budget": sa.Budget(2, "1e-6"), "numeric": {"age": (0, 100, 10)}, **options}
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["disease"],
        identifiers=["person"],
        method=sa.Synthetic(**given),
    )


def counts(session: sa.Session, table: str, *columns: str) -> dict[Any, int]:
    keys = ", ".join(columns)
    rows = session.connection.execute(f"SELECT {keys}, count(*) FROM {table} GROUP BY ALL").fetchall()
    return {row[:-1]: row[-1] for row in rows}


class TestReleases:
    def test_a_release(self, session: sa.Session) -> None:
        release = session.anonymize("patients", policy(), into="released")
        types = session.connection.execute("SELECT column_name, column_type FROM (DESCRIBE released)").fetchall()
        assert types == [("age", "INTEGER"), ("sex", "VARCHAR"), ("disease", "VARCHAR")]
        report = release.report
        assert report.released_rows == session.connection.sql("FROM released").shape[0]
        assert report.released_groups is None, "nobody has counted them"
        assert abs(report.released_rows - 1200) < 150
        assert report.rho == pytest.approx(0.088152688380)
        assert {("age",), ("sex",), ("disease",)} < {each.columns for each in report.measured}
        assert report.mean_error is not None
        assert report.error_sigma == pytest.approx((1 / (2 * 0.00088152688380)) ** 0.5 / 2)
        assert release.guarantee.claims
        assert release.guarantee.budget == sa.Budget(2, "1e-6")
        assert session.ledger.spent("patients") == sa.Budget(2, "1e-6")
        note = json.loads(session.provenance("released") or "")["sqlanon"]
        assert "seconds" not in note["report"]
        assert not session.verify("released", policy()).shortfalls

    def test_without_noise_the_rows_have_the_marginals_of_the_table(self, session: sa.Session) -> None:
        """But for the ages within a bin."""
        session.anonymize("patients", policy(), into="released", random_source=Silent(1))
        for columns in (("age // 10", "sex"), ("age // 10", "disease"), ("sex", "disease")):
            found, wanted = counts(session, "released", *columns), counts(session, "patients", *columns)
            assert sum(abs(found.get(key, 0) - wanted.get(key, 0)) for key in found | wanted) <= 0.02 * 1200

    def test_the_error_is_that_of_the_workload(self, session: sa.Session) -> None:
        release = session.anonymize("patients", policy(), into="released", random_source=Silent(1))
        assert release.report.mean_error is not None
        assert 0 <= release.report.mean_error < 12
        assert (
            session.anonymize(
                "patients", policy(report_share=0), into="others", random_source=Silent(1)
            ).report.mean_error
            is None
        )

    def test_columns_as_they_were_measured_and_as_they_were_drawn(self, session: sa.Session) -> None:
        report = session.anonymize("patients", policy(), into="released", random_source=sa.SeededSource(1)).report
        labels = {each.columns: each.labels for each in report.measured}
        drawn = {(each.label,): each.drawn for each in labels["disease",]}
        assert drawn == {**dict.fromkeys(drawn, 0), **counts(session, "released", "disease")}
        tens = counts(session, "released", "age // 10")
        assert [each.drawn for each in labels["age",]] == [tens.get((ten,), 0) for ten in range(10)]
        sigma = next(each.sigma for each in report.measured if each.columns == ("sex",))
        for each in labels["sex",]:
            assert abs(each.measured - {"m": 400, "f": 800}[str(each.label)]) < 6 * sigma
        assert all(not each.labels for each in report.measured if len(each.columns) > 1)

    def test_the_page_has_marginals_within_the_budget_and_no_count_of_the_source(self, session: sa.Session) -> None:
        session.anonymize("patients", policy(), into="released")
        found = session.report("released")
        assert found.edition == "custodian"
        assert {each.columns for each in found.marginals} > {("age",), ("sex",), ("disease",)}
        page = found.to_html()
        assert "How near the rows are to the table" in page
        assert "[20, 30)" in page
        assert "standard errors" in page
        assert found.source_rows is None
        assert found.before is None

    def test_values_within_bins_and_labels(self, session: sa.Session) -> None:
        """With refine, single values come back; without, they are spread over their bin."""
        session.connection.execute("UPDATE patients SET age = age - age % 10 WHERE age % 10 < 9")
        refined = policy(refine=["age", "disease"], levels={"disease": 1}, workload="triples")
        session.anonymize("patients", refined, into="released", random_source=Silent(1))
        ages = counts(session, "patients", "age").keys()
        assert sum(rows for age, rows in counts(session, "released", "age").items() if age in ages) > 0.9 * 1200
        assert {disease for (disease,) in counts(session, "released", "disease")} == {"flu", "cold", "burn", "cut"}
        session.anonymize("patients", policy(), into="spread", random_source=Silent(1))
        assert sum(rows for age, rows in counts(session, "spread", "age").items() if age in ages) < 0.4 * 1200

    def test_labels_above_the_values(self, session: sa.Session) -> None:
        session.anonymize("patients", policy(levels={"disease": 1}), into="released")
        assert {disease for (disease,) in counts(session, "released", "disease")} == {"infection", "injury"}

    def test_null_is_one_more_value(self, session: sa.Session) -> None:
        session.connection.execute(
            "UPDATE patients SET age = NULL WHERE age < 40; UPDATE patients SET sex = NULL WHERE age > 70"
        )
        nullable = policy(nulls=["age", "sex"], workload="triples", refine=["age"])
        session.anonymize("patients", nullable, into="released", random_source=Silent(1))
        for column in ("age", "sex"):
            found, wanted = (counts(session, table, f"{column} IS NULL") for table in ("released", "patients"))
            assert abs(found[True,] - wanted[True,]) <= 2

    def test_combinations_that_cannot_occur(self, session: sa.Session) -> None:
        without = policy(impossible=[{"sex": "m", "disease": ["flu", "cut"]}, {"age": "[20, 30)", "sex": "f"}])
        session.anonymize("patients", without, into="released")
        found = counts(session, "released", "age // 10", "sex", "disease")
        assert not [key for key in found if key[1] == "m" and key[2] in ("flu", "cut")]
        assert not [key for key in found if key[0] == 2 and key[1] == "f"]
        assert found

    def test_numbers_of_all_kinds(self, session: sa.Session) -> None:
        session.connection.execute(
            """
            CREATE TABLE numbers AS
            SELECT (i % 50) / 10 AS real, CAST(i % 50 / 10 AS DECIMAL(9, 2)) AS price, CAST(i % 5 AS UTINYINT) AS small
            FROM range(500) AS numbers (i)
            """
        )
        bins = {"real": [0, 1, 2.5, 5], "price": ("0", "5", "0.5"), "small": [0, 2, 5]}
        wanted = sa.Policy(quasi_identifiers=["real", "price", "small"], method=sa.Synthetic(numeric=bins))
        session.anonymize("numbers", wanted, into="released", random_source=Silent(1))
        types = session.connection.execute("SELECT column_type FROM (DESCRIBE released)").fetchall()
        assert types == [("DOUBLE",), ("DECIMAL(9,2)",), ("UTINYINT",)]
        ends = session.connection.execute(
            "SELECT min(real) >= 0, max(real) < 5, min(price) >= 0, max(price) <= 5, max(small) FROM released"
        ).fetchall()
        assert ends == [(True, True, True, True, 4)]

    def test_a_public_number_of_rows(self, session: sa.Session) -> None:
        assert session.anonymize("patients", policy(rows=10), into="released").report.released_rows == 10
        assert session.connection.sql("FROM released").shape[0] == 10

    @pytest.mark.parametrize("rows", [0, 1])
    def test_a_table_of_hardly_any_rows(self, session: sa.Session, rows: int) -> None:
        session.connection.execute(f"DELETE FROM patients WHERE rowid >= {rows}")
        assert session.anonymize("patients", policy(), into="released").report.released_rows >= 0
        assert not session.verify("released", policy()).shortfalls

    def test_rows_of_individuals(self, session: sa.Session) -> None:
        """Each has two rows, and one of them is counted."""
        counted = policy().model_copy(update={"individual": "person"})
        released = session.anonymize("patients", counted, into="released", random_source=Silent(1))
        assert abs(released.report.released_rows - 600) <= 1

    def test_a_target_joins_the_workload(self, session: sa.Session) -> None:
        aimed = policy(workload=[["age", "sex"]], target="disease", max_cells=100)
        report = session.anonymize("patients", aimed, into="released", random_source=Silent(1)).report
        assert ("age", "sex", "disease") in {each.columns for each in report.measured}

    def test_queries_as_workload(self, session: sa.Session, tmp_path: Path) -> None:
        """Each is the set of its columns; no value of its conditions is in the policy."""
        count = CountQuery(column="Age", width=10, where={"Disease": "flu"})
        given = policy(workload=[count, {"together": count, "weight": 3}, ["sex", "disease"]])
        assert isinstance(given.method, sa.Synthetic)
        assert given.method.sets(given) == {(0, 2): 4, (1, 2): 1}
        assert "flu" not in given.model_dump_json()
        (tmp_path / "p.toml").write_text(
            TOML.replace(
                "[method]",
                "[method]\nworkload = [{ column = 'AGE', width = 10, where = { disease = 'flu' }, weight = 4 },"
                " ['sex', 'disease']]",
            ),
            encoding="utf-8",
        )
        read = sa.Policy.from_toml(tmp_path / "p.toml")
        assert isinstance(read.method, sa.Synthetic)
        assert read.method.sets(read) == given.method.sets(given)
        report = session.anonymize("patients", given, into="released", random_source=Silent(1)).report
        measured = {each.columns for each in report.measured if len(each.columns) > 1}
        assert ("age", "disease") in measured
        assert ("age", "sex") not in measured

    def test_names_in_any_case(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET age = NULL WHERE age < 30")
        shouted = policy(
            numeric={"AGE": [0, 50, 100]},
            nulls=["AGE"],
            levels={"DISEASE": 1},
            refine=["Disease"],
            workload=[["AGE", "Sex"], ["DISEASE", "sex"]],
            target="Sex",
            impossible=[{"SEX": "m", "AGE": "[0, 50)"}],
        )
        assert session.anonymize("patients", shouted, into="released", random_source=Silent(1)).report.released_rows

    def test_columns_called_like_a_workload(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE odd AS SELECT age AS PAIRS, age AS Triples FROM patients")
        bins = {"PAIRS": (0, 110, 10), "Triples": (0, 110, 10)}
        for workload in ("pairs", "triples"):
            wanted = sa.Policy(
                quasi_identifiers=["PAIRS", "Triples"], method=sa.Synthetic(numeric=bins, workload=workload)
            )
            assert session.anonymize("odd", wanted, into="released", replace=True, random_source=Silent(1))

    def test_hostile_names(self, session: sa.Session) -> None:
        first, second = HOSTILE_NAMES[:2]
        session.connection.table("patients").project(
            duckdb.ColumnExpression("sex").alias(first), duckdb.ColumnExpression("disease").alias(second)
        ).create("hostile")
        for old, new in (("sex", first), ("disease", second)):
            session.taxonomies.load(
                new, sa.Taxonomy.flat(["m", "f"] if old == "sex" else ["flu", "cold", "burn", "cut"])
            )
        wanted = sa.Policy(quasi_identifiers=[first], sensitive=[second], method=sa.Synthetic())
        session.anonymize("hostile", wanted, into="released")
        assert session.connection.table("released").columns == [first, second]

    def test_the_command(self, session: sa.Session, tmp_path: Path) -> None:
        session.close()
        (tmp_path / "p.toml").write_text(TOML, encoding="utf-8")
        assert sa.Policy.from_toml(tmp_path / "p.toml").method == policy().method
        run = ("run", "patients", "--policy", "p.toml", "--db", "w.duckdb", "--into", "r.parquet")
        done = sqlanon(*run, "--json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)["report"]
        assert report["method"] == "synthetic"
        assert report["measured"][0]["columns"] == ["age"]
        assert sqlanon("verify", "r.parquet", "--policy", "p.toml", folder=tmp_path).returncode == 0
        printed = sqlanon(*run, "--replace", folder=tmp_path).stdout
        assert "measured together" in printed
        page = sqlanon("report", "r.parquet", "--out", "r.html", folder=tmp_path)
        assert page.returncode == 0, page.stderr


class TestRefusals:
    def test_rows_out_of_the_domain_are_all_named(self, session: sa.Session) -> None:
        session.connection.execute(
            "UPDATE patients SET age = 300 WHERE age = 20; UPDATE patients SET sex = NULL WHERE age = 27"
        )
        with pytest.raises(sa.PolicyError, match="out of the public domain") as refused:
            session.anonymize("patients", policy(), into="released")
        assert refused.value.problems == (
            '"age": 20 numbers out of its bins; widen them',
            '"sex": NULL in 20 rows; name it in nulls of the method',
        )
        assert session.ledger.spent("patients") == sa.Budget(0)

    def test_rows_out_of_the_domain_are_left_out_if_that_is_asked_for(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET age = 300 WHERE age >= 50")
        (left,) = session.connection.execute("SELECT count(*) FROM patients WHERE age < 300").fetchone() or ()
        dropping = policy(outside="drop", workload="triples")
        report = session.anonymize("patients", dropping, into="released", random_source=Silent(1)).report
        assert abs(report.released_rows - left) <= 1

    def test_values_that_no_taxonomy_has(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET disease = 'scurvy' WHERE age = 20")
        with pytest.raises(sa.TaxonomyError, match="values that their taxonomy does not have"):
            session.anonymize("patients", policy(outside="drop"), into="released")
        assert session.ledger.spent("patients") == sa.Budget(0)

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"budget": sa.Budget(1)}, "δ must be above 0"),
            ({"report_share": 1}, "must be below 1"),
            ({"numeric": {"age": [3]}}, "edges must be two or more ascending numbers"),
            ({"numeric": {"age": [3, 1]}}, "edges must be two or more ascending numbers"),
            ({"numeric": {"age": (0, 10, 3)}}, "a whole number of positive widths"),
            ({"numeric": {"age": (0, 10_000, 1)}}, "there may be 1,000 bins, not 10,000"),
            ({"workload": "pair"}, 'workload: must be "pairs", "triples", or a list of sets of columns'),
            ({"workload": ["age", "sex"]}, "workload[1].together: must be a list"),
            ({"workload": [[]]}, "workload[0].together: needs at least one"),
            ({"workload": []}, "method.workload: give it a set of columns, or name a target"),
            ({"workload": [{"column": "age", "width": -1}]}, "workload[0].width: input should be greater than 0"),
            ({"workload": [{"together": ["age"], "weight": 0}]}, "workload[0].weight: input should be greater"),
            (
                {"workload": [AverageQuery(column="age", average="age")]},
                "workload[0]: must be columns, or a query that counts",
            ),
        ],
    )
    def test_settings(self, options: dict[str, Any], problem: str) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            policy(**options)
        assert any(problem in each for each in refused.value.problems), refused.value.problems

    def test_names_are_checked_all_at_once(self) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            policy(
                target="diseas",
                levels={"ag": 1},
                nulls=["x"],
                refine=["y"],
                workload=[["sex", "z"]],
                impossible=[{"sex": "m"}],
            )
        problems = "\n".join(refused.value.problems)
        assert (
            'method.target: "diseas" is neither a quasi-identifier nor a sensitive column; did you mean "disease"?'
            in problems
        )
        for each in (
            'method.levels: "ag"',
            'method.nulls: "x"',
            'method.refine: "y"',
            'method.workload: "z"',
            "two columns or more",
        ):
            assert each in problems

    def test_types_and_bins(self, session: sa.Session) -> None:
        wanted = policy(numeric={"age": [0, 0.25, 0.5, 100], "sex": [0, 1]})
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize("patients", wanted, into="released")
        assert refused.value.problems == (
            '"age" is INTEGER, and its bin [0.25, 0.5) has no whole number',
            '"sex" is VARCHAR, not a number: cast it in a view, or give it a taxonomy',
        )

    def test_fractions_have_no_single_values(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE prices AS SELECT i / 2 AS price FROM range(10) AS numbers (i)")
        method = sa.Synthetic(numeric={"price": [0, 5]}, refine=["price"])
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize("prices", sa.Policy(quasi_identifiers=["price"], method=method), into="released")
        assert refused.value.problems == (
            '"price" is DOUBLE, and refine counts whole numbers or labels: take it out, or cast it in a view',
        )

    def test_labels_that_are_not_in_the_domain(self, session: sa.Session) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize("patients", policy(impossible=[{"sex": "male", "age": "[0, 5)"}]), into="released")
        assert refused.value.problems == (
            '"age" has 1 labels in impossible that are not in its domain',
            '"sex" has 1 labels in impossible that are not in its domain',
        )
        assert session.ledger.spent("patients") == sa.Budget(0)


class TestCharges:
    def test_a_killed_run_leaves_its_charge_and_the_old_release(self, made: Path, tmp_path: Path) -> None:
        shutil.copy(made, tmp_path / "w.duckdb")
        (tmp_path / "p.toml").write_text(TOML, encoding="utf-8")
        run = ("run", "patients", "--policy", "p.toml", "--db", "w.duckdb", "--into", "r.parquet")
        assert sqlanon(*run, folder=tmp_path).returncode == 0
        before = (tmp_path / "r.parquet").read_bytes()
        code = (
            "import os, signal, sys\n"
            "from sqlanon.methods.synthetic import measuring\n"
            "measuring.chosen = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
            "from sqlanon.cli.app import app\n"
            "app()"
        )
        done = subprocess.run([sys.executable, "-c", code, *run, "--replace"], cwd=tmp_path, check=False)
        assert done.returncode == -signal.SIGKILL
        assert (tmp_path / "r.parquet").read_bytes() == before
        with sa.connect(tmp_path / "w.duckdb") as session:
            assert session.ledger.spent("patients") == sa.Budget(4, "2e-6")
            total = session.ledger.spent_in_rho("patients")
            assert total is not None and 2 < total.epsilon < 3, "both charges have their ρ"

    def test_side_outputs_do_not_depend_on_a_row(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neighbours, and the same outputs of all draws: whatever else comes out is the same, byte for byte."""
        noisy = choosing._Run._noisy
        monkeypatch.setattr(choosing._Run, "_noisy", lambda run, counts: fixed(noisy(run, counts)))
        monkeypatch.setattr(measuring, "estimated_error", lambda *_: choosing.ErrorEstimate(3.0, 1.0))
        outputs = []
        for rows in (1200, 1199):
            session.connection.execute(f"CREATE OR REPLACE TABLE taken AS FROM patients LIMIT {rows}")
            events: list[sa.Event] = []
            release = session.anonymize(
                "taken", policy(), into="released", replace=True, random_source=First(1), progress=events.append
            )
            report = release.report.model_dump(mode="json", exclude={"seconds"})
            shown = [(event.stage, event.state, event.step) for event in events if event.state != "progress"]
            note = json.loads(session.provenance("released") or "")["sqlanon"]
            made = session.connection.execute("FROM released").fetchall()
            guarantee = release.guarantee.model_dump(mode="json")
            outputs.append(json.dumps([report, guarantee, shown, note, made], default=str))
        assert outputs[0] == outputs[1]
