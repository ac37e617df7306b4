"""PRAM: row by row against a naive twin, transitions against the matrix, and estimates from what is published."""

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
COUNTS = {"artist": 16, "baker": 34, "clerk": 814, "diver": 19, "engineer": 3697}
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
        made = RandomizedValues(engine, rows, name, pram, 0).make(source)
        query = select([column(name)], made.table.copy()).order_by(column("anon_row")).sql("duckdb")
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
    assert ["a single value" in problem for problem in problems] == [True] * (single > 0)
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
        made = RandomizedValues(engine, rows, "job", sa.Pram(change=0.6), 0).make(sa.SeededSource(1))
        compared = connection.sql(
            f"SELECT typeof(m.job) = typeof(p.job), p.job IS NULL = (m.job IS NULL), CAST(m.job AS VARCHAR) "
            f"FROM {made.table.sql('duckdb')} AS m JOIN temp.main.pram_people AS p USING (anon_row)"
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


# Transitions


def people_of(counts: dict[str, int], regions: int = 1) -> pa.Table:
    jobs = [job for job, count in counts.items() for _ in range(count)]
    return pa.table({"job": jobs, "region": [place % regions for place in range(len(jobs))]})


def chi_square_of(
    session: sa.Session, rows: NumberedRows, jobs: list[str], regions: list[int], pram: sa.Pram, seeds: int
) -> tuple[float, int]:
    """The distance of drawn transitions from those of the matrix, and its degrees of freedom."""
    strata: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for job, region in zip(jobs, regions, strict=True):
        strata[region][job] += 1
    found: Counter[tuple[int, str, str]] = Counter()
    for seed in range(seeds):
        found.update(zip(regions, jobs, drawn(session, rows, pram, sa.SeededSource(seed)), strict=True))
    distance, freedom = 0.0, 0
    for region, counts in strata.items():
        for job, chances in matrix_of(counts, pram).items():
            expected = {shown: seeds * counts[job] * chance for shown, chance in chances.items()}
            assert min(expected.values()) > 1
            distance += sum((found[region, job, shown] - hope) ** 2 / hope for shown, hope in expected.items())
            freedom += len(expected) - 1
    assert found.total() == seeds * len(jobs)
    return distance, freedom


@pytest.mark.parametrize("form", FORMS)
def test_transitions_are_those_of_the_matrix(session: sa.Session, form: Any) -> None:
    """Over 200 seeds at full effort; beside a matrix of another change the distance is far too large."""
    counts = {"a": 200, "b": 90, "c": 30}
    table = people_of(counts, 2)
    rows, jobs, regions = numbered(session, table), table["job"].to_pylist(), table["region"].to_pylist()
    pram = sa.Pram(form=form, change=0.3, within=("region",))
    distance, freedom = chi_square_of(session, rows, jobs, regions, pram, examples(200))
    assert distance < freedom + 4 * math.sqrt(2 * freedom) + 4


def test_a_wrong_matrix_is_seen_in_the_transitions(session: sa.Session) -> None:
    table = people_of({"a": 200, "b": 90, "c": 30}, 1)
    rows, jobs = numbered(session, table), table["job"].to_pylist()
    right, wrong = Counter[tuple[str, str]](), matrix_of(Counter(jobs), sa.Pram(change=0.5))
    for seed in range(examples(200)):
        right.update(zip(jobs, drawn(session, rows, sa.Pram(change=0.3), sa.SeededSource(seed)), strict=True))
    hoped = {(v, w): examples(200) * Counter(jobs)[v] * chance for v, row in wrong.items() for w, chance in row.items()}
    assert sum((right[pair] - hope) ** 2 / hope for pair, hope in hoped.items()) > 200


def estimates(session: sa.Session, release: str, matrix: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    query = (
        f"SELECT estimated_count, standard_error FROM anon.pram_estimate('{release}', 'job', '{matrix}') ORDER BY value"
    )
    counts, errors = np.array(session.connection.execute(query).fetchall()).T
    return counts, errors


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_recovered_without_bias(session: sa.Session, form: Any) -> None:
    """400 draws at full effort, by the matrix that a run publishes; one of another change is seen to be wrong."""
    session.install()
    engine, connection = engine_of(session), session.connection
    rows, pram = numbered(session, people_of(COUNTS)), sa.Pram(form=form, change=0.2, matrix="publish", least_stay=0)
    other = sa.Pram(form="plain", change=0.25, matrix="publish")
    found, errors, wrong = [], [], []
    for seed in range(examples(400)):
        with engine.scratch():
            change = RandomizedValues(engine, rows, "job", pram, 0)
            shown = change.make(sa.SeededSource(seed)).table.sql("duckdb")
            connection.execute(f"CREATE OR REPLACE TEMP TABLE shown AS FROM {shown}")
            (name, matrix), *_ = change.beside().items()
            connection.execute(f"CREATE OR REPLACE TEMP TABLE matrix AS {matrix.sql('duckdb')}")
            (_, untrue), *_ = RandomizedValues(engine, rows, "job", other, 1).beside().items()
            connection.execute(f"CREATE OR REPLACE TEMP TABLE untrue AS {untrue.sql('duckdb')}")
        counts, error = estimates(session, "shown", "matrix")
        found.append(counts)
        errors.append(error)
        wrong.append(estimates(session, "shown", "untrue")[0])
    assert name == "pram_job"
    spread = np.sqrt(np.mean(np.square(errors), axis=0) / len(found))
    truth = np.array([*COUNTS.values()])
    assert np.abs((np.mean(found, axis=0) - truth) / spread).max() < 4
    assert np.abs((np.mean(wrong, axis=0) - truth) / spread).max() > 8


# What is said and refused


def problems_of(session: sa.Session, rows: NumberedRows, **fields: Any) -> list[str]:
    engine = engine_of(session)
    with engine.scratch():
        return [*RandomizedValues(engine, rows, "job", sa.Pram(**fields), 0).problems()]


def test_strata_of_one_value_are_counted(session: sa.Session) -> None:
    table = pa.table({"job": ["a", "b", "a", "a", "b", None], "region": [1, 1, 2, 2, 3, 4]})
    rows = numbered(session, table)
    assert problems_of(session, rows) == []
    assert problems_of(session, rows, within=["region"]) == [
        "a single value in 2 of its strata, which cannot become another: name fewer columns in within"
    ]
    assert problems_of(session, numbered(session, pa.table({"job": ["a", "a", None]}))) == [
        "a single value in the column, which cannot become another: do not perturb it"
    ]


def test_many_values_are_refused(session: sa.Session) -> None:
    for count in (1000, 1001):
        (*found,) = problems_of(session, numbered(session, pa.table({"job": pa.array([*range(count)])})))
        assert found == (
            []
            if count == 1000
            else ['more than 1,000 values in the column: publish groups of values, or take kind = "swap"']
        )
    table = pa.table(
        {"job": pa.array([*range(900)] * 13), "region": pa.array([place // 900 for place in range(11700)])}
    )
    assert problems_of(session, numbered(session, table), within=["region"]) == [
        "the matrices of 13 strata have 10,530,000 probabilities, more than 10,000,000: name fewer columns in within"
    ]


def test_a_low_chance_to_stay_is_refused(session: sa.Session) -> None:
    """A value of 5 % is kept by the first draw with 0.8, and stays with 0.2 * 0.01 / 0.77 + 0.8 * 0.04 / 0.23."""
    rows = numbered(session, people_of({"often": 95, "rare": 5}))
    (found,) = problems_of(session, rows, form="two-step", change=0.2, alpha=1)
    assert found.startswith("1 value would stay with a probability below least_stay = 0.5, the least with 0.142")
    assert problems_of(session, rows, form="two-step", change=0.2, alpha=1, least_stay=0.14) == []
    assert problems_of(session, rows, form="invariant", change=0.2, least_stay=1) == []


def test_matrices_with_the_shares_of_few_rows_are_not_published(session: sa.Session) -> None:
    table = pa.table({"job": ["a"] * 95 + ["b"] * 4 + ["a"] * 60 + ["b"] * 60, "region": [1] * 99 + [2] * 120})
    rows, fields = numbered(session, table, k=5), {"within": ["region"], "matrix": "publish"}
    advice = (
        ', and the matrix to be published has their exact shares: set matrix = "keep" or form = "plain", or name fewer '
        "columns in within"
    )
    assert problems_of(session, rows, **fields) == [
        f"fewer than 100 rows in 1 of its strata{advice}",
        f"fewer than k = 5 rows with each of 1 values{advice}",
    ]
    assert problems_of(session, rows, **fields, form="plain") == []
    assert problems_of(session, rows, matrix="publish") == []


def policy(pram: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "quasi_identifiers": ["age"],
        "identifiers": ["id"],
        "sensitive": [HOSTILE],
        "insensitive": ["region"],
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "taxonomies": {"age": {"kind": "flat"}},
        "perturbation": {HOSTILE: {"kind": "pram", **pram}},
        **fields,
    }


@pytest.fixture
def people(session: sa.Session) -> str:
    query = (
        "CREATE OR REPLACE TABLE people AS SELECT i AS id, i % 3 AS age, i % 2 AS region, "
        "CASE WHEN i % 10 > 0 THEN ['a', 'b', 'c'][1 + (i * i) % 7 % 3] END AS "
    )
    session.connection.execute(f'{query} "{QUOTED}" FROM range(600) AS people (i)')
    return "people"


def test_a_run_publishes_what_lets_one_estimate(session: sa.Session, people: str) -> None:
    session.install()
    given = policy({"form": "plain", "change": 0.3, "matrix": "publish", "within": ["region"]})
    for table in ("out", "matrix"):
        session.connection.execute(f"DROP TABLE IF EXISTS {table}")
    made = session.anonymize(people, given, "out", tables={f"pram_{HOSTILE}": "matrix"}, listed=False)
    assert made.tables == {f"pram_{HOSTILE}": "matrix"}
    found = session.connection.execute("SELECT * FROM matrix ORDER BY ALL").fetchall()
    assert len(found) == 18
    assert {(region, value == shown): round(chance, 9) for region, value, shown, chance in found} == {
        (region, same): 0.7 if same else 0.15 for region in (0, 1) for same in (True, False)
    }
    (perturbed,) = made.report.perturbed
    assert perturbed.rows == 540
    assert any("ε = 1.54 for the 3 values" in remark for remark in perturbed.remarks)
    assert any("0.7 on average and 0.7 at least" in remark for remark in perturbed.remarks)
    assert session.verify("out", given, source=people).shortfalls == ()
    one = session.connection.execute(
        "WITH m AS (SELECT * FROM matrix WHERE region = 1), r AS (SELECT * FROM out WHERE region = 1) "
        f"SELECT sum(estimated_count), sum(shown_count) FROM anon.pram_estimate('r', '{HOSTILE}', 'm')"
    ).fetchone()
    assert one is not None
    assert one[0] == pytest.approx(one[1])
    session.connection.execute("UPDATE matrix SET probability = 0.5")
    with pytest.raises(sa.VerificationError, match="its rows are not those written"):
        session.verify("out", given)


def test_runs_say_what_they_refuse(session: sa.Session, people: str) -> None:
    def refused(pram: dict[str, Any], *, tables: dict[str, str] | None = None, **fields: Any) -> str:
        with pytest.raises(sa.PolicyError) as error:
            session.anonymize(people, policy(pram, **fields), "refused", tables=tables, listed=False)
        return str(error.value)

    assert "is published as well: name its table" in refused({"matrix": "publish"})
    assert "is not published beside the rows" in refused({}, tables={f"pram_{HOSTILE}": "matrix"})
    assert "an identifier, which the published matrix would show" in refused({"matrix": "publish", "within": ["id"]})
    renamed = session.connection.execute("CREATE OR REPLACE TABLE renamed AS SELECT *, 1 AS Shown_Value FROM people")
    assert renamed is not None
    with pytest.raises(sa.PolicyError, match="has its own column of this name"):
        given = policy({"matrix": "publish", "within": ["Shown_Value"]}, insensitive=["region", "Shown_Value"])
        session.anonymize("renamed", given, "refused", listed=False)
    assert "600 of its strata" not in refused({"within": ["id"]})
    assert "540 of its strata" in refused({"within": ["id"]})


@pytest.mark.parametrize("form", FORMS)
def test_columns_without_values_stay(session: sa.Session, people: str, form: str) -> None:
    query = f"CREATE OR REPLACE TABLE few AS SELECT * FROM {people} WHERE id % 10 = 0"
    session.connection.execute(query)
    session.connection.execute("DROP TABLE IF EXISTS few_out")
    (perturbed,) = session.anonymize("few", policy({"form": form}), "few_out", listed=False).report.perturbed
    assert (perturbed.rows, perturbed.changed, perturbed.remarks) == (0, 0, ())
    assert session.connection.execute(f'SELECT count("{QUOTED}"), count(*) FROM few_out').fetchall() == [(0, 60)]


def test_tables_without_rows_are_refused(session: sa.Session, people: str) -> None:
    session.connection.execute(f"CREATE OR REPLACE TABLE few AS SELECT * FROM {people} WHERE FALSE")
    ranges = {"age": {"kind": "intervals", "widths": [1], "minimum": 0, "maximum": 9}}
    with pytest.raises(sa.SqlanonError) as error:
        session.anonymize("few", policy({}, taxonomies=ranges), "few_out", listed=False, replace=True)
    assert "row" in str(error.value)
