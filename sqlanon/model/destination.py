"""Targets as users spell them: a table, a Parquet or CSV file, a folder of files, or a table of a lake."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from sqlanon.errors import PolicyError, TargetError
from sqlanon.model.names import LABELLED_SUFFIXES, folded, possible, spelled_like

FILE_SUFFIX = ".parquet"
CSV_SUFFIX = ".csv"

FORMATS = {FILE_SUFFIX: "sqlanon.publish.parquet:ParquetFile", CSV_SUFFIX: "sqlanon.publish.csv:CsvFile"}
"""The endings of target files, and the class that writes each."""
COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz", ".zip", ".lz4", ".snappy")

TEXTS = (".tsv", ".psv", ".txt")

OTHER_FORMATS = (
    *(*TEXTS, ".json", ".jsonl", ".ndjson", ".xlsx", ".xls", ".ods", ".parq", ".pq"),
    *(".arrow", ".arrows", ".feather", ".ipc", ".avro", ".orc", ".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3"),
    *LABELLED_SUFFIXES,
)
"""Endings of files that can't be targets."""

DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")

DELTA, ICEBERG = "delta:", "iceberg:"  # prefixes of tables of lakes

STORE = re.compile(r"(s3a?|gs|gcs|abfss?)://")
"""Prefixes of object stores, where an object exists as a whole or not at all."""
HADOOP = re.compile(r"^s3a://")  # S3 addresses in Apache Spark
NOTE_KEY = "sqlanon"  # the key of our records in any format
MARKER = "_sqlanon.json"  # the file with the record of a release folder; readers of Parquet folders ignore it


Replace = bool | Literal["changed", "anything"]
"""Whether an existing target may be replaced.

False never replaces it; True replaces a release, a table or file with our note; ``"changed"`` keeps a release that
would be made again; ``"anything"`` replaces anything. A folder is only replaced if it contains nothing but a release.
"""


Kind = Literal["table", "file", "folder", "lake", "store"]

CsvFormulas = Literal["keep", "quote", "refuse"]
"""Whether CSV cells that a spreadsheet would compute are kept, quoted with an apostrophe, or refused."""


@dataclass(frozen=True)
class Destination:
    """A target by its name, before anybody looks whether it exists."""

    name: str  # given by the user
    kind: Kind
    rows_per_file: int | None = None  # the maximum for a file of a folder; None for no limit
    partition_by: tuple[str, ...] = ()  # the columns whose values name nested folders (``column=value``)
    csv_formulas: CsvFormulas = "keep"

    def spelled_like(self, names: Iterable[str]) -> Destination:
        known = list(names)
        return replace(self, partition_by=tuple(spelled_like(name, known) for name in self.partition_by))

    @property
    def is_csv(self) -> bool:
        """Whether it is a CSV file, with its note beside it."""
        return self.kind == "file" and self.name.lower().endswith(CSV_SUFFIX)

    @property
    def described(self) -> str:
        if self.kind == "lake":
            return in_words(self.name)
        if self.kind == "store":
            return f"release under {self.name}"
        return f'table "{self.name}"' if self.kind == "table" else f"{self.kind} {self.name}"

    @property
    def path(self) -> Path:
        """The absolute path of a file or a folder."""
        return Path(os.path.abspath(self.name))  # noqa: PTH100 (a link is not followed)


def destination(
    into: str | Path, *, rows_per_file: int | None = None, partition_by: str | Sequence[str] = ()
) -> Destination:
    """Return the target of a name: in a lake or a store by its prefix, a folder, a file or a table.

    It is a folder if the name ends in a slash, if it is a release folder, or if a layout in files is given. Otherwise
    it is a file if the name ends in ``.parquet`` or ``.csv``, and a table if not; :func:`refuse_file_like` refuses
    other endings.

    Raises:
        PolicyError: the layout is impossible; lists every problem.
        TargetError: the name is empty, or the path of neither a file nor a folder.
    """
    columns = _names(partition_by)
    _refuse_layout(rows_per_file, columns)
    name = possible(into, "target")
    if not name.strip():
        raise TargetError(
            f"the release needs a name: of a table, of a file that ends in {FILE_SUFFIX} or {CSV_SUFFIX}, or of a "
            "folder, with a slash at its end",
            step="target",
        )
    if not name.strip("."):
        raise TargetError(
            f'"{name}" is a folder, not the name of a release; give the name of a new one in it, such as '
            f'"{name}/release/"',
            step="target",
        )
    if (kind := kind_elsewhere(name)) is not None:
        return _elsewhere(name, kind, rows_per_file, columns)
    if rows_per_file is not None or columns:
        refuse_file_like(name)
        return Destination(name, "folder", rows_per_file, columns)
    if _is_folder(name):
        return Destination(name, "folder")
    if name.lower().endswith(tuple(FORMATS)):
        return Destination(name, "file")
    if isinstance(into, Path) or "/" in name:
        refuse_file_like(name)
        raise TargetError(
            f"{into} does not end in {FILE_SUFFIX} or {CSV_SUFFIX}: a release goes to a table, such a file, or a "
            "folder, whose name is a text that ends in a slash",
            step="target",
        )
    return Destination(name, "table")


def _elsewhere(name: str, kind: Kind, rows_per_file: int | None, columns: tuple[str, ...]) -> Destination:
    if columns and not name.startswith(DELTA):
        raise TargetError(f"{name}: partition_by is for folders and Delta tables; leave it out", step="target")
    return Destination(name, kind, rows_per_file, columns)


def kind_elsewhere(name: str) -> Kind | None:
    """Return the kind of a table of a lake, or of an address in an object store, which ends in a slash; or None."""
    if name.startswith((DELTA, ICEBERG)):
        return "lake"
    return "store" if name.endswith("/") and STORE.match(name) else None


def in_arrow(url: str) -> str:
    """Return an address in a store in Arrow's form."""
    return HADOOP.sub("s3://", url)


def in_words(lake_table: str) -> str:
    kind, _, name = lake_table.partition(":")
    return f"{kind.capitalize()} table {name}"


def with_csv_formulas(into: Destination, given: str | None) -> Destination:
    """Set the treatment of formulas, if given; only a CSV file can have one."""
    if given is None:
        return into
    if given not in get_args(CsvFormulas):
        raise PolicyError(f'csv_formulas is "keep", "quote" or "refuse", not {given!r}')
    if not into.is_csv:
        raise PolicyError(f"csv_formulas is for a target that ends in {CSV_SUFFIX}")
    return replace(into, csv_formulas=cast(CsvFormulas, given))


def replacing(given: object, *, detects_changes: bool = True) -> Replace:
    """Read the argument ``replace``; "changed" needs a source whose changes can be detected."""
    if isinstance(given, bool):
        return given
    if given == "anything":
        return "anything"
    if given == "changed" and detects_changes:
        return "changed"
    if given == "changed":
        raise PolicyError('replace="changed" is for sources whose changes can be detected; here, give replace=True')
    raise PolicyError('replace is True, False, "changed" or "anything"')


def refuse_file_like(name: str) -> None:
    """Refuse a name with the ending of a file that can't be a target, and suggest another one.

    It would become a table or a folder. Don't call this for names known to be tables, such as ``schema.json`` with an
    existing schema.
    """
    bare = _without(name, COMPRESSIONS)
    stem = _without(bare, (FILE_SUFFIX, CSV_SUFFIX, *OTHER_FORMATS))
    packed, ending = name[len(bare) :], bare[len(stem) :].lower()
    if not packed and ending in ("", FILE_SUFFIX):
        return
    if not packed and ending in OTHER_FORMATS and ending not in DATABASES:
        raise TargetError(
            f'"{name}": unsupported output format {ending}; use {FILE_SUFFIX} or {CSV_SUFFIX}', step="target"
        )
    instead = f"write {stem}{FILE_SUFFIX}"
    if ending in DATABASES:
        instead = f"to write to a table of that database, open it and give the name of the table; else {instead}"
    elif packed:
        instead += ", whose columns are compressed already"
    elif ending == CSV_SUFFIX:
        raise TargetError(f'"{name}" is one file: to lay out the release in several, write {stem}/', step="target")
    raise TargetError(f'"{name}" ends as files do that are no target: {instead}', step="target")


def _without(name: str, endings: Sequence[str]) -> str:
    """Strip the first of these endings, in any case."""
    found = next((ending for ending in endings if name.lower().endswith(ending)), "")
    return name[: len(name) - len(found)]


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return names of columns as a tuple, and refuse other types."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else (given,)
    odd = [type(name).__name__ for name in names if not isinstance(name, str)]
    if odd or isinstance(given, bytes):
        problem = f"partition_by: give the name of a column, or a list of names, not a {(odd or ['bytes'])[0]}"
        raise PolicyError("the release cannot be laid out in files:", [problem])
    return names


def _refuse_layout(rows_per_file: int | None, columns: tuple[str, ...]) -> None:
    problems = []
    if rows_per_file is not None and (isinstance(rows_per_file, bool) or not isinstance(rows_per_file, int)):
        problems.append(f"rows_per_file: a {type(rows_per_file).__name__} is not a whole number")
    elif rows_per_file is not None and rows_per_file < 1:
        problems.append(f"rows_per_file: {rows_per_file} is not a positive number")
    times = Counter(map(folded, columns))
    repeated = dict.fromkeys(name for name in columns if times[folded(name)] > 1)
    problems += [f'partition_by: column "{name}" is there more than once' for name in repeated]
    if problems:
        raise PolicyError("the release cannot be laid out in files:", problems)


def _is_folder(name: str) -> bool:
    if name.endswith(("/", os.sep)):
        return True
    try:
        return Path(name, MARKER).is_file()
    except (OSError, ValueError):
        return False  # not a possible file name
