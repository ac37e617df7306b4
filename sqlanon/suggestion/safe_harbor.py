"""What the Safe Harbor method of HIPAA asks of a table: 45 CFR 164.514(b)(2).

Of its 18 kinds of identifiers, ZIP codes and dates may stay in part: the first three digits, ``000`` for those of areas
with few people, and years. Ages above 89 are one group, and so are years of birth that show one. All others are
dropped, as any profile drops them, and so are places below a state and columns in which a value shows an identifier.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlanon.suggestion.evidence import Evidence
from sqlanon.suggestion.roles import Decision
from sqlanon.suggestion.taxonomies import SuggestedTaxonomy, of_dates
from sqlanon.suggestion.visible_identifiers import OLDEST_AGE, first_year, is_birth, said

BOUNDS = ("age", "year")
"""Kinds of numbers that are coded."""

FEW_PEOPLE = "000"
SPARSE_AREAS = frozenset((36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893))
"""Areas of three digits with 20,000 people or fewer by the Census of 2000, from the guidance of the Office for Civil
Rights of November 26, 2012."""

ZIP_CODE = re.compile(r"([0-9]{5})(-?[0-9]{4})?|([0-9]{3,4})(\.0)?")
"""A ZIP code, with four more digits or without; or as a number, without the zeros at its beginning."""

NOTES = (
    "Safe Harbor also asks that you know of no way to identify a person by what is left (45 CFR 164.514(b)(2)(ii))",
    "texts and codes that are kept can have identifiers that no form shows, such as names: look at them, too",
)


def decision_of(found: Evidence, decision: Decision, shown: Collection[str]) -> Decision:
    """The role of a column: what shows an identifier that the policy cannot generalize is dropped.

    Args:
        found: what is known of the column.
        decision: its role by itself.
        shown: the kinds of identifiers that its values show.
    """
    if decision.role == "identifier":
        return decision
    if decision.kind == "date" and decision.role == "quasi-identifier" and not found.is_moment:
        return Decision("identifier", "date", f"{decision.reason}; a part of a date, or not written as a date")
    if decision.kind == "zip" and found.has_empty:
        return Decision(
            "identifier", "zip", f"{decision.reason}; a file cannot name its empty texts: make them missing"
        )
    if decision.kind == "place" and decision.role == "quasi-identifier":
        return Decision("identifier", "place", f"{decision.reason}; smaller than a state")
    left = [kind for kind in shown if kind not in _generalized(found, decision)]
    if left:
        return Decision("identifier", decision.kind, f"{decision.reason}; it has {', '.join(said(left))}")
    return decision


def _generalized(found: Evidence, decision: Decision) -> Collection[str]:
    """The kinds of identifiers that are not left in a column at the levels and bounds that are asked."""
    if decision.role != "quasi-identifier":
        return ()
    if found.is_moment:
        return ("date",)
    if decision.kind == "zip":
        return ("postcode",)
    is_coded = found.column.traits.is_number and decision.kind in BOUNDS
    return ("age", "birth") if is_coded else ()


def taxonomy_of(found: Evidence, kind: str, values: Iterable[str]) -> SuggestedTaxonomy | None:
    """The taxonomy of dates and ZIP codes; None of other columns.

    Args:
        found: what is known of the column.
        kind: what it has.
        values: its values, which are read of ZIP codes alone.
    """
    if found.is_moment:
        return of_dates(["year", "decade"])
    if kind == "zip":
        labels = tuple((value, area_of(value), "*") for value in values)
        return SuggestedTaxonomy({"kind": "file"}, "its first three digits, or 000", 1, labels)
    return None


def area_of(value: str) -> str:
    """The first three digits of a ZIP code; 000 of an area with few people, and of what is not a ZIP code."""
    found = ZIP_CODE.fullmatch(value.strip())
    area = (found[1] or found[3]).zfill(5)[:3] if found else FEW_PEOPLE
    return FEW_PEOPLE if int(area) in SPARSE_AREAS else area


def settings_of(columns: Mapping[str, tuple[Evidence, Decision]]) -> dict[str, tuple[Any, str]]:
    """What a policy asks beside roles, each with a comment: no day of a date, no whole ZIP code, no age above 89."""
    kept = {name: each for name, each in columns.items() if each[1].role == "quasi-identifier"}
    levels = {name: 1 for name, (found, decision) in kept.items() if found.is_moment or decision.kind == "zip"}
    numbers = {name: decision.kind for name, (found, decision) in kept.items() if found.column.traits.is_number}
    ages = {name: OLDEST_AGE for name, kind in numbers.items() if kind == "age"}
    births = {name: first_year() - 1 for name, kind in numbers.items() if kind == "year" and is_birth(name)}
    asked: dict[str, tuple[Any, str]] = {}
    if levels:
        asked["minimum_levels"] = (levels, "years of dates, three digits of ZIP codes")
    if ages:
        asked["top_coding"] = (ages, "ages of 90 and above are one")
    if births:
        asked["bottom_coding"] = (births, "years of birth that show an age above 89 are one")
    return asked
