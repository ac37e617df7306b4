"""The note beside a CSV file of ours: the types of its columns and where it comes from, for CSV has no place for that.

While a CSV is being replaced, its note is about both files, so that it is right whichever of them is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.errors import EngineError
from sqlanon.model.destination import CSV_SUFFIX, NOTE_KEY
from sqlanon.model.names import LOCAL
from sqlanon.model.taxonomy.hierarchies import note_path
from sqlanon.model.whole_files import is_special, refuse_lacking

RELEASES = "releases"  # the key of the entries of a note, by the SHA-256 of the bytes of the CSV that each is about

Form = tuple[list[tuple[str, str]], tuple[str, ...]]
"""How a CSV is to be read: its columns with their types, and those whose formulas have an apostrophe before them."""


@dataclass(frozen=True)
class Entry:
    """The entry of a CSV in a note."""

    columns: dict[str, str]  # the types of its columns, by name and in order
    note: dict[str, Any]  # where it comes from, as a document
    quoted: tuple[str, ...] = ()  # the columns whose formulas have an apostrophe before them

    @property
    def form(self) -> Form:
        """The part of the form that files have in common if they are read together."""
        return form_of(self.columns, self.quoted)

    def as_json(self) -> dict[str, Any]:
        """The document of this entry."""
        quoted = {"quoted_formulas": [*self.quoted]} if self.quoted else {}
        return {"columns": self.columns, "note": self.note, **quoted}


Entries = Mapping[str, Entry | None]
"""The entries of a note, by hash; None for a file that is not ours, which is there until it has been replaced."""


@dataclass(frozen=True)
class Found:
    """A CSV as it is found beside its note."""

    entry: Entry | None = None  # its entry; None without a note, or if the note is about another content
    is_changed: bool = False  # whether there is a note, and it is about another content

    @property
    def note(self) -> str | None:
        """The origin of the CSV file, as JSON."""
        return None if self.entry is None else json.dumps(self.entry.note)


def form_of(columns: Mapping[str, str], quoted: Iterable[str]) -> Form:
    """The form of a CSV with columns of these types."""
    return [*columns.items()], (*quoted,)


def is_csv(file: str | Path) -> bool:
    """Whether a file is named as a CSV that has a note beside it may be."""
    return str(file).lower().endswith(CSV_SUFFIX)


def look_at(file: str | Path) -> Found:
    """A CSV as it is, whatever runs publish meanwhile."""
    path = Path(LOCAL.sub("", str(file), count=1))
    before: Entries | None = None
    # A note is replaced before and after its file: one that is about another file may have been read before that.
    while (entries := read_note(path)) and entries != before:
        digest = sha256_of(path)
        if digest is None:
            return Found()
        if digest in entries:
            return Found(entries[digest])
        before = entries
    return Found(is_changed=bool(entries))


def entry_of_all(files: Iterable[str]) -> Entry | None:
    """The note of the last of several CSV files of one form; None if any has none, or another form."""
    shared: Entry | None = None
    for file in files:
        entry = look_at(file).entry if is_csv(file) else None
        if entry is None or (shared is not None and shared.form != entry.form):
            return None
        shared = entry
    return shared


def read_note(path: Path) -> Entries:
    """The entries of the note of a CSV; none without a note, or if it is that of an exported taxonomy."""
    place = note_path(path)
    try:
        text = b"" if is_special(place) else place.read_bytes()
    except (OSError, ValueError) as error:
        refuse_lacking(place, error)
        return {}
    try:
        document = json.loads(text)[NOTE_KEY]
        return {digest: _entry(entry) for digest, entry in document.get(RELEASES, {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise EngineError(
            f"{place} is not what sqlanon writes beside a CSV, so the types of its columns are not known; bring it "
            "back, or remove it to have the CSV read as any other",
            step="source",
        ) from None


def note_text(entries: Entries) -> str:
    """The text of a note."""
    releases = {digest: None if entry is None else entry.as_json() for digest, entry in entries.items()}
    return json.dumps({NOTE_KEY: {RELEASES: releases}}) + "\n"


def sha256_of(path: Path) -> str | None:
    """The hash of a file; None if there is none that can be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        refuse_lacking(path, error)
        return None


def _entry(document: Any) -> Entry | None:
    if document is None:
        return None
    columns, note = document["columns"], document["note"]
    if not isinstance(note, dict) or not columns or not all(isinstance(kind, str) for kind in columns.values()):
        raise ValueError(RELEASES)
    return Entry(dict(columns), note, tuple(document.get("quoted_formulas", ())))
