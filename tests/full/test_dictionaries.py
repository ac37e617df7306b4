"""Texts that come in dictionaries, as in Parquet files, are grouped as values of ENUM types: to the same cells."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import source_pieces as pieces
from sqlanon.nodes.table import encode_table
from sqlanon.queries import encoding
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import column, select
from tests.engines import engine_of

PEOPLE = """
    SELECT
        ['a', 'A', ' a', 'a ', NULL][1 + range % 5] AS city,
        CAST(range % 3 AS VARCHAR) AS ward,
        range % 7 AS age
    FROM range(200)
"""

POLICY = sa.Policy(
    quasi_identifiers=["city", "ward", "age"],
    privacy=[sa.KAnonymity(2)],
    suppression_limit=1,
    taxonomies={"ward": "flat", "age": "flat"},
)

HOMES = {
    "a table in a file": ("CREATE TABLE people AS {}", "people", True),
    "Parquet": ("COPY ({}) TO 'people.parquet'", "people.parquet", True),
    "columns of Parquet": (
        "COPY ({}) TO 'people.parquet'",
        "SELECT city, ward, age FROM read_parquet('people.parquet')",
        True,
    ),
    "CSV": ("COPY ({}) TO 'people.csv' (FORCE_QUOTE *)", "people.csv", False),
    "a view": ("CREATE VIEW people AS {}", "people", False),
    "a table in memory": ("ATTACH ':memory:' AS other; CREATE TABLE other.people AS {}", "other.people", False),
    "a query": ("SELECT 1", PEOPLE, False),
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pieces, "MIN_TYPED_ROWS", 200)
    with sa.connect("warehouse.duckdb") as opened:
        opened.taxonomies.load("city", sa.Taxonomy.from_rows([(text, "*") for text in ("a", "A", " a", "a ")]))
        yield opened


def source_in(session: sa.Session, home: str, people: str = PEOPLE) -> str:
    """The source of a home, once people live there."""
    made, source, _ = HOMES[home]
    session.connection.execute(made.format(people))
    return source.replace(PEOPLE, people)


def encoded(session: sa.Session, source: str) -> tuple[list[str], list[int]]:
    """The columns of a source that are typed where rows are grouped, and how many rows have each cell."""
    engine = engine_of(session)
    bound = prepare(engine, engine.resolve(source), POLICY.model_copy(update={"taxonomies": {}}))
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        cells = select([column(ROW_COUNT)], table.encoding.cells.table)
        found = engine.fetch(cells, "rows by cell", "cell")
    return [*table.encoding.typed], sorted(row[ROW_COUNT] for row in found)


def load(session: sa.Session) -> None:
    """The taxonomies of the policy, which else come with a run."""
    session.taxonomies.load_all({name: made.taxonomy() for name, made in POLICY.taxonomies.items()}, source=PEOPLE)


@pytest.mark.parametrize("home", HOMES)
def test_cells_are_the_same_wherever_rows_are(session: sa.Session, home: str) -> None:
    load(session)
    typed, counts = encoded(session, source_in(session, home))
    assert typed == (["city", "ward"] if HOMES[home][2] else [])
    assert counts == sorted(Counter(session.connection.execute(PEOPLE).fetchall()).values())


@pytest.mark.parametrize("home", ["a table in a file", "Parquet", "CSV"])
def test_a_text_without_a_label_is_no_null(session: sa.Session, home: str) -> None:
    """NULL, which every taxonomy knows, stands for it where rows are grouped, with types and without."""
    strangers = f"{PEOPLE} UNION ALL SELECT 'b', '1', 1 FROM range(2)"
    with pytest.raises(sa.TaxonomyError, match="1 distinct value in 2 rows"):
        session.anonymize(source_in(session, home, strangers), POLICY, "released.parquet")


@pytest.mark.parametrize("home", ["a table in a file", "Parquet"])
def test_few_rows_make_no_type(session: sa.Session, home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(session)
    source = source_in(session, home)
    assert encoded(session, source)[0] == ["city", "ward"]
    monkeypatch.setattr(pieces, "MIN_TYPED_ROWS", 201)
    assert encoded(session, source)[0] == []


def test_a_large_taxonomy_makes_no_type(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MAX_TYPED_VALUES", 4)
    steps = session.explain(source_in(session, "Parquet"), POLICY)
    assert "anon_value_type_1" in str(steps)
    assert "anon_value_type_0" in str(steps)
    monkeypatch.setattr(encoding, "MAX_TYPED_VALUES", 3)
    load(session)
    assert encoded(session, "people.parquet")[0] == ["ward"]
