"""The Safe Harbor method of HIPAA, 45 CFR 164.514(b)(2): identifiers in a table, and the settings of a policy.

Of the 18 kinds of identifiers, A to R, ZIP codes and dates may stay in part: the first three digits, ``000`` for areas
with few people, and years. Ages above 89 are one group, and so are years of birth that show one. All others are
dropped, as by any profile, and so are places below a state and columns in which a value shows an identifier.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.carried_taxonomies import own_taxonomies, verified_with
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Verification
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, Step, column, union_all
from sqlanon.queries.source import SourceColumn
from sqlanon.suggestion import column_words as names
from sqlanon.suggestion.evidence import Evidence, evidence_of
from sqlanon.suggestion.roles import Decision, decided
from sqlanon.suggestion.suggested_taxonomies import SuggestedTaxonomy, of_levels

SQL = Queries("safe_harbor")

TEXTS = Relation("anon_judged_texts", "count")
MEANINGS = Relation("anon_judged_columns", "count")

PARAGRAPH = "45 CFR 164.514(b)(2)(i)({})"

# Letters of the regulation, by kind of column.
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

# Descriptions and letters of kinds of identifiers, by name in ``anon.identifiers_in``.
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

OLDEST_AGE = 90  # ages from here on form one group
BIRTH = re.compile("birth|born|dob|yob|geburt|jahrgang|naissance|nacimiento")  # in names of columns of births

# Parts of names.
PARTS_OF_DATES = frozenset(
    ("day", "month", "weekday", "quarter", "week", "tag", "monat", "quartal", "woche", "jour", "mois", "dia", "mes")
)
COORDINATES = frozenset(("lat", "latitude", "lon", "lng", "long", "longitude", "coordinate", "coordinates", "geo"))

NOT_SEEN = (
    "Safe Harbor: identifiers that neither the form of values nor the name of a column shows, such as names in texts, "
    "places and pictures, and whether you know of a way to identify a person by what is left "
    "(45 CFR 164.514(b)(2)(ii))"
)

BOUNDS = ("age", "year")  # kinds of numbers that are coded
FEW_PEOPLE = "000"

# Three-digit areas with at most 20,000 people by the Census of 2000, from the guidance of the Office for Civil Rights
# of November 26, 2012.
SPARSE_AREAS = frozenset((36, 59, 63, 102, 203, 556, 692, 790, 821, 823, 830, 831, 878, 879, 884, 890, 893))

# A ZIP code, or ZIP+4; or a number, without leading zeros.
ZIP_CODE = re.compile(r"([0-9]{5})(-?[0-9]{4})?|([0-9]{3,4})(\.0)?")

NOTES = (
    "Safe Harbor also asks that you know of no way to identify a person by what is left (45 CFR 164.514(b)(2)(ii))",
    "texts and codes that are kept can have identifiers that no form shows, such as names: look at them, too",
)


def first_year() -> int:
    """Return the first year of birth that shows no age above 89 this year."""
    return datetime.datetime.now(tz=datetime.UTC).year - OLDEST_AGE + 1


def is_birth(name: str) -> bool:
    return bool(BIRTH.search(names.plain(name).lower()))


def with_safe_harbor(
    engine: Engine, verification: Verification, release: ResolvedSource, policy: Policy
) -> Verification:
    """Add shortfalls to a verification for values that are identifiers, and notes on columns named like some."""
    if engine.is_far(release.relation):
        raise PolicyError(
            f"Safe Harbor is checked by values, which stay on their server: copy {release.description} to check it"
        )
    columns = engine.describe(release.relation)
    with own_taxonomies(engine, release, policy, verified_with(policy, has_source=False)):
        shown = shown_kinds(engine, release.relation, columns, policy)
    shortfalls = (f'Safe Harbor: "{name}" has {sentence}' for name, kinds in shown.items() for sentence in said(kinds))
    others = [each for each in columns if not shown[each.name]]
    notes = []
    for found in evidence_of(engine, release.relation, others):
        decision = decided(found)
        if found.values > 1 and decision.kind in LETTERS and not decision.is_undecided:
            where = PARAGRAPH.format(LETTERS[decision.kind])
            notes.append(f'Safe Harbor: "{found.name}" may have identifiers: {decision.reason} ({where})')
    return verification.model_copy(
        update={
            "shortfalls": (*verification.shortfalls, *shortfalls),
            "notes": (*verification.notes, *notes),
            "not_covered": (*verification.not_covered, NOT_SEEN),
        }
    )


def shown_kinds(
    engine: Engine, table: exp.Expr, columns: Sequence[SourceColumn], policy: Policy | None = None
) -> dict[str, list[str]]:
    """Find the kinds of identifiers that values of columns show, by column.

    With the policy of a release, values may be labels of taxonomies, and bounds that stand for ages.
    """
    if not columns:
        return {}
    import pyarrow as pa

    texts = (
        SQL.query("texts", source=table, value=column(each.name), place=place) for place, each in enumerate(columns)
    )
    top, bottom = (frozenset[str](), frozenset[str]()) if policy is None else _coded(policy)
    labelled = () if policy is None else policy.quasi_identifiers
    loaded = {folded(name): name for name in stored_taxonomies.shapes(engine, [*labelled])}
    meanings = [
        {"place": place, "attribute": loaded.get(folded(each.name), each.name), **_meaning_of(each, top, bottom)}
        for place, each in enumerate(columns)
    ]
    engine.run(Step(TEXTS, union_all(texts), "texts of the columns"))
    engine.put(MEANINGS, pa.Table.from_pylist(meanings))
    asked: dict[str, dict[str, Role]] = {"shown_kinds": {}, "shown_numbers": {}}
    if loaded:
        asked["split_kinds"] = {"taxonomy": engine.taxonomy}
    query = union_all(SQL.query(name, values=TEXTS, meanings=MEANINGS, **more) for name, more in asked.items())
    rows = engine.fetch(query, "identifiers that values show")
    for made in (TEXTS, MEANINGS):
        engine.drop(made)
    found = {each.name: {row["kind"] for row in rows if row["place"] == place} for place, each in enumerate(columns)}
    # Leave out the generic kind "number" beside a specific one.
    return {
        name: [kind for kind in KINDS if kind in kinds and not (kind == "number" and len(kinds) > 1)]
        for name, kinds in found.items()
    }


def said(kinds: Sequence[str]) -> Iterator[str]:
    return (f"{words} ({PARAGRAPH.format(letter)})" for words, letter in map(KINDS.__getitem__, kinds))


def _meaning_of(found: SourceColumn, top: Collection[str], bottom: Collection[str]) -> dict[str, object]:
    """Return the meaning of a column from its type, its name and its bounds, before its values are judged."""
    parts = names.parts_of(found.name)
    whole = names.word_of(found.name)
    words = {word.kind for _, _, word in names.words_in(parts)} | ({whole.kind} if whole else set())
    is_part = not PARTS_OF_DATES.isdisjoint(parts)
    return {
        "is_text": not found.traits.is_number,
        "is_age": "age" in words,
        "is_birth": is_birth(found.name),
        "is_date": is_part or ("date" in words and "age" not in words),
        "is_part": is_part,
        "is_zip": "zip" in words,
        "is_coordinate": not COORDINATES.isdisjoint(parts),
        "is_number": not words.isdisjoint(("contact", "number")),  # such as a telephone number
        "is_unnamed": whole is None,
        "is_top_coded": folded(found.name) in top,  # 90 stands for all ages from there on
        "is_bottom_coded": folded(found.name) in bottom,  # the lowest year stands for all that show an age above 89
        "first_year": first_year(),
    }


def _coded(policy: Policy) -> Iterator[frozenset[str]]:
    """Yield the columns, in folded case, with a bound for ages of 90 and above, and those with one for years of birth.

    Means and ranges of classes are among them.
    """
    aggregates = getattr(policy.method, "aggregates", {})
    top = [name for name, bound in policy.top_coding.items() if bound <= OLDEST_AGE]
    bottom = [name for name, bound in policy.bottom_coding.items() if bound >= first_year() - 1]
    for names_of in (top, bottom):
        yield frozenset(folded(each) for name in names_of for each in (name, *aggregates.get(name, ())))


def decision_of(found: Evidence, decision: Decision, shown: Collection[str]) -> Decision:
    """Drop a column that shows an identifier that the policy cannot generalize; ``shown`` are the kinds found."""
    if decision.role == "identifier":
        return decision
    if decision.kind == "date" and decision.role == "quasi-identifier" and not found.is_moment:
        return Decision("identifier", "date", f"{decision.reason}; a part of a date, or not written as a date")
    if decision.kind == "zip" and found.has_empty:
        reason = f"{decision.reason}; a file cannot name its empty texts: make them missing"
        return Decision("identifier", "zip", reason)
    if decision.kind == "place" and decision.role == "quasi-identifier":
        return Decision("identifier", "place", f"{decision.reason}; smaller than a state")
    left = [kind for kind in shown if kind not in _generalized(found, decision)]
    if left:
        return Decision("identifier", decision.kind, f"{decision.reason}; it has {', '.join(said(left))}")
    return decision


def _generalized(found: Evidence, decision: Decision) -> Collection[str]:
    """Return the kinds of identifiers that the levels and bounds of ``settings_of`` remove from a column."""
    if decision.role != "quasi-identifier":
        return ()
    if found.is_moment:
        return ("date",)
    if decision.kind == "zip":
        return ("postcode",)
    is_coded = found.column.traits.is_number and decision.kind in BOUNDS
    return ("age", "birth") if is_coded else ()


def taxonomy_of(found: Evidence, kind: str, values: Iterable[str]) -> SuggestedTaxonomy | None:
    """Make the taxonomy of dates, or of ZIP codes from their values; None for other columns."""
    if found.is_moment:
        return of_levels("dates", "units", ["year", "decade"])
    if kind == "zip":
        labels = tuple((value, area_of(value), "*") for value in values)
        return SuggestedTaxonomy({"kind": "file"}, "its first three digits, or 000", 1, labels)
    return None


def area_of(value: str) -> str:
    """Return the first three digits of a ZIP code; 000 for an area with few people, and for other texts."""
    found = ZIP_CODE.fullmatch(value.strip())
    area = (found[1] or found[3]).zfill(5)[:3] if found else FEW_PEOPLE
    return FEW_PEOPLE if int(area) in SPARSE_AREAS else area


def settings_of(columns: Mapping[str, tuple[Evidence, Decision]]) -> dict[str, tuple[Any, str]]:
    """Return settings of a policy with comments: no day of a date, no whole ZIP code, no age above 89."""
    kept = {name: each for name, each in columns.items() if each[1].role == "quasi-identifier"}
    levels = {name: 1 for name, (found, decision) in kept.items() if found.is_moment or decision.kind == "zip"}
    numbers = {name: decision.kind for name, (found, decision) in kept.items() if found.column.traits.is_number}
    ages = {name: OLDEST_AGE for name, kind in numbers.items() if kind == "age"}
    births = {name: first_year() - 1 for name, kind in numbers.items() if kind == "year" and is_birth(name)}
    asked = {
        "minimum_levels": (levels, "years of dates, three digits of ZIP codes"),
        "top_coding": (ages, "ages of 90 and above are one"),
        "bottom_coding": (births, "years of birth that show an age above 89 are one"),
    }
    return {name: (values, why) for name, (values, why) in asked.items() if values}
