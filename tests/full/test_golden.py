"""The statements of all runs are as reviewed, and publish the same rows without sqlanon; what they publish verifies."""

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.effort import some
from tests.golden.files import FOLDER, HASHED, HASHES, NEAR, heading, run_of, statements_of
from tests.golden.sent import SENT, golden_name, sent_by
from tests.golden.statements import STATEMENTS
from tests.golden.test_golden import CHANGED, other_parts


@pytest.mark.parametrize("room", STATEMENTS)
def test_statements_and_what_they_make_are_as_reviewed(room: str) -> None:
    before, now = (FOLDER / "statements" / f"{room}.sql").read_text(), statements_of(room)
    assert not other_parts(before, now), CHANGED
    assert before == now, CHANGED


SPELLED = some(SENT, *map(golden_name, (
    "k, l and t", "coded", "unknown values", "local of individuals", "h-ceiling", "ipa", "diffgen of sets", "top-down",
)))  # fmt: skip
"""Runs that spell values in all ways, unless tier 3 wants all of them."""


@pytest.mark.repeated
@pytest.mark.parametrize("name", [*NEAR, *SPELLED])
def test_a_run_has_the_hashes_that_were_reviewed(name: str) -> None:
    show = f"the SQL or the rows are others: `python -m tests.golden --show '{name}'`; {CHANGED}"
    assert heading(name, [text for _, text in run_of(name)]) in HASHES.read_text().splitlines(), show


def test_each_run_is_listed() -> None:
    names = [line.partition(": ")[0] for line in HASHES.read_text().splitlines() if ": " in line and line[0] != "#"]
    assert names == HASHED, CHANGED


@pytest.mark.repeated
@pytest.mark.parametrize("name", SPELLED)
def test_a_statement_that_is_sent_has_no_value_of_the_source(name: str, tmp_path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        open_canaries(connection)
        values = {str(value) for row in connection.execute("FROM odd").fetchall() for value in row}
        statements = sent_by(SENT[name], connection, tmp_path)
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
