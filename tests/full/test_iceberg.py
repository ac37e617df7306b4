"""Releases that are Iceberg tables: one snapshot each, which has the record."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest

import sqlanon as sa
from sqlanon.lakes.iceberg import IcebergLakeTable
from tests.full import test_spark_rows
from tests.full.test_delta import COARSE, FINE, ROWS, make_people

catalogs = pytest.importorskip("pyiceberg.catalog")
pytestmark = pytest.mark.filterwarnings("ignore:Delete operation did not match any records")

server = test_spark_rows.server
TABLE = "iceberg:lake.clinic.released"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A warehouse with a taxonomy, 600 people in a file, and a catalog, in a folder which is the working one."""
    monkeypatch.chdir(tmp_path)
    for name, value in settings(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", type(catalogs._ENV_CONFIG)())  # which is read once in a process
    catalogs.load_catalog("lake").create_namespace("clinic")
    with sa.connect("w.duckdb") as session:
        make_people(session)
        yield session


def settings(folder: Path) -> dict[str, str]:
    return {
        "PYICEBERG_CATALOG__LAKE__URI": f"sqlite:///{folder}/catalog.db",
        "PYICEBERG_CATALOG__LAKE__WAREHOUSE": f"file://{folder}/wäre house",
    }


def load() -> Any:
    return catalogs.load_catalog("lake").load_table("clinic.released")


def rows() -> Counter[Any]:
    return Counter(tuple(row.values()) for row in load().scan().to_arrow().to_pylist())


class TestReleases:
    def test_a_table_has_the_rows_of_a_folder_and_its_record(self, session: sa.Session) -> None:
        release = session.anonymize("people.parquet", FINE, TABLE)
        session.anonymize("people.parquet", FINE, "folder/")
        assert rows() == Counter(duckdb.sql("SELECT age, illness, cost::SMALLINT FROM 'folder/*.parquet'").fetchall())
        assert (release.into, release.to_arrow().num_rows) == (TABLE, ROWS)
        summary = load().current_snapshot().summary.additional_properties
        assert json.loads(summary["sqlanon"])["sqlanon"]["rows"]["released"] == ROWS
        assert session.provenance(TABLE) == summary["sqlanon"]
        assert session.verify(TABLE, FINE, source="people.parquet").met
        assert "until expire_snapshots has removed their files" in session.report(TABLE).to_html()
        assert session.anonymize("people.parquet", FINE, TABLE).unchanged
        assert not [*Path().rglob(".*")]
        self.check_source(session)

    def check_source(self, session: sa.Session) -> None:
        """It is a source in one version."""
        wanted = sa.Policy(quasi_identifiers=["illness"], identifiers=["age", "cost"], privacy=[sa.KAnonymity(5)])
        session.taxonomies.load("illness", sa.Taxonomy.flat(["a/b 0", "a/b 1", "a/b 2"]), source="people.parquet")

        def commit(event: sa.Event) -> None:
            if event.stage == "verify" and event.state == "started":
                load().append(load().scan().to_arrow().slice(0, 1))

        assert session.anonymize(TABLE, wanted, "again.parquet").report.rows.source == ROWS
        with pytest.raises(sa.EngineError, match="has version 2 by now, and the run has read version 1"):
            session.anonymize(TABLE, wanted, "other.parquet", progress=commit)
        assert not Path("other.parquet").exists()

    def test_one_snapshot_replaces_all(self, session: sa.Session) -> None:
        session.anonymize("people.parquet", FINE, TABLE, rows_per_file=100)
        session.anonymize("people.parquet", COARSE, TABLE, replace=True)
        table = load()
        assert {*table.scan().to_arrow()["age"].to_pylist()} == {"*"}
        assert len(table.metadata.snapshots) == 2
        assert len(table.scan(snapshot_id=table.metadata.snapshots[0].snapshot_id).to_arrow()) == ROWS
        assert session.verify(TABLE, COARSE).met
        session.anonymize("people.parquet", FINE, TABLE, replace=True)
        assert session.verify(TABLE, FINE).met
        # A table that was dropped keeps its files.
        dropped = load().metadata_location
        catalogs.load_catalog("lake").drop_table("clinic.released")
        session.anonymize("people.parquet", COARSE, TABLE)
        kept = catalogs.load_catalog("lake").register_table("clinic.kept", dropped)
        assert len({*kept.scan().to_arrow()["age"].to_pylist()}) == 9
        assert session.verify(TABLE, COARSE).met

    def test_a_server_writes_it(self, session: sa.Session, server: str) -> None:
        signed = "SELECT * REPLACE (cost::SMALLINT AS cost) FROM 'people.parquet'"
        session.connection.execute(f"COPY ({signed}) TO 'signed.parquet'")
        with sa.connect(session.connection.cursor(), rows=server) as far:
            far.anonymize(f"{Path.cwd()}/signed.parquet", FINE, TABLE)
            assert far.verify(TABLE, FINE).met
            there = rows()
            session.anonymize("signed.parquet", FINE, TABLE, replace=True)
            assert rows() == there
            with pytest.raises(sa.EngineError, match="give its name in the server's catalog"):
                far.anonymize(TABLE, FINE, "other/")


@pytest.mark.deep
def test_tampering(session: sa.Session) -> None:
    """A commit of another program meanwhile is kept; and so are properties."""
    session.anonymize("people.parquet", FINE, TABLE)
    with load().transaction() as transaction:  # in which a commit that is tried again would leave what was appended
        transaction.set_properties({f"write.{kind}.isolation-level": "snapshot" for kind in ("update", "delete")})
        transaction.set_properties(owner="me")
    assert session.verify(TABLE, FINE).met, "a table whose properties were set is the same"
    commit = IcebergLakeTable.commit

    def append(table: IcebergLakeTable, release: Any) -> None:
        load().append(load().scan().to_arrow().slice(0, 1))
        commit(table, release)

    with (
        mock.patch.object(IcebergLakeTable, "commit", append),
        pytest.raises(sa.EngineError, match="another program has changed the Iceberg table"),
    ):
        session.anonymize("people.parquet", COARSE, TABLE, replace=True)
    assert sum(rows().values()) == ROWS + 1
    assert len([*Path().rglob("release-*")]) == 1
    found = " ".join(session.verify(TABLE, FINE, strict=False).shortfalls)
    assert "more files than were written: 2 where there were 1" in found
    assert "601 rows where 600 were released" in found
    with pytest.raises(sa.EngineError, match="was changed since sqlanon wrote it"):
        session.anonymize("people.parquet", COARSE, TABLE, replace=True)
    session.anonymize("people.parquet", COARSE, TABLE, replace="anything")
    assert session.verify(TABLE, COARSE).met
    assert load().properties["owner"] == "me"
    load().delete("cost = 1")
    assert "other names or sizes" in " ".join(session.verify(TABLE, COARSE, strict=False).shortfalls)


class TestRefused:
    def test_a_table_of_others(self, session: sa.Session) -> None:
        made = catalogs.load_catalog("lake").create_table("clinic.released", pa.schema([("age", pa.string())]))
        made.append(pa.table({"age": ["1"]}))
        with pytest.raises(sa.EngineError, match="exists; give another name"):
            session.anonymize("people.parquet", FINE, TABLE)
        with pytest.raises(sa.EngineError, match="was not written by sqlanon"):
            session.anonymize("people.parquet", FINE, TABLE, replace=True)
        with pytest.raises(sa.EngineError, match="has other columns than the release"):
            session.anonymize("people.parquet", FINE, TABLE, replace="anything")
        assert rows() == Counter([("1",)])

    def test_a_name_of_no_table(self, session: sa.Session) -> None:
        before = sorted(Path().rglob("*"))
        for into, reason in {
            "iceberg:": "is not the name of an Iceberg table",
            "iceberg:lake.released": "is not the name of an Iceberg table",
            "iceberg:lake..released": "is not the name of an Iceberg table",
            "iceberg:nowhere.clinic.released": 'has no catalog "nowhere"',
            "iceberg:lake.nowhere.released": "cannot be made",
        }.items():
            with pytest.raises(sa.SqlanonError, match=reason):
                session.anonymize("people.parquet", FINE, into, replace="anything")
        missing = mock.patch.dict(sys.modules, {"pyiceberg.catalog": None})
        with missing, pytest.raises(sa.EngineError, match=r"needs pyiceberg, which is not installed; .*\[iceberg\]"):
            session.anonymize("people.parquet", FINE, TABLE)
        with (
            mock.patch.object(IcebergLakeTable, "location", "s3://bucket/clinic/released"),
            pytest.raises(sa.EngineError, match="its files have to be on this machine"),
        ):
            session.anonymize("people.parquet", FINE, TABLE)
        with pytest.raises(sa.TargetError, match="partition_by is for folders and Delta tables"):
            session.anonymize("people.parquet", FINE, TABLE, partition_by="illness")
        with pytest.raises(sa.EngineError, match=r"there is no Iceberg table lake\.clinic\.released"):
            session.verify(TABLE, FINE)
        assert sorted(Path().rglob("*")) == before
