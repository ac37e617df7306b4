"""Verification of perturbed values beside the source: what draws and groups cannot have given is found."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests.effort import examples
from tests.perturbed_tables import policy_of, released_in
from tests.property.test_perturbation_microaggregation import HOSTILE, tables

EXAMPLES = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
QUOTED = HOSTILE.replace('"', '""')
COLUMNS = {"region": "VARCHAR", "kind": "INTEGER", HOSTILE: "DOUBLE"}


def shortfalls(session: sa.Session, policy: Any) -> list[str]:
    try:
        return [*session.verify("made", policy, source="given").shortfalls]
    except sa.VerificationError as error:
        return [*error.problems]


@EXAMPLES
@given(
    tables(),
    st.sampled_from(["mean", "median"]),
    st.sampled_from(["DOUBLE", "FLOAT", "INTEGER", "DECIMAL(18, 2)"]),
    st.sampled_from([[], ["kind"], ["region", "kind"]]),
)
def test_the_groups_of_means_are_found(given_rows: Any, value: str, kind: str, within: list[str]) -> None:
    """Those of a run are there, and a number that is a bit off, or is in the place of another, is seen."""
    (rows, k), columns = given_rows, {**COLUMNS, HOSTILE: kind}
    policy = policy_of(columns, {HOSTILE: {"kind": "microaggregation", "k": k, "value": value, "within": within}})
    with sa.connect(threads=1) as session:
        try:
            released_in(session, columns, rows, policy["perturbation"])
        except sa.PolicyError as error:
            assert "has one value in all rows" in str(error)
            return
        assert shortfalls(session, policy) == []
        off = f'"{QUOTED}" + greatest(1, abs("{QUOTED}") * 1e-5)'
        session.connection.execute(
            f'UPDATE made SET "{QUOTED}" = {off} WHERE place = (SELECT min(place) FROM made'
            f' WHERE "{QUOTED}" IS NOT NULL)'
        )
        assert any(f'rows have a {value} of "{QUOTED}" that no group' in each for each in shortfalls(session, policy))


def test_means_of_strata_that_are_not_shown_are_within_the_column() -> None:
    rows = [(place % 2, float(place)) for place in range(20)]
    columns = {"half": "INTEGER", "x": "DOUBLE"}
    asked = {"x": {"kind": "microaggregation", "within": ["half"], "again": True}}
    hidden = policy_of({"x": "DOUBLE"}, asked, identifiers=["half"], insensitive=["place", "x"])
    with sa.connect(threads=1) as session:
        released_in(session, columns, rows, asked)
        session.anonymize("given", hidden, "made", replace=True, listed=False)
        assert shortfalls(session, hidden) == []
        session.connection.execute("UPDATE made SET x = 19.5 WHERE place = 4")
        assert '1 rows have a mean of "x" that no group of the source has' in shortfalls(session, hidden)


@pytest.mark.parametrize("kind", ["microaggregation", "swap", "pram"])
def test_rows_that_are_left_out_took_part(kind: str) -> None:
    """Rows with unknown values are no rows of the source for other columns, but perturbed values may be theirs."""
    policy = sa.Policy(
        quasi_identifiers=["age"],
        insensitive=["x"],
        privacy=[sa.KAnonymity(2)],
        taxonomies={"age": sa.Taxonomy.from_rows([["0", "*"], ["1", "*"]])},
        unknown={"age": "suppress"},
        suppression_limit=0.5,
        perturbation={"x": {"kind": kind}},
    )
    with sa.connect(threads=1) as session:
        session.connection.execute(
            "CREATE TABLE given AS SELECT CASE WHEN i % 3 = 0 THEN '?' ELSE CAST(i % 2 AS VARCHAR) END AS age,"
            " i * i AS x FROM range(60) _ (i)"
        )
        session.anonymize("given", policy, "made", random_source=sa.SeededSource(1), listed=False)
        assert session.connection.execute("SELECT count(*) FROM made").fetchall() == [(40,)]
        assert shortfalls(session, policy) == []
        session.connection.execute("UPDATE made SET x = 3600 WHERE x = (SELECT max(x) FROM made)")
        assert [each for each in shortfalls(session, policy) if '"x"' in each]


def test_weighted_means_are_within_their_groups() -> None:
    rows = [(float(place**2), place % 4 + 1) for place in range(24)]
    columns, asked = {"x": "DOUBLE", "w": "INTEGER"}, {"x": {"kind": "microaggregation", "again": True}}
    weighted = policy_of(columns, asked, row_weight="w")
    with sa.connect(threads=1) as session:
        released_in(session, columns, rows, asked)
        session.anonymize("given", weighted, "made", replace=True, listed=False)
        assert shortfalls(session, weighted) == []
        session.connection.execute("UPDATE made SET x = 0 WHERE x = (SELECT min(x) FROM made)")
        assert [each for each in shortfalls(session, weighted) if '"x"' in each] == []
        session.connection.execute("UPDATE made SET x = 6 WHERE x = 0")
        assert '3 rows have a mean of "x" that no group of the source has' in shortfalls(session, weighted)
