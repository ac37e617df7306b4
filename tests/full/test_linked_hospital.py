"""The hospital has the counts of spec/linked.md, section 10, on each machine and version of DuckDB."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.binding.linked import bound_linked
from sqlanon.methods.linked.encoded import encode_linked
from sqlanon.methods.linked.node_counts import choose_linked_node
from sqlanon.methods.linked.trees import TreeCounter
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.queries.kit.macros import install_script
from tests.benchmarks.linked import MEASURES, RECODED
from tests.engines import engine_of
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


def test_the_best_node_of_whole_trees(tmp_path: Path) -> None:
    """Fact H1."""
    database = str(tmp_path / "hospital.duckdb")
    with duckdb.connect(database) as connection:
        make_hospital(connection, 100_000)
    policy = LinkedPolicy(**hospital_policy(privacy=[{"model": "k-anonymity", "k": 5}]))
    with sa.connect(database) as session:
        engine = engine_of(session)
        sources = {name: engine.resolve(name) for name in policy.tables}
        with bound_linked(engine, sources, policy) as bound, engine.scratch():
            encoded = encode_linked(engine, bound)
            counter = TreeCounter(engine, encoded)
            outcome = choose_linked_node(encoded, counter, lambda *_: None, lambda: False)
            assert outcome.best is not None
            [counts] = counter.counts([outcome.best.levels], with_losses=False)
    assert outcome.best.levels == (3, 0, 2, 0, 4, 2, 1, 3, 2)
    assert outcome.loss == pytest.approx(0.6189, abs=5e-5)
    assert outcome.proven_optimal
    assert counts.tables["patients"].left_out == 3_703
    assert outcome.checked_nodes < 170


def test_the_policy_has_the_columns_of_the_spec() -> None:
    policy = LinkedPolicy(**hospital_policy(5, limits={"patients": 0.01, "visits": 0.2}))
    assert policy.all_roles.quasi_identifiers == (
        *(f"patients.{name}" for name in ("born", "sex", "zip", "insurance")),
        *(f"visits.{name}" for name in ("day", "department", "kind", "stay", "site")),
    )
    assert (policy.limit("patients"), policy.limit("visits"), policy.k) == (0.01, 0.2, 5)
