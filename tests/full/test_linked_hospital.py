"""The hospital has the counts of spec/linked.md, section 10, on each machine and version of DuckDB."""

from collections.abc import Iterator

import duckdb
import pytest

from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.queries.kit.macros import install_script
from tests.benchmarks.linked import MEASURES, RECODED
from tests.linked_hospital import hospital_policy, make_hospital


@pytest.fixture(scope="module")
def hospital() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(install_script())
        make_hospital(connection, 100_000)
        connection.execute(RECODED)
        yield connection


def test_visits_and_persons_with_visits(hospital: duckdb.DuckDBPyConnection) -> None:
    [found] = hospital.execute(
        "SELECT count(*), count(DISTINCT patient_id), CAST(min(day) AS VARCHAR), CAST(max(day) AS VARCHAR) FROM visits"
    ).fetchall()
    assert found == (479_690, 83_073, "2024-01-01", "2025-12-31")
    assert hospital.execute("SELECT count(*) - count(COLUMNS(*)) FROM visits").fetchall() == [(0,) * 7]


def test_rows_that_go_at_the_best_node_for_one_known_row(hospital: duckdb.DuckDBPyConnection) -> None:
    """Fact H2."""
    assert hospital.execute(MEASURES["rows left out"]).fetchall() == [(3, 34_719)]


def test_the_policy_has_the_columns_of_the_spec() -> None:
    policy = LinkedPolicy(**hospital_policy(5, limits={"patients": 0.01, "visits": 0.2}))
    assert policy.quasi_identifiers == (
        *(f"patients.{name}" for name in ("born", "sex", "zip", "insurance")),
        *(f"visits.{name}" for name in ("day", "department", "kind", "stay", "site")),
    )
    assert (policy.limit("patients"), policy.limit("visits"), policy.k) == (0.01, 0.2, 5)
