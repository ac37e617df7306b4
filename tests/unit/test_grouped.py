"""The exponential mechanism over groups: each uniform number falls where exact weights say, and each loss is paid."""

import itertools
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.audits.exact_audit import smallest_epsilon
from sqlanon.chance import grouped
from sqlanon.chance.accountant import Accountant, Charge
from sqlanon.chance.exact import Words, below_each
from sqlanon.chance.grouped import Weights, grouped_choice
from sqlanon.chance.scales import LARGEST_SCALE, SMALLEST_SCALE, scale_for
from tests.unit.test_words import WORD, Script

PRECISE = Context(prec=400, Emin=MIN_EMIN, Emax=MAX_EMAX)
ONES = 2**64 - 1
MORE_WORDS = [0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB]

GROUPS = st.lists(
    st.tuples(st.integers(-200, 200) | st.integers(-(2**63), 2**63 - 1), st.integers(0, 5) | st.integers(0, 2**40)),
    min_size=1,
    max_size=12,
).filter(lambda groups: any(count for _, count in groups))
SCALES = st.sampled_from([SMALLEST_SCALE, 0.3, 1.0, 7.1, 1000.0, 1e6, float(LARGEST_SCALE)])


def seeded_words(seed: int) -> Words:
    return partial(np.random.default_rng(seed).integers, 0, 2**64, dtype=np.uint64)


def weights_until(groups: Sequence[tuple[int, int]], scale: float) -> list[Fraction]:
    """The cumulative weights, to 400 digits or exactly if all scores are the same; the best score weighs 1."""
    top = max(score for score, count in groups if count)
    return list(
        itertools.accumulate(
            count * precise_exponential((score - top) / Fraction(scale)) if count else Fraction(0)
            for score, count in groups
        )
    )


def boundaries(groups: Sequence[tuple[int, int]], scale: float) -> list[Fraction]:
    """0 and the cumulative probabilities."""
    ends = weights_until(groups, scale)
    return [Fraction(0), *(end / ends[-1] for end in ends)]


def precise_exponential(exponent: Fraction) -> Fraction:
    quotient = PRECISE.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(0) if quotient < -1000 else Fraction(PRECISE.exp(quotient))


def masses(groups: Sequence[tuple[int, int]], scale: float) -> list[float]:
    return [float(end - start) for start, end in itertools.pairwise(boundaries(groups, scale))]


def by_candidate(scores: Sequence[int], scale: float) -> dict[int, float]:
    """The probability of each candidate: that of the group of its score, over how many these are."""
    groups = sorted(Counter(scores).items())
    of_score = {score: mass / count for (score, count), mass in zip(groups, masses(groups, scale), strict=True)}
    return {candidate: of_score[score] for candidate, score in enumerate(scores)}


def arrays(groups: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    scores, counts = zip(*groups, strict=True)
    return np.array(scores, dtype=np.int64), np.array(counts, dtype=np.int64)


def drawn(groups: Sequence[tuple[int, int]], scale: float, script: Sequence[int]) -> tuple[int, int]:
    """The group that these words draw, and how many of them it takes."""
    scores, counts = arrays(groups)
    inhabited = np.flatnonzero(counts)
    weights = Weights.of(scores[inhabited], counts[inhabited], Fraction(scale))
    source = Script(script)
    [group] = grouped.inverted(weights, source(1), source)
    return int(inhabited[group]), len(source.taken)


def charge(epsilon: str | Fraction) -> Charge:
    accountant = Accountant(None, dataset="", method="", policy_sha256="")
    return accountant.charge({"split": sa.Budget(epsilon)})["split"]


class TestGroups:
    @given(GROUPS, SCALES, st.lists(WORD | st.sampled_from([0, ONES]), min_size=1, max_size=2), st.data())
    def test_it_is_where_the_uniform_number_falls(
        self, groups: list[tuple[int, int]], scale: float, script: list[int], data: st.DataObject
    ) -> None:
        """Also where the first word is that of a boundary, or close to it."""
        parts = boundaries(groups, scale)
        if data.draw(st.booleans()):
            nearest = int(data.draw(st.sampled_from(parts)) * 2**64) + data.draw(st.integers(-(2**22), 2**22))
            script = [min(max(nearest, 0), ONES), *script[1:]]
        group, taken = drawn(groups, scale, [*script, *MORE_WORDS])
        uniform = sum(word << (64 * (taken - place)) for place, word in enumerate([*script, *MORE_WORDS][:taken], 1))
        error = Fraction(1, 10**380)
        assert groups[group][1] > 0
        assert parts[group] <= Fraction(uniform, 2 ** (64 * taken)) + error
        assert Fraction(uniform + 1, 2 ** (64 * taken)) <= parts[group + 1] + error

    def test_boundaries_are_met_to_the_last_bit(self) -> None:
        groups = [(3, 5), (0, 40), (2, 7), (-1, 1)]
        for group, end in enumerate(boundaries(groups, 1.5)[1:-1]):
            first, second = divmod(int(end * 2**128), 2**64)
            assert drawn(groups, 1.5, [first - 1]) == (group, 1)
            assert drawn(groups, 1.5, [first + 1]) == (group + 1, 1)
            assert drawn(groups, 1.5, [first, second - 1]) == (group, 2)
            assert drawn(groups, 1.5, [first, second + 1]) == (group + 1, 2)

    def test_equal_scores_are_drawn_by_their_counts(self) -> None:
        groups = [(7, 1), (7, 0), (7, 3)]
        assert [drawn(groups, 1.0, [word])[0] for word in (0, 2**62 - 1, 2**62, ONES)] == [0, 0, 2, 2]

    def test_floats_decide_as_integers_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        generator = np.random.default_rng(7)
        scores, counts = generator.integers(-60, 60, 50), generator.integers(0, 2**40, 50)
        by_floats = grouped_choice(scores, counts, 9.7, 400, seeded_words(5))[0]
        rough_ends = Weights.rough_ends
        monkeypatch.setattr(Weights, "rough_ends", lambda weights: (rough_ends(weights)[0], 2**62))
        by_integers = grouped_choice(scores, counts, 9.7, 400, seeded_words(5))[0]
        assert by_floats.tolist() == by_integers.tolist()
        assert len(set(by_floats.tolist())) > 10

    @given(GROUPS, SCALES)
    def test_rough_ends_are_as_rough_as_they_say(self, groups: list[tuple[int, int]], scale: float) -> None:
        """Half of the slack is for the uniform number."""
        groups = [(score, count) for score, count in groups if count]
        ends, slack = Weights.of(*arrays(groups), Fraction(scale)).rough_ends()
        total = int(ends[-1])
        assert 2**59 <= total < 2**62
        for found, right in zip(ends.tolist(), boundaries(groups, scale)[1:], strict=True):
            assert abs(found - right * total) < Fraction(slack) / 2
        assert slack < total / 2**40

    @given(GROUPS, SCALES, st.sampled_from([64, 128, 512]))
    def test_ends_are_between_their_bounds(self, groups: list[tuple[int, int]], scale: float, bits: int) -> None:
        """Which are close enough for a uniform number of so many bits."""
        groups = [(score, count) for score, count in groups if count]
        lows, highs = Weights.of(*arrays(groups), Fraction(scale)).ends(bits)
        one = 2 ** (bits + grouped.SPARE_BITS)
        error = Fraction(1, 10**390)
        for low, right, high in zip(lows, weights_until(groups, scale), highs, strict=True):
            assert low - error * low <= right * one <= high + error * high
            assert high - low < Fraction(highs[-1], 2 ** (bits + 50))

    def test_of_many_groups_nearly_all_draws_take_one_word(self) -> None:
        """And are right: all ends are compared with sums to 400 digits."""
        generator = np.random.default_rng(3)
        scores, counts = generator.integers(0, 30_000, 1_000), generator.integers(1, 2**40, 1_000)
        weights = Weights.of(scores, counts, Fraction(1000))
        ends, slack = weights.rough_ends()
        exact = boundaries(list(zip(scores.tolist(), counts.tolist(), strict=True)), 1000.0)[1:]
        total = int(ends[-1])
        assert max(abs(found - right * total) for found, right in zip(ends.tolist(), exact, strict=True)) < slack / 2
        assert 2 * len(ends) * slack / total < 1e-8, "the chance that a word does not decide"
        words = seeded_words(4)(2_000)
        found = grouped.inverted(weights, words, Script([]))
        places = [bisect_right(exact, Fraction(word, 2**64)) for word in words.tolist()]
        assert found.tolist() == places


class TestExtremes:
    def test_scores_may_be_as_far_apart_as_can_be(self) -> None:
        groups = [(-(2**63), 2**40), (2**63 - 1, 1), (0, 2**40)]
        for epsilon in ("1", "1e-3"):
            found = sa.SeededSource(1).grouped_exponential_mechanism(
                *arrays(groups), charge(epsilon), sensitivity=1, runs=500
            )
            assert set(found[0].tolist()) == {1}

    def test_what_is_hardly_possible_is_possible(self) -> None:
        """A group of e^-160, which is below 2^-230, is chosen by four words that are as large as can be."""
        groups = [(160, 1), (0, 1)]
        assert drawn(groups, 1.0, [ONES] * 4) == (1, 4)
        assert drawn(groups, 1.0, [ONES] * 3 + [0]) == (0, 4)
        assert drawn(groups[::-1], 1.0, [0] * 4) == (0, 4)

    def test_groups_of_no_candidates_are_never_chosen(self) -> None:
        """Not even with the best score, nor as the first or the last, nor do they make others less likely."""
        groups = arrays([(10**6, 0), (5, 1), (2**63 - 1, 0), (5, 1), (10**6, 0)])
        found = [grouped_choice(*groups, 1.0, 1, Script([word, 0])) for word in (0, 2**63 - 1, 2**63, ONES)]
        assert [(int(group), int(place)) for [group], [place] in found] == [(1, 0), (1, 0), (3, 0), (3, 0)]

    def test_a_single_candidate_is_certain(self) -> None:
        found = sa.SeededSource(1).grouped_exponential_mechanism(*arrays([(-7, 1)]), charge("1"), sensitivity=1, runs=3)
        assert [each.tolist() for each in found] == [[0, 0, 0], [0, 0, 0]]

    def test_at_a_tiny_epsilon_candidates_are_as_likely_as_each_other(self) -> None:
        groups = [(0, 1), (1000, 1), (-1000, 2)]
        scale = scale_for(Fraction(1, 2**52), 2)
        assert masses(groups, scale) == pytest.approx([0.25, 0.25, 0.5])
        assert [drawn(groups, scale, [word])[0] for word in (2**61, 3 * 2**61, 5 * 2**61)] == [0, 1, 2]

    def test_as_many_candidates_as_can_be(self) -> None:
        groups = [(0, 2**61), (0, 2**61 - 1)]
        assert [drawn(groups, 1.0, [word])[0] for word in (2**62, 3 * 2**62)] == [0, 1]

    def test_no_runs(self) -> None:
        found = sa.SeededSource(1).grouped_exponential_mechanism(*arrays([(0, 1)]), charge("1"), sensitivity=1, runs=0)
        assert [each.shape for each in found] == [(0,), (0,)]


class TestCandidates:
    def test_each_has_as_many_words(self) -> None:
        populations = np.array([1, 3, 4, 2**62 - 1])
        first = [5, 8 + 2, 7, ONES]  # of 2^62 - 1, all of 62 bits is too large
        assert below_each(populations, Script([*first, 2**62 + 6])).tolist() == [0, 2, 3, 6]
        assert below_each(np.array([3, 2, 3]), Script([3, 3, 3, 7, 1, 0])).tolist() == [0, 1, 1]

    @given(st.integers(1, 9))
    def test_over_all_words_of_their_bits_each_is_as_likely(self, population: int) -> None:
        words = range(population)
        found = below_each(np.full(population, population), Script(words))
        assert found.tolist() == list(words)

    def test_they_are_of_their_group(self) -> None:
        groups, places = sa.SeededSource(1).grouped_exponential_mechanism(
            *arrays([(0, 3), (1, 1), (0, 2**40)]), charge("1"), sensitivity=1, runs=2_000
        )
        assert (places >= 0).all()
        assert (places < np.array([3, 1, 2**40])[groups]).all()
        assert places.max() > 2**39


class TestCosts:
    @given(
        st.lists(st.tuples(st.integers(-2, 2), st.integers(-1, 1)), min_size=1, max_size=6),
        st.sampled_from(["0.1", "1", "10/3"]),
        st.integers(1, 3),
    )
    def test_a_choice_costs_no_more_than_was_paid(
        self, changing: list[tuple[int, int]], epsilon: str, sensitivity: int
    ) -> None:
        """Exactly, of scores and by how much they change; candidates may be in other groups for a neighbour."""
        scale = scale_for(Fraction(epsilon), 2 * sensitivity)
        one = by_candidate([score for score, _ in changing], scale)
        other = by_candidate([score + sensitivity * change for score, change in changing], scale)
        for pair in ((one, other), (other, one)):
            assert smallest_epsilon(*pair, 0).lower <= float(Fraction(epsilon))

    @pytest.mark.parametrize(("too_small", "loss"), [(1, 1), (2, 2)])
    def test_all_that_was_paid_can_be_lost(self, too_small: float, loss: float) -> None:
        """So that a choice at half of the scale is found: of one candidate that gets better, as many get worse."""
        scale = scale_for(Fraction(1), 2) / too_small
        before, after = (dict(enumerate(masses(groups, scale))) for groups in (
            [(0, 1), (1, 2**40)], [(1, 1), (0, 2**40)]
        ))  # fmt: skip
        assert smallest_epsilon(after, before, 0).upper == pytest.approx(loss)

    def test_with_counts_of_one_it_is_the_textbook(self) -> None:
        scores = [0, 3, -2, 3]
        weights = [math.exp(0.7 * score / (2 * 2)) for score in scores]
        found = masses([(score, 1) for score in scores], scale_for(Fraction("0.7"), 2 * 2))
        assert found == pytest.approx([weight / sum(weights) for weight in weights])

    def test_what_was_not_paid_is_not_drawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        one = arrays([(0, 1)])
        with pytest.raises(sa.BudgetError, match="ε must be above 0"):
            sa.SeededSource(1).grouped_exponential_mechanism(*one, charge("0"), sensitivity=1)
        with pytest.raises(ValueError, match="sensitivity"):
            sa.SeededSource(1).grouped_exponential_mechanism(*one, charge("1"), sensitivity=0)
        monkeypatch.setattr("sqlanon.chance.random_source.scale_for", lambda _, doubled: doubled / 2)
        with pytest.raises(sa.BudgetError, match=r"it would cost ε = 2, but 1.9 was paid"):
            sa.SeededSource(1).grouped_exponential_mechanism(*one, charge("1.9"), sensitivity=3)


class TestBadInput:
    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([(0, -1), (0, 3)], "1 counts are below 0"),
            ([(0, 0), (5, 0)], "must be between 1 and"),
            ([(0, 2**61), (0, 2**61)], "must be between 1 and"),
            ([(0, 2**62), (0, 2**62), (0, 2**62), (0, 2**62)], "must be between 1 and"),
        ],
    )
    def test_what_are_no_candidates(self, groups: list[tuple[int, int]], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            sa.SeededSource(1).grouped_exponential_mechanism(*arrays(groups), charge("1"), sensitivity=1)

    def test_arrays_that_do_not_go_together(self) -> None:
        """All that is wrong is said at once."""
        with pytest.raises(ValueError, match=r"\(2,\) scores .* \(1,\) counts.*type float64"):
            sa.SeededSource(1).grouped_exponential_mechanism(np.zeros(2), np.ones(1, int), charge("1"), sensitivity=1)
        nothing = np.empty(0, dtype=np.int64)
        with pytest.raises(ValueError, match=r"not 0$"):
            sa.SeededSource(1).grouped_exponential_mechanism(nothing, nothing, charge("1"), sensitivity=1)


def test_the_same_seed_draws_the_same() -> None:
    groups = arrays([(score, 1000) for score in range(20)])
    one, again, other = (
        [each.tolist() for each in sa.SeededSource(seed).grouped_exponential_mechanism(
            *groups, charge("0.1"), sensitivity=1, runs=20
        )]
        for seed in (1, 1, 2)
    )  # fmt: skip
    assert one == again
    assert one[0] != other[0]
    assert one[1] != other[1]
