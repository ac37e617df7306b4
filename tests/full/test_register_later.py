"""The list of releases after targets have changed, and what it does not have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sqlanon as sa
from tests.conftest import clinic_policy
from tests.stories import test_release_register
from tests.stories.test_release_register import entries, states

make_warehouse = test_release_register.make_warehouse

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.3, earlier="none")
OTHER = clinic_policy(sa.KAnonymity(3), suppression_limit=0.3, earlier="none")


class TestWhatIsNotListed:
    def test_what_publishes_nothing(self, session: sa.Session, tmp_path: Path) -> None:
        session.explain("visits", POLICY)
        session.measure("visits", POLICY)
        session.lattice("visits", POLICY, into="nodes")
        session.flatten("visits", "flat", individual="id", event="diagnosis", order="age", first=1)
        session.partitions.fit("visits", POLICY, tmp_path / "clinic.fit", accept_observed_domain=True)
        assert entries(session) == ()
        assert "no release is on the list" in session.releases.list().to_html()

    def test_a_run_that_fails(self, session: sa.Session, tmp_path: Path) -> None:
        strict = clinic_policy(sa.KAnonymity(13))
        for into in ("released", f"{tmp_path}/released.parquet"):
            with pytest.raises(sa.UnsatisfiableError):
                session.anonymize("visits", strict, into)
        session.connection.execute("CREATE TABLE mine (a INTEGER)")
        with pytest.raises(sa.EngineError, match='the table "mine" exists'):
            session.anonymize("visits", POLICY, "mine")
        assert session.connection.execute("FROM duckdb_tables() WHERE table_name = 'releases'").fetchall() == []
        assert entries(session) == ()

    def test_a_run_that_leaves_its_target(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"COPY visits TO '{tmp_path}/visits.parquet'")
        for _ in range(2):
            release = session.anonymize(f"{tmp_path}/visits.parquet", POLICY, "released", replace="changed")
        assert release.unchanged
        assert states(session) == {"released": ["there"]}

    def test_a_session_that_is_read_only_says_so(self, warehouse: Path, tmp_path: Path) -> None:
        with sa.connect(warehouse, read_only=True) as session:
            release = session.anonymize("visits", POLICY, f"{tmp_path}/out.parquet")
            assert [note for note in release.report.notes if "not on the list" in note]
            assert "not on the list" not in (session.provenance(f"{tmp_path}/out.parquet") or "list")
            assert entries(session) == ()
            with pytest.raises(sa.PolicyError, match="no release"):
                session.releases.forget("out.parquet", reason="a test")
        with sa.connect(warehouse) as session:
            again = session.anonymize("visits", POLICY, f"{tmp_path}/out.parquet", replace=True)
            assert not [note for note in again.report.notes if "not on the list" in note]
            assert len(entries(session)) == 1
        with sa.connect(warehouse, read_only=True) as session:
            assert len(entries(session)) == 1
            with pytest.raises(sa.EngineError, match="read-only"):
                session.releases.forget(f"{tmp_path}/out.parquet", reason="a test")

    def test_another_table_of_that_name_is_refused(self, session: sa.Session) -> None:
        for kind, definition in (("TABLE", "(target VARCHAR)"), ("VIEW", "AS SELECT 1 AS target")):
            session.connection.execute(f"CREATE {kind} anon.releases {definition}")
            for call in (lambda: session.anonymize("visits", POLICY, "released"), session.releases.list):
                with pytest.raises(sa.EngineError, match="rename it"):
                    call()
            session.connection.execute(f"DROP {kind} anon.releases")
        assert session.connection.execute("FROM duckdb_tables() WHERE table_name = 'released'").fetchall() == []


class TestLater:
    def test_a_release_that_was_brought_back_is_there_again(self, session: sa.Session, tmp_path: Path) -> None:
        into = tmp_path / "out.parquet"
        session.anonymize("visits", POLICY, into)
        first = into.read_bytes()
        session.anonymize("visits", OTHER, into, replace=True)
        assert states(session) == {str(into): ["replaced", "there"]}
        into.write_bytes(first)
        os.utime(into, (1, 1))  # DuckDB keeps what it has read of a file of the same name, size and second
        assert states(session) == {str(into): ["there", "gone"]}

    def test_a_target_that_is_removed_or_changed_stays_listed(self, session: sa.Session, tmp_path: Path) -> None:
        for into in ("dropped", "remade", f"{tmp_path}/moved.parquet", f"{tmp_path}/emptied/"):
            session.anonymize("visits", POLICY, into)
        session.connection.execute("DROP TABLE dropped; CREATE OR REPLACE TABLE remade AS FROM visits")
        (tmp_path / "moved.parquet").rename(tmp_path / "away.parquet")
        next((tmp_path / "emptied").glob("*.parquet")).unlink()
        assert {each.state for each in entries(session)} == {"gone"}
        (tmp_path / "away.parquet").rename(tmp_path / "moved.parquet")
        assert states(session)[f"{tmp_path}/moved.parquet"] == ["there"]

    def test_what_is_forgotten_stays_with_the_reason(self, session: sa.Session) -> None:
        session.anonymize("visits", POLICY, "released")
        session.anonymize("visits", OTHER, "RELEASED", replace=True)
        known = [(each.state, each.policy_sha256) for each in entries(session)]
        assert known == [("replaced", POLICY.sha256()), ("there", OTHER.sha256())]
        for name, reason, problem in (
            ("released", " ", "reason"),
            ("releasing", "a test", 'no release "releasing" is on the list; did you mean "released"'),
        ):
            with pytest.raises(sa.PolicyError, match=problem):
                session.releases.forget(name, reason=reason)
        forgotten = session.releases.forget("Main.Released", reason=" nobody was given it ")
        assert [each.forgotten_reason for each in forgotten.releases] == ["nobody was given it"] * 2
        assert all(each.forgotten_at and each.forgotten_at >= each.made_at for each in forgotten.releases)
        assert (entries(session), entries(session, forgotten=True)) == ((), forgotten.releases)
        with pytest.raises(sa.PolicyError, match='"released" was forgotten before'):
            session.releases.forget("released", reason="once more")
        session.anonymize("visits", POLICY, "released", replace=True)
        assert states(session) == {"released": ["replaced", "replaced", "there"]}
        assert len(entries(session)) == 1, "the new one is not forgotten"
        shown = session.releases.list(forgotten=True)
        for text in (shown.to_html(), shown._repr_html_()):
            assert all(word in text for word in ("released", "nobody was given it", "age 1"))
        assert type(shown).model_validate_json(shown.model_dump_json()) == shown
        with pytest.raises(Exception, match="frozen"):
            shown.releases = ()  # type: ignore[misc]
