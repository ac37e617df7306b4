"""Runs that are cut short: killed, interrupted, out of disk. The old state stays, or the new one is complete."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from sqlanon.methods.shared.roll_up import RollUps
from tests.conftest import ROOT

ROW_COUNT = 40_000
OLD = sa.Policy(quasi_identifiers=["age", "zip"], sensitive=["illness"], identifiers=["id"], privacy=[sa.KAnonymity(5)])
NEW = OLD.model_copy(update={"privacy": (sa.KAnonymity(50),)})

PROGRAM = """
import sys
import sqlanon as sa

database, into, moment = sys.argv[1:]
policy = sa.Policy(
    quasi_identifiers=["age", "zip"], sensitive=["illness"], identifiers=["id"], privacy=[sa.KAnonymity(50)]
)

def tell(event):
    if event.state == "started":
        print(event.stage, flush=True)
    if (event.stage, event.state) == (moment, "started"):
        sys.stdin.readline()

with sa.connect(database) as session:
    print("open", flush=True)
    session.anonymize("people", policy, into=into, replace=True, progress=tell)
    print("done", flush=True)
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse that holds a source and an old release, and the old release as a file."""
    folder = tmp_path_factory.mktemp("prepared")
    with sa.connect(folder / "w.duckdb") as session:
        session.connection.execute(
            f"CREATE TABLE people AS SELECT hash(i) % 90 AS age, 10000 + hash(i * 3) % 400 AS zip, "
            f"'illness ' || hash(i * 7) % 20 AS illness, i AS id FROM range({ROW_COUNT}) AS r (i)"
        )
        session.taxonomies.load("age", sa.Taxonomy.intervals([5, 10, 30], minimum=0, maximum=99), source="people")
        session.taxonomies.load("zip", sa.Taxonomy.zip_codes(), source="people")
        session.anonymize("people", OLD, into="published")
        session.anonymize("people", OLD, into=folder / "published.parquet")
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    for path in prepared.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@contextmanager
def running(folder: Path, into: str, moment: str = "never") -> Iterator[subprocess.Popen[str]]:
    """A program that replaces the old release, which waits at a moment."""
    command = [sys.executable, "-c", PROGRAM, str(folder / "w.duckdb"), into, moment]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"the program ended before {word}")


def check_what_is_left(folder: Path) -> None:
    """The old release or the new one, whole, in both places; and nothing else in the warehouse."""
    with sa.connect(folder / "w.duckdb") as session:
        found = session.connection.execute(
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() ORDER BY ALL"
        ).fetchall()
        assert found == [
            ("w", "anon", "releases"),
            ("w", "anon", "taxonomy"),
            ("w", "anon", "taxonomy_domain"),
            ("w", "anon", "taxonomy_origin"),
            ("w", "main", "people"),
            ("w", "main", "published"),
        ]
        listed = {each.record_sha256 for each in session.releases.list().releases}
        for name in ("published", str(folder / "published.parquet")):
            found = session.verify(name, OLD)
            assert found.measurement.row_count == ROW_COUNT
            assert found.record_sha256 in listed
            assert session.provenance(name) is not None
        visible = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        assert [name for name in visible if not name.endswith(".wal")] == ["published.parquet", "w.duckdb"]
        assert session.connection.execute(f"SELECT count(*) FROM '{folder}/*.parquet'").fetchall() == [(ROW_COUNT,)]


def check_that_the_next_run_succeeds(folder: Path) -> None:
    with sa.connect(folder / "w.duckdb") as session:
        for name in ("published", str(folder / "published.parquet")):
            session.anonymize("people", NEW, into=name, replace=True)
            assert session.verify(name, NEW).met
    assert sorted(path.name for path in folder.iterdir()) == ["published.parquet", "w.duckdb"]


@pytest.mark.deep
class TestKilled:
    @pytest.mark.parametrize("into", ["published", "published.parquet"])
    @pytest.mark.parametrize("moment", ["encode", "search", "release", "verify", "publish"])
    def test_at_the_beginning_of_every_stage(self, folder: Path, into: str, moment: str) -> None:
        target = str(folder / into) if into.endswith("parquet") else into
        with running(folder, target, moment) as process:
            wait_for(process, moment)
            process.kill()
            assert process.wait() == -signal.SIGKILL
        check_what_is_left(folder)
        check_that_the_next_run_succeeds(folder)

    @pytest.mark.parametrize("into", ["published", "published.parquet"])
    @pytest.mark.parametrize("delay", [0.005, 0.02, 0.05, 0.1])
    def test_while_it_writes_verifies_and_publishes(self, folder: Path, into: str, delay: float) -> None:
        target = str(folder / into) if into.endswith("parquet") else into
        with running(folder, target, "release") as process:
            wait_for(process, "release")
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            time.sleep(delay)
            process.kill()
            process.wait()
        check_what_is_left(folder)
        check_that_the_next_run_succeeds(folder)

    def test_a_folder_where_nothing_may_be_written(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with sa.connect(folder / "w.duckdb") as session:
            session.anonymize("people", OLD, into=f"{folder}/release/")
            before = sorted(path.name for path in folder.rglob("*"))
            monkeypatch.setattr(os, "access", lambda *_: False)  # a user's rights; the tests may run as root
            with pytest.raises(sa.EngineError, match="cannot be written"):
                session.anonymize("people", NEW, into=f"{folder}/release/", replace=True)
            monkeypatch.undo()
            assert sorted(path.name for path in folder.rglob("*")) == before
            assert session.verify(f"{folder}/release", OLD).met

    def test_the_stage_of_a_running_program_is_left_alone(self, folder: Path) -> None:
        target = folder / "published.parquet"
        with running(folder, str(target), "verify") as process:
            wait_for(process, "verify")
            [stage] = folder.glob(".*.staged")
            with duckdb.connect() as connection:
                session = sa.connect(connection)
                connection.execute("CREATE TABLE t AS SELECT 1 AS q FROM range(2)")
                session.taxonomies.load("q", sa.Taxonomy.flat([1]))
                policy = sa.Policy(quasi_identifiers=["q"], privacy=[sa.KAnonymity(2)])
                session.anonymize("t", policy, into=target, replace=True)
            assert stage.exists()
            assert process.communicate("\n")[0].endswith("done\n")
        assert pq.read_metadata(target).num_rows == ROW_COUNT

    def test_files_that_look_like_stages_are_left_alone(self, folder: Path) -> None:
        names = [
            ".published.parquet.staged",
            ".published.parquet.x.staged",
            ".published.parquet.run.staged",
            ".other.parquet.1.staged",
            "published.1",
        ]
        for name in names:
            (folder / name).write_text("mine")
        with sa.connect(folder / "w.duckdb") as session:
            session.anonymize("people", NEW, into=folder / "published.parquet", replace=True)
        assert all((folder / name).read_text() == "mine" for name in names)


@pytest.mark.deep
class TestInterrupted:
    @pytest.mark.parametrize("into", ["published", "published.parquet"])
    @pytest.mark.parametrize("moment", ["encode", "search", "release", "verify", "publish"])
    def test_by_the_keyboard(self, folder: Path, into: str, moment: str) -> None:
        content = (folder / "published.parquet").read_bytes()
        target = str(folder / into) if into.endswith("parquet") else into
        with running(folder, target, moment) as process:
            wait_for(process, moment)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate()
            assert process.returncode == -signal.SIGINT
        assert error.strip().endswith("KeyboardInterrupt")
        assert (folder / "published.parquet").read_bytes() == content
        assert not list(folder.glob(".*"))
        check_what_is_left(folder)

    def test_in_the_middle_of_a_query(self) -> None:
        """An interrupted query raises KeyboardInterrupt, not an error of the database, and the session goes on."""
        with duckdb.connect(config={"threads": 1}) as connection:
            session = sa.connect(connection)
            session.taxonomies.load("i", sa.Taxonomy.flat(range(10)))
            policy = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)])
            slow = "SELECT (a.i * b.i) % 10 AS i FROM range(200000) AS a (i), range(200000) AS b (i)"
            timer = threading.Timer(0.7, connection.interrupt)
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                session.anonymize(slow, policy, into="published")
            timer.join()
            assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
            session.anonymize("SELECT i % 10 AS i FROM range(100) AS r (i)", policy, into="published")


class TestFullDisk:
    @pytest.fixture
    def small_disk(self, tmp_path: Path) -> Iterator[Path]:
        """A disk of 4 MiB."""
        folder = tmp_path / "disk"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
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
                "CREATE TABLE people AS SELECT i % 10 AS age, md5(i::VARCHAR) AS illness FROM range(400000) AS r (i)"
            )
            session.taxonomies.load("age", sa.Taxonomy.flat(), source="people")
            yield session

    POLICY = sa.Policy(quasi_identifiers=["age"], sensitive=["illness"], privacy=[sa.KAnonymity(2)])

    def test_of_a_file(self, session: sa.Session, small_disk: Path) -> None:
        (small_disk / "published.parquet").write_bytes(b"old")
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("people", self.POLICY, into=small_disk / "published.parquet", replace="anything")
        assert [(path.name, path.read_bytes()) for path in small_disk.iterdir()] == [("published.parquet", b"old")]
        session.anonymize("SELECT * FROM people LIMIT 100", self.POLICY, into=small_disk / "small.parquet")

    @pytest.mark.parametrize("layout", [{}, {"rows_per_file": 50_000}, {"partition_by": "age"}])
    def test_of_a_folder(self, session: sa.Session, small_disk: Path, layout: dict[str, Any]) -> None:
        into = f"{small_disk}/published/"
        session.anonymize("SELECT * FROM people LIMIT 100", self.POLICY, into=into)
        content = {path: path.read_bytes() for path in small_disk.rglob("*") if path.is_file()}
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("people", self.POLICY, into=into, replace=True, **layout)
        assert {path: path.read_bytes() for path in small_disk.rglob("*") if path.is_file()} == content
        assert [path.name for path in small_disk.iterdir()] == ["published"]
        session.anonymize("SELECT * FROM people LIMIT 200", self.POLICY, into=into, replace=True, **layout)

    def test_of_a_marker(self, session: sa.Session, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The disk is full when all data is written, and what comes last does not fit any more."""

        def fill(_path: Path, _text: str, **_: str) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_text", fill)
        with pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("SELECT * FROM people LIMIT 100", self.POLICY, into=f"{small_disk}/published/")
        assert not list(small_disk.iterdir())

    def test_of_what_is_spilled(self, session: sa.Session, small_disk: Path) -> None:
        policy = sa.Policy(quasi_identifiers=["age", "i"], privacy=[sa.KAnonymity(2)])
        source = "SELECT i, md5(i::VARCHAR) AS age FROM range(2000000) AS r (i)"
        with (
            sa.connect(memory_limit="30MB", temp_directory=small_disk, threads=1) as limited,
            pytest.raises(sa.EngineError, match=r"the disk is full|its temp_directory is full|ran out of memory"),
        ):
            limited.measure(source, policy)
        assert not list(small_disk.iterdir())

    def test_of_a_warehouse(self, session: sa.Session, small_disk: Path) -> None:
        with duckdb.connect(str(small_disk / "w.duckdb")) as connection:
            warehouse = sa.connect(connection)
            warehouse.taxonomies.load("age", sa.Taxonomy.flat(range(10)))
            connection.execute("CREATE TABLE published AS SELECT 'old' AS state; CHECKPOINT")
            source = "SELECT i % 10 AS age, md5(i::VARCHAR) AS illness FROM range(400000) AS r (i)"
            with pytest.raises(sa.EngineError, match="the disk is full"):
                warehouse.anonymize(source, self.POLICY, into="published", replace="anything")
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
            for _ in range(3):
                with pytest.raises(sa.EngineError):
                    session.anonymize(bad, policy, into="published")
                with pytest.raises(sa.EngineError):
                    session.lattice(bad, policy)
                with pytest.raises(sa.EngineError):
                    session.measure(bad, policy)
                with pytest.raises(sa.EngineError):
                    session.taxonomies.load("q", sa.Taxonomy.from_query("SELECT CAST('x' AS INTEGER), '*'"))
            session.anonymize("t", policy, into="published")
            assert session.connection.execute("SELECT count(*) FROM published").fetchall() == [(4,)]

    @pytest.mark.parametrize("fails", [True, False])
    def test_nothing_stays_with_the_connection(self, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
        """Prepared queries are of no transaction."""
        asked, prepared = 0, "SELECT name FROM duckdb_prepared_statements() WHERE name LIKE 'anon%'"

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
            for name in names:
                session.taxonomies.load(name, sa.Taxonomy.flat(), source="t")
            policy = sa.Policy(
                quasi_identifiers=names,
                identifiers=["person"],
                individual="person",  # individuals are counted by SQL
                privacy=[sa.KAnonymity(5)],
                quality=sa.Entropy(),
            )
            with pytest.raises(RuntimeError, match="a bug") if fails else nullcontext():
                session.anonymize("t", policy, into="published")
            assert asked >= 3
            assert session.connection.execute(prepared).fetchall() == []
