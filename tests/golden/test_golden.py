"""The SQL of whole runs is as it was reviewed, and does without sqlanon what sqlanon does with it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.golden import sent
from tests.golden.files import FOLDER, kept, texts
from tests.golden.plans import PLANS, executed, recorded
from tests.golden.sent import SENT, sent_by

CHANGED = "the SQL of this run is another: write it with `python -m tests.golden`, and review the diff"


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_as_it_was_reviewed(name: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "script").mkdir()
    reviewed = kept(name)
    now, rows = recorded(name, tmp_path / "run")
    assert now == reviewed, CHANGED
    assert executed(name, reviewed.statements, tmp_path / "script") == rows


@pytest.mark.parametrize("name", SENT)
def test_what_a_server_is_sent_is_as_it_was_reviewed(name: str, tmp_path: Path) -> None:
    assert sent.recorded(name, tmp_path) == kept(name), CHANGED


def test_each_file_is_of_a_plan_and_a_statement_of_several_stands_once() -> None:
    files = {file: file.read_text() for file in FOLDER.rglob("*.sql")}
    assert texts({name: kept(name) for name in (*PLANS, *SENT)}) == files


@pytest.mark.parametrize("name", SENT)
def test_a_statement_that_is_sent_has_no_value_of_the_source(name: str, tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        open_canaries(connection)
        values = {str(value) for row in connection.execute("FROM odd").fetchall() for value in row}
        statements = sent_by(name, connection, tmp_path)
    assert len(values) == 7 * 13, "each value is there once"
    assert statements
    assert not [(value, statement) for _, statement in statements for value in values if value in statement]


TOP_CODE = 50
"""The value to which the policy with coded values lowers all ages."""


def open_canaries(connection: duckdb.DuckDBPyConnection) -> None:
    """Tables as those of the clinic, in which no value is there twice; a row has values without a label in some."""
    columns = {"age": 710_000, "sex": "sex canary ", "zip": "zip canary ", "diagnosis": "diagnosis canary "}
    made = {"id": 700_000, **columns, "patient": 720_000, "nights": 730_000}
    spelled = [f"{first} + i" if isinstance(first, int) else f"'{first}' || (100 + i)" for first in made.values()]
    selected = ", ".join(f"{text} AS {name}" for text, name in zip(spelled, made, strict=True))
    connection.execute(f"CREATE TABLE odd AS SELECT {selected} FROM range(13) AS r (i)")
    for name, query in {
        "visits": "FROM odd WHERE id < 700012",
        "whole": "FROM visits",
        "complete": "FROM visits",
        "treated": "SELECT *, [sex] AS drugs FROM visits",
        "halves": "SELECT * REPLACE (nights + 0.0::DOUBLE AS nights) FROM visits",
    }.items():
        connection.execute(f"CREATE TABLE {name} AS {query}")
    for name, first in {**columns, "drugs": columns["sex"]}.items():
        values = [first + i if isinstance(first, int) else f"{first}{100 + i}" for i in range(12)]
        values += [TOP_CODE] if name == "age" else []
        rows = [
            [value, *(["*"] if name == "sex" else [f"group {place // 4}", "*"])] for place, value in enumerate(values)
        ]
        sa.connect(connection).taxonomies.load(name, sa.Taxonomy.from_rows(rows))
