"""The table of the lattice against runs of the policies that it speaks of, and where it is written to."""

import json
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy, open_clinic

COLUMNS = (
    "node height class_count min_class_size suppressed_rows satisfies loss prec dm_star entropy lm ncp dm aecs "
    "best_k blocking_model blocking_rows excess_rows models pareto"
)


@pytest.fixture
def clinic(shared_clinic: sa.Session) -> sa.Session:
    return shared_clinic


def policy(*privacy: Any, **options: Any) -> sa.Policy:
    return clinic_policy(*(privacy or (sa.KAnonymity(2),)), **options)


def rows_of(session: sa.Session, wanted: sa.Policy, source: str = "visits") -> list[dict[str, Any]]:
    return [{**row, "node": dict(row["node"])} for row in session.lattice(source, wanted).to_pylist()]


def satisfying(session: sa.Session, wanted: sa.Policy, source: str = "visits") -> dict[str, bool]:
    return {json.dumps(row["node"]): row["satisfies"] for row in rows_of(session, wanted, source)}


MODELS: list[list[Any]] = [
    [sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2)],
    [sa.AlphaKAnonymity("diagnosis", 0.5, 2)],
    [sa.KAnonymity(2), sa.MConcealing(0.4, {"diagnosis": 0.5}, "node")],
]


def test_the_order_that_a_connection_takes_if_none_is_given_changes_nothing() -> None:
    wanted = policy(sa.KAnonymity(2), sa.TCloseness("diagnosis", 0.5, distance="ordered"))
    with duckdb.connect() as connection:
        session = open_clinic(connection)
        plain = rows_of(session, wanted)
        connection.execute("SET default_order = 'DESC'")
        for found, expected in zip(rows_of(session, wanted), plain, strict=True):
            losses = {name: pytest.approx(expected[name]) for name in ("loss", "entropy", "lm", "ncp", "aecs")}
            models = [model | {"worst": pytest.approx(model["worst"])} for model in expected["models"]]
            assert found == expected | losses | {"models": models}


class TestColumns:
    def test_names(self, clinic: sa.Session) -> None:
        assert clinic.lattice("visits", policy()).schema.names == COLUMNS.split()

    @pytest.mark.parametrize("quality", [sa.LM(aggregate="geometric"), sa.Prec(weights={"age": 3})])
    def test_the_loss_is_that_of_a_run(self, clinic: sa.Session, quality: Any) -> None:
        wanted = policy(quality=quality, suppression_limit=0.25, earlier="none")
        report = clinic.anonymize("visits", wanted, into="published", replace=True).report
        losses = [row["loss"] for row in rows_of(clinic, wanted) if row["satisfies"]]
        assert report.loss == pytest.approx(min(losses))

    def test_all_rows_are_one_class_where_all_are_suppressed_and_only_allowed_nodes_are_there(
        self, clinic: sa.Session
    ) -> None:
        levels = {"minimum_levels": {"age": 1}, "maximum_levels": {"age": 2, "zip": 1}}
        found = rows_of(clinic, policy(sa.KAnonymity(13), quality=sa.AECS(), **levels))
        assert {(row["loss"], row["satisfies"]) for row in found} == {(12 / 13, False)}
        assert {row["node"]["age"] for row in found} == {1, 2}
        assert {row["node"]["zip"] for row in found} == {0, 1}


@pytest.mark.parametrize(("models", "limit"), [(MODELS[0], 0.0), (MODELS[1], 0.25), (MODELS[2], 1.0)])
def test_best_k_is_the_largest_k_that_satisfies(clinic: sa.Session, models: list[Any], limit: float) -> None:
    options: dict[str, Any] = {"suppression_limit": limit, "minimum_levels": {"age": 1, "zip": 1}}
    options["maximum_levels"] = {"sex": 0}
    others = [model for model in models if not isinstance(model, sa.KAnonymity)]
    rows = rows_of(clinic, policy(*models, **options))
    tried = {2, 3, 13} | {row["best_k"] + more for row in rows if row["best_k"] for more in (0, 1)}
    by_k = {k: satisfying(clinic, policy(sa.KAnonymity(k), *others, **options)) for k in tried - {1}}
    if others:
        by_k[1] = satisfying(clinic, policy(*others, **options))
    for row in rows:
        attained = [k for k, satisfied in by_k.items() if satisfied[json.dumps(row["node"])]]
        assert row["best_k"] == max(attained, default=None if others else 1), row["node"]


def test_best_k_counts_individuals() -> None:
    with duckdb.connect() as connection:
        session = sa.connect(connection)
        connection.execute("CREATE TABLE t AS SELECT i % 2 AS q, i // 4 AS person FROM range(40) AS r (i)")
        session.taxonomies.load("q", sa.Taxonomy.flat(), source="t")
        roles = {"quasi_identifiers": ["q"], "identifiers": ["person"], "privacy": [sa.KAnonymity(2)]}
        by_row = session.lattice("t", sa.Policy(**roles))
        by_person = session.lattice("t", sa.Policy(**roles, individual="person"))
    assert by_row["best_k"].to_pylist() == [20, 40]
    assert by_person["best_k"].to_pylist() == [10, 10]
