"""What a table shows of the 18 kinds of identifiers that Safe Harbor removes: 45 CFR 164.514(b)(2)(i), A to R."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.model.release import Verification
from sqlanon.suggestion.evidence import Evidence, evidence_of
from sqlanon.suggestion.roles import IDENTIFYING_SHAPES, decided
from sqlanon.suggestion.safe_harbor import OLDEST_AGE

PARAGRAPH = "45 CFR 164.514(b)(2)(i)({})"

LETTERS = {
    "name": "A",
    "address": "B",
    "place": "B",
    "street": "B",
    "phone": "D",
    "email": "F",
    "contact": "D to F",
    "ssn": "G",
    "iban": "J",
    "card": "J",
    "number": "G to M",
    "mac": "M",
    "url": "N",
    "ip": "O",
    "id": "R",
    "person": "R",
    "individual": "R",
    "guid": "R",
    "hash": "R",
}
"""The letter of a kind of columns."""

HIGHEST_AREA = 999
"""The largest number of three digits."""

NOT_SEEN = (
    "Safe Harbor: identifiers that neither the form of values nor the name of a column shows, such as in texts and "
    "pictures, and whether you know of a way to identify a person by what is left (45 CFR 164.514(b)(2)(ii))"
)


@dataclass(frozen=True)
class Sighting:
    """An identifier that is seen: what it is, and whether its values show it, not the name of its column alone."""

    sentence: str
    is_by_values: bool


def with_safe_harbor(verification: Verification, sightings: list[Sighting]) -> Verification:
    """A verification that falls short where values are identifiers, with notes on columns that are called like some."""
    shown = [each.sentence for each in sightings if each.is_by_values]
    named = [each.sentence for each in sightings if not each.is_by_values]
    return verification.model_copy(
        update={
            "shortfalls": (*verification.shortfalls, *shown),
            "notes": (*verification.notes, *named),
            "not_covered": (*verification.not_covered, NOT_SEEN),
        }
    )


def visible_identifiers(engine: Engine, table: exp.Expr) -> list[Sighting]:
    """The identifiers that the columns of a table show, in their order; none of a column of one value."""
    columns = engine.describe(table)
    return [
        sighting for found in evidence_of(engine, table, columns) if found.values > 1 for sighting in _sightings(found)
    ]


def _sightings(found: Evidence) -> Iterator[Sighting]:
    if found.is_moment or found.shape == "period":
        yield _by_values(found, "parts of dates other than years", "C")
    elif found.shape in IDENTIFYING_SHAPES:
        yield _by_values(found, IDENTIFYING_SHAPES[found.shape], LETTERS[found.shape])
    else:
        yield from _by_name(found)


def _by_name(found: Evidence) -> Iterator[Sighting]:
    decision = decided(found)
    match decision.kind:
        case "age" if found.maximum is not None and found.maximum > OLDEST_AGE - 1:
            yield _by_values(found, f"ages above {OLDEST_AGE - 1}", "C")
        case "zip" if found.shape == "postcode" or (found.maximum or 0) > HIGHEST_AREA:
            yield _by_values(found, "postal codes of more than three digits", "B")
        case kind if kind in LETTERS and not decision.is_undecided:
            where = PARAGRAPH.format(LETTERS[kind])
            yield Sighting(f'Safe Harbor: "{found.name}" may have identifiers: {decision.reason} ({where})', False)


def _by_values(found: Evidence, what: str, letter: str) -> Sighting:
    return Sighting(f'Safe Harbor: "{found.name}" has {what} ({PARAGRAPH.format(letter)})', True)
