"""Files of ARX hierarchies, and the notes beside them on the origin of their values."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Literal

from sqlanon.errors import TaxonomyError
from sqlanon.model.whole_files import is_special, read_whole

Domain = Literal["declared", "stated", "observed"]
"""The origin of the values of a taxonomy: given with it, stated by a file, or observed in data."""

Labels = list[list[str]]
"""The rows of a hierarchy: a value, and its labels from level 1 to the top."""


def note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sqlanon.json")


def note_text(domain: str, sha256: str) -> str:
    return json.dumps({"sqlanon": {"taxonomy": {"domain": domain, "sha256": sha256}}}, indent=2) + "\n"


def noted_domain(path: Path, sha256: str) -> Domain:
    """Return the origin of the values of a file with this hash, according to the note beside it.

    Observed values stay observed after any change of the file. Declared values become stated once the file changes, and
    so are values without a note: their origin is unknown.
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
    """Return a note on a taxonomy of first characters with numeric values of different lengths."""
    return (
        f'"{attribute}" has values of {fewest} to {most} digits, whose first characters make labels: if leading zeros '
        "were lost, different areas share a label; sqlanon init --clean writes a query that restores them"
    )


def labels_text(labels: Iterable[Sequence[str | None]]) -> str:
    """Write labels as the text of an ARX hierarchy."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(labels)
    return text.getvalue()


def merged(labels: Labels, values: Sequence[str], label: str) -> Labels:
    """Put values into a group of level 1, with the levels above the first of them, so that labels nest.

    Raises:
        TaxonomyError: there are no such values, or the group has no name.
    """
    chosen = [row for row in labels if row[0] in values]
    if not chosen or not label.strip():
        raise TaxonomyError("choose values, and type the name of their group")
    same = [row for row in labels if row[1] == label]
    above = (same or chosen)[0][2:]
    return [[row[0], label, *above] if row[0] in values else row for row in labels]


def renamed(labels: Labels, level: int, label: str, name: str) -> Labels:
    """Rename a label of a level above the values and below the top.

    Raises:
        TaxonomyError: the level is not between the values and the top, or the new name is empty.
    """
    if not 1 <= level < len(labels[0]) - 1 or not name.strip():
        raise TaxonomyError("choose a label between the values and the top, and type its new name")
    return [[*row[:level], name if row[level] == label else row[level], *row[level + 1 :]] for row in labels]


def taken_out(labels: Labels, values: Sequence[str]) -> Labels:
    """Let values stand for themselves at level 1."""
    return [[row[0], row[0], *row[2:]] if row[0] in values else row for row in labels]


def with_level(labels: Labels) -> Labels:
    """Add a level below the top, which repeats the one below it until somebody merges its labels."""
    return [[*row[:-1], row[-2], row[-1]] for row in labels]


DELIMITERS = (";", ",", "\t")

MAX_FILE_MB = 1000  # of a taxonomy file, which is read into memory
MAX_NOTE_MB = 1  # of the note beside it


@dataclass(frozen=True)
class Hierarchy:
    """The text of a file and its delimiter; iterating reads the labels of each line.

    Rows are read on demand: as Python objects they take 17 times the memory of the text.
    """

    content: bytes = field(repr=False)
    delimiter: str

    def __iter__(self) -> Iterator[tuple[str | None, ...]]:
        """Yield the labels of each line; an empty value is None."""
        return (row for _, row in self.numbered())

    def numbered(self) -> Iterator[tuple[int, tuple[str | None, ...]]]:
        """Yield the number of each line, from 1, and its labels."""
        # A file, not splitlines: a quoted label may hold a line break.
        lines = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig")
        reader = csv.reader(lines, delimiter=self.delimiter)
        return ((reader.line_num, (line[0] or None, *line[1:])) for line in reader if line)

    def lines_of_problems(self) -> dict[tuple[str, int], list[int]]:
        """Return numbers of malformed lines, by problem and level; of two contradicting lines the later one."""
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
    """Read the rows of a file and the origin of its values, or raise a TaxonomyError if it isn't a hierarchy in UTF-8.

    The default delimiter is one that splits every line into an equal number of labels.
    """
    try:
        # Don't read files without an end, pipes that wait for a writer, or files that would fill the memory.
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
        reason = getattr(error, "strerror", None) or "its name has a NUL or an invalid character"
        raise TaxonomyError(f"the taxonomy file {path} cannot be read: {reason}") from None
    if not is_text:
        raise TaxonomyError(f"the taxonomy file {path} is not text: it has NUL characters")
    domain = noted_domain(path, hashlib.sha256(content).hexdigest())
    return hierarchy_of(content, delimiter, path), domain


def hierarchy_of(content: bytes, delimiter: str | None, path: Path) -> Hierarchy:
    """Return the content of a file as a hierarchy; find its delimiter if none is given."""
    delimiters = [delimiter] if delimiter else DELIMITERS
    candidates = [Hierarchy(content, delimiter) for delimiter in delimiters]
    fitting = [(has_one_top, each) for each in candidates if (has_one_top := _has_one_top(each, path)) is not None]
    if fitting:
        # With labels such as "[1;2)" two delimiters may fit: the right one leads to one top label.
        return max(fitting, key=itemgetter(0))[1]
    raise TaxonomyError(
        f"the taxonomy file {path} is not a hierarchy: no delimiter among "
        f"{', '.join(map(repr, delimiters))} splits every line into the same two or more fields; "
        f'quote a field with a delimiter in it, as "1,5"{_first_misfit(candidates)}'
    )


def _first_misfit(candidates: Sequence[Hierarchy]) -> str:
    """Name the first line with a deviating number of fields, for the delimiter that splits the first line most."""
    widest = max(candidates, key=lambda each: len(next(iter(each), ())))
    fields = len(next(iter(widest), ()))
    for line, row in widest.numbered():
        if len(row) != fields:
            return f"; by {widest.delimiter!r} line {line} has {len(row)} where the first line has {fields}"
    return ""


def _has_one_top(hierarchy: Hierarchy, path: Path) -> bool | None:
    """Return whether all lines end with one label; None if they differ in the number of fields, or have only one."""
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
