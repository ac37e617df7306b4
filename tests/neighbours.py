"""What the rows of one individual can change, by enumeration of all small tables: it shares no code with the package.

A table is the number of rows of each cell. Its neighbours have the rows of one more individual, and a change between
two of them counts in both directions, as if the individual came or left.

Scores are worked out from the papers and specs that the methods cite: Mohammed et al. 2013 (DiffGen), spec/ipa.md B2,
spec/epsafe.md (b).
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from math import comb, exp
from typing import NamedTuple

Table = tuple[int, ...]
"""The number of rows of each cell."""

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


def tables(cells: int, max_rows: int) -> Iterator[Table]:
    """All tables of ``max_rows`` rows or fewer."""
    return (with_more((0,) * cells, some) for count in range(max_rows + 1) for some in _choices(cells, count))


def neighbours(table: Table, max_rows: int) -> Iterator[Table]:
    """All tables with the rows of one more individual, who has from one row to ``max_rows``."""
    return (with_more(table, some) for count in range(1, max_rows + 1) for some in _choices(len(table), count))


def with_more(table: Table, cells: Sequence[int]) -> Table:
    """A table with a row more in each of some cells."""
    counts = list(table)
    for cell in cells:
        counts[cell] += 1
    return tuple(counts)


def change(scores: Callable[[Table], Scores], cells: int, max_rows: int, of_individual: int) -> Change:
    """What ``of_individual`` rows of an individual, or fewer, change on tables of ``max_rows`` rows or fewer."""
    known = cache(scores)
    score: int | Decimal = 0
    difference: int | Decimal = 0
    never_falls = True
    for table in tables(cells, max_rows):
        before = known(table)
        for other in neighbours(table, of_individual):
            rises = [after - each for after, each in zip(known(other), before, strict=True)]
            score = max(score, *map(abs, rises))
            difference = max(difference, max(rises) - min(rises))
            never_falls = never_falls and min(rises) >= 0
    return Change(score, difference, never_falls)


def summed_change(counts: Callable[[Table], Table], cells: int, max_rows: int, of_individual: int) -> int:
    """By how much a vector of counts changes at most, summed over the vector."""
    known = cache(counts)
    return max(
        sum(abs(after - before) for after, before in zip(known(other), known(table), strict=True))
        for table in tables(cells, max_rows)
        for other in neighbours(table, of_individual)
    )


def specializations(children: Sequence[int], classes: int, *, of_all: bool = True) -> list[Children]:
    """A candidate for each predictor; cells are the combinations of a child of each predictor and a class.

    Args:
        children: the number of children of each candidate.
        classes: the number of classes.
        of_all: whether each candidate splits all rows; if not, its predictor has a further value, the last one, whose
            rows the candidate leaves out.
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
    """The number of rows in the largest class of their child."""
    return sum(max(of_classes) for of_classes in _rows(candidate, table))


def information(candidate: Children, table: Table) -> Decimal:
    """The information about the class of a row that its child gives, in bits; 0 without rows."""
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
    """The probability of each number of rows that a class shows once its rows are sampled; 0 if fewer than k are.

    Args:
        rows: the rows of the class.
        k: the smallest number that is shown.
        beta: the probability that a row is sampled.
        from_rows: smaller classes are not sampled at all; k if not given, as they could show nothing.
    """
    found = dict.fromkeys(range(rows + 1), 0.0)
    for size in range(rows + 1):
        is_shown = size >= k and rows >= (k if from_rows is None else from_rows)
        found[size if is_shown else 0] += comb(rows, size) * beta**size * (1 - beta) ** (rows - size)
    return found


def minimum_delta(epsilon: float, k: int, beta: float, max_rows: int, from_rows: int | None = None) -> float:
    """The smallest δ with which sampled classes of ``max_rows`` rows or fewer are (ε, δ)-differentially private."""
    shown = [shown_sizes(rows, k, beta, from_rows) for rows in range(max_rows + 1)]
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
