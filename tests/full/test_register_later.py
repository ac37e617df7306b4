"""The list of releases after targets have changed, and what it does not have."""

import os
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy
from tests.engines import engine_of
from tests.stories import test_release_register
from tests.stories.test_release_register import NODE, entries, states, targets

make_warehouse = test_release_register.make_warehouse

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.3, earlier="none")
HOSTILE = 'a"b; DROP TABLE visits --'
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
        source = f"{tmp_path}/visits.parquet"
        for into in ("released", f"{tmp_path}/released.parquet", f"{tmp_path}/released/"):
            session.anonymize(source, POLICY, into)
            (first,) = (each for each in entries(session) if each.target == into)
            # As a run leaves it that is killed before it confirms its release, and as one that has listed none.
            for change in ("UPDATE anon.releases SET record_sha256 = NULL", "DELETE FROM anon.releases"):
                session.connection.execute(f"{change} WHERE target = '{into}'")
                assert session.anonymize(source, POLICY, into, replace="changed").unchanged
                (again,) = (each for each in entries(session) if each.target == into)
                assert again == first.model_copy(update={"made_at": again.made_at})
        assert len(entries(session)) == 3

    def test_a_database_without_tables_of_sqlanon_stays_as_it_is(self, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
            connection.execute("CREATE TABLE visits AS SELECT i % 2 AS age FROM range(9) AS numbers (i)")
        policy = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)], taxonomies={"age": "flat"})
        with sa.connect(tmp_path / "w.duckdb", read_only=True) as session:
            release = session.anonymize("visits", policy, f"{tmp_path}/out.parquet")
            assert [note for note in release.report.notes if "not on the list" in note]
            assert "not on the list" not in (session.provenance(f"{tmp_path}/out.parquet") or "list")
            assert entries(session) == ()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "w.duckdb"]

    def test_another_table_of_that_name_is_refused(self, session: sa.Session) -> None:
        for kind, definition in (("TABLE", "(target VARCHAR)"), ("VIEW", "AS SELECT 1 AS target")):
            session.connection.execute(f"CREATE {kind} anon.releases {definition}")
            for call in (lambda: session.anonymize("visits", POLICY, "released"), session.releases.list):
                with pytest.raises(sa.EngineError, match="rename it"):
                    call()
            session.connection.execute(f"DROP {kind} anon.releases")
        assert session.connection.execute("FROM duckdb_tables() WHERE table_name = 'released'").fetchall() == []


class TestWaiting:
    """Releases of sessions that have the warehouse open read-only, whose rows wait beside it."""

    def test_they_are_on_the_list_and_are_taken_up_by_whoever_may_write(self, warehouse: Path, tmp_path: Path) -> None:
        into = f"{tmp_path}/out.parquet"
        link = tmp_path / "link.duckdb"
        link.symlink_to(warehouse)
        with sa.connect(link, read_only=True) as session:
            release = session.anonymize("visits", POLICY, into)
            assert not [note for note in release.report.notes if "list" in note]
            (waiting,) = entries(session)
            assert (waiting.state, waiting.record_sha256) == ("there", session.verify(into, POLICY).record_sha256)
            with pytest.raises(sa.UnsatisfiableError):
                session.anonymize("visits", clinic_policy(sa.KAnonymity(13)), f"{tmp_path}/none.parquet")
            with pytest.raises(sa.EngineError, match="read-only"):
                session.releases.forget(into, reason="a test")
            assert entries(session) == (waiting,)
        (tmp_path / ".w.duckdb.releases" / "killed.staged").touch()
        with sa.connect(warehouse) as session:
            assert entries(session) == (waiting,)
            assert "taken" in session.releases.forget(into, reason="taken up").releases[0].forgotten_reason
            assert session.connection.execute("SELECT target FROM anon.releases").fetchall() == [(into,)]
        assert not list(tmp_path.glob(".*"))

    def test_one_that_cannot_be_read_is_not_passed_by(self, warehouse: Path, tmp_path: Path) -> None:
        with sa.connect(warehouse, read_only=True) as session:
            session.anonymize("visits", POLICY, f"{tmp_path}/out.parquet")
            (row,) = tmp_path.glob(".w.duckdb.releases/*")
            for text in ("{", "[]", "{}", '{"made_at": 1}'):
                row.write_text(text)
                with pytest.raises(sa.EngineError, match=r"\.row is not a release's row"):
                    session.releases.list()


class TestLater:
    @pytest.mark.deep
    def test_the_tables_of_a_long_list_are_looked_up_by_one_query(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session.anonymize("visits", POLICY, "there")
        columns = "datasets, method, policy_sha256, made_at"
        session.connection.execute(
            f"INSERT INTO anon.releases (target, {columns}) SELECT 'gone_' || i, {columns} "
            "FROM anon.releases, range(300) AS numbers (i)"
        )
        looked_up: list[tuple[object, ...]] = []
        for name in ("find", "find_all"):
            method = getattr(engine_of(session), name)
            monkeypatch.setattr(
                engine_of(session), name, lambda *tables, method=method: looked_up.append(tables) or method(*tables)
            )
        assert [each.state for each in entries(session)].count("unconfirmed") == 300
        session.anonymize("visits", OTHER, "more")
        assert max(map(len, looked_up)) == 301
        assert len(looked_up) < 30

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
        with pytest.raises(sa.PolicyError, match='"released" is forgotten already'):
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


class TestWhatIsListed:
    def test_a_query_and_a_view_are_of_the_tables_that_they_read_also_under_hostile_names(
        self, session: sa.Session
    ) -> None:
        session.connection.execute("CREATE SCHEMA ward; CREATE TABLE ward.rooms AS SELECT DISTINCT id FROM visits")
        session.connection.execute("CREATE VIEW joined AS SELECT visits.* FROM visits JOIN ward.rooms USING (id)")
        session.connection.execute('CREATE SCHEMA "s t"')
        for source, name in (("FROM visits", HOSTILE), ("joined", "s t.Größe; --"), ("MAIN.Visits", "select")):
            session.anonymize(source, POLICY, name)
        names = ['"a""b; DROP TABLE visits --"', '"s t"."Größe; --"', "select"]
        assert [each.datasets for each in entries(session)] == [("visits",), ("visits", "ward.rooms"), ("visits",)]
        assert targets(session, "visits") == targets(session, "FROM visits") == names
        assert targets(session, "ward.rooms") == targets(session, "SELECT id FROM ward.rooms") == names[1:2]
        assert targets(session, "nothing") == []
        assert {each.state for each in entries(session)} == {"there"}
        for name in names:
            session.releases.forget(name, reason='it\'s "over"; DROP TABLE visits --')
        assert entries(session) == ()
        assert session.connection.execute("SELECT count(*) FROM visits").fetchall() == [(12,)]

    @pytest.mark.deep
    def test_whatever_the_source_target_and_method(self, session: sa.Session, tmp_path: Path) -> None:
        """A frame is of no data set, a private method has no class, and local recoding no node."""
        session.connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
        session.anonymize(session.connection.sql("FROM visits").to_arrow_table(), POLICY, "other.released")
        session.anonymize(session.connection.sql("FROM visits"), POLICY, "temp.shown")
        private = sa.Histogram(budget=sa.Budget(9, "0.1"), node=NODE, accept_observed_domain=True)
        drawn = session.anonymize("visits", clinic_policy(method=private), "noisy")
        by_class = clinic_policy(sa.KAnonymity(2), method=sa.LocalRecoding(), earlier="none")
        session.anonymize("visits", by_class, "local")
        of_a_frame, of_a_relation, noisy, local = entries(session)
        assert (of_a_frame.datasets, of_a_relation.datasets) == ((), ("visits",))
        assert (noisy.method, noisy.node, noisy.min_class_size) == ("histogram", NODE, None)
        assert noisy.row_count == getattr(drawn.report, "released_rows", None)
        assert (local.method, local.node) == ("local-recoding", None)
        assert (local.min_class_size or 0) >= 2
        found = {"other.main.released": ["there"], "temp.main.shown": ["there"], "noisy": ["there"], "local": ["there"]}
        assert states(session) == found
        session.connection.execute("DETACH other; DROP TABLE temp.shown")
        assert states(session) == {**found, "other.main.released": ["unseen"], "temp.main.shown": ["gone"]}
