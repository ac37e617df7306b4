"""What a row changes of the chances of every release, computed: never more than the ε and δ that are claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.evaluation.exact import hockey_stick, smallest_epsilon
from sqlanon.model.sampled_classes import delta, delta_on_sample
from tests.exact_epsilon_safe import (
    SQUARE,
    Counts,
    Node,
    choice,
    method,
    on_sample,
    on_table,
    sampled_classes,
    tables,
    with_one,
)

ROWS = 7
PAIRS = [(counts, other) for counts in tables(ROWS) for other in with_one(counts)]
"""All neighbours of up to eight rows of two quasi-identifiers with two values each."""

METHODS = {
    "of one weight": method(suppressed_weight=1),
    "of five weights": method(),
    "of fewer rows": method(beta="2/5", epsilon_sampling="3/5"),
    "of three rows": method(k=3, epsilon_node="1/2"),
}


@pytest.mark.parametrize("name", METHODS)
def test_no_row_of_a_small_table_costs_more_than_is_claimed(name: str) -> None:
    wanted = METHODS[name]
    epsilon, claimed = float(wanted.budget.epsilon), float(wanted.budget.delta)
    distributions = {counts: on_table(wanted, SQUARE, counts) for counts in tables(ROWS + 1)}
    found = [
        hockey_stick(distributions[one], distributions[two], epsilon)
        for pair in PAIRS
        for one, two in (pair, pair[::-1])
    ]
    assert max(bounds.upper for bounds in found) <= claimed
    assert max(bounds.lower for bounds in found) > 0


@pytest.mark.parametrize("name", METHODS)
def test_the_node_costs_what_is_claimed_alone(name: str) -> None:
    wanted = METHODS[name]
    threshold = math.ceil(wanted.sampling.k / wanted.sampling.beta)

    def loss(part: int) -> float:
        chosen = {counts: choice(wanted, SQUARE, counts, threshold, part) for counts in tables(ROWS + 1)}
        return max(float(np.abs(np.log(np.divide(chosen[one], chosen[two]))).max()) for one, two in PAIRS)

    epsilon = float(wanted.budgets["node"].epsilon)
    assert loss(part=1) <= epsilon * (1 + 1e-9)
    assert loss(part=8) > epsilon, "a sensitivity that is too small is found"


@pytest.mark.parametrize(("k", "beta", "epsilon"), [(2, 0.5, 1.0), (3, 0.3, 0.5), (5, 0.5, 0.75), (5, 0.1, 0.5)])
def test_a_class_costs_the_tight_delta_and_no_less(k: int, beta: float, epsilon: float) -> None:
    """Of classes of up to 80 rows; what is claimed is no less than that."""

    def divergence(rows: int, least: int = k) -> float:
        one, other = (sampled_classes((count,), least, beta) for count in (rows, rows - 1))
        return max(hockey_stick(one, other, epsilon).upper, hockey_stick(other, one, epsilon).upper)

    found = max(map(divergence, range(1, 81)))
    assert found == pytest.approx(delta(k, beta, epsilon, tight=True), rel=1e-9)
    assert found <= delta(k, beta, epsilon)
    assert max(divergence(rows, least=1) for rows in range(1, 81)) > delta(k, beta, epsilon)


class TestChoiceOnTheSample:
    """Spec S1: the published theorem does not hold there."""

    @pytest.mark.parametrize(
        ("k", "beta", "node", "sampling", "rows", "naive", "actual"),
        [
            (50, 0.3, 1.0, 0.5, 113, 5.797e-8, 1.669e-5),
            (20, 0.3, 1.0, 0.5, 42, 4.536e-4, 6.627e-4),
            (30, 0.3, 1.0, 0.5, 66, 3.090e-5, 1.707e-4),
        ],
    )
    def test_an_event_that_is_likelier_than_the_naive_claim(
        self, k: int, beta: float, node: float, sampling: float, rows: int, naive: float, actual: float
    ) -> None:
        """A choice that is ε'-private on the sample: of one class, nearly at k, against a node that shows nothing."""
        without = np.array([math.exp(-node * abs(size - (k - 1))) / (1 + math.exp(node)) for size in range(rows + 1)])
        sizes = np.arange(rows + 1)
        likely = np.array([math.comb(rows, size) * beta**size * (1 - beta) ** (rows - size) for size in sizes])
        # With one row more, that is in the sample or not.
        first = (likely * (sizes >= k) * without).sum()
        chosen = math.exp(node) * without
        second = ((1 - beta) * likely * (sizes >= k) * without).sum() + (
            beta * likely * (sizes + 1 >= k) * chosen
        ).sum()
        found = second - math.exp(node + sampling) * first
        assert delta(k, beta, sampling) == pytest.approx(naive, rel=1e-3)
        assert found == pytest.approx(actual, rel=1e-3)
        assert found > delta(k, beta, sampling)
        assert found <= delta_on_sample(k, beta, node, node + sampling, nodes=2)

    @pytest.mark.parametrize("rows", [20, 35, 50])
    def test_the_mechanism_stays_within_the_bound_for_it(self, rows: int) -> None:
        """All rows equal, and one more or one elsewhere; the bound is below 1."""
        wanted = sa.EpsilonSafe(
            k=20, beta="3/10", delta="1/2", epsilon_node="1/2", epsilon_sampling=1, select_on="sample"
        )
        nodes = (Node(0, ((0,), (1,))), Node(2**30, ((0, 1),)))
        bound = delta_on_sample(20, 0.3, 0.5, 1.5, nodes=2)
        assert bound < 0.1
        for more in ((rows + 1, 0), (rows, 1)):
            one, two = (on_sample(wanted, nodes, counts) for counts in ((rows, 0), more))
            for first, second in ((one, two), (two, one)):
                assert hockey_stick(first, second, 1.5).upper <= bound


def test_the_choice_is_what_costs_more() -> None:
    """Without it nothing is lost at all where no row is in the sample; so the check looks at the whole release."""
    counts: Counts = (2, 1, 0, 0)
    wanted = method(epsilon_node=4)
    one, two = on_table(wanted, SQUARE, counts), on_table(wanted, SQUARE, (3, 1, 0, 0))
    assert smallest_epsilon(one, two, float(wanted.budget.delta)).upper < float(wanted.budget.epsilon)
    assert smallest_epsilon(one, two, float(wanted.budget.delta)).upper > 0
