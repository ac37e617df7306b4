"""Rows on a server of Spark Connect, here Sail: the same releases as of a table, and nothing but counts comes near."""

import itertools
import logging
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import sqlanon as sa
from sqlanon.engines.duckdb import float_texts
from sqlanon.model.names import dataset_of_files
from sqlanon.publish.folders import FolderTarget
from sqlanon.spark.dialect import Statement, in_spark
from sqlanon.spark.spark_rows import SparkRows
from tests.commands import sqlanon
from tests.engines import server_of
from tests.far_stays import FEW, POLICIES, SEARCHED, TABLES, fixed_chance, open_stays, policy
from tests.fixed_noise import FixedNoise
from tests.full.test_delta import delete_a_row
from tests.golden.files import HASHES, heading
from tests.golden.sent import FRACTIONS, golden_name, in_lines
from tests.reports import alone

IS_SPARK = "SQLANON_SPARK" in os.environ
"""Whether the server is Apache Spark."""

SOME = ["k, l and t", "coded", "local of individuals", "h-ceiling"]
RELEASED = [*POLICIES] if IS_SPARK else [*SOME, "diffgen of sets"]
"""Of each kind of method; kept columns are those of a Delta table, and tests/deep has the others."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server of this process, or of the one that ``SQLANON_SPARK`` names."""
    if address := os.environ.get("SQLANON_SPARK"):
        yield address
        return
    spark = pytest.importorskip("pysail.spark")
    pytest.importorskip("pyspark.sql.connect")
    running = spark.SparkConnectServer("127.0.0.1", 0)
    running.start()
    host, port = running.listening_address
    yield f"sc://{host}:{port}"
    running.stop()


@dataclass
class Sides:
    """A folder of Parquet files, and two sessions: one reads them there, the other one on the server.

    Attributes:
        received: the purposes of what came from the server, with the number of its rows.
        kept: what the session here has released, by policy and table.
    """

    folder: Path
    near: sa.Session
    far: sa.Session
    received: list[tuple[str, int]] = field(default_factory=list)
    kept: dict[tuple[str, str], sa.Release] = field(default_factory=dict)

    def released(self, wanted: sa.Policy, table: str = "visits") -> tuple[sa.Release, sa.Release]:
        """The rows of a table, released by both to folders."""
        into, source = f"{self.folder}/far/", f"{self.folder}/{table}.parquet"
        far = self.far.anonymize(source, wanted, into, random_source=fixed_chance(wanted), replace=True)
        return self.released_here(wanted, table), far

    def released_here(self, wanted: sa.Policy, table: str = "visits") -> sa.Release:
        """They, released by the session here to a folder of their own, once."""
        key = wanted.sha256(), table
        if key not in self.kept:
            into, source = f"{self.folder}/near {len(self.kept)}/", f"{self.folder}/{table}.parquet"
            self.kept[key] = self.near.anonymize(source, wanted, into, random_source=fixed_chance(wanted))
        return self.kept[key]


def rows_of(release: sa.Release) -> tuple[list[Any], Counter[Any]]:
    # Anew: DuckDB keeps what it has read of a file, and one that was replaced within a second looks the same to it.
    with duckdb.connect() as connection:
        found = connection.read_parquet(f"{release.into}/*.parquet")
        types = [*zip(found.columns, found.types, strict=True)]
        return types, Counter(found.project("COLUMNS(*)::VARCHAR").fetchall())


@pytest.fixture(scope="module")
def sides(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("lake")
    with duckdb.connect(config={"threads": 1}) as connection:
        open_stays(connection)
        for name in ("visits", "halves", *TABLES.values()):
            connection.execute(f"COPY {name} TO '{folder}/{name}.parquet'")
        connection.execute(
            f"ATTACH '{folder}/taxonomies.duckdb' AS kept; COPY FROM DATABASE memory TO kept; DETACH kept"
        )
    with (
        sa.connect(f"{folder}/taxonomies.duckdb", threads=1, ledger=f"{folder}/near.ledger") as near,
        sa.connect(near.connection.cursor(), rows=server, ledger=f"{folder}/far.ledger") as far,
    ):
        found = Sides(folder, near, far)
        count = SparkRows.count

        def counted(rows: SparkRows, query: Any, small: Any, purpose: str) -> pa.Table | None:
            table = count(rows, query, small, purpose)
            found.received.append((purpose, 0 if table is None else table.num_rows))
            return table

        with mock.patch.object(SparkRows, "count", counted):
            yield found


@pytest.mark.parametrize("name", RELEASED)
def test_rows_of_a_server_are_released_as_those_of_a_file(sides: Sides, name: str) -> None:
    release_as_from_a_file(sides, name)


def release_as_from_a_file(sides: Sides, name: str) -> None:
    """Release rows of the server, by the statements that tests/golden keeps."""
    spelled: list[str] = []

    def noted(*given: Any) -> Statement:
        statement = in_spark(*given)
        spelled.append(statement.text)
        return statement

    with mock.patch("sqlanon.spark.spark_rows.in_spark", noted):
        near, far = sides.released(POLICIES[name], TABLES.get(name, "visits"))
    assert heading(golden_name(name), in_lines(spelled)) in HASHES.read_text().splitlines()
    assert far.node == near.node
    changed = {"seconds": far.report.seconds, "source": far.report.source, "into": far.report.into}
    assert alone(near).model_copy(update=changed) == alone(far)
    assert rows_of(far) == rows_of(near)
    assert not [path for path in sides.folder.iterdir() if path.name.startswith(".")]


def test_rows_are_read_twice_and_the_release_once(sides: Sides) -> None:
    """By the plans of the server; Sail keeps nothing of what it has read, and reads the release for each statement."""
    scans: list[tuple[str, str]] = []
    asked, make = SparkRows.asked, SparkRows.make

    @contextmanager
    def planned(rows: SparkRows, query: Any, small: Any, purpose: str) -> Iterator[Any]:
        with asked(rows, query, small, purpose) as frame:
            scans.extend((purpose, file) for file in scanned(frame._explain_string()))
            yield frame

    def made(*given: Any) -> None:
        """Nothing is read for it yet."""
        before = len(scans)
        make(*given)
        del scans[before:]

    wanted = policy(sa.KAnonymity(2), identifiers=[], rest="identifier")
    with mock.patch.object(SparkRows, "asked", planned), mock.patch.object(SparkRows, "make", made):
        sides.far.anonymize(f"{sides.folder}/visits.parquet", wanted, f"{sides.folder}/far/", replace=True)
    few = {"dependent columns", "determining columns"}  # with a LIMIT
    source = [purpose for purpose, file in scans if file == "visits.parquet" and purpose not in few]
    assert source == ["cells", "write the release"]
    release = {purpose for purpose, file in scans if file != "visits.parquet"}
    assert not release if IS_SPARK else "measure the risks" in release


def scanned(plan: str) -> list[str]:
    """The names of the files that a plan scans, as often as it does, without what the server has kept."""
    files, kept = [], None
    for line in plan.splitlines():
        depth = len(line) - len(line.lstrip(" +-:*()0123456789"))
        if kept is not None and depth > kept:
            continue
        kept = depth if "InMemoryRelation" in line else None
        if found := re.search(r"(?:FileScan.*?Location.*?|file_groups=.*?\[)\[([^\[\],]+)", line):
            files.append(found[1].rpartition("/")[2])
    return files


def test_cells_that_stay_on_a_server_make_the_same_release(sides: Sides, server: str) -> None:
    release_cells_that_stay(sides, server, "k, l and t")


def release_cells_that_stay(sides: Sides, server: str, name: str) -> None:
    """Release rows of a server, few of whose cells come near."""
    with sa.connect(sides.near.connection.cursor(), rows=server, max_cells=FEW) as session:
        sides.received.clear()
        near, far = replace(sides, far=session).released(POLICIES[name])
    assert far.node == near.node
    changed = {name: getattr(far.report, name) for name in SEARCHED}
    assert near.report.findings is not None
    # What local recoding would lose is estimated from cells that are here.
    beside = {"finer_nodes": far.report.findings.finer_nodes, "local_recoding": None}
    changed["findings"] = alone(near).findings.model_copy(update=beside)
    assert rounded(alone(near).model_copy(update=changed).model_dump()) == rounded(alone(far).model_dump())
    assert rows_of(far) == rows_of(near)
    assert max(rows for _, rows in sides.received) <= FEW


def rounded(value: Any) -> Any:
    """Facts without the last digits of sums, which depend on the order of what is added."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return round(value, 12) if isinstance(value, float) else value


VALUES = {
    "ENUM('b', 'a')": ["a", "b", None],
    "BOOLEAN": ["true", "false", None],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "0"],
    "DECIMAL(10,2)": ["0.00", "-1.10", "12345678.90"],
    "DECIMAL(38,10)": ["0.0000000001", "1234567890123456789012345678.0000000001", "0"],
    "DOUBLE": ["0", "-0.0", "nan", "inf", "-inf", "1e7", "1e16", "0.1", "1e-5", "27.0", None],
    "FLOAT": ["0", "0.1", "1e7", "16777216"],
    "DATE": ["0001-01-01", "9999-12-31", "2020-02-29", None],
    "TIMESTAMP": ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2020-01-01 12:00:00.5", "1582-10-10 00:00:00"],
    "TIMESTAMP WITH TIME ZONE": ["2020-01-01 12:00:00.25+00", "1900-01-01 00:00:00+00", "9999-12-31 00:00:00+00"],
    "VARCHAR": ["", " ", "a ", "a", "ä", "a\u0308", "A", "x\ny", "'", '"`', "\\", "*", None],
}
NAME = 'a.`b"'


NUMBERS = itertools.count()


def with_values(sides: Sides, columns: Sequence[tuple[str, list[str | None]]]) -> str:
    """A file with a column of each type, called ``NAME`` and its number, in which every row is twice."""
    path = f"{sides.folder}/values_{next(NUMBERS)}.parquet"
    count = max(len(values) for _, values in columns)
    rows = [[values[place % len(values)] for _, values in columns] for place in range(count)]
    name = NAME.replace('"', '""')
    kinds = ", ".join(f'c{place}::{kind} AS "{name}{place}"' for place, (kind, _) in enumerate(columns))
    with duckdb.connect() as connection:
        names = ", ".join(f"c{place} VARCHAR" for place in range(len(columns)))
        connection.execute(f"SET TimeZone = 'UTC'; CREATE TABLE given ({names})")
        connection.executemany(f"INSERT INTO given VALUES ({', '.join('?' * len(columns))})", [*rows, *rows])
        connection.execute(f"COPY (SELECT {kinds}, 1 AS one FROM given) TO '{path}'")
    return path


def test_values_have_the_same_text_there(sides: Sides) -> None:
    """Those of each type in a quasi-identifier, and in a column that is kept."""
    path = with_values(sides, [*VALUES.items()] * 2)
    names = [f"{NAME}{place}" for place in range(2 * len(VALUES))]
    generalized, kept = names[: len(VALUES)], names[len(VALUES) :]
    near = sa.connect(sides.near.connection.cursor())
    near.taxonomies.load_all(dict.fromkeys(generalized, sa.Taxonomy.flat()), source=path)
    wanted = sa.Policy(quasi_identifiers=generalized, insensitive=[*kept, "one"], privacy=[sa.KAnonymity(2)])
    (types, here), (types_there, there) = (
        rows_of(session.anonymize(path, wanted, f"{sides.folder}/{name}/", node=dict.fromkeys(generalized, 0)))
        for name, session in (("values here", near), ("values there", sides.far))
    )
    assert types == types_there
    assert with_one_zero(here) == with_one_zero(there)
    found = near.verify(f"{sides.folder}/values there/", wanted)
    assert not found.shortfalls, "DuckDB finds the hashes that the server counted"


UNSIGNED = {
    "UTINYINT": (8, "SMALLINT"),
    "USMALLINT": (16, "INTEGER"),
    "UINTEGER": (32, "BIGINT"),
    "UBIGINT": (64, "DECIMAL(20,0)"),
}
"""Types, their bits, and the signed types that Apache Spark writes in their place."""


@pytest.mark.parametrize("role", ["quasi_identifiers", "insensitive"])
def test_unsigned_numbers_have_the_same_text_there(sides: Sides, role: str) -> None:
    path = with_values(sides, [(kind, ["0", str(2**bits - 1)]) for kind, (bits, _) in UNSIGNED.items()])
    names = [f"{NAME}{place}" for place in range(len(UNSIGNED))]
    roles = {"quasi_identifiers": ["one"], "insensitive": ["one"], role: names}
    near = sa.connect(sides.near.connection.cursor())
    near.taxonomies.load_all(dict.fromkeys(roles["quasi_identifiers"], sa.Taxonomy.flat()), source=path)
    wanted = sa.Policy(**roles, privacy=[sa.KAnonymity(2)])
    try:
        far = sides.far.anonymize(path, wanted, f"{sides.folder}/far/", replace=True)
    except sa.EngineError as error:
        assert not IS_SPARK, "Sail alone refuses them"
        assert "give the columns signed types" in str(error)
        return
    columns, rows = rows_of(far)
    assert rows == rows_of(near.anonymize(path, wanted, f"{sides.folder}/{role}/"))[1]
    if role == "insensitive":
        for name, (kind, (_, signed)) in zip(names, UNSIGNED.items(), strict=True):
            assert dict(columns)[name] in (signed, kind)


NAMES = ["a.b", "a b", "a`b", 'a"b', "select", "Straße", " x ", '"a""b"; drop table x --', "order", "anon"]


def test_names_of_columns_are_what_they_are_here(sides: Sides) -> None:
    path = f"{sides.folder}/names.parquet"
    values = {name: [place % 2, place % 3, 1, 1, 2, 2] for place, name in enumerate(NAMES)}
    parquet.write_table(pa.table(values), path)
    near = sa.connect(sides.near.connection.cursor())
    near.taxonomies.load_all(dict.fromkeys(NAMES[:5], sa.Taxonomy.flat()), source=path)
    named = sa.Policy(
        quasi_identifiers=NAMES[:5],
        insensitive=[*NAMES[5:-1], "ANON"],
        privacy=[sa.KAnonymity(2)],
        suppression_limit=0.5,
    )
    here, there = (
        session.anonymize(path, named, f"{sides.folder}/{name}/")
        for name, session in (("names here", near), ("names there", sides.far))
    )
    assert here.node == there.node
    assert rows_of(there) == rows_of(here)


def with_one_zero(rows: Counter[Any]) -> Counter[Any]:
    """Rows of texts in which the two zeros of fractions are one, as they are to Spark."""
    return Counter(tuple("0.0" if text == "-0.0" else text for text in row) for row in rows.elements())


def test_all_that_cannot_be_released_is_named_at_once(sides: Sides) -> None:
    path = f"{sides.folder}/unfit.parquet"
    duckdb.execute(
        f"COPY (SELECT *, [id] AS ids, 'x'::BLOB AS picture FROM '{sides.folder}/visits.parquet') TO '{path}'"
    )
    wanted = policy(
        sa.KAnonymity(2), identifiers=["patient", "nights"], pseudonyms=["id"], insensitive=["ids", "picture"]
    )
    sides.received.clear()
    with pytest.raises(sa.PolicyError) as refused:
        sides.far.anonymize(path, wanted, f"{sides.folder}/refused/", pseudonym_key=bytes(range(32)))
    for reason in ('"id" cannot have pseudonyms', '"ids" (INTEGER[]) has values', '"picture" (BLOB) has values'):
        assert reason in str(refused.value)
    assert not sides.received, "before anything is counted"


def test_a_view_without_files_is_refused(sides: Sides) -> None:
    sides.far.measure(f"{sides.folder}/visits.parquet", POLICIES["k"])  # which opens the session
    spark = server_of(sides.far).spark
    spark.range(3).createOrReplaceTempView("made_anew")
    with pytest.raises(sa.EngineError, match="made_anew has no files of its own, as views have none"):
        sides.far.anonymize("made_anew", POLICIES["k"], f"{sides.folder}/refused/")
    spark.catalog.dropTempView("made_anew")


def test_items_without_a_text_are_refused(sides: Sides) -> None:
    path, column = with_values(sides, [("DOUBLE[]", ["[0.5]"])]), f"{NAME}0"
    with sa.connect(":memory:", rows=server_of(sides.far).url) as session:
        session.taxonomies.load(column, sa.Taxonomy.flat(["0.5", "1.5"]))
        session.taxonomies.load("one", sa.Taxonomy.flat(["1", "2"]))
        wanted = sa.Policy(quasi_identifiers=[column], sensitive=["one"], method=sa.DiffGen(sets=[column]))
        with pytest.raises(sa.EngineError, match=r"DOUBLE\[\].*make it an identifier"):
            session.anonymize(path, wanted, f"{sides.folder}/refused/", random_source=FixedNoise(1))


@pytest.mark.deep
def test_the_order_of_the_source_does_not_show(sides: Sides) -> None:
    found = []
    duckdb.execute(f"COPY (FROM '{sides.folder}/visits.parquet' ORDER BY id DESC) TO '{sides.folder}/reversed.parquet'")
    for name in ("visits", "reversed"):
        into = f"{sides.folder}/of {name}/"
        sides.far.anonymize(f"{sides.folder}/{name}.parquet", POLICIES["kept columns"], into)
        found.append([duckdb.read_parquet(str(part)).fetchall() for part in sorted(Path(into).glob("*.parquet"))])
    assert found[0] == found[1]


def test_a_source_that_changes_is_not_released(sides: Sides) -> None:
    lake = sides.folder / "lake"
    lake.mkdir()
    duckdb.execute(f"COPY (FROM '{sides.folder}/visits.parquet') TO '{lake}/a.parquet'")
    into = f"{sides.folder}/changed/"
    write = SparkRows.write

    def add_a_file(*given: Any) -> Any:
        duckdb.execute(f"COPY (FROM '{sides.folder}/visits.parquet') TO '{lake}/b.parquet'")
        return write(*given)

    with (
        mock.patch.object(SparkRows, "write", add_a_file),
        pytest.raises(sa.SqlanonError, match=r"has changed since its rows were counted|did the source change"),
    ):
        sides.far.anonymize(str(lake), POLICIES["k"], into)
    assert not Path(into).exists()
    assert not [path for path in sides.folder.iterdir() if path.name.startswith(".")]
    assert sides.far.anonymize(str(lake), POLICIES["k"], into).report.rows.source == 24


def test_a_delta_table_has_the_rows_of_a_folder(sides: Sides) -> None:
    """Of one whose files are in partitions the kept rows, of another one those that are drawn."""
    lake = pytest.importorskip("deltalake")
    into = f"delta:{sides.folder}/released"
    visits = duckdb.read_parquet(f"{sides.folder}/visits.parquet").to_arrow_table()
    for name, by in (("kept columns", ["sex"]), ("ipa", [])):
        wanted, source = POLICIES[name], f"delta:{sides.folder}/source{len(by)}"
        lake.write_deltalake(f"{sides.folder}/source{len(by)}", visits, partition_by=by)
        if by and IS_SPARK:
            with pytest.raises(sa.EngineError, match="the server has no reader of Delta tables"):
                sides.far.anonymize(source, POLICIES["k"], into)
            continue
        release = sides.far.anonymize(source, wanted, into, random_source=fixed_chance(wanted), replace=True)
        assert release.report.source == f"{source} on {server_of(sides.far).url}"
        found = lake.DeltaTable(f"{sides.folder}/released").to_pyarrow_table()
        rows = Counter(duckdb.from_arrow(found).project("COLUMNS(*)::VARCHAR").fetchall())
        assert rows == rows_of(sides.released_here(wanted))[1]
        for session in (sides.near, sides.far):
            assert not session.verify(into, wanted, strict=False).shortfalls
    before = lake.DeltaTable(f"{sides.folder}/released").version()

    def commit(event: sa.Event) -> None:
        if event.stage == "verify" and event.state == "started":
            lake.write_deltalake(f"{sides.folder}/source0", visits.slice(0, 1), mode="append")

    with pytest.raises(sa.EngineError, match="has changed since its rows were counted"):
        sides.far.anonymize(source, POLICIES["k"], into, replace=True, progress=commit)
    assert lake.DeltaTable(f"{sides.folder}/released").version() == before
    assert not [path for path in sides.folder.iterdir() if path.name.startswith(".")]


def test_rows_of_a_delta_table_that_were_deleted_by_a_vector_are_left_out(sides: Sides) -> None:
    lake = pytest.importorskip("deltalake")
    table = f"{sides.folder}/deleted"
    lake.write_deltalake(table, duckdb.read_parquet(f"{sides.folder}/visits.parquet").to_arrow_table())
    delete_a_row(table)
    if IS_SPARK:
        with pytest.raises(sa.EngineError, match="deletion vectors"):
            sides.far.measure(f"delta:{table}", POLICIES["k"])
        return
    assert sides.far.measure(f"delta:{table}", POLICIES["k"]).row_count == 11, "of 12"


@pytest.mark.skipif(IS_SPARK, reason="Apache Spark writes signed numbers")
def test_unsigned_numbers_that_a_server_writes_are_not_committed_as_signed_ones(sides: Sides) -> None:
    source = f"{sides.folder}/unsigned.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS one, 200::UTINYINT AS many FROM range(3)) TO '{source}'")
    wanted = sa.Policy(quasi_identifiers=["one"], insensitive=["many"], privacy=[sa.KAnonymity(2)])
    sides.far.taxonomies.load("one", sa.Taxonomy.flat([1]))
    with pytest.raises(sa.EngineError, match=r"other types than the release, .many. \(uint8, not int8\)"):
        sides.far.anonymize(source, wanted, f"delta:{sides.folder}/unsigned")
    assert not Path(sides.folder, "unsigned").exists()


def test_a_target_among_the_files_of_the_source_is_refused(sides: Sides) -> None:
    people = sides.folder / "people"
    (people / "deep").mkdir(parents=True, exist_ok=True)
    duckdb.execute(f"COPY (FROM '{sides.folder}/visits.parquet') TO '{people}/a.parquet'")
    before = sorted(people.rglob("*"))
    for target in (f"{people}/released/", f"{people}/deep/er/", f"delta:{people}/released/"):
        with pytest.raises(sa.EngineError, match="lies among the files of the source"):
            sides.far.anonymize(str(people), POLICIES["k"], target)
    assert sorted(people.rglob("*")) == before


def test_what_no_server_writes_is_refused_before_anything_is_spent(sides: Sides) -> None:
    sides.received.clear()
    with pytest.raises(sa.EngineError, match="the rows are on a server"):
        sides.far.anonymize(f"{sides.folder}/odd.parquet", POLICIES["ipa"], "released", random_source=FixedNoise(1))
    assert not sides.received, "nothing was counted"
    charged = {*sides.far.ledger.entries()["dataset"].to_pylist()}
    assert dataset_of_files(f"{sides.folder}/odd.parquet") not in charged


def test_values_without_a_label_are_listed_there(sides: Sides) -> None:
    sets = "* REPLACE (list_append(drugs, 'heparin') AS drugs)"
    plain = policy(sa.KAnonymity(2))
    local = policy(sa.KAnonymity(2), method=sa.LocalRecoding())
    for table, columns, wanted in (
        ("odd", "*", plain),
        ("odd", "*", local),
        ("treated", sets, POLICIES["diffgen of sets"]),
    ):
        path = f"{sides.folder}/unlabelled {table}.parquet"
        duckdb.execute(f"COPY (SELECT {columns} FROM '{sides.folder}/{table}.parquet') TO '{path}'")
        problems = []
        for session in (sides.near, sides.far):
            with pytest.raises(sa.TaxonomyError) as refused:
                session.anonymize(path, wanted, f"{sides.folder}/refused/")
            problems.append(refused.value.problems)
        for here, there in zip(*problems, strict=True):
            found, query = here.split("; list them by ")
            found_there, query_there = there.split("; list them among all others, which the taxonomy has, by ")
            assert found_there == found
            listed = server_of(sides.far).spark.sql(query_there).toArrow().to_pylist()
            rows = {str(each["value"]): each["rows"] for each in listed}
            assert dict(sides.near.connection.execute(query).fetchall()).items() < rows.items()


def test_a_release_there_is_verified_and_measured_there(sides: Sides) -> None:
    wanted = POLICIES["k, l and t"]
    into, source = sides.released_here(wanted).into, f"{sides.folder}/visits.parquet"
    assert not sides.far.verify(into, wanted, source=source).shortfalls
    assert sides.far.measure(source, wanted).k == sides.near.measure(source, wanted).k == 1
    assert {"cells", "the release"} <= {each.purpose for each in sides.far.explain(source, wanted)}


def test_a_file_has_the_account_that_it_has_here(sides: Sides) -> None:
    path = f"{sides.folder}/whole.parquet"
    sides.far.anonymize(path, POLICIES["ipa"], f"{sides.folder}/charged/", replace=True)
    assert set(sides.far.ledger.entries()["dataset"].to_pylist()) == {dataset_of_files(path)}


def test_a_path_of_the_working_folder_is_one_there(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sides.folder)
    release = sides.far.anonymize("visits.parquet", POLICIES["k"], "relative/")
    assert "sc://" in release.report.source
    assert Path("relative", "_sqlanon.json").is_file()
    assert release.to_arrow().num_rows == release.report.rows.released


def test_a_session_leaves_nothing_there(sides: Sides, server: str) -> None:
    source, into = f"{sides.folder}/visits.parquet", f"{sides.folder}/again/"
    with sa.connect(sides.near.connection.cursor(), rows=server) as session:
        rows = server_of(session)
        session.anonymize(source, POLICIES["kept columns"], into)
        for fails in (SparkRows, "refuse_changed"), (FolderTarget, "add_record"):
            with mock.patch.object(*fails, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
                session.anonymize(source, POLICIES["masks"], into, replace=True)
        session.measure(source, POLICIES["k"])
        assert len(rows.views) == 1, "the source"
        shown = rows.spark.sql("SHOW VIEWS").toArrow().to_pylist()
        assert len(shown) == 1


def test_fractions_of_a_column_are_looked_up_once(sides: Sides, server: str) -> None:
    with mock.patch.object(server_of(sides.far), "float_texts", wraps=float_texts) as spelled:
        near, far = sides.released(FRACTIONS, "halves")
    assert spelled.call_count == 1
    assert rows_of(far) == rows_of(near)
    into = f"{sides.folder}/refused/"
    with (
        sa.connect(sides.near.connection.cursor(), rows=server, max_cells=2) as session,
        pytest.raises(sa.EngineError, match='"nights" has more than 2 fractions'),
    ):
        session.anonymize(f"{sides.folder}/halves.parquet", FRACTIONS, into)
    assert not Path(into).exists()


def test_the_command_that_is_proposed_asks_the_server(sides: Sides, server: str) -> None:
    Path(sides.folder, "policy.toml").write_text(
        'quasi_identifiers = ["age", "sex"]\nrest = "identifier"\nprivacy = [{ model = "k-anonymity", k = 2 }]\n'
    )
    warehouse = shutil.copy(f"{sides.folder}/taxonomies.duckdb", f"{sides.folder}/command.duckdb")
    into = ["--policy", "policy.toml", "--rows", server, "--into", f"{sides.folder}/commanded/"]
    run = sqlanon("run", f"{sides.folder}/visits.parquet", "--db", warehouse, *into, folder=sides.folder)
    assert run.returncode == 0, run.stderr
    _, *proposed = shlex.split(run.stderr.splitlines()[-1].partition(": ")[2])
    assert proposed[-2:] == ["--rows", server]
    assert sqlanon(*proposed, folder=sides.folder).returncode == 0


def test_what_is_refused_leaves_nothing(sides: Sides) -> None:
    folder, visits = sides.folder, f"{sides.folder}/visits.parquet"
    (folder / "lonely").mkdir(exist_ok=True)
    shutil.copy(visits, folder / "lonely")
    before = sorted(folder.rglob("*"))
    for source, into, options, reason in (
        (visits, "released", {}, "the rows are on a server"),
        (visits, f"{folder}/one.parquet", {}, "the rows are on a server"),
        (visits, f"{folder}/laid/", {"partition_by": "sex"}, "not supported when a server writes"),
        (
            f"{folder}/lonely/visits.parquet",
            f"{folder}/lonely/",
            {},
            "of the source|is the source|other files than a release",
        ),
    ):
        with pytest.raises((sa.EngineError, sa.PolicyError), match=reason):
            sides.far.anonymize(source, POLICIES["k"], into, replace=True, **options)
    with pytest.raises(sa.PolicyError, match="stay on their server"):
        sides.far.suggest(visits)
    assert sorted(folder.rglob("*")) == before


def test_errors_quote_no_value(sides: Sides, capfd: pytest.CaptureFixture[str]) -> None:
    path = with_values(sides, [("VARCHAR", ["canary"])])
    with (
        mock.patch("sqlanon.spark.spark_rows.in_spark") as asked,
        pytest.raises(sa.EngineError, match="refused the step") as refused,
    ):
        asked.return_value = Statement(f"SELECT CAST('canary' AS INT) FROM parquet.`{path}`", ())
        sides.far.measure(path, sa.Policy(quasi_identifiers=[f"{NAME}0"], privacy=[sa.KAnonymity(2)]))
    assert "canary" not in str(refused.value)
    assert "canary" not in "".join(capfd.readouterr())


def test_the_client_logs_no_error(sides: Sides) -> None:
    sides.far.measure(f"{sides.folder}/visits.parquet", POLICIES["k"])
    assert all(logging.getLogger(name).disabled for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"))


def test_an_address_without_a_server_is_named() -> None:
    pytest.importorskip("pyspark.sql.connect")
    missing = mock.patch.dict(sys.modules, {"pyspark.sql.connect.session": None})
    with missing, pytest.raises(sa.EngineError, match=r"needs pyspark, which is not installed; .*\[spark\]"):
        sa.connect(rows="sc://127.0.0.1:1")
    for given, reason in (
        ({"rows": "localhost:15002"}, "begins with sc://"),
        ({"rows": "sc://127.0.0.1:1", "max_cells": 0}, "max_cells is a number of cells, 1 or more"),
        ({"max_cells": 1}, "max_cells is for rows on a server"),
    ):
        with pytest.raises(sa.EngineError, match=reason):
            sa.connect(**given)
    with sa.connect(rows="sc://127.0.0.1:1/;token=canary") as session:
        with pytest.raises(sa.EngineError, match="cannot be reached") as refused:
            session.measure("/lake/visits", POLICIES["k"])
        assert "canary" not in str(refused.value)
