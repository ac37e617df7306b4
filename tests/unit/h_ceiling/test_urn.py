"""Pólya's urn by enumeration: every set of rows is as likely as another to be the true ones."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.chance.exact import Floats, Integers
from sqlanon.methods.h_ceiling.counterfeits import PRIOR_ROWS, drawn_from_urns

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
