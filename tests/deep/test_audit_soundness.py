"""Audits call no mechanism guilty that is not, but for the chance that they state, and see what many counts lose."""

import itertools
from typing import Any

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.evaluation import audit_privacy
from tests.unit.test_audit import ONE, Draw, Vectorised, geometric, randomized_response
from tests.unit.test_exact_divergence import CELL, ROLL_UP, both_ways, private_counts


def test_a_loss_that_is_spread_over_many_counts_is_found_in_all_of_them_together() -> None:
    """Noise for one count on each of 16: no count shows more than ε = 0.3, all together can show 4.8."""

    def draw(generator: np.random.Generator, table: int, runs: int) -> Any:
        return table + generator.laplace(scale=1 / 0.3, size=(runs, 16))

    audit = audit_privacy(Vectorised(draw), 0, 1, runs=8_000)
    assert audit.lower_bound > 1


class TestSoundness:
    """No false alarms, but for the stated chance, and fewer than that, since it is shared among four bounds."""

    @pytest.mark.parametrize(
        ("draw", "table", "neighbour"), [(randomized_response, 0, 1), (geometric, 0, 1)], ids=["response", "geometric"]
    )
    def test_a_mechanism_that_is_as_private_as_it_claims_and_no_more(
        self, draw: Draw, table: int, neighbour: int
    ) -> None:
        alarms = sum(
            bool(audit_privacy(Vectorised(draw, seed), table, neighbour, 2_000, claimed=ONE).violates)
            for seed in range(150)
        )
        assert alarms <= 0.05 * 150

    def test_a_mechanism_that_ignores_its_table_shows_nothing_at_low_confidence(self) -> None:
        """So many outputs to choose from that an event bounded on the runs that chose it would nearly always alarm."""

        def draw(generator: np.random.Generator, _: int, runs: int) -> Any:
            return generator.integers(0, 6, size=(runs, 3))

        alarms = sum(audit_privacy(Vectorised(draw, seed), 0, 1, 800, 0.8).lower_bound > 0 for seed in range(60))
        assert alarms <= 0.2 * 60

    def test_a_delta_that_is_allowed_is_no_violation(self) -> None:
        def draw(generator: np.random.Generator, table: int, runs: int) -> Any:
            return (generator.random(runs) < 0.1) * table

        assert not audit_privacy(Vectorised(draw), 1, 0, 20_000, claimed=sa.Budget("0.01", "0.11")).violates
        assert audit_privacy(Vectorised(draw), 1, 0, 20_000, claimed=sa.Budget("0.01", "0.08")).violates


ROWS = 28
"""The largest number of rows of a cell."""


def test_the_divergence_at_the_sum_of_epsilons_is_below_the_sum_of_deltas() -> None:
    pairs = itertools.product(range(ROWS), range(ROWS + 1))
    found = np.array([both_ways(private_counts(*pair), float(CELL + ROLL_UP)) for pair in pairs])
    assert found.max() == pytest.approx(1.545e-3, abs=5e-7)
    assert (found <= 2e-3).all()
