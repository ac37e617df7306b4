"""Rows on a server that reads and writes an object store, here Sail and moto: a release is what its note lists."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from pyarrow import dataset, fs, parquet

import sqlanon as sa
from sqlanon.lakes.store import StoredRelease, opened
from sqlanon.spark.spark_rows import SparkRows
from tests.full.test_delta import COARSE, FINE, ROWS, make_people
from tests.moto import moto, settings
from tests.sail import sail

pytest.importorskip("moto.server")
pytest.importorskip("pysail.spark")
pytest.importorskip("pyspark.sql.connect")

INTO = "s3://bucket/clinic/released/"
LAKE = "s3://bucket/lake"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that finds the store, as this process does."""
    with moto(), sail() as running:
        yield running.url


@dataclass
class Lake:
    """Two sessions on one warehouse: one reads people in a file, the other one has them in the store."""

    near: sa.Session
    far: sa.Session


@pytest.fixture
def lake(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    """An empty store but for 600 people, in two files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    Path("temporary").mkdir()
    store().delete_dir_contents("bucket", missing_dir_ok=True)
    with sa.connect("w.duckdb") as near, sa.connect(near.connection.cursor(), rows=server) as far:
        make_people(near)
        people = duckdb.sql("SELECT * REPLACE (cost::SMALLINT AS cost) FROM 'people.parquet'").to_arrow_table()
        add("a", people.slice(0, 200))
        add("b", people.slice(200))
        yield Lake(near, far)


def add(name: str, people: pa.Table) -> None:
    """Add a file to the people in the store."""
    parquet.write_table(people, f"bucket/lake/{name}.parquet", filesystem=store())


def store() -> fs.FileSystem:
    return opened("s3://bucket")[0]


def files() -> list[str]:
    found = store().get_file_info(fs.FileSelector("bucket/clinic/released", recursive=True, allow_not_found=True))
    return sorted(info.path for info in found if info.is_file)


def rows(place: str = INTO) -> Counter[Any]:
    folder = place.removeprefix("s3://")
    with store().open_input_stream(f"{folder}_sqlanon.json") as note:
        names = json.loads(note.read())["files"]
    found = dataset.dataset([f"{folder}{name}" for name in names], format="parquet", filesystem=store()).to_table()
    return Counter(tuple(row.values()) for row in found.to_pylist())


def near_rows(session: sa.Session, wanted: sa.Policy) -> Counter[Any]:
    """Those of a release that is made and written here."""
    session.anonymize("people.parquet", wanted, "near/", replace=True)
    return Counter(duckdb.sql("SELECT age, illness, cost::SMALLINT FROM 'near/*.parquet'").fetchall())


def test_a_server_writes_the_rows_that_are_written_here(lake: Lake) -> None:
    release = lake.far.anonymize(LAKE, FINE, INTO)
    assert rows() == near_rows(lake.near, FINE)
    assert (release.into, release.to_arrow().num_rows) == (INTO, ROWS)
    assert release.report.source.startswith(f"{LAKE} on sc://")
    for session in (lake.near, lake.far):
        assert session.verify(INTO, FINE, source=LAKE if session is lake.far else "people.parquet").met
        assert session.report(INTO).released_rows == ROWS
        assert json.loads(session.provenance(INTO) or "")["sqlanon"]["rows"]["released"] == ROWS
    assert not [*Path("temporary").glob(".*")]
    before = files()
    with pytest.raises(sa.EngineError, match="give another name, or replace=True"):
        lake.far.anonymize(LAKE, COARSE, INTO)
    assert files() == before
    lake.far.anonymize(LAKE.replace("s3:", "s3a:"), COARSE, INTO.replace("s3:", "s3a:"), replace=True)
    assert {row[0] for row in rows()} == {"*"}, "as Apache Spark spells addresses"
    assert lake.near.verify(INTO, COARSE).met


@pytest.mark.deep
def test_a_release_is_a_source_without_the_files_of_earlier_ones(lake: Lake) -> None:
    for wanted in (COARSE, FINE):
        lake.far.anonymize(LAKE, wanted, INTO, replace=True)
    again = FINE.model_copy(update={"identifiers": ()})
    assert lake.far.anonymize(INTO, again, "again/").report.rows.source == ROWS
    assert lake.far.measure(INTO.rstrip("/"), again).row_count == ROWS
    with pytest.raises(sa.EngineError, match="no note that lists those of one"):
        lake.far.anonymize("s3://bucket/clinic", again, "again/", replace=True)


@pytest.mark.deep
def test_a_source_that_changes_is_not_released(lake: Lake) -> None:
    lake.far.anonymize(LAKE, FINE, INTO)
    before = files()
    write = SparkRows.write

    def add_a_file(*given: Any) -> Any:
        written = write(*given)
        add("c", duckdb.sql("SELECT * REPLACE (cost::SMALLINT AS cost) FROM 'people.parquet'").to_arrow_table())
        return written

    with (
        mock.patch.object(SparkRows, "write", add_a_file),
        pytest.raises(sa.EngineError, match="has changed since its rows were counted"),
    ):
        lake.far.anonymize(LAKE, COARSE, INTO, replace=True)
    assert files() == before


@pytest.mark.deep
def test_a_target_among_the_files_of_the_source_is_refused(lake: Lake) -> None:
    for source, into in [(LAKE, f"{LAKE}/released/"), (f"{LAKE}/", f"{LAKE.replace('s3:', 's3a:')}/released/")]:
        with pytest.raises(sa.EngineError, match="lies among the files of the source"):
            lake.far.anonymize(source, FINE, into)
    lake.far.anonymize(LAKE, FINE, f"{LAKE}_released/")
    assert rows(f"{LAKE}_released/") == near_rows(lake.near, FINE)


@pytest.mark.deep
def test_a_server_of_another_store_is_refused(lake: Lake) -> None:
    lake.far.anonymize(LAKE, FINE, INTO)
    before = files()
    with moto() as elsewhere, mock.patch.dict(os.environ, settings(elsewhere)):
        with pytest.raises(sa.EngineError, match="the server has another store of that name"):
            lake.far.anonymize(LAKE, FINE, INTO)
        assert StoredRelease(INTO).text is None
    assert [name for name in files() if name not in before], "what is in the store of the server is out of reach"
    assert lake.near.verify(INTO, FINE).met


def test_unsigned_numbers_that_a_server_writes_are_not_listed_as_signed_ones(lake: Lake) -> None:
    unsigned = duckdb.sql("SELECT 1 AS one, 200::UTINYINT AS many FROM range(3)").to_arrow_table()
    parquet.write_table(unsigned, "bucket/unsigned/a.parquet", filesystem=store())
    wanted = sa.Policy(quasi_identifiers=["one"], insensitive=["many"], privacy=[sa.KAnonymity(2)])
    lake.near.taxonomies.load("one", sa.Taxonomy.flat([1]))
    with pytest.raises(sa.EngineError, match=r"other types than the release, .many. \(uint8, not int8\)"):
        lake.far.anonymize("s3://bucket/unsigned", wanted, INTO)
    assert not files()


def test_a_store_without_the_bucket_is_refused_before_anything_is_counted(lake: Lake) -> None:
    with (
        mock.patch.object(SparkRows, "count", side_effect=AssertionError),
        pytest.raises(sa.EngineError, match=r"s3://elsewhere/released/ cannot be"),
    ):
        lake.far.anonymize(LAKE, FINE, "s3://elsewhere/released/")
