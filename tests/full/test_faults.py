"""Runs that are cut short: interrupted, or out of disk. The old state stays, or the new one is complete."""

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.nodes.roll_up import RollUps
from tests.commands import ended

SOURCE = "SELECT i % 10 AS i FROM range(100) AS r (i)"
POLICY = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)], taxonomies={"i": "flat"})
COARSE = POLICY.model_copy(update={"privacy": (sa.KAnonymity(50),)})
PROGRAM = """
import os, sys
import sqlanon as sa

source, into, policy, moment, signal = sys.argv[1:]

def stop(event):
    if (event.stage, event.state) == (moment, "started"):
        os.kill(os.getpid(), int(signal))

with sa.connect("w.duckdb") as session:
    session.anonymize(source, sa.Policy.model_validate_json(policy), into, replace=True, progress=stop)
"""


def cut_short(into: str, moment: str, number: signal.Signals) -> None:
    """Send a signal to a run at the beginning of a stage: the old release is there, and the next run replaces it."""
    with sa.connect("w.duckdb") as session:
        session.anonymize(SOURCE, POLICY, into)
    before = {path.name for path in Path().iterdir()} - {"w.duckdb.wal"}
    command = [sys.executable, "-c", PROGRAM, SOURCE, into, COARSE.model_dump_json(), moment, str(int(number))]
    done = ended(command, Path())
    assert done.returncode == -number
    left = {path.name for path in Path().iterdir()} - {"w.duckdb.wal"}
    if number == signal.SIGINT:
        assert done.stderr.strip().endswith("KeyboardInterrupt")
        assert left == before
    assert {name for name in left if not name.startswith(".")} == before
    with sa.connect("w.duckdb") as session:
        tables = session.connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'")
        assert tables.fetchall() == ([] if "." in into else [(into,)])
        found = session.verify(into, POLICY)
        assert found.met
        assert found.record_sha256 in {each.record_sha256 for each in session.releases.list().releases}
        session.anonymize(SOURCE, COARSE, into, replace=True)
        assert session.verify(into, COARSE).met
    assert {path.name for path in Path().iterdir()} == before


class TestInterrupted:
    def test_a_folder_where_nothing_may_be_written(self, tmp_path: Path) -> None:
        with sa.connect() as session:
            session.anonymize(SOURCE, POLICY, into=f"{tmp_path}/release/")
            before = sorted(path.name for path in tmp_path.rglob("*"))
            # A user's rights; the tests may run as root.
            with mock.patch("os.access", return_value=False), pytest.raises(sa.EngineError, match="cannot be written"):
                session.anonymize(SOURCE, COARSE, into=f"{tmp_path}/release/", replace=True)
            assert sorted(path.name for path in tmp_path.rglob("*")) == before
            assert session.verify(f"{tmp_path}/release", POLICY).met

    def test_at_the_beginning_of_a_stage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        cut_short("released.parquet", "publish", signal.SIGINT)

    def test_in_the_middle_of_a_query(self) -> None:
        """An interrupted query raises KeyboardInterrupt, not an error of the database, and the session goes on."""
        with duckdb.connect(config={"threads": 1}) as connection:
            session = sa.connect(connection)
            session.taxonomies.load("i", sa.Taxonomy.flat(range(10)))
            slow = "SELECT (a.i * b.i) % 10 AS i FROM range(200000) AS a (i), range(200000) AS b (i)"
            timer = threading.Timer(0.7, connection.interrupt)
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                session.anonymize(slow, POLICY.model_copy(update={"taxonomies": {}}), into="published")
            timer.join()
            assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
            session.anonymize(SOURCE, POLICY, into="published")


PEOPLE = sa.Policy(quasi_identifiers=["age"], sensitive=["illness"], privacy=[sa.KAnonymity(2)])


class TestFullDisk:
    @pytest.fixture
    def small_disk(self, tmp_path: Path) -> Iterator[Path]:
        """A disk of 3 MiB."""
        folder = tmp_path / "disk"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
        try:
            mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            mounted = False
        if not mounted:
            pytest.skip("no disk can be mounted here")
        yield folder
        subprocess.run(["umount", "-l", str(folder)], check=True)

    @pytest.fixture
    def session(self) -> Iterator[sa.Session]:
        """A session on a source that does not fit on that disk."""
        with sa.connect() as session:
            session.connection.execute(
                "CREATE TABLE people AS SELECT i % 10 AS age, md5(i::VARCHAR) AS illness FROM range(200000) AS r (i)"
            )
            session.taxonomies.load("age", sa.Taxonomy.flat(), source="people")
            yield session

    def test_of_a_file(self, session: sa.Session, small_disk: Path) -> None:
        (small_disk / "published.parquet").write_bytes(b"old")
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("people", PEOPLE, into=small_disk / "published.parquet", replace="anything")
        assert [(path.name, path.read_bytes()) for path in small_disk.iterdir()] == [("published.parquet", b"old")]
        session.anonymize("SELECT * FROM people LIMIT 100", PEOPLE, into=small_disk / "small.parquet")

    @pytest.mark.parametrize(
        "layout", [{"rows_per_file": 25_000}, pytest.param({"partition_by": "age"}, marks=pytest.mark.deep)]
    )
    def test_of_a_folder(self, session: sa.Session, small_disk: Path, layout: dict[str, Any]) -> None:
        into = f"{small_disk}/published/"
        session.anonymize("SELECT * FROM people LIMIT 100", PEOPLE, into=into)
        content = {path: path.read_bytes() for path in small_disk.rglob("*") if path.is_file()}
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("people", PEOPLE, into=into, replace=True, **layout)
        assert {path: path.read_bytes() for path in small_disk.rglob("*") if path.is_file()} == content
        assert [path.name for path in small_disk.iterdir()] == ["published"]
        session.anonymize("SELECT * FROM people LIMIT 200", PEOPLE, into=into, replace=True, **layout)

    def test_of_a_marker(self, session: sa.Session, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The disk is full when all data is written, and what comes last does not fit any more."""

        def fill(_path: Path, _text: str, **_: str) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_text", fill)
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("SELECT * FROM people LIMIT 100", PEOPLE, into=f"{small_disk}/published/")
        assert not list(small_disk.iterdir())

    def test_of_a_warehouse(self, session: sa.Session, small_disk: Path) -> None:
        with duckdb.connect(str(small_disk / "w.duckdb")) as connection:
            warehouse = sa.connect(connection)
            warehouse.taxonomies.load("age", sa.Taxonomy.flat(range(10)))
            connection.execute("CREATE TABLE published AS SELECT 'old' AS state; CHECKPOINT")
            source = "SELECT i % 10 AS age, md5(i::VARCHAR) AS illness FROM range(200000) AS r (i)"
            with pytest.raises(sa.EngineError, match="the disk is full"):
                warehouse.anonymize(source, PEOPLE, into="published", replace="anything")
        with duckdb.connect(str(small_disk / "w.duckdb")) as connection:
            assert connection.execute("FROM published").fetchall() == [("old",)]
            found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
            assert found == [("published",)]


class TestAfterAnError:
    def test_the_connection_is_usable(self) -> None:
        with sa.connect() as session:
            session.connection.execute("CREATE TABLE t AS SELECT 'a' AS q FROM range(4)")
            session.taxonomies.load("q", sa.Taxonomy.flat(["a"]))
            policy = sa.Policy(quasi_identifiers=["q"], privacy=[sa.KAnonymity(2)])
            bad = "SELECT CAST(q AS INTEGER) AS q FROM t"
            no_number = sa.Taxonomy.from_query("SELECT CAST('x' AS INTEGER), '*'")
            for call in (
                lambda: session.anonymize(bad, policy, into="published"),
                lambda: session.lattice(bad, policy),
                lambda: session.measure(bad, policy),
                lambda: session.taxonomies.load("q", no_number),
            ):
                for _ in range(2):
                    with pytest.raises(sa.EngineError):
                        call()
            session.anonymize("t", policy, into="published")
            assert session.connection.execute("SELECT count(*) FROM published").fetchall() == [(4,)]

    def test_nothing_stays_with_the_connection(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Prepared queries are of no transaction."""
        asked, prepared = 0, "SELECT name FROM duckdb_prepared_statements() WHERE name LIKE 'anon%'"
        fails = True

        def learn(*_: object) -> None:
            nonlocal asked
            asked += 1
            if asked == 3:
                assert session.connection.execute(prepared).fetchall()
                if fails:
                    raise RuntimeError("a bug")

        monkeypatch.setattr(RollUps, "learn", learn)
        with sa.connect() as session:
            columns = ", ".join(f"i % {number + 2} AS q{number}" for number in range(6))
            session.connection.execute(f"CREATE TABLE t AS SELECT {columns}, i AS person FROM range(1000) AS r (i)")
            names = [f"q{number}" for number in range(6)]
            session.taxonomies.load_all(dict.fromkeys(names, sa.Taxonomy.flat()), source="t")
            policy = sa.Policy(
                quasi_identifiers=names,
                identifiers=["person"],
                individual="person",  # individuals are counted by SQL
                privacy=[sa.KAnonymity(5)],
                quality=sa.Entropy(),
            )
            with pytest.raises(RuntimeError, match="a bug"):
                session.anonymize("t", policy, into="published")
            assert session.connection.execute(prepared).fetchall() == []
            asked, fails = 0, False
            session.anonymize("t", policy, into="published")
            assert asked >= 3
            assert session.connection.execute(prepared).fetchall() == []
