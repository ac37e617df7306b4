"""What reports find that a policy leaves open, and that it travels with no release."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.release.findings import HomogeneousColumn
from sqlanon.release import publishing
from tests.commands import sqlanon
from tests.conftest import copy_of, open_clinic

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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        add_stays(open_clinic(connection))
    return path


@pytest.fixture
def session(made: Path) -> Iterator[sa.Session]:
    """Of a test that changes the stays."""
    with copy_of(made) as found:
        yield found


@pytest.fixture(scope="module")
def stays(made: Path) -> Iterator[sa.Session]:
    with copy_of(made) as found:
        yield found


def homogeneous(session: sa.Session) -> list[tuple[int, int]]:
    """Rows of the release in classes with a single diagnosis, and all."""
    classes = "SELECT count(*) AS size, count(DISTINCT diagnosis) AS values FROM released GROUP BY age, sex"
    query = f"SELECT coalesce(sum(size) FILTER (values = 1), 0)::BIGINT, sum(size)::BIGINT FROM ({classes})"
    return session.connection.sql(query).fetchall()


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


def test_identifiers_that_repeat_are_named_with_their_numbers(stays: sa.Session) -> None:
    """Columns of few values name no persons."""
    found = found_by(stays, policy())
    repeated = {each.column: each for each in found.repeated_identifiers}
    assert {name: (each.is_person, each.proposal is None) for name, each in repeated.items()} == {
        "patient": (True, False), "is_vip": (False, True), "ward": (False, True),
    }  # fmt: skip
    patient = repeated["patient"]
    assert (patient.rows, patient.values, patient.is_exact) == (600, 200, True)
    assert tomllib.loads(str(patient.proposal)) == {"individual": "patient"}
    assert not any("ward" in sentence for sentence in found.sentences)


def test_the_line_that_is_proposed_is_of_a_policy_that_counts_persons(stays: sa.Session) -> None:
    assert found_by(stays, policy(individual="patient")).repeated_identifiers == ()


def test_identifiers_without_a_value_in_some_rows_are_not_proposed(stays: sa.Session) -> None:
    source = "SELECT * REPLACE (CASE WHEN stay <> 1 THEN patient END AS patient) FROM stays"
    found = {each.column: each for each in found_by(stays, policy(), source).repeated_identifiers}
    assert (found["patient"].rows, found["patient"].values, found["patient"].proposal) == (599, 200, None)
    assert "flatten the table first" in found["patient"].sentence


def test_a_method_that_counts_rows_gets_no_proposal(stays: sa.Session) -> None:
    wanted = policy(privacy=[], method=sa.Relocation(k=5, limit=0.1))
    found = {each.column: each for each in found_by(stays, wanted).repeated_identifiers}
    assert (found["patient"].values, found["patient"].proposal) == (200, None)


def test_hostile_names_are_proposed_as_they_are(stays: sa.Session) -> None:
    quoted = HOSTILE.replace('"', '""')
    source = f'SELECT * RENAME (patient AS "{quoted}", diagnosis AS "{quoted} 2") FROM stays'
    wanted = policy(identifiers=["stay", HOSTILE, "is_vip", "ward"], sensitive=[f"{HOSTILE} 2"])
    found = found_by(stays, wanted, source)
    assert tomllib.loads(str(found.repeated_identifiers[0].proposal)) == {"individual": HOSTILE}
    assert tomllib.loads(str(found.homogeneous_columns[0].proposal))["privacy"][0]["column"] == f"{HOSTILE} 2"


def test_of_many_rows_one_value_in_several_is_counted(stays: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "SIEVED_ROWS", 200)
    found = {each.column: each for each in found_by(stays, policy()).repeated_identifiers}
    assert "stay" not in found
    assert not found["patient"].is_exact
    assert 120 < found["patient"].values < 280
    assert "600 rows have about" in found["patient"].sentence


# Sensitive columns


def test_a_sensitive_column_without_a_model_is_measured(stays: sa.Session) -> None:
    (column,) = found_by(stays, policy()).homogeneous_columns
    assert (column.column, column.homogeneous_rows, column.released_rows) == ("diagnosis", 150, 600)
    assert homogeneous(stays) == [(150, 600)]
    model = tomllib.loads(str(column.proposal))["privacy"]
    covered = found_by(stays, policy(privacy=[{"model": "k-anonymity", "k": 5}, *model]))
    assert covered.homogeneous_columns == ()
    assert homogeneous(stays) == [(0, 600)]


def test_missing_values_are_values(stays: sa.Session) -> None:
    source = "SELECT * REPLACE (CASE WHEN stay <> 0 THEN diagnosis END AS diagnosis) FROM stays"
    (found,) = found_by(stays, policy(maximum_levels={"age": 0}), source).homogeneous_columns
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


def test_findings_travel_with_no_release(stays: sa.Session, tmp_path: Path) -> None:
    stays.connection.execute(f"COPY stays TO '{tmp_path}/stays.parquet'")
    source = f"{tmp_path}/stays.parquet"
    for into in ("released.parquet", "released.csv", "released/"):
        release = stays.anonymize(source, policy(), into=f"{tmp_path}/{into}")
        assert json.loads(release.report.model_dump_json())["findings"]["repeated_identifiers"]
    again = stays.anonymize(source, policy(), into=f"{tmp_path}/{into}")
    assert (again.unchanged, again.report.findings) == (True, None)
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert b"findings" not in file.read_bytes()
        assert b"homogeneous" not in file.read_bytes()


# Other methods, and fits


def test_the_command_line_shows_those_of_a_fit(tmp_path: Path, stays: sa.Session) -> None:
    stays.connection.execute(f"COPY stays TO '{tmp_path}/stays.parquet'")
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age", "sex"]\nidentifiers = ["stay", "patient", "is_vip", "ward"]\n'
        'sensitive = ["diagnosis"]\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
        '[taxonomies]\nsex = { kind = "flat", values = ["f", "m"] }\n'
        'age = { kind = "intervals", widths = [10], minimum = 20, maximum = 59 }\n'
    )
    given = ("fit", "stays.parquet", "--policy", "policy.toml", "--fit", "stays.fit")
    shown = " ".join(sqlanon(*given, folder=tmp_path).stdout.split())
    assert "150 of 600 released rows (25.0 %) are in classes with a single value" in shown


# What is read


def test_identifiers_are_counted_where_rows_are_read_anyway(stays: sa.Session) -> None:
    """A run reads its source for cells, for the number of groups, and for the rows: findings add no scan."""
    steps = stays.explain("stays", policy())
    assert [step.purpose for step in steps if '"stays"' in step.sql] == ["cells", "expected groups", "equal rows"]
    (counted,) = (step.sql for step in steps if '"patient"' in step.sql)
    assert "groups" in counted


def test_the_command_line_shows_them(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "clinic.duckdb") as session:
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


def test_a_column_without_a_model_is_named_though_no_class_exposes_it() -> None:
    found = HomogeneousColumn(column="diagnosis", homogeneous_rows=0, released_rows=431, proposal=None)
    assert found.sentence == (
        'no privacy model protects the sensitive "diagnosis": no released row is in classes with a single value, but '
        "nothing prevents it"
    )
