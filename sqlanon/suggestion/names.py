"""What names and descriptions of columns say: words in a table that is shipped, ``words.csv``."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlanon.suggestion.evidence import Role

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""The parts of a name without accents: ``patientID_2`` has three."""

IDENTIFYING = frozenset(("name", "contact", "address", "number", "text"))
KNOWN_TO_OTHERS = frozenset(("age", "year", "date", "zip", "place", "region", "sex", "origin"))
"""Kinds of words that count before others of a name: what is dropped, and what is generalized."""

WHOLE_NAMES = frozenset(("status",))
"""Kinds of words that say something as a whole name alone: nobody knows what the status of something is."""

MAX_PARTS = 40
"""Parts of a description that are looked at."""


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
    with Path(__file__).with_name("words.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            for word in line["words"].split():
                text = plain(word).lower()
                found.setdefault(text, Word(line["role"], line["kind"], text))  # type: ignore[arg-type]
    return found


def plain(text: str) -> str:
    """A text in letters without accents."""
    spelled = text.replace("ß", "ss")
    return "".join(sign for sign in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(sign))


def word_of(text: str) -> Word | None:
    """What a name or a description says: the whole before a part, and longer words before shorter ones.

    Words are whole parts, or several parts in a row: ``age`` is not in ``wage``, and ``date of birth`` is one word. Of
    several words the one that asks for more care counts: ``diagnosis_age`` is an age, and ``job_status`` a job.
    """
    parts = [part.lower() for part in PARTS.findall(plain(text))][:MAX_PARTS]
    known = known_words()
    if whole := known.get("".join(parts)) or known.get("".join(part for part in parts if not part.isdigit())):
        return Word(whole.role, whole.kind, whole.text, is_whole=True)
    found = [known[word] for word in _runs(parts) if word in known and known[word].kind not in WHOLE_NAMES]
    return max(found, key=lambda word: (_care(word), len(word.text)), default=None)


def _care(word: Word) -> int:
    if word.role == "identifier":
        return 2 if word.kind in IDENTIFYING else 0
    return int(word.kind in KNOWN_TO_OTHERS)


def _runs(parts: list[str]) -> Iterator[str]:
    """All runs of up to four parts as words; the last ones first, where the head of a name is."""
    for end in range(len(parts), 0, -1):
        for start in range(max(0, end - 4), end):
            yield "".join(parts[start:end])
