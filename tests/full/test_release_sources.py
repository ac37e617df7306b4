"""Sources of a release: the same rows, however their table, view, query or files are named, and hostile columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), suppression_limit=0.25)


@pytest.fixture
def memory() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield sa.connect(connection)


@pytest.fixture
def clinic(memory: sa.Session) -> sa.Session:
    return open_clinic(memory.connection)


SOURCES = [
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
    ("CREATE TEMP VIEW copy_seen AS FROM visits", "copy_seen"),
    ("CREATE SCHEMA ward; CREATE TABLE ward.visits AS FROM main.visits", "ward.visits"),
    ('CREATE SCHEMA "a b"; CREATE TABLE "a b"."c d" AS FROM main.visits', '"a b"."c d"'),
    ("ATTACH ':memory:' AS other; CREATE TABLE other.visits AS FROM memory.main.visits", "other.visits"),
    ("", "other.main.visits"),
    ('CREATE TABLE "a""b; drop table x --" AS FROM visits', 'a"b; drop table x --'),
    ('CREATE TABLE "select 1" AS FROM visits', "select 1"),
    ('CREATE TABLE "a.b" AS FROM visits', "a.b"),
    ('CREATE TABLE "from" AS FROM visits', "from"),
    ('CREATE TABLE "x.parquet" AS FROM visits', "x.parquet"),
    ('CREATE TABLE "it\'s*" AS FROM visits', "it's*"),
]
"""What is made first, and what a source is called."""


def measured(session: sa.Session, source: Any) -> dict[str, Any]:
    return session.measure(source, POLICY).model_dump(exclude={"source"})


def test_tables_views_and_queries(clinic: sa.Session) -> None:
    expected = measured(clinic, "visits")
    assert expected["row_count"] == 12
    for setup, source in SOURCES:
        clinic.connection.execute(setup or "SELECT 1")
        assert measured(clinic, source) == expected, source


def test_files_and_registered_tables(clinic: sa.Session, tmp_path: Path) -> None:
    folder = tmp_path / "it's a lake"
    folder.mkdir()
    for name, condition in (("all", "TRUE"), ("part-a", "id <= 5"), ("part-b", "id > 5")):
        target = f"{folder}/{name}.parquet".replace("'", "''")
        clinic.connection.execute(f"COPY (FROM visits WHERE {condition}) TO '{target}'")
    clinic.connection.register("registered", clinic.connection.sql("FROM visits").to_arrow_table())
    expected = measured(clinic, "visits")
    for source in (folder / "all.parquet", str(folder / "part-?.parquet"), f"{folder}/part-*", "registered"):
        assert measured(clinic, source) == expected, source


def test_hostile_columns(clinic: sa.Session) -> None:
    names = {"age": 'a"ge', "sex": "'; DROP TABLE visits; --", "zip": "SELECT", "diagnosis": "%s {x} $1", "id": "ID"}
    columns = ", ".join(f'{old} AS "{new.replace(chr(34), chr(34) * 2)}"' for old, new in names.items())
    clinic.connection.execute(f"CREATE TABLE hostile AS SELECT {columns} FROM visits")
    quasi_identifiers = [names[name] for name in ("age", "sex", "zip")]
    for old in ("age", "sex", "zip"):
        relation = f"SELECT level, value, label FROM anon.taxonomy WHERE attribute = '{old}'"
        clinic.taxonomies.load(names[old], sa.Taxonomy.from_query(relation), source="hostile")
    policy = sa.Policy(
        quasi_identifiers=quasi_identifiers,
        sensitive=[names["diagnosis"]],
        identifiers=["ID"],
        privacy=[sa.KAnonymity(2)],
        suppression_limit=0.25,
    )
    clinic.anonymize("visits", POLICY, into="expected")
    assert list(clinic.anonymize("hostile", policy, into="published").node) == quasi_identifiers
    expected = clinic.connection.execute("SELECT age, sex, zip, diagnosis FROM expected ORDER BY ALL").fetchall()
    assert clinic.connection.execute("FROM published").fetchall() == expected
    assert clinic.connection.execute("SELECT count(*) FROM visits").fetchall() == [(12,)]


def test_columns_with_names_that_the_macros_use(memory: sa.Session) -> None:
    names = ["row_count", "class_size", "sensitive_value", "label", "attribute", "k", "rowid"]
    columns = ", ".join(f'(i + {place}) % 2 AS "{name}"' for place, name in enumerate(names))
    memory.connection.execute(f"CREATE TABLE t AS SELECT {columns} FROM range(24) AS r (i)")
    for some, others in ((names[:4], names[4:]), (names[4:], names[:4])):
        models = [sa.KAnonymity(2), sa.DistinctLDiversity(others[0], 2), sa.EntropyLDiversity(others[-1], 2)]
        flat = {name: {"kind": "flat"} for name in some}
        policy = sa.Policy(quasi_identifiers=some, sensitive=others, privacy=models, taxonomies=flat)
        memory.anonymize("t", policy, into="published", replace=True)


def test_letters_beyond_ascii_have_a_case(clinic: sa.Session) -> None:
    """As DuckDB has it: the tables "Ä" and "ä" are two, and so are columns."""
    clinic.connection.execute('CREATE TABLE "Ä" AS FROM visits LIMIT 4; CREATE TABLE "ä" AS FROM visits LIMIT 8')
    clinic.connection.execute('ALTER TABLE "ä" ADD COLUMN "é" INTEGER; ALTER TABLE "ä" ADD COLUMN "É" INTEGER')
    assert clinic.measure("Ä", POLICY).row_count == 4
    policy = POLICY.model_copy(update={"identifiers": ("id", "é"), "insensitive": ("É",), "suppression_limit": 1.0})
    clinic.anonymize("ä", policy, into="published")
    names = [name for name, *_ in clinic.connection.execute("DESCRIBE published").fetchall()]
    assert names == ["age", "sex", "zip", "diagnosis", "É"]


def test_a_connection_with_a_default_collation_is_refused(clinic: sa.Session) -> None:
    clinic.connection.execute("SET default_collation = 'nocase'")
    with pytest.raises(sa.EngineError, match="default_collation"):
        clinic.anonymize("visits", POLICY, into="published")


def test_a_query_with_a_list_of_files(clinic: sa.Session, tmp_path: Path) -> None:
    """DuckDB does not list all tables of such a query."""
    file = tmp_path / "half.parquet"
    clinic.connection.execute(f"COPY visits TO '{file}'")
    query = f"SELECT v.* FROM visits v SEMI JOIN read_parquet(['{file}', '{file}']) USING (id)"
    assert clinic.measure(query, POLICY).row_count == 12
    with pytest.raises(sa.EngineError, match="its own source"):
        clinic.anonymize(query, POLICY, into="visits", replace="anything")
