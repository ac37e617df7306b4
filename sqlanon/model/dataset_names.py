"""Names of data sets in a ledger: one name, however it is spelled, so that its budget is not spent twice."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import PolicyError
from sqlanon.model.names import folded, is_possible

PARQUET_SUFFIXES = (".parquet", ".parq", ".pq")
CSV_SUFFIXES = tuple(kind + packed for kind in (".csv", ".tsv") for packed in ("", ".gz", ".zst"))
FILE_SUFFIXES = (*PARQUET_SUFFIXES, *CSV_SUFFIXES)
"""How the names of files end that are sources."""
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

PLAIN = re.compile(r"[^\W\d]\w*")
"""A part of a name that needs no quotes."""

FILE = re.compile(r"/|[\w+.-]+://")
"""How the name of a file begins."""


@dataclass(frozen=True)
class KnownSource:
    """A table or a file of a data set.

    Attributes:
        name: that of a table, which is the same in every database; or the absolute path of a file, links followed, or
            its address if it is not on this machine.
        fingerprint: what copies of a file share; None of a table, and of a file that is not on this machine.
    """

    name: str
    fingerprint: str | None = None

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
    """The name under which the ledger knows a data set.

    Names are compared as DuckDB compares them, without regard to case, whatever quotes they are in; those of tables in
    schema ``main`` go without it; paths are absolute and follow links.

    Raises:
        PolicyError: it is empty, or no text that can be stored.
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
    """The name of a table of the warehouse."""
    return _table([schema, table])


def table_named(parts: Sequence[str]) -> str:
    """The name of a table with quotes where it needs some, so that :func:`parts_of` finds its parts again."""
    return ".".join(part if PLAIN.fullmatch(part) else _quoted(part) for part in parts)


def dataset_of_files(path: str) -> str:
    """The name of the files of a path, a glob or a folder."""
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
    return whole.lower() if _ignores_case(here) else whole


def _ignores_case(path: Path) -> bool:
    """Whether the disk finds a path in whatever case, as those of some systems do."""
    there = next(known for known in (path, *path.parents) if _is_there(known))
    other = Path(str(there).swapcase())
    return other != there and _is_there(other) and there.samefile(other)


def _is_there(path: Path) -> bool:
    """Unlike :meth:`Path.exists`, this raises nothing where a name is too long, or a folder may not be entered."""
    return os.path.exists(path)  # noqa: PTH110


def parts_of(name: str) -> list[str]:
    """The database, schema and table that a name spells; the name alone if it spells no such parts."""
    if not TABLE.fullmatch(name):
        return [name]
    return [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in re.findall(PART, name)]


def _table(parts: Sequence[str]) -> str:
    first, *others = (_spelled(folded(part)) for part in parts)
    return ".".join(others if first == MAIN and len(others) == 1 else (first, *others))


def _spelled(part: str) -> str:
    return _quoted(part) if NEEDS_QUOTES.fullmatch(part) else part


def _quoted(part: str) -> str:
    return '"' + part.replace('"', '""') + '"'
