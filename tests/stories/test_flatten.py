"""Flattening from outside: the session and the command line, what they write and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.integration.test_cli import HOSTILE, VALUE, tables

import sqlanon as sa
from sqlanon.model.preparations import MAXIMUM_COLUMNS
from tests.commands import document, sqlanon
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

    def test_several_columns_of_order(self, session: sa.Session) -> None:
        session.flatten("events", "patients", **{**ROLES, "order": ["ward", "day"]})
        assert rows(session, "patients")[0] == (1, "x-ray", VALUE)

    def test_columns_keep_their_types(self, session: sa.Session) -> None:
        query = "SELECT patient::UTINYINT AS patient, cost::DECIMAL(9, 2) AS cost, [day] AS day, sex FROM events"
        session.flatten(query, "patients", individual="patient", event=["cost", "day"], order="day", first=1)
        types = session.connection.execute("SELECT DISTINCT typeof(COLUMNS(*)) FROM patients").fetchall()
        assert types == [("UTINYINT", "DECIMAL(9,2)", "INTEGER[]")]

    def test_more_positions_than_anybody_has_events(self, session: sa.Session) -> None:
        session.flatten("events", "patients", **{**ROLES, "first": 100})
        assert len(columns(session, "patients")) == 101
        assert rows(session, "patients")[1][:4] == (2, "biopsy", "surgery", None)

    def test_an_empty_table(self, session: sa.Session) -> None:
        done = session.flatten("FROM events WHERE false", "patients", **ROLES, keep="sex", count="procedures")
        assert (done.individuals, done.events, done.cut_individuals, done.cut_events) == (0, 0, 0, 0)
        assert rows(session, "patients") == []
        assert columns(session, "patients") == list(done.columns)

    def test_one_row(self, session: sa.Session) -> None:
        session.flatten("FROM events WHERE patient = 3", "patients", **ROLES)
        assert rows(session, "patients") == WIDE[2:]

    def test_the_settings_of_a_connection_change_no_sequence(self, session: sa.Session) -> None:
        session.flatten("events", "expected", **ROLES)
        session.connection.execute("SET default_null_order = 'nulls_first'; SET default_order = 'desc'")
        session.flatten("events", "patients", **ROLES)
        assert sorted(rows(session, "patients"), key=lambda row: row[0]) == rows(session, "expected")

    def test_individuals_of_different_text_are_different(self, session: sa.Session) -> None:
        names = "SELECT unnest(['b', 'B', 'b']) COLLATE NOCASE AS name, unnest([1, 2, 3]) AS x"
        done = session.flatten(names, "people", individual="name", event="x", order="x", first=2)
        assert done.individuals == 2
        assert sorted(rows(session, "people")) == [("B", 2, None), ("b", 1, 3)]

    @pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
    def test_hostile_names(self, session: sa.Session, place: int) -> None:
        """Every name is that of every role once, beside three others."""
        roles = ("patient", "procedure", "day", "sex")
        names = {role: NAMES[(place + len(NAMES) * number // 4) % len(NAMES)] for number, role in enumerate(roles)}
        renamed = ", ".join(f"{quoted(role)} AS {quoted(name)}" for role, name in names.items())
        session.connection.execute(f"CREATE TABLE renamed AS SELECT * RENAME ({renamed}) FROM events")
        given = {key: names.get(value, value) for key, value in ROLES.items()}
        session.flatten("renamed", "patients", **given, keep=names["sex"], count="how many")
        found = [(row[0], *row[2:4]) for row in rows(session, "patients")]
        assert found == WIDE
        assert [row[1] for row in rows(session, "patients")] == [None, "f", "m"]

    def test_the_sequence_can_be_measured_and_anonymized(self, session: sa.Session) -> None:
        session.flatten("events", "patients", **ROLES)
        sequence = ["procedure_1", "procedure_2"]
        policy = sa.Policy(quasi_identifiers=sequence, identifiers=["patient"], privacy=[sa.KAnonymity(3)])
        assert session.measure("patients", policy).k == 1
        for name in sequence:
            session.taxonomies.load(name, sa.Taxonomy.flat(), source="patients")
        assert session.anonymize("patients", policy, into="published").report.min_class_size == 3

    def test_nothing_is_installed_and_nothing_left_behind(self, session: sa.Session) -> None:
        session.flatten("events", "patients", **ROLES)
        found = session.connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        assert found == [("events",), ("patients",)]

    def test_its_provenance_travels_with_it_and_quotes_no_value(self, session: sa.Session, tmp_path: Path) -> None:
        for into in ("patients", tmp_path / "patients.parquet"):
            session.flatten("events", into, **ROLES)
            text = session.provenance(into)
            assert text is not None
            assert VALUE not in text
            assert json.loads(text)["sqlanon"]["flattened"]["flattening"]["first"] == 2
            found = json.loads(text)["sqlanon"]["flattened"]
            assert (found["events"], found["individuals"]) == (6, 3)


class TestTargets:
    def test_parquet_in_and_out(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"COPY events TO '{tmp_path}/events.parquet'")
        session.flatten(tmp_path / "events.parquet", tmp_path / "patients.parquet", **ROLES)
        assert rows(session, f"'{tmp_path}/patients.parquet'") == WIDE
        assert sorted(path.name for path in tmp_path.iterdir()) == ["events.parquet", "patients.parquet"]

    def test_csv_out(self, session: sa.Session, tmp_path: Path) -> None:
        session.flatten("events", tmp_path / "patients.csv", **ROLES)
        assert (tmp_path / "patients.csv").read_text().splitlines()[:2] == [
            'patient,"procedure_1","procedure_2"',
            '1,,"x-ray"',
        ]
        assert (tmp_path / "patients.csv.sqlanon.json").is_file()

    def test_what_is_there_is_replaced_only_if_asked(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE patients AS SELECT 'old' AS state")
        (tmp_path / "patients.parquet").write_text("old")
        for into in ("patients", tmp_path / "patients.parquet"):
            with pytest.raises(sa.EngineError, match=r"exists.*replace=True"):
                session.flatten("events", into, **ROLES)
        assert rows(session, "patients") == [("old",)]
        assert (tmp_path / "patients.parquet").read_text() == "old"
        for into in ("patients", tmp_path / "patients.parquet"):
            session.flatten("events", into, **ROLES, replace="anything")
        assert rows(session, "patients") == rows(session, f"'{tmp_path}/patients.parquet'") == WIDE

    def test_its_own_source_is_never_replaced(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"CREATE VIEW seen AS FROM events; COPY events TO '{tmp_path}/events.parquet'")
        for source, into in (("events", "events"), ("seen", "EVENTS"), *[(tmp_path / "events.parquet",) * 2]):
            with pytest.raises(sa.EngineError, match="its own source"):
                session.flatten(source, into, **ROLES, replace=True)
        assert len(rows(session, "events")) == pq.read_table(tmp_path / "events.parquet").num_rows == 6

    def test_a_failure_leaves_the_target_as_it_was(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE patients AS SELECT 'old' AS state")
        (tmp_path / "patients.parquet").write_text("old")
        failing = 'SELECT * REPLACE (if(day = 9, error(\'stop\'), "procedure") AS "procedure") FROM events'
        for into in ("patients", tmp_path / "patients.parquet"):
            with pytest.raises(sa.EngineError) as caught:
                session.flatten(failing, into, **ROLES, replace="anything")
            assert VALUE not in str(caught.value)
        assert rows(session, "patients") == [("old",)]
        assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]

    @pytest.mark.parametrize("into", ["", "  ", Path("patients.json")])
    def test_a_target_that_is_none(self, session: sa.Session, into: str | Path) -> None:
        with pytest.raises(sa.EngineError, match="parquet"):
            session.flatten("events", into, **ROLES)


class TestRefusals:
    def problems(self, session: sa.Session, source: str = "events", **roles: Any) -> tuple[str, ...]:
        with pytest.raises(sa.PolicyError) as caught:
            session.flatten(source, "patients", **{**ROLES, **roles})
        assert VALUE not in str(caught.value)
        assert rows(session, "duckdb_tables() SELECT table_name") == [("events",)]
        return caught.value.problems

    def test_all_missing_columns_at_once(self, session: sa.Session) -> None:
        found = self.problems(session, individual="pateint", event=["procedure", "code"], order="dya", keep=["Sexx"])
        assert found == (
            'column "pateint" is not there; did you mean "patient"?',
            'column "code" is not there',
            'column "dya" is not there; did you mean "day"?',
            'column "Sexx" is not there; did you mean "sex"?',
        )

    def test_columns_to_keep_that_vary_and_rows_of_nobody(self, session: sa.Session) -> None:
        session.connection.execute("INSERT INTO events VALUES (NULL, 'x', 1, 'm', 'w', 0), (3, 'x', 1, NULL, 'w', 0)")
        found = self.problems(session, keep=["sex", "ward"])
        assert len(found) == 3
        assert found[0].startswith('1 rows belong to nobody: their "patient" is NULL')
        assert found[1].startswith('column "sex" has several values for 1 of 3 individuals')
        assert found[2].startswith('column "ward" has several values for 3 of 3 individuals')

    def test_names_that_would_stand_there_twice(self, session: sa.Session) -> None:
        query = "SELECT *, sex AS Procedure_1 FROM events"
        twice = 'the result would have more than one column "{}"; rename the others in a view'
        assert self.problems(session, query, keep=["sex", "sex", "Procedure_1"], count="PATIENT") == tuple(
            twice.format(name) for name in ("patient", "sex", "Procedure_1", "procedure_1", "PATIENT")
        )
        assert self.problems(session, event=["cost", "cost"], first=1) == (twice.format("cost_1"),)
        assert self.problems(session, count="procedure_2") == (twice.format("procedure_2"),)

    @pytest.mark.parametrize(
        ("roles", "problem"),
        [
            ({"first": 0}, "first: input should be greater than or equal to 1"),
            ({"first": -1}, "first: input should be greater than or equal to 1"),
            ({"first": True}, "first: input should be a valid integer"),
            ({"first": "2"}, "first: input should be a valid integer"),
            ({"first": MAXIMUM_COLUMNS + 1}, "first: makes 1,001 columns of events; the limit is 1,000"),
            ({"first": 501, "event": ["procedure", "ward"]}, "first: makes 1,002 columns of events"),
            ({"event": []}, "event: needs at least one"),
            ({"order": ()}, "order: needs at least one"),
            ({"count": ""}, "count: string should have at least 1 character"),
        ],
    )
    def test_values_that_make_no_sense(self, session: sa.Session, roles: dict[str, Any], problem: str) -> None:
        [found] = self.problems(session, **roles)
        assert found.startswith(problem)

    def test_a_source_that_is_not_there(self, session: sa.Session) -> None:
        with pytest.raises(sa.EngineError, match='did you mean "events"'):
            session.flatten("event", "patients", **ROLES)


class TestCommand:
    """``sqlanon flatten``."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            connection.execute(EVENTS)
        return tmp_path

    def command(self, *more: str, source: str = "events", first: str = "2", keep: str = "sex") -> list[str]:
        roles = ["--individual", "patient", "--event", "procedure", "--order", "day", "--order", "ward"]
        return ["flatten", source, *roles, "--first", first, "--keep", keep, *more]

    def test_a_table_from_events_to_json(self, folder: Path) -> None:
        to_table = self.command("--db", "clinic.duckdb", "--into", "patients")
        done = sqlanon(*to_table, "--count", "procedures", "--json", folder=folder)
        assert done.returncode == 0, done.stderr
        found = document(done)
        assert found["columns"] == ["patient", "sex", "procedure_1", "procedure_2", "procedures"]
        assert (found["individuals"], found["events"]) == (3, 6)
        assert (found["cut_individuals"], found["cut_events"]) == (1, 1)
        assert VALUE not in done.stdout + done.stderr
        assert "patients" in tables(folder / "clinic.duckdb")
        refused = sqlanon(*to_table, folder=folder)
        assert refused.returncode == 1
        assert "--replace" in refused.stderr
        again = sqlanon(*to_table, "--replace", folder=folder)
        assert (again.returncode, again.stdout) == (0, "")
        assert "3 individuals" in again.stderr
        assert "1 of 6 events" in again.stderr

    def test_a_file_leaves_the_warehouse_as_it_is(self, folder: Path) -> None:
        before = (folder / "clinic.duckdb").read_bytes()
        done = sqlanon(*self.command("--db", "clinic.duckdb", "--into", "patients.parquet"), folder=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "clinic.duckdb").read_bytes() == before
        again = sqlanon(
            *self.command("--into", "again.parquet", source="patients.parquet")[:2],
            *["--individual", "patient", "--event", "procedure_1", "--order", "sex", "--first", "1"],
            *["--into", "again.parquet"],
            folder=folder,
        )
        assert again.returncode == 0, again.stderr
        assert pq.read_table(folder / "again.parquet").column_names == ["patient", "procedure_1_1"]

    @pytest.mark.parametrize(
        ("more", "options", "code", "kind"),
        [
            (["--into", "t"], {}, 2, "UsageError"),
            (["--into", "t", "--db", "no.duckdb"], {}, 2, "UsageError"),
            (["--into", "t", "--db", "clinic.duckdb"], {"first": "0"}, 2, "PolicyError"),
            (["--into", "t", "--db", "clinic.duckdb"], {"first": "two"}, 2, "UsageError"),
            (["--into", "t", "--db", "clinic.duckdb"], {"keep": "ward"}, 2, "PolicyError"),
            (["--into", "t", "--db", "clinic.duckdb"], {"keep": "swx"}, 2, "PolicyError"),
            (["--into", "t", "--db", "clinic.duckdb"], {"source": "nothing"}, 1, "EngineError"),
            (["--into", "events", "--db", "clinic.duckdb", "--replace"], {}, 1, "EngineError"),
        ],
    )
    def test_refusals(self, more: list[str], options: dict[str, str], code: int, kind: str, folder: Path) -> None:
        result = sqlanon(*self.command(*more, "--json", **options), folder=folder)
        assert (result.returncode, document(result)["error"]["kind"]) == (code, kind), result.stderr
        assert VALUE not in result.stdout + result.stderr
        assert tables(folder / "clinic.duckdb") == {"events"}

    def test_hostile_names(self, folder: Path) -> None:
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            connection.execute(f'ALTER TABLE events RENAME "procedure" TO {quoted(HOSTILE)}')
        arguments = ["--db", "clinic.duckdb", "--into", f"{HOSTILE}\x1b[31m", "--event", HOSTILE, "--first", "1"]
        done = sqlanon("flatten", "events", *arguments, "--individual", "patient", "--order", "day", folder=folder)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stderr

    def test_help_has_an_example(self, folder: Path) -> None:
        helped = sqlanon("flatten", "--help", folder=folder)
        assert "Example: sqlanon flatten" in " ".join(helped.stdout.split())
