"""What is wrong with the arguments of a rule: a line per problem."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation

from sqlanon.errors import TaxonomyError
from sqlanon.model.names import folded

DATE_UNITS = ("day", "month", "quarter", "year", "decade")
WEEK_UNITS = ("day", "week", "isoyear")
"""The units of dates, from fine to coarse: of the calendar, and of ISO 8601, where weeks and years start on Mondays."""

MISFITS = {
    "week": "a week can have days of two {unit}s",
    "isoyear": "a {unit} can have days of two ISO years",
}
"""Why a unit of weeks does not go together with one of the calendar."""

DECIMALS = 9
"""The decimals to which labels of numbers are exact."""

MAX_DIGITS = 29
"""The digits of such a number before its decimals."""

MAX_RANGE_VALUES = 2_000_000
"""The largest number of values of a declared range: each is a row of the taxonomy at every level.

With three levels above them, it takes 2.3 GB to load that number.
"""


def misfits_of_range(minimum: int | None, maximum: int | None) -> list[str]:
    """What is wrong with a declared range of integers."""
    if minimum is None or maximum is None:
        return [] if minimum is maximum else ["minimum and maximum go together"]
    if minimum > maximum:
        return [f"minimum {minimum} is greater than maximum {maximum}"]
    if maximum - minimum < MAX_RANGE_VALUES:
        return []
    return [
        f"minimum {minimum} to maximum {maximum} are {maximum - minimum + 1:,} values, and a taxonomy lists "
        f"all of its values, {MAX_RANGE_VALUES:,} at most: declare a smaller domain, round the column in a query "
        "first, or give no minimum and maximum, so that the values are read off the column"
    ]


def days(*, first: object, last: object) -> tuple[tuple[datetime.date | None, datetime.date | None], list[str]]:
    """The ends of a declared range of days, and what is wrong with them."""
    found, problems = [], []
    for name, given in (("first", first), ("last", last)):
        day = _day(given)
        if day is None and given is not None:
            problems.append(f"{name} must be a date, such as 2025-12-01")
        found.append(day)
    begin, end = found
    if (first is None) != (last is None):
        problems.append("first and last go together")
    if begin is not None and end is not None and begin > end:
        problems.append("first is later than last")
    return (begin, end), problems


def _day(given: object) -> datetime.date | None:
    """A date, or the day of a text in ISO 8601; None for anything else, moments among it."""
    if isinstance(given, str):
        with suppress(ValueError):
            return datetime.date.fromisoformat(given)
        return None
    return given if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime) else None


def misfits_of_breaks(levels: Sequence[Sequence[int | Decimal]]) -> list[str]:
    """What is wrong with the breaks of each level."""
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
    """What is wrong with the units of dates: every level must be coarser than the one below."""
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
    """The names that stand among those before them, in whatever case."""
    keys = [folded(name) for name in names]
    return [name for place, name in enumerate(names) if keys[place] in keys[:place]]


def exact_number(number: int | float | Decimal) -> int | Decimal:
    """A number as it is written: 0.1 is one tenth."""
    try:
        exact = Decimal(str(number))
    except InvalidOperation:
        raise TaxonomyError(f'"{number}" is not a number') from None
    if not exact.is_finite():
        raise TaxonomyError(f"{number} is not a finite number")
    if exact and abs(exact.adjusted()) >= MAX_DIGITS:
        raise TaxonomyError(f"{number} is too large or too small for a label, which has {MAX_DIGITS} digits at most")
    return int(exact) if exact == exact.to_integral_value() else exact.normalize()


def written(number: int | Decimal) -> str:
    """A number in digits, without an exponent."""
    return f"{Decimal(number):f}"
