"""Names: as DuckDB compares them, as sentences list them, and as a ledger identifies a data set."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import EngineError, PolicyError

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
CSV_SUFFIXES = tuple(kind + packed for kind in (".csv", ".tsv") for packed in ("", ".gz", ".zst"))
FILE_SUFFIXES = (*PARQUET_SUFFIXES, *CSV_SUFFIXES)
LABELLED_SUFFIXES = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")  # of SPSS, Stata and SAS
SOURCE_SUFFIXES = (*FILE_SUFFIXES, *LABELLED_SUFFIXES)
GLOB_CHARACTERS = frozenset("*?[")
MAIN = "main"
PART = r'"(?:[^"]|"")+"|[^\W\d]\w*'
TABLE = re.compile(rf"(?:{PART})(?:\.(?:{PART}))*")
"""A name spelled as in SQL: parts with dots between them, quoted where necessary."""
NEEDS_QUOTES = re.compile(r'\s.*|.*\s|.*["./*?\[~:].*', re.DOTALL)
"""A part that would be read as several parts or a path."""
PATH = re.compile(
    rf"(?:\.{{0,2}}/|~|file:|delta:).*|.*(?:/|{'|'.join(map(re.escape, SOURCE_SUFFIXES))})", re.IGNORECASE | re.DOTALL
)
"""A name that is certainly a path: it begins or ends with a slash, or ends like a file of a source."""
LOCAL = re.compile(r"delta:|file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
"""The prefix of a path of a file or a Delta table."""
PLAIN = re.compile(r"[^\W\d]\w*")  # a part of a name that needs no quotes
FILE = re.compile(r"/|[\w+.-]+://")  # the beginning of the name of a file


def folded(name: str) -> str:
    """Fold the case of a name as DuckDB does, for ASCII only: tables "Ä" and "ä" are two."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


def spelled_like(name: str, known: Iterable[str]) -> str:
    """Return the only known name that DuckDB takes for this one, or the name itself."""
    return speller(known)(name)


def speller(known: Iterable[str]) -> Callable[[str], str]:
    """Return :func:`spelled_like` for fixed known names: a table can have thousands."""
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(folded(name), []).append(name)

    def spelled(name: str) -> str:
        same = alike.get(folded(name), [])
        return same[0] if len(same) == 1 else name

    return spelled


def enumerated(names: Iterable[object]) -> str:
    """Join names: ``one``, ``one and two``, ``one, two and three``."""
    *others, last = [*map(str, names)] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def listed(names: Iterable[str]) -> str:
    """Join quoted names: ``"age"``, ``"age", "sex" and "zip"``."""
    return enumerated(map(in_quotes, names))


def counted(count: int, noun: str) -> str:
    """Count a noun: ``1 value``, ``2,000 values``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def is_possible(name: str) -> bool:
    """Return whether a database and a file system accept a name: no NUL, and no lone surrogate."""
    try:
        return b"\0" not in name.encode()
    except UnicodeEncodeError:
        return False


def possible(name: str | Path, step: str) -> str:
    """Return the text of a name or a path, or raise an EngineError of ``step``."""
    if not is_possible(str(name)):
        raise EngineError(f"the name of the {step} has characters that none can have: NUL, or half of one", step=step)
    return str(name)


def without_secret(address: str) -> str:
    """Return the address of a server for messages and records: the part after ``/;`` can be a token."""
    return address.partition("/;")[0]


def in_quotes(name: str) -> str:
    """Quote a name in a sentence as in SQL, so that its end is clear."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class KnownSource:
    """A table or a file of a data set."""

    # A table name, without the database; or the absolute path of a file, with links resolved, or its remote address.
    name: str
    fingerprint: str | None = None  # shared by copies of a file; None for tables and remote files

    @property
    def is_file(self) -> bool:
        """Whether it is a file: names of tables have no slash or colon outside of quotes."""
        return FILE.match(self.name) is not None

    @property
    def short(self) -> str:
        return self.name.rpartition("/")[2] if self.is_file else self.name

    def __str__(self) -> str:
        return f'{"file" if self.is_file else "table"} "{self.short}"'


def dataset_named(given: str) -> str:
    """Return the name by which the ledger identifies a data set.

    Case and quotes don't matter, as in DuckDB; schema ``main`` is omitted; paths are absolute, with links resolved.
    Names that are empty or can't be stored are refused.
    """
    if not isinstance(given, str):
        raise PolicyError(f"a name must be a text, not a {type(given).__name__}")
    name = given.strip()
    try:
        if not is_possible(name):
            raise ValueError(name)
        path = dataset_of_files(name) if PATH.fullmatch(name) else None
    except ValueError:
        raise PolicyError("the name of the data set has a NUL or an invalid character") from None
    if not name:
        raise PolicyError("the name of the data set is empty")
    return _table(parts_of(name)) if path is None else path


def dataset_of_table(schema: str, table: str) -> str:
    return _table([schema, table])


def table_named(parts: Sequence[str]) -> str:
    """Join the parts of a table's name, quoted where necessary, so that :func:`parts_of` can split it."""
    return ".".join(part if PLAIN.fullmatch(part) else in_quotes(part) for part in parts)


def dataset_of_files(path: str) -> str:
    """Return the name of a path, a glob or a folder in the ledger."""
    local = LOCAL.sub("", path, count=1)
    # Unlike Path.expanduser, this leaves unknown users alone.
    return path if "://" in local else _absolute(Path(os.path.expanduser(local)))  # noqa: PTH111


def _absolute(path: Path) -> str:
    """Resolve the links of a path: of all of it if it exists, otherwise up to the first part with a wildcard."""
    parts = path.parts
    fixed = next((place for place, part in enumerate(parts) if GLOB_CHARACTERS.intersection(part)), len(parts))
    if _is_there(path):
        fixed = len(parts)
    here = Path(os.path.realpath(Path(*parts[:fixed])))
    whole = str(Path(here, *parts[fixed:]))
    # The disks of some systems ignore case.
    known = next(each for each in (here, *here.parents) if _is_there(each))
    other = Path(str(known).swapcase())
    ignores_case = other != known and _is_there(other) and known.samefile(other)
    return whole.lower() if ignores_case else whole


def _is_there(path: Path) -> bool:
    """Unlike :meth:`Path.exists`, never raise for names that are too long, or folders without permission."""
    return os.path.exists(path)  # noqa: PTH110


def parts_of(name: str) -> list[str]:
    """Split a name into database, schema and table, as far as it spells them."""
    if not TABLE.fullmatch(name):
        return [name]
    return [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in re.findall(PART, name)]


def _table(parts: Sequence[str]) -> str:
    names = (folded(part) for part in parts)
    first, *others = (in_quotes(name) if NEEDS_QUOTES.fullmatch(name) else name for name in names)
    return ".".join(others if first == MAIN and len(others) == 1 else (first, *others))
