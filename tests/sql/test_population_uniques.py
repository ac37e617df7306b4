"""Estimates of uniques in the population, against reference values on Adult and the equations that define them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import data_folder
from tests.sql.test_oracle import EXAMPLES, ask, connection, table_call

HISTOGRAMS = st.dictionaries(st.integers(2, 60), st.integers(1, 90), max_size=6)
ESTIMATES = "SELECT anon_helpers.estimated_uniques(map($1, $2), $3)"
FIT = "SELECT anon_helpers.pitman_fit(CAST($1 AS DOUBLE[]), CAST($2 AS DOUBLE[]))"


def chance_of_one(size: int, rows: int, people: int) -> float:
    """The hypergeometric chance that a sample has one of a class."""
    return size * math.comb(people - size, rows - 1) / math.comb(people, rows) if people - size >= rows - 1 else 0.0


@EXAMPLES
@given(HISTOGRAMS, st.integers(2, 90), st.sampled_from([1.01, 1.5, 5.0, 11.0, 200.0]))
def test_estimates_solve_their_equations(sizes: dict[int, int], singles: int, people_per_row: float) -> None:
    histogram = {1: singles, **sizes}
    classes, rows = sum(histogram.values()), sum(size * count for size, count in histogram.items())
    people = math.ceil(rows * people_per_row)
    [[found]] = connection().execute(ESTIMATES, [[*histogram], [*histogram.values()], people]).fetchall()
    # Zayatz, by whole numbers.
    expected = sum(count * chance_of_one(size, rows, people) for size, count in histogram.items())
    assert found["zayatz"] == pytest.approx(singles**2 / expected, rel=1e-9)
    by_rule = found["pitman"] if 10 * rows <= people else min(found["zayatz"], found["snb"] or math.inf)
    assert found["estimate"] == by_rule
    [[fit]] = connection().execute(FIT, [[*histogram], [*histogram.values()]]).fetchall()
    if found["pitman"] is None:
        return
    theta, alpha = fit["ratio"] * fit["alpha"], fit["alpha"]
    places = [1 / (theta + number * alpha) for number in range(1, classes)]
    assert sum(places) == pytest.approx(math.fsum(1 / (theta + number) for number in range(1, rows)), rel=1e-7)
    # The sum of all sizes of 1 / (number - alpha), for numbers below the size.
    falls = (count * math.fsum(1 / (number - alpha) for number in range(1, size)) for size, count in histogram.items())
    weighted = math.fsum(number * place for number, place in enumerate(places, start=1))
    assert weighted == pytest.approx(math.fsum(falls), rel=1e-7)


REFERENCE = [
    # Pitman and Zayatz are those of ARX 3.9.2, whose SNB never answers; SNB has the equation of pairs derived anew.
    (["sex", "race", "marital-status", "education", "occupation"], 3, (1180.80187063, 1102.75761447, 1180.06601851)),
    (["sex", "age", "race", "marital-status", "education"], 3, (3535.80806393, 3471.10665948, 3351.92886505)),
    (["sex", "race", "marital-status", "education", "occupation"], 10, (1296.86895643, 1439.03513073, 1043.125573)),
    (["sex", "age", "race", "marital-status", "education"], 10, (3599.54436515, 4764.50447129, 2830.34189629)),
]


@pytest.mark.adult
@pytest.mark.parametrize(("keys", "one_in", "uniques"), REFERENCE)
def test_estimates_are_the_reference(keys: list[str], one_in: int, uniques: tuple[float, ...]) -> None:
    connection().execute(
        "CREATE OR REPLACE TABLE sampled_adult AS "
        "FROM (SELECT row_number() OVER () AS i, * FROM read_csv($1, delim = ';')) WHERE i * 7919 % 30161 % $2 = 0",
        [str(data_folder("adult_arx") / "adult.csv"), one_in],
    )
    [found] = ask(table_call("population_uniques", "sampled_adult", keys, 30162))
    assert (found["pitman"], found["zayatz"], found["snb"]) == pytest.approx(uniques, rel=1e-8)
    assert found["estimate"] == min(found["zayatz"], found["snb"])
