"""Flattening from outside: the session and the command line, what they write and what they refuse."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa

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

WIDE = [(1, None, "x-ray"), (2, "biopsy", "surgery"), (3, "x-ray", None)]


@pytest.fixture
def session() -> Iterator[sa.Session]:
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


class TestResult:
    def test_more_events_fewer_events_and_one(self, session: sa.Session) -> None:
        done = session.flatten("events", "patients", **ROLES)
        assert columns(session, "patients") == ["patient", "procedure_1", "procedure_2"] == list(done.columns)
        assert rows(session, "patients") == WIDE
        counts = (done.individuals, done.events, done.cut_individuals, done.cut_events)
        assert counts == (3, 6, 1, 1)
        assert (done.source, done.into) == ('table "events"', "patients")

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
