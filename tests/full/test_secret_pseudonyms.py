"""Pseudonyms: their key, which is in no log, error or note, and values that repeat or were altered."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.pseudonym_key import VARIABLE, PseudonymKey
from sqlanon.queries.kit.nodes import Step
from tests.commands import document, sqlanon
from tests.engines import engine_of
from tests.stories import test_pseudonyms
from tests.stories.test_pseudonyms import KEY, VISITS, names_of, policy, published, refused

POLICY = """
quasi_identifiers = ["age"]
sensitive = ["diagnosis"]
pseudonyms = ["patient"]
suppression_limit = 0.1
taxonomies = { age = { kind = "intervals", widths = [10, 20], minimum = 0, maximum = 99 } }

[[privacy]]
model = "k-anonymity"
k = 5
"""
ARGUMENTS = ("run", "visits.parquet", "--policy", "policy.toml", "--into", "released.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "key").write_bytes(KEY + b"\n")
    (tmp_path / "key").chmod(0o600)
    duckdb.sql(f"COPY ({VISITS}) TO '{tmp_path / 'visits.parquet'}'")
    return tmp_path


def test_a_file_and_the_environment(folder: Path) -> None:
    run = sqlanon(*ARGUMENTS, "--pseudonym-key", "key", "--json", folder=folder)
    assert run.returncode == 0, run.stderr
    first = pseudonyms_of(folder / "released.parquet")
    assert first == names_of()
    assert any("HMAC-SHA-256" in claim for claim in document(run)["guarantee"]["claims"])
    again = sqlanon(*ARGUMENTS, "--replace", "--events", folder=folder, **{VARIABLE: KEY.decode()})
    assert again.returncode == 0, again.stderr
    assert pseudonyms_of(folder / "released.parquet") == first
    verified = sqlanon("verify", "released.parquet", "--policy", "policy.toml", folder=folder)
    assert verified.returncode == 0, verified.stderr
    for result in (run, again, verified):
        assert KEY.decode() not in result.stdout + result.stderr
    assert KEY not in (folder / "released.parquet").read_bytes()


def test_the_key_itself_in_place_of_its_file(folder: Path) -> None:
    for more in ((), ("--events",)):
        run = sqlanon(*ARGUMENTS, "--pseudonym-key", KEY.decode(), *more, folder=folder)
        assert run.returncode == 2
        assert "the pseudonym key is refused" in run.stderr
        assert KEY.decode()[:12] not in run.stdout + run.stderr
    assert not (folder / "released.parquet").exists()


def test_no_key(folder: Path) -> None:
    run = sqlanon(*ARGUMENTS, folder=folder)
    assert run.returncode == 2
    assert "need a secret key: give its file as --pseudonym-key FILE" in " ".join(run.stderr.split())


def pseudonyms_of(file: Path) -> set[str]:
    return {value for (value,) in duckdb.sql(f"SELECT patient FROM '{file}'").fetchall()}


session, shared = test_pseudonyms.session, test_pseudonyms.shared


class TestSecret:
    def assert_absent(self, session: sa.Session, text: str) -> None:
        """No part of the key is there, nor of what is as good as the key, in any form that DuckDB prints."""
        for secret in (KEY, *PseudonymKey(KEY).blocks):
            part = secret[:12]
            [(printed,)] = session.connection.execute("SELECT CAST(CAST($1 AS BLOB) AS VARCHAR)", [part]).fetchall()
            for form in (part.decode("latin-1"), part.hex(), printed, repr(part)[2:-1]):
                assert form.lower() not in text.lower()

    def test_it_is_in_no_log_profile_plan_or_note(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        profile = tmp_path / "profile.json"
        session.connection.execute("CALL enable_logging(level = 'trace')")
        session.connection.execute(f"SET enable_profiling = 'json'; SET profiling_output = '{profile}'")
        session.connection.execute("SET profiling_mode = 'detailed'")
        engine = engine_of(session)
        run, profiles = engine.run, {}

        def profiled(step: Step, parameters: Sequence[object] = ()) -> None:
            run(step, parameters)
            profiles[step.purpose] = profile.read_text()

        monkeypatch.setattr(engine, "run", profiled)
        release = session.anonymize("visits", policy(), "again", pseudonym_key=KEY)
        session.connection.execute("PRAGMA disable_profiling; CALL disable_logging()")
        logged = session.connection.execute("SELECT type, message FROM duckdb_logs").fetchall()
        assert any("$1" in message for _, message in logged)
        assert "$1" in profiles["equal rows"]
        self.assert_absent(session, repr(logged))
        self.assert_absent(session, repr(profiles))
        self.assert_absent(session, release.model_dump_json() + str(session.provenance("again")))
        self.assert_absent(session, repr(session.explain("visits", policy())))

    def test_it_is_in_no_error(self, session: sa.Session) -> None:
        fault = "CASE WHEN patient = 'P7' THEN error('a fault') ELSE diagnosis END"
        source = f"SELECT * REPLACE ({fault} AS diagnosis) FROM visits"
        with pytest.raises(sa.EngineError) as caught:
            session.anonymize(source, policy(), "again", pseudonym_key=KEY)
        assert "$1" in str(caught.value.sql)
        self.assert_absent(
            session, repr([str(caught.value), caught.value.sql, str(caught.value.original), vars(caught.value)])
        )

    def test_partitions_are_refused(self, session: sa.Session, tmp_path: Path) -> None:
        with pytest.raises(sa.PolicyError, match='pseudonyms of "patient": a value in several partitions'):
            session.partitions.fit("visits", policy(), tmp_path / "visits.fit")
        assert not (tmp_path / "visits.fit").exists()


class TestRepetition:
    def test_rows_of_one_person(self, session: sa.Session) -> None:
        message = refused(session, "FROM visits UNION ALL (FROM visits LIMIT 30)", policy())
        assert '"patient": 30 values repeat, in 60 rows, which their pseudonyms link' in message
        assert "`sqlanon flatten`" in message

    def test_what_is_there_stays(self, session: sa.Session) -> None:
        twice = "FROM visits UNION ALL FROM visits"
        with pytest.raises(sa.PolicyError, match="values repeat"):
            session.anonymize(twice, policy(), "released", pseudonym_key=KEY, replace=True)
        assert len(published(session, "released")) == 200

    def test_a_value_in_two_columns(self, session: sa.Session) -> None:
        """Neither column repeats a value, but the pseudonym of a partner links the rows of a couple."""
        source = "SELECT *, 'P' || xor(CAST(patient[2:] AS INTEGER), 1) AS partner FROM visits"
        message = refused(session, source, policy(pseudonyms=["patient", "partner"]))
        assert '"patient": 200 values repeat, in 200 rows' in message
        assert '"partner": 200 values repeat, in 200 rows' in message

    def test_rows_that_are_not_published_do_not_count(self, session: sa.Session) -> None:
        session.connection.execute("INSERT INTO visits SELECT patient, 95, diagnosis FROM visits LIMIT 4")
        wanted = policy(maximum_levels={"age": 0})
        assert session.anonymize("visits", wanted, "again", pseudonym_key=KEY).report.rows.dropped == 4
        assert len({*published(session, "again")}) == 200

    def test_flattened_rows(self, session: sa.Session) -> None:
        events = (
            "SELECT 'P' || i // 2 AS patient, i AS day, 30 + i // 2 % 3 AS age, 'flu' AS diagnosis "
            "FROM range(60) AS events (i)"
        )
        wanted = policy(sensitive=["diagnosis_1", "diagnosis_2"])
        assert "values repeat" in refused(session, f"SELECT * EXCLUDE (day) FROM ({events})", policy())
        session.flatten(events, "patients", individual="patient", event="diagnosis", order="day", first=2, keep="age")
        session.anonymize("patients", wanted, "again", pseudonym_key=KEY)
        assert {*published(session, "again")} == names_of(range(30))


class TestVerification:
    def test_pseudonyms_that_were_altered(self, session: sa.Session) -> None:
        for change, shortfall in (
            (
                "SET patient = (SELECT max(patient) FROM released) WHERE diagnosis = 'flu'",
                "1 values repeat, in 67 rows",
            ),
            ("SET patient = upper(patient)", "200 rows have a value that is not a pseudonym (64 hex digits)"),
            ("SET patient = 'P7' WHERE patient IN (SELECT min(patient) FROM released)", "1 rows have a value"),
        ):
            session.connection.execute(f"UPDATE released {change}")
            _, found = session.verify("released", policy(), strict=False).shortfalls
            assert found.startswith('"patient": ')
            assert shortfall in found
            session.connection.execute("TRUNCATE released; INSERT INTO released FROM unaltered")

    def test_a_column_that_is_missing_or_was_not_replaced(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE without AS SELECT * EXCLUDE (patient) FROM released")
        found = session.verify("without", policy(), strict=False).shortfalls
        assert 'it lacks the column "patient", which the policy releases' in found
        found = session.verify("visits", policy(privacy=[sa.KAnonymity(2)]), strict=False).shortfalls
        assert any("200 rows have a value that is not a pseudonym" in each for each in found)
