"""The list of releases where runs are cut short, and of links, lakes, several sessions and partitions."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.methods.stages import Stages
from sqlanon.publish import csv, files, folders
from sqlanon.releases import noting as noting_module
from tests.conftest import clinic_policy
from tests.full.test_register_later import OTHER
from tests.stories.test_release_register import NODE, POLICY, entries, states, targets
from tests.stories.test_release_register import make_warehouse as make_warehouse

ALONE = POLICY.changed({"earlier": "none"})
COUNT = "SELECT count(*) FROM anon.releases"

PUBLISH = {".parquet": (files, "publish"), ".csv": (csv, "publish"), "": (folders, "publish")}


class StopError(RuntimeError):
    """What ends a run in a test."""


class TestCutShort:
    """A run that ends between what it writes to the warehouse and what it publishes."""

    @pytest.fixture(
        params=["out/", *(pytest.param(file, marks=pytest.mark.deep) for file in ("out.parquet", "out.csv"))]
    )
    def into(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        return f"{tmp_path}/{request.param}"

    def test_a_run_takes_its_row_back_and_one_that_is_killed_leaves_it(
        self, session: sa.Session, into: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As nothing runs any more after a kill, what would take the row back does not either."""
        if into.endswith(".csv"):  # what takes it back is the same for all
            self._fail_at_publication(session, into, monkeypatch)
            assert session.connection.execute(COUNT).fetchall() == [(0,)]
        monkeypatch.setattr(noting_module.Noting, "take_back", lambda _: None)
        self._fail_at_publication(session, into, monkeypatch)
        assert states(session) == {into: ["unconfirmed"]}
        with monkeypatch.context() as patched:
            module, name = PUBLISH[Path(into).suffix]
            patched.setattr(module, name, _stopping_after(getattr(module, name)))
            with pytest.raises(StopError):
                session.anonymize("visits", POLICY, into)
        assert states(session) == {into: ["unconfirmed", "there"]}, "it had published"
        self._fail_at_publication(session, into, monkeypatch, OTHER)
        assert states(session) == {into: ["unconfirmed", "there", "unconfirmed"]}, "the one before is still there"

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
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.releases.release_table.add", _stop)
        for target in (f"{tmp_path}/out.parquet", "released"):
            with pytest.raises(StopError):
                session.anonymize("visits", POLICY, target)
        assert entries(session) == ()
        assert not (tmp_path / "out.parquet").exists()

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


def test_a_run_that_is_killed_while_the_warehouse_is_read_only_leaves_a_row(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into = f"{tmp_path}/out.parquet"
    with sa.connect(warehouse, read_only=True) as session:
        with monkeypatch.context() as patched:
            patched.setattr(files, "publish", _stop)
            with pytest.raises(StopError):
                session.anonymize("visits", POLICY, into)
            assert entries(session) == (), "it was taken back"
            patched.setattr(noting_module.Noting, "take_back", lambda _: None)
            with pytest.raises(StopError):
                session.anonymize("visits", POLICY, into)
        assert states(session) == {into: ["unconfirmed"]}
        with monkeypatch.context() as patched:
            patched.setattr(noting_module.Noting, "finish", _stop)
            with pytest.raises(StopError):
                session.anonymize("visits", OTHER, into)
        assert states(session) == {into: ["unconfirmed", "there"]}
        assert "unconfirmed" in session.releases.list().to_html()


def test_a_private_run_that_is_killed_after_its_charge_leaves_a_row(
    session: sa.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = sa.Histogram(budget=sa.Budget(9, "0.1"), node=NODE, accept_observed_domain=True)
    policy = clinic_policy(method=private)
    session.ledger.cap("visits", sa.Budget(9, "0.1"))
    with monkeypatch.context() as patched:
        patched.setattr(noting_module.Noting, "take_back", lambda _: None)
        patched.setattr(Stages, "begin", _stopping_at("publish", Stages.begin))
        with pytest.raises(StopError):
            session.anonymize("visits", policy, "noisy")
    with pytest.raises(sa.BudgetError):
        session.anonymize("visits", policy, "noisy")
    (listed,) = entries(session)
    assert (listed.target, listed.state, listed.datasets) == ("noisy", "unconfirmed", ("visits",))
    assert (listed.method, listed.policy_sha256) == ("histogram", policy.sha256())


class TestSeveralSessions:
    def test_two_sessions_list_what_they_publish_at_the_same_time(self, warehouse: Path, tmp_path: Path) -> None:
        both = threading.Barrier(2)
        problems: list[BaseException] = []

        def run(number: int) -> None:
            try:
                with sa.connect(warehouse) as session:
                    both.wait(timeout=60)
                    session.anonymize("visits", ALONE, f"released_{number}")
                    session.anonymize("visits", ALONE, f"{tmp_path}/{number}.parquet")
            except BaseException as error:
                problems.append(error)

        with sa.connect(warehouse) as held:
            threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert problems == []
            assert len(states(held)) == 4
            assert {state for found in states(held).values() for state in found} == {"there"}

    def test_a_session_that_began_before_the_table_was_there(self, warehouse: Path) -> None:
        with sa.connect(warehouse) as first, sa.connect(warehouse) as second:
            first.measure("visits", POLICY)
            second.anonymize("visits", ALONE, "of_second")
            first.anonymize("visits", ALONE, "of_first")
            assert targets(first) == targets(second) == ["of_second", "of_first"]


class TestTargets:
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


class TestFits:
    """The visits twice, as two partitions, each with the classes of all of them."""

    @pytest.fixture
    def sidecar(self, session: sa.Session, tmp_path: Path) -> Path:
        second = "SELECT * REPLACE (id + 100 AS id) FROM visits"
        session.connection.execute(f"CREATE TABLE first AS FROM visits; CREATE TABLE second AS {second}")
        session.partitions.fit("visits", POLICY, tmp_path / "clinic.fit", accept_observed_domain=True)
        return tmp_path / "clinic.fit"

    def test_the_partitions_of_a_fit_are_one_release(
        self, session: sa.Session, sidecar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session.partitions.apply("first", sidecar, "part_0")
        before = entries(session)
        with monkeypatch.context() as patched:
            patched.setattr("sqlanon.publish.files.publish", _stop)
            with pytest.raises(StopError):
                session.partitions.apply("second", sidecar, f"{tmp_path}/second.parquet")
        assert entries(session) == before, "it was taken back"
        release = session.partitions.apply("second", sidecar, "part_1")
        (listed,) = entries(session)
        assert (listed.target, listed.datasets, listed.state) == (str(sidecar), ("first", "second"), "there")
        assert listed.row_count == release.report.union.released
        assert listed.min_class_size == release.report.min_class_size
        assert (listed.method, listed.node) == ("full-domain", release.node)
        assert targets(session, "first") == targets(session, "second") == [str(sidecar)]
        monkeypatch.chdir(tmp_path)
        assert len(session.releases.forget("clinic.fit", reason="a test").releases) == 1
        assert entries(session) == ()

    @pytest.mark.deep
    def test_the_same_rows_again_add_nothing_and_another_fit_is_another_release(
        self, session: sa.Session, sidecar: Path, tmp_path: Path
    ) -> None:
        for _ in range(2):
            session.partitions.apply("first", sidecar, f"{tmp_path}/first.parquet")
        assert session.connection.execute(COUNT).fetchall() == [(1,)]
        sidecar.unlink()
        session.partitions.fit("visits", OTHER, sidecar, accept_observed_domain=True)
        session.partitions.apply("second", sidecar, f"{tmp_path}/second.parquet")
        assert states(session) == {str(sidecar): ["replaced", "there"]}

    @pytest.mark.deep
    def test_a_session_that_is_read_only_has_them_wait(self, warehouse: Path, tmp_path: Path) -> None:
        with sa.connect(warehouse, read_only=True) as session:
            session.partitions.fit("visits", POLICY, tmp_path / "clinic.fit", accept_observed_domain=True)
            for _ in range(2):
                session.partitions.apply("visits", tmp_path / "clinic.fit", f"{tmp_path}/all.parquet")
            (listed,) = entries(session)
            assert (listed.target, listed.state) == (f"{tmp_path}/clinic.fit", "there")
            (row,) = tmp_path.glob(".w.duckdb.releases/*")
            row.unlink()
            session.partitions.apply("visits", tmp_path / "clinic.fit", f"{tmp_path}/all.parquet")
            assert entries(session) == (listed.model_copy(update={"made_at": entries(session)[0].made_at}),)
