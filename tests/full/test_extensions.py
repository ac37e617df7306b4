"""Sessions ask no other machine: DuckDB loads and downloads no extension by itself in what is opened here."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.commands import sqlanon

SETTINGS = "SELECT current_setting('autoload_known_extensions'), current_setting('autoinstall_known_extensions')"
POLICY = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])

NEED_EXTENSIONS = {
    "https://127.0.0.1:{port}/x.parquet": "httpfs",
    "http://127.0.0.1:{port}/*.csv": "httpfs",
    "s3://bucket/x.parquet": "httpfs",
    "gs://bucket/x/*.csv": "httpfs",
    "hf://datasets/x/y.csv": "httpfs",
    "az://bucket/x.parquet": "azure",
    "FROM 'https://127.0.0.1:{port}/x.parquet'": "httpfs",
    "FROM read_csv(['s3://bucket/x.csv'])": "httpfs",
    "FROM read_xlsx('x.xlsx')": "excel",
    "SELECT '1.2.3.4'::INET AS age": "inet",
    "FROM sqlite_scan('x.db', 'y')": "sqlite_scanner",
}


class Listening:
    """Counts who connects, and hangs up."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.calls = 0
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        with suppress(OSError):
            while True:
                self._server.accept()[0].close()
                self.calls += 1

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@pytest.fixture
def listening() -> Iterator[Listening]:
    found = Listening()
    yield found
    found.close()


def settings(connection: duckdb.DuckDBPyConnection) -> tuple[bool, bool] | None:
    return connection.execute(SETTINGS).fetchone()


class TestSettings:
    def test_what_is_opened_loads_nothing_by_itself(self, tmp_path: Path) -> None:
        path = tmp_path / "w.duckdb"
        duckdb.connect(str(path)).close()
        for database, options in ((":memory:", {}), (path, {}), (path, {"read_only": True})):
            with sa.connect(database, extensions=["json", "icu"], **options) as session:
                assert settings(session.connection) == (False, False)
                assert settings(session.connection.cursor()) == (False, False)

    def test_a_connection_that_is_lent_keeps_its_settings(self) -> None:
        with duckdb.connect() as connection:
            with sa.connect(connection) as session:
                assert settings(session.connection) == (True, True)
            with pytest.raises(sa.EngineError, match=r"an open connection keeps its settings: .* load extensions"):
                sa.connect(connection, extensions=["json"])

    def test_who_opens_a_file_first_has_its_settings(self, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "w.duckdb")) as connection, sa.connect(tmp_path / "w.duckdb"):
            assert settings(connection) == (True, True)
        with sa.connect(tmp_path / "w.duckdb"), sa.connect(tmp_path / "w.duckdb") as second:
            assert settings(second.connection) == (False, False)
            with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
                assert settings(connection) == (False, False)

    def test_json_parquet_and_time_zones_work(self, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text('{"age": 3}')
        with sa.connect() as session:
            session.connection.execute(f"COPY (SELECT 3 AS age) TO '{tmp_path}/x.parquet'")
            for query in (
                f"FROM read_json('{tmp_path}/x.json')",
                f"FROM '{tmp_path}/x.parquet'",
                "SELECT year(TIMESTAMPTZ '2020-01-01 00:00:00+00' AT TIME ZONE 'Asia/Tokyo') AS age",
            ):
                assert session.measure(query, POLICY).row_count == 1


class TestSources:
    def test_they_say_what_to_load(self, listening: Listening) -> None:
        with sa.connect() as session:
            session.connection.execute(f"SET custom_extension_repository = 'http://127.0.0.1:{listening.port}'")
            for source, extension in NEED_EXTENSIONS.items():
                with pytest.raises(sa.EngineError) as refused:
                    session.measure(source.replace("{port}", str(listening.port)), POLICY)
                assert f'connect(..., extensions=["{extension}"])' in str(refused.value), source
                assert f"--load {extension}" in str(refused.value)
        assert listening.calls == 0

    def test_a_database_elsewhere_is_lent(self) -> None:
        with pytest.raises(sa.EngineError, match=r"md:x cannot be opened.*motherduck.*pass that connection"):
            sa.connect("md:x")

    def test_duckdb_alone_would_call(self, listening: Listening) -> None:
        """So that nobody calls above is worth something."""
        with duckdb.connect() as connection:
            connection.execute(f"SET custom_extension_repository = 'http://127.0.0.1:{listening.port}'")
            with suppress(duckdb.Error):
                connection.execute("FROM read_xlsx('x.xlsx')")
        assert listening.calls > 0


class TestLoading:
    def test_names_are_names(self) -> None:
        with pytest.raises(sa.EngineError) as refused:
            sa.connect(extensions=["./x.duckdb_extension", "x; y"], threads=0)
        assert all(name in str(refused.value) for name in ('"./x.duckdb_extension"', '"x; y"', "threads"))
        for given, reason in (
            ("httpfs", 'extensions is "httpfs", not a list'),
            (["json", "sqlanon_none"], r"the extension sqlanon_none cannot be loaded.*INSTALL sqlanon_none"),
        ):
            with pytest.raises(sa.EngineError, match=reason):
                sa.connect(extensions=given)

    def test_the_command_loads_several(self, tmp_path: Path) -> None:
        (tmp_path / "p.toml").write_text('quasi_identifiers = ["age"]\nprivacy = [{ model = "k-anonymity", k = 2 }]\n')
        given = ("measure", "SELECT 3 AS age FROM range(3)", "--policy", "p.toml", "--json")
        assert sqlanon(*given, "--load", "json", "--load", "icu", folder=tmp_path).returncode == 0
        refused = sqlanon(*given, "--load", "sqlanon_none", folder=tmp_path)
        assert "INSTALL sqlanon_none" in refused.stderr
        refused = sqlanon("run", "s3://bucket/x.csv", "--policy", "p.toml", "--into", "r.parquet", folder=tmp_path)
        assert refused.returncode != 0
        assert "--load httpfs" in refused.stderr
