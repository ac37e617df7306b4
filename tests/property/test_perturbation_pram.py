"""PRAM of a column: row by row against a naive twin, types, matrices, and what is refused before a draw."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.methods.perturbation.change import NumberedRows
from sqlanon.methods.perturbation.pram import RandomizedValues
from sqlanon.queries.kit.nodes import Relation, column, select, string
from tests.effort import examples
from tests.engines import engine_of

EXAMPLES = settings(max_examples=examples(160), deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = 'a""b"; drop table x --'
PEOPLE = Relation("pram_people", "row")
QUOTED = HOSTILE.replace('"', '""')
FORMS = ("invariant", "plain", "two-step")


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        yield session


class Given(sa.SeededSource):
    """Numbers that a test knows."""

    def __init__(self, numbers: npt.NDArray[np.float64]) -> None:
        super().__init__(1)
        self.numbers = numbers

    def uniform(self, size: int) -> npt.NDArray[np.float64]:
        assert size == len(self.numbers)
        return self.numbers


def numbered(session: sa.Session, rows: pa.Table, k: int = 2) -> NumberedRows:
    """The rows with their numbers, as a run has them."""
    engine = engine_of(session)
    session.connection.execute("DROP TABLE IF EXISTS temp.main.pram_people")
    session.connection.register("given_rows", rows)
    query = "CREATE TEMP TABLE pram_people AS SELECT row_number() OVER () AS anon_row, * FROM given_rows"
    session.connection.execute(query)
    session.connection.unregister("given_rows")
    return NumberedRows(PEOPLE, rows.num_rows, {each.name: each for each in engine.describe(PEOPLE.table)}, k)


def drawn(session: sa.Session, rows: NumberedRows, pram: sa.Pram, source: Any, name: str = "job") -> list[Any]:
    engine = engine_of(session)
    with engine.scratch():
        change = RandomizedValues(engine, rows, name, pram, 0)
        change.make(source)
        query = select([column(name)], change.made.table).order_by(column("anon_row")).sql("duckdb")
        return [value for (value,) in session.connection.execute(query).fetchall()]


# Row by row


def matrix_of(counts: Counter[str], pram: sa.Pram) -> dict[str, dict[str, float]]:
    """The matrix of a stratum, by its definition."""
    values, total, change = [*counts], counts.total(), pram.change
    shares = {value: count / total for value, count in counts.items()}
    others = len(values) - 1
    plain = {v: {w: 1 - change if v == w else change / others for w in values} for v in values}
    if pram.form == "plain":
        return plain
    if pram.form == "invariant":
        return {v: {w: change * shares[w] + (1 - change) * (v == w) for w in values} for v in values}
    after = {w: sum(shares[v] * plain[v][w] for v in values) for w in values}
    back = {w: {v: shares[v] * plain[v][w] / after[w] for v in values} for w in values}
    two = {v: {x: sum(plain[v][w] * back[w][x] for w in values) for x in values} for v in values}
    return {v: {x: pram.alpha * two[v][x] + (1 - pram.alpha) * (v == x) for x in values} for v in values}


def naive(rows: Sequence[tuple[Any, ...]], pram: sa.Pram, numbers: Sequence[float]) -> list[str | None]:
    """Walk along the row of the matrix, from the value itself."""
    strata: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for job, *stratum in rows:
        if job is not None:
            strata[tuple(stratum)][job] += 1
    matrices = {stratum: matrix_of(counts, pram) for stratum, counts in strata.items() if len(counts) > 1}
    shown: list[str | None] = []
    for (job, *stratum), number in zip(rows, numbers, strict=True):
        chances = matrices.get(tuple(stratum), {}).get(job, {})
        upto = 0.0
        for value in sorted(chances, key=lambda value: (value != job, value.encode())):
            upto += chances[value]
            if number < upto:
                shown.append(value)
                break
        else:
            shown.append(job)
    return shown


JOBS = st.one_of(st.none(), st.sampled_from(["", "a", "A", "é", HOSTILE, "NULL", "a "]))
REGIONS = st.one_of(st.none(), st.sampled_from(["N", "S", ""]))


@EXAMPLES
@given(
    rows=st.lists(st.tuples(JOBS, REGIONS, st.one_of(st.none(), st.sampled_from([0.0, float("inf")]))), max_size=40),
    within=st.sampled_from([(), ("region",), (HOSTILE, "region")]),
    form=st.sampled_from(FORMS),
    change=st.sampled_from([0.05, 0.5, 0.95]),
    alpha=st.sampled_from([0.3, 1.0]),
    seed=st.integers(0, 999),
)
def test_values_are_those_of_a_naive_walk(
    session: sa.Session,
    rows: list[tuple[Any, ...]],
    within: tuple[str, ...],
    form: Any,
    change: float,
    alpha: float,
    seed: int,
) -> None:
    jobs, regions, places = zip(*rows, strict=True) if rows else ((), (), ())
    table = {"job": pa.array(jobs, pa.string()), "region": pa.array(regions, pa.string())}
    people = numbered(session, pa.table({**table, HOSTILE: pa.array(places, pa.float64())}))
    pram = sa.Pram(form=form, change=change, alpha=alpha, within=within, least_stay=0)
    keys = [(row[0], *(row[{"region": 1, HOSTILE: 2}[name]] for name in within)) for row in rows]
    numbers = np.random.default_rng(seed).random(len(rows))
    found = RandomizedValues(engine_of(session), people, "job", pram, 0)
    with engine_of(session).scratch():
        problems = [*found.problems()] if rows else []
    strata = defaultdict(set)
    for job, *stratum in keys:
        strata[tuple(stratum)].add(job)
    single = sum(len(values - {None}) == 1 for values in strata.values())
    assert ["has one value" in problem for problem in problems] == [True] * (single > 0)
    if single == 0:
        assert drawn(session, people, pram, Given(numbers)) == naive(keys, pram, numbers.tolist())


TYPES: dict[str, list[Any]] = {
    "INTEGER": [1, -2, 3],
    "DECIMAL(9, 2)": [Decimal("1.10"), Decimal("-0.05"), Decimal("3.00")],
    "DOUBLE": [float("nan"), 0.0, -0.0, float("inf"), 1e300],
    "DATE": ["2020-01-31", "1900-02-28", "infinity"],
    "TIMESTAMPTZ": ["2020-01-31 10:00:00+02", "2020-01-31 10:00:00.000001+02"],
    "BOOLEAN": [True, False],
    "BLOB": ["\\x00", "a", ""],
    "INTEGER[]": ["[1, 2]", "[12]", "[]", "[NULL]"],
    "VARCHAR[]": ["['a, b']", "[a, b]"],
    "STRUCT(a INTEGER)": ["{'a': 1}", "{'a': NULL}"],
    "ENUM('x', 'y')": ["x", "y"],
    "UUID": ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
}


@pytest.mark.parametrize("kind", TYPES)
def test_values_keep_their_type_and_are_of_the_column(session: sa.Session, kind: str) -> None:
    values, connection = TYPES[kind], session.connection
    rows = numbered(session, pa.table({"place": pa.array([place % (len(values) + 1) for place in range(200)])}))
    listed = ", ".join(f"CAST({string(str(value)).sql('duckdb')} AS {kind})" for value in values)
    connection.execute(f"ALTER TABLE temp.main.pram_people ADD COLUMN job {kind}")
    connection.execute(f"UPDATE temp.main.pram_people SET job = ([{listed}])[place + 1]")
    rows = NumberedRows(PEOPLE, 200, {each.name: each for each in engine_of(session).describe(PEOPLE.table)}, 2)
    engine = engine_of(session)
    with engine.scratch():
        change = RandomizedValues(engine, rows, "job", sa.Pram(change=0.6), 0)
        change.make(sa.SeededSource(1))
        compared = connection.sql(
            f"SELECT typeof(m.job) = typeof(p.job), p.job IS NULL = (m.job IS NULL), CAST(m.job AS VARCHAR) "
            f"FROM {change.made.table.sql('duckdb')} AS m JOIN temp.main.pram_people AS p USING (anon_row)"
        ).fetchall()
        texts = connection.sql("SELECT DISTINCT CAST(job AS VARCHAR) FROM temp.main.pram_people").fetchall()
    assert all(same_type and same_null for same_type, same_null, _ in compared)
    assert {shown for *_, shown in compared} == {text for (text,) in texts}
    assert len(compared) == 200


def test_texts_that_a_collation_takes_as_equal_are_two(session: sa.Session) -> None:
    rows = numbered(session, pa.table({"place": pa.array([*range(100)])}))
    session.connection.execute("ALTER TABLE temp.main.pram_people ADD COLUMN job VARCHAR COLLATE NOCASE")
    session.connection.execute("UPDATE temp.main.pram_people SET job = CASE place % 4 WHEN 0 THEN 'a' ELSE 'A' END")
    rows = NumberedRows(PEOPLE, 100, {each.name: each for each in engine_of(session).describe(PEOPLE.table)}, 2)
    unchanged = drawn(session, rows, sa.Pram(change=0.5), Given(np.zeros(100)))
    assert Counter(unchanged) == {"a": 25, "A": 75}


# What is said and refused


def people_of(counts: dict[str, int], regions: int = 1) -> pa.Table:
    jobs = [job for job, count in counts.items() for _ in range(count)]
    return pa.table({"job": jobs, "region": [place % regions for place in range(len(jobs))]})


def problems_of(session: sa.Session, rows: NumberedRows, **fields: Any) -> list[str]:
    engine = engine_of(session)
    with engine.scratch():
        return [*RandomizedValues(engine, rows, "job", sa.Pram(**fields), 0).problems()]


def test_strata_of_one_value_are_counted(session: sa.Session) -> None:
    table = pa.table({"job": ["a", "b", "a", "a", "b", None], "region": [1, 1, 2, 2, 3, 4]})
    rows = numbered(session, table)
    assert problems_of(session, rows) == []
    assert problems_of(session, rows, within=["region"]) == [
        '"job" has one value in 2 of its strata, which cannot become another: name fewer columns in within'
    ]
    assert problems_of(session, numbered(session, pa.table({"job": ["a", "a", None]}))) == [
        '"job" has one value, which cannot become another: do not perturb it'
    ]


def test_many_values_are_refused(session: sa.Session) -> None:
    for count in (1000, 1001):
        (*found,) = problems_of(session, numbered(session, pa.table({"job": pa.array([*range(count)])})))
        assert found == (
            []
            if count == 1000
            else ['"job" has more than 1,000 values: publish groups of values, or take kind = "swap"']
        )
    table = pa.table(
        {"job": pa.array([*range(900)] * 13), "region": pa.array([place // 900 for place in range(11700)])}
    )
    assert problems_of(session, numbered(session, table), within=["region"]) == [
        '"job" has matrices of 10,530,000 probabilities in 13 strata, more than 10,000,000: '
        "name fewer columns in within"
    ]


def test_a_low_chance_to_stay_is_refused(session: sa.Session) -> None:
    """A value of 5 % is kept by the first draw with 0.8, and stays with 0.2 * 0.01 / 0.77 + 0.8 * 0.04 / 0.23."""
    rows = numbered(session, people_of({"often": 95, "rare": 5}))
    (found,) = problems_of(session, rows, form="two-step", change=0.2, alpha=1)
    assert found.startswith(
        '"job" has 1 value that would stay with a probability below least_stay = 0.5, the least 0.142'
    )
    assert problems_of(session, rows, form="two-step", change=0.2, alpha=1, least_stay=0.14) == []
    assert problems_of(session, rows, form="invariant", change=0.2, least_stay=1) == []


def test_matrices_with_the_shares_of_few_rows_are_not_published(session: sa.Session) -> None:
    """Strata of 99, 100 and 120 rows, with two values of 4 rows and one of 5, where k is 5; NULL counts for nothing."""
    counts = {1: {"a": 95, "b": 4}, 2: {"a": 95, "b": 5}, 3: {"a": 60, "b": 56, "c": 4}}
    cells = [(job, region) for region, found in counts.items() for job, count in found.items() for _ in range(count)]
    jobs, regions = zip(*cells, *[(None, 1)] * 9, strict=True)
    rows = numbered(session, pa.table({"job": jobs, "region": regions}), k=5)
    fields = {"within": ("region",), "matrix": "publish"}
    small = (
        '"job" has fewer than 100 rows in 1 of its strata, whose values a published matrix would show: set matrix = '
        '"keep", or name fewer columns in within'
    )
    rare = (
        '"job" has 2 values of fewer than 5 rows, whose exact shares a published matrix would have: set matrix = '
        '"keep" or form = "plain", or name fewer columns in within'
    )
    assert problems_of(session, rows, **fields) == [small, rare]
    assert problems_of(session, rows, **fields, form="plain") == [small]
    without_k = numbered(session, pa.table({"job": jobs, "region": regions}))
    assert problems_of(session, without_k, **fields) == [small, rare]
    assert len(problems_of(session, rows, matrix="publish")) == 1  # the value of 4 rows in all
    nothing = numbered(session, pa.table({"job": pa.array([None] * 3, pa.string())}))
    assert problems_of(session, nothing, matrix="publish") == []


@pytest.mark.parametrize("form", FORMS)
def test_figures_are_those_of_the_matrix(session: sa.Session, form: Any) -> None:
    """The published matrix, and what the custodian learns, with one more stratum that is NULL."""
    jobs = ["a"] * 130 + ["b"] * 40 + ["c"] * 30 + [None] * 9 + ["b"] * 100 + ["c"] * 60 + ["a"] * 7 + ["c"] * 150
    regions = [1] * 209 + [2] * 160 + [None] * 157
    rows = numbered(session, pa.table({"job": jobs, "region": pa.array(regions, pa.int64())}))
    pram = sa.Pram(form=form, change=0.35, within=("region",), matrix="publish", least_stay=0)
    strata: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    for job, region in zip(jobs, regions, strict=True):
        if job is not None:
            strata[region][job] += 1
    with engine_of(session).scratch():
        change = RandomizedValues(engine_of(session), rows, "job", pram, 0)
        change.make(sa.SeededSource(1))
        ((name, query),) = change.beside().items()
        published = session.connection.execute(query.sql("duckdb")).fetchall()
        (said, *more) = change.remarks()
    assert name == "pram_job"
    matrices = {region: matrix_of(counts, pram) for region, counts in strata.items()}
    assert {(region, value, shown): chance for region, value, shown, chance in published} == pytest.approx(
        {(region, v, w): p for region, found in matrices.items() for v, row in found.items() for w, p in row.items()}
    )
    stays = {(region, v): found[v][v] for region, found in matrices.items() for v in found}
    mean = sum(strata[region][v] * chance for (region, v), chance in stays.items()) / 517
    true = max(
        strata[region][w] * found[w][w] / sum(strata[region][v] * found[v][w] for v in found)
        for region, found in matrices.items()
        for w in found
    )
    assert said == (
        f'"job": values stayed with a probability of {mean:.3g} on average and {min(stays.values()):.3g} at least; a '
        f"shown value is the true one with a probability of at most {math.ceil(100 * true) / 100:.2f}, for whoever "
        "knows the shares of its stratum"
    )
    odds = 0.65 / 0.35
    assert more == (
        [f'"job": local differential privacy has ε = {math.log(2 * odds):.4g} for the 2 to 3 values']
        if form == "plain"
        else []
    )
