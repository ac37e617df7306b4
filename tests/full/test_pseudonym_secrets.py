"""Keys of pseudonyms are in no log, error or note."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.model.pseudonym_key import PseudonymKey
from sqlanon.queries.kit.nodes import Step
from tests.engines import engine_of
from tests.stories import test_pseudonyms
from tests.stories.test_pseudonyms import KEY, policy

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
