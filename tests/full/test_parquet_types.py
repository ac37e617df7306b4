"""Values that Parquet alters are refused, and all others come back as they were, whatever their type."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.engines.relations import types_in

LAYOUTS = {
    "file": ("out.parquet", {}),
    "folder": ("out/", {}),
    "pieces": ("out/", {"rows_per_file": 2}),
    "partitions": ("out/", {"partition_by": ["age"]}),
}
POLICY = sa.Policy(quasi_identifiers=["age"], insensitive=["value"], privacy=[sa.KAnonymity(2)], earlier="none")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect() as session:
        session.taxonomies.load("age", sa.Taxonomy.flat(["1", "2", "3"]))
        yield session


def texts(session: sa.Session, relation: str, column: str = "value") -> list[tuple[str]]:
    return session.connection.execute(f'SELECT "{column}"::VARCHAR AS t FROM {relation} ORDER BY t').fetchall()


def publish(session: sa.Session, layout: str, policy: sa.Policy = POLICY) -> None:
    into, options = LAYOUTS[layout]
    session.anonymize("given", policy, into=into, **options)  # type: ignore[arg-type]
    assert texts(session, f"'{into}{'' if layout == 'file' else '**/*.parquet'}'") == texts(session, "given")


def given(session: sa.Session, values: str) -> None:
    session.connection.execute(
        f"CREATE OR REPLACE TABLE given AS SELECT 1 AS age, unnest([{values}]) AS value FROM range(2)"
    )


ALWAYS_REFUSED = {"hugeint", "uhugeint", "bignum", "time_tz", "interval", "bit", "union"}
SOMETIMES_REFUSED = {"tuple", "empty_struct"}
"""Types of ``test_all_types()``; the latter by the version of the database."""


def types(session: sa.Session) -> set[str]:
    described = session.connection.execute("DESCRIBE SELECT * FROM test_all_types()").fetchall()
    return {name for name, *_ in described}


def test_every_type_of_the_database_comes_back(session: sa.Session) -> None:
    """With the texts that its values had."""
    names = sorted(types(session) - ALWAYS_REFUSED - SOMETIMES_REFUSED)
    columns = ", ".join(f'"{name}"' for name in names)
    session.connection.execute(f"CREATE TABLE given AS SELECT 1 AS age, {columns} FROM test_all_types()")
    policy = sa.Policy(quasi_identifiers=["age"], insensitive=names, privacy=[sa.KAnonymity(2)])
    session.anonymize("given", policy, into="r.parquet")
    for name in names:
        assert texts(session, "'r.parquet'", name) == texts(session, "given", name), name


def test_types_that_do_not_come_back_are_refused_by_name(session: sa.Session, tmp_path: Path) -> None:
    """A table takes them all."""
    names = sorted(types(session) & (ALWAYS_REFUSED | SOMETIMES_REFUSED))
    columns = ", ".join(f'"{name}"' for name in names)
    session.connection.execute(f"CREATE TABLE all_types AS SELECT 1 AS age, {columns} FROM test_all_types()")
    policy = POLICY.changed({"insensitive": names})
    session.anonymize("all_types", policy, into="kept")
    for name in names:
        assert texts(session, "kept", name) == texts(session, "all_types", name), name
    with pytest.raises(sa.EngineError, match="Parquet has no types for the columns") as refused:
        session.anonymize("all_types", policy, into="out.parquet")
    assert all(f'"{name}" (' in str(refused.value) for name in ALWAYS_REFUSED - {"interval"})
    for name in sorted({"interval"} | (SOMETIMES_REFUSED & {*names})):
        session.connection.execute(f'CREATE OR REPLACE TABLE given AS SELECT age, "{name}" AS value FROM all_types')
        # A file each: the database keeps what it has read, and knows a file by its size and the second of its change.
        try:
            session.anonymize("given", POLICY, into=f"{name}.parquet")
        except sa.EngineError as error:
            assert name in SOMETIMES_REFUSED or '"value"' in str(error)
            assert not (tmp_path / f"{name}.parquet").exists()
        else:
            assert name in SOMETIMES_REFUSED
            assert texts(session, f"'{name}.parquet'") == texts(session, "given"), name
    assert not (tmp_path / "out.parquet").exists()


ALTERED = ["INTERVAL '1 microsecond'", "INTERVAL '-1 month'", "INTERVAL '1 month' - INTERVAL '1 day'"]
NESTED = [
    "[INTERVAL '-1 month']", "{'a': [INTERVAL '-1 month']}", "MAP {1: INTERVAL '-1 month'}",
    "[{'interval': INTERVAL '-1 month'}]", "[1::UHUGEINT]", "{'a': ['101'::BIT]}",
]  # fmt: skip


def test_values_that_are_refused(session: sa.Session, tmp_path: Path) -> None:
    values = [*(("file", value) for value in (*ALTERED, *NESTED))]
    before = sorted(tmp_path.rglob("*"))
    for layout, value in (*values, *((layout, ALTERED[-1]) for layout in ("folder", "pieces", "partitions"))):
        given(session, value)
        with pytest.raises(sa.EngineError, match=r'Parquet .*"value".* or write to a table'):
            publish(session, layout)
        assert sorted(tmp_path.rglob("*")) == before, (layout, value)


def test_intervals_that_are_kept(session: sa.Session) -> None:
    kept = "'40 days', '23:59:59.999', '2 years 3 days 1 hour', NULL, '1 month', '1 month', '0 days'"
    given(session, ", ".join(f"INTERVAL {text}" if text != "NULL" else text for text in kept.split(", ")))
    for layout in LAYOUTS:
        shutil.rmtree("out", ignore_errors=True)
        publish(session, layout)


def test_names_that_look_like_types(session: sa.Session) -> None:
    values = (
        "{'HUGEINT': 1, 'bit': 2, 'interval': 3, 'union': 4, 'TIME WITH TIME ZONE': '10:00'::TIME}",
        "'HUGEINT'::ENUM('HUGEINT', 'BIT, UNION(')",
        "['a''HUGEINT'::ENUM('a''HUGEINT')]",
        "{'a\"b HUGEINT': 1}",
    )
    named = ", ".join(f"'{place}': {value}" for place, value in enumerate(values))
    given(session, f"{{{named}}}")
    publish(session, "file")


def test_a_flattened_table(session: sa.Session) -> None:
    stays = "SELECT 1 AS person, INTERVAL '1 microsecond' AS stay, 1 AS visit"
    with pytest.raises(sa.EngineError, match='"stay_1" '):
        session.flatten(stays, "out.parquet", individual="person", event="stay", order="visit", first=1)


def test_the_types_in_a_type() -> None:
    for kind, expected in {
        "DECIMAL(18,3)": {"DECIMAL"},
        "STRUCT(a TIME WITH TIME ZONE, BIT INTEGER)[]": {"STRUCT", "TIME WITH TIME ZONE", "INTEGER"},
        "TIMESTAMP WITH TIME ZONE[3]": {"TIMESTAMP WITH TIME ZONE"},
        """STRUCT("a ""b"" HUGEINT, " ENUM('x', 'HUGEINT'))""": {"STRUCT", "ENUM"},
        "MAP(HUGEINT, UNION(a BIT, b VARCHAR))": {"MAP", "HUGEINT", "UNION", "BIT", "VARCHAR"},
        "GEOMETRY('OGC:CRS84')": {"GEOMETRY"},
    }.items():
        assert types_in(kind) == expected
