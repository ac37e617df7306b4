"""Exact chances: divergence of finite distributions, the private counts of the specification, and permute-and-flip."""

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.audits.exact_audit import Bounds, hockey_stick, permute_and_flip, smallest_epsilon
from sqlanon.chance.scales import threshold
from tests.full.test_samplers import permute_and_flip_masses
from tests.thresholded_counts import NoisyThreshold, ThresholdedCounts

CELL, ROLL_UP = Fraction("0.7"), Fraction("0.5")
CELL_THRESHOLD, ROLL_UP_THRESHOLD = (threshold(epsilon, Fraction("0.001")) for epsilon in (CELL, ROLL_UP))
Pair = tuple[dict[Any, float], dict[Any, float]]


@st.composite
def distributions(draw: st.DrawFn) -> dict[int, float]:
    weights = draw(st.lists(st.integers(0, 6), min_size=5, max_size=5).filter(any))
    return {output: weight / sum(weights) for output, weight in enumerate(weights)}


def over_all_events(first: Mapping[int, float], second: Mapping[int, float]) -> list[tuple[float, float]]:
    """The probabilities of each event under both."""
    events = itertools.chain.from_iterable(itertools.combinations(first, size) for size in range(1, len(first) + 1))
    return [(math.fsum(first[o] for o in event), math.fsum(second[o] for o in event)) for event in events]


class TestDivergence:
    @given(distributions(), distributions(), st.floats(0, 3))
    def test_it_is_the_largest_excess_of_any_event(
        self, first: dict[int, float], second: dict[int, float], epsilon: float
    ) -> None:
        largest = max(0.0, *(p - math.exp(epsilon) * q for p, q in over_all_events(first, second)))
        found = hockey_stick(first, second, epsilon)
        assert found.lower == pytest.approx(largest, abs=1e-12)
        assert found.upper == pytest.approx(largest, abs=1e-12)

    @given(distributions(), distributions(), st.sampled_from([0.0, 0.01, 0.2]))
    def test_the_smallest_epsilon_is_that_of_the_worst_event(
        self, first: dict[int, float], second: dict[int, float], delta: float
    ) -> None:
        worst = 0.0
        for p, q in over_all_events(first, second):
            if p - delta > 1e-12:
                worst = max(worst, math.log((p - delta) / q) if q else math.inf)
        found = smallest_epsilon(first, second, delta)
        assert found.lower <= worst <= found.upper or found.upper == pytest.approx(worst)
        assert found.lower == pytest.approx(worst, abs=1e-9)
        if 0 < worst < math.inf:
            assert hockey_stick(first, second, worst).upper == pytest.approx(delta, abs=1e-9)

    @given(distributions(), distributions(), st.integers(0, 4), st.integers(0, 4), st.floats(0, 2))
    def test_what_is_cut_off_is_accounted_for_both_ways(
        self, first: dict[int, float], second: dict[int, float], left: int, right: int, epsilon: float
    ) -> None:
        whole = hockey_stick(first, second, epsilon)
        one, other = ({o: p for o, p in d.items() if o != cut} for d, cut in ((first, left), (second, right)))
        found = hockey_stick(one, other, epsilon)
        assert found.lower <= whole.lower + 1e-12
        assert whole.upper <= found.upper + 1e-12

    def test_an_output_that_only_one_lists_is_impossible_for_the_other_only_if_that_lacks_nothing(self) -> None:
        assert smallest_epsilon({"a": 0.5, "b": 0.5}, {"a": 1.0}, 0).lower == math.inf
        assert smallest_epsilon({"a": 0.5, "b": 0.5}, {"a": 0.9}, 0).lower == pytest.approx(math.log(0.5 / 0.1))

    @pytest.mark.parametrize(
        ("first", "message"),
        [({"a": -0.5, "b": 1.0}, "at least 0"), ({"a": math.nan}, "not"), ({"a": 0.7, "b": 0.7}, "more than 1")],
    )
    def test_what_is_no_distribution_is_refused(self, first: dict[str, float], message: str) -> None:
        with pytest.raises(sa.PolicyError, match=message) as refused:
            hockey_stick({"a": 1.0}, first, 1.0)
        assert "second" in str(refused.value)

    def test_parameters_out_of_range_are_refused(self) -> None:
        with pytest.raises(sa.PolicyError, match="negative"):
            hockey_stick({"a": 1.0}, {"a": 1.0}, -1)
        with pytest.raises(sa.PolicyError, match="below 1"):
            smallest_epsilon({"a": 1.0}, {"a": 1.0}, 1)


def private_counts(rows: int, others: int, *, rolled_up_exactly: bool = False) -> Pair:
    """The releases of one value with two cells, and those with one row more in the first."""
    mechanism = ThresholdedCounts(
        NoisyThreshold(CELL, CELL_THRESHOLD, largest=max(rows + 1, others)),
        None if rolled_up_exactly else NoisyThreshold(ROLL_UP, ROLL_UP_THRESHOLD, largest=rows + 1 + others),
    )
    first, second = (mechanism.distribution({("1", "v"): rows + more, ("2", "v"): others}) for more in (0, 1))
    return first, second


def both_ways(pair: Pair, epsilon: float) -> tuple[float, float]:
    return hockey_stick(*pair, epsilon).upper, hockey_stick(*pair[::-1], epsilon).upper


class TestThresholdedCounts:
    """spec/ipa.md B2, "Exact check"."""

    def test_the_thresholds(self) -> None:
        assert (CELL_THRESHOLD, ROLL_UP_THRESHOLD) == (11, 14)

    @pytest.mark.parametrize(("rows", "others", "epsilon"), [(13, 0, 1.160), (10, 3, 1.195)])
    def test_the_tight_epsilon(self, rows: int, others: int, epsilon: float) -> None:
        """1.160 is that of one cell alone; one below its threshold with a rare one beside it is the worst of all."""
        found = smallest_epsilon(*private_counts(rows, others), 2e-3)
        assert found == Bounds(pytest.approx(epsilon, abs=5e-4), pytest.approx(epsilon, abs=5e-4))

    def test_the_worst_tight_epsilon_follows_from_three_tails(self) -> None:
        """The event is that nothing is published at all."""

        def nothing(rows: int) -> float:
            return below(CELL, 11 - rows) * below(CELL, 11 - 3) * below(ROLL_UP, 14 - rows - 3)

        assert smallest_epsilon(*private_counts(10, 3), 2e-3).upper == pytest.approx(
            math.log((nothing(10) - 2e-3) / nothing(11))
        )

    def test_a_roll_up_without_noise_is_not_private_at_any_epsilon(self) -> None:
        _, removed = both_ways(private_counts(2, 1, rolled_up_exactly=True), 100)
        assert removed == pytest.approx(0.9975, abs=5e-5)
        assert max(both_ways(private_counts(0, 1, rolled_up_exactly=True), 100)) == pytest.approx(1)


def below(epsilon: Fraction, least: int) -> float:
    """P(Z < least)."""
    a = math.exp(-epsilon)
    return sum((1 - a) / (1 + a) * a ** abs(z) for z in range(-200, least))


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=6), st.sampled_from([0.5, 2.0, 1000.0]))
def test_they_are_those_of_its_definition(scores: list[int], scale: float) -> None:
    """To as many digits for what is hardly ever chosen."""
    assert permute_and_flip(scores, scale) == pytest.approx(permute_and_flip_masses(scores, scale), rel=1e-12, abs=0)


def test_they_are_those_by_hand() -> None:
    """Of two, the worse one is chosen if it comes first and passes; those that are equal are so."""
    worse = math.exp(-1.5) / 2
    assert permute_and_flip([10**30 + 3, 10**30], 2) == pytest.approx([1 - worse, worse], rel=1e-14)
    assert permute_and_flip([7] * 5, 1) == pytest.approx([0.2] * 5, rel=1e-14)
    assert permute_and_flip([4], 1) == [1]


@pytest.mark.parametrize("others", [99, 400])
def test_they_are_as_precise_for_many(others: int) -> None:
    """Of one that is better than all others, which are equal: its integral is known."""
    passing = math.exp(-1 / 2)
    best = -math.expm1((others + 1) * math.log1p(-passing)) / ((others + 1) * passing)
    expected = [best, *[(1 - best) / others] * others]
    assert permute_and_flip([1, *[0] * others], 2) == pytest.approx(expected, rel=1e-13)


def test_all_that_is_paid_can_be_lost() -> None:
    """Of one candidate that gets better by the sensitivity, and many that get worse by it."""
    before, after = [0, *[1] * 400], [1, *[0] * 400]
    one, other = (dict(enumerate(permute_and_flip(scores, 2))) for scores in (before, after))
    assert smallest_epsilon(other, one, 0).upper == pytest.approx(1, abs=1e-9)
    assert smallest_epsilon(one, other, 0).lower <= 1


def test_what_is_no_choice_is_refused() -> None:
    with pytest.raises(sa.PolicyError) as refused:
        permute_and_flip([], 0)
    assert len(refused.value.problems) == 2
