"""Taxonomies made in SQL against those that Python's rules make, row by row."""

import datetime
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from tests.conftest import ARX_COLUMNS, DATA

HOSTILE = 'a"b; drop table x --'


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    """A table with NULLs, negative numbers, timestamps, short codes and a hostile name."""
    with sa.connect() as session:
        session.install()
        session.connection.execute(
            f"""
            CREATE TABLE stays AS
            SELECT
                CASE WHEN i % 7 > 0 THEN i * 13 % 101 - 20 END AS age,
                i / 8 AS weight,
                DATE '2023-12-20' + CAST(i * 37 AS INTEGER) AS admission,
                TIMESTAMP '2024-02-28 23:00:00' + to_hours(CAST(i * 31 AS INTEGER)) AS discharge,
                lpad(CAST(i * 7919 % 100000 AS VARCHAR), CAST(2 + i % 4 AS INTEGER), '0') AS zip,
                CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN NULL ELSE 'it''s ' || i % 4 END AS "{HOSTILE.replace('"', '""')}",
                CAST(NULL AS VARCHAR) AS nothing
            FROM range(90) AS numbers (i)
            """
        )
        yield session


FIRST, LAST = datetime.date(2023, 12, 1), datetime.date(2032, 12, 31)


@pytest.mark.parametrize(
    ("attribute", "rule", "macro"),
    [
        ("age", sa.Taxonomy.intervals([10, 20, 40]), "interval_taxonomy('stays', 'age', [10, 20, 40], NULL, NULL)"),
        (
            "age",
            sa.Taxonomy.intervals([10, 20], minimum=-20, maximum=99),
            "interval_taxonomy('stays', 'age', [10, 20], -20, 99)",
        ),
        ("weight", sa.Taxonomy.intervals([0.5, 2]), "interval_taxonomy('stays', 'weight', [0.5, 2], NULL, NULL)"),
        ("zip", sa.Taxonomy.prefixes([3, 1, 0]), "prefix_taxonomy('stays', 'zip', [3, 1, 0])"),
        (
            "admission",
            sa.Taxonomy.dates(["month", "quarter", "year", "decade"]),
            "date_taxonomy('stays', 'admission', ['month', 'quarter', 'year', 'decade'], NULL, NULL)",
        ),
        (
            "admission",
            sa.Taxonomy.dates(["week", "isoyear"], first=FIRST, last=LAST),
            f"date_taxonomy('stays', 'admission', ['week', 'isoyear'], '{FIRST}', '{LAST}')",
        ),
        (
            "discharge",
            sa.Taxonomy.dates(["day", "month"]),
            "date_taxonomy('stays', 'discharge', ['day', 'month'], NULL, NULL)",
        ),
        (HOSTILE, sa.Taxonomy.flat(), f"flat_taxonomy('stays', '{HOSTILE}')"),
        ("nothing", sa.Taxonomy.flat(), "flat_taxonomy('stays', 'nothing')"),
        ("nothing", sa.Taxonomy.prefixes([1]), "prefix_taxonomy('stays', 'nothing', [1])"),
    ],
)
def test_rules_make_the_same_rows(session: sa.Session, attribute: str, rule: sa.Taxonomy, macro: str) -> None:
    session.taxonomies.load(attribute, rule, source="stays")
    assert made(session, macro) == stored(session, attribute) != Counter()


def made(session: sa.Session, macro: str) -> Counter[tuple[object, ...]]:
    """The rows of a macro."""
    return Counter(map(tuple, session.connection.execute(f"FROM anon.{macro}").fetchall()))


def stored(session: sa.Session, attribute: str) -> Counter[tuple[object, ...]]:
    """The rows of a taxonomy that Python stored."""
    return Counter(
        map(tuple, session.connection.execute("FROM anon.taxonomy WHERE attribute = $1", [attribute]).fetchall())
    )


@pytest.mark.parametrize(
    "text", ["a;1;*\nb;1;*\nc;2;*\n", 'a,"1,5",*\nb,"1,5",*\n', "a\t1\t*\nb\t2\t*\n", "é;*\n;*\nNULL;*\n"]
)
def test_files_have_the_same_rows(session: sa.Session, tmp_path: Path, text: str) -> None:
    path = tmp_path / "it's a file.csv"
    path.write_text(text, encoding="utf-8")
    session.taxonomies.load("sex", path)
    spelled = str(path).replace("'", "''")
    assert made(session, f"hierarchy_file('{spelled}', 'sex')") == stored(session, "sex") != Counter()


@pytest.mark.adult
@pytest.mark.parametrize("attribute", ARX_COLUMNS)
def test_hierarchies_of_arx_have_the_same_rows(session: sa.Session, attribute: str) -> None:
    path = DATA / "adult_arx" / "hierarchies" / f"{attribute}.csv"
    session.taxonomies.load(attribute, path)
    assert made(session, f"hierarchy_file('{path}', '{attribute}')") == stored(session, attribute) != Counter()
