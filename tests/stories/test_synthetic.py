"""Synthetic rows from end to end: what is refused, charged, promised and written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import RhoCharge
from sqlanon.chance.exact import Integers
from sqlanon.evaluation import AverageQuery
from sqlanon.methods.synthetic import choosing, measuring
from tests.commands import sqlanon

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
        quasi_identifiers=["age", "sex"], sensitive=["disease"], identifiers=["person"], method=sa.Synthetic(**given)
    )


def counts(session: sa.Session, table: str, *columns: str) -> dict[Any, int]:
    keys = ", ".join(columns)
    rows = session.connection.execute(f"SELECT {keys}, count(*) FROM {table} GROUP BY ALL").fetchall()
    return {row[:-1]: row[-1] for row in rows}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Session]:
    with make_warehouse(tmp_path_factory.mktemp("one") / "w.duckdb") as found:
        yield found


@pytest.fixture(scope="module")
def release(one: sa.Session) -> sa.Release:
    return one.anonymize("patients", policy(), into="released")


class TestRelease:
    def test_its_columns_and_rows(self, one: sa.Session, release: sa.Release) -> None:
        types = one.connection.execute("SELECT column_name, column_type FROM (DESCRIBE released)").fetchall()
        assert types == [("age", "INTEGER"), ("sex", "VARCHAR"), ("disease", "VARCHAR")]
        report = release.report
        assert report.released_rows == one.connection.sql("FROM released").shape[0]
        assert report.released_groups is None, "nobody has counted them"
        assert abs(report.released_rows - 1200) < 150
        assert not one.verify("released", policy()).shortfalls

    def test_it_is_explained(self, one: sa.Session) -> None:
        assert "the_release" in {step.makes for step in one.explain("patients", policy())}

    def test_what_was_measured(self, release: sa.Release) -> None:
        report = release.report
        assert report.rho == pytest.approx(0.088152688380)
        assert {("age",), ("sex",), ("disease",)} < {each.columns for each in report.measured}
        assert report.mean_error is not None
        assert report.error_sigma == pytest.approx((1 / (2 * 0.00088152688380)) ** 0.5 / 2)

    def test_what_is_promised_was_paid(self, one: sa.Session, release: sa.Release) -> None:
        assert release.guarantee.claims
        assert release.guarantee.budget == one.ledger.spent("patients") == sa.Budget(2, "1e-6")
        note = json.loads(one.provenance("released") or "")["sqlanon"]
        assert "seconds" not in note["report"]

    def test_the_page_has_marginals_and_no_count_of_the_source(self, one: sa.Session, release: sa.Release) -> None:
        found = one.report("released")
        assert found.edition == "custodian"
        assert {each.columns for each in found.marginals} > {("age",), ("sex",), ("disease",)}
        page = found.to_html()
        for text in ("How near the rows are to the table", "[20, 30)", "standard errors"):
            assert text in page
        assert found.source_rows is None
        assert found.before is None


class TestReleases:
    @pytest.fixture
    def session(self) -> Iterator[sa.Session]:
        """In memory: what is drawn by a seed is charged to no ledger."""
        with make_warehouse(":memory:") as found:
            yield found

    def test_without_noise_the_rows_have_the_marginals_of_the_table(self, session: sa.Session) -> None:
        """But for the ages within a bin."""
        report = session.anonymize("patients", policy(), into="released", random_source=Silent(1)).report
        for columns in (("age // 10", "sex"), ("age // 10", "disease"), ("sex", "disease")):
            found, wanted = counts(session, "released", *columns), counts(session, "patients", *columns)
            assert sum(abs(found.get(key, 0) - wanted.get(key, 0)) for key in found | wanted) <= 0.02 * 1200
        assert report.mean_error is not None
        assert 0 <= report.mean_error < 12

    def test_a_public_number_of_rows(self, session: sa.Session) -> None:
        given = policy(rows=10, report_share=0, levels={"disease": 1})
        report = session.anonymize("patients", given, into="released", random_source=sa.SeededSource(1)).report
        assert report.released_rows == session.connection.sql("FROM released").shape[0] == 10
        assert report.mean_error is None
        assert {disease for (disease,) in counts(session, "released", "disease")} <= {"infection", "injury"}

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

    def test_combinations_that_cannot_occur(self, session: sa.Session) -> None:
        cannot = [{"sex": "m", "disease": ["flu", "cut"]}, {"age": "[20, 30)", "sex": "f"}]
        without = policy(impossible=cannot, outside="drop")
        session.anonymize("patients", without, into="released", random_source=sa.SeededSource(1))
        found = counts(session, "released", "age // 10", "sex", "disease")
        assert not [key for key in found if key[1] == "m" and key[2] in ("flu", "cut")]
        assert not [key for key in found if key[0] == 2 and key[1] == "f"]
        assert found


@pytest.mark.usefixtures("warehouse")
def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(TOML, encoding="utf-8")
    assert sa.Policy.from_toml(tmp_path / "p.toml").method == policy().method
    run = ("run", "patients", "--policy", "p.toml", "--db", "w.duckdb", "--into", "r.parquet")
    done = sqlanon(*run, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["report"]
    assert report["method"] == "synthetic"
    assert report["measured"][0]["columns"] == ["age"]
    assert sqlanon("verify", "r.parquet", "--policy", "p.toml", folder=tmp_path).returncode == 0
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

    def test_settings(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
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
            ({"workload": [AverageQuery(column="age", average="stay")]}, '"stay"'),
        ]
        for options, problem in cases:
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
            "two or more columns",
        ):
            assert each in problems


class TestCharges:
    def test_side_outputs_do_not_depend_on_a_row(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neighbours, and the same outputs of all draws: whatever else comes out is the same, byte for byte."""
        noisy = choosing.Run.noisy
        monkeypatch.setattr(choosing.Run, "noisy", lambda run, counts: fixed(noisy(run, counts)))
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
