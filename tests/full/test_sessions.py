"""Sessions: what they leave of a connection that is lent to them, of settings, of transactions and of files."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa

POLICY = sa.Policy(quasi_identifiers=["city"], sensitive=["illness"], privacy=[sa.KAnonymity(2)])


def make(session: sa.Session) -> None:
    """Table ``people``: two rows of each of two cities."""
    session.connection.execute(
        "CREATE TABLE people AS SELECT ['a', 'b'][1 + i % 2] AS city, i AS illness FROM range(4) r (i)"
    )
    session.taxonomies.load("city", sa.Taxonomy.flat(), source="people")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A file with table ``people``."""
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
