"""Why h-ceiling takes no model of values: counterexamples, by every labelling of rows that both tables allow."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from tests.worlds import Rows, read, worlds


def known_with(k: int, classes: Sequence[Rows]) -> list[Fraction]:
    """For each class, the largest probability of a value of a person in it, for whoever has both tables."""
    every = list(worlds(k, classes))
    found = []
    for number, rows in enumerate(classes):
        shares: Counter[str] = Counter()
        for world in every:
            real = [value for place, (value, _) in enumerate(rows) if (number, place) not in world]
            shares.update({value: Fraction(count, len(real)) for value, count in Counter(real).items()})
        found.append(max(shares.values()) / len(every))
    return found


def known_without(rows: Rows) -> Fraction:
    """The same without a catalog: counterfeits are drawn like true rows, so any rows may be the true ones."""
    true = sum(not fake for _, fake in rows)
    shares: Counter[str] = Counter()
    labellings = list(combinations([value for value, _ in rows], true))
    for real in labellings:
        shares.update({value: Fraction(count, true) for value, count in Counter(real).items()})
    return max(shares.values()) / len(labellings)


def distinct(rows: Rows, *, true: bool) -> int:
    return len({value for value, fake in rows if not (true and fake)})


def test_published_rows_that_are_diverse_disclose_a_value_beside_the_catalog() -> None:
    rows = read("ab*")
    assert distinct(rows, true=False) == 2
    assert known_with(2, [rows]) == [1]


def test_true_rows_that_are_diverse_do_not_bound_what_is_known_without_a_catalog() -> None:
    rows = read("aba*a*")
    assert distinct(rows, true=True) == 2
    assert known_without(rows) == Fraction(3, 4)


def test_nor_beside_a_catalog_of_a_group() -> None:
    """In the strict sense, too: each class may be without counterfeits."""
    classes = [read("aba*a*"), read("aaab")]
    assert [distinct(rows, true=True) for rows in classes] == [2, 2]
    assert all(known > Fraction(1, 2) for known in known_with(4, classes))


def test_shares_of_true_rows_say_as_little() -> None:
    """t-closeness with t = 0: a is half of the table and of the class's true rows, and is expected with 3/4."""
    assert known_without(read("aba*a*")) - Fraction(1, 2) == Fraction(1, 4)
