"""Whole numbers of a taxonomy in columns of numbers that need not be whole: 27.0 is the number 27."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import sqlanon as sa

RULE = {"kind": "intervals", "widths": [5, 10], "minimum": 0, "maximum": 99}
AGES = [20, 20, 24, 24, 27, 27, 35, 35, 38, 38]


def policy(**more: Any) -> sa.Policy:
    return sa.Policy(
        **{"quasi_identifiers": ["age"], "privacy": [sa.KAnonymity(3)], "taxonomies": {"age": RULE}, **more}
    )


def source(kind: str) -> str:
    return f"SELECT CAST(age AS {kind}) AS age FROM unnest({AGES}) AS rows (age)"


@pytest.fixture
def session() -> Any:
    with sa.connect() as opened:
        yield opened


KINDS = ("DOUBLE", "FLOAT", "DECIMAL(10, 2)")


@pytest.mark.parametrize(("level", "kinds"), [(0, KINDS), (1, KINDS[:1])])
def test_a_release_of_them_is_that_of_integers(session: sa.Session, level: int, kinds: tuple[str, ...]) -> None:
    """At level 0 values keep their texts."""
    asked = policy(privacy=[sa.KAnonymity(2)])
    found = {}
    for kind in ("INTEGER", *kinds):
        report = session.anonymize(source(kind), asked, kind, node={"age": level}).report
        assert kind == "INTEGER" or session.verify(kind, asked).notes == ()
        texts = session.connection.execute(f'SELECT CAST(age AS VARCHAR) FROM "{kind}" ORDER BY ALL').fetchall()
        if level == 0:
            own = f"SELECT CAST(age AS VARCHAR) FROM ({source(kind)}) ORDER BY ALL"
            assert texts == session.connection.execute(own).fetchall()
            texts = [(float(text),) for (text,) in texts]
        found[kind] = (report.losses, report.rows, report.min_class_size, texts)
    assert found == dict.fromkeys(found, found["INTEGER"])


def test_csv_files_and_frames_with_gaps(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("age\n" + "".join(f"{age}.0\n" for age in AGES))
    assert session.anonymize(tmp_path / "ages.csv", policy(), "of_csv").report.rows.released == 10
    frame = pd.DataFrame({"age": [*AGES, None, None, None]})
    assert str(frame["age"].dtype) == "float64"
    assert session.anonymize(frame, policy(), "of_frame").report.rows.released == 13


def test_taxonomies_that_are_stored(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10};*\n" for age in range(100)))
    for given, kind in (
        (sa.Taxonomy.intervals([10], minimum=0, maximum=99), "DOUBLE"),
        (tmp_path / "age.csv", KINDS[2]),
    ):
        session.taxonomies.load("age", given, source=source(kind))
        assert session.anonymize(source(kind), policy(taxonomies={}), "out", replace=True).report.rows.released == 10


def test_fits_and_private_methods(session: sa.Session, tmp_path: Path) -> None:
    session.partitions.fit(source("DOUBLE"), policy(), tmp_path / "a.fit")
    applied = session.partitions.apply(source("DOUBLE"), tmp_path / "a.fit", into=tmp_path / "1.parquet")
    assert applied.report.rows.released == 10
    method = sa.TopDownSpecialization(k=3, target="s")
    asked = policy(privacy=[], sensitive=["s"], method=method)
    rows = f"SELECT age, CAST(age AS INTEGER) % 2 AS s FROM ({source('DOUBLE')})"
    assert session.anonymize(rows, asked, "specialized").report.rows.released == 10
    assert session.verify("specialized", asked).notes == ()


@pytest.mark.parametrize(
    ("kind", "values", "listed"),
    [
        ("DOUBLE", "27.5, 1e3, 'NaN', 'inf', '-0.0', 27.0000000001", "-0.0 1000.0 27.0000000001 27.5 inf nan"),
        ("DECIMAL(10, 2)", "27.5", "27.50"),
        ("VARCHAR", "'27.0'", "27.0"),
    ],
)
def test_what_is_no_value_of_the_range(session: sa.Session, kind: str, values: str, listed: str) -> None:
    rows = " UNION ALL ".join(f"SELECT CAST({value} AS {kind}) AS age" for value in f"{values}, '27'".split(", "))
    count = len(listed.split())
    with pytest.raises(sa.TaxonomyError, match=f'"age": {count} distinct value') as caught:
        session.anonymize(rows, policy(), "out")
    query = caught.value.problems[0].partition("list them by ")[2]
    assert sorted(session.connection.execute(query).fetchall()) == [(text, 1) for text in listed.split()]


def test_own_texts_come_first(session: sa.Session) -> None:
    """A taxonomy that distinguishes 27 and 27.0 is read as it is."""
    session.taxonomies.load("age", sa.Taxonomy.from_rows([("27", "text", "*"), ("27.0", "number", "*")]))
    session.anonymize(
        pa.table({"age": [27.0, 27.0]}), policy(taxonomies={}, privacy=[sa.KAnonymity(2)]), "out", node={"age": 1}
    )
    assert session.connection.execute("SELECT DISTINCT age FROM out").fetchall() == [("number",)]


def test_the_population_may_have_another_type(session: sa.Session) -> None:
    session.connection.execute(f"CREATE TABLE town AS {source('DOUBLE')} UNION ALL {source('DOUBLE')}")
    asked = policy(privacy=[sa.KMap(2, population="town")])
    assert session.anonymize(source("DOUBLE"), asked, "out").report.rows.released == 10
