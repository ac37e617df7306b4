"""Exact draws from uniform words, against brute force on the same words."""

import itertools
import math
import tracemalloc
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sqlanon as sa
from sqlanon.chance import exact as words
from sqlanon.chance.exact import Interval, binomial, bounds, cumulative_bounds, power_ceiling, power_floor
from sqlanon.chance.scales import Tail

WORD = st.integers(0, 2**64 - 1)


class Script:
    def __init__(self, script: Iterable[int]) -> None:
        self._script = iter(script)
        self.taken: list[int] = []

    def __call__(self, count: int) -> NDArray[np.uint64]:
        portion = list(itertools.islice(self._script, count))
        assert len(portion) == count, "more words are taken than were written"
        self.taken += portion
        return np.array(portion, dtype=np.uint64)


def cumulative(trials: int, probability: Fraction) -> list[Fraction]:
    masses = [
        math.comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(trials + 1)
    ]
    return list(itertools.accumulate(masses))


@dataclass(frozen=True)
class Vague:
    """A probability of which no more is known than this."""

    low: Fraction
    high: Fraction

    def bounds(self, bits: int) -> Interval:
        return self.low, self.high


class TestBinomial:
    @given(
        trials=st.integers(0, 12),
        ends=st.tuples(*[st.fractions(0, Fraction(1, 2), max_denominator=50)] * 2).map(sorted),
        between=st.fractions(0, 1, max_denominator=5),
    )
    def test_bounds_hold_for_all_that_the_probability_may_be(
        self, trials: int, ends: list[Fraction], between: Fraction
    ) -> None:
        least, most = ends
        right = cumulative(trials, least + between * (most - least))
        low, high = cumulative_bounds(trials, Vague(least, most), 64)
        for below, expected, above in zip(low, right, high, strict=False):
            assert below <= expected * 2**64 <= above

    @given(base=st.integers(0, 64), exponent=st.integers(0, 40), precision=st.just(6))
    def test_powers_are_rounded_either_way(self, base: int, exponent: int, precision: int) -> None:
        exact = Fraction(base, 2**precision) ** exponent * 2**precision
        assert power_floor(base, exponent, precision) <= exact <= power_ceiling(base, exponent, precision)

    @given(
        trials=st.integers(0, 30),
        probability=st.fractions(0, Fraction(1, 2), max_denominator=100),
        script=st.lists(WORD | st.sampled_from([0, 2**64 - 1]), min_size=1, max_size=2),
    )
    def test_it_is_where_the_uniform_number_falls(self, trials: int, probability: Fraction, script: list[int]) -> None:
        source = Script([*script, 12345, 54321, 6789])
        [successes] = binomial(trials, probability, 1, source)
        parts = [0, *cumulative(trials, probability)]
        bits = 64 * len(source.taken)
        uniform = sum(word << (bits - 64 * place) for place, word in enumerate(source.taken, 1))
        assert parts[successes] <= Fraction(uniform, 2**bits)
        assert Fraction(uniform + 1, 2**bits) <= parts[successes + 1]

    def test_boundaries_are_met_to_the_last_bit(self) -> None:
        ends = [int(end * 2**64) for end in cumulative(3, Fraction(1, 4))]
        assert [int(binomial(3, Fraction(1, 4), 1, Script([end - 1]))[0]) for end in ends] == [0, 1, 2, 3]
        assert [int(binomial(3, Fraction(1, 4), 1, Script([end]))[0]) for end in ends[:-1]] == [1, 2, 3]
        flipped = binomial(3, Fraction(3, 4), 4, Script([0, *ends[:-1]]))
        assert flipped.tolist() == [3, 2, 1, 0]

    def test_more_words_are_taken_where_one_does_not_decide(self) -> None:
        tail = Tail(Fraction(1), 2)
        low, high = bounds(tail, 300)
        nobody = ((1 - high) ** 5 + (1 - low) ** 5) / 2
        first, second = divmod(int(nobody * 2**128), 2**64)
        for word, successes in ((second - 1, 0), (second + 1, 1)):
            source = Script([first, word])
            assert binomial(5, tail, 1, source) == [successes]
            assert len(source.taken) == 2

    def test_what_is_certain_is_certain(self) -> None:
        source = sa.SeededSource(1)
        for trials in (0, 1, 10**15):
            assert source.binomial(trials, Fraction(0), runs=2).tolist() == [0, 0]
            if trials < 2:
                assert source.binomial(trials, Fraction(1), runs=2).tolist() == [trials, trials]
        assert source.binomial(5, Fraction(1, 2), runs=0).shape == (0,)

    def test_what_cannot_be_drawn_is_refused(self) -> None:
        for trials, probability in ((-1, Fraction(1, 2)), (1, Fraction(3, 2)), (1, Fraction(-1, 2))):
            with pytest.raises(ValueError, match=r"0 or more|not a probability"):
                sa.SeededSource(1).binomial(trials, probability)


class TestThinned:
    @given(
        counts=st.lists(st.integers(0, 9), max_size=8),
        probability=st.fractions(0, 1, max_denominator=7),
        at_once=st.integers(1, 5),
        data=st.data(),
    )
    def test_units_stay_where_their_word_is_small(
        self, counts: list[int], probability: Fraction, at_once: int, data: st.DataObject
    ) -> None:
        limit = int(probability * 2**64)
        near = st.sampled_from(sorted({max(limit - 1, 0), min(limit, 2**64 - 1)}))
        script = data.draw(st.lists(near | WORD, min_size=sum(counts), max_size=sum(counts)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(words, "WORDS_AT_ONCE", at_once)
            kept = words.thinned(np.array(counts, dtype=np.int64), probability, Script(script))
        units = iter(script)
        assert kept.tolist() == [sum(next(units) < limit for _ in range(count)) for count in counts]

    def test_memory_is_bounded(self) -> None:
        tracemalloc.start()
        kept = sa.SeededSource(1).thinned(np.array([3_000_000, 0, 10]), Fraction(1, 2))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert 1_490_000 < kept[0] < 1_510_000
        assert peak < 8_000_000, "3 million words take 24 MB"

    def test_what_cannot_stay_is_refused(self) -> None:
        with pytest.raises(ValueError, match="0 or more"):
            sa.SeededSource(1).thinned(np.array([-1]), Fraction(1, 2))


class TestChosen:
    @given(population=st.integers(0, 40), seed=st.integers(0, 99), data=st.data())
    def test_they_are_different_and_ascending(self, population: int, seed: int, data: st.DataObject) -> None:
        count = data.draw(st.integers(0, population))
        numbers = sa.SeededSource(seed).chosen(population, count)
        assert len(numbers) == count
        assert (np.diff(numbers) > 0).all()
        assert all(0 <= number < population for number in numbers.tolist())

    def test_every_word_and_repetition_counts_as_it_should(self) -> None:
        # Of 5, three bits tell: 7 and 6 are too large, the second 4 is a repetition.
        assert words.chosen(5, 2, Script([7, 8 + 4, 6, 4, 2**64 - 8 + 1])).tolist() == [1, 4]

    def test_more_than_there_are_is_refused(self) -> None:
        for population, count in ((3, 4), (3, -1), (2**63 + 1, 1)):
            with pytest.raises(ValueError, match="cannot choose"):
                sa.SeededSource(1).chosen(population, count)
        assert sa.SeededSource(1).chosen(2**63, 1)[0] >= 0


class TestSampled:
    @given(st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any))
    def test_each_position_has_the_words_of_its_weight(self, weights: list[int]) -> None:
        """Over all words of three to five bits that are low enough: as many as the weight says, in their order."""
        total = sum(weights)
        drawn = words.sampled(np.array(weights), total, Script(range(total)))
        assert drawn.tolist() == [place for place, weight in enumerate(weights) for _ in range(weight)]

    def test_words_that_are_too_large_are_drawn_again(self) -> None:
        script = Script([3, 3, 1, 2, 3, 0])
        assert words.sampled(np.array([1, 0, 2]), 3, script).tolist() == [2, 2, 0]

    @pytest.mark.parametrize("weights", [[0, 0], [-1, 2], [2**62, 2**62]])
    def test_weights_that_are_none(self, weights: list[int]) -> None:
        with pytest.raises(ValueError, match="weights"):
            words.sampled(np.array(weights), 1, Script([]))


def test_uniform_numbers_are_never_at_the_ends() -> None:
    assert words.uniforms(2, Script([0, 2**64 - 1])).tolist() == [2.0**-53, 1 - 2.0**-53]
