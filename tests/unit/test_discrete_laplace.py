"""The discrete Laplace distribution: exact probabilities, thresholds, and what a draw costs."""

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from opendp import domains, measurements, metrics
from opendp.mod import enable_features

import sqlanon as sa
from sqlanon.chance import opendp
from sqlanon.chance import random_source as seeded
from sqlanon.chance.accountant import Charge, require_covered
from sqlanon.chance.exact import bounds, complement, exponential, is_at_most
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    Tail,
    difference_sensitivity,
    empty_cell_probability,
    pure_threshold,
    scale_for,
    threshold,
)
from sqlanon.errors import BudgetError
from tests.thresholded_counts import Mass

DELTAS = [Fraction(text) for text in ("1e-4", "1e-5", "1e-6", "1e-8", "1e-9")]
TABLE = {
    "0.1": [87, 110, 133, 179, 202],
    "0.2": [45, 56, 68, 91, 102],
    "0.3": [30, 38, 46, 61, 69],
    "0.4": [23, 29, 35, 46, 52],
    "0.5": [19, 24, 28, 37, 42],
    "1.0": [10, 13, 15, 20, 22],
    "2.0": [6, 7, 8, 11, 12],
}
EPSILONS = st.fractions(Fraction(1, 100), 5, max_denominator=1000)
PRECISE = Context(prec=80)
SEEN = 150
Cells = tuple[int, int]


def precise_tail(scale: Fraction, least: int) -> Decimal:
    """P(Z >= least) to 80 digits."""
    with localcontext(PRECISE):
        if least <= 0:
            return 1 - precise_tail(scale, 1 - least)
        base = (Decimal(-scale.denominator) / Decimal(scale.numerator)).exp()
        return base**least / (1 + base)


def taylor(exponent: Fraction) -> Iterator[Fraction]:
    """The sums of the series of e^-x: in turn above and below it once the terms fall."""
    term, total = Fraction(1), Fraction(0)
    for order in range(1, 80):
        total += term
        yield total
        term *= -exponent / order


def charge(epsilon: str | Fraction) -> Charge:
    return Charge("counts", sa.Budget(epsilon), None)


def spreads(rows: int, most: int) -> Iterator[list[int]]:
    """The ways to spread rows over cells, apart from the order of the cells."""
    if rows == 0:
        yield []
    for first in range(1, min(rows, most) + 1):
        yield from ([first, *others] for others in spreads(rows - first, first))


def published(count: int, least: int, scale: float) -> NDArray[np.float64]:
    """The probabilities of what is seen of a cell: nothing, ``least``, ``least`` + 1, ..."""
    if count == 0:
        return np.eye(1, SEEN)[0]
    base = math.exp(-1 / scale)
    seen = (1 - base) / (1 + base) * base ** np.abs(np.arange(least, least + SEEN - 1) - count)
    return np.concatenate([[1 - seen.sum()], seen])


def divergence(one: Cells, other: Cells, least: int, scale: float, epsilon: float) -> float:
    """The smallest δ for two tables and this ε, by the sum over all that can be seen."""
    seen, instead = (np.outer(*(published(count, least, scale) for count in cells)) for cells in (one, other))
    worse = math.exp(epsilon)
    return float(max(np.maximum(seen - worse * instead, 0).sum(), np.maximum(instead - worse * seen, 0).sum()))


class TestProbabilities:
    @given(exponent=st.fractions(0, 6, max_denominator=10**6), bits=st.integers(1, 60))
    def test_bounds_of_the_exponential_enclose_it(self, exponent: Fraction, bits: int) -> None:
        low, high = exponential(exponent, bits)
        *_, one, other = taylor(exponent)
        assert 0 <= low <= min(one, other) <= max(one, other) <= high <= 1
        assert high - low <= Fraction(1, 2**bits)

    @given(epsilon=EPSILONS, value=st.integers(-400, 400), bits=st.integers(1, 200))
    def test_bounds_of_masses_and_tails_enclose_them(self, epsilon: Fraction, value: int, bits: int) -> None:
        scale = 1 / epsilon
        right, further = (Fraction(precise_tail(scale, least)) for least in (value, value + 1))
        for probability, expected in (
            (Tail(scale, value), right),
            (Mass(scale, value), right - further),
            (complement(Tail(scale, value)), 1 - right),
        ):
            low, high = bounds(probability, bits)
            assert 0 <= low <= expected + Fraction(1, 10**70)
            assert expected - Fraction(1, 10**70) <= high <= 1
            assert high - low <= Fraction(1, 2**bits)

    def test_a_comparison_looks_as_closely_as_it_must(self) -> None:
        tail = Tail(Fraction(1), 3)
        low, high = tail.bounds(1000)
        assert is_at_most(tail, high)
        assert not is_at_most(tail, low)
        assert is_at_most(Fraction(1, 3), Fraction(1, 3))
        assert not is_at_most(complement(Fraction(1, 3)), Fraction(1, 3))

    @pytest.mark.parametrize("epsilon", TABLE)
    def test_the_published_table(self, epsilon: str) -> None:
        assert [threshold(Fraction(epsilon), delta) for delta in DELTAS] == TABLE[epsilon]


class TestThresholds:
    @given(epsilon=EPSILONS, delta=st.integers(1, 40).flatmap(lambda digits: st.fractions(0, Fraction(1, 2**digits))))
    def test_it_is_the_smallest_one(self, epsilon: Fraction, delta: Fraction) -> None:
        if delta == 0:
            with pytest.raises(ValueError, match="δ = 0"):
                threshold(epsilon, delta)
            return
        least = threshold(epsilon, delta)
        scale = Fraction(scale_for(epsilon, 1))
        assert precise_tail(scale, least - 1) <= delta
        assert least == 1 or precise_tail(scale, least - 2) > delta

    @pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
    @pytest.mark.parametrize("rows", [2, 3, 7, 12])
    def test_it_holds_however_rows_are_spread(self, epsilon: str, rows: int) -> None:
        delta = Fraction("1e-6")
        scale = Fraction(scale_for(Fraction(epsilon), rows))
        least = threshold(Fraction(epsilon), delta, rows=rows)
        ways = [way for total in range(1, rows + 1) for way in spreads(total, total)]
        tails, higher = ([precise_tail(scale, least - below - count) for count in range(rows + 1)] for below in (0, 1))
        assert max(1 - math.prod(1 - tails[count] for count in way) for way in ways) <= delta
        assert max(sum(higher[count] for count in way) for way in ways) > delta

    @pytest.mark.parametrize(("epsilon", "rows"), [(Fraction(1), 1), (Fraction(1), 2), (Fraction(3), 2)])
    def test_what_is_published_with_it_is_private(self, epsilon: Fraction, rows: int) -> None:
        """The exact divergence of two cells where rows are added, wherever they fall and whatever is there."""
        delta = Fraction(1, 1000)
        least = threshold(epsilon, delta, rows=rows)
        scale = scale_for(epsilon, rows)
        counts = [0, 1, 2, least - 1, least]
        added = [more for more in itertools.product(range(rows + 1), repeat=2) if 0 < sum(more) <= rows]
        divergences = {
            lowered: max(
                divergence(cells, (cells[0] + more[0], cells[1] + more[1]), least - lowered, scale, float(epsilon))
                for cells in itertools.product(counts, repeat=2)
                for more in added
            )
            for lowered in (0, 1)
        }
        assert divergences[0] <= delta < divergences[1]

    @pytest.mark.parametrize(("cells", "rows"), [(1, 1), (10, 1), (10**15, 1), (10**30, 3)])
    def test_of_all_empty_cells_one_is_expected(self, cells: int, rows: int) -> None:
        least = pure_threshold(cells, Fraction("0.3"), rows=rows)
        scale = Fraction(scale_for(Fraction("0.3"), rows))
        assert cells * precise_tail(scale, least) <= 1
        assert least == 1 or cells * precise_tail(scale, least - 1) > 1
        assert empty_cell_probability(least, Fraction("0.3"), rows=rows) == Tail(scale, least)

    def test_what_has_no_threshold_is_refused(self) -> None:
        for refused in (lambda: threshold(Fraction(1), Fraction(1), rows=0), lambda: pure_threshold(0, Fraction(1))):
            with pytest.raises(ValueError, match="0"):
                refused()
        with pytest.raises(BudgetError, match="ε must be above 0"):
            threshold(Fraction(0), Fraction("1e-6"))

    def test_opendp_gives_a_smaller_delta_than_that_of_what_it_publishes(self) -> None:
        """Why δ is ours: a count of 1 that no other table has is published more often than OpenDP's map says."""
        enable_features("contrib")
        space = (
            domains.map_domain(domains.atom_domain(T="i64"), domains.atom_domain(T="i64")),
            metrics.l01inf_distance(metrics.absolute_distance(T="i64")),
        )
        _, claimed = measurements.make_laplace_threshold(*space, 1 / 0.6, 24).map((1, 1, 1))
        assert claimed == pytest.approx(float(precise_tail(Fraction(1 / 0.6), 24)))
        assert float(precise_tail(Fraction(1 / 0.6), 23)) == pytest.approx(6.5575e-7, rel=1e-4)

        mechanism = measurements.make_laplace_threshold(*space, 1.0, 5)
        _, claimed = mechanism.map((1, 1, 1))
        trials = 60_000
        published = len(mechanism(dict.fromkeys(range(trials), 1)))
        # With the claimed δ = 0.0049, 296 of them are expected; with the true 0.0134, 803. Chance of error below 1e-9.
        assert claimed * trials < 300
        assert 550 < published < 1060


class TestScales:
    def test_of_whole_numbers_and_of_a_tenth(self) -> None:
        """A quotient that is a float is the scale; of a tenth it is the next float, as 0.1 is above a tenth."""
        asked = [(2, 1), (1, 1), (1, 3), (Fraction(1, 10), 1)]
        assert [scale_for(Fraction(epsilon), rows) for epsilon, rows in asked] == [0.5, 1, 3, math.nextafter(10, 11)]

    def test_differences_between_scores(self) -> None:
        assert [difference_sensitivity(3, monotonic=monotonic) for monotonic in (True, False)] == [3, 6]

    @pytest.mark.parametrize("sensitivity", [0, -1])
    def test_nothing_is_bought_for_what_nobody_can_change(self, sensitivity: int) -> None:
        with pytest.raises(ValueError, match="must be 1 or more"):
            scale_for(Fraction(1), sensitivity)
        with pytest.raises(BudgetError, match="ε must be above 0"):
            scale_for(Fraction(0), 1)

    def test_scales_have_ends(self) -> None:
        assert scale_for(Fraction(10**400), 1) == SMALLEST_SCALE
        assert scale_for(Fraction(1, LARGEST_SCALE), 1) == LARGEST_SCALE
        with pytest.raises(BudgetError, match="too small"):
            scale_for(Fraction(1, LARGEST_SCALE + 1), 1)


class TestCosts:
    @given(epsilon=EPSILONS, sensitivity=st.integers(1, 1000))
    def test_a_scale_is_the_smallest_that_opendp_finds_to_cost_no_more(
        self, epsilon: Fraction, sensitivity: int
    ) -> None:
        scale = scale_for(epsilon, sensitivity)
        less = math.nextafter(scale, 0)
        assert Fraction(opendp.laplace_mechanism(scale).map(sensitivity)) <= epsilon
        assert Fraction(opendp.laplace_mechanism(less).map(sensitivity)) > epsilon
        assert sensitivity / Fraction(scale) <= epsilon
        scale = scale_for(epsilon, 2 * sensitivity)
        assert Fraction(opendp.noisy_max_mechanism(scale, monotonic=False).map(sensitivity)) <= epsilon
        scale = scale_for(epsilon, sensitivity)
        assert Fraction(opendp.noisy_max_mechanism(scale, monotonic=True).map(sensitivity)) <= epsilon

    def test_the_float_of_a_tenth_is_more_than_a_tenth(self) -> None:
        assert opendp.laplace_mechanism(10.0).map(1) == 0.1
        assert scale_for(Fraction(1, 10), 1) == math.nextafter(10, 11)
        for loss in (0.1, math.inf):
            with pytest.raises(BudgetError, match="counts: nothing is drawn"):
                require_covered(charge("0.1"), loss)
        require_covered(charge(Fraction(0.1)), 0.1)

    def test_a_loss_is_exactly_no_more_than_a_float_either(self) -> None:
        """Where it is a little more, the float that is nearest to it would be the very same."""
        for numerator in range(1, 100):
            for epsilon in (Fraction(numerator / 7), Fraction(numerator, 7)):
                assert 3 / Fraction(scale_for(epsilon, 3)) <= epsilon

    @pytest.mark.parametrize("source", [sa.SeededSource(1), sa.OpenDPSource()], ids=["seeded", "opendp"])
    def test_a_draw_that_costs_more_than_was_paid_is_refused(
        self, source: RandomSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        draws: list[Callable[[Charge], object]] = [
            lambda paid: source.discrete_laplace(3, paid),
            lambda paid: source.discrete_laplace_tail(3, paid),
            lambda paid: source.permute_and_flip(np.array([1, 2]), paid, sensitivity=1),
        ]
        for draw in draws:
            draw(charge("1"))
            with pytest.raises(BudgetError, match="ε must be above 0"):
                draw(charge("0"))
        for module in (seeded, opendp):
            monkeypatch.setattr(module, "scale_for", lambda _, sensitivity: math.nextafter(sensitivity, 0))
        for draw in draws:
            with pytest.raises(BudgetError, match="would cost"):
                draw(charge("1"))

    def test_without_opendp_the_error_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "opendp.mod", None)
        opendp.require_opendp.cache_clear()
        with pytest.raises(sa.PolicyError, match=r"pip install '\.\[dp\]'"):
            sa.OpenDPSource()
