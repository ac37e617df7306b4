"""Files of hierarchies as ARX writes them, and the notes beside them: where their values came from."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Literal

from sqlanon.errors import TaxonomyError
from sqlanon.model.whole_files import is_special, read_whole

Domain = Literal["declared", "stated", "observed"]
"""Where the values of a taxonomy come from: they were given with it, a file states them, or they were read off data."""


def note_path(path: Path) -> Path:
    """Return the file of the note of a taxonomy file."""
    return path.with_name(f"{path.name}.sqlanon.json")


def note_text(domain: str, sha256: str) -> str:
    """Return a note on a file with that hash."""
    return json.dumps({"sqlanon": {"taxonomy": {"domain": domain, "sha256": sha256}}}, indent=2) + "\n"


def noted_domain(path: Path, sha256: str) -> Domain:
    """Return the origin of the values of a file with that hash, according to the note beside it.

    Values that were read off data stay so whatever was changed in the file since. Those that were declared are stated
    by the file once it was changed, as are those of a file without a note: their origin is unknown.
    """
    try:
        noted = json.loads(read_whole(note_path(path), MAX_NOTE_MB))["sqlanon"]["taxonomy"]
        domain, of_file = noted["domain"], noted["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return "stated"
    if domain == "observed":
        return "observed"
    return "declared" if domain == "declared" and of_file == sha256 else "stated"


def ambiguous_note(attribute: str, labels: int) -> str:
    """Return a note on a taxonomy with labels that are also values with another label at the same level."""
    if labels == 1:
        are = f'1 label of the taxonomy of "{attribute}" is also a value that has another label'
        return f"{are} at the same level: a reader may take the one for the other; rename the label"
    are = f'{labels:,} labels of the taxonomy of "{attribute}" are also values that have another label'
    return f"{are} at the same level: a reader may take the ones for the others; rename the labels"


def uneven_note(attribute: str, fewest: int, most: int) -> str:
    """Return a note on a taxonomy of first characters whose values are digits, and not equally many."""
    return (
        f'"{attribute}" has values of {fewest} to {most} digits, whose first characters make labels: if zeros at their '
        "beginning were lost, different areas share a label; sqlanon init --clean writes a query that restores them"
    )


DELIMITERS = (";", ",", "\t")

MAX_FILE_MB = 1000  # of a taxonomy file, which is read into memory
MAX_NOTE_MB = 1  # of the note beside it


@dataclass(frozen=True)
class Hierarchy:
    """The text of a file and what separates its labels; iterating reads the labels of each line.

    Rows are made when they are wanted: as Python objects they take 17 times the memory of the text.
    """

    content: bytes = field(repr=False)
    delimiter: str

    def __iter__(self) -> Iterator[tuple[str | None, ...]]:
        """Return the labels of each line; an empty value is None."""
        return (row for _, row in self.numbered())

    def numbered(self) -> Iterator[tuple[int, tuple[str | None, ...]]]:
        """Return the number of each line, from 1, and its labels."""
        # A file, not splitlines: a quoted label may hold a line break.
        lines = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig")
        reader = csv.reader(lines, delimiter=self.delimiter)
        return ((reader.line_num, (line[0] or None, *line[1:])) for line in reader if line)

    def lines_of_problems(self) -> dict[tuple[str, int], list[int]]:
        """The numbers of lines that make a hierarchy malformed, by problem and level of ``taxonomy_problems``.

        Of two lines that contradict each other it is the later one.
        """
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        rows: dict[str | None, tuple[str | None, ...]] = {}
        above: dict[tuple[int, str | None], str | None] = {}
        for line, row in self.numbered():
            first, height = rows.setdefault(row[0], row), len(row) - 1
            for level, label in enumerate(row[1:], start=1):
                if label != first[level]:
                    found["several labels", level].append(line)
                if not label:
                    found["empty label", level].append(line)
                if level < height and above.setdefault((level, label), row[level + 1]) != row[level + 1]:
                    found["not nested", level].append(line)
            if above.setdefault((height, None), row[-1]) != row[-1]:
                found["several top labels", height].append(line)
        return found


def read_hierarchy(path: Path, delimiter: str | None) -> tuple[Hierarchy, Domain]:
    """Read a file: its rows, and the origin of its values; a TaxonomyError if it is not a hierarchy in UTF-8.

    Without a delimiter it is one that splits every line into the same number of labels.
    """
    try:
        # What has no end, waits for a writer, or would fill the memory is not read.
        if is_special(path):
            what = "is not a file, but a device or a pipe: write it to a file first"
            raise TaxonomyError(f"the taxonomy file {path} {what}")
        if path.stat().st_size > MAX_FILE_MB * 1_000_000:
            raise TaxonomyError(
                f"the taxonomy file {path} is larger than {MAX_FILE_MB:,} MB: load it by a query over it, as with "
                "Taxonomy.from_query or `sqlanon taxonomy make ATTRIBUTE query`"
            )
        content = path.read_bytes()
        is_text = "\0" not in content.decode()
    except UnicodeDecodeError:
        raise TaxonomyError(f"the taxonomy file {path} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has characters that no name can have"
        raise TaxonomyError(f"the taxonomy file {path} cannot be read: {reason}") from None
    if not is_text:
        raise TaxonomyError(f"the taxonomy file {path} is not a text: it has NUL characters")
    domain = noted_domain(path, hashlib.sha256(content).hexdigest())
    return _split(content, [delimiter] if delimiter else DELIMITERS, path), domain


def _split(content: bytes, delimiters: Sequence[str], path: Path) -> Hierarchy:
    """Return the content of a file with the delimiter that makes a hierarchy of it."""
    candidates = [Hierarchy(content, delimiter) for delimiter in delimiters]
    fitting = [(has_one_top, each) for each in candidates if (has_one_top := _has_one_top(each, path)) is not None]
    if fitting:
        # Labels such as "[1;2)" can make two delimiters fit: the right one gives one top label.
        return max(fitting, key=itemgetter(0))[1]
    raise TaxonomyError(
        f"the taxonomy file {path} is not a hierarchy: no delimiter among "
        f"{', '.join(map(repr, delimiters))} splits every line into the same two or more fields; "
        f'quote a field with a delimiter in it, as "1,5"{_first_misfit(candidates)}'
    )


def _first_misfit(candidates: Sequence[Hierarchy]) -> str:
    """The first line with another number of fields than the first line, by the delimiter that splits most of that."""
    widest = max(candidates, key=lambda each: len(next(iter(each), ())))
    fields = len(next(iter(widest), ()))
    for line, row in widest.numbered():
        if len(row) != fields:
            return f"; by {widest.delimiter!r} line {line} has {len(row)} where the first line has {fields}"
    return ""


def _has_one_top(hierarchy: Hierarchy, path: Path) -> bool | None:
    """Return whether all lines have the same last label; None if they do not all have the same two or more fields."""
    try:
        rows = iter(hierarchy)
        first = next(rows, ())
        has_one_top = True
        for row in rows:
            if len(row) != len(first):
                return None
            has_one_top &= row[-1] == first[-1]
    except (csv.Error, TypeError) as error:
        raise TaxonomyError(f"the taxonomy file {path} cannot be read: {error}") from None
    return has_one_top if len(first) > 1 else None
