"""Risk of samples by the sums that define it, on random tables, and against reference values on Adult."""

import math
from collections import Counter, defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import data_folder
from tests.oracle import negative_binomial_risk, poisson_risk
from tests.sql.test_oracle import EXAMPLES, ask, connection, table_call

KEYS = ["a", "b"]
VALUES = st.sampled_from(["x", "y", None])
ROWS = st.lists(st.tuples(VALUES, VALUES, st.integers(4, 32).map(lambda fourths: fourths / 4), st.integers(1, 4)))


@EXAMPLES
@given(ROWS)
def test_risks_are_the_sums_that_define_them(rows: list[tuple[str | None, str | None, float, int]]) -> None:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    types = [pa.string(), pa.string(), pa.float64(), pa.int64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    connection().execute("SELECT 1").fetchall()  # so that no earlier test has left a result unread
    connection().register("sampled", pa.table(dict(zip(["a", "b", "w", "home"], arrays, strict=True))))
    sizes, people = Counter(row[:2] for row in rows), defaultdict[object, float](float)
    for a, b, weight, _ in rows:
        for group in ((a, b), ("a", a), ("b", b), "all"):
            people[group] += weight
    expected = {cell: people["a", cell[0]] * people["b", cell[1]] / people["all"] for cell in sizes}
    unsampled = {cell: expected[cell] * (1 - size / people[cell]) for cell, size in sizes.items()}
    binomial = {cell: negative_binomial_risk(size, people[cell]) for cell, size in sizes.items()}
    poisson = {cell: poisson_risk(size, unsampled[cell]) for cell, size in sizes.items()}

    found = {(row["a"], row["b"]): row for row in ask(table_call("individual_risk", "sampled", KEYS, "w"))}
    assert {cell: row["class_size"] for cell, row in found.items()} == sizes
    assert {cell: row["risk"] for cell, row in found.items()} == pytest.approx(binomial, rel=1e-10)
    found = {(row["a"], row["b"]): row for row in ask(table_call("poisson_risk", "sampled", KEYS, "w"))}
    assert {cell: row["expected_size"] for cell, row in found.items()} == pytest.approx(expected, rel=1e-10)
    assert {cell: row["risk"] for cell, row in found.items()} == pytest.approx(poisson, rel=1e-10)
    [bracket] = ask(table_call("global_risk", "sampled", KEYS, "w"))
    assert (bracket["row_count"], bracket["class_count"]) == (len(rows), len(sizes))
    assert bracket["unique_rows"] == sum(size == 1 for size in sizes.values())
    if rows:
        sums = sorted(sum(risk[row[:2]] for row in rows) for risk in (binomial, poisson))
        assert [bracket["expected_low"], bracket["expected_high"]] == pytest.approx(sums, rel=1e-10)
    cells = {(row["a"], row["b"]): row for row in ask(table_call("risky_cells", "sampled", KEYS, "w", 0.1))}
    assert {*cells} == {cell for cell in sizes if max(binomial[cell], poisson[cell]) > 0.1}
    assert all(
        row["expected_rows"] == sizes[each] * max(row["risk"], row["poisson_risk"]) for each, row in cells.items()
    )
    assert [row["class_size"] for row in cells.values()] == sorted((sizes[cell] for cell in cells), reverse=True)
    [limit] = ask(table_call("risk_threshold", "sampled", KEYS, "w", 0.1))
    fine = [each for each in binomial.values() if sum(min(each, binomial[row[:2]]) for row in rows) <= 0.1 * len(rows)]
    assert limit["threshold"] == (pytest.approx(max(fine), rel=1e-10) if fine else None)
    assert limit["rows_above"] == sum(binomial[row[:2]] > max(fine, default=0) * (1 + 1e-10) for row in rows)
    members = defaultdict[int, list[float]](list)
    for a, b, _, home in rows:
        members[home].append(binomial[a, b])
    homes = {row["household"]: row for row in ask(table_call("household_risk", "sampled", KEYS, "w", "home"))}
    assert Counter({home: row["member_count"] for home, row in homes.items()}) == Counter(row[3] for row in rows)
    risks = {home: 1 - math.prod(1 - risk for risk in found_) for home, found_ in members.items()}
    assert {home: row["risk"] for home, row in homes.items()} == pytest.approx(risks, rel=1e-9)


@EXAMPLES
@given(ROWS)
def test_null_fits_every_value(rows: list[tuple[str | None, str | None, float, int]]) -> None:
    connection().execute("CREATE OR REPLACE TABLE with_blanks (a VARCHAR, b VARCHAR, w DOUBLE, home INTEGER)")
    if rows:
        connection().executemany("INSERT INTO with_blanks VALUES (?, ?, ?, ?)", rows)

    def fits(one: tuple[str | None, ...], other: tuple[str | None, ...]) -> bool:
        return all(x is None or y is None or x == y for x, y in zip(one, other, strict=True))

    sizes = Counter(row[:2] for row in rows)
    expected = [(*cell, size, sum(fits(cell, row[:2]) for row in rows)) for cell, size in sizes.items()]
    found = ask(table_call("matched_sizes", "with_blanks", KEYS))
    assert Counter(tuple(row.values()) for row in found) == Counter(expected)
    query = (
        "WITH classes AS (FROM anon_helpers.weighted_classes('with_blanks', ['a', 'b'], 'w')) "
        "SELECT a, b, anon_population_size, anon_fitting_people "
        "FROM anon_helpers.fitting_classes('classes', ['a', 'b'])"
    )
    for a, b, people, fitting in connection().execute(query).fetchall():
        assert people == pytest.approx(math.fsum(row[2] for row in rows if row[:2] == (a, b)))
        assert fitting == pytest.approx(math.fsum(row[2] for row in rows if fits((a, b), row[:2])))


@EXAMPLES
@given(ROWS)
def test_households_are_matched_by_all_members(rows: list[tuple[str | None, str | None, float, int]]) -> None:
    connection().execute("CREATE OR REPLACE TABLE in_homes (a VARCHAR, b VARCHAR, w DOUBLE, home INTEGER)")
    if rows:
        connection().executemany("INSERT INTO in_homes VALUES (?, ?, 4 + ? / 8, ?)", rows)
    homes = {home: [row for row in rows if row[3] == home] for home in {row[3] for row in rows}}
    keys = {home: repr(sorted(str(row[:2]) for row in members)) for home, members in homes.items()}
    people = defaultdict[str, float](float)
    for home, members in homes.items():
        people[keys[home]] += math.fsum(4 + row[2] / 8 for row in members) / len(members)
    sizes = Counter(keys.values())
    risks = {home: negative_binomial_risk(sizes[key], people[key]) for home, key in keys.items()}

    [found] = ask(table_call("household_key_risk", "in_homes", KEYS, "w", "home"))
    assert found["household_count"] == len(homes)
    assert found["unique_households"] == sum(size == 1 for size in sizes.values())
    assert found["households_found"] == (pytest.approx(sum(risks.values()), rel=1e-9) if rows else None)
    in_rows = sum(risk * len(homes[home]) for home, risk in risks.items())
    assert found["rows_found"] == (pytest.approx(in_rows, rel=1e-9) if rows else None)


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.5, 38.9, 39.1, 120.0, 350.0])
@pytest.mark.parametrize("size", [1, 2, 39, 40, 200, 390])
def test_all_branches_hold(size: int, mean: float) -> None:
    """Above and below each bound between two forms."""
    query = "SELECT anon_helpers.poisson_mean_risk($1, $2), anon_helpers.negative_binomial_risk($1, CAST($3 AS DOUBLE))"
    for people in (size * 1.02, size * 1.9, size * 2.2):
        [found] = connection().execute(query, [size, mean, people]).fetchall()
        assert found == pytest.approx((poisson_risk(size, mean), negative_binomial_risk(size, people)), rel=1e-8)


ADULT = [
    (
        ["sex", "age", "race", "marital-status", "education"],
        (30162, 6072, 3187),
        (212.375795598, 498.796160967, 167.776992582, 394.075974145, 211.765378295, 423.530756591),
    ),
    (
        ["sex", "race", "marital-status", "education", "occupation"],
        (30162, 2510, 1041),
        (76.7494187604, 153.928063849, 39.4925552403, 101.298770398, 76.6707615236, 153.341523047),
    ),
]


@pytest.mark.adult
@pytest.mark.parametrize(("keys", "counts", "totals"), ADULT, ids=["age", "occupation"])
def test_totals_are_the_reference(keys: list[str], counts: tuple[int, ...], totals: tuple[float, ...]) -> None:
    """Exact sums of the negative binomial, which sdcMicro 5.8.1 approximates to 0.03 %, and of Poisson margins."""
    connection().execute(
        "CREATE OR REPLACE TABLE weighted_adult AS SELECT *, 20 + 7919 * i % 181 AS w, (i + 1) // 2 AS home "
        "FROM (SELECT row_number() OVER () AS i, * FROM read_csv($1, delim = ';'))",
        [str(data_folder("adult_arx") / "adult.csv")],
    )
    [bracket] = ask(table_call("global_risk", "weighted_adult", keys, "w"))
    assert (bracket["row_count"], bracket["class_count"], bracket["unique_rows"]) == counts
    classes = ask(table_call("poisson_risk", "weighted_adult", keys, "w"))
    homes = ask(table_call("household_risk", "weighted_adult", keys, "w", "home"))
    found = (
        bracket["expected_low"],
        bracket["expected_high"],
        bracket["uniques_high"],
        math.fsum(row["risk"] for row in classes if row["class_size"] == 1),
        math.fsum(row["risk"] for row in homes),
        math.fsum(row["risk"] * row["member_count"] for row in homes),
    )
    assert found == pytest.approx(totals, rel=1e-8)
