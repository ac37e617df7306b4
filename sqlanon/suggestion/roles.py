"""Which role a column has, and why: shapes of values first, then its name, what is written about it, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlanon.model.taxonomy.arguments import listed
from sqlanon.suggestion import descriptions, names
from sqlanon.suggestion.evidence import Evidence, Role
from sqlanon.suggestion.names import IDENTIFYING, Word

MIN_ROWS = 5
"""Rows below which a constant says nothing: every value of a single row is one."""

MAX_TEXTS = 10_000
"""Values of a text that is generalized: a person has to group them."""

IDENTIFYING_SHAPES = {
    "email": "e-mail addresses",
    "url": "addresses of pages",
    "guid": "UUIDs",
    "mac": "MAC addresses",
    "ip": "IP addresses",
    "iban": "IBANs",
    "ssn": "social security numbers",
    "hash": "hashes",
    "phone": "phone numbers",
    "card": "card numbers",
    "street": "streets",
}
SHAPES_OF_ROLES: Mapping[str, tuple[Role, str, str]] = {
    **{shape: ("identifier", shape, f"{words}, by their form") for shape, words in IDENTIFYING_SHAPES.items()},
    "icd10": ("sensitive", "diagnosis", "ICD-10 codes, by their form"),
    "postcode": ("quasi-identifier", "zip", "postal codes, by their form"),
    "date": ("quasi-identifier", "date", "dates, by their form"),
}


@dataclass(frozen=True)
class Decision:
    """What a column is taken for.

    Attributes:
        role: identifiers are dropped.
        kind: what it has, which decides its taxonomy.
        reason: why, in words that quote no value.
        is_undecided: whether a person must decide: it is dropped until then.
        is_individual: whether it names persons that have several rows.
    """

    role: Role
    kind: str
    reason: str
    is_undecided: bool = False
    is_individual: bool = False


DAYS = frozenset(("weekday", "day", "month", "tag", "monat", "jour", "mois", "dia", "mes"))
"""Words for dates that have names."""

MEAN_OF_WEIGHTS = (0.8, 1.2)
"""The mean of survey weights; no body weighs as little."""


def decided(found: Evidence, names_beside: tuple[str, ...] = ()) -> Decision:
    """The role of a column by itself, and by the names of all columns of the table."""
    if found.rows >= MIN_ROWS and not found.filled:
        return Decision("insensitive", "constant", "missing in all rows")
    decision = _by_shape(found) or _by_words(found, names_beside) or _by_counts(found)
    if decision.role == "quasi-identifier" and not _can_be_generalized(found):
        return undecided(f"{decision.reason}; {_seen(found)}, which no rule generalizes")
    return decision


def undecided(reason: str) -> Decision:
    """The role of a column that a person has to decide."""
    return Decision("identifier", "", reason, is_undecided=True)


def _by_shape(found: Evidence) -> Decision | None:
    if found.shape == "text" and found.values >= found.filled / 2:
        return Decision("identifier", "text", "free text: four words or more, mostly different")
    return Decision(*SHAPES_OF_ROLES[found.shape]) if found.shape in SHAPES_OF_ROLES else None


def _by_words(found: Evidence, names_beside: tuple[str, ...]) -> Decision | None:
    longitude = names.longitude_of(found.name, names_beside) if found.is_number else None
    if longitude is not None:
        return _by_word(found, longitude, "by its name")
    for text, word_of, where in (
        (_own_name(found, names_beside), names.word_of, "by its name"),
        (found.description, descriptions.word_of, "by its description"),
    ):
        word = word_of(text)
        if word is not None and word.kind in IDENTIFYING and _cannot_identify(found, word, text):
            # The name of a city is a city.
            other = word_of(text, IDENTIFYING)
            if other is None or other.role == "identifier":
                return undecided(f"{_because(word, where)}, but its values repeat: {_seen(found)}")
            word = other
        if word is not None and word.kind == "date" and _is_no_date(found, word):
            word = word_of(text, {"date"})
        if word is not None:
            return _by_word(found, _key_of(found, word) or word, where)
    return None


def _own_name(found: Evidence, names_beside: tuple[str, ...]) -> str:
    """The name of a column without the word that it shares with many others; of two values it may be the only one."""
    first = names.parts_of(found.name)[:1]
    is_shared = found.values > 2 and first and first[0] in names.shared_words(names_beside)
    return (names.without_first(found.name) if is_shared else "") or found.name


def _is_no_date(found: Evidence, word: Word) -> bool:
    """Whether a column has words, as the type of an admission; months and days have names."""
    return found.has_words_alone and word.text not in DAYS


def _key_of(found: Evidence, word: Word) -> Word | None:
    """The word for ids in the name of a column that has one value a row: ``job_id`` is a key, not a job."""
    if word.role == "identifier" or not found.is_unique:
        return None
    ids = (each for _, _, each in names.words_in(names.parts_of(found.name)) if each.kind == "id")
    return next(ids, None)


def _cannot_identify(found: Evidence, word: Word, text: str) -> bool:
    """Whether the values of a column do not have what a word for identifiers promises.

    A whole name is believed. What has two values says whether there is a telephone; the name of a course is on many
    rows; and a sentence may speak of an address at which somebody has lived for months.
    """
    if word.is_whole:
        return False
    repeats = found.values < found.filled / 2
    is_sentence = text == found.description
    return (
        found.values <= 2 < found.filled
        or (repeats and (is_sentence or word.text == "name"))
        or (is_sentence and found.is_number and not found.is_whole)
    )


def _because(word: Word, where: str) -> str:
    return f'{_of_kind(word)}, {where} ("{word.text}")'


def _by_word(found: Evidence, word: Word, where: str) -> Decision:
    reason = _because(word, where)
    repeats = not found.is_unique and not found.counts_rows
    if word.kind == "body" and _is_survey_weight(found, word):
        return Decision("identifier", "weight", f'survey weight, by its name ("{word.text}") and its mean near 1')
    if word.kind in ("id", "person") and repeats:
        return _repeated_id(found, word, reason)
    return Decision(word.role, word.kind, reason)


def _is_survey_weight(found: Evidence, word: Word) -> bool:
    low, high = MEAN_OF_WEIGHTS
    is_near_1 = found.mean is not None and low <= found.mean <= high and found.fractions > 0
    return is_near_1 and word.text in ("weight", "weights", "gewicht", "poids", "peso")


def _repeated_id(found: Evidence, word: Word, reason: str) -> Decision:
    """Of a person if there are more values than rows a value, and every row has one."""
    if found.has_words_alone:
        return undecided(f"{reason}, but its values are words: {_seen(found)}")
    if word.kind == "person" and found.filled == found.rows and found.values**2 > found.filled:
        return Decision(
            "identifier", "individual", f"{reason}, on several rows each: {_seen(found)}", is_individual=True
        )
    return undecided(f"{reason}, but its values repeat: {_seen(found)}")


def individual(found: Evidence, known: Sequence[str]) -> Decision:
    """The role of a column whose values have one value each of some quasi-identifiers."""
    reason = f"{_seen(found)}, each on several rows that agree in {listed(known)}"
    return Decision("identifier", "individual", reason, is_individual=True)


def _by_counts(found: Evidence) -> Decision:
    if found.is_moment or found.column.traits.is_date:
        return Decision("quasi-identifier", "date", "dates")
    if found.is_constant and found.rows >= MIN_ROWS:
        return Decision("insensitive", "constant", "the same in all rows")
    if found.counts_rows and found.rows >= MIN_ROWS:
        return Decision("identifier", "id", "whole numbers that count the rows")
    if found.is_unique and found.column.traits.is_text and not found.is_number and found.rows >= MIN_ROWS:
        return Decision("identifier", "id", "a text of its own for nearly every row")
    return undecided(_seen(found))


def _of_kind(word: Word) -> str:
    match word.kind:
        case "weight":
            return "survey weight"
        case "id" | "person":
            return "id"
        case "zip":
            return "postal code"
        case kind:
            return kind


def _can_be_generalized(found: Evidence) -> bool:
    traits = found.column.traits
    if found.is_number or found.is_moment:
        return True
    return (traits.has_one_form or traits.is_text or traits.is_number) and found.values <= MAX_TEXTS


def _seen(found: Evidence) -> str:
    """What a column has, in counts."""
    kind = "whole numbers" if found.is_whole else "numbers" if found.is_number else "values"
    missing = f", {found.rows - found.filled:,} rows without" if found.filled < found.rows else ""
    return f"{found.values:,} {kind}{missing}"


def with_twins(decisions: dict[str, Decision], twins: list[tuple[str, str]]) -> dict[str, Decision]:
    """The decisions, where of two columns that determine each other one is dropped, and both have one role.

    Args:
        decisions: by column.
        twins: pairs of columns in the order of the source.
    """
    found = dict(decisions)
    for one, other in twins:
        # What was decided stays; of two that were, the first.
        stays, goes = (other, one) if found[one].is_undecided else (one, other)
        is_released = found[stays].role in ("quasi-identifier", "sensitive") and found[goes].role != "identifier"
        if not found[stays].is_undecided and (is_released or found[goes].is_undecided):
            found[goes] = Decision("identifier", "twin", f'one value of it for each of "{stays}"')
    return found
