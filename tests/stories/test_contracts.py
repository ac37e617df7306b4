"""Data contracts of releases: fields of the standard, and queries that any client can run."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.run.contract import Contract
from tests.commands import sqlanon
from tests.conftest import clinic_policy, clinic_values

FIELDS = ("apiVersion", "kind", "id", "name", "version", "status", "description", "schema", "customProperties")
MODELS = (sa.KAnonymity(3), sa.EntropyLDiversity("diagnosis", 1.2), sa.AlphaKAnonymity("diagnosis", 0.7, 2))


def passes(check: dict[str, Any], attained: float) -> bool:
    if "mustBeGreaterOrEqualTo" in check:
        return bool(attained >= check["mustBeGreaterOrEqualTo"])
    return bool(attained <= check["mustBeLessOrEqualTo"])


def sql_checks(contract: Contract) -> list[dict[str, Any]]:
    [table] = contract.to_odcs()["schema"]
    return [check for check in table["quality"] if check["type"] == "sql"]


POLICY = clinic_policy(*MODELS, suppression_limit=0.5)


@pytest.fixture(scope="module")
def release(shared_clinic: sa.Session) -> sa.Release:
    return shared_clinic.anonymize("visits", POLICY, into="published")


def test_a_contract_has_the_fields_of_the_standard(shared_clinic: sa.Session, release: sa.Release) -> None:
    found = shared_clinic.contract("published")
    contract = found.to_odcs()
    assert tuple(contract) == FIELDS
    assert contract["id"] == shared_clinic.verify("published", POLICY).record_sha256
    [table] = contract["schema"]
    roles = dict.fromkeys(("age", "sex", "zip"), "quasi-identifier") | {"diagnosis": "sensitive"}
    assert {each["name"]: each["tags"] for each in table["properties"]} == {
        name: [role] for name, role in roles.items()
    }
    assert [each["description"] for each in table["quality"] if each["type"] == "text"] == [*release.guarantee.claims]
    assert all(line in contract["description"]["limitations"] for line in release.guarantee.not_covered)
    assert clinic_values(found.to_yaml()) == []


def test_its_queries_fail_on_the_source(shared_clinic: sa.Session, release: sa.Release) -> None:
    checks = sql_checks(shared_clinic.contract("published"))
    attained = [shared_clinic.connection.execute(check["query"]).fetchall()[0][0] for check in checks]
    assert attained == pytest.approx([each.attained for each in release.report.models])
    assert all(map(passes, checks, attained))
    for check in checks:
        query = check["query"].replace('"published"', '"visits"')
        assert query != check["query"]
        assert not passes(check, shared_clinic.connection.execute(query).fetchall()[0][0])


def test_models_that_compare_with_the_source_have_no_query(clinic: sa.Session) -> None:
    policy = clinic_policy(sa.KAnonymity(2), sa.TCloseness("diagnosis", 0.9), suppression_limit=0.5)
    clinic.anonymize("visits", policy, into="published")
    found = clinic.contract("published")
    assert [check["name"] for check in sql_checks(found)] == ["k-anonymity (k = 2)"]
    assert any("closeness" in claim for claim in found.claims)


def test_the_command_writes_yaml_and_json(clinic: sa.Session, tmp_path: Path) -> None:
    file = tmp_path / "published.parquet"
    clinic.anonymize("visits", clinic_policy(sa.KAnonymity(3), suppression_limit=0.5), into=file)
    made = sqlanon("contract", "published.parquet", "--out", "published.odcs.yaml", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "published.odcs.yaml").read_text(encoding="utf-8")
    assert 'apiVersion: "v3.1.0"\nkind: "DataContract"\n' in text
    again = sqlanon("contract", "published.parquet", "--out", "published.odcs.yaml", folder=tmp_path)
    assert again.returncode == 2
    assert "exists" in again.stderr
    printed = json.loads(sqlanon("contract", "published.parquet", "--json", folder=tmp_path).stdout)
    [table] = printed["schema"]
    assert (table["name"], table["physicalType"]) == ("published.parquet", "file")
    [query] = [check["query"] for check in table["quality"] if check["type"] == "sql"]
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{tmp_path}'")
        assert connection.execute(query).fetchall()[0][0] >= 3


def test_what_has_no_provenance_has_no_contract(shared_clinic: sa.Session) -> None:
    with pytest.raises(sa.EngineError, match="no provenance of a release"):
        shared_clinic.contract("visits")


def test_a_name_ends_where_its_quotes_do() -> None:
    """A name with quotes would add words of its own to a claim."""
    name = 'age" and any other column, "x'
    policy = sa.Policy(
        quasi_identifiers=[name], sensitive=['di"ag'], privacy=[sa.DistinctLDiversity('di"ag', 2)],
        taxonomies={name: {"kind": "flat", "values": ["1", "2"]}},
    )  # fmt: skip
    with sa.connect(threads=1) as session:
        columns = 'i % 2 + 1 AS "age"" and any other column, ""x", i % 3 AS "di""ag"'
        session.connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(30) t (i)")
        session.anonymize("people", policy, into="released")
        claims = session.contract("released").claims
    assert claims == (
        'every equivalence class of the release over "age"" and any other column, ""x" meets distinct l-diversity of '
        '"di""ag" (l = 2) (Machanavajjhala et al. 2007, section 4.1)',
    )
