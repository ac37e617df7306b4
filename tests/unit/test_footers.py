"""Notes in the footers of Parquet files: exchanged for longer and shorter ones, whatever the values are."""

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from sqlanon.publish.parquet import UNKNOWN, replace_note

LOOKALIKE = b"\x18\x07sqlanon\x18\x04null".decode()
"""What the note looks like in a footer, as a value, which is in the statistics of its column."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE x AS SELECT ? AS value, i FROM range(3) AS r (i)", [LOOKALIKE])
        connection.execute(f"COPY x TO '{path}' (FORMAT parquet, KV_METADATA {{sqlanon: '{UNKNOWN}'}})")
    return path


@pytest.mark.parametrize("length", [0, 1, 4, 127, 128, 16_383, 16_384, 3_000_000])
def test_a_note_of_any_length(path: Path, length: int) -> None:
    note = "é" * (length // 2) + "x" * (length % 2)
    replace_note(path, UNKNOWN, note)
    with duckdb.connect() as connection:
        [(found,)] = connection.execute(f"SELECT decode(value) FROM parquet_kv_metadata('{path}')").fetchall()
        assert found == note
        assert connection.execute(f"FROM '{path}'").fetchall() == [(LOOKALIKE, i) for i in range(3)]
    read = pq.read_table(path)
    assert read.schema.metadata[b"sqlanon"].decode() == note
    assert read.column("value").to_pylist() == [LOOKALIKE] * 3
    statistics = pq.read_metadata(path).row_group(0).column(0).statistics
    assert (statistics.min, statistics.max) == (LOOKALIKE, LOOKALIKE)


def test_one_note_after_another(path: Path) -> None:
    size = path.stat().st_size
    for old, new in ((UNKNOWN, "a" * 500), ("a" * 500, "b"), ("b", UNKNOWN)):
        replace_note(path, old, new)
    assert path.stat().st_size == size


def test_a_note_that_is_not_there(path: Path) -> None:
    content = path.read_bytes()
    with pytest.raises(ValueError, match="parquet"):
        replace_note(path, "{}", "new")
    assert path.read_bytes() == content
