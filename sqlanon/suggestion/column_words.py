"""Words in names and descriptions of columns, from the table ``words.csv``."""

from __future__ import annotations

import csv
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path

from sqlanon.errors import PolicyError
from sqlanon.model.names import counted
from sqlanon.model.whole_files import read_whole
from sqlanon.suggestion.evidence import Role

# The parts of a name without accents: ``patientID_2`` has three.
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

# Kinds of words that outrank others in a name: for columns to drop, and for columns to generalize.
IDENTIFYING = frozenset(("name", "contact", "address", "number", "text"))
KNOWN_TO_OTHERS = frozenset(("age", "year", "date", "zip", "place", "region", "sex", "origin"))

# Kinds of words that count only as a whole name: within another name, a status may be of anything.
WHOLE_NAMES = frozenset(("status",))

# Words before the unit of a rate: ``hours_tv_per_school_day``.
PER = frozenset(("per", "pro", "par", "por", "je"))

# Short for longitude if there is a latitude, else an adjective.
LONG, LATITUDES = "long", frozenset(("lat", "latitude"))

MIN_SHARING = 5  # columns with one first word from which the word is the topic of all
MIN_PIECE = 3  # letters of a word within a part
MIN_IDENTIFYING_PIECE = 4
LINK = "s"  # the plural, and the linking element of German compounds
MAX_LETTERS = 40  # longest part that is split into words

# Prefixes in surveys for questions on father, husband, mother and wife, and the kinds of these questions.
OF_RELATIVES = "fhmw"
RELATIVE_KINDS = frozenset(("age", "education", "work", "money", "origin"))

# Econometrics' prefix for logarithms, the kinds that it is used for, and the shortest such name.
LOGARITHM = "l"
LOGARITHM_KINDS = frozenset(("money", "work", "measure"))
MIN_OF_LOGARITHM = 4

MAX_PARTS = 40  # parts of a sentence that are examined

# Remarks on the units or the values of a column.
ASIDE = re.compile(
    r"\([^()]*\)|\[[^\[\]]*\]|`[^`]*`|\"[^\"]*\"|\b(levels?|range|type|units?|values?)\s*[:=].*", re.DOTALL
)

# The end of a sentence: 'Factor. Is the person married?', '=1 if married'; 'avg. income' is one.
END = re.compile(r"[;:](?=\s|$)|[.](?=\s+[A-Z]|\s*$)|=")

# Kinds of words that count anywhere in a sentence: a fact that others know must not be missed.
WITH_CARE = frozenset(("age", "zip", "place", "region", "sex", "origin"))

# Headings in codebooks, clearest first: a ``name`` beside a ``variable`` may be a description.
COLUMN = ("column", "variable", "field", "name")
DESCRIPTION = ("description", "label", "meaning", "beschreibung")
KEYS_OF_FIELDS = (b"description", b"comment")  # keys of descriptions in the metadata of Parquet fields
MAX_FILE_MB = 100  # of a codebook


@dataclass(frozen=True)
class Word:
    """A word, and the role that it gives a column."""

    role: Role
    kind: str
    text: str
    is_whole: bool = False  # it is the whole name


@cache
def known_words() -> dict[str, Word]:
    """Read the words of all languages, without accents; the first line of a word counts."""
    found: dict[str, Word] = {}
    for line in _lines():
        for text in _texts(line) if line["role"] else ():
            found.setdefault(text, Word(line["role"], line["kind"], text))  # type: ignore[arg-type]
    return found


@cache
def side_words(kind: str) -> frozenset[str]:
    """Read words without a role.

    Args:
        kind: ``filler``, between words of a name; ``link``, before a phrase that narrows a sentence; ``unit``, by which
            a sentence counts or gives a time; ``quantity``, for an amount of the word beside it.
    """
    return frozenset(text for line in _lines() if line["kind"] == kind for text in _texts(line))


def _lines() -> list[dict[str, str]]:
    with Path(__file__).with_name("words.csv").open(encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def _texts(line: dict[str, str]) -> list[str]:
    return plain(line["words"]).lower().split()


def plain(text: str) -> str:
    spelled = text.replace("ß", "ss")
    return "".join(sign for sign in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(sign))


def parts_of(text: str) -> list[str]:
    return [part.lower() for part in PARTS.findall(plain(text))]


def word_of(name: str, without: Collection[str] = ()) -> Word | None:
    """Find the word for a name: the whole name before its parts, and longer words before shorter ones.

    Words are whole parts, or several parts in a row: ``age`` is not in ``wage``, and ``date of birth`` is one word. A
    part that consists of words has these: ``racegroup``. Among several words, the one that asks for more care counts:
    ``diagnosis_age`` is an age, and ``job_status`` a job. Kinds of words in ``without`` do not count.
    """
    parts = parts_of(name)
    known = known_words()
    whole = known.get("".join(parts)) or known.get("".join(part for part in parts if not part.isdigit()))
    if whole and whole.kind not in without:
        return Word(whole.role, whole.kind, whole.text, is_whole=True)
    head = [*itertools.takewhile(lambda part: part not in PER, parts)]
    found = [each for each in words_in(head) if each[2].kind not in (*WHOLE_NAMES, *without)]
    others = [each for each in found if each[2].text not in side_words("quantity")]
    # Prefer a word beside a quantity: ``school_night_hours_sleep`` counts sleep.
    quantities = side_words("quantity")
    beside = [
        (start, end, word)
        for start, end, word in others
        if not _care(word) and not quantities.isdisjoint((*head[max(0, start - 1) : start], *head[end : end + 1]))
    ]
    if not others and not all(part in known or part in side_words("filler") or part.isdigit() for part in head):
        return None  # a quantity of something unknown
    return max(beside or others or found, key=_rank, default=(0, 0, None))[2]


def _rank(found: tuple[int, int, Word]) -> tuple[int, int]:
    """Rank a word among several: for facts that others know, the last word counts, as the head of the name."""
    _, end, word = found
    return _care(word), end if word.kind in KNOWN_TO_OTHERS else len(word.text)


@lru_cache(maxsize=1)
def shared_words(names: tuple[str, ...]) -> frozenset[str]:
    """Find first parts that many names share, which describe the table, unless they are facts that others know.

    In a table of answers to questions on jobs, ``job_stress``, ``job_autonomy`` and so on are not jobs.
    """
    firsts = Counter(parts[0] for parts in map(parts_of, names) if any(map(str.isalpha, parts[1:])))
    known = known_words()
    return frozenset(
        first
        for first, count in firsts.items()
        if count >= MIN_SHARING and first in known and not _care(known[first]) and known[first].role != "identifier"
    )


def longitude_of(name: str, names: Collection[str]) -> Word | None:
    """Return the word for a longitude if a name has its short form, and another name a latitude in its place."""
    parts = parts_of(name)
    if LONG not in parts:
        return None
    others = {tuple(parts_of(each)) for each in names}
    pairs = (tuple(lat if part == LONG else part for part in parts) for lat in LATITUDES)
    return Word("quasi-identifier", "place", LONG) if any(pair in others for pair in pairs) else None


def words_in(parts: list[str]) -> Iterator[tuple[int, int, Word]]:
    """Yield the words of all runs of up to four parts with their places; the last ones, which are heads, first."""
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
    if len(part) > MAX_LETTERS:
        return ()
    known = known_words()
    if (pieces := _pieces(part)) is not None:
        return tuple(known[piece] for piece in reversed(pieces) if _is_piece(piece))
    for letters, kinds, length in (
        (OF_RELATIVES, RELATIVE_KINDS, MIN_PIECE),
        (LOGARITHM, LOGARITHM_KINDS, MIN_OF_LOGARITHM),
    ):
        word = known.get(part[1:]) if part[:1] in letters and len(part) > length else None
        if word is not None and word.kind in kinds:
            return (word,)
    return ()


@lru_cache(4096)
def _pieces(part: str) -> tuple[str, ...] | None:
    """Split a part into the fewest words and fillers, if possible."""
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


def described_word(description: str, without: Collection[str] = ()) -> Word | None:
    """Find the word for a description, in its first sentence that has one.

    'Income of the family, in dollars' begins with its topic, and the rest narrows it. Of the words before a
    preposition, the last one is the noun: 'monthly family income'. 'Day' and 'year' count only in sentences that begin
    with them and have no other word. Kinds of words in ``without`` do not count.
    """
    found = (_of_sentence(sentence, {*without, *WHOLE_NAMES}) for sentence in END.split(ASIDE.sub(" ", description)))
    return next((word for word in found if word is not None), None)


def _of_sentence(sentence: str, without: Collection[str]) -> Word | None:
    parts = parts_of(sentence)[:MAX_PARTS]
    clauses = [*itertools.accumulate(part in side_words("link") for part in parts)]
    found = [each for each in words_in(parts) if each[2].kind not in without]
    # Ignore words within longer ones: a survey weight is not a body's weight.
    placed = [
        ((clauses[start], -end, start), word)
        for start, end, word in found
        if not any(first <= start and end <= last and (first, last) != (start, end) for first, last, _ in found)
    ]
    words = [each for each in placed if each[1].text not in side_words("unit")]
    words = words or [(place, word) for place, word in placed if not place[0]]
    for kinds in (IDENTIFYING, WITH_CARE):
        if some := [each for each in words if each[1].kind in kinds]:
            return min(some, key=itemgetter(0))[1]
    # Words for ids come last: they occur beside facts about a person.
    return min(words, key=lambda each: (each[1].kind in ("id", "person"), each[0]), default=(None, None))[1]


def read_codebook(path: str | Path) -> dict[str, str]:
    """Read the descriptions in a codebook, by lower-case name of the column.

    Its header has ``column`` and ``description``, or synonyms of them, separated by commas, semicolons or tabs.
    """
    try:
        lines = read_whole(Path(path), MAX_FILE_MB).decode("utf-8-sig").splitlines(keepends=True)
        delimiter = max(",;\t", key=lines[0].count) if lines else ","
        rows = [*csv.reader(lines, delimiter=delimiter)]
    except UnicodeDecodeError:
        convert = "iconv -f windows-1252 -t utf-8"
        raise PolicyError(
            f"the codebook {path} is not UTF-8: save it as UTF-8, with `{convert}` if it is in Windows-1252 or Latin-1"
        ) from None
    except (OSError, ValueError, csv.Error) as error:
        raise PolicyError(f"the codebook {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    header = [name.strip().lower() for name in rows[0]] if rows else []
    at, described_at = (
        next((header.index(word) for word in words if word in header), None) for words in (COLUMN, DESCRIPTION)
    )
    if at is None or described_at is None:
        needs = " and ".join(" or ".join(f'"{word}"' for word in words[:2]) for words in (COLUMN, DESCRIPTION))
        # Without a header, the first line has values, which a message must not quote.
        has = f"{counted(len(header), 'field')}, and not these names"
        raise PolicyError(f"the codebook {path} needs a header with {needs}; its first line has {has}").with_guide(
            "suggested-policies"
        )
    whole = [row for row in rows[1:] if len(row) > max(at, described_at)]
    return {row[at].strip().lower(): row[described_at] for row in whole}


def described_in(files: Iterable[str]) -> dict[str, str]:
    """Read the descriptions of fields in the footer of the first local Parquet file, by lower-case name.

    DuckDB does not read this metadata. Files without any, or that only DuckDB can read, have none.
    """
    here = next((each for each in files if Path(each).suffix == ".parquet" and Path(each).is_file()), None)
    if here is None:
        return {}
    # Import here: most sources are not Parquet, and the import is slow.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        fields = [*pq.read_schema(here)]
    except (OSError, pa.ArrowException):
        return {}
    return {
        field.name.lower(): field.metadata[key].decode("utf-8", "replace")
        for field in fields
        for key in reversed(KEYS_OF_FIELDS)
        if key in (field.metadata or {})
    }
