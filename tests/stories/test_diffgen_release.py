"""DiffGen from end to end: what is refused, charged, promised and written."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import sqlanon
from tests.fixed_noise import FixedNoise

ILLNESSES = [("flu", "infection", "*"), ("cold", "infection", "*"), ("burn", "injury", "*"), ("cut", "injury", "*")]
JOBS = [("nurse", "ward", "*"), ("doctor", "ward", "*"), ("cook", "kitchen", "*"), ("baker", "kitchen", "*")]
TOML = """
quasi_identifiers = ["age", "job", "illnesses"]
sensitive = ["class"]
identifiers = ["person"]

[method]
model = "diffgen"
budget = { epsilon = 1.0 }
target = "class"
specializations = 3
numeric = { age = [15, 95] }
sets = ["illnesses"]
"""


def make_warehouse(path: Path | str, rows: int = 400) -> sa.Session:
    session = sa.connect(path)
    session.connection.execute(
        f"""
        CREATE TABLE patients AS
        SELECT
            i // 2 AS person,
            CAST(20 + i * 7 % 60 AS INTEGER) AS age,
            ['nurse', 'doctor', 'cook', 'baker'][1 + i % 4] AS job,
            list_filter(['flu', 'cold', 'burn', 'cut'], lambda each, place: (i // 3) % (place + 2) = 0) AS illnesses,
            CASE WHEN i * 7 % 60 < 30 THEN 'yes' ELSE 'no' END AS class
        FROM range({rows}) AS numbers (i)
        """
    )
    session.taxonomies.load("job", sa.Taxonomy.from_rows(JOBS))
    session.taxonomies.load("illnesses", sa.Taxonomy.from_rows(ILLNESSES))
    session.taxonomies.load("class", sa.Taxonomy.flat(["yes", "no"]))
    return session


def policy(**options: Any) -> sa.Policy:
    given = {"specializations": 3, "numeric": {"age": (15, 95)}, "sets": ["illnesses"], **options}
    return sa.Policy(
        quasi_identifiers=["age", "job", "illnesses"],
        sensitive=["class"],
        identifiers=["person"],
        method=sa.DiffGen("class", **given),
    )


def of_ages(**options: Any) -> sa.Policy:
    """With ages as the one predictor."""
    others = {"quasi_identifiers": ("age",), "identifiers": ("person", "job", "illnesses")}
    return policy(sets=[], **options).model_copy(update=others)


def test_a_release(session: sa.Session) -> None:
    release = session.anonymize("patients", policy(), into="released")
    names = [row[0] for row in session.connection.execute("DESCRIBE released").fetchall()]
    assert names == ["age", "job", "illnesses", "class", "count"]
    assert len(release.report.specialized) == 3
    assert release.report.combinations >= 8
    assert sum(each.budget.epsilon for each in release.report.spent) == 1
    assert release.guarantee.claims
    assert release.guarantee.budget == sa.Budget(1)
    assert not any("within their ranges" in each for each in release.guarantee.conditions), "numbers are clamped"
    counts = session.connection.execute("SELECT min(count), sum(count) FROM released").fetchone()
    assert counts is not None
    assert counts[0] >= release.report.thresholds["leaves"]
    assert session.ledger.spent("patients") == sa.Budget(1)
    note = json.loads(session.provenance("released") or "")["sqlanon"]
    assert note["report"]["labels"] == release.report.labels
    assert "seconds" not in note["report"]


def test_a_policy_in_toml_and_by_the_command(session: sa.Session, tmp_path: Path) -> None:
    session.close()
    (tmp_path / "p.toml").write_text(TOML, encoding="utf-8")
    assert sa.Policy.from_toml(tmp_path / "p.toml").method == policy().method
    options = ("--policy", "p.toml", "--db", "w.duckdb", "--into", "r.parquet")
    done = sqlanon("run", "patients", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "labels" in done.stdout
    assert "differentially private with ε = 1" in " ".join(done.stdout.split())
    found = duckdb.sql(f"SELECT DISTINCT typeof(illnesses) FROM '{tmp_path / 'r.parquet'}'").fetchall()
    assert found == [("VARCHAR[]",)]


def test_rows_with_null_are_left_out(session: sa.Session) -> None:
    for name in ("age", "job", "illnesses", "class"):
        session.connection.execute(f"INSERT INTO patients SELECT * REPLACE (NULL AS {name}) FROM patients LIMIT 10")
    wanted = policy(threshold=0, set_threshold=0)
    session.anonymize("patients", wanted, into="released", random_source=FixedNoise(0))
    assert session.connection.execute("SELECT sum(count) FROM released").fetchall() == [(400,)]


SETTINGS: list[tuple[dict[str, Any], list[str]]] = [
    ({"budget": sa.Budget(1, "1e-6")}, ["δ must be 0"]),
    ({"budget": sa.Budget(0)}, ["ε must be positive"]),
    ({"specializations": 0}, ["specializations"]),
    ({"numeric": {"age": (95, 15)}}, ["numeric.age", "above the least"]),
    ({"numeric": {"age": (15, 95, 0)}}, ["step must be above 0"]),
    ({"numeric": {"age": (15, 95, 3)}}, ["whole number of steps"]),
    ({"numeric": {"age": (0, 10**13)}}, ["steps, more than"]),
    ({"numeric": {"age": ("a", 3)}}, ["must be a number"]),
    ({"numeric": {"years": (15, 95)}, "sets": ["sick"]}, ['"years" is not a quasi-identifier', '"sick" is not']),
    ({"numeric": {"illnesses": (1, 3)}}, ["cannot be both numeric and a set"]),
    ({"threshold": -1}, ["threshold"]),
    ({"utility": "least"}, ["utility"]),
    ({"outside": "ignore"}, ["outside"]),
]


def test_settings_that_make_no_sense() -> None:
    for options, words in SETTINGS:
        with pytest.raises(sa.PolicyError) as refused:
            policy(**options)
        assert all(word in str(refused.value) for word in words), options


def test_policies_that_do_not_fit_the_method() -> None:
    with pytest.raises(sa.PolicyError) as refused:
        sa.Policy(
            quasi_identifiers=["age", "count"],
            sensitive=["class"],
            insensitive=["note"],
            privacy=[sa.KAnonymity(2)],
            minimum_levels={"count": 1},
            suppression_limit=0.1,
            method=sa.DiffGen("illness", numeric={"age": (15, 95)}),
        )
    for words in ("illness", "insensitive", "k-anonymity", "minimum_levels", "suppression_limit", 'column "count"'):
        assert words in str(refused.value)


def test_a_budget_that_does_not_suffice(session: sa.Session) -> None:
    session.ledger.cap("patients", sa.Budget("0.5"))
    with pytest.raises(sa.BudgetError):
        session.anonymize("patients", policy(), into="released")
    tiny = policy(budget=sa.Budget("1e-15"))
    with pytest.raises(sa.PolicyError, match="cannot be drawn with"):
        session.anonymize("patients", tiny, into="released")
    assert session.ledger.spent("patients") == sa.Budget(0)


def test_what_was_charged_stays_charged(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("as if the machine had gone")

    release = session.anonymize("patients", policy(outside="refuse"), into="released")
    assert any("within their ranges" in each for each in release.guarantee.conditions)
    before = session.connection.execute("FROM released").fetchall()
    monkeypatch.setattr("sqlanon.methods.diffgen.draws.draw_leaves", broken)
    with pytest.raises(RuntimeError):
        session.anonymize("patients", policy(), into="released", replace=True)
    assert session.ledger.spent("patients") == sa.Budget(2)
    assert session.connection.execute("FROM released").fetchall() == before


def test_combinations_that_nobody_has_are_shown(session: sa.Session) -> None:
    """Otherwise whoever looks would know that somebody has what is shown."""
    session.connection.execute("CREATE TABLE nobody AS FROM patients LIMIT 0")
    release = session.anonymize("nobody", of_ages(threshold=0), into="released", random_source=sa.SeededSource(1))
    assert release.report.released_groups > 0


def test_the_order_of_rows_tells_nothing(session: sa.Session) -> None:
    """They come by their labels, whether somebody has these or nobody, and whatever the order of the source is."""
    session.connection.execute("CREATE TABLE few AS FROM patients LIMIT 12")
    session.connection.execute("CREATE TABLE backwards AS FROM few ORDER BY age DESC, person DESC")
    for source, into in (("few", "one"), ("backwards", "two")):
        session.anonymize(source, of_ages(threshold=0, specializations=10), into, random_source=sa.SeededSource(1))
    one, two = (
        session.connection.execute(f"SELECT age, class, count FROM {name}").fetchall() for name in ("one", "two")
    )
    assert one == two
    places = [(int(age[1:].partition(",")[0]), label) for age, label, _ in one]
    assert places == sorted(places)
    assert len(places) > 8


def test_no_split_is_paid_for_that_is_not_asked_for(session: sa.Session) -> None:
    release = session.anonymize("patients", of_ages(), into="released", random_source=FixedNoise(0))
    spent = {each.step: each.budget.epsilon / of_ages().method.step for each in release.report.spent}
    assert (spent["choices"], spent["splits"]) == (3, 3)


def test_no_more_rows_of_an_individual_are_counted_than_is_allowed(session: sa.Session) -> None:
    noise = FixedNoise(0)
    wanted = policy(threshold=0, set_threshold=0, rows_per_individual=1).model_copy(update={"individual": "person"})
    session.anonymize("patients", wanted, into="released", random_source=noise)
    assert session.connection.execute("SELECT sum(count) FROM released").fetchall() == [(200,)]
    assert set(noise.sensitivities) == {1}
    three = wanted.model_copy(update={"method": wanted.method.model_copy(update={"rows_per_individual": 3})})
    noise = FixedNoise(0)
    session.anonymize("patients", three, into="released", random_source=noise, replace=True)
    assert set(noise.sensitivities) == {3}


def test_numbers_in_steps_and_out_of_their_range(session: sa.Session) -> None:
    """Numbers of all kinds are rounded down to steps, and those out of the range are in the steps at its ends."""
    session.connection.execute(
        """
        CREATE TABLE measured AS
        SELECT
            unnest([-1e300, 0.0, 0.1, 0.24, 0.26, 0.99, 1.0, 1e300, 'inf'::DOUBLE, 'nan'::DOUBLE]) AS weight,
            'yes' AS class
        """
    )
    wanted = sa.Policy(
        quasi_identifiers=["weight"],
        sensitive=["class"],
        method=sa.DiffGen(specializations=100, numeric={"weight": (0, 1, 0.25)}, threshold=0),
    )
    session.anonymize("measured", wanted, into="released", random_source=FixedNoise(0))
    assert session.connection.execute("FROM released").fetchall() == [
        ("[0, 0.25)", "yes", 4),
        ("[0.25, 0.5)", "yes", 1),
        ("[0.75, 1)", "yes", 5),
    ]


def test_the_sql_of_a_run_is_told(session: sa.Session) -> None:
    steps = session.explain("patients", policy())
    assert any("anon_points" in step.sql for step in steps)
    assert any("log2" in step.sql or "max(" in step.sql.lower() for step in steps)
    assert session.ledger.spent("patients") == sa.Budget(0)
