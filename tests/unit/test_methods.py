"""What private methods hold of their budget: how it is split over their steps, and the thresholds that it buys."""

import math
from fractions import Fraction
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.noisy_node.ipa import thresholds
from sqlanon.methods.private import why_void
from sqlanon.model.budget import sequential_composition
from sqlanon.model.methods.noisy import CELLS, NODE, ROLLED_UP, NoisyCounts
from sqlanon.papers import IPAAsPublished
from sqlanon.queries.noise import Domain

BUDGET = sa.Budget("0.7", "1e-4")
NODE_OF_ONE = {"age": 1}
METHODS: dict[str, NoisyCounts] = {
    "IPA": sa.IPA(budget=BUDGET),
    "IPA at a public node": sa.IPA(budget=BUDGET, node=NODE_OF_ONE),
    "IPA with a split": sa.IPA(budget=BUDGET, split={NODE: "1/7", CELLS: "2/7", ROLLED_UP: "4/7"}),
    "IPA with δ = 0": sa.IPA(budget=sa.Budget("0.7")),
    "IPA as published": IPAAsPublished(budget=BUDGET),
    "histogram": sa.Histogram(budget=BUDGET, node=NODE_OF_ONE),
    "histogram with δ = 0": sa.Histogram(budget=sa.Budget("0.7")),
}


class TestSplits:
    @pytest.mark.parametrize("name", METHODS)
    def test_steps_cost_together_what_is_promised(self, name: str) -> None:
        """No less either: what is not spent would be noise for nothing."""
        method = METHODS[name]
        if method.claims_privacy:
            assert sequential_composition(method.budgets.values()) == method.budget
        assert sum(budget.epsilon for budget in method.budgets.values()) == method.budget.epsilon


def tail(scale: float, least: int) -> float:
    """P(Z >= least) for discrete Laplace noise, by its formula."""
    base = math.exp(-1 / scale)
    return base**least / (1 + base) if least >= 0 else 1 - tail(scale, 1 - least)


class TestThresholds:
    @pytest.mark.parametrize("rows", [1, 2, 6])
    @pytest.mark.parametrize("made", [sa.IPA, sa.Histogram])
    def test_an_individual_alone_is_shown_no_more_often_than_their_step_allows(self, made: Any, rows: int) -> None:
        """All rows together, or each in a combination of its own; and one less would show them more often."""
        method = made(budget=BUDGET, rows_per_individual=rows)
        for step, least in thresholds(method, Domain((), 0)).items():
            budget = method.budgets[step]
            scale = rows / float(budget.epsilon)

            def shown(threshold: int, scale: float = scale) -> float:
                return max(tail(scale, threshold - rows), rows * tail(scale, threshold - 1))

            assert shown(least) <= budget.delta < shown(least - 1)

    @pytest.mark.parametrize("minimum_count", [1, 500])
    def test_a_minimum_count_only_makes_them_larger(self, minimum_count: int) -> None:
        usual = thresholds(sa.IPA(budget=BUDGET), Domain((), 0))
        found = thresholds(sa.IPA(budget=BUDGET, minimum_count=minimum_count), Domain((), 0))
        assert usual[CELLS] < 500
        assert found == {**usual, CELLS: max(usual[CELLS], minimum_count)}

    @pytest.mark.parametrize("rows", [1, 4])
    def test_of_a_domain_about_one_combination_of_nobody_is_shown(self, rows: int) -> None:
        method, domain = sa.IPA(budget=sa.Budget("0.7"), rows_per_individual=rows), Domain((7, 5), 11)
        found = thresholds(method, domain)
        for step, size in ((CELLS, 7 * 5 * 11), (ROLLED_UP, 11)):
            scale = rows / float(method.budgets[step].epsilon)
            assert size * tail(scale, found[step]) <= 1 < size * tail(scale, found[step] - 1)


def test_a_share_is_exact() -> None:
    assert METHODS["IPA with a split"].budgets[CELLS].epsilon == Fraction(2, 10)


@pytest.mark.parametrize(
    ("method", "source_is_private", "why"),
    [
        (sa.IPA(), True, None),
        (sa.IPA(), False, "its noise is from a seeded source"),
        (IPAAsPublished(), True, "not differentially private for any ε"),
        (sa.IPA(reveal_diagnostics=True), True, "computed from the data without noise"),
        (sa.Histogram(reveal_diagnostics=True), True, "computed from the data without noise"),
    ],
)
def test_what_takes_a_promise_away(method: NoisyCounts, source_is_private: bool, why: str | None) -> None:
    """Also from whoever draws as a private release does."""
    found = why_void(method, source_is_private)
    assert found is None if why is None else why in found
