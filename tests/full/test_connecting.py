"""Sessions that are opened with limits: of memory, threads, and the folder for what does not fit in memory."""

from __future__ import annotations

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
