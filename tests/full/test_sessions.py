"""Sessions: limits that they are opened with, and what they leave of connections, settings, transactions and files."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.conftest import ROOT


def test_limits_are_those_of_the_connection(tmp_path: Path) -> None:
    with sa.connect(memory_limit="300MB", temp_directory=tmp_path, threads=1) as session:
        found = session.connection.execute(
            "SELECT current_setting('memory_limit'), current_setting('threads'), current_setting('temp_directory')"
        ).fetchone()
        [spill] = (path for path in tmp_path.iterdir() if path.is_dir())
        assert found == ("286.1 MiB", 1, str(spill))
        assert spill.stat().st_mode & 0o777 == 0o700


def test_what_does_not_fit_in_memory_is_gone_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "sqlanon-run-0").mkdir()  # nobody holds it
    session = sa.connect(memory_limit="30MB", temp_directory=tmp_path, threads=1)
    session.connection.execute("CREATE TABLE t AS SELECT i, md5(i::VARCHAR) AS h FROM range(1000000) AS r (i)")
    assert [path for path in tmp_path.rglob("*") if path.is_file()]
    with pytest.raises(sa.EngineError):
        policy = sa.Policy(quasi_identifiers=["h"], privacy=[sa.KAnonymity(2)])
        session.measure("SELECT CAST(h AS INTEGER) AS h FROM t ORDER BY h", policy)
    session.close()
    assert not list(tmp_path.iterdir())


def test_what_another_process_spills_is_left_alone(tmp_path: Path) -> None:
    program = f"import sqlanon; session = sqlanon.connect(temp_directory={str(tmp_path)!r}); print(); input()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, **pipes) as other:
        assert other.stdout is not None
        other.stdout.readline()
        theirs = set(tmp_path.iterdir())
        sa.connect(temp_directory=tmp_path).close()
        assert set(tmp_path.iterdir()) == theirs
        assert any(path.is_dir() for path in theirs)
        other.kill()
        other.wait()
    assert set(tmp_path.iterdir()) == theirs
    sa.connect(temp_directory=tmp_path).close()
    assert not list(tmp_path.iterdir())


def test_a_full_temporary_directory_is_told_of(tmp_path: Path) -> None:
    with sa.connect(memory_limit="30MB", temp_directory=tmp_path, threads=1) as session:
        session.connection.execute("SET max_temp_directory_size = '1MB'")
        session.taxonomies.load("i", sa.Taxonomy.from_rows([["0", "*"]]))
        policy = sa.Policy(quasi_identifiers=["i"], identifiers=["h"], privacy=[sa.KAnonymity(2)])
        with pytest.raises(sa.EngineError, match="its temp_directory is full"):
            session.anonymize("SELECT hash(i) AS i, 1 AS h FROM range(2000000) AS r (i)", policy, "released")


def test_a_session_in_memory_does_not_spill_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with sa.connect() as session:
        [(place,)] = session.connection.execute("SELECT current_setting('temp_directory')").fetchall()
        assert Path(place).parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_settings_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(sa.EngineError) as refused:
        sa.connect(memory_limit="lots", threads=0, temp_directory=tmp_path / "missing")
    for setting in ("memory_limit", "threads", "temp_directory"):
        assert setting in str(refused.value)
    for setting, value in {"memory_limit": 5, "threads": "x", "temp_directory": "é" * 300, "extensions": 5}.items():
        with pytest.raises(sa.EngineError, match=setting):
            sa.connect(**{setting: value})
    with pytest.raises(sa.EngineError, match="begins with sc://"):
        sa.connect(rows=5)
    for limit in ("0GB", "-1GB", "80%", "2", "1KB"):
        with pytest.raises(sa.EngineError, match="memory_limit"):
            sa.connect(memory_limit=limit, temp_directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_lent_connection_keeps_its_own() -> None:
    with duckdb.connect() as connection, pytest.raises(sa.EngineError, match="keeps its settings"):
        sa.connect(connection, threads=1)


POLICY = sa.Policy(quasi_identifiers=["city"], sensitive=["illness"], privacy=[sa.KAnonymity(2)])


def make(session: sa.Session) -> None:
    session.connection.execute(
        "CREATE TABLE people AS SELECT ['a', 'b'][1 + i % 2] AS city, i AS illness FROM range(4) r (i)"
    )
    session.taxonomies.load("city", sa.Taxonomy.flat(), source="people")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    with sa.connect(tmp_path / "w.duckdb") as session:
        make(session)
    return tmp_path / "w.duckdb"


def test_a_connection_in_a_transaction_is_refused_and_its_transaction_goes_on() -> None:
    with duckdb.connect() as connection:
        session = sa.connect(connection)
        make(session)
        connection.begin()
        connection.execute("INSERT INTO people VALUES ('a', 9)")
        for call in (
            lambda: session.anonymize("people", POLICY, into="published"),
            lambda: session.lattice("people", POLICY),
            lambda: session.taxonomies.load("city", sa.Taxonomy.flat(["b"])),
            session.install,
        ):
            with pytest.raises(sa.EngineError, match="middle of a transaction; commit or roll it back"):
                call()
        connection.commit()
        assert session.measure("people", POLICY).row_count == 5


def test_a_schema_in_use_and_settings_are_left_as_they_are() -> None:
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY ALL"
    with duckdb.connect() as connection:
        session = sa.connect(connection)
        make(session)
        connection.execute("CREATE SCHEMA ward; USE ward")
        before = connection.execute(settings).fetchall()
        session.anonymize("main.people", POLICY, into="published")
        assert connection.execute("SELECT current_schema()").fetchall() == [("ward",)]
        assert connection.execute(settings).fetchall() == before
        assert connection.execute("SELECT count(*) FROM ward.published").fetchall() == [(4,)]


def test_read_only(warehouse: Path, tmp_path: Path) -> None:
    content = warehouse.read_bytes()
    with sa.connect(warehouse, read_only=True) as session:
        assert session.anonymize("people", POLICY, into=tmp_path / "r.parquet").node == {"city": 0}
        with pytest.raises(sa.EngineError, match=r"read-only.*Parquet"):
            session.anonymize("people", POLICY, into="published")
        with pytest.raises(sa.EngineError, match="read-only"):
            session.install()
        session.taxonomies.load("city", sa.Taxonomy.from_rows([("a", "x", "*"), ("b", "x", "*")]))
        assert session.lattice("people", POLICY).num_rows == 3
    assert warehouse.read_bytes() == content
    # The row of the release waits beside the warehouse until somebody who may write takes it up.
    assert sorted(found.name for found in tmp_path.iterdir()) == [".w.duckdb.releases", "r.parquet", "w.duckdb"]
    with sa.connect(warehouse) as session:
        assert session.lattice("people", POLICY).num_rows == 2
        assert session.taxonomies.check() == {}
        connection = session.connection
    with pytest.raises(duckdb.ConnectionException):
        connection.execute("SELECT 1")


def test_sessions_on_one_read_only_file(warehouse: Path, tmp_path: Path) -> None:
    """A cursor forgets the default database, which a session on it has all the same, with the taxonomies."""
    with sa.connect(warehouse, read_only=True) as session, sa.connect(warehouse, read_only=True) as twice:
        session.taxonomies.load("city", sa.Taxonomy.from_rows([("a", "x", "*"), ("b", "x", "*")]))
        with session.connection.cursor() as cursor, sa.connect(cursor) as other:
            assert other.lattice("people", POLICY).num_rows == 3
            with pytest.raises(sa.EngineError, match="read-only"):
                other.anonymize("people", POLICY, into="published")
            other.taxonomies.load("city", sa.Taxonomy.flat(["a", "b"]))
            other.anonymize("people", POLICY, into=tmp_path / "r.parquet")
            assert len(other.releases.list().releases) == 1
        assert session.lattice("people", POLICY).num_rows == 2 == twice.lattice("people", POLICY).num_rows
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS ward; CREATE TABLE ward.visits AS SELECT 1 AS age")
        with pytest.raises(sa.EngineError, match=r'did you mean "ward\.main\.visits"'):
            sa.connect(connection).profile("visits")


def test_a_lent_read_only_connection(warehouse: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        session = sa.connect(connection)
        session.anonymize("people", POLICY, into=tmp_path / "r.parquet")
        for refused in (
            lambda: session.anonymize("people", POLICY, into="published"),
            lambda: session.taxonomies.load("city", sa.Taxonomy.flat(["a"])),
            session.install,
        ):
            with pytest.raises(sa.EngineError, match="read-only"):
                refused()


def storage_version(path: Path) -> object:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS old (READ_ONLY)")
        query = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'old'"
        return connection.execute(query).fetchall()


def test_the_storage_version_of_a_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS old (STORAGE_VERSION 'v1.0.0'); CREATE TABLE old.t AS SELECT 1")
    before = storage_version(path)
    with sa.connect(path) as session:
        session.install()
        make(session)
    assert storage_version(path) == before


def test_a_new_file_can_be_read_by_older_clients(tmp_path: Path) -> None:
    """DuckDB 2.0 would make one that 1.5, and so today's DuckDB CLI, cannot open."""
    path = tmp_path / "new.duckdb"
    with sa.connect(path, ledger=tmp_path / "ledger.duckdb") as session:
        make(session)
        session.ledger.cap("people", sa.Budget("1"))
        with duckdb.connect(str(path)) as beside:  # refused if the session had settings of its own
            assert beside.execute("SELECT 1").fetchall() == [(1,)]
    for made in (path, tmp_path / "ledger.duckdb"):
        assert storage_version(made) == [("v1.5.0+",)]


def test_what_is_no_file_is_left_to_duckdb() -> None:
    with sa.connect(":memory:of_our_own") as session:
        found = session.connection.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()
    assert found == [(None,)]
