"""Releases of several tables are published in one step: all tables, or none, in a folder or a schema."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.paths import is_whole
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, TargetError
from sqlanon.methods.stages import silent
from sqlanon.model.destination import MARKER, Replace
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.labels import NodeRecord
from sqlanon.model.policy.linked_policy import LinkedPolicy, TableRoles
from sqlanon.model.record import CompanionRecord, LinkedRecord, LinkedTableRecord, Record, RowsRecord
from sqlanon.publish.files import PREVIOUS, exchange
from sqlanon.publish.linked_targets import LinkedTarget, linked_destination, linked_target
from sqlanon.publish.provenance import record_by
from sqlanon.run.linked import anonymize_linked
from sqlanon.verification.found_linked import FoundLinked, find_linked
from tests.conftest import ROOT
from tests.engines import engine_of

HOSTILE = '"a""b"; drop table x --'
TABLES = ("patients", "visits")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with sa.connect() as session:
        yield engine_of(session)


def policy(at_most: int = 7) -> LinkedPolicy:
    patients = TableRoles(row_key="pid", quasi_identifiers=("born",), identifiers=("name",))
    visits = TableRoles(
        parent="patients", key="pid", quasi_identifiers=("ward",), at_most=at_most, above="first", order=("ward",)
    )
    return LinkedPolicy(privacy=(KnownRows(2),), tables={"patients": patients, "visits": visits})


def record(tables: tuple[str, ...] = TABLES) -> Record:
    linked = LinkedRecord(tables={name: LinkedTableRecord(rows=RowsRecord(source=3, released=2)) for name in tables})
    labels = NodeRecord(levels={"patients.born": 1, "visits.ward": 0})
    return record_by(policy(), taxonomy_sha256={"patients.born": "0"}, linked=linked, labels=labels)


def rows(seed: int, count: int = 3) -> exp.Query:
    query = sqlglot.parse_one(
        f"SELECT i AS pid, 'w' || (i + {seed}) AS ward FROM range({count}) AS t(i)", read="duckdb"
    )
    assert isinstance(query, exp.Query)
    return query


@contextmanager
def opened(
    engine: Engine,
    into: str | Path,
    tables: tuple[str, ...] = TABLES,
    read: dict[str, ResolvedSource] | None = None,
    *,
    replace: Replace = False,
) -> Iterator[LinkedTarget]:
    target = linked_target(engine, linked_destination(into), tables, read or {}, replace)
    with target.opened(), engine.transaction():
        yield target


def publish(
    engine: Engine, into: str | Path, seed: int = 0, tables: tuple[str, ...] = TABLES, *, replace: Replace = False
) -> None:
    with opened(engine, into, tables, replace=replace) as target:
        for name in tables:
            target.write_table(name, rows(seed))
        target.add_record(record(tables))


def shown(engine: Engine, found: FoundLinked) -> dict[str, list[tuple[Any, ...]]]:
    return {name: engine.rows(f"FROM {each.relation.sql('duckdb')}") for name, each in found.tables.items()}


def wards(seed: int) -> list[tuple[Any, ...]]:
    return [(i, f"w{i + seed}") for i in range(3)]


@pytest.fixture(params=["folder", "schema", "quoted schema", "schema of a database"])
def place(request: pytest.FixtureRequest, tmp_path: Path, engine: Engine) -> str:
    if request.param == "schema of a database":
        engine.rows("ATTACH ':memory:' AS \"other.db\"")
    return {
        "folder": f"{tmp_path}/released/",
        "schema": "released",
        "quoted schema": '"my ""released.now"',
        "schema of a database": '"other.db".released',
    }[request.param]


def changes(engine: Engine, place: str | Path) -> list[str]:
    return [*find_linked(engine, place).shortfalls]


class TestEveryPlace:
    def test_what_is_published_is_found_unchanged(self, engine: Engine, place: str) -> None:
        publish(engine, place)
        found = find_linked(engine, place)
        assert found.shortfalls == ()
        assert shown(engine, found) == {"patients": wards(0), "visits": wards(0)}
        assert found.record is not None
        assert found.record.linked is not None
        assert [*found.record.linked.tables] == ["patients", "visits"]
        assert isinstance(found.record.labels, NodeRecord)
        assert found.record.labels.levels["patients.born"] == 1

    def test_written_rows_are_read_before_they_are_published(self, engine: Engine, place: str) -> None:
        with opened(engine, place) as target:
            read = [engine.rows(f"FROM {target.write_table(name, rows(4)).relation.sql('duckdb')}") for name in TABLES]
            target.add_record(record())
        assert read == [wards(4), wards(4)]

    def test_a_release_is_replaced_only_if_asked(self, engine: Engine, place: str) -> None:
        publish(engine, place)
        with pytest.raises(TargetError, match="exists"):
            publish(engine, place, 1)
        assert shown(engine, find_linked(engine, place))["visits"] == wards(0)
        publish(engine, place, 1, replace=True)
        assert changes(engine, place) == []
        assert shown(engine, find_linked(engine, place)) == {"patients": wards(1), "visits": wards(1)}

    @pytest.mark.parametrize("fails_after", [0, 1, 2, 3])
    def test_a_failed_run_leaves_the_old_release_or_nothing(self, engine: Engine, place: str, fails_after: int) -> None:
        def fail(seed: int, replace: bool) -> None:
            with pytest.raises(ZeroDivisionError), opened(engine, place, replace=replace) as target:
                steps = [*TABLES, None]
                for name in steps[:fails_after]:
                    target.add_record(record()) if name is None else target.write_table(name, rows(seed))
                raise ZeroDivisionError

        fail(1, replace=False)
        with pytest.raises(EngineError, match="does not exist"):
            find_linked(engine, place)
        publish(engine, place)
        fail(1, replace=True)
        assert changes(engine, place) == []
        assert shown(engine, find_linked(engine, place)) == {"patients": wards(0), "visits": wards(0)}

    def test_tables_that_a_new_release_lacks_go_with_the_old_one(self, engine: Engine, place: str) -> None:
        publish(engine, place, tables=(*TABLES, "diagnoses"))
        publish(engine, place, 1, replace=True)
        found = find_linked(engine, place)
        assert (found.shortfalls, sorted(found.tables)) == ((), ["patients", "visits"])
        if not place.endswith("/"):
            assert not engine.find(f"{place}.diagnoses")

    def test_hostile_names_are_names(self, engine: Engine, place: str) -> None:
        engine.rows("CREATE TABLE x AS SELECT 1")
        tables = ("patients", HOSTILE, "drop", "größe €")
        publish(engine, place, 2, tables)
        publish(engine, place, 3, tables, replace=True)
        found = find_linked(engine, place)
        assert found.shortfalls == ()
        assert shown(engine, found) == dict.fromkeys(tables, wards(3))
        assert engine.rows("SELECT count(*) FROM x") == [(1,)]

    def test_names_that_differ_in_case_are_refused(self, engine: Engine, place: str) -> None:
        with pytest.raises(TargetError, match='"visits" and "VISITS" differ at most in the case'):
            publish(engine, place, tables=("patients", "visits", "VISITS"))

    def test_rows_keep_the_order_of_the_query(self, engine: Engine, place: str) -> None:
        query = sqlglot.parse_one("SELECT i FROM range(300000) AS t(i) ORDER BY hash(i)", read="duckdb")
        assert isinstance(query, exp.Query)
        with opened(engine, place) as target:
            for name in TABLES:
                target.write_table(name, query.copy())
            target.add_record(record())
        written = find_linked(engine, place).tables["visits"].relation.sql("duckdb")
        in_order = engine.rows(f"SELECT hash(i) > lag(hash(i)) OVER () AS later FROM {written}")
        assert {later for (later,) in in_order[1:]} == {True}

    def test_a_release_does_not_replace_its_source(self, engine: Engine, place: str) -> None:
        publish(engine, place)
        source = find_linked(engine, place).tables["visits"]
        with (
            pytest.raises(EngineError, match="would replace its own source"),
            opened(engine, place, read={"source": source}, replace=True),
        ):
            pass

    def test_the_record_has_no_cap(self, engine: Engine, place: str) -> None:
        publish(engine, place)
        found = find_linked(engine, place).record
        assert found is not None
        assert "at_most" not in found.text
        assert "order" not in json.loads(found.text)["sqlanon"]["policy"]["tables"]["visits"]
        # Nor has its hash: who knows the rest could try all caps.
        assert found.policy_sha256 == policy(3).sha256() == policy(7).sha256()

    def test_the_record_has_names_of_files_without_their_folders(
        self, engine: Engine, place: str, tmp_path: Path
    ) -> None:
        given = policy()
        ward = {"kind": "file", "file": str(tmp_path / "wards.csv")}
        fields = given.model_dump()
        fields["tables"]["visits"]["taxonomies"] = {"ward": ward}
        tables = record().linked
        assert tables is not None
        made = record_by(LinkedPolicy(**fields), linked=tables)
        assert str(tmp_path) not in made.text
        assert [each.name for each in made.policy_files] == ["wards.csv"]
        with opened(engine, place) as target:
            for name in TABLES:
                target.write_table(name, rows(0))
            target.add_record(made)
        assert changes(engine, place) == []


class TestFolders:
    @pytest.fixture
    def folder(self, tmp_path: Path, engine: Engine) -> Path:
        publish(engine, tmp_path / "released")
        return tmp_path / "released"

    def test_a_folder_has_a_file_per_table_and_one_record(self, folder: Path) -> None:
        assert sorted(path.name for path in folder.iterdir()) == [MARKER, "patients.parquet", "visits.parquet"]
        assert [path.name for path in folder.parent.iterdir()] == ["released"]

    def test_a_release_is_replaced_by_the_name_of_its_folder(self, folder: Path, engine: Engine) -> None:
        with opened(engine, str(folder), replace=True) as target:
            for name in TABLES:
                target.write_table(name, rows(5))
                assert target.place_of(name) == str(folder / f"{name}.parquet")
            target.add_record(record())
        assert shown(engine, find_linked(engine, str(folder)))["visits"] == wards(5)

    def test_a_run_publishes_no_path_of_the_machine(self, engine: Engine, tmp_path: Path) -> None:
        (tmp_path / "wards.csv").write_text("ward,any\nw0,any\nw1,any\n")
        engine.rows("CREATE TABLE patients AS SELECT i AS pid, i // 2 AS born, 'x' AS name FROM range(8) AS t(i)")
        engine.rows("CREATE TABLE visits AS SELECT i // 2 AS pid, 'w' || (i % 2) AS ward FROM range(16) AS t(i)")
        fields = policy().model_dump()
        fields["tables"]["patients"]["taxonomies"] = {"born": "flat"}
        fields["tables"]["visits"]["taxonomies"] = {"ward": {"kind": "file", "file": str(tmp_path / "wards.csv")}}
        sources = {name: engine.resolve(name) for name in TABLES}
        place = tmp_path / "released"
        anonymize_linked(engine, sources, LinkedPolicy(**fields), place, replace=False, progress=silent)
        found = find_linked(engine, place)
        assert (found.shortfalls, sorted(found.tables)) == ((), ["patients", "visits"])
        assert str(tmp_path) not in (place / MARKER).read_text()
        assert found.record is not None
        assert found.record.promise is not None
        assert [each.name for each in found.record.policy_files] == ["wards.csv"]

    def test_a_change_is_named(self, folder: Path, engine: Engine, tmp_path: Path) -> None:
        publish(engine, tmp_path / "other", 9)
        (tmp_path / "other" / "visits.parquet").replace(folder / "visits.parquet")
        assert changes(engine, folder) == ['of the table "visits": its file was changed since it was written']
        (folder / "visits.parquet").write_text("nothing")
        (folder / "more.parquet").write_text("nothing")
        assert changes(engine, folder) == [
            'of the table "visits": its file was changed since it was written',
            "it has 1 file more than were written",
            'of the table "visits": it cannot be read as a Parquet file',
        ]
        (folder / "visits.parquet").unlink()
        (folder / "more.parquet").unlink()
        assert changes(engine, folder) == ['of the table "visits": it is not there']

    def test_swapped_keys_are_found(self, folder: Path, engine: Engine) -> None:
        one, other, between = folder / "patients.parquet", folder / "visits.parquet", folder / "between"
        publish(engine, folder, tables=TABLES, replace=True)
        with opened(engine, folder, replace=True) as target:
            target.write_table("patients", rows(1))
            target.write_table("visits", rows(2))
            target.add_record(record())
        one.rename(between)
        other.rename(one)
        between.rename(other)
        assert len(changes(engine, folder)) == 2

    def test_a_changed_record_is_named(self, folder: Path, engine: Engine) -> None:
        marker = folder / MARKER
        text = marker.read_text()
        marker.write_text(text.replace('"released": 2', '"released": 9'))
        assert changes(engine, folder) == ["its provenance was changed since it was written: its hash differs"]
        marker.write_text(text.replace('"suppression_limit": 0.0', '"suppression_limit": 0.5', 1))
        assert "the policy in its provenance does not have its recorded hash" in changes(engine, folder)
        marker.write_text("{}")
        assert "no provenance" in changes(engine, folder)[0]
        marker.unlink()
        found = find_linked(engine, folder)
        assert sorted(found.tables) == ["patients", "visits"]
        assert "no provenance" in found.shortfalls[0]

    def test_only_an_unchanged_release_is_replaced(self, folder: Path, engine: Engine) -> None:
        (folder / "notes.txt").write_text("mine")
        for replace in (True, "anything"):
            with pytest.raises(EngineError, match="holds other files than a release"):
                publish(engine, folder, 1, replace=replace)
        assert (folder / "notes.txt").read_text() == "mine"

    def test_it_is_read_by_tables(self, folder: Path, engine: Engine) -> None:
        with pytest.raises(EngineError, match=r"several tables: name the file of one, as .*patients\.parquet or"):
            engine.resolve(f"{folder}/")
        assert engine.rows(f"SELECT count(*) FROM {engine.resolve(folder / 'visits.parquet').relation.sql('duckdb')}")

    def test_releases_of_one_table_and_of_several_replace_each_other(self, tmp_path: Path) -> None:
        with sa.connect() as session:
            session.connection.execute("CREATE TABLE source AS SELECT i // 5 AS age FROM range(20) AS t(i)")
            one = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)], taxonomies={"age": "flat"})
            place = f"{tmp_path}/released/"
            session.anonymize("source", one, into=place)
            with pytest.raises(EngineError, match="a release of one table"):
                find_linked(engine_of(session), place)
            publish(engine_of(session), place, replace=True)
            assert changes(engine_of(session), place) == []
            session.anonymize("source", one, into=place, replace=True)
            assert session.verify(place, one).met

    def test_impossible_files_are_refused_together(self, engine: Engine, tmp_path: Path) -> None:
        names = ("patients", "", "a/b", "..", ".hidden", "x" * 300, "a*", "n\0l")
        with pytest.raises(TargetError) as refused:
            publish(engine, tmp_path / "released", tables=names)
        assert len(str(refused.value).split("; ")) == len(names) - 1
        assert [*tmp_path.iterdir()] == []

    def test_a_place_that_cannot_be_written(self, engine: Engine, tmp_path: Path) -> None:
        with mock.patch("os.access", return_value=False), pytest.raises(EngineError, match="cannot be written"):
            publish(engine, tmp_path / "released")
        with pytest.raises(EngineError, match="does not exist"):
            publish(engine, tmp_path / "missing" / "released")
        (tmp_path / "file").touch()
        with pytest.raises(EngineError, match="is a file"):
            publish(engine, tmp_path / "file")

    @pytest.mark.parametrize(
        "into", ["released.csv", Path("released.parquet"), "s3://bucket/released/", "delta:/tmp/x", "iceberg:a.b.c"]
    )
    def test_other_places_are_refused(self, engine: Engine, into: str | Path) -> None:
        with pytest.raises(TargetError, match="a release of several tables goes to a folder"):
            publish(engine, into)

    def test_a_killed_run_leaves_one_release_whole(self, folder: Path, engine: Engine) -> None:
        states = []
        for wait in ("patients", "visits", "record", "swap", "in between", "swapped"):
            command = [sys.executable, "-m", "tests.stories.test_linked_targets", str(folder), wait]
            with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as run:
                assert run.stdout is not None
                assert run.stdout.readline() == b"now\n"
                run.send_signal(signal.SIGKILL)
            found = find_linked(engine, folder)
            assert found.shortfalls == ()
            found_rows = shown(engine, found)
            assert found_rows["patients"] == found_rows["visits"]
            states.append(found_rows["visits"] == wards(1))
        assert states == [False, False, False, False, False, True]
        publish(engine, folder, 2, replace=True)
        assert [path.name for path in folder.parent.iterdir()] == ["released"]


class TestSchemas:
    def test_comments(self, engine: Engine) -> None:
        publish(engine, "released")
        comments: dict[str, str] = dict(
            engine.rows("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'released'")
        )
        records = {name: Record.parse(text) for name, text in comments.items()}
        assert records["patients"] is not None
        assert records["patients"].linked is not None
        assert records["visits"] is not None
        assert records["visits"].companion is not None
        assert records["visits"].linked is None

    def test_other_tables_of_the_schema_stay(self, engine: Engine) -> None:
        engine.rows("CREATE SCHEMA released")
        engine.rows("CREATE TABLE released.mine AS SELECT 1 AS a")
        publish(engine, "released")
        publish(engine, "released", 1, replace=True)
        assert engine.rows("FROM released.mine") == [(1,)]
        assert changes(engine, "released") == []

    def test_parts_of_releases_of_one_table_stay(self, engine: Engine) -> None:
        """A matrix of PRAM names the table of its release, and another one can have that name."""
        engine.rows("CREATE SCHEMA released")
        engine.rows("CREATE TABLE released.matrix AS SELECT 1 AS a")
        part = record_by(policy(), companion=CompanionRecord(name="pram_job", release="patients"))
        engine.comment_table(exp.table_("matrix", "released"), part.text)
        publish(engine, "released")
        publish(engine, "released", 1, replace=True)
        assert engine.rows("FROM released.matrix") == [(1,)]

    def test_tables_of_others_are_refused(self, engine: Engine) -> None:
        engine.rows("CREATE SCHEMA released")
        for name in TABLES:
            engine.rows(f"CREATE TABLE released.{name} AS SELECT 1 AS a")
        with pytest.raises(TargetError, match=r'"released\.patients" exists.*"released\.visits" exists'):
            publish(engine, "released")
        with pytest.raises(EngineError, match="was not written by sqlanon"):
            publish(engine, "released", replace=True)
        assert engine.rows("FROM released.visits") == [(1,)]
        publish(engine, "released", replace="anything")
        assert changes(engine, "released") == []

    def test_several_releases_of_a_schema(self, engine: Engine) -> None:
        publish(engine, "released")
        publish(engine, "released", 1, ("people", "stays"))
        with pytest.raises(EngineError, match='they are "patients" and "people"'):
            find_linked(engine, "released")
        assert shown(engine, find_linked(engine, "released.people")) == {"people": wards(1), "stays": wards(1)}
        with pytest.raises(TargetError, match='"visits" is of the release with "patients"'):
            publish(engine, "released", 1, ("people", "visits"), replace=True)
        assert changes(engine, "released.patients") == []

    @pytest.mark.parametrize(
        ("statement", "change"),
        [
            ("DROP TABLE released.visits", ['of the table "visits": it is not there']),
            (
                "UPDATE released.visits SET ward = 'x' WHERE pid = 1",
                ['of the table "visits": its rows are not those written'],
            ),
            (
                "ALTER TABLE released.visits RENAME ward TO unit",
                ['of the table "visits": its columns have other names or types than those written'],
            ),
            (
                "COMMENT ON TABLE released.visits IS NULL",
                ['of the table "visits": it has no provenance of this release'],
            ),
            (
                "COMMENT ON COLUMN released.visits.ward IS 'x'",
                ['of the table "visits": 1 comments on its columns were added since it was written'],
            ),
        ],
    )
    def test_a_change_is_named(self, engine: Engine, statement: str, change: list[str]) -> None:
        publish(engine, "released")
        engine.rows(statement)
        assert changes(engine, "released") == change

    def test_without_the_table_of_persons(self, engine: Engine) -> None:
        publish(engine, "released")
        engine.rows("DROP TABLE released.patients")
        found = find_linked(engine, "released")
        assert [*found.tables] == ["visits"]
        assert 'of the table "patients": it is not there' in found.shortfalls

    def test_a_table_of_another_release_is_found(self, engine: Engine) -> None:
        publish(engine, "released")
        publish(engine, "other", 1)
        engine.rows("DROP TABLE released.visits")
        comment = engine.rows("SELECT comment FROM duckdb_tables() WHERE table_name = 'visits'")[0][0]
        engine.rows("CREATE TABLE released.visits AS FROM other.visits")
        engine.comment_table(engine.resolve("released.visits").relation, comment)  # type: ignore[arg-type]
        assert changes(engine, "released") == ['of the table "visits": its rows are not those written']

    def test_a_warehouse_that_is_only_read(self, tmp_path: Path) -> None:
        duckdb.connect(str(tmp_path / "house.duckdb")).close()
        with (
            sa.connect(tmp_path / "house.duckdb", read_only=True) as session,
            pytest.raises(EngineError, match="read-only"),
        ):
            publish(engine_of(session), "released")

    @pytest.mark.parametrize(
        "into", ["anon", "no.such.schema", "nowhere.released", "Information_schema", "memory.pg_catalog", "system"]
    )
    def test_schemas_that_are_not_to_be_had(self, engine: Engine, into: str) -> None:
        with pytest.raises(EngineError, match=r"reserved|is not the name of a schema"):
            publish(engine, into)


def killed_at(folder: str, moment: str) -> None:
    """Replace a release, and wait at a moment for somebody who kills this process."""

    def at(now: str) -> None:
        if now == moment:
            sys.stdout.write("now\n")
            sys.stdout.flush()
            signal.pause()

    def swap(staged: Path, target: Path) -> bool:
        at("swap")
        done = moment != "in between" and exchange(staged, target)  # else in two steps, as where it is unsupported
        at("swapped")
        return done

    def looked_at(folder: Path) -> bool:
        at("in between" if folder.name.endswith(PREVIOUS) else "before")
        return is_whole(folder)

    swapping = mock.patch.multiple("sqlanon.publish.folders", exchange=swap, is_whole=looked_at)
    with swapping, sa.connect() as session, opened(engine_of(session), Path(folder), replace=True) as target:
        for name in TABLES:
            target.write_table(name, rows(1))
            at(name)
        target.add_record(record())
        at("record")


if __name__ == "__main__":
    killed_at(*sys.argv[1:])
