"""Releases with columns changed by PRAM: transitions, estimates of the counts, and what a run publishes and refuses."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.methods.perturbation.change import NumberedRows
from sqlanon.methods.perturbation.pram import RandomizedValues
from tests.effort import examples
from tests.engines import engine_of
from tests.property.test_perturbation_pram import FORMS, HOSTILE, QUOTED, drawn, matrix_of, numbered, people_of

COUNTS = {"artist": 16, "baker": 34, "clerk": 814, "diver": 19, "engineer": 3697}


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as session:
        yield session


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


@pytest.mark.parametrize("form", FORMS)
def test_counts_are_recovered_without_bias(session: sa.Session, form: Any) -> None:
    """400 draws at full effort, by the matrix that a run publishes; one of another change is seen to be wrong.

    The estimate of all draws together is the sum of their estimates.
    """
    session.install()
    engine, connection = engine_of(session), session.connection
    rows, pram = numbered(session, people_of(COUNTS)), sa.Pram(form=form, change=0.2, matrix="publish", least_stay=0)
    other = sa.Pram(form="plain", change=0.25, matrix="publish")
    draws = examples(400)
    connection.execute("CREATE OR REPLACE TEMP TABLE shown AS SELECT NULL::VARCHAR AS job LIMIT 0")
    for seed in range(draws):
        with engine.scratch():
            change = RandomizedValues(engine, rows, "job", pram, 0)
            change.make(sa.SeededSource(seed))
            connection.execute(f"INSERT INTO shown SELECT job FROM {change.made.table.sql('duckdb')}")
            if seed == 0:
                for name, each in {"matrix": change, "untrue": RandomizedValues(engine, rows, "job", other, 1)}.items():
                    (query,) = each.beside().values()
                    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query.sql('duckdb')}")
    away = {}
    for name in ("matrix", "untrue"):
        found = connection.execute(f"FROM anon.pram_estimate('shown', 'job', '{name}') ORDER BY value").fetchnumpy()
        bias = found["estimated_count"] - draws * np.array([*COUNTS.values()])
        away[name] = np.abs(bias / found["standard_error"]).max()
    assert away["matrix"] < 4 < 8 < away["untrue"]


# Runs


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


def test_a_matrix_stays_and_is_named_when_its_release_is_replaced(session: sa.Session, people: str) -> None:
    """A run drops no table that it was not given: the user may have changed it, or read it as the source."""
    without = policy({"form": "plain", "again": True})
    given, run = policy({"form": "plain", "again": True, "matrix": "publish"}), session.connection.execute

    def notes(asked: dict[str, Any], into: str, matrix: str | None = None) -> list[str]:
        tables = None if matrix is None else {f"pram_{HOSTILE}": matrix}
        release = session.anonymize(people, asked, into, tables=tables, replace=True, listed=False)
        return [each.partition(" is of the release")[0] for each in release.report.notes if "was replaced" in each]

    assert notes(given, "stays", "m 1") == []
    assert notes(given, "stays", "main.M 1") == []
    assert notes(given, "main.stays", "m2") == ['the table "m 1"']
    assert notes(without, "stays") == ['the table "m2"']
    assert notes(without, "stays") == []
    assert notes(given, "stays", "m2") == []
    run("CREATE OR REPLACE TABLE m2 AS SELECT 1 AS own")
    assert notes(without, "stays") == []
    assert run('SELECT (SELECT count(*) > 0 FROM "m 1"), own FROM m2').fetchall() == [(True, 1)]


def test_runs_say_what_they_refuse(session: sa.Session, people: str) -> None:
    def refused(pram: dict[str, Any], *, tables: dict[str, str] | None = None, **fields: Any) -> str:
        with pytest.raises(sa.PolicyError) as error:
            session.anonymize(people, policy(pram, **fields), "refused", tables=tables, listed=False)
        return str(error.value)

    assert f'"pram_{QUOTED}" is published as well: name its table' in refused({"matrix": "publish"})
    assert f'"pram_{QUOTED}" is not published beside the rows' in refused({}, tables={f"pram_{HOSTILE}": "matrix"})
    assert "an identifier, whose values the published matrix would show" in refused(
        {"matrix": "publish", "within": ["id"]}
    )
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
    session.connection.execute("DROP TABLE IF EXISTS few_out")
    ranges = {"age": {"kind": "intervals", "widths": [1], "minimum": 0, "maximum": 9}}
    with pytest.raises(sa.SqlanonError) as error:
        session.anonymize("few", policy({}, taxonomies=ranges), "few_out", listed=False, replace=True)
    assert "row" in str(error.value)
