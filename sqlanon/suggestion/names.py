"""What names of columns say: words in a table that is shipped, ``words.csv``."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Collection, Iterator
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
            ``unit``, by which a sentence counts, or says when.
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
    found = [word for _, _, word in words_in(parts) if word.kind not in WHOLE_NAMES and word.kind not in without]
    return max(found, key=lambda word: (_care(word), len(word.text)), default=None)


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
