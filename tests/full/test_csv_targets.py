"""CSV files as targets: what is in them, the note beside them, and what becomes of both when either is changed."""

import errno
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import sqlglot
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.csv_notes import look_at, read_note
from sqlanon.model.destination import Replace, destination
from sqlanon.publish import csv as to_csv
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import target_for
from tests.engines import engine_of

LABELS = ["10", "007", "", "NULL", None, " a ", 'say "x"', "a,b", "one\ntwo", "one\r\ntwo", "\r", '"\n"', "é €", "\\N"]
LABELS += ["#", "nan", "2020-01-01", "true", "''", '""', "\t", '1,"x"\n2,"y"\n']
POLICY = sa.Policy(quasi_identifiers=["age"], sensitive=["value"], identifiers=["id"], privacy=[sa.KAnonymity(2)])
OTHER = POLICY.model_copy(update={"minimum_levels": {"age": 1}})
KEPT = (
    "CAST(0.1 AS DOUBLE) + 0.2", "CAST(1.1 AS FLOAT)", "CAST('1e-320' AS DOUBLE)", "CAST('-0.0' AS DOUBLE)",
    "TIMESTAMPTZ '2024-10-27 01:30:00+00'", "INTERVAL '1 month' - INTERVAL '3 days 1 microsecond'",
    "DATE '0044-03-15 (BC)'", "'null'::JSON", """'{"a": ""}'::JSON""", "CAST(NULL AS INTEGER)",
)  # fmt: skip
REFUSED = {
    "[1]": r'CSV cannot hold the columns "value" \(INTEGER\[\]\)',
    "'a'::BLOB": r'"value" \(BLOB\)',
    "repeat('x', 3000000)": "more than 2,000,000 bytes",
}
"""Values that a CSV keeps, and those that it has no form for, with the reason."""
INTO = "out.csv"
NOTE = "out.csv.sqlanon.json"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    """A session with the table ``given``: every label three times, for ages that are texts of digits."""
    monkeypatch.chdir(tmp_path)
    with sa.connect(threads=1) as session:
        session.taxonomies.load("age", sa.Taxonomy.flat([str(age) for age in range(10, 13)]))
        give(session, LABELS)
        yield session


def give(session: sa.Session, values: list[str | None]) -> None:
    session.connection.execute(
        "CREATE OR REPLACE TABLE given AS SELECT (10 + i)::VARCHAR AS age, unnest($1::VARCHAR[]) AS value, i AS id "
        "FROM range(3) AS r (i)",
        [values],
    )


def rows(session: sa.Session, relation: str) -> list[Any]:
    return session.connection.execute(f"SELECT age, value FROM {relation} ORDER BY ALL").fetchall()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(session: sa.Session, query: str, into: str = INTO, replace: Replace = False) -> str:
    """Write the rows of a query, as a run does; a relation that reads them as a source is read."""
    engine = engine_of(session)
    tree = sqlglot.parse_one(query, dialect="duckdb")
    assert isinstance(tree, exp.Query)
    with target_for(engine, destination(into), {}, replace=replace) as target:
        target.write(tree)
        target.add_record(new_record())
    return engine.resolve(into).relation.sql("duckdb")


def texts(session: sa.Session, relation: str) -> list[Any]:
    """All values as texts, with their type; that of an ENUM is text."""
    kind = "regexp_replace(typeof(value), '^ENUM.*', 'VARCHAR')"
    return session.connection.execute(f"SELECT value::VARCHAR AS t, {kind} FROM {relation} ORDER BY t").fetchall()


def entries() -> int:
    return len(read_note(Path(INTO)))


class TestContent:
    def test_every_text_comes_back(self, session: sa.Session, tmp_path: Path) -> None:
        """An empty text stays one and is not missing; digits stay texts."""
        release = session.anonymize("given", POLICY, INTO)
        assert names(tmp_path) == [INTO, NOTE]
        assert release.node == {"age": 0}
        read = release.to_arrow().to_pylist()
        expected = [{"age": age, "value": value} for age, value in rows(session, "given")]
        assert sorted(map(repr, read)) == sorted(map(repr, expected))
        described = engine_of(session).describe(engine_of(session).resolve(INTO).relation)
        assert [(column.name, column.type) for column in described] == [("age", "VARCHAR"), ("value", "VARCHAR")]
        assert session.verify(INTO, POLICY).notes == ()
        hostile = "x,\n\"y' {: #"
        session.connection.execute('ALTER TABLE given RENAME value TO "{}"'.format(hostile.replace('"', '""')))
        policy = POLICY.model_copy(update={"sensitive": (hostile,)})
        session.anonymize("given", policy, INTO, replace=True)
        assert session.verify(INTO, policy).measurement.row_count == 3 * len(LABELS)

    def test_it_is_a_source_with_its_types(self, session: sa.Session, tmp_path: Path) -> None:
        give(session, ["a", "", None, "10", 'x "y"'])
        session.anonymize("given", POLICY, INTO)
        lines = Path(INTO).read_text(encoding="utf-8").splitlines()
        assert lines[0] == '"age","value"'
        assert sorted(lines[1:])[:5] == ['"10",', '"10",""', '"10","10"', '"10","a"', '"10","x ""y"""']
        again = POLICY.model_copy(update={"identifiers": ()})
        for source in (INTO, Path(INTO), str(tmp_path / INTO), "o*.csv", f"file:{tmp_path}/{INTO}"):
            read = engine_of(session).resolve(source).relation.sql("duckdb")
            assert rows(session, read) == rows(session, "given")
        session.anonymize(INTO, again, "copy")
        assert rows(session, "copy") == rows(session, "given")
        Path(NOTE).unlink()
        assert engine_of(session).describe(engine_of(session).resolve(INTO).relation)[0].type == "BIGINT"
        assert session.provenance(INTO) is None

    def test_every_type_of_the_database(self, session: sa.Session, tmp_path: Path) -> None:
        """Either all values of a type come back with the texts and the type that they had, or it is refused by name."""
        refused = {}
        described = session.connection.execute("DESCRIBE SELECT * FROM test_all_types()").fetchall()
        for name, *_ in described:
            try:
                written = write(session, f'SELECT "{name}" AS value FROM test_all_types()', f"{name}.csv")
            except sa.EngineError as error:
                refused[name] = str(error)
            else:
                assert texts(session, written) == texts(session, f'(SELECT "{name}" AS value FROM test_all_types())')
            assert (tmp_path / f"{name}.csv").exists() == (name not in refused)
            assert (tmp_path / f"{name}.csv.sqlanon.json").exists() == (name not in refused)
        nested = {name for name in refused if "array" in name or "struct" in name}
        assert {"int_array", "struct", "array_of_structs", "fixed_int_array"} <= nested
        assert {"blob", "bit", "map", "union"} <= set(refused) - nested
        assert set(refused) - nested <= {
            *("blob", "bit", "map", "union", "timestamp_tz", "timestamp_tz_ns"),
            *("geometry", "tuple", "variant", "fixed_array_of_int_list"),
        }
        assert all('"value"' in said for said in refused.values())

    def test_values_that_are_kept(self, session: sa.Session) -> None:
        for place, value in enumerate(KEPT):
            written = write(session, f"SELECT {value} AS value FROM range(2)", f"{place}.csv")
            assert texts(session, written) == texts(session, f"(SELECT {value} AS value FROM range(2))"), value

    def test_values_that_are_refused(self, session: sa.Session, tmp_path: Path) -> None:
        for value, reason in REFUSED.items():
            with pytest.raises(sa.EngineError, match=reason):
                write(session, f"SELECT {value} AS value FROM range(2)")
            assert names(tmp_path) == []
        source = f"SELECT '10' AS age, {value} AS value FROM range(2)"
        with pytest.raises(sa.EngineError, match=reason):
            session.anonymize(source, POLICY.model_copy(update={"identifiers": ()}), INTO)
        assert names(tmp_path) == []

    def test_times_of_odd_zones_are_kept_or_refused(self, session: sa.Session) -> None:
        """It depends on the version of the database, which once wrote offsets without their seconds."""
        session.connection.execute("SET TimeZone = 'Europe/Berlin'")
        last = "(SELECT max(timestamp_tz) FROM test_all_types() WHERE isfinite(timestamp_tz))"
        for place, value in enumerate(("TIMESTAMPTZ '1850-01-01 00:00:00+00'", last)):
            try:
                written = write(session, f"SELECT {value} AS value FROM range(2)", f"{place}.csv")
            except sa.EngineError as error:
                assert 'CSV alters values of the columns "value" (' in str(error)
            else:
                assert texts(session, written) == texts(session, f"(SELECT {value} AS value FROM range(2))")

    def test_a_flattened_table_and_a_lattice(self, session: sa.Session) -> None:
        session.flatten("given", "flat.csv", individual="id", event="value", order="age", first=2)
        assert session.provenance("flat.csv") is not None
        nodes = session.lattice("given", POLICY, into="nodes.csv")
        found = session.connection.execute("SELECT \"node.age\", models FROM 'nodes.csv' ORDER BY height").fetchall()
        assert [level for level, _ in found] == list(range(nodes.num_rows))
        models = nodes["models"][0].as_py()
        assert json.loads(found[0][1]) == models
        assert json.loads(str(session.provenance("nodes.csv")))["sqlanon"]["lattice"]["nodes"] == nodes.num_rows


class TestNote:
    def test_it_has_the_provenance(self, session: sa.Session) -> None:
        session.anonymize("given", POLICY, "out.parquet")
        session.anonymize("given", POLICY, INTO)
        ours, parquet = (json.loads(str(session.provenance(into)))["sqlanon"] for into in (INTO, "out.parquet"))
        for record in (ours, parquet):
            record["report"].pop("seconds")
            assert record.pop("content")["file_sha256"]
            assert record.pop("record_sha256")
        assert ours == parquet
        assert entries() == 1

    def test_a_csv_that_was_changed(self, session: sa.Session, tmp_path: Path) -> None:
        session.anonymize("given", POLICY, INTO)
        with Path(INTO).open("a", encoding="utf-8") as file:
            file.write('"10","flu"\n')
        changed = Path(INTO).read_bytes()
        found = session.verify(INTO, POLICY, strict=False)
        assert [line for line in found.shortfalls if "was changed since it was written" in line]
        assert session.verify("o*.csv", POLICY, strict=False).shortfalls == found.shortfalls
        assert session.provenance(INTO) is None
        for replace in (True, "changed"):
            with pytest.raises(sa.EngineError, match=r'changed since sqlanon wrote it.*replace="anything"'):
                session.anonymize("given", POLICY, INTO, replace=replace)
        with pytest.raises(sa.EngineError, match="exists"):
            session.anonymize("given", POLICY, INTO)
        assert Path(INTO).read_bytes() == changed
        session.anonymize("given", POLICY, INTO, replace="anything")
        assert session.verify(INTO, POLICY).met
        assert names(tmp_path) == [INTO, NOTE]

    def test_a_csv_of_somebody_else(self, session: sa.Session, tmp_path: Path) -> None:
        Path(INTO).write_text("a,b\n1,2\n")
        assert session.provenance(INTO) is None
        for write_another in (
            lambda: Path(INTO).write_text("a,b\n1,2\n"),
            lambda: session.taxonomies.export("age", INTO),
        ):
            write_another()
            before = names(tmp_path)
            with pytest.raises(sa.EngineError, match="was not written by sqlanon"):
                session.anonymize("given", POLICY, INTO, replace=True)
            assert names(tmp_path) == before
            write(session, "FROM given", replace="anything")
            assert (look_at(INTO).entry is not None, names(tmp_path)) == (True, [INTO, NOTE])
            for made in (INTO, NOTE):
                Path(made).unlink()

    def test_something_else_in_its_place(self, session: sa.Session, tmp_path: Path) -> None:
        for text in ("", "{}", "[1]", '{"sqlanon": {"releases": {"x": 1}}}', '{"sqlanon": 1}'):
            Path(NOTE).write_text(text, encoding="utf-8")
            with pytest.raises(sa.EngineError, match=f"{NOTE} was not written by sqlanon"):
                session.anonymize("given", POLICY, INTO)
            assert (names(tmp_path), Path(NOTE).read_text(encoding="utf-8")) == ([NOTE], text)
            write(session, "FROM given", replace="anything")
            Path(NOTE).write_text(text, encoding="utf-8")
            with pytest.raises(sa.EngineError, match="was not written by sqlanon"):
                session.verify(INTO, POLICY)
            Path(INTO).unlink()

    def test_it_does_not_follow_a_copy(self, session: sa.Session) -> None:
        write(session, "SELECT age, value FROM given")
        shutil.copy(INTO, "copy.csv")
        assert session.provenance("copy.csv") is None
        shutil.copy(NOTE, "copy.csv.sqlanon.json")
        assert session.provenance("copy.csv") == session.provenance(INTO)
        with pytest.raises(sa.EngineError, match="replace its own source"):
            session.anonymize(INTO, POLICY.model_copy(update={"identifiers": ()}), INTO, replace=True)


class TestRuns:
    def test_nothing_is_done_twice(self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """And a note that a run could not write about the new file alone is tidied by the next."""
        session.connection.execute("COPY (SELECT age, value FROM given) TO 'raw.parquet'")
        policy, other = (wanted.model_copy(update={"identifiers": ()}) for wanted in (POLICY, OTHER))
        assert not session.anonymize("raw.parquet", policy, INTO).unchanged
        before = Path(INTO).stat().st_ino
        again = session.anonymize("raw.parquet", policy, INTO)
        assert again.unchanged
        assert sorted(map(repr, again.to_arrow()["value"].to_pylist())) == sorted(3 * list(map(repr, LABELS)))
        assert Path(INTO).stat().st_ino == before
        with pytest.raises(sa.EngineError, match="made by another policy"):
            session.anonymize("raw.parquet", other, INTO)
        write_note, count = to_csv.write_note, 0

        def once(*given: Any) -> None:
            nonlocal count
            count += 1
            if count > 1:
                raise sa.EngineError("the disk is full", step="publish")
            write_note(*given)

        monkeypatch.setattr(to_csv, "write_note", once)
        assert not session.anonymize("raw.parquet", other, INTO, replace="changed").unchanged
        assert (count, entries()) == (2, 2)
        assert session.verify(INTO, other).met
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        for suffix in (INTO, NOTE):
            Path(f".{suffix}.run.9.staged").write_text("", encoding="utf-8")
        assert session.anonymize("raw.parquet", other, INTO).unchanged
        assert (entries(), names(tmp_path)) == (1, [INTO, NOTE, "raw.parquet"])
        assert not session.anonymize("raw.parquet", other, INTO, replace=True).unchanged

    @pytest.mark.deep
    def test_partitions(self, session: sa.Session) -> None:
        session.partitions.fit("given", POLICY, "given.fit")
        session.partitions.apply("FROM given WHERE id < 2", "given.fit", "part-1.csv")
        assert session.partitions.apply("FROM given WHERE id < 2", "given.fit", "part-1.csv").report.rows.released > 0
        session.partitions.apply("FROM given WHERE id = 2", "given.fit", "part-2.csv")
        found = session.verify("part-*.csv", POLICY)
        assert (found.measurement.row_count, found.notes) == (3 * len(LABELS), ())
        shutil.copy("part-1.csv", "part-3.csv")
        shutil.copy("part-1.csv.sqlanon.json", "part-3.csv.sqlanon.json")
        assert not session.verify("part-*.csv", POLICY, strict=False).met

    def test_what_cannot_be_a_target(self, session: sa.Session, tmp_path: Path) -> None:
        one_file = r'"out\.csv" is one file: .* write out/'
        for options in ({"rows_per_file": 2}, {"partition_by": "age"}):
            with pytest.raises(sa.EngineError, match=one_file):
                session.anonymize("given", POLICY, INTO, **options)
            assert names(tmp_path) == []


class TestFaults:
    """The file that is there and its note fit each other, whatever step fails."""

    def test_a_disk_that_is_full(self, session: sa.Session, tmp_path: Path) -> None:
        for step, old in product(("publish", "note"), (None, "ours", "else")):
            if old == "ours":
                write(session, "FROM given LIMIT 1")
            elif old == "else":
                Path(INTO).write_text("a,b\n", encoding="utf-8")
            before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
            failing = (Path, "write_text") if step == "note" else (to_csv, "publish")
            full = mock.patch.object(*failing, side_effect=OSError(errno.ENOSPC, "no space"))
            with full, pytest.raises(sa.EngineError, match="the disk is full"):
                write(session, "FROM given", replace="anything" if old else False)
            assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
            write(session, "FROM given", replace="anything" if old else False)
            assert (look_at(INTO).entry is not None, names(tmp_path)) == (True, [INTO, NOTE])
            for made in (INTO, NOTE):
                Path(made).unlink()
        with full, pytest.raises(sa.EngineError, match="the disk is full"):
            session.anonymize("given", OTHER, INTO)
        assert names(tmp_path) == []

    @pytest.mark.parametrize("is_ours", [True, False])
    def test_it_is_about_both_until_the_file_is_replaced(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch, is_ours: bool
    ) -> None:
        if is_ours:
            write(session, "FROM given LIMIT 1")
        else:
            Path(INTO).write_text("a,b\n", encoding="utf-8")
        seen = []

        def publish(staged: Path, target: Path, *, replace: bool) -> None:
            for file in (target, staged):
                shutil.copy(file, "look.csv")
                shutil.copy(NOTE, "look.csv.sqlanon.json")
                found = look_at("look.csv")
                seen.append((found.entry is not None, found.is_changed, entries()))
            assert replace
            staged.replace(target)

        monkeypatch.setattr(to_csv, "publish", publish)
        write(session, "FROM given", replace="anything")
        assert seen == [(is_ours, False, 2), (True, False, 2)]
        assert entries() == 1

    def test_a_reader_meanwhile(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        """One who has read the old note, and then the new file, looks again."""
        write(session, "FROM given LIMIT 1")
        old = read_note(Path(INTO))
        write(session, "FROM given", replace=True)
        given = iter([old])
        monkeypatch.setattr("sqlanon.engines.csv_notes.read_note", lambda path: next(given, None) or read_note(path))
        assert look_at(INTO).entry is not None

    def test_many_at_once(self, session: sa.Session, tmp_path: Path) -> None:
        """Each waits for the others with the two files, so that the note is about the file that stays."""

        def run(k: int, replace: bool) -> int:
            with sa.connect(threads=1) as other:
                give(other, LABELS[: k + 3])
                try:
                    write(other, "FROM given", replace=replace)
                except sa.EngineError as error:
                    assert "exists" in str(error)
                    return 0
            return 1

        for replace in (False, True):
            with ThreadPoolExecutor(4) as pool:
                done = sum(pool.map(run, range(4), [replace] * 4))
            assert done == 4 if replace else done == 1
            assert entries() == 1
            assert look_at(INTO).entry is not None
            assert names(tmp_path) == [INTO, NOTE]
