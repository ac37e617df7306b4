"""What names of columns say: words in a table that is shipped, ``words.csv``."""

from __future__ import annotations

import csv
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from sqlanon.suggestion.evidence import Role

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""The parts of a name without accents: ``patientID_2`` has three."""

IDENTIFYING = frozenset(("name", "contact", "address", "number", "text"))
KNOWN_TO_OTHERS = frozenset(("age", "year", "date", "zip", "place", "region", "sex", "origin"))
"""Kinds of words that count before others of a name: what is dropped, and what is generalized."""

WHOLE_NAMES = frozenset(("status",))
"""Kinds of words that say something as a whole name alone: nobody knows what the status of something is."""

PER = frozenset(("per", "pro", "par", "por", "je"))
"""What a name counts by stands behind these: ``hours_tv_per_school_day``."""

LONG, LATITUDES = "long", frozenset(("lat", "latitude"))
"""The short name of a longitude, which is an adjective unless a latitude stands beside it."""

MIN_SHARING = 5
"""Columns that begin with the same word, from which this says what they are all about."""

MIN_PIECE = 3
MIN_IDENTIFYING_PIECE = 4
"""Letters of a word within a part, at least."""

LINK = "s"
"""The plural of a word, and what German has between two words that are written as one."""

MAX_LETTERS = 40
"""Letters of a part that is looked into."""

OF_RELATIVES = "fhmw"
RELATIVE_KINDS = frozenset(("age", "education", "work", "money", "origin"))
"""The letters by which surveys begin what they ask of a father, a husband, a mother and a wife, and what that is."""

LOGARITHM = "l"
LOGARITHM_KINDS = frozenset(("money", "work", "measure"))
MIN_OF_LOGARITHM = 4
"""The letter by which econometrics begins the name of a logarithm, what is taken one of, and how long its name is."""


@dataclass(frozen=True)
class Word:
    """What is known of a column by a word.

    Attributes:
        role, kind: what the word stands for.
        text: the word.
        is_whole: whether it is the whole name.
    """

    role: Role
    kind: str
    text: str
    is_whole: bool = False


@cache
def known_words() -> dict[str, Word]:
    """The words of all languages, without accents; of two lines with the same word the first counts."""
    found: dict[str, Word] = {}
    for line in _lines():
        for text in _texts(line) if line["role"] else ():
            found.setdefault(text, Word(line["role"], line["kind"], text))  # type: ignore[arg-type]
    return found


@cache
def side_words(kind: str) -> frozenset[str]:
    """Words without a role of their own.

    Args:
        kind: ``filler``, beside a word within a name; ``link``, where what follows narrows the beginning of a sentence;
            ``unit``, by which a sentence counts, or says when; ``quantity``, which says how much of what is beside it.
    """
    return frozenset(text for line in _lines() if line["kind"] == kind for text in _texts(line))


def _lines() -> list[dict[str, str]]:
    with Path(__file__).with_name("words.csv").open(encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def _texts(line: dict[str, str]) -> list[str]:
    return plain(line["words"]).lower().split()


def plain(text: str) -> str:
    """A text in letters without accents."""
    spelled = text.replace("ß", "ss")
    return "".join(sign for sign in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(sign))


def parts_of(text: str) -> list[str]:
    """The parts of a name or a description, in lower case."""
    return [part.lower() for part in PARTS.findall(plain(text))]


def word_of(name: str, without: Collection[str] = ()) -> Word | None:
    """What a name says: the whole before a part, and longer words before shorter ones.

    Words are whole parts, or several parts in a row: ``age`` is not in ``wage``, and ``date of birth`` is one word. A
    part that is made of words alone has these: ``racegroup``. Of several words the one that asks for more care counts:
    ``diagnosis_age`` is an age, and ``job_status`` a job.

    Args:
        name: of a column.
        without: kinds of words that do not count.
    """
    parts = parts_of(name)
    known = known_words()
    whole = known.get("".join(parts)) or known.get("".join(part for part in parts if not part.isdigit()))
    if whole and whole.kind not in without:
        return Word(whole.role, whole.kind, whole.text, is_whole=True)
    head = [*itertools.takewhile(lambda part: part not in PER, parts)]
    found = [each for each in words_in(head) if each[2].kind not in (*WHOLE_NAMES, *without)]
    others = [each for each in found if each[2].text not in side_words("quantity")]
    beside = [each for each in others if _is_beside_quantity(head, each)]
    if not others and not all(part in known or part in side_words("filler") or part.isdigit() for part in head):
        return None  # hours that are not known to be worked
    return max(beside or others or found, key=_rank, default=(0, 0, None))[2]


def _is_beside_quantity(parts: Sequence[str], found: tuple[int, int, Word]) -> bool:
    """Whether a word stands beside a number of hours or days: the hours of ``school_night_hours_sleep`` are slept."""
    start, end, word = found
    around = [*parts[max(0, start - 1) : start], *parts[end : end + 1]]
    return not _care(word) and any(part in side_words("quantity") for part in around)


def _rank(found: tuple[int, int, Word]) -> tuple[int, int]:
    """How much a word counts among several; the last one of those that others know, which is the head of a name."""
    _, end, word = found
    return _care(word), end if word.kind in KNOWN_TO_OTHERS else len(word.text)


@lru_cache(maxsize=1)
def shared_words(names: tuple[str, ...]) -> frozenset[str]:
    """The first parts of names that say nothing of a column: many have them, and what others know is not among them.

    A table of the answers to questions on jobs has ``job_stress``, ``job_autonomy`` and so on: none is a job.
    """
    firsts = Counter(parts[0] for parts in map(parts_of, names) if any(map(str.isalpha, parts[1:])))
    known = known_words()
    return frozenset(
        first
        for first, count in firsts.items()
        if count >= MIN_SHARING and first in known and not _care(known[first]) and known[first].role != "identifier"
    )


def without_first(name: str) -> str:
    """A name without its first part."""
    return " ".join(parts_of(name)[1:])


def longitude_of(name: str, names: Collection[str]) -> Word | None:
    """The word for a longitude, if a name has it in short and another one has the latitude in its place."""
    parts = parts_of(name)
    if LONG not in parts:
        return None
    others = {tuple(parts_of(each)) for each in names}
    pairs = (tuple(lat if part == LONG else part for part in parts) for lat in LATITUDES)
    return Word("quasi-identifier", "place", LONG) if any(pair in others for pair in pairs) else None


def words_in(parts: list[str]) -> Iterator[tuple[int, int, Word]]:
    """The words of all runs of up to four parts, each with its place; the last ones first, which are heads."""
    known = known_words()
    for end in range(len(parts), 0, -1):
        for start in range(max(0, end - 4), end):
            if (text := "".join(parts[start:end])) in known:
                yield start, end, known[text]
        if parts[end - 1] not in known:
            yield from ((end - 1, end, word) for word in _within(parts[end - 1]))


def _care(word: Word) -> int:
    if word.role == "identifier":
        return 2 if word.kind in IDENTIFYING else 0
    return int(word.kind in KNOWN_TO_OTHERS)


@lru_cache(4096)
def _within(part: str) -> tuple[Word, ...]:
    """The words that a part is made of, the last one first; none where something is left over."""
    if len(part) > MAX_LETTERS:
        return ()
    pieces = _pieces(part)
    if pieces is not None:
        known = known_words()
        return tuple(known[piece] for piece in reversed(pieces) if _is_piece(piece))
    for letters, kinds, length in (
        (OF_RELATIVES, RELATIVE_KINDS, MIN_PIECE),
        (LOGARITHM, LOGARITHM_KINDS, MIN_OF_LOGARITHM),
    ):
        word = known_words().get(part[1:]) if part[:1] in letters and len(part) > length else None
        if word is not None and word.kind in kinds:
            return (word,)
    return ()


@lru_cache(4096)
def _pieces(part: str) -> tuple[str, ...] | None:
    """The fewest words and fillers that a part is made of, None if it is not."""
    if not part:
        return ()
    found = [
        (part[:end], *rest)
        for end in range(len(part), 1, -1)
        if _is_piece(part[:end]) or part[:end] in side_words("filler")
        for after in (part[end:], part[end:].removeprefix(LINK))
        if (rest := _pieces(after)) is not None
    ]
    return min(found, key=len, default=None)


def _is_piece(text: str) -> bool:
    word = known_words().get(text)
    if word is None or word.kind in WHOLE_NAMES:
        return False
    return len(text) >= (MIN_IDENTIFYING_PIECE if word.role == "identifier" else MIN_PIECE)
