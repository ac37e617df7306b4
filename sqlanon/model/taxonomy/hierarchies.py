"""The text of a hierarchy as ARX and other tools write it: a line a value, its labels from level 0 to the top."""

from __future__ import annotations

import csv
import hashlib
import io
import stat
from dataclasses import dataclass
from pathlib import Path

from sqlanon.errors import TaxonomyError
from sqlanon.model.taxonomy.notes import Domain, noted_domain

DELIMITERS = (";", ",", "\t")

MAX_FILE_MB = 1000
"""Of a taxonomy file, which is read into memory."""


@dataclass(frozen=True)
class Hierarchy:
    """The labels of every line, and what separates them; an empty value is None."""

    rows: tuple[tuple[str | None, ...], ...]
    delimiter: str


def read_hierarchy(path: Path, delimiter: str | None) -> tuple[Hierarchy, Domain]:
    """What is in a file, and where its values come from.

    Raises:
        TaxonomyError: it cannot be read, is not UTF-8, or not a hierarchy.
    """
    try:
        _refuse_unreadable(path)
        content = path.read_bytes()
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except UnicodeDecodeError:
        raise TaxonomyError(f"the taxonomy file {path} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has characters that no name can have"
        raise TaxonomyError(f"the taxonomy file {path} cannot be read: {reason}") from None
    if "\0" in text:
        raise TaxonomyError(f"the taxonomy file {path} is not a text: it has NUL characters")
    domain = noted_domain(path, hashlib.sha256(content).hexdigest())
    return parse_hierarchy(text, delimiter, str(path)), domain


def _refuse_unreadable(path: Path) -> None:
    """Refuse what has no end, waits for a writer, or would fill the memory."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise TaxonomyError(f"the taxonomy file {path} is not a file, but a device or a pipe: write it to a file first")
    if found.st_size > MAX_FILE_MB * 1_000_000:
        raise TaxonomyError(
            f"the taxonomy file {path} is larger than {MAX_FILE_MB:,} MB: load it by a query over it, as with "
            "Taxonomy.from_query or `sqlanon taxonomy make ATTRIBUTE query`"
        )


def parse_hierarchy(text: str, delimiter: str | None, path: str) -> Hierarchy:
    """Read the text of a hierarchy.

    Args:
        text: of the file.
        delimiter: between labels; if it is not given, one that splits every line into the same number of them.
        path: what errors call the file.

    Raises:
        TaxonomyError: no delimiter does, or the text is no CSV.
    """
    candidates = [delimiter] if delimiter else list(DELIMITERS)
    tables = [(lines, candidate) for candidate in candidates if (lines := _split(text, candidate, path))]
    # Labels such as "[1;2)" can make two delimiters fit: the right one gives one top label.
    tables.sort(key=lambda table: len({line[-1] for line in table[0]}) > 1)
    if tables:
        lines, found = tables[0]
        return Hierarchy(tuple(lines), found)
    raise TaxonomyError(
        f"the taxonomy file {path} is not a hierarchy: no delimiter among "
        f"{', '.join(repr(candidate) for candidate in candidates)} splits every line into the same two or more fields; "
        'quote a field with a delimiter in it, as "1,5"'
    )


def _split(text: str, delimiter: str, path: str) -> list[tuple[str | None, ...]]:
    """The lines of a CSV, none if they do not all have the same two or more fields."""
    labels: dict[str, str] = {}  # each once: many values share a label
    try:
        # StringIO, not splitlines: a quoted label may hold a line break.
        lines = [
            (line[0] or None, *(labels.setdefault(label, label) for label in line[1:]))
            for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            if line
        ]
    except (csv.Error, TypeError) as error:
        raise TaxonomyError(f"the taxonomy file {path} cannot be read: {error}") from None
    return lines if lines and len(lines[0]) > 1 and len({len(line) for line in lines}) == 1 else []
