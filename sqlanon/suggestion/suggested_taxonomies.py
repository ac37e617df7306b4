"""Taxonomies of quasi-identifiers, by the kind of the column and its counts, as rules of a policy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlanon.suggestion.evidence import Evidence

MAX_NODES = 100_000  # maximum number of nodes of a suggested lattice, which a search checks within a minute
FEW_VALUES = 8  # maximum number of distinct whole numbers that count as grades, which are joined by twos and fours
MIN_JOINED_VALUES = 4  # minimum number of distinct decimal numbers that intervals join
FEW_TEXTS = 6  # maximum number of distinct texts that need no groups
OTHER = "other"  # the label of rare texts
AGES = (5, 10, 20, 40)
YEARS_OF_AGE = range(100)

# Units of dates, by the most days that they span; longer spans have years and decades.
SPANS: Sequence[tuple[int, list[str]]] = (
    (60, ["week"]),
    (3 * 365, ["month", "quarter", "year"]),
    (8 * 365, ["month", "year"]),
)

# Limits within which intervals are exact; labels have nine decimals.
LARGEST_NUMBER = 1e15
SMALLEST_RANGE = 1e-6

LARGEST_DOMAIN = 1_000_000  # maximum number of whole numbers that are declared as a domain


@dataclass(frozen=True)
class SuggestedTaxonomy:
    rule: Mapping[str, Any]  # as in a policy; empty for a taxonomy stored in the warehouse
    words: str  # the rule in words that quote no value
    levels: int  # between the values and the top
    labels: tuple[tuple[str, ...], ...] = field(default=(), repr=False)  # for a file: values with their labels
    hint: str = ""  # for the person who reviews it

    def coarser(self) -> SuggestedTaxonomy | None:
        """Drop the finest level above the values, if there are several."""
        setting = {"intervals": "widths", "dates": "units", "prefixes": "keep", "columns": "columns"}.get(
            self.rule.get("kind", "")
        )
        if setting is None or len(self.rule[setting]) < 2:
            return None
        less = self.rule[setting][1:]
        words = words_of_levels(self.rule["kind"], less)
        return SuggestedTaxonomy({**self.rule, setting: less}, words, self.levels - 1, hint=self.hint)


def suggested(found: Evidence, kind: str, tails: tuple[float, float] | None) -> SuggestedTaxonomy:
    """Make the taxonomy of a column that needs neither other columns nor a list of values.

    ``tails`` are the 1 % and 99 % quantiles of its numbers.
    """
    if found.is_moment:
        units = next((units for days, units in SPANS if found.days < days), ["year", "decade"])
        return of_levels("dates", "units", ["day", *units] if found.daytimes else units)
    if kind == "zip" and (found.is_whole or not found.is_number) and not found.column.traits.is_float:
        loses_zeros = found.is_whole and not found.column.traits.is_text
        hint = "read it as text, for zeros at its beginning" if loses_zeros else ""
        return of_levels("prefixes", "keep", [4, 3, 2, 1], hint=hint)
    if kind == "age" and found.is_whole and found.minimum in YEARS_OF_AGE and found.maximum in YEARS_OF_AGE:
        return of_levels("intervals", "widths", AGES, minimum=YEARS_OF_AGE[0], maximum=YEARS_OF_AGE[-1])
    if not found.is_number or found.minimum is None or found.maximum is None or found.values <= 2:
        return flat()
    if found.values <= FEW_VALUES:
        return _of_grades(found, found.minimum, found.maximum)
    if max(-found.minimum, found.maximum) > LARGEST_NUMBER or found.maximum - found.minimum < SMALLEST_RANGE:
        return flat()
    return _of_numbers(found, kind, tails or (found.minimum, found.maximum))


def flat(hint: str = "") -> SuggestedTaxonomy:
    return SuggestedTaxonomy({"kind": "flat"}, "the value or *", 0, hint=hint)


def stored(levels: int) -> SuggestedTaxonomy:
    return SuggestedTaxonomy({}, "the taxonomy that the warehouse stores", levels)


def of_levels(kind: str, setting: str, levels: Sequence[Any], hint: str = "", **more: Any) -> SuggestedTaxonomy:
    return SuggestedTaxonomy(
        {"kind": kind, setting: [*levels], **more}, words_of_levels(kind, levels), len(levels), hint=hint
    )


def of_ordered(values: Sequence[str]) -> SuggestedTaxonomy:
    """Label ordered texts by groups of two, four and eight neighbours, named by the first and the last."""

    def group(place: int, width: int) -> str:
        neighbours = values[place // width * width :][:width]
        return neighbours[0] if len(neighbours) == 1 else f"{neighbours[0]} – {neighbours[-1]}"

    widths = [width for width in (2, 4, 8) if width < len(values)]
    labels = tuple((value, *(group(place, width) for width in widths), "*") for place, value in enumerate(values))
    words = "neighbours by twos, fours and eights"
    return SuggestedTaxonomy({"kind": "file"}, words, len(widths), labels, "in the order of its twin")


def of_texts(values: Sequence[tuple[str, bool]]) -> SuggestedTaxonomy:
    """Label texts, given with whether they are frequent; rare ones share a label."""
    frequent = [value for value, is_frequent in values if is_frequent]
    if not frequent or len(frequent) > len(values) - 2:
        return flat("group its values by meaning, with `groups`: sqlanon guide taxonomies")
    other = OTHER
    while other in {value for value, _ in values}:
        other = f"({other})"
    labels = tuple((value, value if is_frequent else other, "*") for value, is_frequent in values)
    hint = "group its values by meaning in this file"
    return SuggestedTaxonomy({"kind": "file"}, "frequent values, or other", 1, labels, hint)


def words_of_levels(kind: str, levels: Sequence[Any]) -> str:
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


def _of_grades(found: Evidence, low: float, high: float) -> SuggestedTaxonomy:
    """Join consecutive whole numbers by twos and fours, and others in quarters and halves of their range."""
    if not found.is_whole and found.values >= MIN_JOINED_VALUES:
        width = _round_width((high - low) / 4)
        return of_levels("intervals", "widths", [_number(width), _number(2 * width)])
    if not found.is_whole or high - low + 1 > 2 * FEW_VALUES:
        return flat()
    widths = [2, 4] if high - low >= 4 else [2]
    return of_levels("intervals", "widths", widths, origin=int(low), minimum=int(low), maximum=int(high))


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
    return of_levels("intervals", "widths", [_number(each) for each in widths], **more)


def _round_width(target: float) -> Decimal:
    """Return the number nearest to the target, by ratio, among 1, 2 and 5 times a power of ten."""
    power = math.floor(math.log10(target))
    candidates = [Decimal(digit).scaleb(exponent) for exponent in (power, power + 1) for digit in (1, 2, 5)]
    return min(candidates, key=lambda each: abs(math.log(float(each) / target)))


def _down(number: float, width: Decimal) -> Decimal:
    return (Decimal(number) / width).to_integral_value("ROUND_FLOOR") * width


def _up(number: float, width: Decimal) -> Decimal:
    return _down(number, width) + width


def _number(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)


def lattice_nodes(taxonomies: Mapping[str, SuggestedTaxonomy]) -> int:
    """Count the nodes of the lattice: a column has its values, the levels of its rule, and the top."""
    return math.prod(taxonomy.levels + 2 for taxonomy in taxonomies.values())


def coarsened(taxonomies: Mapping[str, SuggestedTaxonomy]) -> dict[str, SuggestedTaxonomy]:
    """Drop the finest levels of the taxonomies with the most levels, until the lattice is small or none can go."""
    coarsest = dict(taxonomies)
    for name, taxonomy in taxonomies.items():
        while (less := taxonomy.coarser()) is not None:
            coarsest[name] = taxonomy = less
    if lattice_nodes(coarsest) > MAX_NODES:
        return coarsest
    found = dict(taxonomies)
    while lattice_nodes(found) > MAX_NODES:
        coarser = {name: less for name, taxonomy in found.items() if (less := taxonomy.coarser()) is not None}
        name = max(coarser, key=lambda name: found[name].levels)
        found[name] = coarser[name]
    return found
