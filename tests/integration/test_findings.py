"""What reports find that a policy leaves open, and that it travels with no release."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods import findings
from tests.commands import document, sqlanon
from tests.conftest import open_clinic

HOSTILE = 'a""b"; drop table x --'

STAYS = """
    CREATE OR REPLACE TABLE stays AS
    SELECT
        i AS stay,
        i // 3 AS patient,
        i % 2 = 0 AS is_vip,
        'ward' AS ward,
        20 + i % 40 AS age,
        CASE WHEN i % 4 < 2 THEN 'f' ELSE 'm' END AS sex,
        CASE WHEN i % 40 < 10 THEN 'flu' ELSE 'flu ' || i % 7 END AS diagnosis
    FROM range(600) AS numbers (i)
"""


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        found = open_clinic(connection)
        add_stays(found)
        yield found


def add_stays(session: sa.Session) -> None:
    """Six hundred stays of two hundred patients; those of ten ages all have the flu."""
    session.connection.execute(STAYS)
    session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=20, maximum=59), source="stays")
    session.taxonomies.load("sex", sa.Taxonomy.flat(), source="stays")


def policy(**changes: Any) -> sa.Policy:
    fields = {
        "quasi_identifiers": ["age", "sex"],
        "identifiers": ["stay", "patient", "is_vip", "ward"],
        "sensitive": ["diagnosis"],
        "privacy": [sa.KAnonymity(5)],
        **changes,
    }
    return sa.Policy(**fields)


def found_by(session: sa.Session, wanted: sa.Policy, source: str = "stays") -> sa.Findings:
    report = session.anonymize(source, wanted, into="released", replace=True).report
    assert isinstance(report, sa.Report)
    assert report.findings is not None
    return report.findings


# Identifiers


def test_an_identifier_that_repeats_is_named_with_its_numbers(session: sa.Session) -> None:
    found = {each.column: each for each in found_by(session, policy()).repeated_identifiers}
    assert [*found] == ["patient", "is_vip", "ward"]
    assert (found["patient"].rows, found["patient"].values) == (600, 200)
    assert found["patient"].is_exact


def test_the_line_that_is_proposed_is_of_a_policy_that_counts_persons(session: sa.Session) -> None:
    (line,) = {each.proposal for each in found_by(session, policy()).repeated_identifiers} - {None}
    assert tomllib.loads(str(line)) == {"individual": "patient"}
    assert found_by(session, policy(individual="patient")).repeated_identifiers == ()


def test_columns_of_few_values_name_no_persons(session: sa.Session) -> None:
    found = found_by(session, policy())
    proposed = {each.column: (each.is_person, each.proposal is None) for each in found.repeated_identifiers}
    assert proposed == {"patient": (True, False), "is_vip": (False, True), "ward": (False, True)}
    assert not any("ward" in sentence for sentence in found.sentences)


def test_identifiers_without_a_value_in_some_rows_are_not_proposed(session: sa.Session) -> None:
    session.connection.execute("UPDATE stays SET patient = NULL WHERE stay = 1")
    found = {each.column: each for each in found_by(session, policy()).repeated_identifiers}
    assert (found["patient"].rows, found["patient"].values, found["patient"].proposal) == (599, 200, None)
    assert "flatten the table first" in found["patient"].sentence


def test_a_method_that_counts_rows_gets_no_proposal(session: sa.Session) -> None:
    wanted = policy(privacy=[], method=sa.Relocation(k=5, limit=0.1))
    found = {each.column: each for each in found_by(session, wanted).repeated_identifiers}
    assert (found["patient"].values, found["patient"].proposal) == (200, None)


def test_hostile_names_are_proposed_as_they_are(session: sa.Session) -> None:
    quoted = HOSTILE.replace('"', '""')
    session.connection.execute(f'ALTER TABLE stays RENAME COLUMN patient TO "{quoted}"')
    session.connection.execute(f'ALTER TABLE stays RENAME COLUMN diagnosis TO "{quoted} 2"')
    found = found_by(session, policy(identifiers=["stay", HOSTILE, "is_vip", "ward"], sensitive=[f"{HOSTILE} 2"]))
    assert tomllib.loads(str(found.repeated_identifiers[0].proposal)) == {"individual": HOSTILE}
    assert tomllib.loads(str(found.homogeneous_columns[0].proposal))["privacy"][0]["column"] == f"{HOSTILE} 2"


def test_of_many_rows_one_value_in_several_is_counted(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MAX_COUNTED_ROWS", 300)
    found = {each.column: each for each in found_by(session, policy()).repeated_identifiers}
    assert "stay" not in found
    assert not found["patient"].is_exact
    assert 120 < found["patient"].values < 280
    assert "600 rows have about" in found["patient"].sentence


# Sensitive columns


def test_a_sensitive_column_without_a_model_is_measured(session: sa.Session) -> None:
    (found,) = found_by(session, policy()).homogeneous_columns
    assert (found.column, found.homogeneous_rows, found.released_rows) == ("diagnosis", 150, 600)
    by_hand = session.connection.sql(
        "SELECT sum(rows) FROM "
        "(SELECT count(*) AS rows FROM released GROUP BY age, sex HAVING count(DISTINCT diagnosis) = 1)"
    )
    assert by_hand.fetchall() == [(150,)]


def test_the_model_that_is_proposed_covers_it(session: sa.Session) -> None:
    (found,) = found_by(session, policy()).homogeneous_columns
    model = tomllib.loads(str(found.proposal))["privacy"]
    covered = found_by(session, policy(privacy=[{"model": "k-anonymity", "k": 5}, *model]))
    assert covered.homogeneous_columns == ()
    session.install()
    assert session.connection.sql("FROM anon.homogeneous_rows('released', ['age', 'sex'], 'diagnosis')").fetchall() == [
        (0, 600)
    ]


def test_missing_values_are_values(session: sa.Session) -> None:
    session.connection.execute("UPDATE stays SET diagnosis = NULL WHERE stay = 0")
    (found,) = found_by(session, policy(maximum_levels={"age": 0})).homogeneous_columns
    assert found.homogeneous_rows == 150 - 15


def test_masked_rows_are_a_class(session: sa.Session) -> None:
    session.connection.execute(
        "INSERT INTO stays SELECT 600 + i, 600 + i, true, 'w', 59 - i, 'd', 'rash' FROM range(6) AS n (i)"
    )
    session.taxonomies.load("sex", sa.Taxonomy.flat(), source="stays")
    wanted = policy(suppression="mask", suppression_limit=0.02, maximum_levels={"age": 0, "sex": 0})
    (found,) = found_by(session, wanted).homogeneous_columns
    assert (found.homogeneous_rows, found.released_rows) == (156, 606)


# What travels


@pytest.mark.parametrize("into", ["released.parquet", "released.csv", "released/"])
def test_findings_travel_with_no_release(session: sa.Session, tmp_path: Path, into: str) -> None:
    report = session.anonymize("stays", policy(), into=f"{tmp_path}/{into}").report
    assert report.findings is not None
    assert json.loads(report.model_dump_json())["findings"]["repeated_identifiers"]
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert b"findings" not in file.read_bytes()
        assert b"homogeneous" not in file.read_bytes()


def test_an_unchanged_release_has_none(session: sa.Session, tmp_path: Path) -> None:
    session.connection.execute(f"COPY stays TO '{tmp_path}/stays.parquet'")
    source, into = f"{tmp_path}/stays.parquet", tmp_path / "released.parquet"
    first, again = (session.anonymize(source, policy(), into=into) for _ in range(2))
    assert isinstance(first.report, sa.Report)
    assert isinstance(again.report, sa.Report)
    assert first.report.findings is not None
    assert (again.unchanged, again.report.findings) == (True, None)


def test_private_methods_report_none(session: sa.Session) -> None:
    wanted = sa.Policy(
        quasi_identifiers=["age", "sex"],
        identifiers=["stay", "patient", "is_vip", "ward"],
        sensitive=["diagnosis"],
        method=sa.Histogram(accept_observed_domain=True),
    )
    session.taxonomies.load("diagnosis", sa.Taxonomy.flat(), source="stays")
    released = session.anonymize("stays", wanted, into="private", random_source=sa.SeededSource(1))
    assert "findings" not in released.report.model_dump()


def test_the_command_line_shows_them(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "clinic.duckdb") as session:
        session.install()
        add_stays(session)
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age", "sex"]\nidentifiers = ["stay", "patient", "is_vip", "ward"]\n'
        'sensitive = ["diagnosis"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
    )
    command = ("run", "stays", "--db", "clinic.duckdb", "--policy", "policy.toml")
    shown = " ".join(sqlanon(*command, "--into", "first", folder=tmp_path).stdout.split())
    assert "Findings" in shown
    assert '600 rows have 200 values; if each is a person, add individual = "patient" to the policy' in shown
    assert "150 of 600 released rows (25.0 %) are in classes with a single value" in shown
    reported = document(sqlanon(*command, "--into", "second", "--json", folder=tmp_path))
    assert reported["report"]["findings"]["homogeneous_columns"][0]["homogeneous_rows"] == 150
