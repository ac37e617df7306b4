"""Sessions in several threads: their calls come one after the other, and callbacks make none."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.5, earlier="none")
VERBS: dict[str, Callable[[sa.Session], object]] = {
    "taxonomies.list": lambda session: session.taxonomies.list(),
    "taxonomies.check": lambda session: session.taxonomies.check(),
    "install": lambda session: session.install(),
    "ledger.entries": lambda session: session.ledger.entries(),
    "ledger.spent": lambda session: session.ledger.spent("visits"),
    "measure": lambda session: session.measure("visits", POLICY),
    "close": sa.Session.close,
}
"""Verbs of each part of a session; all go through one lock."""


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        yield open_clinic(connection)


def at_once(calls: list[Callable[[], object]]) -> list[object]:
    """What calls return that threads begin at the same time."""
    start = threading.Barrier(len(calls))

    def begin(call: Callable[[], object]) -> object:
        start.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(begin, calls))


class TestThreads:
    def test_each_publishes_and_verifies(self, clinic: sa.Session) -> None:
        def publish(target: str) -> object:
            release = clinic.anonymize("visits", POLICY, target)
            assert clinic.verify(target, POLICY).met
            assert len(release.to_arrow()) == release.report.rows.released
            assert clinic.provenance(target)
            return release.node

        nodes = at_once([lambda target=f"t{place}": publish(target) for place in range(3)])  # type: ignore[misc]
        assert nodes == [{"age": 2, "sex": 0, "zip": 1}] * 3

    def test_all_that_reads_a_warehouse(self, clinic: sa.Session) -> None:
        clinic = sa.connect(clinic.connection, ledger="ledger.duckdb")
        clinic.ledger.cap("visits", sa.Budget(1))

        def repeat(name: str) -> None:
            for _ in range(2):
                VERBS[name](clinic)

        at_once([lambda name=name: repeat(name) for name in VERBS if name not in ("install", "close")])  # type: ignore[misc]

    def test_closing_waits_for_a_run(self, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            open_clinic(connection)
        session = sa.connect(tmp_path / "clinic.duckdb")
        has_begun = threading.Event()

        def publish() -> str:
            return session.anonymize("visits", POLICY, "released", progress=lambda _: has_begun.set()).into

        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(publish)
            has_begun.wait()
            session.close()
            assert run.result() == "released"


class TestCallbacks:
    def test_progress_calls_no_verb(self, clinic: sa.Session) -> None:
        clinic.connection.execute("CREATE TABLE released AS SELECT 'old' AS state")
        for verb in VERBS.values():

            def call(_event: sa.Event, verb: Callable[[sa.Session], object] = verb) -> None:
                verb(clinic)

            with pytest.raises(sa.EngineError, match=r"callback cannot use.*connection\.cursor\(\)"):
                clinic.anonymize("visits", POLICY, "released", replace="anything", progress=call)
        assert clinic.connection.execute("FROM released").fetchall() == [("old",)]
        assert clinic.measure("visits", POLICY).row_count == 12

    def test_stop_calls_no_verb(self, clinic: sa.Session) -> None:
        def stop() -> bool:
            return clinic.measure("visits", POLICY).k > 1

        with pytest.raises(sa.EngineError, match="callback cannot use"):
            clinic.anonymize("visits", POLICY, "released", stop=stop)

    def test_another_session_can_be_called(self, clinic: sa.Session) -> None:
        found = []

        def measure(event: sa.Event) -> None:
            if (event.stage, event.state) == ("search", "started"):
                with sa.connect(clinic.connection.cursor()) as other:
                    found.append(other.measure("visits", POLICY).row_count)

        clinic.anonymize("visits", POLICY, "released", progress=measure)
        assert found == [12]


class TestOpenResults:
    """DuckDB 2.0 refuses a statement while a result is open, where 1.5 ends the result."""

    def test_a_reader_of_a_lent_connection(self, clinic: sa.Session) -> None:
        release = clinic.anonymize("visits", POLICY, "released")
        reader = clinic.connection.sql("FROM range(100000)").to_arrow_reader(1000)
        reader.read_next_batch()
        calls: list[Callable[[], object]] = [
            lambda: clinic.measure("visits", POLICY),
            lambda: clinic.measure(pa.table({"age": [1, 1]}), POLICY),
            lambda: sa.connect(clinic.connection),
            release.to_arrow,
        ]
        for call in calls:
            with suppress(sa.PolicyError):
                try:
                    call()
                except sa.EngineError as error:
                    assert "result that is not read to its end" in str(error)
                    assert "connection.cursor()" in str(error)
        del reader
        assert clinic.measure("visits", POLICY).row_count == 12

    def test_a_statement_of_another_thread(self, clinic: sa.Session) -> None:
        """Which knows no session, so that nothing can make it wait."""
        connection = clinic.connection

        def execute() -> None:
            with pytest.raises((duckdb.Error, RuntimeError), match=r"(?i)interrupt"):
                connection.execute("SELECT sum(a.range % 7) FROM range(9999999) a, range(9999999)").fetchall()

        endless = threading.Thread(target=execute)
        endless.start()
        end = threading.Timer(0.5, connection.interrupt)
        end.start()
        try:
            assert clinic.measure("visits", POLICY).row_count == 12
        except sa.EngineError as error:
            assert "another thread" in str(error)
            assert "connection.cursor()" in str(error)
        endless.join()
