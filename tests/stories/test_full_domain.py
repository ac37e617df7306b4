"""Releases through the public API: where they come from, where they go, what they say of themselves."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from sqlanon.methods.shared import publishing
from tests.conftest import clinic_values, open_clinic

POLICY = sa.Policy(
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["diagnosis"],
    identifiers=["id"],
    privacy=[sa.KAnonymity(2)],
    suppression_limit=0.25,
)

KINDS = {
    "DOUBLE": ("['-0.0', '0.0', 'nan', '-inf', '-1.5', '1e300', NULL]", "CAST(c AS BIT)"),
    "FLOAT": ("['-0.0', '0.0', 'nan', '-inf', '-1.5', '1e30', NULL]", "CAST(c AS BIT)"),
    "VARCHAR COLLATE NOCASE": ("['a', 'A', 'b', '', '*', NULL]", "c"),
    "JSON": ("""['{"a": 1}', '{"a":1}', 'null', NULL]""", "c"),
    "INTERVAL": ("['1 month', '30 days', '720 hours', NULL]", "c"),
    "TIMETZ": ("['12:00:00+00', '13:00:00+01', NULL]", "c"),
    "DOUBLE[]": ("['[-0.0]', '[0.0]', '[nan]', '[NULL]', '[]', NULL]", "c"),
    "STRUCT(x DOUBLE[2], y VARCHAR)": ("[{x: [-0.0, 1], y: 'a'}, {x: [0.0, 1], y: 'a'}]", "c"),
    "MAP(VARCHAR, FLOAT)": ("['{a=-0.0}', '{a=0.0}', '{b=1}', NULL]", "c"),
    "UNION(x BIT, y TEXT)": ("[CAST('1'::BIT AS UNION(x BIT, y TEXT)), '1']", "union_tag(c)"),
    "ENUM('b', 'a')[]": ("['[a, b]', '[b]', '[]', NULL]", "c"),
    "BLOB": ("['a', 'A', NULL]", "c"),
}
"""Types with some of their values, and what tells these apart."""


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation}").fetchall()


def tables(session: sa.Session) -> list[tuple[str, str]]:
    """Every table and view, but for those of schema anon."""
    return session.connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name <> 'anon' "
        "UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
    ).fetchall()


def single(session: sa.Session, sizes: dict[str, int], sensitive: str = "'x'") -> None:
    """Table ``people``: so many rows of each value of ``city``, with a flat taxonomy."""
    values = ", ".join(f"('{city}', {count})" for city, count in sizes.items())
    session.connection.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT city, {sensitive} AS illness "
        f"FROM (VALUES {values}) AS sizes (city, n), range(n) AS members (i)"
    )
    session.taxonomies.load("city", sa.Taxonomy.flat(), source="people")


def people_policy(k: int = 2, **options: Any) -> sa.Policy:
    models = options.pop("privacy", [sa.KAnonymity(k)])
    return sa.Policy(quasi_identifiers=["city"], sensitive=["illness"], privacy=models, **options)


@pytest.fixture
def memory() -> Iterator[sa.Session]:
    """A session on an empty database."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield sa.connect(connection)


@pytest.fixture
def clinic(memory: sa.Session) -> sa.Session:
    """The clinic of tests/conftest.py without its macros."""
    open_clinic(memory.connection)
    return memory


@pytest.fixture(scope="module")
def expected(shared_clinic: sa.Session) -> list[tuple[Any, ...]]:
    """The rows of the release of the clinic."""
    shared_clinic.anonymize("visits", POLICY, into="expected")
    return rows(shared_clinic, "expected")


class TestSources:
    """The same rows, however the source is named."""

    @pytest.mark.parametrize(
        ("setup", "source"),
        [
            ("", "VISITS"),
            ("", "main.visits"),
            ("", "memory.main.visits"),
            ("", "SELECT * FROM visits"),
            ("", "  -- the visits\n  from visits;"),
            ("", "/* all */ (SELECT * FROM visits)"),
            ("", "TABLE visits"),
            ("", "WITH v AS (FROM visits) SELECT * FROM v ORDER BY random()"),
            ("", "SELECT * REPLACE (CAST(age AS VARCHAR) AS age) FROM visits"),
            ("CREATE VIEW seen AS FROM visits", "seen"),
            ("CREATE TEMP TABLE copied AS FROM visits", "copied"),
            ("CREATE TEMP VIEW copied AS FROM visits", "copied"),
            ("CREATE SCHEMA ward; CREATE TABLE ward.visits AS FROM main.visits", "ward.visits"),
            ('CREATE SCHEMA "a b"; CREATE TABLE "a b"."c d" AS FROM main.visits', '"a b"."c d"'),
            ("ATTACH ':memory:' AS other; CREATE TABLE other.visits AS FROM memory.main.visits", "other.visits"),
            ("ATTACH ':memory:' AS other; CREATE TABLE other.v AS FROM memory.main.visits", "other.main.v"),
            ('CREATE TABLE "a""b; drop table x --" AS FROM visits', 'a"b; drop table x --'),
            ('CREATE TABLE "select 1" AS FROM visits', "select 1"),
            ('CREATE TABLE "a.b" AS FROM visits', "a.b"),
            ('CREATE TABLE "from" AS FROM visits', "from"),
            ('CREATE TABLE "x.parquet" AS FROM visits', "x.parquet"),
            ('CREATE TABLE "it\'s*" AS FROM visits', "it's*"),
        ],
    )
    def test_tables_views_and_queries(
        self, clinic: sa.Session, expected: list[tuple[Any, ...]], setup: str, source: str
    ) -> None:
        clinic.connection.execute(setup or "SELECT 1")
        release = clinic.anonymize(source, POLICY, into="published")
        assert rows(clinic, "published") == expected
        assert release.report.rows.source == 12

    def test_files(self, clinic: sa.Session, expected: list[tuple[Any, ...]], tmp_path: Path) -> None:
        folder = tmp_path / "it's a lake"
        folder.mkdir()
        clinic.connection.execute(f"COPY visits TO '{str(folder).replace(chr(39), chr(39) * 2)}/all.parquet'")
        for part, condition in (("a", "id <= 5"), ("b", "id > 5")):
            target = f"{folder}/part-{part}.parquet".replace("'", "''")
            clinic.connection.execute(f"COPY (FROM visits WHERE {condition}) TO '{target}'")
        for number, source in enumerate((folder / "all.parquet", str(folder / "part-?.parquet"), f"{folder}/part-*")):
            clinic.anonymize(source, POLICY, into=f"published_{number}")
            assert rows(clinic, f"published_{number}") == expected

    def test_a_registered_arrow_table(self, clinic: sa.Session, expected: list[tuple[Any, ...]]) -> None:
        clinic.connection.register("registered", arrow(clinic, "visits"))
        clinic.anonymize("registered", POLICY, into="published")
        assert rows(clinic, "published") == expected

    def test_hostile_columns(self, clinic: sa.Session) -> None:
        names = {
            "age": 'a"ge',
            "sex": "'; DROP TABLE visits; --",
            "zip": "SELECT",
            "diagnosis": "%s {x} $1",
            "id": "ID",
        }
        columns = ", ".join(f"{old} AS {quoted(new)}" for old, new in names.items())
        clinic.connection.execute(f"CREATE TABLE hostile AS SELECT {columns} FROM visits")
        for old in ("age", "sex", "zip"):
            relation = f"SELECT level, value, label FROM anon.taxonomy WHERE attribute = '{old}'"
            clinic.taxonomies.load(names[old], sa.Taxonomy.from_query(relation), source="hostile")
        policy = sa.Policy(
            quasi_identifiers=[names[name] for name in ("age", "sex", "zip")],
            sensitive=[names["diagnosis"]],
            identifiers=["ID"],
            privacy=[sa.KAnonymity(2)],
            suppression_limit=0.25,
        )
        clinic.anonymize("visits", POLICY, into="expected")
        release = clinic.anonymize("hostile", policy, into="published")
        assert list(release.node) == [names[name] for name in ("age", "sex", "zip")]
        expected = clinic.connection.execute("SELECT age, sex, zip, diagnosis FROM expected ORDER BY ALL").fetchall()
        assert rows(clinic, "published") == expected
        assert clinic.connection.execute("SELECT count(*) FROM visits").fetchall() == [(12,)]

    @pytest.mark.parametrize("name", ["row_count", "class_size", "sensitive_value", "label", "attribute", "k", "rowid"])
    def test_columns_with_names_that_the_macros_use(self, memory: sa.Session, name: str) -> None:
        memory.connection.execute(f'CREATE TABLE t AS SELECT i % 2 AS "{name}", i % 3 AS other FROM range(24) AS r (i)')
        memory.taxonomies.load(name, sa.Taxonomy.flat(), source="t")
        memory.taxonomies.load("other", sa.Taxonomy.flat(), source="t")
        for quasi_identifier, sensitive in ((name, "other"), ("other", name)):
            models = [sa.KAnonymity(2), sa.DistinctLDiversity(sensitive, 2), sa.EntropyLDiversity(sensitive, 2)]
            policy = sa.Policy(quasi_identifiers=[quasi_identifier], sensitive=[sensitive], privacy=models)
            memory.anonymize("t", policy, into="published", replace=True)

    @pytest.mark.parametrize(
        "values",
        [
            "CASE WHEN i % 2 = 0 THEN 0.0::DOUBLE ELSE -0.0::DOUBLE END",
            "CASE WHEN i % 2 = 0 THEN INTERVAL 1 MONTH ELSE INTERVAL 30 DAYS END",
            "[CASE WHEN i % 2 = 0 THEN 0.0::DOUBLE ELSE -0.0::DOUBLE END]",
            "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'A' END COLLATE NOCASE",
        ],
        ids=["negative zero", "intervals", "lists", "collation"],
    )
    def test_equal_values_of_different_text_are_different_values(self, memory: sa.Session, values: str) -> None:
        memory.connection.execute(f"CREATE TABLE t AS SELECT {values} AS x FROM range(8) AS r (i)")
        memory.taxonomies.load("x", sa.Taxonomy.flat(), source="t")
        assert memory.taxonomies.list()["x"]["values"] == 2
        four = sa.Policy(quasi_identifiers=["x"], privacy=[sa.KAnonymity(4)])
        five = sa.Policy(quasi_identifiers=["x"], privacy=[sa.KAnonymity(5)])
        assert memory.anonymize("t", four, into="four").node == {"x": 0}
        assert memory.anonymize("t", five, into="five").node == {"x": 1}
        assert len(rows(memory, "four")) == len(rows(memory, "five")) == 8

    def test_a_connection_with_a_default_collation_is_refused(self) -> None:
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            single(session, {"a": 2, "A": 2})
            connection.execute("SET default_collation = 'nocase'")
            with pytest.raises(sa.EngineError, match="default_collation"):
                session.anonymize("people", people_policy(4), into="published")


class TestTypes:
    @pytest.mark.parametrize(
        ("kind", "value", "released"),
        [
            ("ENUM('a''b', 'x,y', 'ENUM(')", "'a''b'", "VARCHAR"),
            ("ENUM('p', 'q')[]", "['p']", "VARCHAR[]"),
            ("ENUM('p', 'q')[1]", "['p']", "VARCHAR[1]"),
            ("STRUCT(\"a b\" ENUM('p'), c INTEGER)", "{'a b': 'p', 'c': 1}", 'STRUCT("a b" VARCHAR, c INTEGER)'),
            ("MAP(ENUM('p'), INTEGER)", "MAP {'p': 1}", "MAP(VARCHAR, INTEGER)"),
            ('STRUCT("ENUM x" INTEGER)', "{'ENUM x': 1}", 'STRUCT("ENUM x" INTEGER)'),
            ("DECIMAL(20, 3)", "1.5", "DECIMAL(20,3)"),
            ("BLOB", "'\\xAA'::BLOB", "BLOB"),
            ("TIMESTAMP WITH TIME ZONE", "'2024-01-01 00:00:00+00'", "TIMESTAMP WITH TIME ZONE"),
        ],
    )
    def test_columns_keep_their_type_but_lose_their_enums(
        self, memory: sa.Session, kind: str, value: str, released: str
    ) -> None:
        memory.connection.execute("CREATE TABLE t AS SELECT i % 2 AS q FROM range(8) AS r (i)")
        memory.connection.execute(f"ALTER TABLE t ADD COLUMN d {kind}")
        memory.connection.execute(f"UPDATE t SET d = {value}")
        memory.taxonomies.load("q", sa.Taxonomy.flat(), source="t")
        policy = sa.Policy(quasi_identifiers=["q"], sensitive=["d"], privacy=[sa.KAnonymity(2)])
        memory.anonymize("t", policy, into="published")
        assert memory.connection.execute("SELECT DISTINCT typeof(d) FROM published").fetchall() == [(released,)]
        same = "SELECT count(*) FROM published WHERE d::VARCHAR = (SELECT any_value(d)::VARCHAR FROM t)"
        assert memory.connection.execute(same).fetchall() == [(8,)]

    @pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "insensitive"])
    def test_nested_values_in_every_role(self, memory: sa.Session, role: str) -> None:
        kinds = {
            "STRUCT(a BIGINT, b VARCHAR)": "{'a': i % 2, 'b': 'x'}",
            "BIGINT[]": "[i % 2, NULL]",
            "BIGINT[2]": "[i % 2, 1]",
            "MAP(VARCHAR, BIGINT)": "MAP {'a': i % 2}",
            "STRUCT(a BIGINT[2])": "{'a': [i % 2, 1]}",
            "BIGINT[2][]": "[[i % 2, 1], NULL]",
            "UNION(a BIGINT, b VARCHAR)": "i % 2",
        }
        names = [f"d{place}" for place, _ in enumerate(kinds)]
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
        memory.connection.execute(f"CREATE TABLE t (q BIGINT, {columns})")
        memory.connection.execute(
            f"INSERT INTO t SELECT i // 12 % 2, {', '.join(kinds.values())} FROM range(48) AS r (i)"
        )
        memory.connection.execute("INSERT INTO t (q) SELECT i % 2 FROM range(8) AS r (i)")
        roles = {"quasi_identifiers": ["q"], role: names if role != "quasi_identifiers" else ["q", *names]}
        models = [sa.KAnonymity(2)]
        models += [sa.DistinctLDiversity(name, 2) for name in names if role == "sensitive"]
        taxonomies = {name: {"kind": "flat"} for name in roles["quasi_identifiers"]}
        policy = sa.Policy(**roles, privacy=models, taxonomies=taxonomies)
        node = dict.fromkeys(roles["quasi_identifiers"], 0)
        memory.anonymize("t", policy, into="released", node=node)
        assert memory.verify("released", policy, source="t").met
        texts = "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {} ORDER BY ALL"
        found, expected = (memory.connection.execute(texts.format(name)).fetchall() for name in ("released", "t"))
        assert found == expected

    @pytest.mark.parametrize("kind", ["ENUM ('flu', 'unheardof')", "VARCHAR"])
    @pytest.mark.parametrize(
        ("into", "options"),
        [
            ("r.parquet", {}),
            ("folder/", {}),
            ("folder/", {"rows_per_file": 4}),
            ("folder/", {"partition_by": ["illness"]}),
            ("folder/", {"partition_by": ["city"], "rows_per_file": 4}),
        ],
        ids=str,
    )
    def test_files_do_not_name_suppressed_values(
        self, memory: sa.Session, tmp_path: Path, into: str, options: dict[str, Any], kind: str
    ) -> None:
        """DuckDB 1.5 writes all values of an ENUM type that a column has, whether they occur or not."""
        memory.connection.execute(
            "CREATE TABLE people AS SELECT CASE WHEN i < 9 THEN 'common' ELSE 'onlyone' END AS city, "
            f"CAST(CASE WHEN i < 9 THEN 'flu' ELSE 'unheardof' END AS {kind}) AS illness FROM range(10) AS r (i)"
        )
        memory.taxonomies.load("city", sa.Taxonomy.flat(), source="people")
        memory.anonymize("people", people_policy(suppression_limit=0.1), into=f"{tmp_path}/{into}", **options)
        files = sorted((tmp_path / into).rglob("*.parquet")) or [tmp_path / into]
        assert len(files) == (3 if "rows_per_file" in options else 1)
        for file in files:
            content = file.read_bytes()
            assert b"unheardof" not in content
            assert b"onlyone" not in content
            for name in {"city", "illness"} - set(options.get("partition_by", [])):
                (column,) = pq.ParquetFile(file, read_dictionary=[name]).read([name]).columns
                assert column.chunk(0).dictionary.to_pylist() == [{"city": "common", "illness": "flu"}[name]]

    @pytest.mark.parametrize("most_typed", [0, 2, 1000])
    def test_texts_are_texts_in_files_and_in_tables_however_they_are_written(
        self, clinic: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_typed: int
    ) -> None:
        monkeypatch.setattr(publishing, "MAX_ENUM_TEXTS", most_typed)
        monkeypatch.setattr(publishing, "TYPED_GROUPS", 1)
        clinic.anonymize("visits", POLICY, into="published")
        targets = {"r.parquet": {}, "folder/": {}, "pieces/": {"rows_per_file": 2}, "parts/": {"partition_by": ["sex"]}}
        names = "age, sex, zip, diagnosis"
        for name, options in targets.items():
            clinic.anonymize("visits", POLICY, into=f"{tmp_path}/{name}", **options)
            pattern = f"{name}**/*.parquet" if name.endswith("/") else name
            written = rows(clinic, f"(SELECT {names} FROM '{tmp_path}/{pattern}' ORDER BY ALL)")
            assert written == rows(clinic, f"(SELECT {names} FROM published ORDER BY ALL)")
        for relation in ("published", f"'{tmp_path}/r.parquet'", f"'{tmp_path}/parts/**/*.parquet'"):
            described = clinic.connection.execute(f"DESCRIBE FROM {relation}").fetchall()
            types = {name: kind for name, kind, *_ in described}
            assert {types[name] for name in ("age", "sex", "zip", "diagnosis")} == {"VARCHAR"}
        schema = pq.read_schema(tmp_path / "r.parquet")
        assert {schema.field(name).type for name in ("age", "sex", "zip", "diagnosis")} == {pa.string()}
        marker = json.loads((tmp_path / "pieces" / "_sqlanon.json").read_text(encoding="utf-8"))
        assert "ENUM" not in json.dumps(marker)

    def test_texts_that_are_equal_under_a_collation_stay_apart(self, memory: sa.Session, tmp_path: Path) -> None:
        memory.connection.execute("CREATE TABLE people (city VARCHAR, illness VARCHAR COLLATE NOCASE)")
        memory.connection.execute(
            "INSERT INTO people SELECT 'a', ['x', 'X', '', NULL][1 + i % 4] FROM range(40) AS r (i)"
        )
        memory.taxonomies.load("city", sa.Taxonomy.flat(), source="people")
        memory.anonymize("people", people_policy(), into=tmp_path / "r.parquet")
        found = rows(
            memory, f"(SELECT encode(illness), count(*) FROM '{tmp_path}/r.parquet' GROUP BY ALL ORDER BY ALL)"
        )
        assert found == [(b"", 10), (b"X", 10), (b"x", 10), (None, 10)]

    def test_partitions_by_all_labels_leave_texts_that_are_no_labels(self, memory: sa.Session, tmp_path: Path) -> None:
        single(memory, {"a": 2, "b": 2}, sensitive="concat(city, i)")
        memory.anonymize("people", people_policy(), into=f"{tmp_path}/parts/", partition_by=["city"])
        found = rows(memory, f"(SELECT city, illness FROM '{tmp_path}/parts/**/*.parquet' ORDER BY ALL)")
        assert found == [("a", "a0"), ("a", "a1"), ("b", "b0"), ("b", "b1")]

    def test_a_label_may_be_named_like_a_type_that_parquet_lacks(self, memory: sa.Session, tmp_path: Path) -> None:
        single(memory, {"HUGEINT": 2, "ENUM(": 2})
        memory.anonymize("people", people_policy(), into=tmp_path / "r.parquet")
        found = rows(memory, f"(SELECT city FROM '{tmp_path}/r.parquet' ORDER BY ALL)")
        assert found == [("ENUM(",), ("ENUM(",), ("HUGEINT",), ("HUGEINT",)]


class TestTargets:
    def test_a_table(self, clinic: sa.Session) -> None:
        before = tables(clinic)
        release = clinic.anonymize("visits", POLICY, into="published")
        assert release.into == "published"
        assert sorted(tables(clinic)) == sorted([*before, ("main", "published")])
        assert clinic.verify("published", POLICY).met

    def test_a_file(self, clinic: sa.Session, tmp_path: Path) -> None:
        before = tables(clinic)
        clinic.anonymize("visits", POLICY, into="expected")
        release = clinic.anonymize("visits", POLICY, into=tmp_path / "published.parquet")
        assert release.into == str(tmp_path / "published.parquet")
        assert list(tmp_path.iterdir()) == [tmp_path / "published.parquet"]
        assert rows(clinic, f"'{tmp_path}/published.parquet'") == rows(clinic, "expected")
        assert sorted(tables(clinic)) == sorted([*before, ("main", "expected")])
        assert clinic.verify(tmp_path / "published.parquet", POLICY).met

    @pytest.mark.parametrize("name", ["a[1].parquet", "a*?.parquet", "it's.parquet", "é 🙂.parquet", "UPPER.PARQUET"])
    def test_files_of_any_name(self, clinic: sa.Session, tmp_path: Path, name: str) -> None:
        clinic.anonymize("visits", POLICY, into=tmp_path / name)
        clinic.anonymize("visits", POLICY, into=tmp_path / name, replace=True)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert pq.read_table(tmp_path / name).num_rows > 0

    @pytest.mark.parametrize(
        ("name", "place"),
        [
            ("ward.published", ("ward", "published")),
            ("memory.ward.published", ("ward", "published")),
            ('a"b; drop table visits --', ("main", 'a"b; drop table visits --')),
            ("no such schema.published", ("main", "no such schema.published")),
            ("select", ("main", "select")),
        ],
    )
    def test_tables_of_any_name(self, clinic: sa.Session, name: str, place: tuple[str, str]) -> None:
        clinic.connection.execute("CREATE SCHEMA ward")
        before = tables(clinic)
        for replace in (False, True):
            clinic.anonymize("visits", POLICY, into=name, replace=replace)
            assert sorted(tables(clinic)) == sorted([*before, place])
        assert clinic.verify(name, POLICY).met

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("out.parquet.gz", "write out.parquet, whose columns are compressed already"),
            ("OUT.CSV.ZST", "write OUT.parquet, whose columns are compressed already"),
            ("c.duckdb", "give the name of the table; else write c.parquet"),
            ("x.json", "unsupported output format .json; use .parquet or .csv"),
            ("x.tsv", "unsupported output format .tsv; use .parquet or .csv"),
            ("x.xlsx", "unsupported output format .xlsx; use .parquet or .csv"),
            ("x.pq", "unsupported output format .pq; use .parquet or .csv"),
            (".", 'such as "./release/"'),
            ("..", 'such as "../release/"'),
        ],
    )
    def test_a_name_of_a_file_is_no_table(self, clinic: sa.Session, name: str, said: str) -> None:
        before = tables(clinic)
        roles = {"individual": "id", "event": "diagnosis", "order": "age", "first": 1}
        with pytest.raises(sa.EngineError, match=re.escape(said)):
            clinic.anonymize("visits", POLICY, into=name)
        with pytest.raises(sa.EngineError, match=re.escape(said)):
            clinic.lattice("visits", POLICY, into=name)
        with pytest.raises(sa.EngineError, match=re.escape(said)):
            clinic.flatten("visits", into=name, **roles)
        assert tables(clinic) == before

    def test_a_schema_makes_it_one(self, clinic: sa.Session, tmp_path: Path) -> None:
        clinic.connection.execute(f"CREATE SCHEMA ward; ATTACH '{tmp_path}/other.duckdb' AS other")
        for name in ("memory.ward.json", "other.db", "other.main.gz"):
            clinic.anonymize("visits", POLICY, into=name)
            assert clinic.verify(name, POLICY).met
        clinic.connection.execute('CREATE TABLE "old.json" AS SELECT 1 AS state')
        with pytest.raises(sa.EngineError, match=r'table "old\.json" exists'):
            clinic.anonymize("visits", POLICY, into="old.json")

    def test_a_table_of_an_attached_database(self, clinic: sa.Session, tmp_path: Path) -> None:
        clinic.connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
        clinic.anonymize("visits", POLICY, into="other.published")
        clinic.anonymize("visits", POLICY, into="expected")
        assert rows(clinic, "other.main.published") == rows(clinic, "expected")

    @pytest.mark.parametrize("name", ["temp.published", "temp.main.published"])
    def test_a_temporary_table(self, clinic: sa.Session, name: str) -> None:
        clinic.anonymize("visits", POLICY, into="expected")
        for replace in (False, True):
            clinic.anonymize("visits", POLICY, into=name, replace=replace)
            assert rows(clinic, "temp.main.published") == rows(clinic, "expected")
            assert clinic.verify(name, POLICY).met
        with clinic.connection.cursor() as other:
            assert other.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'published'").fetchall() == [
                (0,)
            ]
        with pytest.raises(sa.EngineError, match='"published" is a temporary table'):
            clinic.anonymize("visits", POLICY, into="published", replace=True)
        clinic.connection.execute("CREATE TEMP TABLE scratch AS SELECT 1 AS state")
        with pytest.raises(sa.EngineError, match="not made by sqlanon"):
            clinic.anonymize("visits", POLICY, into="temp.scratch", replace=True)

    @pytest.mark.parametrize("name", ["Ä", "ä"])
    def test_letters_beyond_ascii_have_a_case(self, clinic: sa.Session, name: str) -> None:
        """As DuckDB has it: the tables "Ä" and "ä" are two, and so are columns."""
        clinic.connection.execute('CREATE TABLE "Ä" AS FROM visits LIMIT 4; CREATE TABLE "ä" AS FROM visits LIMIT 8')
        clinic.connection.execute('ALTER TABLE "ä" ADD COLUMN "é" INTEGER; ALTER TABLE "ä" ADD COLUMN "É" INTEGER')
        others = {"identifiers": ("id", "é"), "insensitive": ("É",)} if name == "ä" else {}
        clinic.anonymize(name, POLICY.model_copy(update={**others, "suppression_limit": 1.0}), into="published")
        assert len(rows(clinic, "published")) <= (4 if name == "Ä" else 8)
        assert clinic._engine.resolve(name).relation.name == name

    def test_replacing_a_table(self, clinic: sa.Session) -> None:
        clinic.connection.execute("CREATE TABLE published AS SELECT 'old' AS state")
        with pytest.raises(sa.EngineError, match=r'"published" exists.*replace=True'):
            clinic.anonymize("visits", POLICY, into="published")
        with pytest.raises(sa.EngineError, match=r'"published" was not made by sqlanon.*replace="anything"'):
            clinic.anonymize("visits", POLICY, into="published", replace=True)
        assert rows(clinic, "published") == [("old",)]
        clinic.anonymize("visits", POLICY, into="PUBLISHED", replace="anything")
        assert len(rows(clinic, "published")) > 1
        clinic.anonymize("visits", POLICY, into="Published", replace=True)

    def test_replacing_a_file(self, clinic: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "published.parquet"
        target.write_bytes(b"old")
        with pytest.raises(sa.EngineError, match="exists"):
            clinic.anonymize("visits", POLICY, into=target)
        for other in (b"old", b""):
            target.write_bytes(other)
            with pytest.raises(sa.EngineError, match=r'was not made by sqlanon.*replace="anything"'):
                clinic.anonymize("visits", POLICY, into=target, replace=True)
            assert target.read_bytes() == other
        clinic.connection.execute(f"COPY visits TO '{target}'")
        with pytest.raises(sa.EngineError, match="was not made by sqlanon"):
            clinic.anonymize("visits", POLICY, into=target, replace=True)
        assert pq.read_table(target).num_rows == 12
        clinic.anonymize("visits", POLICY, into=target, replace="anything")
        assert pq.read_table(target).num_rows < 12
        clinic.anonymize("visits", POLICY, into=target, replace=True)

    @pytest.mark.parametrize("into", ["mine", "mine.parquet"])
    def test_no_slip_drops_what_is_the_users_own(
        self, clinic: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        clinic.connection.execute("CREATE TABLE mine AS FROM visits; COPY visits TO 'mine.parquet'")
        relation = f"'{into}'" if "." in into else into
        before = rows(clinic, relation)
        clinic.partitions.fit("visits", POLICY, "clinic.fit", accept_observed_domain=True)
        roles = {"individual": "id", "event": "diagnosis", "order": "age", "first": 1}
        for call in (
            lambda **given: clinic.anonymize("visits", POLICY, into, **given),
            lambda **given: clinic.partitions.apply("visits", "clinic.fit", into, **given),
            lambda **given: clinic.lattice("visits", POLICY, into=into, **given),
            lambda **given: clinic.flatten("visits", into, **roles, **given),
        ):
            with pytest.raises(sa.EngineError, match="was not made by sqlanon"):
                call(replace=True)
            assert rows(clinic, relation) == before
        for call in (
            lambda **given: clinic.lattice("visits", POLICY, into=into, **given),
            lambda **given: clinic.flatten("visits", into, **roles, **given),
        ):
            clinic.connection.execute("CREATE OR REPLACE TABLE mine AS FROM visits; COPY visits TO 'mine.parquet'")
            call(replace="anything")
            assert rows(clinic, relation) != before
            call(replace=True)

    @pytest.mark.parametrize("into", ["new", "new.parquet"])
    def test_what_another_program_makes_meanwhile_is_not_replaced_either(
        self, clinic: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        other = clinic.connection.cursor()

        def appear(event: sa.Event) -> None:
            if (event.stage, event.state) == ("search", "started"):
                other.execute("CREATE TABLE new AS FROM visits" if into == "new" else "COPY visits TO 'new.parquet'")

        with pytest.raises(sa.EngineError):
            clinic.anonymize("visits", POLICY, into, replace=True, progress=appear)
        assert len(rows(clinic, "new" if into == "new" else "'new.parquet'")) == 12

    @pytest.mark.parametrize("given", ["yes", "any", 2, None])
    def test_no_other_word_says_replace(self, clinic: sa.Session, given: Any) -> None:
        with pytest.raises(sa.PolicyError, match='True, False, "changed" or "anything"'):
            clinic.anonymize("visits", POLICY, "new", replace=given)

    @pytest.mark.parametrize(
        "source",
        [
            "visits",
            "VISITS",
            "SELECT * FROM visits",
            "SELECT v.* FROM visits v",
            'SELECT "v w".* FROM main.visits AS "v w" TABLESAMPLE reservoir(50%) REPEATABLE (7)',
            "WITH v AS (FROM main.visits) FROM v",
            "FROM query('SELECT v.* FROM visits v')",
            "seen",
            "twice_seen",
        ],
    )
    def test_its_own_source_is_never_replaced(self, clinic: sa.Session, source: str) -> None:
        clinic.connection.execute("CREATE VIEW seen AS FROM visits v; CREATE VIEW twice_seen AS FROM seen")
        before = rows(clinic, "visits")
        for into in ("visits", "Visits", "main.visits"):
            with pytest.raises(sa.EngineError, match="its own source"):
                clinic.anonymize(source, POLICY, into=into, replace=True)
        assert rows(clinic, "visits") == before

    def test_a_query_with_a_list_of_files(self, clinic: sa.Session, tmp_path: Path) -> None:
        """DuckDB does not tell the tables of such a query as a whole."""
        file = tmp_path / "half.parquet"
        clinic.connection.execute(f"COPY visits TO '{file}'")
        query = f"SELECT v.* FROM visits v SEMI JOIN read_parquet(['{file}', '{file}']) USING (id)"
        clinic.anonymize(query, POLICY, into="joined")
        assert rows(clinic, "joined")
        with pytest.raises(sa.EngineError, match="its own source"):
            clinic.anonymize(query, POLICY, into="visits", replace="anything")

    def test_its_own_source_file_is_never_replaced(
        self, clinic: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        target = tmp_path / "visits.parquet"
        clinic.connection.execute(f"COPY visits TO '{target}'")
        content = target.read_bytes()
        (tmp_path / "link.parquet").symlink_to(target)
        clinic.connection.execute(f"CREATE VIEW seen AS FROM read_parquet(['{target}'])")
        for source in (
            target,
            "seen",
            "FROM seen",
            f"{tmp_path}/v*.parquet",
            f"FROM '{target}'",
            "visits.parquet",
            tmp_path / "link.parquet",
        ):
            with pytest.raises(sa.EngineError, match="its own source"):
                clinic.anonymize(source, POLICY, into=target, replace=True)
        assert target.read_bytes() == content

    @pytest.mark.parametrize(
        ("into", "message"),
        [
            ("seen", "is a view"),
            ("SEEN", "is a view"),
            ("anon.taxonomy", "reserved"),
            ("anon.published", "reserved"),
            ("scratch", "temporary"),
        ],
    )
    def test_what_can_not_be_replaced(self, clinic: sa.Session, into: str, message: str) -> None:
        clinic.connection.execute("CREATE VIEW seen AS SELECT 1; CREATE TEMP TABLE scratch AS SELECT 1")
        before = tables(clinic)
        with pytest.raises(sa.EngineError, match=message):
            clinic.anonymize("visits", POLICY, into=into, replace=True)
        assert tables(clinic) == before

    def test_a_path_that_is_no_target(self, clinic: sa.Session, tmp_path: Path) -> None:
        with pytest.raises(sa.EngineError, match=r"\.parquet"):
            clinic.anonymize("visits", POLICY, into=tmp_path / "published.json")

    def test_rows_are_in_the_order_of_their_own_columns(self, memory: sa.Session, tmp_path: Path) -> None:
        memory.connection.execute(
            "CREATE TABLE t AS SELECT (hash(i) % 7)::INTEGER AS q, hash(i * 7) % 1_000_000 AS d "
            "FROM range(300_000) AS r (i)"
        )
        memory.taxonomies.load("q", sa.Taxonomy.flat(), source="t")
        policy = sa.Policy(quasi_identifiers=["q"], sensitive=["d"], privacy=[sa.KAnonymity(2)])
        memory.connection.execute("SET preserve_insertion_order = false; SET threads = 2; SET default_order = 'DESC'")
        memory.anonymize("t", policy, into="published")
        memory.anonymize("t", policy, into=tmp_path / "r.parquet")
        memory.connection.execute("SET preserve_insertion_order = true")
        for relation in ("published", f"'{tmp_path}/r.parquet'"):
            found = rows(memory, relation)
            assert found == sorted(found) or found == sorted(found, reverse=True)

    @pytest.mark.parametrize("kind", KINDS)
    def test_values_are_released_as_they_are_and_tell_nothing_of_the_order_of_the_source(
        self, memory: sa.Session, kind: str
    ) -> None:
        """Also those that are equal and yet not the same."""
        connection, (values, told) = memory.connection, KINDS[kind]
        connection.execute("CREATE TYPE anon_label_type_0 AS ENUM ('of the user')")
        connection.execute(f"CREATE TABLE given (v {kind}); INSERT INTO given SELECT unnest({values})")
        connection.execute(
            "CREATE TABLE made AS SELECT row_number() OVER () AS i, i % 4 AS q, v AS c FROM range(12) AS r (i), given"
        )
        connection.execute("INSERT INTO made SELECT -i, i + 4, c FROM made WHERE i <= 2")
        memory.taxonomies.load("q", sa.Taxonomy.flat(), source="made")
        policy = sa.Policy(
            quasi_identifiers=["q"],
            insensitive=["c"],
            identifiers=["i"],
            privacy=[sa.KAnonymity(2)],
            maximum_levels={"q": 0},
            suppression="mask",
            suppression_limit=0.2,
        )
        found = []
        for key in ("i", "-i"):
            memory.anonymize(f"SELECT * FROM made ORDER BY {key}", policy, into="published", replace=True)
            found.append(rows(memory, f"(SELECT q, CAST({told} AS VARCHAR) FROM published)"))
        assert found[0] == found[1]
        labels = [label for label, _ in found[0]]
        assert labels == sorted(labels)
        label = "CASE WHEN q > 4 THEN '*' ELSE CAST(q AS VARCHAR) END"
        assert Counter(found[0]) == Counter(rows(memory, f"(SELECT {label}, CAST({told} AS VARCHAR) FROM made)"))
        names = connection.execute("SELECT type_name FROM duckdb_types() WHERE NOT internal").fetchall()
        assert names == [("anon_label_type_0",)]


class TestProvenance:
    @pytest.fixture
    def documents(self, clinic: sa.Session, tmp_path: Path) -> tuple[sa.Release, dict[str, Any], dict[str, Any]]:
        release = clinic.anonymize("visits", POLICY, into="published")
        clinic.anonymize("visits", POLICY, into=tmp_path / "published.parquet")
        [(comment,)] = clinic.connection.execute(
            "SELECT comment FROM duckdb_tables() WHERE table_name = 'published'"
        ).fetchall()
        footer = pq.read_metadata(tmp_path / "published.parquet").metadata[b"sqlanon"].decode()
        assert comment == clinic.provenance("published")
        assert footer == clinic.provenance(tmp_path / "published.parquet")
        return release, json.loads(comment)["sqlanon"], json.loads(footer)["sqlanon"]

    def test_the_table_and_the_file_say_the_same(
        self, documents: tuple[sa.Release, dict[str, Any], dict[str, Any]]
    ) -> None:
        _, comment, footer = documents
        own = {"content": None, "record_sha256": None}
        told = [{**each, **own, "report": {**each["report"], "seconds": None}} for each in (comment, footer)]
        assert told[0] == told[1]

    def test_what_it_says(self, documents: tuple[sa.Release, dict[str, Any], dict[str, Any]]) -> None:
        release, found, _ = documents
        assert found["policy"] == POLICY.model_dump(mode="json")
        assert found["policy_sha256"] == POLICY.sha256()
        assert set(found["taxonomy_sha256"]) == {"age", "sex", "zip"}
        assert all(len(digest) == 64 for digest in found["taxonomy_sha256"].values())
        assert len(found["code_sha256"]) == 64
        assert found["labels"] == {"kind": "node", "levels": release.node}
        assert found["rows"] == release.report.rows.model_dump()
        [model] = found["privacy"]
        assert (model["required"], model["attained"]) == (2, release.report.models[0].attained)

    def test_a_changed_taxonomy_has_another_hash(self, clinic: sa.Session) -> None:
        clinic.anonymize("visits", POLICY, into="first")
        clinic.taxonomies.load("sex", sa.Taxonomy.from_rows([("f", "any"), ("m", "any")]))
        clinic.anonymize("visits", POLICY, into="second")
        first, second = (json.loads(clinic.provenance(name) or "")["sqlanon"] for name in ("first", "second"))
        assert first["taxonomy_sha256"]["sex"] != second["taxonomy_sha256"]["sex"]
        assert first["taxonomy_sha256"]["age"] == second["taxonomy_sha256"]["age"]

    def test_it_holds_no_cell_value(self, clinic: sa.Session, tmp_path: Path) -> None:
        clinic.anonymize("visits", POLICY, into="published")
        assert clinic_values(clinic.provenance("published") or "") == []

    def test_hostile_names_survive_in_it(self, clinic: sa.Session) -> None:
        name = 'it\'s "a" \\ column; --'
        source = f"SELECT * RENAME (diagnosis AS {quoted(name)}) FROM visits"
        policy = sa.Policy(
            quasi_identifiers=["age", "sex", "zip"],
            sensitive=[name],
            identifiers=["id"],
            privacy=[sa.KAnonymity(2)],
            suppression_limit=0.25,
        )
        clinic.anonymize(source, policy, into="published")
        assert json.loads(clinic.provenance("published") or "")["sqlanon"]["policy"]["sensitive"] == [name]

    def test_tables_of_others_have_none(self, clinic: sa.Session, tmp_path: Path) -> None:
        assert clinic.provenance("visits") is None
        pq.write_table(pa.table({"a": [1]}), tmp_path / "plain.parquet")
        assert clinic.provenance(tmp_path / "plain.parquet") is None


class TestSuppression:
    @pytest.mark.parametrize(
        ("limit", "row_count", "allowed"),
        [(0.1, 30, 3), (0.29, 100, 29), (0.07, 100, 7), (0.3, 10, 3), (0.333, 3, 0), (1.0, 5, 5), (0.57, 100, 57)],
    )
    def test_the_limit_is_inclusive_and_exact(
        self, memory: sa.Session, limit: float, row_count: int, allowed: int
    ) -> None:
        policy = people_policy(row_count + 1, suppression_limit=limit)
        assert policy.allowed_rows(row_count) == allowed

    @pytest.mark.parametrize(("limit", "row_count", "outliers"), [(0.1, 30, 3), (0.29, 100, 29), (0.07, 100, 7)])
    def test_a_run_may_use_the_limit_up_but_not_exceed_it(
        self, memory: sa.Session, limit: float, row_count: int, outliers: int
    ) -> None:
        policy = people_policy(outliers + 2, suppression_limit=limit)
        single(memory, {"home": row_count - outliers, "away": outliers})
        release = memory.anonymize("people", policy, into="at_the_limit")
        assert release.node == {"city": 0}
        assert release.report.rows.dropped == outliers
        single(memory, {"home": row_count - outliers - 1, "away": outliers + 1})
        assert memory.anonymize("people", policy, into="above_the_limit").node == {"city": 1}

    def test_masked_rows_stay_if_they_are_a_class_of_their_own(self, memory: sa.Session) -> None:
        single(memory, {"home": 5, "a": 1, "b": 1, "c": 1})
        policy = people_policy(3, suppression_limit=0.5, suppression="mask")
        release = memory.anonymize("people", policy, into="published")
        assert rows(memory, "published") == [("*", "x")] * 3 + [("home", "x")] * 5
        assert release.report.rows == type(release.report.rows)(source=8, released=8, masked=3, dropped=0)
        assert release.report.suppressed_rows == 3
        assert release.report.notes == ()

    def test_masked_rows_are_dropped_with_a_note_if_they_are_too_few(self, memory: sa.Session) -> None:
        single(memory, {"home": 5, "a": 1, "b": 1})
        policy = people_policy(3, suppression_limit=0.5, suppression="mask")
        release = memory.anonymize("people", policy, into="published")
        assert rows(memory, "published") == [("home", "x")] * 5
        assert (release.report.rows.masked, release.report.rows.dropped) == (0, 2)
        [note] = release.report.notes
        assert "2 suppressed rows were dropped" in note
        assert "k-anonymity" in note

    def test_masked_rows_are_dropped_if_they_are_not_diverse(self, memory: sa.Session) -> None:
        single(memory, {"home": 6, "a": 1, "b": 1, "c": 1}, sensitive="CASE WHEN city = 'home' THEN i % 2 ELSE 7 END")
        models = [sa.KAnonymity(2), sa.DistinctLDiversity("illness", 2)]
        policy = people_policy(privacy=models, suppression_limit=0.5, suppression="mask")
        release = memory.anonymize("people", policy, into="published")
        assert release.report.rows.dropped == 3
        assert "distinct l-diversity" in release.report.notes[0]
        assert "k-anonymity" not in release.report.notes[0]

    def test_masking_at_the_top_of_every_other_taxonomy(self, memory: sa.Session) -> None:
        """The masked class needs no key where every label is the top one."""
        single(memory, {"a": 3, "b": 3})
        policy = people_policy(6, suppression_limit=1.0, suppression="mask")
        release = memory.anonymize("people", policy, into="published")
        assert release.node == {"city": 1}
        assert rows(memory, "published") == [("*", "x")] * 6

    def test_without_any_kept_class_there_is_no_release(self, memory: sa.Session) -> None:
        single(memory, {"a": 2, "b": 2})
        with pytest.raises(sa.UnsatisfiableError) as caught:
            memory.anonymize("people", people_policy(5, suppression_limit=1.0), into="published")
        assert "k-anonymity (k = 5)" in str(caught.value)
        assert "4 of 4 rows" in str(caught.value)
        assert tables(memory) == [("main", "people")]

    @pytest.mark.parametrize("row_count", [1, 2, 7])
    def test_all_rows_alike(self, memory: sa.Session, row_count: int) -> None:
        single(memory, {"home": row_count})
        if row_count == 1:
            with pytest.raises(sa.UnsatisfiableError):
                memory.anonymize("people", people_policy(), into="published")
        else:
            release = memory.anonymize("people", people_policy(), into="published")
            assert release.node == {"city": 0}
            assert release.report.class_count == 1
            assert release.report.loss == 0


class TestPrivacy:
    def test_several_models_over_several_sensitive_columns(self, memory: sa.Session) -> None:
        memory.connection.execute(
            "CREATE TABLE people AS SELECT 'c' || (i % 8) AS city, i % 3 AS illness, i // 8 % 2 AS drug "
            "FROM range(48) AS r (i)"
        )
        parents = [(f"c{i}", f"d{i // 4}", "*") for i in range(8)]
        memory.taxonomies.load("city", sa.Taxonomy.from_rows(parents), source="people")
        models = [
            sa.KAnonymity(6),
            sa.DistinctLDiversity("illness", 3),
            sa.EntropyLDiversity("illness", 2.9),
            sa.DistinctLDiversity("drug", 2),
            sa.EntropyLDiversity("drug", 2),
        ]
        policy = sa.Policy(quasi_identifiers=["city"], sensitive=["illness", "drug"], privacy=models)
        release = memory.anonymize("people", policy, into="published")
        assert release.node == {"city": 0}
        assert [result.met for result in release.report.models] == [True] * 5
        assert [result.attained for result in release.report.models] == pytest.approx([6, 3, 3, 2, 2])
        assert [result.column for result in release.report.models] == [None, "illness", "illness", "drug", "drug"]

    def test_entropy_l_accepts_exactly_l_equally_frequent_values(self, memory: sa.Session) -> None:
        for l in (2, 3, 5, 6, 7, 10, 13, 49):  # noqa: E741
            single(memory, {"a": 3 * l}, sensitive=f"i % {l}")
            policy = people_policy(privacy=[sa.EntropyLDiversity("illness", l)])
            assert memory.anonymize("people", policy, into="published", replace=True).node == {"city": 0}

    def test_null_is_a_sensitive_value(self, memory: sa.Session) -> None:
        single(memory, {"a": 4}, sensitive="CASE WHEN i < 2 THEN NULL ELSE 'flu' END")
        policy = people_policy(privacy=[sa.DistinctLDiversity("illness", 2), sa.EntropyLDiversity("illness", 2)])
        assert memory.anonymize("people", policy, into="published").node == {"city": 0}

    def test_a_taxonomy_of_level_0_alone_leaves_null_apart(self, memory: sa.Session) -> None:
        memory.connection.execute(
            "CREATE TABLE people AS SELECT CASE WHEN i > 0 THEN 'a' END AS city, 1 AS illness FROM range(4) AS r (i)"
        )
        memory.taxonomies.load("city", sa.Taxonomy.from_rows([["a"]]), source="people")
        with pytest.raises(sa.UnsatisfiableError):
            memory.anonymize("people", people_policy(), into="published")
        release = memory.anonymize("people", people_policy(suppression_limit=0.25), into="published")
        assert release.report.rows.dropped == 1


class TestGuarantee:
    def test_what_is_claimed_and_what_is_not(self, clinic: sa.Session) -> None:
        policy = POLICY.model_copy(update={"privacy": (sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 1 + 1))})
        guarantee = clinic.anonymize("visits", policy, into="published").guarantee
        assert len(guarantee.claims) == 2
        assert 'over "age", "sex", "zip" meets k-anonymity (k = 2)' in guarantee.claims[0]
        assert "Samarati 2001" in guarantee.claims[0]
        assert 'distinct l-diversity of "diagnosis" (l = 2)' in guarantee.claims[1]
        conditions, uncovered = " ".join(guarantee.conditions), " ".join(guarantee.not_covered)
        assert "no column of the release but the quasi-identifiers" in conditions
        assert "several rows" in conditions
        assert "no other release" in conditions
        assert '"zip"' in conditions  # its taxonomy was observed
        assert '"age"' not in conditions
        assert "not differential privacy" in uncovered
        assert "diagnosis" not in uncovered

    def test_unprotected_sensitive_columns_are_named(self, clinic: sa.Session) -> None:
        guarantee = clinic.anonymize("visits", POLICY, into="published").guarantee
        assert any('"diagnosis"' in line and "disclosed" in line for line in guarantee.not_covered)


class TestReport:
    def test_json(self, clinic: sa.Session) -> None:
        release = clinic.anonymize("visits", POLICY, into="published")
        document = json.loads(release.report.model_dump_json())
        assert document["node"] == release.node
        assert document["rows"]["source"] == 12
        assert type(release.report).model_validate(document) == release.report
        assert json.loads(release.model_dump_json())["guarantee"]["claims"]
        assert set(document["seconds"]) >= {"encode", "search", "release", "verify"}

    def test_no_cell_value_is_in_any_document(self, clinic: sa.Session) -> None:
        release = clinic.anonymize("visits", POLICY, into="published")
        measured = clinic.measure("visits", POLICY)
        verified = clinic.verify("published", POLICY)
        for document in (release, measured, verified):
            for text in (document.model_dump_json(), repr(document), str(document)):
                assert clinic_values(text) == []

    def test_html_escapes_hostile_names(self, memory: sa.Session) -> None:
        name = "<script>alert('x')</script>&amp;"
        memory.connection.execute(
            f"CREATE TABLE {quoted(name)} AS SELECT i % 2 AS {quoted(name)} FROM range(8) AS r (i)"
        )
        memory.taxonomies.load(name, sa.Taxonomy.flat(), source=name)
        policy = sa.Policy(quasi_identifiers=[name], privacy=[sa.KAnonymity(2)])
        release = memory.anonymize(name, policy, into="<b>published")
        documents = (release, release.report, memory.measure(name, policy), memory.verify("<b>published", policy))
        for document in documents:
            html = document._repr_html_()
            assert "<script>" not in html
            assert "<b>" not in html
            well_formed(html)

    def test_a_notebook_shows_a_sentence_six_figures_the_node_and_ten_rows(self, memory: sa.Session) -> None:
        memory.connection.execute(
            "CREATE TABLE people AS SELECT 20 + i // 5 AS age, if(i % 2 = 0, '<f>', NULL) AS sex FROM range(100) r (i) "
            "UNION ALL SELECT 80, '<f>'"
        )
        policy = sa.Policy(
            quasi_identifiers=["age", "sex"],
            privacy=[sa.KAnonymity(10)],
            suppression_limit=0.05,
            taxonomies={"age": sa.Taxonomy.intervals([20], minimum=0, maximum=99), "sex": "flat"},
        )
        release = memory.anonymize("people", policy, into="published", node={"age": 1, "sex": 0})
        shown = release._repr_html_()
        well_formed(shown)
        assert "Published published from table &quot;people&quot;: 100 of 101 rows" in shown
        assert "Verified: k-anonymity (k = 10)." in shown
        cells = [tuple(re.findall("<t[dh][^>]*>(.*?)</t[dh]>", line)) for line in re.findall("<tr>(.*?)</tr>", shown)]
        assert cells[1:7] == [
            ("rows in the smallest class (k)", "1", "50"),
            ("rows alone in their class", "1", "0"),
            ("highest risk of re-identification", "100 %", "2 %"),
            ("average risk of re-identification", "40.6 %", "2 %"),
            ("rows left out", "0", "1 (0.99 %)"),
            ("detail lost (lm)", "0", f"{release.report.loss:.3g}"),
        ]
        assert cells[8:10] == [
            ("age", "level 1 of 2", "[20, 40)"),
            ("sex", "level 0 of 1", "&lt;f&gt;, NULL"),
        ]
        assert cells[10] == ("age", "sex")
        assert len(cells[11:]) == 10
        text = repr(release)
        assert "rows alone in their class: 1 -> 0" in text
        assert '"age": level 1 of 2' in text
        assert "40.6 % -> 2 %" in str(release)
        again = type(release).model_validate_json(release.model_dump_json())
        assert "<table>" in again._repr_html_(), "without a session there are no rows to show"

    def test_progress_is_told(self, clinic: sa.Session) -> None:
        told: list[sa.Event] = []
        clinic.anonymize("visits", POLICY, into="published", progress=told.append)
        stages = ["encode", "search", "release", "verify", "publish"]
        assert [(event.stage, event.state) for event in told if event.state != "progress"] == [
            (stage, state) for stage in stages for state in ("started", "finished")
        ]

    def test_lattice_columns(self, clinic: sa.Session) -> None:
        table = clinic.lattice("visits", POLICY)
        expected = (
            "node height class_count min_class_size suppressed_rows satisfies loss prec dm_star entropy lm ncp dm aecs "
            "best_k blocking_model blocking_rows excess_rows models pareto"
        )
        assert table.schema.names == expected.split()
        assert table.schema.field("node").type == pa.map_(pa.string(), pa.int32())
        assert table.num_rows == 4 * 2 * 4


class TestSessions:
    def test_a_lent_connection_stays_open(self) -> None:
        with duckdb.connect() as connection:
            with sa.connect(connection) as session:
                single(session, {"a": 2})
            assert connection.execute("SELECT count(*) FROM people").fetchall() == [(2,)]

    def test_an_owned_connection_is_closed(self, tmp_path: Path) -> None:
        with sa.connect(tmp_path / "w.duckdb") as session:
            connection = session.connection
        with pytest.raises(duckdb.ConnectionException):
            connection.execute("SELECT 1")

    @pytest.mark.parametrize("call", ["anonymize", "lattice", "load", "install"])
    def test_a_connection_in_a_transaction_is_refused_and_its_transaction_goes_on(self, call: str) -> None:
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            single(session, {"a": 2})
            calls = {
                "anonymize": lambda: session.anonymize("people", people_policy(), into="published"),
                "lattice": lambda: session.lattice("people", people_policy()),
                "load": lambda: session.taxonomies.load("city", sa.Taxonomy.flat(["b"])),
                "install": session.install,
            }
            connection.begin()
            connection.execute("INSERT INTO people VALUES ('a', 'y')")
            with pytest.raises(sa.EngineError, match="middle of a transaction; commit or roll it back"):
                calls[call]()
            connection.commit()
            assert connection.execute("SELECT count(*) FROM people").fetchall() == [(3,)]
            session.anonymize("people", people_policy(3), into="published")

    def test_a_schema_in_use_and_settings_are_left_as_they_are(self) -> None:
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            single(session, {"a": 2})
            connection.execute("CREATE SCHEMA ward; USE ward")
            before = connection.execute("SELECT name, value FROM duckdb_settings() ORDER BY ALL").fetchall()
            session.anonymize("main.people", people_policy(), into="published")
            assert connection.execute("SELECT current_schema()").fetchall() == [("ward",)]
            assert connection.execute("SELECT name, value FROM duckdb_settings() ORDER BY ALL").fetchall() == before
            assert connection.execute("SELECT count(*) FROM ward.published").fetchall() == [(2,)]

    def test_read_only(self, tmp_path: Path) -> None:
        path = tmp_path / "w.duckdb"
        with sa.connect(path) as session:
            single(session, {"a": 2, "b": 2})
        content = path.read_bytes()
        with sa.connect(path, read_only=True) as session:
            assert session.lattice("people", people_policy()).num_rows == 2
            assert session.anonymize("people", people_policy(4), into=tmp_path / "r.parquet").node == {"city": 1}
            with pytest.raises(sa.EngineError, match=r"read-only.*Parquet"):
                session.anonymize("people", people_policy(), into="published")
            with pytest.raises(sa.EngineError, match="read-only"):
                session.install()
            session.taxonomies.load("city", sa.Taxonomy.from_rows([("a", "x", "*"), ("b", "x", "*")]))
            assert session.lattice("people", people_policy()).num_rows == 3
        assert path.read_bytes() == content
        assert sorted(found.name for found in tmp_path.iterdir()) == ["r.parquet", "w.duckdb"]
        with sa.connect(path) as session:
            assert session.lattice("people", people_policy()).num_rows == 2

    def test_a_lent_read_only_connection(self, tmp_path: Path) -> None:
        path = tmp_path / "w.duckdb"
        with sa.connect(path) as session:
            single(session, {"a": 2, "b": 2})
        with duckdb.connect(str(path), read_only=True) as connection:
            session = sa.connect(connection)
            session.anonymize("people", people_policy(), into=tmp_path / "r.parquet")
            for refused in (
                lambda: session.anonymize("people", people_policy(), into="published"),
                lambda: session.taxonomies.load("city", sa.Taxonomy.flat(["a"])),
                session.install,
            ):
                with pytest.raises(sa.EngineError, match="read-only"):
                    refused()

    def test_the_storage_version_of_a_file_is_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "old.duckdb"
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{path}' AS old (STORAGE_VERSION 'v1.0.0'); CREATE TABLE old.t AS SELECT 1")
        before = storage_version(path)
        with sa.connect(path) as session:
            session.install()
            single(session, {"a": 2, "b": 2})
            session.anonymize("people", people_policy(), into="published")
        assert storage_version(path) == before

    def test_a_new_file_can_be_read_by_older_clients(self, tmp_path: Path) -> None:
        """DuckDB 2.0 would make one that 1.5, and so today's DuckDB CLI, cannot open."""
        path = tmp_path / "new.duckdb"
        with sa.connect(path, ledger=tmp_path / "ledger.duckdb") as session:
            session.install()
            session.ledger.cap("people", sa.Budget("1"))
            with duckdb.connect(str(path)) as beside:  # refused if the session had settings of its own
                assert beside.execute("SELECT 1").fetchall() == [(1,)]
        for made in (path, tmp_path / "ledger.duckdb"):
            assert storage_version(made) == [("v1.5.0+",)]

    def test_what_is_no_file_is_left_to_duckdb(self) -> None:
        with sa.connect(":memory:of_our_own") as session:
            assert session.connection.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall() == [
                (None,)
            ]

    def test_a_warehouse_that_is_reopened_knows_its_taxonomies(self, tmp_path: Path) -> None:
        path = tmp_path / "w.duckdb"
        with sa.connect(path) as session:
            single(session, {"a": 2, "b": 2})
            session.anonymize("people", people_policy(), into="published")
        with sa.connect(str(path)) as session:
            assert session.verify("published", people_policy()).met
            assert session.taxonomies.list()["city"]["height"] == 1
            assert session.taxonomies.check() == {}


def storage_version(path: Path) -> object:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS old (READ_ONLY)")
        query = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'old'"
        return connection.execute(query).fetchall()


def arrow(session: sa.Session, table: str) -> pa.Table:
    cursor = session.connection.execute(f"FROM {table}")
    names = [column[0] for column in cursor.description or []]
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def well_formed(html: str) -> None:
    """Every tag is closed, in order."""
    opened: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in ("br", "img"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Parser().feed(html)
    assert not opened
