"""Flattening from outside: the session and the command line, what they write and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.integration.test_cli import HOSTILE, VALUE, tables

import sqlanon as sa
from tests.strategies import HOSTILE_NAMES

HOSTILE = 'a"b; drop table x --'
VALUE = "alice-1970"
ROLES: dict[str, Any] = {"individual": "patient", "event": "procedure", "order": "day", "first": 2}

EVENTS = f"""
CREATE TABLE events AS SELECT * FROM (VALUES
    (2, 'surgery', 5, 'f', 'ward b', 20), (2, 'biopsy', 4, 'f', 'ward a', 10),
    (1, 'x-ray', 2, NULL, 'ward a', 3), (1, NULL, 1, NULL, 'ward b', 1), (1, '{VALUE}', 9, NULL, 'ward a', 2),
    (3, 'x-ray', NULL, 'm', NULL, NULL)
) AS events (patient, "procedure", day, sex, ward, cost)
"""

NAMES = [*HOSTILE_NAMES, "individual", "event", "position", "event_rows", "ordering", "n"]

WIDE = [(1, None, "x-ray"), (2, "biopsy", "surgery"), (3, "x-ray", None)]


@pytest.fixture
def session() -> Iterator[sa.Session]:
    """A session on the events of three patients, with no macro installed."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(EVENTS)
        yield sa.connect(connection)


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation}").fetchall()


def columns(session: sa.Session, relation: str) -> list[str]:
    return [column[0] for column in session.connection.execute(f"FROM {relation}").description or []]


def tables(path: Path) -> set[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class TestResult:
    def test_more_events_fewer_events_and_one(self, session: sa.Session) -> None:
        done = session.flatten("events", "patients", **ROLES)
        assert columns(session, "patients") == ["patient", "procedure_1", "procedure_2"] == list(done.columns)
        assert rows(session, "patients") == WIDE
        counts = (done.individuals, done.events, done.cut_individuals, done.cut_events)
        assert counts == (3, 6, 1, 1)
        assert (done.source, done.into) == ('table "events"', "patients")

    def test_kept_columns_and_the_number_of_events(self, session: sa.Session) -> None:
        done = session.flatten("events", "patients", **{**ROLES, "first": 1}, keep=["sex"], count="procedures")
        assert done.columns == ("patient", "sex", "procedure_1", "procedures")
        assert rows(session, "patients") == [(1, None, None, 3), (2, "f", "biopsy", 2), (3, "m", "x-ray", 1)]
        assert done.cut_events == 3

    def test_several_events_of_one_row_stay_together(self, session: sa.Session) -> None:
        session.flatten("events", "patients", **{**ROLES, "event": ["ward", "cost"], "order": ["ward"]})
        assert columns(session, "patients") == ["patient", "ward_1", "ward_2", "cost_1", "cost_2"]
        # The text of 2 comes before that of 3.
        assert rows(session, "patients") == [
            (1, "ward a", "ward a", 2, 3),
            (2, "ward a", "ward b", 10, 20),
            (3, None, None, None, None),
        ]

    def test_columns_keep_their_types(self, session: sa.Session) -> None:
        query = "SELECT patient::UTINYINT AS patient, cost::DECIMAL(9, 2) AS cost, [day] AS day, sex FROM events"
        session.flatten(query, "patients", individual="patient", event=["cost", "day"], order="day", first=1)
        types = session.connection.execute("SELECT DISTINCT typeof(COLUMNS(*)) FROM patients").fetchall()
        assert types == [("UTINYINT", "DECIMAL(9,2)", "INTEGER[]")]

    def test_more_positions_than_anybody_has_events_and_one_row(self, session: sa.Session) -> None:
        session.flatten("FROM events WHERE patient = 3", "patients", **{**ROLES, "first": 100})
        assert len(columns(session, "patients")) == 101
        [row] = rows(session, "patients")
        assert row[:4] == (3, "x-ray", None, None)

    def test_an_empty_table(self, session: sa.Session) -> None:
        done = session.flatten("FROM events WHERE false", "patients", **ROLES, keep="sex", count="procedures")
        assert (done.individuals, done.events, done.cut_individuals, done.cut_events) == (0, 0, 0, 0)
        assert rows(session, "patients") == []
        assert columns(session, "patients") == list(done.columns)

    def test_the_settings_of_a_connection_change_no_sequence(self, session: sa.Session) -> None:
        session.connection.execute("SET default_null_order = 'nulls_first'; SET default_order = 'desc'")
        session.flatten("events", "patients", **{**ROLES, "order": ["ward", "day"]})
        assert sorted(rows(session, "patients")) == [(1, "x-ray", VALUE), *WIDE[1:]]

    def test_individuals_of_different_text_are_different(self, session: sa.Session) -> None:
        names = "SELECT unnest(['b', 'B', 'b']) COLLATE NOCASE AS name, unnest([1, 2, 3]) AS x"
        done = session.flatten(names, "people", individual="name", event="x", order="x", first=2)
        assert done.individuals == 2
        assert sorted(rows(session, "people")) == [("B", 2, None), ("b", 1, 3)]

    def test_hostile_names(self, session: sa.Session) -> None:
        """Every name is that of a role, beside three others."""
        roles = ("patient", "procedure", "day", "sex")
        for place in range(len(NAMES) // 4 + 1):
            names = {role: NAMES[(place + len(NAMES) * number // 4) % len(NAMES)] for number, role in enumerate(roles)}
            renamed = ", ".join(f"{quoted(role)} AS {quoted(name)}" for role, name in names.items())
            source = f"SELECT * RENAME ({renamed}) FROM events"
            given = {key: names.get(value, value) for key, value in ROLES.items()}
            session.flatten(source, "patients", **given, keep=names["sex"], count="how many", replace=True)
            found = rows(session, "patients")
            assert [(row[0], *row[2:4]) for row in found] == WIDE
            assert [row[1] for row in found] == [None, "f", "m"]

    def test_the_sequence_can_be_measured_and_anonymized(self, session: sa.Session) -> None:
        session.flatten("events", "patients", **ROLES)
        sequence = ["procedure_1", "procedure_2"]
        policy = sa.Policy(quasi_identifiers=sequence, identifiers=["patient"], privacy=[sa.KAnonymity(3)])
        assert session.measure("patients", policy).k == 1
        for name in sequence:
            session.taxonomies.load(name, sa.Taxonomy.flat(), source="patients")
        assert session.anonymize("patients", policy, into="published").report.min_class_size == 3

    def test_its_provenance_travels_with_it_and_quotes_no_value(self, session: sa.Session, tmp_path: Path) -> None:
        for into in ("patients", tmp_path / "patients.parquet"):
            session.flatten("events", into, **ROLES)
            text = session.provenance(into) or ""
            assert VALUE not in text
            found = json.loads(text)["sqlanon"]["flattened"]
            assert (found["flattening"]["first"], found["events"], found["individuals"]) == (2, 6, 3)
        made = session.connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        assert made == [("events",), ("patients",)], "nothing is installed and nothing left behind"


class TestTargets:
    def test_csv_out(self, session: sa.Session, tmp_path: Path) -> None:
        session.flatten("events", tmp_path / "patients.csv", **ROLES)
        assert (tmp_path / "patients.csv").read_text().splitlines()[:2] == [
            'patient,"procedure_1","procedure_2"',
            '1,,"x-ray"',
        ]
        assert (tmp_path / "patients.csv.sqlanon.json").is_file()

    def test_what_is_there_is_replaced_only_if_asked(self, session: sa.Session, tmp_path: Path) -> None:
        """And by nothing if the run fails."""
        session.connection.execute("CREATE TABLE patients AS SELECT 'old' AS state")
        file = tmp_path / "patients.parquet"
        file.write_text("old")
        failing = 'SELECT * REPLACE (if(day = 9, error(\'stop\'), "procedure") AS "procedure") FROM events'
        for into in ("patients", file):
            with pytest.raises(sa.EngineError, match=r"exists.*replace=True"):
                session.flatten("events", into, **ROLES)
            with pytest.raises(sa.EngineError) as caught:
                session.flatten(failing, into, **ROLES, replace="anything")
            assert VALUE not in str(caught.value)
        assert rows(session, "patients") == [("old",)]
        assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
        for into in ("patients", file):
            session.flatten("events", into, **ROLES, replace="anything")
        assert rows(session, "patients") == rows(session, f"'{file}'") == WIDE

    def test_its_own_source_is_never_replaced(self, session: sa.Session, tmp_path: Path) -> None:
        file = tmp_path / "events.parquet"
        session.connection.execute(f"CREATE VIEW seen AS FROM events; COPY events TO '{file}'")
        for source, into in (("events", "events"), ("seen", "EVENTS"), (file, file)):
            with pytest.raises(sa.EngineError, match="its own source"):
                session.flatten(source, into, **ROLES, replace=True)
        session.flatten(file, "patients", **ROLES)
        assert rows(session, "patients") == WIDE

    def test_targets_that_cannot_be(self, session: sa.Session) -> None:
        for into in ("", "  ", Path("patients.json")):
            with pytest.raises(sa.EngineError, match="parquet"):
                session.flatten("events", into, **ROLES)
