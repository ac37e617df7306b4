"""Releases that are Delta tables, and Delta tables that are sources: one commit each, and one version."""

import contextlib
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

import sqlanon as sa
from sqlanon.lakes.delta import DeltaLakeTable
from sqlanon.model.destination import destination
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import target_for
from tests.commands import sqlanon
from tests.engines import engine_of

deltalake = pytest.importorskip("deltalake")

ROWS = 600
TABLE = "delta:released"
ROLES: dict[str, Any] = {"quasi_identifiers": ["age"], "insensitive": ["illness", "cost"], "identifiers": ["id"]}
FINE = sa.Policy(privacy=[sa.KAnonymity(5)], quality=sa.Prec(), search="exhaustive", **ROLES)
COARSE = FINE.model_copy(update={"privacy": (sa.KAnonymity(ROWS),)})
"""The policies of a release with nine labels, and of one with a label for all rows."""

POLICY = """
quasi_identifiers = ["age"]
insensitive = ["illness", "cost"]
identifiers = ["id"]
privacy = [{model = "k-anonymity", k = 5}]
"""


def make_people(session: sa.Session, illness: str = "a/b ") -> None:
    """Make a file of 600 people, whose illnesses have names that begin alike, and a taxonomy of their ages."""
    session.taxonomies.load("age", sa.Taxonomy.flat(range(9)))
    session.connection.execute(
        f"COPY (SELECT i % 9 AS age, CASE WHEN i % 4 > 0 THEN '{illness}' || i % 3 END AS illness, "
        f"(i % 200)::UTINYINT AS cost, i AS id FROM range({ROWS}) AS r (i)) TO 'people.parquet'"
    )


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a taxonomy, 600 people in a file, and a release of them."""
    folder = tmp_path_factory.mktemp("delta")
    with contextlib.chdir(folder), sa.connect("w.duckdb") as session:
        make_people(session, "a/b c%20=ä ")
        session.anonymize("people.parquet", FINE, TABLE)
    return folder


@pytest.fixture
def session(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A session in a folder with that warehouse and file, which is the working one."""
    monkeypatch.chdir(tmp_path)
    for name in ("w.duckdb", "people.parquet"):
        shutil.copy2(prepared / name, name)
    with sa.connect("w.duckdb") as session:
        session.taxonomies.load("age", sa.Taxonomy.flat(range(9)))  # so that its log is there
        yield session


@pytest.fixture
def released(prepared: Path, session: sa.Session) -> sa.Session:
    """The same with the release."""
    shutil.copytree(prepared / "released", "released")
    return session


def rows(name: str = "released") -> Counter[Any]:
    """The rows that a reader of Delta finds in a table."""
    return Counter(tuple(row.values()) for row in deltalake.DeltaTable(name).to_pyarrow_table().to_pylist())


def labels(name: str = "released") -> set[str]:
    return {*deltalake.DeltaTable(name).to_pyarrow_table()["age"].to_pylist()}


def state(name: str = "released") -> list[tuple[str, bytes]]:
    log = sorted(Path(name, "_delta_log").glob("*.json"))
    added = pa.table(deltalake.DeltaTable(name).get_add_actions())["path"].to_pylist()
    return [*((path.name, path.read_bytes()) for path in log), *((path, b"") for path in added)]


def of_others(name: str = "released", **columns: Any) -> None:
    """A table that another program has made."""
    deltalake.write_deltalake(name, pa.table(columns or {"age": ["1"], "illness": ["flu"], "cost": [1]}))


def people() -> pa.Table:
    """The people, with signed numbers."""
    return duckdb.sql("SELECT * REPLACE (cost::INT AS cost) FROM 'people.parquet'").to_arrow_table()


def delete_a_row(name: str) -> None:
    """Delete the first row of the file of a table by a vector, as Spark does; the package writes none."""
    log = Path(name, "_delta_log")
    [first] = sorted(log.glob("*.json"))
    (added,) = (json.loads(line)["add"] for line in first.read_text().splitlines() if "add" in json.loads(line))
    # A bitmap in the format of Roaring with the number 0, in the letters of Z85.
    vector = {"storageType": "i", "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg00000"}
    features = ["deletionVectors", "timestampNtz"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    removed = {"path": added["path"], "deletionTimestamp": added["modificationTime"] + 1, "dataChange": True}
    commit = [
        {"protocol": protocol},
        {"remove": removed},
        {"add": {**added, "deletionVector": {**vector, "sizeInBytes": 34, "cardinality": 1}}},
    ]
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, commit)), encoding="utf-8")


class TestReleases:
    def test_a_table_has_the_rows_of_a_folder_and_its_record(self, session: sa.Session) -> None:
        release = session.anonymize("people.parquet", FINE, TABLE)
        in_folder = session.anonymize("people.parquet", FINE, "folder/")
        expected = duckdb.sql("SELECT age, illness, cost::SMALLINT FROM 'folder/*.parquet'").fetchall()
        assert rows() == Counter(expected)
        assert release.into == TABLE
        assert release.to_arrow().num_rows == ROWS
        assert json.loads(session.provenance(TABLE) or "")["sqlanon"]["rows"]["released"] == ROWS
        history = deltalake.DeltaTable("released").history()
        assert [json.loads(each["sqlanon"])["sqlanon"]["policy"]["privacy"][0]["k"] for each in history] == [5]
        assert sorted(path.name for path in Path().iterdir() if path.name.startswith(".")) == []
        (added,) = {*release.guarantee.not_covered} - {*in_folder.guarantee.not_covered}
        assert "until VACUUM has removed their files" in added
        before = state()
        assert session.anonymize("people.parquet", FINE, TABLE).unchanged
        with pytest.raises(sa.TargetError, match="the Delta table released exists, made by another policy"):
            session.anonymize("people.parquet", COARSE, TABLE)
        assert state() == before

    def test_verify_and_report_find_it(self, released: sa.Session) -> None:
        verified = released.verify(TABLE, FINE, source="people.parquet")
        assert (verified.shortfalls, verified.measurement.row_count) == ((), ROWS)
        assert released.report(TABLE, source="people.parquet").released_rows == ROWS
        assert "earlier versions (time travel)" in released.report(TABLE).to_html()
        assert released.contract(TABLE).to_yaml()

    def test_one_commit_replaces_all(self, released: sa.Session) -> None:
        """Other columns replace those before, and a vacuum of the versions before changes nothing."""
        released.anonymize("people.parquet", COARSE, TABLE, replace=True)
        assert labels() == {"*"}
        assert deltalake.DeltaTable("released").version() == 1
        assert len(deltalake.DeltaTable("released", version=0).to_pyarrow_table()) == ROWS, "the version before"
        table = deltalake.DeltaTable("released")
        assert table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        assert deltalake.DeltaTable("released").version() > 1
        assert released.verify(TABLE, COARSE).met
        fewer = FINE.model_copy(update={"insensitive": ("illness",), "identifiers": ("id", "cost")})
        released.anonymize("people.parquet", fewer, TABLE, replace=True)
        assert deltalake.DeltaTable("released").to_pyarrow_table().column_names == ["age", "illness"]
        assert released.verify(TABLE, fewer).met

    def test_partitions_are_those_of_the_log(self, prepared: Path, session: sa.Session) -> None:
        session.anonymize("people.parquet", FINE, TABLE, partition_by="illness", rows_per_file=100)
        shutil.copytree(prepared / "released", "plain")
        assert deltalake.DeltaTable("released").metadata().partition_columns == ["illness"]
        assert rows() == rows("plain")
        assert session.verify(TABLE, FINE).met
        session.anonymize("people.parquet", COARSE, TABLE, partition_by="illness", replace=True)
        assert session.verify(TABLE, COARSE).met
        with pytest.raises(sa.EngineError, match="is partitioned by illness, and the release by no column"):
            session.anonymize("people.parquet", FINE, TABLE, replace="anything")

    def test_types_are_those_of_delta(self, session: sa.Session) -> None:
        kinds = {
            "UBIGINT": "18446744073709551615",
            "DECIMAL(38,2)": "1.50",
            "TIMESTAMP": "2020-01-01 12:00:00.25",
            "TIMESTAMP WITH TIME ZONE": "2020-01-01 12:00:00+00",
            "INTEGER[]": "[1, NULL]",
            "BLOB": "ab",
            "DOUBLE": "nan",
            "BOOLEAN": "true",
        }
        columns = ", ".join(f"'{value}'::{kind} AS c{place}" for place, (kind, value) in enumerate(kinds.items()))
        names = [f"c{place}" for place in range(len(kinds))]
        wanted = sa.Policy(quasi_identifiers=["age"], insensitive=names, privacy=[sa.KAnonymity(5)])
        session.anonymize(f"SELECT 1 AS age, {columns} FROM range(9)", wanted, TABLE)
        found = deltalake.DeltaTable("released").to_pyarrow_table()
        expected = ["decimal128(20, 0)", "decimal128(38, 2)", "timestamp[us]"]
        assert [str(kind) for kind in found.schema.types[1:4]] == expected
        assert str(found["c0"][0].as_py()) == "18446744073709551615"
        assert found["c4"][0].as_py() == [1, None]
        assert session.verify(TABLE, wanted).met

    def test_commands_take_it(self, session: sa.Session) -> None:
        session.close()
        Path("p.toml").write_text(POLICY, encoding="utf-8")
        known = ["--db", "w.duckdb", "--policy", "p.toml"]
        for words in (["run", "people.parquet", *known, "--into", TABLE], ["verify", TABLE, *known]):
            done = sqlanon(*words, folder=Path.cwd())
            assert done.returncode == 0, done.stderr
        assert sum(rows().values()) == ROWS


class TestReplacing:
    def test_a_commit_of_another_program_meanwhile_is_kept(self, released: sa.Session) -> None:
        commit = DeltaLakeTable.commit

        def append(table: DeltaLakeTable, release: Any) -> None:
            old = deltalake.DeltaTable("released").to_pyarrow_table()
            deltalake.write_deltalake("released", old.slice(0, 1), mode="append")
            commit(table, release)

        with (
            mock.patch.object(DeltaLakeTable, "commit", append),
            pytest.raises(sa.EngineError, match="another program has changed the Delta table"),
        ):
            released.anonymize("people.parquet", COARSE, TABLE, replace=True)
        assert deltalake.DeltaTable("released").version() == 1
        assert sum(rows().values()) == ROWS + 1
        assert sorted(path.name for path in Path("released").glob("release-*")) == ["release-0"]

    def test_a_commit_that_was_made_stays_whatever_came_after(self, released: sa.Session) -> None:
        commit = DeltaLakeTable.commit

        def fail(table: DeltaLakeTable, release: Any) -> None:
            commit(table, release)
            raise KeyboardInterrupt

        with mock.patch.object(DeltaLakeTable, "commit", fail), pytest.raises(KeyboardInterrupt):
            released.anonymize("people.parquet", COARSE, TABLE, replace=True)
        assert released.verify(TABLE, COARSE).met

    def test_a_commit_that_fails_leaves_nothing(self, prepared: Path, session: sa.Session) -> None:
        for exists in (False, True):
            if exists:
                shutil.copytree(prepared / "released", "released")
            before = sorted(Path().rglob("*"))
            failing = mock.patch.object(DeltaLakeTable, "commit", side_effect=sa.EngineError("no", step="publish"))
            with failing, pytest.raises(sa.EngineError, match="no"):
                session.anonymize("people.parquet", COARSE, TABLE, replace=True)
            assert sorted(Path().rglob("*")) == before

    def test_a_release_that_falls_short_is_not_committed(self, released: sa.Session) -> None:
        before = state()
        short = mock.patch(
            "sqlanon.methods.full_domain.full_domain_run.FullDomainRun.verify",
            side_effect=sa.VerificationError("short"),
        )
        with short, pytest.raises(sa.VerificationError):
            released.anonymize("people.parquet", COARSE, TABLE, replace=True)
        assert state() == before
        assert not [*Path().glob(".*")]


class TestTampering:
    def shortfalls(self, session: sa.Session) -> str:
        with pytest.raises(sa.EngineError, match="was changed since sqlanon wrote it"):
            session.anonymize("people.parquet", COARSE, TABLE, replace=True)
        return " ".join(session.verify(TABLE, FINE, strict=False).shortfalls)

    def test_rows_that_were_appended(self, released: sa.Session) -> None:
        old = deltalake.DeltaTable("released").to_pyarrow_table()
        deltalake.write_deltalake("released", old.slice(0, 1), mode="append")
        found = self.shortfalls(released)
        assert "more files than were written: 2 where there were 1" in found
        assert "601 rows where 600 were released" in found

    def test_rows_that_were_deleted(self, released: sa.Session) -> None:
        deltalake.DeltaTable("released").delete("age = '1'")
        assert "other names or sizes than those that were written" in self.shortfalls(released)

    def test_rows_that_were_deleted_by_a_vector(self, released: sa.Session) -> None:
        delete_a_row("released")
        assert "rows of its files were deleted (deletion vectors)" in self.shortfalls(released)

    def test_a_file_with_another_content(self, released: sa.Session) -> None:
        (file,) = Path("released", "release-0").iterdir()
        content = file.read_bytes()
        assert b"DuckDB version" in content
        file.write_bytes(content.replace(b"DuckDB version", b"DuckDB Version"))
        found = released.verify(TABLE, FINE, strict=False)
        assert "1 of its 1 files have another content than was written" in found.shortfalls
        deltalake.write_deltalake("released", pa.table({"age": ["1"]}), mode="overwrite", schema_mode="overwrite")
        with pytest.raises(sa.EngineError, match="cannot be read as it was written; its files have other names"):
            released.verify(TABLE, FINE)

    def test_a_column_that_was_added(self, released: sa.Session) -> None:
        column = deltalake.Field("more", deltalake.schema.PrimitiveType("string"))
        deltalake.DeltaTable("released").alter.add_columns(column)
        assert "more" in " ".join(released.verify(TABLE, FINE, strict=False).shortfalls)


class TestRefused:
    def test_a_table_of_others(self, session: sa.Session) -> None:
        of_others()
        before = state()
        with pytest.raises(sa.EngineError, match="exists; give another name"):
            session.anonymize("people.parquet", FINE, TABLE)
        with pytest.raises(sa.EngineError, match="was not written by sqlanon"):
            session.anonymize("people.parquet", FINE, TABLE, replace=True)
        assert state() == before
        assert "it has no provenance" in " ".join(session.verify(TABLE, FINE, strict=False).shortfalls)
        session.anonymize("people.parquet", FINE, TABLE, replace="anything")
        assert session.verify(TABLE, FINE).met

    def test_a_package_that_is_not_installed(self, session: sa.Session) -> None:
        missing = mock.patch.dict(sys.modules, {"deltalake": None})
        for call in (
            lambda: session.anonymize("people.parquet", FINE, TABLE),
            lambda: session.verify(TABLE, FINE),
            lambda: session.measure(TABLE, FINE),
        ):
            with missing, pytest.raises(sa.EngineError, match=r"needs deltalake, which is not installed; .*\[delta\]"):
                call()
        assert not Path("released").exists()

    def test_a_name_of_no_table(self, session: sa.Session) -> None:
        Path("full").mkdir()
        Path("full", "notes.txt").write_text("mine", encoding="utf-8")
        before = sorted(Path().rglob("*"))
        for into, reason in {
            "delta:": "is not the path of a folder",
            "delta:s3://bucket/table": "is not the path of a folder of this machine",
            "delta:100%25": "cannot read a table at",
            "delta:a#b": "cannot read a table at",
            "delta:a[0]": "cannot read a table at",
            "delta:nowhere/released": "folder .*nowhere does not exist",
            "delta:people.parquet": "is there, and has no log",
            "delta:full": "is there, and has no log",
            "delta:a\0b": "characters that none can have",
        }.items():
            with pytest.raises(sa.SqlanonError, match=reason):
                session.anonymize("people.parquet", FINE, into, replace="anything")
        for call in (session.measure, session.verify):
            with pytest.raises(sa.EngineError, match=r"there is no Delta table .*none"):
                call("delta:none", FINE)
        session.partitions.fit("people.parquet", FINE, "people.fit")
        with pytest.raises(sa.EngineError, match="partitions cannot be published to the Delta table"):
            session.partitions.apply("people.parquet", "people.fit", into=TABLE)
        assert sorted(Path().rglob("*")) == sorted([*before, Path("people.fit")])

    def test_odd_names_of_folders_are_taken(self, session: sa.Session) -> None:
        name = "ä b'\";a=b&y%*{0}"
        session.anonymize("people.parquet", FINE, f"delta:{name}")
        assert session.verify(f"delta:{name}", FINE).met
        assert sum(rows(name).values()) == ROWS

    def test_columns_that_no_table_has(self, session: sa.Session) -> None:
        before = sorted(Path().rglob("*"))
        for column, partitions, reason in (
            ("'x' AS \"a b\"", [], 'refuse column names with .* rename "a b" in a query'),
            ("uuid() AS one", [], r'no types for the values of the columns "one" \(UUID\)'),
            ("{'a': 1} AS one", [], "no types for the values"),
            ("TIME '10:00' AS one", [], "no types for the values"),
            ("'' AS one", ["one"], "empty texts cannot partition"),
            ("1.5::DOUBLE AS one", ["one"], "is partitioned by texts, whole numbers"),
        ):
            query = parse_one(f"SELECT '1' AS age, {column} FROM range(9)", dialect="duckdb")
            assert isinstance(query, exp.Query)
            into = destination(TABLE, partition_by=partitions)
            with (
                pytest.raises(sa.SqlanonError, match=reason),
                target_for(engine_of(session), into, {}, replace=False) as target,
            ):
                target.write(query)
                target.add_record(new_record())
            assert sorted(Path().rglob("*")) == before
        wanted = sa.Policy(quasi_identifiers=["age"], insensitive=["one"], privacy=[sa.KAnonymity(5)])
        with pytest.raises(sa.SqlanonError, match=reason):
            session.anonymize(f"SELECT 1 AS age, {column} FROM range(9)", wanted, TABLE, partition_by="one")
        assert sorted(Path().rglob("*")) == before

    def test_times_without_a_zone_in_a_table_that_takes_none(self, released: sa.Session) -> None:
        days = "SELECT 1 AS age, TIMESTAMP '2020-01-01' AS day FROM range(9)"
        wanted = sa.Policy(quasi_identifiers=["age"], insensitive=["day"], privacy=[sa.KAnonymity(5)])
        with pytest.raises(sa.EngineError, match="refuses times without a zone"):
            released.anonymize(days, wanted, TABLE, replace=True)
        assert released.verify(TABLE, FINE).met

    def test_its_own_source(self, session: sa.Session) -> None:
        of_others("people", **people().to_pydict())
        before = state("people")
        for source in ("delta:people", "FROM 'people/*.parquet'"):
            with pytest.raises(sa.EngineError, match=r"its own source|among the files of the source"):
                session.anonymize(source, FINE, "delta:people", replace="anything")
        assert state("people") == before


class TestSources:
    @pytest.fixture
    def partitioned(self, session: sa.Session) -> sa.Session:
        """The people as a table that is partitioned, and has two versions."""
        table = people()
        deltalake.write_deltalake("people", table.slice(0, 500), partition_by=["illness"])
        deltalake.write_deltalake("people", table.slice(500), mode="append")
        return session

    def test_the_newest_version_is_read(self, partitioned: sa.Session) -> None:
        release = partitioned.anonymize("delta:people", FINE, "released.parquet")
        assert release.report.rows.source == ROWS
        found = duckdb.sql("SELECT age, illness, cost FROM 'released.parquet'").fetchall()
        expected = duckdb.sql("SELECT age::VARCHAR, illness, cost FROM 'people.parquet'").fetchall()
        assert Counter(found) == Counter(expected)
        deltalake.DeltaTable("people").delete("cost < 100")
        assert partitioned.measure("delta:people", FINE).row_count == 300
        deltalake.DeltaTable("people").delete()
        with pytest.raises(sa.EngineError, match="has no rows"):
            partitioned.anonymize("delta:people", FINE, "released")

    def test_columns_that_came_later_are_missing_before(self, partitioned: sa.Session) -> None:
        more = pa.table({"age": [1], "illness": ["flu"], "cost": pa.array([1], pa.int32()), "id": [7], "more": ["x"]})
        deltalake.write_deltalake("people", more, mode="append", schema_mode="merge")
        wanted = FINE.model_copy(update={"insensitive": ("illness", "cost", "more")})
        partitioned.anonymize("delta:people", wanted, "released.parquet")
        assert duckdb.sql("SELECT count(*), count(more) FROM 'released.parquet'").fetchall() == [(601, 1)]

    def test_a_version_that_was_committed_meanwhile_is_refused(self, partitioned: sa.Session) -> None:
        before = sorted(Path().glob("*"))

        def commit(event: sa.Event) -> None:
            if event.stage == "verify" and event.state == "started":
                old = deltalake.DeltaTable("people").to_pyarrow_table()
                deltalake.write_deltalake("people", old.slice(0, 1), mode="append")

        for version, into in enumerate(("released", "released.parquet", "released/", TABLE), 1):
            reason = f"has version {version + 1} by now, and the run has read version {version}"
            with pytest.raises(sa.EngineError, match=reason):
                partitioned.anonymize("delta:people", FINE, into, progress=commit)
            assert sorted(Path().glob("*")) == before
        tables = "SELECT 1 FROM duckdb_tables() WHERE table_name = 'released'"
        assert not partitioned.connection.execute(tables).fetchall()

    def test_its_account_is_that_of_its_folder(self, session: sa.Session) -> None:
        session.ledger.cap("delta:people", sa.Budget(1))
        assert session.ledger.remaining(f"{Path('people').resolve()}/") == sa.Budget(1)

    def test_files_with_rows_that_were_deleted_by_a_vector(self, session: sa.Session) -> None:
        deltalake.write_deltalake("people", people())
        assert session.measure("delta:people", FINE).row_count == ROWS
        delete_a_row("people")
        with pytest.raises(sa.EngineError, match=r"cannot be read: rows of its files were deleted .deletion vectors."):
            session.measure("delta:people", FINE)

    def test_files_that_do_not_have_the_rows(self, partitioned: sa.Session) -> None:
        log = Path("people", "_delta_log", f"{2:020}.json")
        protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
        first = [json.loads(line) for line in Path("people", "_delta_log", f"{0:020}.json").read_text().splitlines()]
        metadata = next(line["metaData"] for line in first if "metaData" in line)
        metadata["configuration"] = {"delta.columnMapping.mode": "name"}
        schema = json.loads(metadata["schemaString"])
        for place, each in enumerate(schema["fields"], 1):
            each["metadata"] = {"delta.columnMapping.id": place, "delta.columnMapping.physicalName": each["name"]}
        metadata["schemaString"] = json.dumps(schema)
        log.write_text("\n".join(map(json.dumps, [{"protocol": protocol}, {"metaData": metadata}])), encoding="utf-8")
        with pytest.raises(sa.EngineError, match="cannot be read: its files have other names for its columns"):
            partitioned.measure("delta:people", FINE)
