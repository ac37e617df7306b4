"""Roles of columns, with reasons: from shapes of values, names, descriptions, counts, and other columns."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.names import listed
from sqlanon.queries import suggestions as queries
from sqlanon.suggestion import column_words as names
from sqlanon.suggestion.column_words import IDENTIFYING, Word
from sqlanon.suggestion.evidence import Evidence, Role

MIN_ROWS = 5  # minimum number of rows for a constant to be evidence
MAX_TEXTS = 10_000  # maximum number of texts to generalize: a person has to group them

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

# Words for parts of dates with names.
DAYS = frozenset(("weekday", "day", "month", "tag", "monat", "jour", "mois", "dia", "mes"))

MEAN_OF_WEIGHTS = (0.8, 1.2)  # range of the mean of survey weights; no body weighs as little
MAX_NAMED_COLUMNS = 3  # columns named in a note on many quasi-identifiers
MAX_PAIRS = 400  # maximum number of pairs of columns that are counted
MIN_MONOTONE = 20  # minimum number of values whose common order is not chance
MIN_REPEATS = 20  # minimum number of repeating rows whose agreement in other columns is not chance

# Kinds of quasi-identifiers that may be the same on all rows of a person.
LASTING = frozenset(("sex", "age", "year", "date", "origin"))

# Counts of pairs of values, without pairs where the first column has none.
Pair = tuple[str, str]
Counts = Mapping[Pair, int]


@dataclass(frozen=True)
class Decision:
    role: Role  # identifiers are dropped
    kind: str  # of its values, which determines its taxonomy
    reason: str  # in words that quote no value
    is_undecided: bool = False  # a person must decide: it is dropped until then
    is_individual: bool = False  # it identifies persons with several rows


def decided(found: Evidence, names_beside: tuple[str, ...] = ()) -> Decision:
    """Decide the role of a column from its evidence and the names of all columns."""
    if found.rows >= MIN_ROWS and not found.filled:
        return Decision("insensitive", "constant", "missing in all rows")
    by_shape = SHAPES_OF_ROLES.get(found.shape)
    if found.shape == "text" and found.values >= found.filled / 2:
        by_shape = ("identifier", "text", "free text: four words or more, mostly different")
    decision = Decision(*by_shape) if by_shape else _by_words(found, names_beside) or _by_counts(found)
    traits = found.column.traits
    is_generalized = (traits.has_one_form or traits.is_text or traits.is_number) and found.values <= MAX_TEXTS
    if decision.role == "quasi-identifier" and not (is_generalized or found.is_number or found.is_moment):
        return undecided(f"{decision.reason}; {_seen(found)}, which no rule generalizes")
    return decision


def undecided(reason: str) -> Decision:
    return Decision("identifier", "", reason, is_undecided=True)


def _by_words(found: Evidence, names_beside: tuple[str, ...]) -> Decision | None:
    if found.is_number and (longitude := names.longitude_of(found.name, names_beside)) is not None:
        return _by_word(found, longitude, "by its name")
    # Drop a first word that many names share, unless the column has two values: it may be their only word.
    name, parts = found.name, names.parts_of(found.name)
    if found.values > 2 and parts and parts[0] in names.shared_words(names_beside):
        name = " ".join(parts[1:]) or name
    for text, word_of, where in (
        (name, names.word_of, "by its name"),
        (found.description, names.described_word, "by its description"),
    ):
        word = word_of(text)
        if word is not None and word.kind in IDENTIFYING and _cannot_identify(found, word, text):
            # Ignore "name" in "city name".
            other = word_of(text, IDENTIFYING)
            if other is None or other.role == "identifier":
                return undecided(f"{_because(word, where)}, but its values repeat: {_seen(found)}")
            word = other
        # Words are not dates, such as the type of an admission, except names of months and days.
        if word is not None and word.kind == "date" and found.has_words_alone and word.text not in DAYS:
            word = word_of(text, {"date"})
        if word is not None:
            return _by_word(found, _key_of(found, word) or word, where)
    return None


def _key_of(found: Evidence, word: Word) -> Word | None:
    """Return the word for ids in the name of a column of unique values: ``job_id`` is a key, not a job."""
    if word.role == "identifier" or not found.is_unique:
        return None
    ids = (each for _, _, each in names.words_in(names.parts_of(found.name)) if each.kind == "id")
    return next(ids, None)


def _cannot_identify(found: Evidence, word: Word, text: str) -> bool:
    """Return whether the values of a column contradict a word for identifiers.

    A whole name is trusted. A column of two values may be whether there is a telephone, the name of a course repeats,
    and a sentence may mention an address in another sense.
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
    kind = {"weight": "survey weight", "id": "id", "person": "id", "zip": "postal code"}.get(word.kind, word.kind)
    return f'{kind}, {where} ("{word.text}")'


def _by_word(found: Evidence, word: Word, where: str) -> Decision:
    reason = _because(word, where)
    if word.kind == "body" and word.text in ("weight", "weights", "gewicht", "poids", "peso"):
        low, high = MEAN_OF_WEIGHTS
        if found.mean is not None and low <= found.mean <= high and found.fractions:
            return Decision("identifier", "weight", f'survey weight, by its name ("{word.text}") and its mean near 1')
    if word.kind not in ("id", "person") or found.is_unique or found.counts_rows:
        return Decision(word.role, word.kind, reason)
    if found.has_words_alone:
        return undecided(f"{reason}, but its values are words: {_seen(found)}")
    # An id identifies persons if every row has one, and there are more values than rows per value.
    if word.kind == "person" and found.filled == found.rows and found.values**2 > found.filled:
        return Decision(
            "identifier", "individual", f"{reason}, on several rows each: {_seen(found)}", is_individual=True
        )
    return undecided(f"{reason}, but its values repeat: {_seen(found)}")


def _by_counts(found: Evidence) -> Decision:
    if found.is_moment or found.column.traits.is_date:
        return Decision("quasi-identifier", "date", "dates")
    if found.largest == found.rows >= MIN_ROWS:
        return Decision("insensitive", "constant", "the same in all rows")
    if found.counts_rows and found.rows >= MIN_ROWS:
        return Decision("identifier", "id", "whole numbers that count the rows")
    if found.is_unique and found.column.traits.is_text and not found.is_number and found.rows >= MIN_ROWS:
        return Decision("identifier", "id", "a distinct text in nearly every row")
    return undecided(_seen(found))


def _seen(found: Evidence) -> str:
    kind = "whole numbers" if found.is_whole else "numbers" if found.is_number else "values"
    missing = f", {found.rows - found.filled:,} rows without" if found.filled < found.rows else ""
    return f"{found.values:,} {kind}{missing}"


def with_twins(decisions: dict[str, Decision], twins: list[tuple[str, str]]) -> dict[str, Decision]:
    """Drop one of two columns that determine each other; ``twins`` are in source order."""
    found = dict(decisions)
    for one, other in twins:
        # Keep the decided one, or the first of two.
        stays, goes = (other, one) if found[one].is_undecided else (one, other)
        is_released = found[stays].role in ("quasi-identifier", "sensitive") and found[goes].role != "identifier"
        if not found[stays].is_undecided and (is_released or found[goes].is_undecided):
            found[goes] = Decision("identifier", "twin", f'one value for each value of "{stays}"')
    return found


def pair_counts(engine: Compute, source: exp.Expr, evidence: Mapping[str, Evidence], pairs: Iterable[Pair]) -> Counts:
    counted = [*itertools.islice(pairs, MAX_PAIRS)]
    if not counted:
        return {}
    columns = {name: evidence[name].column for name in {*itertools.chain(*counted)}}
    rows = engine.fetch(queries.pair_counts(source, columns, counted), "pairs of values of columns")
    return {counted[row["place"]]: row["pair_count"] for row in rows}


def twin_candidates(evidence: Mapping[str, Evidence]) -> Iterator[Pair]:
    """Yield pairs of repeating columns with as many values, and equally many rows without one."""
    repeating = (each for each in evidence.values() if 3 <= each.values <= each.filled / 2)
    return _pairs_alike(repeating, attrgetter("values", "filled", "largest"))


def _pairs_alike(found: Iterable[Evidence], key: Callable[[Evidence], object]) -> Iterator[Pair]:
    """Yield each two columns of one key, in order; lazily, since there may be millions."""
    ordered = [*found]
    later: dict[object, deque[str]] = defaultdict(deque)
    for each in ordered:
        later[key(each)].append(each.name)
    for each in ordered:
        name = later[key(each)].popleft()
        yield from zip(itertools.repeat(name), later[key(each)], strict=False)


def monotone_twins(engine: Compute, source: exp.Expr, evidence: Mapping[str, Evidence]) -> list[Pair]:
    """Find pairs of nearly unique numbers that rise or fall together, such as a wage and its logarithm.

    Counts of pairs are useless here: any two columns of unique values have as many pairs as values.
    """
    unique = (each for each in evidence.values() if each.is_number and MIN_MONOTONE <= each.values > each.filled / 2)
    candidates = [*itertools.islice(_pairs_alike(unique, attrgetter("values", "filled")), MAX_PAIRS)]
    if not candidates:
        return []
    columns = {name: evidence[name].column for name in {*itertools.chain(*candidates)}}
    rows = engine.fetch(queries.monotone_pairs(source, columns, candidates), "the order of nearly unique numbers")
    return [
        candidates[row["place"]]
        for row in sorted(rows, key=itemgetter("place"))
        if row["pair_count"] - 1 in (row["rise_count"], row["fall_count"])
        and row["pair_count"] == evidence[candidates[row["place"]][0]].values
    ]


def individual_candidates(evidence: Mapping[str, Evidence], decisions: Mapping[str, Decision]) -> Iterator[Pair]:
    """Yield dropped columns that may identify persons on several rows, each with the quasi-identifiers."""
    names = [
        name
        for name, found in evidence.items()
        if decisions[name].role == "identifier"
        and found.filled == found.rows
        and found.rows - found.values >= MIN_REPEATS
        and not found.is_unique
        and found.values**2 > found.rows
    ]
    known = [name for name, each in decisions.items() if each.role == "quasi-identifier" and evidence[name].values > 1]
    return itertools.product(names, known)


def with_individual(
    counts: Counts, evidence: Mapping[str, Evidence], decisions: Mapping[str, Decision]
) -> Mapping[str, Decision]:
    """Make a column the individual if each of its values has a single value of two or more quasi-identifiers.

    One of these must be a fact that a person keeps. Of several such columns, the one with the fewest values identifies
    persons: an order has one customer, too.
    """
    same: dict[str, list[str]] = {}
    for (name, known), count in counts.items():
        if count == evidence[name].values:
            same.setdefault(name, []).append(known)
    persons = [
        name
        for name, known in same.items()
        if len(known) > 1 and any(decisions[each].kind in LASTING for each in known)
    ]
    if not persons:
        return decisions
    name = min(persons, key=lambda each: evidence[each].values)
    agreeing = listed(same[name][:MAX_NAMED_COLUMNS])
    reason = f"{_seen(evidence[name])}, each on several rows that agree in {agreeing}"
    return {**decisions, name: Decision("identifier", "individual", reason, is_individual=True)}


def coarser_candidates(evidence: Mapping[str, Evidence], texts: Sequence[str], others: Sequence[str]) -> Iterator[Pair]:
    """Pair texts with complete columns of fewer values, which may be labels of the text."""
    return (
        (text, other)
        for text, other in itertools.product(texts, others)
        if text != other
        and 2 <= evidence[other].values < evidence[text].values <= evidence[text].filled / 2
        and evidence[other].filled == evidence[other].rows
    )


def coarser_columns(
    text: str, counts: Counts, evidence: Mapping[str, Evidence], within: Callable[[Pair], bool]
) -> list[str]:
    """Choose the columns with labels of a text, from fine to coarse, each ``within`` the next.

    A column is within another if each of its values occurs with one value of the other.
    """
    found: list[str] = []
    parents = [other for (one, other), count in counts.items() if one == text and count == evidence[text].values]
    for other in sorted(parents, key=lambda name: -evidence[name].values):
        if not found or (evidence[other].values < evidence[found[-1]].values and within((found[-1], other))):
            found.append(other)
    return found
