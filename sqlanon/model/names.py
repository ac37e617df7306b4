"""Names as DuckDB compares them and as sentences list them, and the one name by which a ledger knows a data set."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import EngineError, PolicyError

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
CSV_SUFFIXES = tuple(kind + packed for kind in (".csv", ".tsv") for packed in ("", ".gz", ".zst"))
FILE_SUFFIXES = (*PARQUET_SUFFIXES, *CSV_SUFFIXES)  # how the names of files end that are sources
GLOB_CHARACTERS = frozenset("*?[")
MAIN = "main"
PART = r'"(?:[^"]|"")+"|[^\W\d]\w*'
TABLE = re.compile(rf"(?:{PART})(?:\.(?:{PART}))*")
"""A name that is spelled as in SQL: parts with dots between them, in quotes where they need some."""
NEEDS_QUOTES = re.compile(r'\s.*|.*\s|.*["./*?\[~:].*', re.DOTALL)
"""What would be read as something else: several parts, or a path."""
PATH = re.compile(
    rf"(?:\.{{0,2}}/|~|file:|delta:).*|.*(?:/|{'|'.join(map(re.escape, FILE_SUFFIXES))})", re.IGNORECASE | re.DOTALL
)
"""A name that is a path for sure: it begins or ends in a slash, or ends like a Parquet or CSV file."""
LOCAL = re.compile(r"delta:|file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
"""What stands before the path of a file, or of the folder of a Delta table."""
PLAIN = re.compile(r"[^\W\d]\w*")  # a part of a name that needs no quotes
FILE = re.compile(r"/|[\w+.-]+://")  # how the name of a file begins


def folded(name: str) -> str:
    """Return a name without regard to case, which DuckDB ignores for ASCII alone: tables "Ä" and "ä" are two."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def spelled_like(name: str, known: Iterable[str]) -> str:
    """The known name that is this one to DuckDB, spelled in whatever case; the name itself if there is none, or two."""
    return speller(known)(name)


def speller(known: Iterable[str]) -> Callable[[str], str]:
    """:func:`spelled_like` with the same known names each time: a table can have thousands."""
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(folded(name), []).append(name)

    def spelled(name: str) -> str:
        same = alike.get(folded(name), [])
        return same[0] if len(same) == 1 else name

    return spelled


def enumerated(names: Iterable[object]) -> str:
    """``one``, ``one and two``, ``one, two and three``; nothing for no names."""
    *others, last = [*map(str, names)] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def listed(names: Iterable[str]) -> str:
    """``"age"``, ``"age", "sex" and "zip"``."""
    return enumerated(f'"{name}"' for name in names)


def counted(count: int, noun: str) -> str:
    """``1 value``, ``2,000 values``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def is_possible(name: str) -> bool:
    """Whether a name is text that a database and a file system can take: it has no NUL, and no half of a character."""
    try:
        return b"\0" not in name.encode()
    except UnicodeEncodeError:
        return False


def possible(name: str | Path, step: str) -> str:
    """Return the text of a name or a path, if it can be that of a source, a target or whatever else ``step`` says."""
    if not is_possible(str(name)):
        raise EngineError(f"the name of the {step} has characters that none can have: NUL, or half of one", step=step)
    return str(name)


def without_secret(address: str) -> str:
    """Return the address of a server as messages and records have it: what stands behind ``/;`` can be a token."""
    return address.partition("/;")[0]


def in_quotes(name: str) -> str:
    """Return a name within a sentence, in quotes as in SQL, so that it cannot end before its last letter."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class KnownSource:
    """A table or a file of a data set."""

    # That of a table, which is the same in every database; or the absolute path of a file, links followed, or its
    # address if it is not on this machine.
    name: str
    fingerprint: str | None = None  # shared by copies of a file; None of a table, and of a file elsewhere

    @property
    def is_file(self) -> bool:
        """Whether it is a file: no name of a table has a slash or a colon outside of quotes."""
        return FILE.match(self.name) is not None

    @property
    def short(self) -> str:
        """Its name without the place of a file."""
        return self.name.rpartition("/")[2] if self.is_file else self.name

    def __str__(self) -> str:
        return f'{"file" if self.is_file else "table"} "{self.short}"'


def dataset_named(given: str) -> str:
    """Return the name under which the ledger knows a data set.

    Names are compared as DuckDB compares them, without regard to case, whatever quotes they are in; those of tables in
    schema ``main`` go without it; paths are absolute and follow links. Refused is what is empty, or cannot be stored.
    """
    if not isinstance(given, str):
        raise PolicyError(f"a name is a text, not a {type(given).__name__}")
    name = given.strip()
    try:
        if not is_possible(name):
            raise ValueError(name)
        path = dataset_of_files(name) if PATH.fullmatch(name) else None
    except ValueError:
        raise PolicyError("the name of the data set has characters that no name can have") from None
    if not name:
        raise PolicyError("the name of the data set is empty")
    return _table(parts_of(name)) if path is None else path


def dataset_of_table(schema: str, table: str) -> str:
    """Return the name of a table of the warehouse."""
    return _table([schema, table])


def table_named(parts: Sequence[str]) -> str:
    """Return the name of a table with quotes where it needs some, so that :func:`parts_of` finds its parts again."""
    return ".".join(part if PLAIN.fullmatch(part) else in_quotes(part) for part in parts)


def dataset_of_files(path: str) -> str:
    """Return the name of the files of a path, a glob or a folder."""
    local = LOCAL.sub("", path, count=1)
    # Unlike that of a Path, this leaves what it does not know as it is.
    return path if "://" in local else _absolute(Path(os.path.expanduser(local)))  # noqa: PTH111


def _absolute(path: Path) -> str:
    """The path with links followed: all of one that is there, else up to the first part that stands for others."""
    parts = path.parts
    fixed = next((place for place, part in enumerate(parts) if GLOB_CHARACTERS.intersection(part)), len(parts))
    if _is_there(path):
        fixed = len(parts)
    here = Path(os.path.realpath(Path(*parts[:fixed])))
    whole = str(Path(here, *parts[fixed:]))
    # The disks of some systems find a path in whatever case.
    known = next(each for each in (here, *here.parents) if _is_there(each))
    other = Path(str(known).swapcase())
    ignores_case = other != known and _is_there(other) and known.samefile(other)
    return whole.lower() if ignores_case else whole


def _is_there(path: Path) -> bool:
    """Unlike :meth:`Path.exists`, this raises nothing where a name is too long, or a folder may not be entered."""
    return os.path.exists(path)  # noqa: PTH110


def parts_of(name: str) -> list[str]:
    """Return the database, schema and table that a name spells; the name alone if it spells no such parts."""
    if not TABLE.fullmatch(name):
        return [name]
    return [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in re.findall(PART, name)]


def _table(parts: Sequence[str]) -> str:
    names = (folded(part) for part in parts)
    first, *others = (in_quotes(name) if NEEDS_QUOTES.fullmatch(name) else name for name in names)
    return ".".join(others if first == MAIN and len(others) == 1 else (first, *others))
