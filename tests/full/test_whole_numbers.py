"""Whole numbers of a taxonomy in columns of numbers that need not be whole: 27.0 is the number 27."""

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


KINDS = ("DOUBLE", "FLOAT", "DECIMAL(10, 2)")


def test_a_release_of_them_is_that_of_integers(session: sa.Session) -> None:
    """At level 0 values keep their texts."""
    nodes = {"INTEGER": 0, **dict.fromkeys(KINDS, 0), "INTEGER 1": 1, "DOUBLE 1": 1}
    columns = ", ".join(f'CAST(age AS {name.removesuffix(" 1")}) AS "{name}"' for name in nodes)
    rows = f"SELECT {columns} FROM unnest({AGES}) AS rows (age)"
    asked = policy(quasi_identifiers=[*nodes], taxonomies=dict.fromkeys(nodes, RULE), privacy=[sa.KAnonymity(2)])
    report = session.anonymize(rows, asked, "out", node=nodes).report
    assert (report.rows.released, report.min_class_size, report.class_count) == (10, 2, 5)
    losses = {"lm": 2 * 4 / 99 / 6, "prec": 2 / 3 / 6, "entropy": 2 * 8}
    assert {name: report.losses[name] for name in losses} == pytest.approx(losses)
    assert session.verify("out", asked).notes == ()
    ranges = [f"[{age // 5 * 5}, {age // 5 * 5 + 5})" for age in AGES]
    own = session.connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM ({rows}) ORDER BY ALL").fetchall()
    texts = session.connection.execute("SELECT COLUMNS(*)::VARCHAR FROM out ORDER BY ALL").fetchall()
    assert texts == [(*row[:4], label, label) for row, label in zip(own, ranges, strict=True)]


def test_csv_files_and_frames_with_gaps(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("age\n" + "".join(f"{age}.0\n" for age in AGES))
    assert session.anonymize(tmp_path / "ages.csv", policy(), "of_csv").report.rows.released == 10
    frame = pd.DataFrame({"age": [*AGES, None, None, None]})
    assert str(frame["age"].dtype) == "float64"
    assert session.anonymize(frame, policy(), "of_frame").report.rows.released == 13


def test_taxonomies_that_are_stored(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10};*\n" for age in range(100)))
    rows = f"SELECT age, CAST(age AS {KINDS[2]}) AS years FROM ({source('DOUBLE')})"
    session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=0, maximum=99), source=rows)
    session.taxonomies.load("years", tmp_path / "age.csv", source=rows)
    asked = policy(quasi_identifiers=["age", "years"], taxonomies={})
    assert session.anonymize(rows, asked, "out").report.rows.released == 10


def test_what_is_no_value_of_the_range(session: sa.Session) -> None:
    expected = {
        "DOUBLE": ["-0.0", "1000.0", "27.0000000001", "27.5", "inf", "nan"],
        "DECIMAL(10, 2)": ["27.50"],
        "VARCHAR": ["27.0"],
    }
    columns = [[*texts, *["27"] * (7 - len(texts))] for texts in expected.values()]
    lines = ", ".join(str(row) for row in zip(*columns, strict=True))
    casts = ", ".join(f'CAST(v{place} AS {kind}) AS "{kind}"' for place, kind in enumerate(expected))
    rows = f"SELECT {casts} FROM (VALUES {lines}) AS rows (v0, v1, v2)"
    asked = policy(quasi_identifiers=[*expected], taxonomies=dict.fromkeys(expected, RULE))
    with pytest.raises(sa.TaxonomyError) as caught:
        session.anonymize(rows, asked, "out")
    for problem, (kind, texts) in zip(caught.value.problems, expected.items(), strict=True):
        found, _, query = problem.partition("list them by ")
        assert found.startswith(f'"{kind}": {len(texts)} distinct value')
        assert sorted(session.connection.execute(query).fetchall()) == [(text, 1) for text in texts]


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
