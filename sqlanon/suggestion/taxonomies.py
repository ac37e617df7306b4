"""Which taxonomy a quasi-identifier gets: a rule of a policy, by the kind of the column and its counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlanon.suggestion.evidence import Evidence

FEW_VALUES = 8
"""Distinct whole numbers, at most, that are grades of something, and are joined by twos and fours."""

FEW_TEXTS = 6
"""Distinct texts, at most, that need no groups."""

OTHER = "other"
"""The label of texts that few rows have."""

AGES = (5, 10, 20, 40)
YEARS_OF_AGE = range(100)
SPANS: Sequence[tuple[int, list[str]]] = (
    (60, ["week"]),
    (3 * 365, ["month", "quarter", "year"]),
    (8 * 365, ["month", "year"]),
)
"""The units of dates, by the days up to which they are within; years and decades of more."""

LARGEST_NUMBER = 1e15
SMALLEST_RANGE = 1e-6
"""Numbers whose intervals are exact; labels have nine decimals."""

LARGEST_DOMAIN = 1_000_000
"""Whole numbers that are declared as a domain, at most."""


@dataclass(frozen=True)
class SuggestedTaxonomy:
    """How a column is generalized.

    Attributes:
        rule: the rule as a policy has it; empty for a taxonomy that the warehouse stores.
        words: the rule in words that quote no value.
        levels: between the values and the top.
        labels: the values of a file, each with its labels; they are written beside the policy.
        hint: what a person should look at.
    """

    rule: Mapping[str, Any]
    words: str
    levels: int
    labels: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    hint: str = ""

    def coarser(self) -> SuggestedTaxonomy | None:
        """The same without its finest level above the values; None if it has only one."""
        setting = {"intervals": "widths", "dates": "units", "prefixes": "keep", "columns": "columns"}.get(
            self.rule.get("kind", "")
        )
        if setting is None or len(self.rule[setting]) < 2:
            return None
        less = self.rule[setting][1:]
        return SuggestedTaxonomy(
            {**self.rule, setting: less}, _words(self.rule["kind"], less), self.levels - 1, hint=self.hint
        )


def suggested(found: Evidence, kind: str, tails: tuple[float, float] | None) -> SuggestedTaxonomy:
    """The taxonomy of a column that needs no other column and no list of its values.

    Args:
        found: what is known of the column.
        kind: what it has.
        tails: the numbers that 1 % and 99 % of its rows are below.
    """
    if found.is_moment:
        return _of_span(found)
    if kind == "zip" and (found.is_whole or not found.is_number) and not found.column.traits.is_float:
        hint = (
            "read it as text, for zeros at its beginning" if found.is_whole and not found.column.traits.is_text else ""
        )
        return _made("prefixes", "keep", [4, 3, 2, 1], hint=hint)
    if kind == "age" and found.is_whole and found.minimum in YEARS_OF_AGE and found.maximum in YEARS_OF_AGE:
        return _made("intervals", "widths", AGES, minimum=YEARS_OF_AGE[0], maximum=YEARS_OF_AGE[-1])
    if not found.is_number or found.minimum is None or found.maximum is None or found.values <= 2:
        return flat()
    if found.values <= FEW_VALUES:
        return _of_grades(found, found.minimum, found.maximum)
    if max(-found.minimum, found.maximum) > LARGEST_NUMBER or found.maximum - found.minimum < SMALLEST_RANGE:
        return flat()
    return _of_numbers(found, kind, tails or (found.minimum, found.maximum))


def flat(hint: str = "") -> SuggestedTaxonomy:
    """The value, or nothing."""
    return SuggestedTaxonomy({"kind": "flat"}, "the value or *", 0, hint=hint)


def stored(levels: int) -> SuggestedTaxonomy:
    """What the warehouse has for a column."""
    return SuggestedTaxonomy({}, "the taxonomy that the warehouse stores", levels)


def of_dates(units: Sequence[str]) -> SuggestedTaxonomy:
    """Dates by calendar units."""
    return _made("dates", "units", units)


def of_columns(columns: Sequence[str]) -> SuggestedTaxonomy:
    """Labels from coarser columns."""
    return _made("columns", "columns", list(columns))


def of_ordered(values: Sequence[str]) -> SuggestedTaxonomy:
    """Labels of texts that have an order: two neighbours, four, eight, by the first and the last of them."""
    widths = [width for width in (2, 4, 8) if width < len(values)]
    labels = tuple(
        (value, *(_group(values, place, width) for width in widths), "*") for place, value in enumerate(values)
    )
    return SuggestedTaxonomy(
        {"kind": "file"}, "neighbours by twos, fours and eights", len(widths), labels, "in the order of its twin"
    )


def _group(values: Sequence[str], place: int, width: int) -> str:
    group = values[place // width * width :][:width]
    return group[0] if len(group) == 1 else f"{group[0]} – {group[-1]}"


def of_texts(values: Sequence[tuple[str, bool]]) -> SuggestedTaxonomy:
    """Labels of texts: an own one where many rows have the value, and one of the others together.

    Args:
        values: each with whether it is frequent.
    """
    frequent = [value for value, is_frequent in values if is_frequent]
    if not frequent or len(frequent) > len(values) - 2:
        return flat("group its values by meaning, with `groups`: sqlanon guide taxonomies")
    other = OTHER
    while other in {value for value, _ in values}:
        other = f"({other})"
    labels = tuple((value, value if is_frequent else other, "*") for value, is_frequent in values)
    return SuggestedTaxonomy(
        {"kind": "file"}, "frequent values, or other", 1, labels, "group its values by meaning in this file"
    )


def _made(kind: str, setting: str, levels: Sequence[Any], hint: str = "", **more: Any) -> SuggestedTaxonomy:
    return SuggestedTaxonomy({"kind": kind, setting: [*levels], **more}, _words(kind, levels), len(levels), hint=hint)


def _words(kind: str, levels: Sequence[Any]) -> str:
    listed = ", ".join(map(str, levels))
    match kind:
        case "prefixes":
            return f"the first {listed} characters"
        case "columns":
            return f"labels of {listed}"
        case "intervals":
            return f"intervals of {listed}"
        case _:
            return listed


def _of_span(found: Evidence) -> SuggestedTaxonomy:
    units = next((units for days, units in SPANS if found.days < days), ["year", "decade"])
    return of_dates(["day", *units] if found.daytimes else units)


def _of_grades(found: Evidence, low: float, high: float) -> SuggestedTaxonomy:
    """Whole numbers in a row are joined by twos and fours; others are too few to be joined."""
    if not found.is_whole or high - low + 1 > 2 * FEW_VALUES:
        return flat()
    widths = [2, 4] if high - low >= 4 else [2]
    return _made("intervals", "widths", widths, origin=int(low), minimum=int(low), maximum=int(high))


def _of_numbers(found: Evidence, kind: str, tails: tuple[float, float]) -> SuggestedTaxonomy:
    assert found.minimum is not None and found.maximum is not None
    low, high = found.minimum, found.maximum
    (bottom, top), more = tails, dict[str, Any]()
    is_year = kind in ("year", "age") and found.is_whole
    width = Decimal(5) if is_year else _round_width((min(high, top) - max(low, bottom) or high - low) / 32)
    if found.is_whole:
        width = max(width, Decimal(2))
    if high - top > top - bottom > 0:
        high = float(_up(top, width))
        more["above"] = _number(_up(top, width))
    if bottom - low > top - bottom > 0:
        low = float(_down(bottom, width))
        more["below"] = _number(_down(bottom, width))
    widths = [width * 2**power for power in range(6) if power == 0 or width * 2**power <= Decimal(high - low) / 2]
    if found.is_whole and found.maximum - found.minimum + 2 * float(widths[-1]) < LARGEST_DOMAIN:
        more["minimum"] = int(_down(found.minimum, widths[-1]))
        more["maximum"] = int(_up(found.maximum, widths[-1])) - 1
    return _made("intervals", "widths", [_number(each) for each in widths], **more)


def _round_width(target: float) -> Decimal:
    """The number nearest to the target, by ratio, among 1, 2 and 5 times a power of ten."""
    power = math.floor(math.log10(target))
    candidates = [Decimal(digit).scaleb(exponent) for exponent in (power, power + 1) for digit in (1, 2, 5)]
    return min(candidates, key=lambda each: abs(math.log(float(each) / target)))


def _down(number: float, width: Decimal) -> Decimal:
    return (Decimal(number) / width).to_integral_value("ROUND_FLOOR") * width


def _up(number: float, width: Decimal) -> Decimal:
    """The next multiple above a number."""
    return _down(number, width) + width


def _number(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)
