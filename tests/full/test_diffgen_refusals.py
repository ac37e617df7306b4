"""Sources, taxonomies and requests that DiffGen refuses, and numbers, names and rows at the edges."""

import math
from bisect import bisect_right
from collections import Counter
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.methods.cut_methods import Range
from tests.fixed_noise import FixedNoise
from tests.stories.test_diffgen_release import ILLNESSES, make_warehouse, policy  # noqa: F401 - for the fixture

HOSTILE = '"a""b"; drop table x --'


REPLACED = "SELECT * REPLACE ({}) FROM patients"
SOURCES: list[tuple[str, dict[str, Any], type[Exception], list[str]]] = [
    (REPLACED.format("CAST(age AS VARCHAR) AS age"), {}, sa.PolicyError, ['"age" is VARCHAR']),
    (REPLACED.format("'flu' AS illnesses"), {}, sa.PolicyError, ["not a list of items"]),
    ("FROM patients", {"sets": []}, sa.PolicyError, ["name it in sets"]),
    (
        REPLACED.format("CASE age WHEN 27 THEN 'spy' ELSE job END AS job, ['?'] AS illnesses"),
        {},
        sa.TaxonomyError,
        ['"job": ', '"illnesses": 1 distinct value in 400 rows'],
    ),
    (REPLACED.format("age + 60 AS age"), {"outside": "refuse"}, sa.PolicyError, ['"age": ']),
    (REPLACED.format("'maybe' AS class"), {}, sa.TaxonomyError, ['"class": 1 distinct value in 400 rows']),
]


def test_sources_and_requests_that_do_not_fit(session: sa.Session) -> None:
    session.anonymize("patients", policy(), into="released", random_source=FixedNoise(0))
    before = session.connection.execute("FROM released").fetchall()
    for source, options, error, words in SOURCES:
        session.connection.execute(f"CREATE OR REPLACE VIEW viewed AS {source}")
        with pytest.raises(error) as refused:
            session.anonymize("viewed", policy(**options), into="released", dataset="patients", replace=True)
        assert all(word in str(refused.value) for word in words), source
        assert "spy" not in str(refused.value)
    for given in ({"node": {"age": 1}}, {"time_limit": 5.0}):
        with pytest.raises(sa.PolicyError):
            session.anonymize("patients", policy(), into="released", replace=True, **given)  # type: ignore[arg-type]
    assert session.connection.execute("FROM released").fetchall() == before
    assert session.ledger.spent("patients") == sa.Budget(0)


def test_taxonomies_that_do_not_fit(session: sa.Session) -> None:
    session.taxonomies.load("class", sa.Taxonomy.flat(["yes"]))
    wide = [(f"i{place}", "*") for place in range(12)] + [(row[0], "*") for row in ILLNESSES]
    session.taxonomies.load("illnesses", sa.Taxonomy.from_rows(wide))
    session.connection.execute("UPDATE patients SET class = 'yes'")
    with pytest.raises(sa.PolicyError, match=r"(?s)17 children, more than 12.*1 class"):
        session.anonymize("patients", policy(), into="released")
    session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'job'")
    with pytest.raises(sa.TaxonomyError, match='"job"'):
        session.anonymize("patients", policy(), into="released")
    assert session.ledger.spent("patients") == sa.Budget(0)


def test_values_that_were_read_off_the_data(session: sa.Session) -> None:
    session.taxonomies.load("job", sa.Taxonomy.flat(), source="patients")
    with pytest.raises(sa.TaxonomyError, match="read off the data"):
        session.anonymize("patients", policy(), into="released")
    release = session.anonymize("patients", policy(accept_observed_domain=True), into="released")
    assert any('"job"' in condition for condition in release.guarantee.conditions)


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows(session: sa.Session, rows: int) -> None:
    session.connection.execute(f"CREATE TABLE few AS FROM patients LIMIT {rows}")
    release = session.anonymize("few", policy(), into="released")
    assert release.report.released_groups >= 0
    assert session.connection.execute("SELECT count(*) FROM released").fetchone() is not None


def test_more_specializations_than_candidates(session: sa.Session) -> None:
    release = session.anonymize(
        "patients",
        policy(specializations=1000, numeric={}, sets=[]).model_copy(
            update={"quasi_identifiers": ("job",), "identifiers": ("person", "age", "illnesses")}
        ),
        into="released",
        dataset="patients",
    )
    assert release.report.specialized == ("job", "job", "job")
    assert release.report.labels == {"job": 4}
    assert sum(each.budget.epsilon for each in release.report.spent) == 1


def test_hostile_names(session: sa.Session) -> None:
    """And classes that are no texts."""
    connection = session.connection
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    connection.execute(
        f'CREATE TABLE {quoted} AS SELECT age AS {quoted}, job, class = \'yes\' AS "Class ""x" FROM patients'
    )
    session.taxonomies.load('Class "x', sa.Taxonomy.flat(["true", "false"]))
    wanted = sa.Policy(
        quasi_identifiers=[HOSTILE, "job"],
        sensitive=['Class "x'],
        method=sa.DiffGen(specializations=3, numeric={HOSTILE: (15, 95)}),
    )
    session.anonymize(quoted, wanted, into="released", random_source=FixedNoise(0))
    described = [row[:2] for row in connection.execute("DESCRIBE released").fetchall()]
    assert [name for name, _ in described] == [HOSTILE, "job", 'Class "x', "count"]
    assert described[2] == ('Class "x', "BOOLEAN")


@pytest.mark.parametrize(("low", "high", "step"), [("-0.3", "0.6", "0.03"), ("0", "21", "7")])
def test_numbers_lie_in_the_intervals_that_are_told(session: sa.Session, low: str, high: str, step: str) -> None:
    """Also those at the ends of steps, and the next ones to them, which a quotient of floats can take for others."""
    given = Range(low=low, high=high, step=step)
    ends = [float(given.at(place)) for place in range(given.size + 1)]
    values = {near for end in ends for near in (end, math.nextafter(end, -math.inf), math.nextafter(end, math.inf))}
    session.connection.execute("CREATE TABLE measured (weight DOUBLE, class VARCHAR)")
    session.connection.executemany("INSERT INTO measured VALUES (?, 'yes')", [[value] for value in values])
    method = sa.DiffGen(specializations=500, numeric={"weight": given}, threshold=0)
    wanted = sa.Policy(quasi_identifiers=["weight"], sensitive=["class"], method=method)
    session.anonymize("measured", wanted, into="released", random_source=FixedNoise(0))
    found = dict(session.connection.execute("SELECT weight, count FROM released").fetchall())
    inside = [min(max(bisect_right(ends, value) - 1, 0), given.size - 1) for value in values]
    assert found == Counter(f"[{given.at(place)}, {given.at(place + 1)})" for place in inside)
