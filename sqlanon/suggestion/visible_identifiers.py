"""What a table shows of the 18 kinds of identifiers that Safe Harbor removes: 45 CFR 164.514(b)(2)(i), A to R."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.binding import taxonomies
from sqlanon.binding.carried_taxonomies import own_taxonomies, verified_with
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Verification
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.tables import identifiers as queries
from sqlanon.suggestion import names
from sqlanon.suggestion.evidence import Evidence, evidence_of
from sqlanon.suggestion.roles import decided

PARAGRAPH = "45 CFR 164.514(b)(2)(i)({})"

LETTERS = {
    "name": "A",
    "address": "B",
    "place": "B",
    "contact": "D to F",
    "number": "G to M",
    "id": "R",
    "person": "R",
    "individual": "R",
}
"""The letter of a kind of columns, by their names."""

KINDS: Mapping[str, tuple[str, str]] = {
    "name": ("names of persons", "A"),
    "street": ("streets", "B"),
    "postcode": ("postal codes of more than three digits, or of areas with few people", "B"),
    "coordinates": ("coordinates", "B"),
    "date": ("parts of dates other than years", "C"),
    "age": ("ages above 89 in other labels than one of 90 or older, as top_coding makes it", "C"),
    "birth": ("years of birth that show an age above 89, in other labels than one, as bottom_coding makes it", "C"),
    "phone": ("phone numbers", "D"),
    "email": ("e-mail addresses", "F"),
    "ssn": ("social security numbers", "G"),
    "member": ("numbers of health plans", "I"),
    "number": ("numbers of persons, accounts or devices", "D to M"),
    "iban": ("IBANs", "J"),
    "card": ("card numbers", "J"),
    "vehicle": ("numbers of vehicles", "L"),
    "mac": ("MAC addresses", "M"),
    "url": ("addresses of pages", "N"),
    "ip": ("IP addresses", "O"),
    "picture": ("pictures", "Q"),
    "guid": ("UUIDs", "R"),
    "hash": ("hashes", "R"),
}
"""What values show, by its name in ``anon.identifiers_in``: in words, and its letter."""

OLDEST_AGE = 90
"""Ages from here on are one."""

BIRTH = re.compile("birth|born|dob|yob|geburt|jahrgang|naissance|nacimiento")
"""Names of columns of births."""
PARTS_OF_DATES = frozenset(
    ("day", "month", "weekday", "quarter", "week", "tag", "monat", "quartal", "woche", "jour", "mois", "dia", "mes")
)
COORDINATES = frozenset(("lat", "latitude", "lon", "lng", "long", "longitude", "coordinate", "coordinates", "geo"))
"""Parts of names."""

NOT_SEEN = (
    "Safe Harbor: identifiers that neither the form of values nor the name of a column shows, such as names in texts, "
    "places and pictures, and whether you know of a way to identify a person by what is left "
    "(45 CFR 164.514(b)(2)(ii))"
)


@dataclass(frozen=True)
class Coding:
    """The columns in which a bound stands for ages of 90 and above, and for years of birth that show these.

    Attributes:
        top, bottom: their names, folded.
    """

    top: frozenset[str] = frozenset()
    bottom: frozenset[str] = frozenset()


NOTHING_CODED = Coding()


def first_year() -> int:
    """The first year of birth that shows no age above 89 in the present year."""
    return datetime.datetime.now(tz=datetime.UTC).year - OLDEST_AGE + 1


def is_birth(name: str) -> bool:
    """Whether a column is called like one of births."""
    return bool(BIRTH.search(names.plain(name).lower()))


def with_safe_harbor(
    engine: Engine, verification: Verification, release: ResolvedSource, policy: Policy
) -> Verification:
    """A verification that falls short where values are identifiers, with notes on columns that are called like some.

    Raises:
        PolicyError: the rows of the release are not in the database.
    """
    if engine.is_far(release.relation):
        raise PolicyError(
            f"Safe Harbor is checked by values, which stay where they are: copy {release.description} to check it"
        )
    columns = engine.describe(release.relation)
    with own_taxonomies(engine, release, policy, verified_with(policy, has_source=False)):
        shown = shown_kinds(engine, release.relation, columns, _coding_of(policy), [*policy.quasi_identifiers])
    shortfalls = (f'Safe Harbor: "{name}" has {sentence}' for name, kinds in shown.items() for sentence in said(kinds))
    others = [found for found in columns if not shown[found.name]]
    notes = (note for found in evidence_of(engine, release.relation, others) for note in _by_name(found))
    return verification.model_copy(
        update={
            "shortfalls": (*verification.shortfalls, *shortfalls),
            "notes": (*verification.notes, *notes),
            "not_covered": (*verification.not_covered, NOT_SEEN),
        }
    )


def shown_kinds(
    engine: Engine,
    table: exp.Expr,
    columns: Sequence[SourceColumn],
    coding: Coding = NOTHING_CODED,
    labelled: Sequence[str] = (),
) -> dict[str, list[str]]:
    """The kinds of identifiers that values show, by column.

    Args:
        engine: the database.
        table: what is looked at.
        columns: those of it that are looked at.
        coding: the columns that are coded.
        labelled: those that may have labels of taxonomies.
    """
    if not columns:
        return {}
    import pyarrow as pa

    step = queries.texts(table, [each.name for each in columns])
    loaded = {folded(name): name for name in taxonomies.shapes(engine, labelled)}
    meanings = [
        {"place": place, **vars(_meaning_of(each, coding)), "attribute": loaded.get(folded(each.name), each.name)}
        for place, each in enumerate(columns)
    ]
    engine.run(step)
    engine.put(queries.MEANINGS, pa.Table.from_pylist(meanings))
    query = queries.shown_kinds(engine.taxonomy if loaded else None)
    rows = engine.fetch(query, "identifiers that values show")
    for made in (step.makes, queries.MEANINGS):
        engine.drop(made)
    found = {each.name: {row["kind"] for row in rows if row["place"] == place} for place, each in enumerate(columns)}
    # A number that has a form of its own is not named twice.
    return {
        name: [kind for kind in KINDS if kind in kinds and not (kind == "number" and len(kinds) > 1)]
        for name, kinds in found.items()
    }


def said(kinds: Sequence[str]) -> Iterator[str]:
    """Each of some kinds in words, with its paragraph."""
    return (f"{words} ({PARAGRAPH.format(letter)})" for words, letter in map(KINDS.__getitem__, kinds))


def _meaning_of(found: SourceColumn, coding: Coding) -> queries.Meaning:
    parts = names.parts_of(found.name)
    whole = names.word_of(found.name)
    words = {word.kind for _, _, word in names.words_in(parts)} | ({whole.kind} if whole else set())
    is_part = not PARTS_OF_DATES.isdisjoint(parts)
    return queries.Meaning(
        attribute=found.name,
        is_text=not found.traits.is_number,
        is_age="age" in words,
        is_birth=is_birth(found.name),
        is_date=is_part or ("date" in words and "age" not in words),
        is_part=is_part,
        is_zip="zip" in words,
        is_coordinate=not COORDINATES.isdisjoint(parts),
        is_number=not words.isdisjoint(("contact", "number")),
        is_unnamed=whole is None,
        is_top_coded=folded(found.name) in coding.top,
        is_bottom_coded=folded(found.name) in coding.bottom,
        first_year=first_year(),
    )


def _coding_of(policy: Policy) -> Coding:
    """What the bounds of a policy code, those of the means and ranges of classes included."""
    aggregates = getattr(policy.method, "aggregates", {})
    top = [name for name, bound in policy.top_coding.items() if bound <= OLDEST_AGE]
    bottom = [name for name, bound in policy.bottom_coding.items() if bound >= first_year() - 1]
    coded, floored = (
        frozenset(folded(each) for name in some for each in (name, *aggregates.get(name, ()))) for some in (top, bottom)
    )
    return Coding(coded, floored)


def _by_name(found: Evidence) -> Iterator[str]:
    decision = decided(found)
    if found.values > 1 and decision.kind in LETTERS and not decision.is_undecided:
        where = PARAGRAPH.format(LETTERS[decision.kind])
        yield f'Safe Harbor: "{found.name}" may have identifiers: {decision.reason} ({where})'
