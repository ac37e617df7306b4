"""What the rows of one individual can change, by going through all small tables: written apart from what it tests.

It shares nothing with the package. A table is how many rows each cell has, and a neighbour has up to so many rows more,
those of one individual; whatever is said of a table and its neighbour holds of the two the other way round.

Scores are worked out from the papers and specs that the methods cite: Mohammed et al. 2013 (DiffGen), spec/ipa.md B2,
spec/epsafe.md (b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from math import comb, exp
from typing import NamedTuple

Table = tuple[int, ...]
"""How many rows each cell has."""

Scores = Sequence[int | Decimal]
"""Those of all candidates on one table."""

Children = Sequence[Sequence[Sequence[int]]]
"""A candidate: by child and class the cells whose rows it has."""

DIGITS = 40


class Change(NamedTuple):
    """What the rows of one individual change at most.

    Attributes:
        score: any score.
        difference: the difference between any two of them.
        never_falls: whether no score falls where rows are added.
    """

    score: int | Decimal
    difference: int | Decimal
    never_falls: bool


def tables(cells: int, rows: int) -> Iterator[Table]:
    """All tables of up to so many rows."""
    return (with_more((0,) * cells, some) for count in range(rows + 1) for some in _choices(cells, count))


def neighbours(table: Table, rows: int) -> Iterator[Table]:
    """All tables with the rows of one more individual, who has up to so many."""
    return (with_more(table, some) for count in range(1, rows + 1) for some in _choices(len(table), count))


def with_more(table: Table, cells: Sequence[int]) -> Table:
    """A table with a row more in each of some cells."""
    counts = list(table)
    for cell in cells:
        counts[cell] += 1
    return tuple(counts)


def change(scores: Callable[[Table], Scores], cells: int, rows: int, of_individual: int) -> Change:
    """What changes between all tables of up to so many rows and their neighbours."""
    known = cache(scores)
    score: int | Decimal = 0
    difference: int | Decimal = 0
    never_falls = True
    for table in tables(cells, rows):
        before = known(table)
        for other in neighbours(table, of_individual):
            rises = [after - each for after, each in zip(known(other), before, strict=True)]
            score = max(score, *map(abs, rises))
            difference = max(difference, max(rises) - min(rises))
            never_falls = never_falls and min(rises) >= 0
    return Change(score, difference, never_falls)


def summed_change(counts: Callable[[Table], Table], cells: int, rows: int, of_individual: int) -> int:
    """By how much a vector of counts changes at most, summed over the vector."""
    known = cache(counts)
    return max(
        sum(abs(after - before) for after, before in zip(known(other), known(table), strict=True))
        for table in tables(cells, rows)
        for other in neighbours(table, of_individual)
    )


def specializations(children: Sequence[int], classes: int, *, of_all: bool = True) -> list[Children]:
    """A candidate for each predictor, of so many children: cells are the combinations of children and class.

    Args:
        children: how many each has.
        classes: how many there are.
        of_all: every row is under a label of each predictor that can give way; else there is a further place, which
            comes last, for rows that are not, and that the score is not about.
    """
    places = [count if of_all else count + 1 for count in children]
    cells = list(product(*map(range, places), range(classes)))
    return [
        [
            [
                [at for at, cell in enumerate(cells) if (cell[place], cell[-1]) == (child, each)]
                for each in range(classes)
            ]
            for child in range(count)
        ]
        for place, count in enumerate(children)
    ]


def splits(values: int, classes: int) -> list[Children]:
    """A candidate for each place of an interval, at its ends as well: cells are the combinations of value and class."""
    return [
        [
            [[value * classes + each for value in side] for each in range(classes)]
            for side in (range(place), range(place, values))
        ]
        for place in range(values + 1)
    ]


def item_sets(items: int, classes: int) -> list[Children]:
    """The one candidate whose children are the sets of items, that of none among them; each has its cells by class."""
    return [[[[found * classes + each] for each in range(classes)] for found in range(1 << items)]]


def largest_class(candidate: Children, table: Table) -> int:
    """How many rows are of the largest class of their child."""
    return sum(max(of_classes) for of_classes in _rows(candidate, table))


def information(candidate: Children, table: Table) -> Decimal:
    """How many bits children tell of the class of a row; 0 without rows."""
    found = _rows(candidate, table)
    rows = sum(map(sum, found))
    if rows == 0:
        return Decimal(0)
    with localcontext() as context:
        context.prec = DIGITS
        ones = sum(_n_log_n(each) for of_classes in found for each in of_classes)
        classes, children = (sum(_n_log_n(sum(each)) for each in sides) for sides in (zip(*found, strict=True), found))
        return (_n_log_n(rows) - classes - children + ones) / rows


class Lost(NamedTuple):
    """What a node makes of the cells: a share of a whole that its labels lose, and the cells that it puts together."""

    loss: int
    together: Sequence[Sequence[int]]


def node_score(node: Lost, table: Table, *, whole: int, threshold: int) -> int:
    """Minus what is lost: by labels, and in whole by rows of what has not enough of them."""
    sizes = [sum(table[cell] for cell in cells) for cells in node.together]
    at_risk = sum(min(size, max(0, 2 * (threshold - 1) - size)) for size in sizes)
    return -(node.loss * sum(table) + (whole - node.loss) * at_risk)


def shown_sizes(rows: int, k: int, beta: float, from_rows: int | None = None) -> dict[int, float]:
    """How many sampled rows a class shows, with the probability of each; nothing if they are fewer than k.

    Args:
        rows: how many the class has.
        k: the least number that is shown.
        beta: the probability of each to be sampled.
        from_rows: classes of fewer rows are not sampled at all; of fewer than k if not given, who can show nothing.
    """
    found = dict.fromkeys(range(rows + 1), 0.0)
    for size in range(rows + 1):
        is_shown = size >= k and rows >= (k if from_rows is None else from_rows)
        found[size if is_shown else 0] += comb(rows, size) * beta**size * (1 - beta) ** (rows - size)
    return found


def least_delta(epsilon: float, k: int, beta: float, most_rows: int, from_rows: int | None = None) -> float:
    """The least δ with which the classes of a sample are private at ε: the most that a row more makes likelier than so.

    Of all classes of up to so many rows.
    """
    shown = [shown_sizes(rows, k, beta, from_rows) for rows in range(most_rows + 1)]
    return max(
        sum(max(0.0, chance - exp(epsilon) * other.get(size, 0.0)) for size, chance in one.items())
        for fewer, more in pairwise(shown)
        for one, other in ((fewer, more), (more, fewer))
    )


def _rows(candidate: Children, table: Table) -> list[list[int]]:
    return [[sum(table[cell] for cell in cells) for cells in child] for child in candidate]


def _choices(cells: int, count: int) -> Iterator[tuple[int, ...]]:
    return combinations_with_replacement(range(cells), count)


@cache
def _n_log_n(rows: int) -> Decimal:
    if rows == 0:
        return Decimal(0)
    with localcontext() as context:
        context.prec = DIGITS
        return rows * Decimal(rows).ln() / Decimal(2).ln()
