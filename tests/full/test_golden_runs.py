"""The statements of all other runs have the hashes that were reviewed, and publish the same rows without sqlanon.

What they publish verifies, whatever the method.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.golden.files import HASHES, hashed, hashes, kept_hashes
from tests.golden.plans import PLANS, RELEASE
from tests.golden.sent import SENT, sent_by

PRIVATE = {"epsilon_safe", "diffgen", "ipa", "histogram", "synthetic"}
SOURCES = {"diffgen": "complaining"}


def verify(name: str, session: sa.Session) -> None:
    """Verify what a plan has published beside its source, which compares what is compared without it, too."""
    policy = sa.Policy(**json.loads(str(session.provenance(RELEASE)))["sqlanon"]["policy"])
    found = session.verify(RELEASE, policy, source=SOURCES.get(name, "visits"))
    assert any("what its mechanism promises" in line for line in found.not_covered) == (name in PRIVATE)
    assert found.met


@pytest.mark.parametrize("name", [*PLANS, *SENT])
def test_a_run_has_the_hashes_that_were_reviewed(name: str) -> None:
    now, before = hashed(name, partial(verify, name)), kept_hashes()[1][name]
    show = (
        f"the SQL is another: `python -m tests.golden --show '{name}'`; write the files with `python -m tests.golden`"
    )
    # A text that is sent for several purposes is listed under the first.
    assert [text for _, text in now.statements] == [text for _, text in before.statements], show
    assert now.published == before.published, "the run publishes other rows"


def test_each_run_is_listed_and_a_statement_of_several_stands_once() -> None:
    assert {*kept_hashes()[1]} == {*PLANS, *SENT}
    assert hashes(kept_hashes()[1]) == HASHES.read_text()


@pytest.mark.parametrize("name", SENT)
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
