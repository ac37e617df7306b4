"""Taxonomies that a policy carries, where files and sessions are out of the ordinary."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.stories import test_own_taxonomies
from tests.stories.test_own_taxonomies import PEOPLE, RULES, policy, rows

session = test_own_taxonomies.session


@pytest.mark.parametrize(
    ("into", "spelled"),
    [("released", "{folder}/everyone.parquet"), ("released/", "FROM '{folder}/everyone.parquet'")],
)
def test_a_release_does_not_tell_where_files_lie(
    session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str, spelled: str
) -> None:
    """Their names and what is in them do: a release goes to others, and the machine is the custodian's."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "very-private"
    folder.mkdir()
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    session.connection.execute(f"COPY people TO '{folder}/everyone.parquet'")
    models = [sa.KAnonymity(4), sa.KMap(4, spelled.format(folder=folder))]
    wanted = policy({**RULES, "sex": str(folder / "sex.csv")}, privacy=models)
    session.anonymize(folder / "everyone.parquet" if "/" in into else "people", wanted, into)
    note = session.provenance(into) or ""
    written = (tmp_path / into / "_sqlanon.json").read_text() if "/" in into else note
    assert "very-private" not in written
    assert str(tmp_path) not in written
    facts = json.loads(note)["sqlanon"]
    names = ["sex.csv", "everyone.parquet"]
    assert facts["policy_files"] == [
        {"name": name, "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()} for name in names
    ]
    assert facts["policy"]["taxonomies"]["sex"]["file"] == "sex.csv"
    assert facts["policy"]["privacy"][1]["population"] in ("everyone.parquet", "FROM 'everyone.parquet'")
    assert session.verify(into, wanted, source="people").met


BY_AGE = {"quasi_identifiers": ["age"], "identifiers": ["zip", "sex", "day"]}


def test_two_sessions_on_one_database_at_once(session: sa.Session, tmp_path: Path) -> None:
    """Each has its taxonomies in a database of its own, and they see those of each other."""
    wanted = policy({"age": RULES["age"]}, **BY_AGE)
    other = sa.connect(session.connection.cursor())
    nested: list[sa.Release] = []

    def publish(event: sa.Event) -> None:
        if (event.stage, event.state) == ("search", "started"):
            nested.append(other.anonymize("people", policy({"age": "flat"}, **BY_AGE), tmp_path / "second.parquet"))

    before = session.connection.execute("SELECT database_name FROM duckdb_databases() ORDER BY ALL").fetchall()
    first = session.anonymize("people", wanted, tmp_path / "first.parquet", progress=publish)
    assert (first.report.heights["age"], nested[0].report.heights["age"]) == (3, 1)
    assert session.verify(tmp_path / "first.parquet", wanted, source="people").met
    assert session.connection.execute("SELECT database_name FROM duckdb_databases() ORDER BY ALL").fetchall() == before


NESTED = """
quasi_identifiers = ["age", "city", "day", "sex", "zip"]
rest = "identifier"

[[privacy]]
model = "k-anonymity"
k = 4

[taxonomies]
age = { kind = "cuts", breaks = [[30, 40.5, 50], [40.5]], minimum = 0, maximum = 99 }
day = { kind = "dates", units = ["week", "isoyear"], first = 2024-01-01, last = 2026-12-31 }

[taxonomies.sex]
kind = "groups"
groups = { "?" = ["f", "m"] }

[taxonomies.city]
kind = "groups"

[taxonomies.city.groups]
West = { Rhine = ["Bonn", "Köln"], Moselle = ["Trier"] }
East = { Elbe = ["Dresden"] }

[taxonomies.zip]
kind = "columns"
columns = ["area"]
"""


def test_breaks_groups_weeks_and_columns_in_a_file(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(NESTED)
    asked = sa.Policy.from_toml(tmp_path / "policy.toml")
    assert sa.Policy.model_validate_json(asked.model_dump_json()) == asked
    session.connection.execute(
        "CREATE TABLE travellers AS SELECT *, ['Bonn', 'Köln', 'Trier', 'Dresden'][1 + age % 4] AS city, "
        "left(zip, 4) AS area FROM people"
    )
    node = {"age": 1, "city": 2, "day": 2, "sex": 0, "zip": 1}
    published = session.anonymize("travellers", asked, tmp_path / "k4.parquet", node=node)
    declared = dict.fromkeys(["age", "city", "day", "sex"], "declared")
    assert published.report.domains == {**declared, "zip": "observed"}
    columns = ", ".join(f"list_sort(list(DISTINCT {name}))" for name in ("age", "city", "day", "zip"))
    assert rows(session, f"(SELECT {columns} FROM '{tmp_path}/k4.parquet')") == [
        (["< 30", ">= 50", "[30, 40.5)", "[40.5, 50)"], ["East", "West"], ["ISO 2025"], ["1010"])
    ]
    assert session.verify(tmp_path / "k4.parquet", asked, source="travellers").met


def test_a_warehouse_that_can_only_be_read(tmp_path: Path) -> None:
    wanted = policy({"age": RULES["age"]}, **BY_AGE)
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}")
    with sa.connect(tmp_path / "people.duckdb", read_only=True) as session:
        session.anonymize("people", wanted, tmp_path / "opened.parquet")
    with duckdb.connect(str(tmp_path / "people.duckdb"), read_only=True) as connection:
        sa.connect(connection).anonymize("people", wanted, tmp_path / "lent.parquet")


def test_sensitive_columns_with_hierarchical_distances(session: sa.Session) -> None:
    close = [sa.KAnonymity(2), sa.TCloseness("illness", 0.9, distance="hierarchical")]
    asked = policy({"age": RULES["age"], "illness": "flat"}, privacy=close, **BY_AGE)
    session.anonymize("people", asked, "published")
    assert session.verify("published", asked, source="people").met
    assert session.measure("published", asked).k
