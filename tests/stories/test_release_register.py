"""The releases that sessions on a warehouse have made, as it lists them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods.stages import Stages
from sqlanon.model.release.listed import ListedRelease
from sqlanon.publish import files, folders, to_file
from sqlanon.releases import noting as noting_module
from sqlanon.releases.names import have_common
from tests.conftest import clinic_policy, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.3)
OTHER = clinic_policy(sa.KAnonymity(3), suppression_limit=0.3)
NODE = {"age": 1, "sex": 1, "zip": 1}
HOSTILE = 'a"b; DROP TABLE visits --'
COUNT = "SELECT count(*) FROM anon.releases"


def make_warehouse(path: Path) -> sa.Session:
    """The visits of the clinic as a file."""
    with duckdb.connect(str(path)) as connection:
        open_clinic(connection)
    return sa.connect(path)


def entries(session: sa.Session, dataset: Any = None, **options: bool) -> tuple[ListedRelease, ...]:
    return session.releases.list(dataset, **options).releases


def targets(session: sa.Session, dataset: Any = None) -> list[str]:
    return [each.target for each in entries(session, dataset)]


def states(session: sa.Session) -> dict[str, list[str]]:
    """The states of the releases of each target, in order."""
    found: dict[str, list[str]] = {}
    for each in entries(session, forgotten=True):
        found.setdefault(each.target, []).append(each.state)
    return found


class TestWhatIsListed:
    def test_a_table_with_all_that_is_known_of_it(self, session: sa.Session) -> None:
        release = session.anonymize("visits", POLICY, "visits_k2")
        (listed,) = entries(session)
        verified = session.verify("visits_k2", POLICY)
        assert listed == ListedRelease(
            target="visits_k2",
            datasets=("visits",),
            method="full-domain",
            policy_sha256=POLICY.sha256(),
            node=NODE,
            row_count=release.report.rows.released if release.report.rows else None,
            min_class_size=verified.measurement.k,
            record_sha256=verified.record_sha256,
            made_at=listed.made_at,
            state="there",
        )
        assert release.node == NODE

    def test_it_has_no_cell_value_and_no_text_of_a_query(self, session: sa.Session, tmp_path: Path) -> None:
        lake, policy = tmp_path / "lake", clinic_policy(sa.KAnonymity(2), suppression_limit=0.5, insensitive=["ward"])
        session.connection.execute("CREATE TABLE stays AS SELECT *, 'canary ' || (id % 2) AS ward FROM visits")
        session.connection.execute(f"COPY stays TO '{lake}' (FORMAT parquet, PARTITION_BY (ward))")
        one_ward = next(lake.glob("ward=*"))
        for number, source in enumerate(
            (
                "FROM stays WHERE ward <> 'canary 7'",
                f"FROM read_parquet(['{lake}/*/*.parquet'])",
                f"FROM '{next(one_ward.iterdir())}'",
                f"{one_ward}/",
                f"{one_ward}/*.parquet",
                f"{lake}/",
            )
        ):
            session.anonymize(source, policy, f"{tmp_path}/out{number}/", partition_by="ward")
        assert {each.datasets for each in entries(session)} == {("stays",), (str(lake),)}
        written = session.connection.execute(
            "SELECT CAST(releases AS VARCHAR) FROM anon.releases AS releases"
        ).fetchall()
        assert len(written) == 6
        assert "canary" not in f"{written}{session.releases.list()}"

    def test_a_query_and_a_view_are_of_the_tables_that_they_read(self, session: sa.Session) -> None:
        session.connection.execute("CREATE SCHEMA ward; CREATE TABLE ward.rooms AS SELECT DISTINCT id FROM visits")
        session.connection.execute("CREATE VIEW joined AS SELECT visits.* FROM visits JOIN ward.rooms USING (id)")
        for number, source in enumerate(("FROM visits", "joined", "MAIN.Visits")):
            session.anonymize(source, POLICY, f"r{number}")
        assert [each.datasets for each in entries(session)] == [("visits",), ("visits", "ward.rooms"), ("visits",)]
        assert targets(session, "visits") == targets(session, "FROM visits") == ["r0", "r1", "r2"]
        assert targets(session, "ward.rooms") == targets(session, "SELECT id FROM ward.rooms") == ["r1"]
        assert targets(session, "nothing") == []

    def test_files_are_known_by_path_link_and_folder(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("lake").mkdir()
        session.connection.execute(f"COPY visits TO '{tmp_path}/lake/a.parquet'")
        session.connection.execute(f"COPY visits TO '{tmp_path}/lake/b.parquet'")
        Path("link.parquet").symlink_to("lake/a.parquet")
        session.anonymize("link.parquet", POLICY, "one")
        session.anonymize("FROM read_parquet('lake/*.parquet')", POLICY, "two")
        assert [each.datasets for each in entries(session)] == [(f"{tmp_path}/lake/a.parquet",), (f"{tmp_path}/lake",)]
        assert targets(session, "lake/a.parquet") == ["one", "two"]
        assert targets(session, "lake/b.parquet") == ["two"]
        assert targets(session, "lake/") == ["one", "two"]
        Path("lake/b.parquet").unlink()
        assert targets(session, "lake/b.parquet") == ["two"], "it need not be there any more"

    def test_a_frame_is_of_no_data_set(self, session: sa.Session) -> None:
        session.anonymize(session.connection.sql("FROM visits").to_arrow_table(), POLICY, "of_a_frame")
        session.anonymize(session.connection.sql("FROM visits"), POLICY, "of_a_relation")
        assert [each.datasets for each in entries(session)] == [(), ("visits",)]

    @pytest.mark.parametrize("into", ["out.parquet", "out.csv", "out/"])
    def test_files_and_folders(self, session: sa.Session, tmp_path: Path, into: str) -> None:
        session.anonymize("visits", POLICY, f"{tmp_path}/{into}")
        (listed,) = entries(session)
        assert (listed.target, listed.state) == (f"{tmp_path}/{into}", "there")
        assert listed.record_sha256 == session.verify(f"{tmp_path}/{into}", POLICY).record_sha256

    def test_a_table_of_a_lake(self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("deltalake")
        monkeypatch.chdir(tmp_path)
        for policy in (POLICY, OTHER):
            session.anonymize("visits", policy, "delta:visits_lake", replace=True)
        assert states(session) == {f"delta:{tmp_path}/visits_lake": ["replaced", "there"]}
        assert entries(session)[1].record_sha256 == session.verify("delta:visits_lake", OTHER).record_sha256
        assert len(session.releases.forget("delta:visits_lake", reason="a test").releases) == 2

    def test_a_link_is_replaced_and_not_what_it_leads_to(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "linked").symlink_to("real")
        session.anonymize("visits", POLICY, tmp_path / "linked" / "first.parquet")
        (tmp_path / "real" / "latest.parquet").symlink_to("first.parquet")
        session.anonymize("visits", OTHER, tmp_path / "linked" / "latest.parquet", replace=True)
        assert states(session) == {f"{tmp_path}/real/{name}.parquet": ["there"] for name in ("first", "latest")}
        session.releases.forget(f"{tmp_path}/linked/latest.parquet", reason="a test")
        assert targets(session) == [f"{tmp_path}/real/first.parquet"]

    def test_a_hostile_name(self, session: sa.Session) -> None:
        session.connection.execute('CREATE SCHEMA "s t"')
        for name in (HOSTILE, "s t.Größe; --", "with space", "select"):
            session.anonymize("visits", POLICY, name)
        listed = entries(session)
        assert [each.target for each in listed] == [
            '"a""b; DROP TABLE visits --"',
            '"s t"."Größe; --"',
            '"with space"',
            "select",
        ]
        assert {each.state for each in listed} == {"there"}
        assert session.connection.execute("SELECT count(*) FROM visits").fetchall() == [(12,)]
        for each in listed:
            session.releases.forget(each.target, reason='it\'s "over"; DROP TABLE visits --')
        assert entries(session) == ()
        assert session.connection.execute("SELECT count(*) FROM visits").fetchall() == [(12,)]

    def test_private_methods_have_no_class(self, session: sa.Session) -> None:
        method = sa.Histogram(budget=sa.Budget(9, "0.1"), node=NODE, accept_observed_domain=True)
        policy = clinic_policy(method=method)
        release = session.anonymize("visits", policy, "noisy")
        (listed,) = entries(session)
        assert (listed.method, listed.node, listed.min_class_size) == ("histogram", NODE, None)
        assert listed.row_count == getattr(release.report, "released_rows", None)

    def test_local_recoding_has_no_node(self, session: sa.Session) -> None:
        session.anonymize("visits", clinic_policy(sa.KAnonymity(2), method=sa.LocalRecoding()), "local")
        (listed,) = entries(session)
        assert (listed.method, listed.node) == ("local-recoding", None)
        assert (listed.min_class_size or 0) >= 2

    def test_a_table_of_another_database_and_a_temporary_one(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
        session.anonymize("visits", POLICY, "other.released")
        session.anonymize("visits", POLICY, "temp.shown")
        assert states(session) == {"other.main.released": ["there"], "temp.main.shown": ["there"]}
        session.connection.execute("DETACH other; DROP TABLE temp.shown")
        assert states(session) == {"other.main.released": ["unseen"], "temp.main.shown": ["gone"]}

    def test_a_session_in_memory_has_a_list_of_its_own(self, clinic: sa.Session, tmp_path: Path) -> None:
        assert entries(clinic) == ()
        clinic.anonymize("visits", POLICY, f"{tmp_path}/out.parquet")
        assert targets(clinic) == [f"{tmp_path}/out.parquet"]

    def test_the_schema_that_is_current_makes_no_difference(self, session: sa.Session) -> None:
        session.anonymize("visits", POLICY, "main.released")
        session.connection.execute("CREATE SCHEMA ward; USE ward; CREATE TABLE released (a INTEGER)")
        assert states(session) == {"released": ["there"]}


class TestWhatIsNotListed:
    def test_what_publishes_nothing(self, session: sa.Session, tmp_path: Path) -> None:
        session.explain("visits", POLICY)
        session.measure("visits", POLICY)
        session.lattice("visits", POLICY, into="nodes")
        session.flatten("visits", "flat", individual="id", event="diagnosis", order="age", first=1)
        session.partitions.fit("visits", POLICY, tmp_path / "clinic.fit", accept_observed_domain=True)
        assert entries(session) == ()

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

    @pytest.mark.parametrize(
        "other", ["CREATE TABLE anon.releases (target VARCHAR)", "CREATE VIEW anon.releases AS SELECT 1 AS target"]
    )
    def test_another_table_of_that_name_is_refused(self, session: sa.Session, other: str) -> None:
        session.connection.execute(f"CREATE SCHEMA IF NOT EXISTS anon; {other}")
        for call in (lambda: session.anonymize("visits", POLICY, "released"), session.releases.list):
            with pytest.raises(sa.EngineError, match="rename it"):
                call()
        assert session.connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'released'"
        ).fetchall() == [(0,)]


class TestLater:
    def test_a_target_that_is_replaced_keeps_its_history(self, session: sa.Session) -> None:
        session.anonymize("visits", POLICY, "released")
        session.anonymize("visits", OTHER, "RELEASED", replace=True)
        first, second = entries(session)
        assert (first.state, first.policy_sha256) == ("replaced", POLICY.sha256())
        assert (second.state, second.policy_sha256) == ("there", OTHER.sha256())

    def test_a_release_that_was_brought_back_is_there_again(self, session: sa.Session, tmp_path: Path) -> None:
        into = tmp_path / "out.parquet"
        session.anonymize("visits", POLICY, into)
        first = into.read_bytes()
        for policy in (OTHER, POLICY):
            session.anonymize("visits", policy, into, replace=True)
        assert states(session) == {str(into): ["replaced", "replaced", "there"]}
        into.write_bytes(first)
        os.utime(into, (1, 1))  # DuckDB keeps what it has read of a file of the same name, size and second
        assert states(session) == {str(into): ["there", "gone", "gone"]}

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
        for replace in (False, True):
            session.anonymize("visits", POLICY, "released", replace=replace)
        forgotten = session.releases.forget("Main.Released", reason=" nobody was given it ")
        assert len(forgotten.releases) == 2
        assert {each.forgotten_reason for each in forgotten.releases} == {"nobody was given it"}
        assert all(each.forgotten_at and each.forgotten_at >= each.made_at for each in forgotten.releases)
        assert entries(session) == ()
        assert entries(session, forgotten=True) == forgotten.releases
        with pytest.raises(sa.PolicyError, match='"released" was forgotten before'):
            session.releases.forget("released", reason="once more")
        session.anonymize("visits", POLICY, "released", replace=True)
        assert states(session) == {"released": ["replaced", "replaced", "there"]}
        assert len(entries(session)) == 1, "the new one is not forgotten"

    def test_no_reason_and_no_such_release(self, session: sa.Session) -> None:
        session.anonymize("visits", POLICY, "visits_k2")
        with pytest.raises(sa.PolicyError, match="reason"):
            session.releases.forget("visits_k2", reason=" ")
        with pytest.raises(sa.PolicyError, match='no release "visits_k3" is on the list; did you mean "visits_k2"'):
            session.releases.forget("visits_k3", reason="a test")
        assert targets(session) == ["visits_k2"]

    def test_it_prints_and_shows(self, session: sa.Session) -> None:
        assert "no release is on the list" in session.releases.list().to_html()
        session.anonymize("visits", POLICY, "visits_k2")
        session.releases.forget("visits_k2", reason="it was a rehearsal")
        session.anonymize("visits", POLICY, "visits_again")
        shown = session.releases.list(forgotten=True)
        for text in (shown.to_html(), shown._repr_html_()):
            assert all(word in text for word in ("visits_k2", "it was a rehearsal", "visits_again", "age 1"))
        assert type(shown).model_validate_json(shown.model_dump_json()) == shown
        with pytest.raises(Exception, match="frozen"):
            shown.releases = ()  # type: ignore[misc]


PUBLISH = {".parquet": (files, "publish"), ".csv": (to_file, "publish"), "": (folders, "_publish")}
"""What gives a file or a folder its name."""


class StopError(RuntimeError):
    """What ends a run in a test."""


class TestCutShort:
    """A run that ends between what it writes to the warehouse and what it publishes."""

    @pytest.fixture(params=["out.parquet", "out.csv", "out/"])
    def into(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return f"{tmp_path}/{request.param}"

    def test_a_run_that_is_killed_before_it_publishes_leaves_a_row(
        self, session: sa.Session, into: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As nothing runs any more after a kill, what would take the row back does not either."""
        monkeypatch.setattr(noting_module.Noting, "take_back", lambda _: None)
        self._fail_at_publication(session, into, monkeypatch)
        assert states(session) == {into: ["gone"]}
        session.anonymize("visits", POLICY, into)
        assert states(session) == {into: ["replaced", "there"]}
        self._fail_at_publication(session, into, monkeypatch, OTHER)
        assert states(session) == {into: ["replaced", "there", "gone"]}, "the one before is still there"

    def test_a_run_that_fails_there_takes_it_back(
        self, session: sa.Session, into: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._fail_at_publication(session, into, monkeypatch)
        assert session.connection.execute(COUNT).fetchall() == [(0,)]

    def test_a_run_that_fails_after_it_has_published_is_listed(
        self, session: sa.Session, into: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            module, name = PUBLISH[Path(into).suffix]
            patched.setattr(module, name, _stopping_after(getattr(module, name)))
            with pytest.raises(StopError):
                session.anonymize("visits", POLICY, into)
        assert states(session) == {into: ["there"]}

    def test_a_folder_whose_record_was_not_noted_is_there(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(noting_module.Noting, "finish", lambda _: None)
        session.anonymize("visits", POLICY, f"{tmp_path}/out/")
        (listed,) = entries(session)
        assert (listed.state, listed.record_sha256) == ("there", None)

    def test_a_table_is_there_with_its_row_or_not_at_all(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.run.pipeline.Release", _stop)
        with pytest.raises(StopError):
            session.anonymize("visits", POLICY, "released")
        assert states(session) == {"released": ["there"]}, "the transaction was over"
        monkeypatch.setattr(Stages, "begin", _stopping_at("publish", Stages.begin))
        monkeypatch.setattr(noting_module.Noting, "take_back", lambda _: None)
        with pytest.raises(StopError):
            session.anonymize("visits", OTHER, "released", replace=True)
        assert [(each.state, each.policy_sha256) for each in entries(session)] == [("there", POLICY.sha256())]

    def test_a_row_that_cannot_be_written_ends_the_run(
        self, session: sa.Session, into: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.releases.table.add", _stop)
        for target in (into, "released"):
            with pytest.raises(StopError):
                session.anonymize("visits", POLICY, target)
        assert entries(session) == ()
        assert not Path(into).exists()

    @staticmethod
    def _fail_at_publication(
        session: sa.Session, into: str, monkeypatch: pytest.MonkeyPatch, policy: sa.Policy = POLICY
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(*PUBLISH[Path(into).suffix], _stop)
            with pytest.raises(StopError):
                session.anonymize("visits", policy, into, replace=True)


def _stop(*_: object, **__: object) -> None:
    raise StopError


def _stopping_at(stage: str, begin: Callable[[Stages, str], None]) -> Callable[[Stages, str], None]:
    def begun(stages: Stages, name: str) -> None:
        if name == stage:
            raise StopError
        begin(stages, name)

    return begun


def _stopping_after(publish: Callable[..., None]) -> Callable[..., None]:
    def published(*arguments: object, **options: object) -> None:
        publish(*arguments, **options)
        raise StopError

    return published


class TestSeveralSessions:
    def test_two_sessions_list_what_they_publish_at_the_same_time(self, warehouse: Path, tmp_path: Path) -> None:
        both = threading.Barrier(2)
        problems: list[BaseException] = []

        def run(number: int) -> None:
            try:
                with sa.connect(warehouse) as session:
                    both.wait(timeout=60)
                    for turn in range(3):
                        session.anonymize("visits", POLICY, f"released_{number}_{turn}")
                        session.anonymize("visits", POLICY, f"{tmp_path}/{number}_{turn}.parquet")
            except BaseException as error:
                problems.append(error)

        with sa.connect(warehouse) as held:
            threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert problems == []
            assert len(states(held)) == 12
            assert {state for found in states(held).values() for state in found} == {"there"}

    def test_a_session_that_began_before_the_table_was_there(self, warehouse: Path) -> None:
        with sa.connect(warehouse) as first, sa.connect(warehouse) as second:
            first.measure("visits", POLICY)
            second.anonymize("visits", POLICY, "of_second")
            first.anonymize("visits", POLICY, "of_first")
            assert targets(first) == targets(second) == ["of_second", "of_first"]


@pytest.fixture
def halves(session: sa.Session) -> Iterator[tuple[str, str]]:
    """The visits twice, as two partitions, each with the classes of all of them."""
    session.connection.execute(
        "CREATE TABLE first AS FROM visits; CREATE TABLE second AS SELECT * REPLACE (id + 100 AS id) FROM visits"
    )
    yield "first", "second"


class TestFits:
    def test_the_partitions_of_a_fit_are_one_release(
        self, session: sa.Session, halves: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sidecar = tmp_path / "clinic.fit"
        session.partitions.fit("visits", POLICY, sidecar, accept_observed_domain=True)
        for number, source in enumerate(halves):
            release = session.partitions.apply(source, sidecar, f"part_{number}")
        (listed,) = entries(session)
        assert (listed.target, listed.datasets, listed.state) == (str(sidecar), halves, "there")
        assert listed.row_count == release.report.union.released
        assert listed.min_class_size == release.report.min_class_size
        assert (listed.method, listed.node) == ("full-domain", release.node)
        assert targets(session, "first") == targets(session, "second") == [str(sidecar)]
        monkeypatch.chdir(tmp_path)
        assert len(session.releases.forget("clinic.fit", reason="a test").releases) == 1
        assert entries(session) == ()

    def test_the_same_rows_again_add_nothing_and_another_fit_is_another_release(
        self, session: sa.Session, halves: tuple[str, str], tmp_path: Path
    ) -> None:
        sidecar = tmp_path / "clinic.fit"
        session.partitions.fit("visits", POLICY, sidecar, accept_observed_domain=True)
        for _ in range(2):
            session.partitions.apply("first", sidecar, f"{tmp_path}/first.parquet")
        assert session.connection.execute(COUNT).fetchall() == [(1,)]
        sidecar.unlink()
        session.partitions.fit("visits", OTHER, sidecar, accept_observed_domain=True)
        session.partitions.apply("second", sidecar, f"{tmp_path}/second.parquet")
        assert states(session) == {str(sidecar): ["replaced", "there"]}

    def test_a_session_that_is_read_only_says_so(self, warehouse: Path, tmp_path: Path) -> None:
        with sa.connect(warehouse, read_only=True) as session:
            session.partitions.fit("visits", POLICY, tmp_path / "clinic.fit", accept_observed_domain=True)
            release = session.partitions.apply("visits", tmp_path / "clinic.fit", f"{tmp_path}/all.parquet")
            assert [note for note in release.report.notes if "not on the list" in note]
            assert entries(session) == ()

    def test_a_partition_that_is_not_published_is_taken_back(
        self, session: sa.Session, halves: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sidecar = tmp_path / "clinic.fit"
        session.partitions.fit("visits", POLICY, sidecar, accept_observed_domain=True)
        session.partitions.apply("first", sidecar, f"{tmp_path}/first.parquet")
        (before,) = entries(session)
        with monkeypatch.context() as patched:
            patched.setattr("sqlanon.publish.files.publish", _stop)
            with pytest.raises(StopError):
                session.partitions.apply("second", sidecar, f"{tmp_path}/second.parquet")
        assert entries(session) == (before,)


def test_data_sets_have_something_in_common_by_name_folder_and_glob() -> None:
    assert have_common(["visits"], ["visits", "rooms"])
    assert not have_common(["visits"], ["rooms"])
    assert have_common(["/lake/a.parquet"], ["/lake"])
    assert have_common(["/lake"], ["/lake/2025/a.parquet"])
    assert have_common(["/lake/*.parquet"], ["/lake/a.parquet"])
    assert not have_common(["/lake/*.csv"], ["/lake/a.parquet"])
    assert not have_common([], ["visits"])
