"""Targets of a release: tables and files of any name, what is replaced, and what never is."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.25, earlier="none")
FLATTENED = {"individual": "id", "event": "diagnosis", "order": "age", "first": 1}


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """The clinic, in whose folder the test runs."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect(config={"threads": 1}) as connection:
        yield open_clinic(connection)


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation}").fetchall()


def tables(session: sa.Session) -> list[tuple[str, str]]:
    """Every table and view, but for those of schema anon."""
    return session.connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name <> 'anon' "
        "UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
    ).fetchall()


def refuses(session: sa.Session, message: str, into: str | Path, source: Any = "visits", **options: Any) -> None:
    with pytest.raises(sa.EngineError, match=message):
        session.anonymize(source, POLICY, into=into, **options)


class TestNames:
    def test_files_of_any_name(self, clinic: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "a[1]*? it's é 🙂.PARQUET"
        for replace in (False, True):
            clinic.anonymize("visits", POLICY, into=target, replace=replace)
            assert pq.read_table(target).num_rows > 0
        assert [*tmp_path.iterdir()] == [target]

    def test_tables_of_any_name(self, clinic: sa.Session) -> None:
        hostile, dotted = 'a"b; drop table visits --', "no such schema.select"
        before = tables(clinic)
        for replace in (False, True):
            clinic.anonymize("visits", POLICY, into=hostile, replace=replace)
            assert sorted(tables(clinic)) == sorted([*before, ("main", hostile)])
        assert clinic.verify(hostile, POLICY).met
        clinic.connection.execute(f'CREATE TABLE "{dotted}" AS SELECT 1 AS state')
        refuses(clinic, f'table "{dotted}" exists', dotted)

    def test_a_name_of_a_file_is_no_table(self, clinic: sa.Session, tmp_path: Path) -> None:
        before = tables(clinic)
        for name, said in (
            ("out.parquet.gz", "write out.parquet, whose columns are compressed already"),
            ("OUT.CSV.ZST", "write OUT.parquet, whose columns are compressed already"),
            ("c.duckdb", "give the name of the table; else write c.parquet"),
            ("x.tsv", "unsupported output format .tsv; use .parquet or .csv"),
            ("people.XLSX", "unsupported output format .xlsx"),
            ("releases/visits", "does not end in .parquet"),
            ("  ", "needs a name"),
            ("..", 'such as "../release/"'),
        ):
            refuses(clinic, re.escape(said), name)
            with pytest.raises(sa.EngineError, match=re.escape(said)):
                clinic.lattice("visits", POLICY, into=name)
            with pytest.raises(sa.EngineError, match=re.escape(said)):
                clinic.flatten("visits", into=name, **FLATTENED)
        refuses(clinic, r"\.parquet", tmp_path / "published.json")
        assert tables(clinic) == before

    def test_a_schema_or_a_database_makes_it_one(self, clinic: sa.Session, tmp_path: Path) -> None:
        clinic.connection.execute(f"CREATE SCHEMA ward; ATTACH '{tmp_path}/other.duckdb' AS other")
        for name in ("memory.ward.json", "other.db"):
            clinic.anonymize("visits", POLICY, into=name)
            assert clinic.verify(name, POLICY).met
        assert rows(clinic, "other.main.db") == rows(clinic, "ward.json")
        clinic.connection.execute('CREATE TABLE "old.json" AS SELECT 1 AS state')
        refuses(clinic, r'table "old\.json" exists', "old.json")

    def test_a_temporary_table(self, clinic: sa.Session) -> None:
        for name, replace in (("temp.published", False), ("temp.main.published", True)):
            clinic.anonymize("visits", POLICY, into=name, replace=replace)
            assert clinic.verify(name, POLICY).met
        with clinic.connection.cursor() as other:
            found = other.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'published'").fetchall()
        assert found == [(0,)]
        refuses(clinic, '"published" is a temporary table', "published", replace=True)
        clinic.connection.execute("CREATE TEMP TABLE scratch AS SELECT 1 AS state")
        refuses(clinic, "not written by sqlanon", "temp.scratch", replace=True)


class TestReplacing:
    def test_a_table(self, clinic: sa.Session) -> None:
        clinic.connection.execute("CREATE TABLE published AS SELECT 'old' AS state")
        refuses(clinic, r'"published" exists.*replace=True', "published")
        refuses(clinic, r'"published" was not written by sqlanon.*replace="anything"', "published", replace=True)
        assert rows(clinic, "published") == [("old",)]
        clinic.anonymize("visits", POLICY, into="PUBLISHED", replace="anything")
        assert len(rows(clinic, "published")) > 1
        clinic.anonymize("visits", POLICY, into="Published", replace=True)

    def test_a_file(self, clinic: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "published.parquet"
        for other in (b"old", b""):
            target.write_bytes(other)
            refuses(clinic, "exists", target)
            refuses(clinic, r'was not written by sqlanon.*replace="anything"', target, replace=True)
            assert target.read_bytes() == other
        clinic.connection.execute(f"COPY visits TO '{target}'")
        refuses(clinic, "was not written by sqlanon", target, replace=True)
        assert pq.read_table(target).num_rows == 12
        clinic.anonymize("visits", POLICY, into=target, replace="anything")
        assert pq.read_table(target).num_rows < 12

    def test_no_slip_drops_what_is_the_users_own(self, clinic: sa.Session) -> None:
        mine = "CREATE OR REPLACE TABLE mine AS FROM visits; COPY visits TO 'mine.parquet'"
        clinic.connection.execute(mine)
        before = rows(clinic, "mine")
        clinic.partitions.fit("visits", POLICY, "clinic.fit", accept_observed_domain=True)
        for into, relation in (("mine", "mine"), ("mine.parquet", "'mine.parquet'")):
            tables_of_counts = (
                lambda into=into, **given: clinic.lattice("visits", POLICY, into=into, **given),
                lambda into=into, **given: clinic.flatten("visits", into, **FLATTENED, **given),
            )
            for call in (
                *tables_of_counts,
                lambda into=into, **given: clinic.anonymize("visits", POLICY, into, **given),
                lambda into=into, **given: clinic.partitions.apply("visits", "clinic.fit", into, **given),
            ):
                with pytest.raises(sa.EngineError, match="was not written by sqlanon"):
                    call(replace=True)
                assert rows(clinic, relation) == before
            for call in tables_of_counts:
                clinic.connection.execute(mine)
                call(replace="anything")
                assert rows(clinic, relation) != before
                call(replace=True)

    @pytest.mark.parametrize("into", ["new", "new.parquet"])
    def test_what_another_program_makes_meanwhile_is_not_replaced_either(self, clinic: sa.Session, into: str) -> None:
        other = clinic.connection.cursor()

        def appear(event: sa.Event) -> None:
            if (event.stage, event.state) == ("search", "started"):
                other.execute("CREATE TABLE new AS FROM visits" if into == "new" else "COPY visits TO 'new.parquet'")

        with pytest.raises(sa.EngineError):
            clinic.anonymize("visits", POLICY, into, replace=True, progress=appear)
        assert len(rows(clinic, "new" if into == "new" else "'new.parquet'")) == 12

    def test_what_can_not_be_replaced(self, clinic: sa.Session) -> None:
        clinic.connection.execute("CREATE VIEW seen AS SELECT 1; CREATE TEMP TABLE scratch AS SELECT 1")
        before = tables(clinic)
        for into, message in (
            ("SEEN", "is a view"),
            ("anon.taxonomy", "reserved"),
            ("anon.published", "reserved"),
            ("scratch", "temporary"),
        ):
            refuses(clinic, message, into, replace=True)
        for given in ("yes", 2, None):
            with pytest.raises(sa.PolicyError, match='True, False, "changed" or "anything"'):
                clinic.anonymize("visits", POLICY, "new", replace=given)  # type: ignore[arg-type]
        assert tables(clinic) == before


class TestItsOwnSource:
    def test_a_table(self, clinic: sa.Session) -> None:
        clinic.connection.execute("CREATE VIEW seen AS FROM visits v; CREATE VIEW twice_seen AS FROM seen")
        before = rows(clinic, "visits")
        for source, into in (
            ("VISITS", "Visits"),
            ("VISITS", "main.visits"),
            ("SELECT v.* FROM visits v", "Visits"),
            ('SELECT "v w".* FROM main.visits AS "v w" TABLESAMPLE reservoir(50%) REPEATABLE (7)', "Visits"),
            ("WITH v AS (FROM main.visits) FROM v", "main.visits"),
            ("FROM query('SELECT v.* FROM visits v')", "main.visits"),
            ("twice_seen", "Visits"),
        ):
            refuses(clinic, "its own source", into, source, replace=True)
        assert rows(clinic, "visits") == before

    def test_a_file(self, clinic: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "visits.parquet"
        clinic.connection.execute(f"COPY visits TO '{target}'")
        content = target.read_bytes()
        (tmp_path / "link.parquet").symlink_to(target)
        clinic.connection.execute(f"CREATE VIEW seen AS FROM read_parquet(['{target}'])")
        for source in (
            target,
            "FROM seen",
            f"{tmp_path}/v*.parquet",
            f"FROM '{target}'",
            "visits.parquet",
            tmp_path / "link.parquet",
        ):
            refuses(clinic, "its own source", target, source, replace=True)
        assert target.read_bytes() == content
