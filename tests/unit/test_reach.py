"""How far below the best score nodes are distinguished: nodes beyond are practically never drawn."""

import math
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.audits.exact_audit import PROBABILITIES
from sqlanon.chance.accountant import Accountant, Charge
from sqlanon.chance.exact import Integers
from sqlanon.chance.scales import scale_for
from sqlanon.engines.duckdb import Engine
from sqlanon.methods.noisy_node import ipa as private
from sqlanon.methods.noisy_node import shared as scores_of_nodes
from sqlanon.model.methods.noisy import NODE
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.noise import WHOLE


def charged(method: sa.IPA) -> Charge:
    return Accountant(None, dataset="", method="ipa", policy_sha256="").charge(method.budgets)[NODE]


@pytest.mark.parametrize(("rows_per_individual", "rows"), [(1, 986.62), (7, 6_906.37)])
def test_it_is_a_number_of_rows(rows_per_individual: int, rows: float) -> None:
    """20 rows of scale for each row of an individual, times ln(144) + 64 ln(2)."""
    method = sa.IPA(rows_per_individual=rows_per_individual)
    reach = private.reach(charged(method), WHOLE * rows_per_individual, nodes=144)
    assert reach / WHOLE == pytest.approx(rows, abs=0.01)
    scale = scale_for(charged(method).budget.epsilon, 2 * WHOLE * rows_per_individual)
    assert 144 * math.exp(-reach / scale) <= 2.0**-64


def test_it_is_what_a_choice_is_made_with() -> None:
    """For the lattice, ε and the rows of an individual of the policy, in the unit of scores."""
    method = sa.IPA(rows_per_individual=3, budget=sa.Budget(2, "1e-6"), accept_observed_domain=True)
    asked: list[int] = []
    scores = private.scores

    def noted(engine: Engine, table: EncodedTable, threshold: int, reach: int) -> Integers:
        asked.append(reach)
        return scores(engine, table, threshold, reach)

    with sa.connect() as session, mock.patch.object(private, "scores", noted):
        session.connection.execute(
            "CREATE TABLE people AS SELECT i % 4 AS a, i % 3 AS s, i AS p FROM range(12) AS r (i)"
        )
        session.taxonomies.load("a", sa.Taxonomy.from_rows([[str(a), str(a // 2), "*"] for a in range(4)]))
        policy = sa.Policy(quasi_identifiers=["a"], sensitive=["s"], individual="p", identifiers=["p"], method=method)
        session.anonymize("people", policy, "released", random_source=sa.SeededSource(1))
    assert asked == [private.reach(charged(method), 3 * WHOLE, nodes=3)]
    assert asked[0] / WHOLE == pytest.approx(2 * 3 / 0.2 * math.log(3 * 2.0**64), rel=1e-9)


@pytest.mark.parametrize("beyond", [1, 3, 6])
def test_what_is_raised_to_it_is_drawn_no_more_often_than_is_promised(
    monkeypatch: pytest.MonkeyPatch, beyond: int
) -> None:
    """Computed exactly, for a promise that floats can hold."""
    monkeypatch.setattr(scores_of_nodes, "FAILURE_PROBABILITY", 0.01)
    method = sa.IPA()
    reach = private.reach(charged(method), WHOLE, nodes=1 + beyond)
    scale = scale_for(charged(method).budget.epsilon, 2 * WHOLE)
    for drawing in PROBABILITIES.values():
        drawn = sum(drawing([0, *([-reach] * beyond)], scale)[1:])
        assert 0.001 < drawn <= 0.01
