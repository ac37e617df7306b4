"""Every draw of both sources against exact probabilities, with power: what is 30 % off is rejected.

The test is that of Kolmogorov with the bound of Massart, which holds for any distribution and any sample size: the
empirical distribution function is nowhere further than sqrt(ln(2 / error) / 2n) from the right one, but for a chance of
at most ``error``. A distribution further away than twice that is rejected as surely: what is 30 % off has to be.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.chance import exact as words
from sqlanon.chance.accountant import Charge, RhoCharge
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import empty_cell_probability, pure_threshold

FALSE_ALARM = 1e-9
OFF = (0.7, 1.3)

Numbers = NDArray[Any]
Cumulative = Callable[[Numbers], Numbers]


@pytest.fixture(params=["seeded", "opendp"])
def source(request: pytest.FixtureRequest) -> RandomSource:
    return sa.SeededSource(20) if request.param == "seeded" else sa.OpenDPSource()


def charge(epsilon: str) -> Charge:
    return Charge("test", sa.Budget(epsilon), None)


def bound(sample: Numbers) -> float:
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * len(sample)))


def distance(sample: Numbers, cumulative: Cumulative) -> float:
    """Between what a sample and a distribution have up to a number; of whole numbers if the sample is."""
    values, counts = np.unique(sample, return_counts=True)
    until = np.cumsum(counts) / len(sample)
    before = values - 1 if sample.dtype.kind == "i" else values
    above = np.abs(until - cumulative(values)).max()
    below = np.abs(until - counts / len(sample) - cumulative(before)).max()
    return float(max(above, below))


def assert_fits(sample: Numbers, right: Cumulative, *wrong: Cumulative) -> None:
    """A sample is taken for one of the right distribution, and not for one of the wrong ones, by no luck."""
    assert distance(sample, right) <= bound(sample)
    grid = np.linspace(sample.min(), sample.max(), 1000).astype(sample.dtype)
    for other in wrong:
        assert np.abs(right(grid) - other(grid)).max() > 2 * bound(sample), "the sample is too small to tell"
        assert distance(sample, other) > bound(sample)


def assert_fits_only(sample: Numbers, family: Callable[[float], Cumulative], *wrong: Cumulative) -> None:
    """A sample is taken for one of the distribution of a factor of 1, and of no factor that is 30 % off."""
    assert_fits(sample, family(1), *map(family, OFF), *wrong)


def listed(masses: Sequence[float], *, first: int = 0) -> Cumulative:
    """The distribution function of whole numbers from ``first`` up, with these probabilities."""
    assert math.isclose(math.fsum(masses), 1, abs_tol=1e-9)
    steps = np.concatenate([[0], np.cumsum(masses)])
    return lambda numbers: steps[np.clip(numbers - first + 1, 0, len(masses))]


def discrete_laplace_masses(scale: float, most: int = 200) -> list[float]:
    base = math.exp(-1 / scale)
    return [(1 - base) / (1 + base) * base ** abs(value) for value in range(-most, most + 1)]


def discrete_gaussian_masses(scale: float, most: int = 200) -> list[float]:
    weights = [math.exp(-(value**2) / (2 * scale**2)) for value in range(-most, most + 1)]
    return [weight / math.fsum(weights) for weight in weights]


def binomial_masses(trials: int, probability: float) -> list[float]:
    return [
        math.comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(trials + 1)
    ]


def poisson_masses(mean: float) -> list[float]:
    return [math.exp(-mean) * mean**count / math.factorial(count) for count in range(60)]


def permute_and_flip_masses(scores: Sequence[int], scale: float) -> list[float]:
    """By its definition: in a random order, take the first candidate whose coin says so."""
    masses = [0.0] * len(scores)
    for order in itertools.permutations(range(len(scores))):
        still = 1 / math.factorial(len(scores))
        for candidate in order:
            heads = math.exp((scores[candidate] - max(scores)) / scale)
            masses[candidate] += still * heads
            still *= 1 - heads
    return masses


def softmax_masses(log_weights: Sequence[float]) -> list[float]:
    weights = [math.exp(weight) for weight in log_weights]
    return [weight / math.fsum(weights) for weight in weights]


def laplace_cumulative(scale: float) -> Cumulative:
    return lambda numbers: np.where(numbers < 0, np.exp(numbers / scale) / 2, 1 - np.exp(-numbers / scale) / 2)


@pytest.mark.parametrize(("epsilon", "sensitivity", "scale"), [("0.5", 3, 6.0), ("2", 1, 0.5)])
def test_discrete_laplace(source: RandomSource, epsilon: str, sensitivity: int, scale: float) -> None:
    noise = source.discrete_laplace(40_000, charge(epsilon), sensitivity=sensitivity)
    assert noise.dtype == np.int64
    assert_fits_only(noise, lambda factor: listed(discrete_laplace_masses(factor * scale), first=-200))


def test_discrete_laplace_draws_are_independent(source: RandomSource) -> None:
    """As sums of neighbours and of draws of two calls."""
    one, other = (source.discrete_laplace(30_000, charge("0.5")) for _ in range(2))
    masses = discrete_laplace_masses(2)
    sums = listed(np.convolve(masses, masses).tolist(), first=-400)
    for left, right in ((one[::2], one[1::2]), (one, other)):
        assert_fits(left + right, sums)
    assert distance(one + one, sums) > 2 * bound(one), "what the test is to find"


@pytest.mark.parametrize(("rho", "sensitivity", "scale"), [("1/8", 3, 6.0), ("2", 1, 0.5)])
def test_discrete_gaussian(source: RandomSource, rho: str, sensitivity: int, scale: float) -> None:
    noise = source.discrete_gaussian(20_000, RhoCharge("test", Fraction(rho), None), sensitivity=sensitivity)
    assert noise.dtype == np.int64
    assert_fits_only(noise, lambda factor: listed(discrete_gaussian_masses(factor * scale), first=-200))


def test_gumbel_choice(source: RandomSource) -> None:
    """In proportion to the exponential of scores, which permute-and-flip is not; with more runs in tests/deep."""
    refuse_gumbel_choice(source, 3, [0, 0, 0, 3], 9_000)


def refuse_gumbel_choice(source: RandomSource, sensitivity: int, among: Sequence[int], runs: int) -> None:
    scores = [sensitivity * score for score in among]
    positions = source.gumbel_choice(
        np.array(scores), RhoCharge("test", Fraction(1, 8), None), sensitivity=sensitivity, runs=runs
    )
    scale = 2.0 * sensitivity

    def family(factor: float) -> Cumulative:
        return listed(softmax_masses([score / (factor * scale) for score in scores]))

    assert_fits_only(positions, family, listed(permute_and_flip_masses(scores, scale)))


def test_discrete_laplace_tail(source: RandomSource) -> None:
    exceeding = source.discrete_laplace_tail(20_000, charge("0.5"))
    assert len(exceeding) == 20_000

    def masses(scale: float) -> list[float]:
        base = math.exp(-1 / scale)
        return [(1 - base) * base**count for count in range(200)]

    assert_fits_only(exceeding, lambda factor: listed(masses(factor * 2)))


def test_exponential_mechanism(source: RandomSource) -> None:
    sensitivity, scale = 2, 8.0
    scores = [0, *(-sensitivity * below for below in (7, 6, 8, 7, 8))]
    positions = source.permute_and_flip(np.array(scores), charge("0.5"), sensitivity=sensitivity, runs=9_000)
    assert positions.shape == (9_000,)
    masses = permute_and_flip_masses(scores, scale)
    published = softmax_masses([score / scale for score in scores])
    assert_fits_only(
        positions, lambda factor: listed(permute_and_flip_masses(scores, factor * scale)), listed(published)
    )
    assert np.dot(scores, masses) > np.dot(scores, published), "the exponential mechanism is expected to choose worse"


def test_a_choice_by_the_exponential_mechanism(source: RandomSource) -> None:
    """It is not permute-and-flip, and costs the same."""
    sensitivity, scale = 2, 8.0
    scores = [0, *(-sensitivity * below for below in (7, 6, 8, 7, 8))]
    positions = source.choice(np.array(scores), charge("0.5"), by="exponential", sensitivity=sensitivity, runs=9_000)
    assert_fits_only(
        positions,
        lambda factor: listed(softmax_masses([score / scale / factor for score in scores])),
        listed(permute_and_flip_masses(scores, scale)),
    )


def test_a_choice_by_monotonic_scores(source: RandomSource) -> None:
    scores = [0, -3, -4, -3, -4]
    positions = source.permute_and_flip(np.array(scores), charge("0.5"), sensitivity=1, monotonic=True, runs=9_000)
    assert_fits_only(positions, lambda factor: listed(permute_and_flip_masses(scores, factor * 2)))


def test_grouped_exponential_mechanism(source: RandomSource) -> None:
    """And not as if counts did not count, with groups of nobody or without."""
    sensitivity, scale = 2, 8.0
    scores, counts = [sensitivity * score for score in (0, -6, 9, -9, -1)], [3, 40, 0, 80, 1]

    def by_group(factor: float, counts: Sequence[int]) -> Cumulative:
        weights = [count * math.exp(score / scale / factor) for score, count in zip(scores, counts, strict=True)]
        return listed([weight / math.fsum(weights) for weight in weights])

    groups, places = source.grouped_exponential_mechanism(
        np.array(scores), np.array(counts), charge("0.5"), sensitivity=sensitivity, runs=100_000
    )
    assert groups.shape == places.shape == (100_000,)
    all_shown = [int(count > 0) for count in counts]
    assert_fits_only(groups, lambda factor: by_group(factor, counts), by_group(1, all_shown), by_group(1, [1] * 5))
    for group, count in ((0, 3), (1, 40), (3, 80)):
        uniform = listed([1 / count] * count)
        assert_fits(places[groups == group], uniform, lambda places, uniform=uniform: uniform(places) ** 1.3)


def test_groups_of_one_are_those_of_the_textbook(source: RandomSource) -> None:
    scores = [0, *(-below for below in (7, 6, 8, 7, 8))]
    groups, places = source.grouped_exponential_mechanism(
        np.array(scores), np.ones(6, dtype=np.int64), charge("0.5"), sensitivity=1, runs=20_000
    )
    assert not places.any()
    other = listed(permute_and_flip_masses(scores, 4))
    assert_fits_only(groups, lambda factor: listed(softmax_masses([score / 4 / factor for score in scores])), other)


def test_thinned(source: RandomSource) -> None:
    kept = source.thinned(np.full(20_000, 7), Fraction(2, 5))
    assert_fits_only(kept, lambda factor: listed(binomial_masses(7, factor * 0.4)))


@pytest.mark.parametrize("threshold", [None, pure_threshold(10**15, Fraction(1))], ids=["fraction", "tail"])
def test_binomial_of_many_trials(source: RandomSource, threshold: int | None) -> None:
    """Which is Poisson's, up to 10^-15."""
    if threshold is None:
        probability, mean = Fraction(1, 10**15), 1.0
    else:
        probability = empty_cell_probability(threshold, Fraction(1))
        mean = 10**15 * math.exp(-threshold) / (1 + math.exp(-1))
    successes = source.binomial(10**15, probability, runs=20_000)
    assert_fits_only(successes, lambda factor: listed(poisson_masses(factor * mean)))


@pytest.mark.parametrize("probability", [Fraction(2, 5), Fraction(3, 5)])
def test_binomial_in_parts(source: RandomSource, probability: Fraction) -> None:
    successes = source.binomial(400, probability, runs=3_000)
    assert_fits_only(successes, lambda factor: listed(binomial_masses(400, factor * float(probability))))


def test_parts_of_a_binomial_have_all_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "LARGEST_MEAN", 1)
    successes = sa.SeededSource(20).binomial(5, Fraction(2, 5), runs=20_000)
    assert_fits(successes, *(listed(binomial_masses(trials, 0.4)) for trials in (5, 4, 6)))


@pytest.mark.parametrize("count", [2, 3])
def test_chosen(source: RandomSource, count: int) -> None:
    """All subsets are as likely as each other, and each member is in as many as it should."""
    subsets = {subset: place for place, subset in enumerate(itertools.combinations(range(5), count))}
    drawn = [tuple(source.chosen(5, count).tolist()) for _ in range(4_000)]
    assert_fits(np.array([subsets[subset] for subset in drawn]), listed([0.1] * 10))
    for member in range(5):
        chosen = np.array([int(member in subset) for subset in drawn])
        assert_fits_only(chosen, lambda factor: listed([1 - factor * count / 5, factor * count / 5]))


def test_seed(source: RandomSource) -> None:
    seeds = [source.seed() for _ in range(4_000)]
    assert len(set(seeds)) == len(seeds)
    for shift in range(0, 64, 4):
        digits = np.array([seed >> shift & 15 for seed in seeds])
        assert_fits(digits, listed([1 / 16] * 16), listed([off / 16 for off in OFF for _ in range(8)]))


def test_uniform(source: RandomSource) -> None:
    numbers = source.uniform(20_000)
    assert numbers.min() > 0 and numbers.max() < 1
    assert_fits(numbers, lambda values: np.clip(values, 0, 1), *(lambda values, off=off: values**off for off in OFF))


def test_laplace(source: RandomSource) -> None:
    noise = source.laplace(20_000, 3.0)
    assert_fits_only(noise, lambda factor: laplace_cumulative(factor * 3))


def test_softmax_choice(source: RandomSource) -> None:
    log_weights = np.array([0.5, -1, 2, 0.0])
    positions = source.softmax_choice(1000 + log_weights, runs=20_000)
    assert_fits_only(positions, lambda factor: listed(softmax_masses((factor * log_weights).tolist())))


def test_softmax_choice_by_the_weights_of_each_run(source: RandomSource) -> None:
    """Candidates without a chance are never chosen; runs do not get the weights of others."""
    log_weights = np.tile([[0.5, -1, 2, -np.inf], [-np.inf, 3, 0.0, 1]], (10_000, 1))
    positions = source.softmax_choice(log_weights, runs=20_000)
    for run, weights in enumerate(([0.5, -1, 2], [3, 0.0, 1])):
        own = positions[run::2] - run
        assert_fits_only(own, lambda factor, weights=weights: listed(softmax_masses([factor * w for w in weights])))


def test_the_same_seed_draws_the_same() -> None:
    one, other, third = (sa.SeededSource(seed) for seed in (3, 3, 4))
    assert [source.seed() for source in (one, other)] == [sa.SeededSource(3).seed()] * 2
    noise = [source.discrete_laplace(50, charge("0.1")).tolist() for source in (one, other, third)]
    assert noise[0] == noise[1] != noise[2]
