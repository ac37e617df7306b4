"""The probabilities of permute-and-flip, against its definition, by hand, and as draws have them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.audits.exact_audit import permute_and_flip, smallest_epsilon
from tests.full.test_samplers import permute_and_flip_masses


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


def test_they_are_what_simulation_gives() -> None:
    """Of 40 candidates, which are too many for all orders: in random orders, the first whose coin says so."""
    generator, runs, scale = np.random.default_rng(3), 40_000, 3.0
    scores = np.arange(40) % 11 - np.arange(40) // 11
    coins = generator.random((runs, 40)) < np.exp((scores - scores.max()) / scale)
    times = np.where(coins, generator.random((runs, 40)), 2.0)
    shares = np.bincount(times.argmin(axis=1), minlength=40) / runs
    expected = np.array(permute_and_flip(scores.tolist(), scale))
    bound = 5 * np.sqrt(expected * (1 - expected) / runs)
    assert (np.abs(shares - expected) <= bound).all()
    softmax = np.exp(scores / scale) / np.exp(scores / scale).sum()
    assert (np.abs(shares - softmax) > bound).any(), "the exponential mechanism is told apart"


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
