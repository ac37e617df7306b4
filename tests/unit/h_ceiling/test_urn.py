"""Pólya's urn by enumeration: every set of rows is as likely as another to be the true ones, and what spoils it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.mechanisms.source import Floats, Integers
from sqlanon.methods.h_ceiling.hidden import PRIOR_ROWS, drawn_from_urns
from tests import oracle

K = 4
CHANCES = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
Values = tuple[int, ...]


class Scripted(sa.SeededSource):
    """A source that copies what it is told to, and gives each place that is drawn anew a number of its own."""

    def __init__(self, choices: Sequence[int]) -> None:
        super().__init__(0)
        self.left = list(choices)
        self.chance = Fraction(1)
        self.drawn = 0

    def sampled(self, weights: Integers, size: int) -> Integers:
        chosen = self.left.pop(0)
        self.chance *= Fraction(int(weights[chosen]), int(weights.sum()))
        return np.full(size, chosen)

    def uniform(self, size: int) -> Floats:
        if size:
            self.drawn += 1
        return np.full(size, self.drawn / 16)


def urn(values: Values) -> Fraction:
    """The probability of a sequence under the urn, by its formula."""
    return prod(
        (
            (values[:place].count(value) + PRIOR_ROWS * CHANCES[value]) / Fraction(place + PRIOR_ROWS)
            for place, value in enumerate(values)
        ),
        start=Fraction(1),
    )


def filled(true: Values) -> Iterator[tuple[Values, Fraction]]:
    """What a class is filled up to, and how likely it is: all that can be drawn."""
    for choices in itertools.product(*(range(size + 1) for size in range(len(true), K))):
        source = Scripted(choices)
        rows = drawn_from_urns(len(true), K - len(true), 1, source).tolist()
        new = sorted({row for row in rows if row < 0})
        for drawn in itertools.product(range(len(CHANCES)), repeat=len(new)):
            of_new = dict(zip(new, drawn, strict=True))
            values = tuple(of_new[row] if row < 0 else true[int(row)] for row in rows)
            yield (*true, *values), source.chance * prod((CHANCES[value] for value in drawn), start=Fraction(1))


@pytest.mark.parametrize("n", [1, 2, 3])
class TestLinks:
    def joint(self, n: int) -> dict[Values, Fraction]:
        """The probability of all rows of a class in the order in which they came, the n true ones first."""
        found: defaultdict[Values, Fraction] = defaultdict(Fraction)
        for true in itertools.product(range(len(CHANCES)), repeat=n):
            for values, chance in filled(true):
                found[values] += urn(true) * chance
        return found

    def test_counterfeits_go_on_as_true_rows_begin(self, n: int) -> None:
        joint = self.joint(n)
        assert sum(joint.values()) == 1
        assert joint == {values: urn(values) for values in itertools.product(range(len(CHANCES)), repeat=K)}

    def test_every_set_of_rows_is_as_likely_to_be_true(self, n: int) -> None:
        """So that a person is linked with 1/k, whatever is published, and each row is invented with (k - n)/k."""
        published: defaultdict[Values, Counter[tuple[int, ...]]] = defaultdict(Counter)
        for values, chance in self.joint(n).items():
            for order in itertools.permutations(range(K)):  # place of each row in the release, equal rows in any order
                shown = tuple(value for _, value in sorted(zip(order, values, strict=True)))
                if list(shown) == sorted(shown):
                    published[shown][tuple(sorted(order[:n]))] += chance
        for sets in published.values():
            assert len(sets) == comb(K, n)
            assert len(set(sets.values())) == 1
            links = [sum((chance / n for rows, chance in sets.items() if row in rows), Fraction()) for row in range(K)]
            assert {link / sum(sets.values()) for link in links} == {Fraction(1, K)}


def test_many_classes_at_once_are_each_a_class_alone() -> None:
    """20,000 classes of 2 of 5: rows are copied, and drawn anew, as often as in one."""
    rows = drawn_from_urns(2, 3, 20000, sa.SeededSource(3)).reshape(-1, 3)
    for place, size in enumerate((2, 3, 4)):
        new = (rows[:, place] < 0) & ~(rows[:, [place]] == rows[:, :place]).any(axis=1)
        share = PRIOR_ROWS / (size + PRIOR_ROWS)
        assert abs(new.mean() - share) < 5 * (share * (1 - share) / 20000) ** 0.5
    assert set(np.unique(rows[rows >= 0])) == {0, 1}
    assert ((rows[rows < 0] > -1) & (rows[rows < 0] < 0)).all()


def test_rows_that_may_not_be_copied_leave_what_was_drawn() -> None:
    rows = drawn_from_urns(0, 4, 5, sa.SeededSource(3))
    assert rows.shape == (20,)
    assert (rows < 0).all()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_other_beliefs_link_with_no_more_than_the_bound(n: int, epsilon: float) -> None:
    """T3: 1 / (n + (k - n) e^-2ε), where the belief in any set of true rows is e^-ε to e^ε times that of the fill."""
    sets = [*itertools.combinations(range(K), n)]
    bound = 1 / (n + (K - n) * np.exp(-2 * epsilon))
    chance = np.random.default_rng(n)
    worst = np.array([epsilon if 0 in rows else -epsilon for rows in sets])
    beliefs = [worst, *chance.uniform(-epsilon, epsilon, (200, len(sets)))]
    links = [
        sum(weight for rows, weight in zip(sets, np.exp(belief), strict=True) if row in rows) / np.exp(belief).sum() / n
        for belief in beliefs
        for row in range(K)
    ]
    assert max(links) == pytest.approx(links[0]) == pytest.approx(bound)


class TestOtherClasses:
    """T2 takes what is expected of a class as given: who works back from the counterfeits of others learns more."""

    def test_who_knows_counterfeits_of_others_links_with_more(self) -> None:
        """Two classes that share a label, k = 2, a true row each; of the second the attacker knows the true row.

        What was drawn for it depends on the true row of the first, which is A or B, as published.
        """
        taxonomies = {"age": [["1", "*"], ["2", "*"]], "sex": [["f", "*"]]}
        node = {"age": 0, "sex": 0}
        rest = [{"age": "2", "sex": "f", "ill": "a"}]
        posterior = {}
        for true, fake in (("a", "b"), ("b", "a")):
            rows = [{"age": "1", "sex": "f", "ill": true}, *rest]
            expected = {labels: self.expected(rows, taxonomies, node, labels) for labels in (("1", "f"), ("2", "f"))}
            # The first class under the urn with given expectations, as T2 has it: the same for both.
            given = self.expected([{"age": "1", "sex": "f", "ill": "a"}, *rest], taxonomies, node, ("1", "f"))
            first = given[true] * self.next(given, true, fake)
            posterior[true] = first * self.next(expected["2", "f"], "a", "a")
            assert first == pytest.approx(given["a"] * self.next(given, "a", "b"))
        assert posterior["a"] / sum(posterior.values()) > 0.5 + 0.01

    def expected(
        self, rows: oracle.Rows, taxonomies: oracle.Taxonomies, node: oracle.Node, labels: tuple[str, str]
    ) -> dict[str, float]:
        """Before step 4, of the values a and b."""
        found = oracle.BackOff(rows, taxonomies, node, "ill")
        found.values = ["a", "b"]
        return found.before_support(labels)

    def next(self, expected: dict[str, float], own: str, value: str) -> float:
        return ((own == value) + PRIOR_ROWS * expected[value]) / (1 + PRIOR_ROWS)
