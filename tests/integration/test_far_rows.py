"""Rows that are not in the database: the same releases and reports, and nothing but counts comes near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pytest

import sqlanon as sa
from sqlanon.api.session import Session
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.engines.duckdb.engine import DuckDBEngine
from tests.conftest import clinic_policy, open_clinic
from tests.exercises.test_a_second_engine import Ready
from tests.far_rows import FarRows
from tests.fixed_noise import FixedNoise

BUDGET = sa.Budget(9, "0.1")
NODE = {"age": 2, "sex": 1, "zip": 2}
IDENTIFIERS = ["id", "patient", "nights"]
POLICIES = {
    "k": clinic_policy(sa.KAnonymity(2), suppression_limit=0.3, identifiers=IDENTIFIERS),
    "k and l": clinic_policy(
        sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2), suppression_limit=0.3, identifiers=IDENTIFIERS
    ),
    "kept columns": clinic_policy(
        sa.KAnonymity(2), suppression_limit=0.3, identifiers=["id"], insensitive=["patient", "nights"]
    ),
    "t-closeness": clinic_policy(
        sa.KAnonymity(2), sa.TCloseness("diagnosis", 0.4), suppression_limit=0.3, identifiers=IDENTIFIERS
    ),
    "hierarchical t-closeness": clinic_policy(
        sa.KAnonymity(2),
        sa.TCloseness("diagnosis", 0.4, "hierarchical"),
        suppression_limit=0.3,
        identifiers=IDENTIFIERS,
    ),
    "masks": clinic_policy(sa.KAnonymity(3), suppression_limit=0.3, suppression="mask", identifiers=IDENTIFIERS),
    "weights": clinic_policy(sa.KAnonymity(2), suppression_limit=0.3, row_weight="nights", identifiers=IDENTIFIERS),
    "individuals": clinic_policy(
        sa.KAnonymity(2), suppression_limit=0.3, individual="patient", identifiers=IDENTIFIERS
    ),
    "relocation": clinic_policy(method=sa.Relocation(2, limit=0.5), identifiers=IDENTIFIERS),
    "histogram": clinic_policy(
        method=sa.Histogram(budget=BUDGET, node=NODE, accept_observed_domain=True), identifiers=IDENTIFIERS
    ),
    "ipa": clinic_policy(method=sa.IPA(budget=BUDGET, accept_observed_domain=True), identifiers=IDENTIFIERS),
}


@dataclass(frozen=True)
class Sides:
    """A session whose rows are in its database as ``visits``, and are elsewhere as ``far.visits``."""

    session: sa.Session
    connection: duckdb.DuckDBPyConnection
    far: FarRows

    def releases(self, policy: sa.Policy) -> tuple[sa.Release, sa.Release]:
        """The releases of both, as ``released`` and ``far.released``."""
        near, far = (
            self.session.anonymize(
                f"{place}visits",
                policy,
                f"{place}released",
                random_source=FixedNoise(1) if policy.has_private_method else None,
            )
            for place in ("", "far.")
        )
        return near, far


@pytest.fixture
def sides() -> Iterator[Sides]:
    far = FarRows()
    with duckdb.connect(config={"threads": 1}) as connection, far.connection:
        open_clinic(connection)
        connection.execute("ALTER TABLE visits ADD patient INTEGER; ALTER TABLE visits ADD nights INTEGER")
        connection.execute("UPDATE visits SET patient = id // 2, nights = 1 + id % 3")
        rows = [["asthma", "lung", "*"], ["flu", "lung", "*"], ["angina", "heart", "*"]]
        sa.connect(connection).taxonomies.load("diagnosis", sa.Taxonomy.from_rows(rows))
        far.connection.register("given", connection.table("visits").to_arrow_table())
        far.connection.execute("CREATE TABLE visits AS FROM given")
        engine = DuckDBEngine(OpenedDatabase(connection, owned=False), far)
        yield Sides(Session(Ready(engine)), connection, far)


@pytest.mark.fast
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_far_rows_are_released_as_near_ones(sides: Sides, policy: sa.Policy) -> None:
    near, far = sides.releases(policy)
    assert far.node == near.node
    changed = {"seconds": far.report.seconds, "source": far.report.source, "into": far.report.into}
    assert near.report.model_copy(update=changed) == far.report
    released = sides.connection.table("released")
    there = sides.far.connection.table("far.released")
    assert (there.columns, there.types) == (released.columns, released.types)
    assert Counter(there.fetchall()) == Counter(released.fetchall())
