"""What ``flatten`` refuses, and its command."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from sqlanon.model.prepared_tables import MAXIMUM_COLUMNS
from tests.case_tables import quoted
from tests.commands import document, sqlanon
from tests.stories.test_flatten import EVENTS, HOSTILE, ROLES, VALUE, rows, tables
from tests.stories.test_flatten import session as session


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
        assert found[0].startswith('1 rows have no individual: their "patient" is NULL')
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

    def test_values_that_make_no_sense(self, session: sa.Session) -> None:
        roles: dict[str, Any]
        for roles, problem in (
            ({"first": 0}, "first: input should be greater than or equal to 1"),
            ({"first": True}, "first: input should be a valid integer"),
            ({"first": "2"}, "first: input should be a valid integer"),
            ({"first": MAXIMUM_COLUMNS + 1}, "first: makes 1,001 columns of events; the limit is 1,000"),
            ({"first": 501, "event": ["procedure", "ward"]}, "first: makes 1,002 columns of events"),
            ({"event": []}, "event: needs at least one"),
            ({"order": ()}, "order: needs at least one"),
            ({"count": ""}, "count: string should have at least 1 character"),
        ):
            [found] = self.problems(session, **roles)
            assert found.startswith(problem)

    def test_a_source_that_is_not_there(self, session: sa.Session) -> None:
        with pytest.raises(sa.EngineError, match='did you mean "events"'):
            session.flatten("event", "patients", **ROLES)


class TestCommand:
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
        assert refused.returncode == 2
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

    def test_hostile_names(self, folder: Path) -> None:
        with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
            connection.execute(f'ALTER TABLE events RENAME "procedure" TO {quoted(HOSTILE)}')
        arguments = ["--db", "clinic.duckdb", "--into", f"{HOSTILE}\x1b[31m", "--event", HOSTILE, "--first", "1"]
        done = sqlanon("flatten", "events", *arguments, "--individual", "patient", "--order", "day", folder=folder)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stderr
