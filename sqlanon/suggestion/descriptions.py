"""What is written about columns: the words of a description, which is a sentence, by their place in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sqlanon.suggestion.names import IDENTIFYING, WHOLE_NAMES, Word, parts_of, side_words, words_in

MAX_PARTS = 40
"""Parts of a sentence that are looked at."""

ASIDE = re.compile(
    r"\([^()]*\)|\[[^\[\]]*\]|`[^`]*`|\"[^\"]*\"|\b(levels?|range|type|units?|values?)\s*[:=].*", re.DOTALL
)
"""What says in which units, or with which values, a column is written."""

END = re.compile(r"[;:](?=\s|$)|[.](?=\s+[A-Z]|\s*$)|=")
"""The end of a sentence: 'Factor. Is the person married?', '=1 if married'; 'avg. income' is one."""

WITH_CARE = frozenset(("age", "zip", "place", "region", "sex", "origin"))
"""Kinds of words that count wherever they are: what others know is never taken for what they do not."""


def word_of(description: str, without: Collection[str] = ()) -> Word | None:
    """What a description says, by its first sentence that says something.

    'Income of the family, in dollars' begins with what it is about; what follows narrows it. Of the words before a
    preposition the last one is the noun: 'monthly family income'. 'Day' and 'year' count where a sentence begins with
    them, and says nothing else.

    Args:
        description: of a column.
        without: kinds of words that do not count.
    """
    found = (_of_sentence(sentence, {*without, *WHOLE_NAMES}) for sentence in END.split(ASIDE.sub(" ", description)))
    return next((word for word in found if word is not None), None)


def _of_sentence(sentence: str, without: Collection[str]) -> Word | None:
    parts = parts_of(sentence)[:MAX_PARTS]
    clauses = [*_clauses(parts)]
    found = [each for each in words_in(parts) if each[2].kind not in without]
    # A word within a longer one says less: nobody has a survey weight.
    whole = [each for each in found if not any(_is_within(each, other) for other in found)]
    placed = [(clauses[start], -end, start, word) for start, end, word in whole]
    words = [each for each in placed if each[3].text not in side_words("unit")] or [
        each for each in placed if not each[0]
    ]
    for kinds in (IDENTIFYING, WITH_CARE):
        if some := [each for each in words if each[3].kind in kinds]:
            return min(some, key=_place)[3]
    # Names of ids stand beside what is said of a person.
    return min(words, key=lambda each: (each[3].kind in ("id", "person"), _place(each)), default=(0, 0, 0, None))[3]


def _is_within(found: tuple[int, int, Word], other: tuple[int, int, Word]) -> bool:
    (start, end, _), (first, last, _) = found, other
    return first <= start and end <= last and end - start < last - first


def _place(found: tuple[int, int, int, Word]) -> tuple[int, int, int]:
    return found[:3]


def _clauses(parts: list[str]) -> Iterator[int]:
    """The number of the clause of each part."""
    number = 0
    for part in parts:
        number += part in side_words("link")
        yield number
