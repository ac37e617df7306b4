"""Arguments of taxonomies: ranges of values, rules of levels and groups; and checks of them."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations
from typing import Any

from sqlanon.errors import TaxonomyError
from sqlanon.model.names import counted, enumerated, folded


@dataclass(frozen=True)
class LabelRule:
    """One generated level: a macro of ``sql/macros/15_labels.sql``, its arguments after the value, and its values."""

    macro: str
    arguments: tuple[int | Decimal | str | tuple[str, ...] | None, ...]
    takes: str = "texts"


@dataclass(frozen=True)
class IntegerRange:
    """The declared domain ``minimum, ..., maximum``, both included."""

    minimum: int
    maximum: int


@dataclass(frozen=True)
class DateRange:
    """The declared domain of every day from ``first`` to ``last``, both included."""

    first: datetime.date
    last: datetime.date


DATE_UNITS = ("day", "month", "quarter", "year", "decade")
WEEK_UNITS = ("day", "week", "isoyear")
"""Units of dates, from fine to coarse: of the calendar, and of ISO 8601, where weeks and years start on Mondays."""

MISFITS = {
    "week": "a week can have days of two {unit}s",
    "isoyear": "a {unit} can have days of two ISO years",
}
"""Why units of weeks and of the calendar can't be mixed."""
DECIMALS = 9  # of exact labels of numbers
MAX_DIGITS = 29  # of such a number before its decimals
MAX_RANGE_VALUES = 2_000_000
"""The maximum number of values of a declared range: each is a row of the taxonomy at every level.

With three levels above them, loading this many takes 2.3 GB.
"""


def integers(minimum: int | None, maximum: int | None) -> tuple[IntegerRange | None, list[str]]:
    """Return a declared range of integers, if any, and the problems of its ends."""
    if minimum is None or maximum is None:
        return None, [] if minimum is maximum else ["minimum and maximum go together"]
    problems = []
    if minimum > maximum:
        problems.append(f"minimum {minimum} is greater than maximum {maximum}")
    elif minimum < -(2**63) or maximum >= 2**63 - 1:
        problems.append("minimum and maximum must be below 2^63 - 1, and not below -2^63: declare none, or cuts")
    elif maximum - minimum >= MAX_RANGE_VALUES:
        problems.append(
            f"minimum {minimum} to maximum {maximum} are {maximum - minimum + 1:,} values, and a taxonomy lists "
            f"all of its values, {MAX_RANGE_VALUES:,} at most: declare a smaller domain, round the column in a query "
            "first, or give no minimum and maximum, so that the values are read from the column"
        )
    return IntegerRange(minimum, maximum), problems


def days(*, first: object, last: object) -> tuple[DateRange | None, list[str]]:
    """Return a declared range of days, if any, and the problems of its ends."""
    found, problems = [], []
    for name, given in (("first", first), ("last", last)):
        day = _day(given)
        if day is None and given is not None:
            problems.append(f"{name} must be a date, such as 2025-12-01")
        found.append(day)
    begin, end = found
    if (first is None) != (last is None):
        problems.append("first and last go together")
    if begin is None or end is None:
        return None, problems
    if begin > end:
        problems.append("first is later than last")
    return DateRange(begin, end), problems


def _day(given: object) -> datetime.date | None:
    """Return a date, or the day of a text in ISO 8601; None for anything else, including moments."""
    if isinstance(given, str):
        with suppress(ValueError):
            return datetime.date.fromisoformat(given)
        return None
    return given if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime) else None


def misfits_of_breaks(levels: Sequence[Sequence[int | Decimal]]) -> list[str]:
    problems = [] if levels else ["no breaks are given"]
    for depth, breaks in enumerate(levels, start=1):
        if not breaks:
            problems.append(f"level {depth} has no breaks")
        if any(low >= high for low, high in itertools.pairwise(breaks)):
            problems.append(f"the breaks of level {depth} do not ascend")
        problems += [
            f"{written(number)} has more than nine decimals" for number in breaks if number != round(number, DECIMALS)
        ]
    for depth, (fine, coarse) in enumerate(itertools.pairwise(levels), start=2):
        if new := [written(number) for number in coarse if number not in fine]:
            named = f"the break {new[0]}" if len(new) == 1 else f"the breaks {', '.join(new)}"
            problems.append(f"level {depth} has {named}, which level {depth - 1} lacks, so the levels do not nest")
        elif {*coarse} == {*fine} != set():
            problems.append(f"level {depth} has all breaks of level {depth - 1}, so both are the same")
    return problems


def misfits_of_units(units: Sequence[str]) -> list[str]:
    """List the problems of units of dates: every level must be coarser than the one below."""
    all_units = list(dict.fromkeys([*DATE_UNITS, *WEEK_UNITS]))
    problems = [f'no unit "{unit}"; take {", ".join(all_units)}' for unit in units if unit not in all_units]
    if problems:
        return problems
    of_weeks = next((unit for unit in MISFITS if unit in units), None)
    if of_weeks:
        problems = [
            f"{MISFITS[of_weeks].format(unit=unit)}, so {of_weeks} and {unit} do not nest; take "
            f"{', '.join(WEEK_UNITS)} or {', '.join(DATE_UNITS)}"
            for unit in units
            if unit not in WEEK_UNITS
        ]
    chain = WEEK_UNITS if of_weeks else DATE_UNITS
    if not problems and list(units) != sorted(set(units), key=chain.index):
        problems.append("the units must go from fine to coarse, each once")
    return problems


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that repeat earlier ones, in any case."""
    keys = [folded(name) for name in names]
    return [name for place, name in enumerate(names) if keys[place] in keys[:place]]


def exact_number(number: int | float | Decimal) -> int | Decimal:
    """Return a number exactly as written: 0.1 is one tenth."""
    try:
        exact = Decimal(str(number))
    except InvalidOperation:
        raise TaxonomyError("a text is given that is not a number") from None
    if not exact.is_finite():
        raise TaxonomyError(f"{number} is not a finite number")
    if exact and abs(exact.adjusted()) >= MAX_DIGITS:
        raise TaxonomyError(f"{number} is too large or too small for a label, which has {MAX_DIGITS} digits at most")
    return int(exact) if exact == exact.to_integral_value() else exact.normalize()


def written(number: int | Decimal) -> str:
    return f"{Decimal(number):f}"


MAX_DEPTH_LEVELS = 64  # far beyond any taxonomy, and far below the recursion limit of Python

Path = tuple[tuple[int, str], ...]
"""The labels of a list of values, from the top down, each with its place among its siblings, from 1."""


def text_of(value: object) -> str:
    """Return a value in the spelling of the database."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def grouped_rows(groups: Any, top: str) -> tuple[tuple[str, ...], ...]:
    """Return a row per value: the value, its labels from level 1 up, and the top.

    Problems, raised together, identify groups by their places, since labels can be values.
    """
    problems: list[str] = []
    lists = list(_lists(groups, (), problems))
    labels = {label for path, _ in lists for _, label in path}
    if "" in labels:
        problems.append("a label is empty")
    if top in labels:
        problems.append("a label equals the top, which is added")
    problems += [*_shared_values(lists), *_shared_labels(lists)]
    if len({len(path) for path, _ in lists}) > 1:
        problems.append("groups are not nested equally deep, so some values lack a label at some level")
    if problems:
        raise TaxonomyError("the groups are not valid:", list(dict.fromkeys(problems)))
    return tuple((value, *(label for _, label in reversed(path)), top) for path, values in lists for value in values)


def _named(path: Path) -> str:
    """Spell a path: ``2.1`` is the first group within the second one."""
    return ".".join(str(place) for place, _ in path)


def _lists(groups: Any, path: Path, problems: list[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    """Yield lists of values with their labels, and add other forms to the problems."""
    if isinstance(groups, Mapping):
        yield from _lists_in(groups, path, problems)
    elif path and isinstance(groups, list | tuple):
        if not groups:
            problems.append(f"group {_named(path)} has no values")
        if not all(isinstance(value, bool | str | int | float) for value in groups):
            problems.append(f"group {_named(path)}: values must be texts, numbers, true or false")
        yield path, [text_of(value) for value in groups]
    elif path:
        problems.append(f"group {_named(path)} must be a list of values, or have groups itself")
    else:
        problems.append("groups must be a table of labels, each with a list of values")


def _lists_in(groups: Mapping[Any, Any], path: Path, problems: list[str]) -> Iterator[tuple[Path, Sequence[str]]]:
    if not groups:
        problems.append(f"group {_named(path)} is empty" if path else "there are no groups")
    if len(path) >= MAX_DEPTH_LEVELS:
        problems.append(f"groups are nested more than {MAX_DEPTH_LEVELS} levels deep")
        return
    for place, (label, below) in enumerate(groups.items(), 1):
        if isinstance(label, str):
            yield from _lists(below, (*path, (place, label)), problems)
        else:
            problems.append("labels must be texts")


def _shared_values(lists: Sequence[tuple[Path, Sequence[str]]]) -> Iterator[str]:
    for path, values in lists:
        if repeated := sum(count > 1 for count in Counter(values).values()):
            yield f"group {_named(path)} lists {counted(repeated, 'value')} more than once"
    owners: dict[str, list[str]] = {}
    for path, values in lists:
        for value in dict.fromkeys(values):
            owners.setdefault(value, []).append(_named(path))
    pairs = Counter(pair for labels in owners.values() for pair in combinations(labels, 2))
    for (one, other), count in pairs.items():
        yield f"groups {one} and {other} share {counted(count, 'value')}"


def _shared_labels(lists: Sequence[tuple[Path, Sequence[str]]]) -> Iterator[str]:
    """Find labels under two labels of the next level, which don't nest."""
    parents: dict[tuple[int, str], dict[str, str]] = {}
    for path, _ in lists:
        for depth in range(1, len(path)):
            above, (_, label) = path[depth - 1][1], path[depth]
            parents.setdefault((depth, label), {}).setdefault(above, _named(path[: depth + 1]))
    for places in parents.values():
        if len(places) > 1:
            yield f"groups {enumerated(places.values())} have the same label, and other labels above it"
