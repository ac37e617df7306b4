"""Values of columns that a release keeps: their types, how they are spelled, and the order of the rows."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from sqlanon.release import publishing
from tests.conftest import clinic_policy, open_clinic


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation}").fetchall()


TYPES = [
    ("ENUM('a''b', 'x,y', 'ENUM(')", "'a''b'", "VARCHAR"),
    ("ENUM('p', 'q')[]", "['p']", "VARCHAR[]"),
    ("ENUM('p', 'q')[1]", "['p']", "VARCHAR[1]"),
    ("STRUCT(\"a b\" ENUM('p'), c INTEGER)", "{'a b': 'p', 'c': 1}", 'STRUCT("a b" VARCHAR, c INTEGER)'),
    ("MAP(ENUM('p'), INTEGER)", "MAP {'p': 1}", "MAP(VARCHAR, INTEGER)"),
    ('STRUCT("ENUM x" INTEGER)', "{'ENUM x': 1}", 'STRUCT("ENUM x" INTEGER)'),
    ("DECIMAL(20, 3)", "1.5", "DECIMAL(20,3)"),
    ("BLOB", "'\\xAA'::BLOB", "BLOB"),
    ("TIMESTAMP WITH TIME ZONE", "'2024-01-01 00:00:00+00'", "TIMESTAMP WITH TIME ZONE"),
]
"""Types, a value of each, and the type of the released column."""


def test_columns_keep_their_type_but_lose_their_enums(session: sa.Session) -> None:
    session.connection.execute("CREATE TABLE t AS SELECT i % 2 AS q FROM range(8) AS r (i)")
    names = [f"d{place}" for place, _ in enumerate(TYPES)]
    for name, (kind, value, _) in zip(names, TYPES, strict=True):
        session.connection.execute(f"ALTER TABLE t ADD COLUMN {name} {kind}; UPDATE t SET {name} = {value}")
    policy = sa.Policy(
        quasi_identifiers=["q"], sensitive=names, privacy=[sa.KAnonymity(2)], taxonomies={"q": {"kind": "flat"}}
    )
    session.anonymize("t", policy, into="published")
    types = f"(SELECT DISTINCT {', '.join(f'typeof({name})' for name in names)} FROM published)"
    assert rows(session, types) == [tuple(released for *_, released in TYPES)]
    texts = "(SELECT CAST(COLUMNS('d.*') AS VARCHAR) FROM {})"
    assert rows(session, texts.format("published")) == rows(session, texts.format("t"))


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "insensitive"])
def test_nested_values_in_every_role(session: sa.Session, role: str) -> None:
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
    session.connection.execute(
        f"CREATE TABLE t (q BIGINT, {columns}); "
        f"INSERT INTO t SELECT i // 12 % 2, {', '.join(kinds.values())} FROM range(48) AS r (i); "
        "INSERT INTO t (q) SELECT i % 2 FROM range(8) AS r (i)"
    )
    roles = {"quasi_identifiers": ["q"], role: names if role != "quasi_identifiers" else ["q", *names]}
    models = [sa.KAnonymity(2)]
    models += [sa.DistinctLDiversity(name, 2) for name in names if role == "sensitive"]
    taxonomies = {name: {"kind": "flat"} for name in roles["quasi_identifiers"]}
    policy = sa.Policy(**roles, privacy=models, taxonomies=taxonomies)
    session.anonymize("t", policy, into="released", node=dict.fromkeys(roles["quasi_identifiers"], 0))
    assert session.verify("released", policy, source="t").met
    texts = "(SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {} ORDER BY ALL)"
    assert rows(session, texts.format("released")) == rows(session, texts.format("t"))


def test_equal_values_of_different_text_are_different_values(session: sa.Session) -> None:
    session.connection.execute(
        """
        CREATE TABLE t AS SELECT
            CASE WHEN i % 2 = 0 THEN 0.0::DOUBLE ELSE -0.0::DOUBLE END AS zeros,
            CASE WHEN i % 2 = 0 THEN INTERVAL 1 MONTH ELSE INTERVAL 30 DAYS END AS intervals,
            [zeros] AS lists, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'A' END COLLATE NOCASE AS letters
        FROM range(8) AS r (i)
        """
    )
    names = ["zeros", "intervals", "lists", "letters"]
    for name in names:
        session.taxonomies.load(name, sa.Taxonomy.flat(), source="t")
    assert [session.taxonomies.list()[name]["values"] for name in names] == [2] * 4
    for k, level in ((4, 0), (5, 1)):
        policy = sa.Policy(quasi_identifiers=names, privacy=[sa.KAnonymity(k)])
        assert session.anonymize("t", policy, into=f"of_{k}").node == dict.fromkeys(names, level)
        assert len(rows(session, f"of_{k}")) == 8


def test_texts_are_texts_in_files_and_in_tables_however_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "MAX_ENUM_TEXTS", 2)  # sexes, and no other texts
    monkeypatch.setattr(publishing, "TYPED_GROUPS", 1)
    policy = clinic_policy(sa.KAnonymity(2), suppression_limit=0.25, earlier="none")
    targets = {"r.parquet": {}, "pieces/": {"rows_per_file": 2}, "parts/": {"partition_by": ["sex"]}}
    names = "age, sex, zip, diagnosis"
    with duckdb.connect(config={"threads": 1}) as connection:
        clinic = open_clinic(connection)
        clinic.anonymize("visits", policy, into="published")
        expected = rows(clinic, f"(SELECT {names} FROM published ORDER BY ALL)")
        for name, options in targets.items():
            clinic.anonymize("visits", policy, into=f"{tmp_path}/{name}", **options)
            pattern = f"'{tmp_path}/{name}**/*.parquet'" if name.endswith("/") else f"'{tmp_path}/{name}'"
            assert rows(clinic, f"(SELECT {names} FROM {pattern} ORDER BY ALL)") == expected
            for relation in ("published", pattern):
                described = connection.execute(f"DESCRIBE SELECT {names} FROM {relation}").fetchall()
                assert {kind for _, kind, *_ in described} == {"VARCHAR"}
    schema = pq.read_schema(tmp_path / "r.parquet")
    assert {schema.field(name).type for name in names.split(", ")} == {pa.string()}
    marker = json.loads((tmp_path / "pieces" / "_sqlanon.json").read_text(encoding="utf-8"))
    assert "ENUM" not in json.dumps(marker)


POLICY = sa.Policy(
    quasi_identifiers=["city"], sensitive=["illness"], privacy=[sa.KAnonymity(2)], taxonomies={"city": {"kind": "flat"}}
)


def test_texts_that_are_equal_under_a_collation_stay_apart(session: sa.Session, tmp_path: Path) -> None:
    session.connection.execute(
        "CREATE TABLE people (city VARCHAR, illness VARCHAR COLLATE NOCASE); "
        "INSERT INTO people SELECT 'a', ['x', 'X', '', NULL][1 + i % 4] FROM range(40) AS r (i)"
    )
    session.anonymize("people", POLICY, into=tmp_path / "r.parquet")
    found = rows(session, f"(SELECT encode(illness), count(*) FROM '{tmp_path}/r.parquet' GROUP BY ALL ORDER BY ALL)")
    assert found == [(b"", 10), (b"X", 10), (b"x", 10), (None, 10)]


def test_labels_of_partitions_may_be_named_like_types_that_parquet_lacks(session: sa.Session, tmp_path: Path) -> None:
    """The partitions are by all labels: only texts that are no labels are in the files."""
    session.connection.execute(
        "CREATE TABLE people AS SELECT ['HUGEINT', 'ENUM('][1 + i // 2] AS city, city || i AS illness "
        "FROM range(4) AS r (i)"
    )
    session.anonymize("people", POLICY, into=f"{tmp_path}/parts/", partition_by=["city"])
    session.anonymize("people", POLICY, into=tmp_path / "r.parquet")
    for files in ("parts/**/*.parquet", "r.parquet"):
        found = rows(session, f"(SELECT city, illness FROM '{tmp_path}/{files}' ORDER BY ALL)")
        assert found == [("ENUM(", "ENUM(2"), ("ENUM(", "ENUM(3"), ("HUGEINT", "HUGEINT0"), ("HUGEINT", "HUGEINT1")]


def test_rows_are_in_the_order_of_their_own_columns(session: sa.Session, tmp_path: Path) -> None:
    session.connection.execute(
        "CREATE TABLE t AS SELECT (hash(i) % 7)::INTEGER AS q, hash(i * 7) % 1_000_000 AS d FROM range(150_000) r (i)"
    )
    policy = sa.Policy(
        quasi_identifiers=["q"], sensitive=["d"], privacy=[sa.KAnonymity(2)], taxonomies={"q": {"kind": "flat"}}
    )
    session.connection.execute("SET preserve_insertion_order = false; SET threads = 2; SET default_order = 'DESC'")
    session.anonymize("t", policy, into="published")
    session.anonymize("t", policy, into=tmp_path / "r.parquet")
    session.connection.execute("SET preserve_insertion_order = true")
    for relation in ("published", f"'{tmp_path}/r.parquet'"):
        found = rows(session, relation)
        assert found == sorted(found) or found == sorted(found, reverse=True)


KINDS = {
    "DOUBLE": ("['-0.0', '0.0', 'nan', '-inf', '-1.5', '1e300', NULL]", "CAST({} AS BIT)"),
    "VARCHAR COLLATE NOCASE": ("['a', 'A', 'b', '', '*', NULL]", "{}"),
    "INTERVAL": ("['1 month', '30 days', '720 hours', NULL]", "{}"),
    "TIMETZ": ("['12:00:00+00', '13:00:00+01', NULL]", "{}"),
    "STRUCT(x DOUBLE[2], y VARCHAR)": ("[{x: [-0.0, 1], y: 'a'}, {x: [0.0, 1], y: 'a'}]", "{}"),
    "MAP(VARCHAR, FLOAT)": ("['{a=-0.0}', '{a=0.0}', '{b=1}', NULL]", "{}"),
    "UNION(x BIT, y TEXT)": ("[CAST('1'::BIT AS UNION(x BIT, y TEXT)), '1']", "union_tag({})"),
}
"""Types with some of their values, and an expression of their column that differs among these."""


def test_values_are_released_as_they_are_and_tell_nothing_of_the_order_of_the_source(session: sa.Session) -> None:
    """Also those that are equal and yet not the same; a row has a value of one type, and NULL of all others."""
    connection, names = session.connection, [f"c{place}" for place, _ in enumerate(KINDS)]
    connection.execute("CREATE TYPE anon_label_type_0 AS ENUM ('of the user')")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, KINDS, strict=True))
    connection.execute(f"CREATE TABLE given ({columns})")
    for name, (values, _) in zip(names, KINDS.values(), strict=True):
        connection.execute(f"INSERT INTO given ({name}) SELECT unnest({values})")
    connection.execute(
        "CREATE TABLE made AS SELECT row_number() OVER () AS i, i % 4 AS q, given.* FROM range(12) AS r (i), given"
    )
    connection.execute("INSERT INTO made SELECT * REPLACE (-i AS i, i + 4 AS q) FROM made WHERE i <= 2")
    texts = ", ".join(
        f"CAST({shown.format(name)} AS VARCHAR) AS {name}"
        for name, (_, shown) in zip(names, KINDS.values(), strict=True)
    )
    policy = sa.Policy(
        quasi_identifiers=["q"],
        insensitive=names,
        identifiers=["i"],
        privacy=[sa.KAnonymity(2)],
        maximum_levels={"q": 0},
        suppression="mask",
        suppression_limit=0.2,
        taxonomies={"q": "flat"},
        earlier="none",
    )
    found = []
    for key in ("i", "-i"):
        session.anonymize(f"SELECT * FROM made ORDER BY {key}", policy, into="published", replace=True)
        found.append(rows(session, f"(SELECT q, {texts} FROM published)"))
    assert found[0] == found[1]
    labels = [label for label, *_ in found[0]]
    assert labels == sorted(labels)
    label = "CASE WHEN q > 4 THEN '*' ELSE CAST(q AS VARCHAR) END"
    assert Counter(found[0]) == Counter(rows(session, f"(SELECT {label}, {texts} FROM made)"))
    names = connection.execute("SELECT type_name FROM duckdb_types() WHERE NOT internal").fetchall()
    assert names == [("anon_label_type_0",)]
