"""The rows of a release by the size of their class, before and after, and two charts of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Bars, Steps, count

FACTORS = (2, 5, 10, 20, 50, 100)
"""The ends of groups of sizes, in multiples of k."""

RISKS = ((1, "100 %"), (2, "50 %"), (5, "20 %"), (10, "10 %"), (20, "5 %"), (100, "1 %"), (1000, "0.1 %"))
"""The sizes of classes whose risks are named on an axis, and these."""

Sizes = Sequence[tuple[int, int]]
"""Sizes of classes, each with how many classes have it."""


class ClassSizes(Result):
    """The rows in classes of some sizes, as shares of all rows.

    Attributes:
        most: the largest of these sizes, from above the size before; None without a limit.
        before: of the source; None if it was not compared, or if they are fewer than k rows.
        after: of the release.
    """

    most: int | None
    before: float | None
    after: float


def class_sizes(after: Sizes, before: Sizes, k: int) -> Iterator[ClassSizes]:
    """The rows by the size of their class, in groups of sizes that end below k and at multiples of it.

    Args:
        after: of the release.
        before: of the source; empty if it is not compared.
        k: the rows that every class is to have at least.
    """
    k = max(k, 2)
    ends = [1, *([k - 1] if k > 2 else []), *(k * factor - 1 for factor in FACTORS), math.inf]
    start = 0.0
    for end in ends:
        of_source = _rows_between(before, start, end)
        is_shown = bool(before) and not 0 < of_source < k
        yield ClassSizes(
            most=None if end == math.inf else int(end),
            before=of_source / _rows_between(before, 0, math.inf) if is_shown else None,
            after=_rows_between(after, start, end) / max(_rows_between(after, 0, math.inf), 1),
        )
        start = end


def _rows_between(sizes: Sizes, above: float, end: float) -> int:
    return sum(size * classes for size, classes in sizes if above < size <= end)


def size_bars(sizes: Sequence[ClassSizes], k: int | None) -> Bars:
    """The rows of each group of sizes."""
    firsts = _firsts(sizes)
    groups = tuple(_in_words(first, each.most) for first, each in zip(firsts, sizes, strict=True))
    mark = None if k is None else (firsts.index(k) if k in firsts else 0, f"k = {k}")
    axis = "rows that look alike (size of the class)"
    return Bars("rows by the size of their class", axis, groups, tuple(_series(sizes)), mark)


def risk_steps(sizes: Sequence[ClassSizes], k: int | None) -> Steps:
    """The rows that have a risk or a higher one."""
    firsts = _firsts(sizes)
    return Steps(
        "rows by their risk",
        "risk that a row is taken for a person's, or higher (logarithmic)",
        tuple((1 / size, name) for size, name in reversed(RISKS)),
        tuple((name, tuple(_falling(firsts, shares))) for name, shares in _series(sizes)),
        None if k is None else (1 / k, "1 / k"),
    )


def _firsts(sizes: Sequence[ClassSizes]) -> list[int]:
    """The smallest size of each group."""
    return [1, *(each.most + 1 for each in sizes if each.most is not None)]


def _series(sizes: Sequence[ClassSizes]) -> Iterator[tuple[str, tuple[float, ...]]]:
    if any(each.before is not None for each in sizes):
        yield "before: the source", tuple(each.before or 0.0 for each in sizes)
    yield "after: the release", tuple(each.after for each in sizes)


def _in_words(first: int, most: int | None) -> str:
    if most is None:
        return f"{count(first)}+"
    return count(first) if first == most else f"{count(first)}–{count(most)}"


def _falling(firsts: Sequence[int], shares: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Up to each risk, the share of the rows that have it or a higher one: those in classes of at most that size."""
    left = sum(shares)
    for first, share in zip(reversed(firsts), reversed(shares), strict=True):
        yield 1 / first, min(left, 1.0)
        left -= share
