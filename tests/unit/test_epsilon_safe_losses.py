"""What a row changes of the chances of every release, computed: never more than the ε and δ that are claimed."""

import math

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.audits.exact_audit import hockey_stick, smallest_epsilon
from sqlanon.model.sampled_classes import delta_on_sample
from tests.exact_epsilon_safe import SQUARE, Counts, choice, method, on_sample, on_table
from tests.neighbours import Lost, neighbours, tables

ROWS = 7
PAIRS = [(counts, other) for counts in tables(4, ROWS) for other in neighbours(counts, 1)]
"""All neighbours of up to eight rows of two quasi-identifiers with two values each."""

METHODS = {
    "of five weights": method(),
    "of three rows": method(k=3, epsilon_node="1/2"),
    "by the exponential mechanism": method(selection="exponential"),
}


@pytest.mark.parametrize("name", METHODS)
def test_no_row_of_a_small_table_costs_more_than_is_claimed(name: str) -> None:
    wanted = METHODS[name]
    epsilon, claimed = float(wanted.budget.epsilon), float(wanted.budget.delta)
    distributions = {counts: on_table(wanted, SQUARE, counts) for counts in tables(4, ROWS + 1)}
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
        chosen = {counts: choice(wanted, SQUARE, counts, threshold, part) for counts in tables(4, ROWS + 1)}
        return max(float(np.abs(np.log(np.divide(chosen[one], chosen[two]))).max()) for one, two in PAIRS)

    epsilon = float(wanted.budgets["node"].epsilon)
    assert loss(part=1) <= epsilon * (1 + 1e-9)
    assert loss(part=8) > epsilon, "a sensitivity that is too small is found"


class TestChoiceOnTheSample:
    """Spec S1: the published theorem does not hold there."""

    @pytest.mark.parametrize("rows", [20, 35, 50])
    def test_the_mechanism_stays_within_the_bound_for_it(self, rows: int) -> None:
        """All rows equal, and one more or one elsewhere; the bound is below 1."""
        wanted = sa.EpsilonSafe(
            k=20, beta="3/10", delta="1/2", epsilon_node="1/2", epsilon_sampling=1, select_on="sample"
        )
        nodes = (Lost(0, ((0,), (1,))), Lost(2**30, ((0, 1),)))
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
