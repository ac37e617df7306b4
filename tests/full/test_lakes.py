"""Lakes: sources that are folders, releases that are folders, and runs that find their release already there."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import dataset
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.duckdb import file_readers as lakes
from sqlanon.publish import folders
from sqlanon.publish.files import exchange
from sqlanon.queries.layout import guarded
from tests.effort import examples
from tests.engines import engine_of

ROW_COUNT = 1000
POLICY = sa.Policy(
    quasi_identifiers=["age", "zip"],
    sensitive=["illness"],
    identifiers=["id"],
    insensitive=["cost", "year"],
    privacy=[sa.KAnonymity(5), sa.DistinctLDiversity("illness", 2)],
    suppression_limit=0.1,
)
STRICTER = POLICY.model_copy(update={"privacy": (sa.KAnonymity(20),)})


def fuzzed_markers() -> st.SearchStrategy[bytes]:
    """Documents that look more or less like the marker of a release."""
    names = st.sampled_from(["age", "VARCHAR", "INTEGER[]", "NOTHING", "", "\0", 'a"b', "ä"]) | st.text(max_size=3)
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | names
    anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner))
    columns = st.dictionaries(names, names) | anything
    layouts = st.fixed_dictionaries(
        {"columns": columns, "partition_by": st.lists(scalars) | anything}, optional={"files": anything}
    )
    optional = dict.fromkeys(("policy", "made_from", "report", "labels", "code_sha256"), anything)
    notes = st.fixed_dictionaries({"folder": layouts | anything}, optional=optional)
    documents = st.fixed_dictionaries({"sqlanon": notes | anything}) | anything
    return documents.map(lambda document: json.dumps(document).encode()) | st.binary() | st.just(b"[" * 200_000)


ILLNESSES = ["flu", "a/b", "", None, "10", "01", "x=y %41", "*", "ü €", "__", "[0, 10["]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse that has the taxonomies, and a hive-partitioned source of two years."""
    folder = tmp_path_factory.mktemp("lake")
    with sa.connect(folder / "w.duckdb") as session:
        session.connection.execute(
            "CREATE TABLE folk AS SELECT hash(i) % 60 AS age, lpad((hash(i * 3) % 12)::VARCHAR, 2, '0') AS zip, "
            "list_extract($1, 1 + (hash(i * 7) % len($1))::INTEGER) AS illness, i % 4 AS cost, i AS id, "
            f"2020 + i % 2 AS year FROM range({ROW_COUNT}) AS r (i)",
            [ILLNESSES],
        )
        session.connection.execute(f"COPY folk TO '{folder}/people' (FORMAT parquet, PARTITION_BY (year))")
        session.taxonomies.load("age", sa.Taxonomy.intervals([5, 20], minimum=0, maximum=99))
        session.taxonomies.load("zip", sa.Taxonomy.prefixes([1]), source="folk")
    return folder


@pytest.fixture(scope="module")
def published(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("published") / "release"
    with sa.connect(prepared / "w.duckdb", read_only=True, threads=1) as session:
        session.anonymize(prepared / "people", POLICY, into=f"{into}/")
    return into


@pytest.fixture
def release(published: Path, lake: Path) -> Path:
    """A copy of the release, beside the source."""
    return Path(shutil.copytree(published, lake / "release"))


@pytest.fixture
def lake(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, which is the working folder."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def session(lake: Path) -> Iterator[sa.Session]:
    with sa.connect(lake / "w.duckdb", threads=1) as session:
        yield session


def rows_of(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    columns = "age, zip, illness, cost, year"
    return session.connection.execute(f"SELECT {columns} FROM {relation} ORDER BY ALL").fetchall()


def names_in(folder: Path, lake: Path | None = None) -> list[str]:
    return sorted(path.relative_to(lake or folder).as_posix() for path in folder.rglob("*") if path.is_file())


class TestSources:
    def test_a_folder_of_partitions(self, session: sa.Session, lake: Path) -> None:
        (lake / "people" / "README.txt").write_text("not data")
        (lake / "other_order").mkdir()
        other_order = "SELECT year, id, cost, illness, zip, age FROM w.folk WHERE year = 2021"
        for name, rows in {"one": "FROM w.folk WHERE year = 2020", "two": other_order}.items():
            session.connection.execute(f"COPY ({rows}) TO 'other_order/{name}.parquet'")
        expected = session.measure("w.folk", POLICY)
        for source in ("people", "people/", "people/**/*.parquet", "people/*/*.parquet", "other_order"):
            measured = session.measure(str(lake / source), POLICY)
            assert measured == expected.model_copy(update={"source": measured.source})

    def test_what_is_hidden_in_a_lake_is_not_read(self, session: sa.Session, lake: Path) -> None:
        """A glob of DuckDB enters hidden folders, those of a run that was killed between two renames, too."""
        for name in (".old.run.0.staged", ".old.run.0.previous"):
            shutil.copytree(lake / "people" / "year=2020", lake / "people" / name / "year=2020")
        for source in ("people", "people/**/*.parquet"):
            assert session.measure(str(lake / source), POLICY).row_count == ROW_COUNT
        session.connection.execute("ATTACH ':memory:' AS other; CREATE SCHEMA other.raw")
        session.connection.execute("CREATE TABLE other.raw.folk AS FROM w.folk")
        assert session.measure("other.raw.folk", POLICY).row_count == ROW_COUNT

    def test_where_there_are_no_files(self, session: sa.Session, lake: Path) -> None:
        (lake / "empty").mkdir()
        for source in ("empty", "missing/", "missing/**/*.parquet"):
            with pytest.raises(sa.EngineError, match=r"no Parquet file can be read|is not a table or view"):
                session.measure(str(lake / source), POLICY)

    def test_a_folder_whose_name_looks_like_a_glob(self, session: sa.Session, lake: Path) -> None:
        (lake / "people").rename(lake / "people [1]*")
        assert session.measure("people [1]*", POLICY).row_count == ROW_COUNT
        session.anonymize("people [1]*", POLICY, into="release [2]/", partition_by="zip")
        assert session.verify("release [2]", POLICY).met


class TestLinks:
    """A glob of ``**`` does not enter symbolic links to folders, and says nothing of it."""

    @pytest.fixture
    def elsewhere(self, lake: Path) -> Path:
        (lake / "disk" / "archive").mkdir(parents=True)
        (lake / "people" / "year=2020").rename(lake / "disk" / "archive" / "year=2020")
        return lake / "disk"

    def test_what_is_left_out_is_named(self, session: sa.Session, lake: Path, elsewhere: Path) -> None:
        link = lake / "people" / "year=2020"
        link.symlink_to(elsewhere / "archive" / "year=2020")
        named = r"people/year=2020 is a symbolic link to a folder.*left out"
        for source in ("people", "people/**/*.parquet", "peop[l]e/**"):
            with pytest.raises(sa.EngineError, match=named) as refused:
                session.measure(source, POLICY)
            assert "read_parquet([" in str(refused.value)
        query = "SELECT * FROM " + str(refused.value).partition(" over ")[2]
        assert session.measure(query, POLICY).row_count == ROW_COUNT
        assert session.measure("people/*/*.parquet", POLICY).row_count == ROW_COUNT
        (elsewhere / "archive").rename(lake.parent / f"{lake.name} archive")
        link.unlink()
        link.symlink_to(lake.parent / f"{lake.name} archive" / "year=2020")
        with pytest.raises(sa.EngineError, match=named):
            session.measure("**/*.parquet", POLICY)

    def test_a_link_below_a_link(self, session: sa.Session, lake: Path, elsewhere: Path) -> None:
        (lake / "hall").mkdir()
        (lake / "hall" / "archive").symlink_to(elsewhere / "archive")
        (lake / "people" / "more").symlink_to(lake / "hall")
        with pytest.raises(sa.EngineError, match=r"people/more/archive is a symbolic link"):
            session.measure("people", POLICY)
        (lake / "people" / "more").unlink()
        (lake / "people" / "up").symlink_to("..")
        with pytest.raises(sa.EngineError, match="people/up is a symbolic link"):
            session.measure("people", POLICY)

    def test_links_by_which_nothing_is_left_out(self, session: sa.Session, lake: Path) -> None:
        (lake / "notes").mkdir()
        (lake / "notes" / "README.txt").write_text("not data")
        links = {"latest": lake / "people" / "year=2020", "notes": lake / "notes", "gone": lake / "nowhere"}
        for name, there in links.items():
            (lake / "people" / name).symlink_to(there)
        (lake / "folk").symlink_to("people")
        for source in ("people", "people/**/*.parquet", "folk", "folk/**/*.parquet"):
            assert session.measure(source, POLICY).row_count == ROW_COUNT

    def test_loops(self, session: sa.Session, lake: Path) -> None:
        """Two of them make for more paths than could ever be listed."""
        for name in ("one", "two"):
            (lake / "people" / "year=2020" / name).symlink_to(lake / "people")
            (lake / "people" / name).symlink_to(".")
        assert session.anonymize("people", POLICY, into="out/").report.rows.source == ROW_COUNT
        assert session.measure("SELECT * FROM 'people/**/*.parquet'", POLICY).row_count == ROW_COUNT

    def test_a_target_that_is_read_under_another_name(self, session: sa.Session, lake: Path) -> None:
        file = next((lake / "people").rglob("*.parquet"))
        (lake / "other.parquet").hardlink_to(file)
        before = file.read_bytes()
        for source in ("people", "people/*/*.parquet", "SELECT * FROM 'people/*/*.parquet'"):
            with pytest.raises(sa.EngineError, match="replace its own source"):
                session.anonymize(source, POLICY, into="other.parquet", replace=True)
        assert file.read_bytes() == before


class TestMarkers:
    """The file beside a release that tells how to read it."""

    def test_that_are_malformed(self, session: sa.Session, release: Path) -> None:
        note = json.loads((release / "_sqlanon.json").read_text())["sqlanon"]
        changes: list[dict[str, Any]] = [{"partition_by": each} for each in ([1, None], ["missing"], "age")]
        changes += [{"columns": each} for each in ({"age": 1}, {}, ["age"])]
        for layout in (*({**note["folder"], **change} for change in changes), None, []):
            (release / "_sqlanon.json").write_text(json.dumps({"sqlanon": {**note, "folder": layout}}))
            with pytest.raises(sa.EngineError, match=r"_sqlanon.json was not written by sqlanon"):
                session.measure("release", POLICY)
        with pytest.raises(sa.EngineError, match="not replaced"):
            session.anonymize("people", POLICY, into="release/", replace=True)
        with pytest.raises(sa.EngineError):
            session.verify("release", POLICY)

    @settings(suppress_health_check=list(HealthCheck), max_examples=examples(15))
    @given(content=fuzzed_markers())
    def test_whatever_is_in_them(self, session: sa.Session, release: Path, content: bytes) -> None:
        (release / "_sqlanon.json").write_bytes(content)
        into = str(release) + "/"
        for call in (
            lambda: session.measure(release, POLICY),
            lambda: session.provenance(release),
            lambda: session.anonymize("people", POLICY, into=into),
        ):
            with suppress(sa.SqlanonError):
                call()
        assert len(names_in(release)) > 1


class TestFilesThatDiffer:
    """DuckDB takes the columns of the first file, and casts those of the others without a word."""

    def test_they_are_no_source(self, session: sa.Session, lake: Path) -> None:
        one = r"one\.parquet has"
        session.connection.execute("COPY (FROM w.folk WHERE year = 2020) TO 'one.parquet'")
        for place, (changed, reason) in enumerate(
            {
                "* REPLACE (cost + 0.75 AS cost)": rf'{one} "cost" BIGINT, where .*two\.parquet has "cost" DECIMAL',
                "*, 1 AS note": rf'{one} nothing else, where .*two\.parquet has "note" INTEGER',
                "* EXCLUDE (cost)": rf'{one} "cost" BIGINT, where .*two\.parquet has nothing else',
            }.items()
        ):
            drift = lake / f"drift-{place}"
            drift.mkdir()
            shutil.copy("one.parquet", drift)
            session.connection.execute(f"COPY (SELECT {changed} FROM w.folk) TO '{drift}/two.parquet'")
            for source in (drift.name, f"{drift.name}/*.parquet"):
                with pytest.raises(sa.EngineError, match=f"files of different columns: .*{reason}.*union_by_name"):
                    session.anonymize(source, POLICY, into="released.parquet")
        assert not (lake / "released.parquet").exists()

    def test_one_that_cannot_be_read_is_named(self, session: sa.Session, lake: Path) -> None:
        def refuse(folder: str, onerror: Callable[[OSError], None]) -> Iterator[None]:
            onerror(PermissionError(13, "Permission denied", f"{folder}/year=2021"))
            yield

        with (
            mock.patch.object(lakes.os, "walk", refuse),
            pytest.raises(sa.EngineError, match="the folder people/year=2021 cannot be read"),
        ):
            session.measure("people", POLICY)
        (lake / "people" / "year=2021" / "z.parquet").write_bytes(b"PAR1")
        with pytest.raises(sa.EngineError, match=r"year=2021/z\.parquet cannot be read as a Parquet file"):
            session.measure("people", POLICY)


class TestLayouts:
    """Whatever the layout, the rows are those of a table, in a given order that says nothing of the source."""

    def test_of_files(self, session: sa.Session, lake: Path) -> None:
        session.anonymize("people", POLICY, into="plain.parquet")
        expected = rows_of(session, "'plain.parquet'")
        for name, layout, pattern, types in (
            ("files", {"rows_per_file": 149}, "part-?????.parquet", ""),
            (
                "partitions of files",
                {"partition_by": ["illness", "year"], "rows_per_file": 20},
                "illness=*/year=*/part-?????.parquet",
                "'illness': VARCHAR, 'year': BIGINT",
            ),
        ):
            self.check(session, name, layout, pattern, types, expected)

    def check(
        self, session: sa.Session, name: str, layout: dict[str, Any], pattern: str, types: str, expected: list[Any]
    ) -> None:
        release = session.anonymize("people", POLICY, into=f"{name}/", **layout)
        files = sorted(path.relative_to(name).as_posix() for path in Path(name).glob(pattern))
        assert names_in(Path(name)) == sorted(["_sqlanon.json", *files])

        counted = f"SELECT count(*) AS n FROM read_parquet('{name}/**/*.parquet', filename = true) GROUP BY filename"
        [(largest, total)] = session.connection.execute(f"SELECT max(n), sum(n) FROM ({counted})").fetchall()
        assert total == release.report.rows.released == len(expected)
        assert largest <= layout.get("rows_per_file", total)
        if not types:
            rows = [row for file in files for row in session.connection.execute(f"FROM '{name}/{file}'").fetchall()]
            assert rows == session.connection.execute(f"FROM '{name}/*.parquet' ORDER BY ALL").fetchall()

        assert dataset.dataset(name, partitioning="hive").count_rows() == total
        hive = f", hive_types = {{{types}}}" if types else ""
        assert rows_of(session, f"read_parquet('{name}/**/*.parquet'{hive})") == expected
        verified = session.verify(name, POLICY).measurement
        assert (verified.row_count, verified.k) == (total, release.report.min_class_size)
        assert verified.models == release.report.models
        note = json.loads(session.provenance(name) or "")["sqlanon"]
        assert note["labels"] == {"kind": "node", "levels": release.node}
        assert list(note["folder"]["columns"]) == ["age", "zip", "illness", "cost", "year"]

    def test_files_do_not_tell_the_order_of_the_source(self, session: sa.Session, lake: Path) -> None:
        for into, source in (("one/", "w.folk"), ("other/", "SELECT * FROM w.folk ORDER BY hash(id)")):
            session.anonymize(source, POLICY, into=into, partition_by="zip", rows_per_file=40)
        files = names_in(lake / "one")
        assert names_in(lake / "other") == files
        for name in files:
            if name.endswith(".parquet"):
                one, other = (
                    session.connection.execute(f"FROM '{into}/{name}'").fetchall() for into in ("one", "other")
                )
                assert one == other

    def test_a_value_that_readers_would_take_for_null(self, session: sa.Session, lake: Path) -> None:
        def source(value: str) -> str:
            return f"SELECT * REPLACE ('{value}' AS illness) FROM w.folk"

        policy = POLICY.model_copy(update={"privacy": (sa.KAnonymity(5),)})
        with pytest.raises(sa.EngineError, match='attribute "illness" cannot partition') as refused:
            session.anonymize(source("null"), policy, into="release/", partition_by="illness")
        assert "null" not in str(refused.value)
        for value in ("NULL", "__HIVE_DEFAULT_PARTITION__", "x" * 300):
            query = engine_of(session).resolve(source(value))
            rows = guarded(
                exp.select("*").from_(query.relation), engine_of(session).describe(query.relation), ["illness"], None
            )
            with pytest.raises(sa.EngineError, match='attribute "illness" cannot partition') as refused:
                engine_of(session).fetch(rows, "the rows of a release")
            assert value not in str(refused.value).replace("the text NULL", "")
        assert [path.name for path in lake.iterdir() if path.name.startswith((".", "release"))] == []

    def test_columns_with_names_that_need_care(self, session: sa.Session, lake: Path) -> None:
        renamed = 'SELECT * RENAME (illness AS "a b/c=d\'", cost AS rowid, zip AS "Ünï") FROM w.folk'
        session.taxonomies.load("Ünï", sa.Taxonomy.prefixes([1]), source="w.folk", column="zip")
        policy = sa.Policy(
            quasi_identifiers=["age", "Ünï"],
            insensitive=["a b/c=d'", "rowid", "year"],
            identifiers=["id"],
            privacy=[sa.KAnonymity(5)],
        )
        session.anonymize(renamed, policy, into="parts/", partition_by=["rowid"], rows_per_file=100)
        assert session.verify("parts", policy).measurement.row_count == ROW_COUNT
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize(renamed, policy, into="misread/", partition_by=["a b/c=d'", "Ünï"])
        assert all("rename it in a view" in problem for problem in refused.value.problems)

    def test_other_tables_than_releases(self, session: sa.Session, lake: Path) -> None:
        nodes = session.lattice("people", POLICY, into="nodes/")
        assert session.connection.execute("SELECT count(*) FROM 'nodes/*.parquet'").fetchall() == [(len(nodes),)]
        session.flatten("people", "wide/", individual="zip", event="illness", order="id", first=2)
        assert json.loads(session.provenance("wide/") or "")["sqlanon"]["flattened"]["individuals"] == 12
        flat = sa.Policy(quasi_identifiers=["zip"], insensitive=["illness_1", "illness_2"], privacy=[sa.KAnonymity(2)])
        assert session.measure("wide", flat).row_count == 12

    def test_what_cannot_be_partitioned_by(self, session: sa.Session, lake: Path) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize("people", POLICY, into="release/", partition_by=["id", "zpi", "age"])
        assert refused.value.problems == (
            'column "id" is an identifier, which is not released',
            'column "zpi" is not in the release; did you mean "zip"?',
        )
        with pytest.raises(sa.PolicyError, match="no names of folders"):
            session.anonymize(
                "SELECT * REPLACE ([cost] AS cost) FROM w.folk", POLICY, into="release/", partition_by="cost"
            )
        with pytest.raises(sa.PolicyError) as refused:
            session.anonymize("people", POLICY, into="release/", rows_per_file=0, partition_by=["zip", "zip"])
        assert len(refused.value.problems) == 2
        assert not (lake / "release").exists()


class TestReplacing:
    @pytest.mark.parametrize(
        "swapped", [True, pytest.param(False, marks=pytest.mark.deep)], ids=["exchange", "two renames"]
    )
    def test_a_folder_of_ours(
        self, session: sa.Session, lake: Path, release: Path, monkeypatch: pytest.MonkeyPatch, swapped: bool
    ) -> None:
        if not swapped:
            monkeypatch.setattr(folders, "exchange", lambda *_: False)
        session.anonymize("people", STRICTER, into="release", replace=True, partition_by="zip")
        assert session.verify("release", STRICTER).met
        assert not list(release.glob("*.parquet"))
        assert not list(lake.glob(".*"))

    @pytest.mark.parametrize(
        "swapped", [True, pytest.param(False, marks=pytest.mark.deep)], ids=["exchange", "two renames"]
    )
    def test_a_file_that_appears_at_the_last_moment(
        self, session: sa.Session, lake: Path, release: Path, monkeypatch: pytest.MonkeyPatch, swapped: bool
    ) -> None:
        def late(staged: Path, target: Path) -> bool:
            (release / "notes.txt").write_text("mine")
            return swapped and exchange(staged, target)

        monkeypatch.setattr(folders, "exchange", late)
        with pytest.raises(sa.EngineError, match="other files than a release"):
            session.anonymize("people", STRICTER, into="release/", replace=True)
        assert (release / "notes.txt").read_text() == "mine"
        (release / "notes.txt").unlink()
        assert session.verify("release", POLICY).met
        assert not list(lake.glob(".*"))

    def test_an_interrupt_between_two_renames(
        self, session: sa.Session, lake: Path, release: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run that is killed there leaves a release that was moved away, which comes back as well."""
        rename = Path.rename

        def interrupted(path: Path, target: Path) -> Path:
            if path.name.endswith(".staged") and target.name == "release":
                raise KeyboardInterrupt
            return rename(path, target)

        with monkeypatch.context() as patch:
            patch.setattr(folders, "exchange", lambda *_: False)
            patch.setattr(Path, "rename", interrupted)
            with pytest.raises(KeyboardInterrupt):
                session.anonymize("people", STRICTER, into="release/", replace=True)
        assert session.verify("release", POLICY).met
        for read in (lambda: session.verify("release/", POLICY), lambda: session.provenance("release")):
            assert not list(lake.glob(".*"))
            release.rename(lake / ".release.run.0.previous")
            assert read() is not None
        release.rename(lake / ".release.run.0.previous")
        with pytest.raises(sa.EngineError, match="exists"):
            session.anonymize("people", STRICTER, into="release/")
        assert session.verify("release", POLICY).met

    def test_a_folder_with_files_of_others_never(self, session: sa.Session, lake: Path, published: Path) -> None:
        for name in ("ours", "grown"):
            shutil.copytree(published, lake / name)
        (lake / "ours" / "notes.txt").write_text("mine")
        shutil.copy(lake / "grown" / "part-00000.parquet", lake / "grown" / "part-00001.parquet")
        (lake / "theirs").mkdir()
        (lake / "theirs" / "notes.txt").write_text("mine")
        (lake / "copied").mkdir()
        shutil.copy(lake / "grown" / "_sqlanon.json", lake / "copied")
        names = ("ours", "grown", "theirs", "copied")
        before = {file: (lake / file).stat().st_mtime_ns for name in names for file in names_in(lake / name, lake)}
        for name in names:
            for replace in (False, True):
                with pytest.raises(sa.EngineError, match="other files than a release"):
                    session.anonymize("people", STRICTER, into=f"{name}/", replace=replace)
        assert {
            file: (lake / file).stat().st_mtime_ns for name in names for file in names_in(lake / name, lake)
        } == before

    def test_places_that_are_no_folder_to_write(self, session: sa.Session, lake: Path) -> None:
        (lake / "file").write_text("mine")
        (lake / "link").symlink_to(lake / "elsewhere")
        expected = {"file/": "is a file", "link/": "symbolic link", "missing/release/": "does not exist"}
        expected |= {"./": "working folder", "people/release/": "the next run would read it"}
        for into, reason in expected.items():
            with pytest.raises(sa.EngineError, match=reason):
                session.anonymize("people", POLICY, into=into)
        with pytest.raises(sa.EngineError, match="the next run would read it"):
            session.anonymize("people/**/*.parquet", POLICY, into="people/release.parquet")
        with pytest.raises(sa.EngineError, match="the next run would read it"):
            session.anonymize("SELECT * FROM 'people/*/*.parquet'", POLICY, into="people/year=2020/more.parquet")
        session.anonymize("SELECT * FROM 'people/*/*.parquet' WHERE zip <> '*'", POLICY, into="release.parquet")
        assert [path.name for path in lake.rglob(".*")] == []


def as_published(release: sa.Release) -> Any:
    """The report that travels with a release: what shows facts of the source or of the warehouse alone does not."""
    return release.report.model_copy(update=dict.fromkeys(("findings", "before", "after")))


class TestUnchanged:
    @pytest.mark.parametrize(
        ("into", "layout"),
        [
            pytest.param("release.parquet", {}, marks=pytest.mark.deep),
            ("release/", {"partition_by": ["zip"], "rows_per_file": 50}),
        ],
    )
    def test_a_second_run_does_nothing(
        self, session: sa.Session, lake: Path, into: str, layout: dict[str, Any]
    ) -> None:
        stages: list[str] = []
        first = session.anonymize("people", POLICY, into=into, **layout)
        before = {name: (lake / name).stat().st_mtime_ns for name in names_in(lake)}
        (lake / f".{Path(into).name}.run.9.staged").write_bytes(b"of a process that is dead")
        again = session.anonymize(
            str(lake / "people"), POLICY, into=into, progress=lambda stage, *_: stages.append(stage), **layout
        )
        assert again.unchanged
        assert again.model_copy(update={"unchanged": False, "report": first.report}) == first
        assert again.report.model_copy(update={"source": first.report.source}) == as_published(first)
        assert stages == []
        assert {name: (lake / name).stat().st_mtime_ns for name in names_in(lake)} == before
        if not layout:
            assert not session.anonymize("people", POLICY, into=into, replace=True).unchanged

    def test_a_table_that_was_altered_since(self, lake: Path, session: sa.Session) -> None:
        policy = POLICY.model_copy(update={"individual": "id", "privacy": (sa.TCloseness("illness", 0.5),)})
        with sa.connect(lake / "other.duckdb") as writable:
            writable.taxonomies.load("age", sa.Taxonomy.intervals([5, 20], minimum=0, maximum=99))
            writable.taxonomies.load("zip", sa.Taxonomy.prefixes([1]), source="people")
            first = writable.anonymize("people", policy, into="release")
            again = writable.anonymize("people", policy, into="release")
            assert again == first.model_copy(update={"unchanged": True, "report": as_published(first)})
            for alteration, undone in (
                ("ALTER TABLE release ADD COLUMN name VARCHAR", "ALTER TABLE release DROP COLUMN name"),
                ("INSERT INTO release FROM release LIMIT 3", ""),
                ("DELETE FROM release", ""),
            ):
                writable.connection.execute(alteration)
                with pytest.raises(sa.EngineError, match="altered since it was made; give another name"):
                    writable.anonymize("people", policy, into="release")
                writable.connection.execute(undone)
            assert not writable.anonymize("people", policy, into="release", replace="changed").unchanged

    def test_a_file_that_was_altered_since(self, lake: Path, session: sa.Session) -> None:
        session.anonymize("people", POLICY, into="release.parquet")
        note = session.connection.execute(
            "SELECT decode(value) FROM parquet_kv_metadata('release.parquet') WHERE decode(key) = 'sqlanon'"
        ).fetchone()
        session.connection.execute(
            "COPY (SELECT *, 'x' AS name FROM 'release.parquet') TO 'altered.parquet' "
            f"(KV_METADATA {{sqlanon: '{note[0].replace(chr(39), chr(39) * 2)}'}})"
        )
        (lake / "altered.parquet").rename(lake / "release.parquet")
        with pytest.raises(sa.EngineError, match="altered since it was made; give another name"):
            session.anonymize("people", POLICY, into="release.parquet")

    @pytest.mark.deep
    def test_a_population_is_read_too(self, session: sa.Session, lake: Path) -> None:
        shutil.copytree(lake / "people", lake / "everyone")
        policy = POLICY.model_copy(update={"privacy": (sa.KMap(5, population="everyone/"),)})
        session.anonymize("people", policy, into="release.parquet")
        assert session.anonymize("people", policy, into="release.parquet").unchanged
        assert session.verify("release.parquet", policy).met
        os.utime(next((lake / "everyone").rglob("*.parquet")), ns=(1, 1))
        with pytest.raises(sa.EngineError, match="from files that have changed since"):
            session.anonymize("people", policy, into="release.parquet")

    def test_what_differs_is_said(self, session: sa.Session, lake: Path) -> None:
        (lake / "release").mkdir()  # an empty folder is taken
        session.anonymize("people", POLICY, into="release/")

        def refused(*arguments: Any, **options: Any) -> str:
            with pytest.raises(sa.TargetError, match="exists, made") as found:
                session.anonymize(*arguments, into="release/", **options)
            return str(found.value)

        assert "by another policy;" in refused("people", STRICTER)
        assert "from a table or a query" in refused("w.folk", POLICY)
        assert "with another layout of its rows;" in refused("people", POLICY, rows_per_file=9)
        assert "made from other files" in refused("people/year=2020/", POLICY)
        os.utime(next((lake / "people").rglob("*.parquet")), ns=(1, 1))
        assert "from files that have changed since or are now read differently;" in refused("people", POLICY)
        session.taxonomies.load("age", sa.Taxonomy.intervals([10, 20], minimum=0, maximum=99))
        assert "with other taxonomies" in refused("people", POLICY)


class TestReplacingIfChanged:
    """For a scheduled job: nothing to do, or a release to make anew."""

    def test_a_release_of_other_files_is_replaced(self, session: sa.Session, lake: Path) -> None:
        first = session.anonymize("people", POLICY, into="release/", replace="changed")
        assert not first.unchanged
        assert session.anonymize("people", POLICY, into="release/", replace="changed").unchanged
        os.utime(next((lake / "people").rglob("*.parquet")), ns=(1, 1))
        assert not session.anonymize("people", POLICY, into="release/", replace="changed").unchanged
        assert session.anonymize("people", POLICY, into="release/").unchanged
        for _ in range(2):
            assert not session.anonymize("w.folk", STRICTER, into="release/", replace="changed").unchanged
        assert session.verify("release/", STRICTER).met

    def test_what_is_no_release_stays(self, session: sa.Session, lake: Path) -> None:
        (lake / "theirs").mkdir()
        (lake / "theirs" / "notes.txt").write_text("mine")
        session.connection.execute("COPY w.folk TO 'theirs.parquet'")
        before = (lake / "theirs.parquet").read_bytes()
        for into, reason in {
            "theirs.parquet": "not written by sqlanon",
            "theirs/": "other files than a release",
        }.items():
            with pytest.raises(sa.EngineError, match=reason):
                session.anonymize("people", POLICY, into=into, replace="changed")
        assert (lake / "theirs.parquet").read_bytes() == before
        with pytest.raises(sa.PolicyError, match="give replace=True"):
            session.lattice("people", POLICY, into="nodes.parquet", replace="changed")
