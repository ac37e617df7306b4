"""The note beside a CSV file that sqlanon wrote, with its column types and its provenance.

While a CSV is being replaced, its note describes both files, so that it fits whichever of them is there.
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

RELEASES = "releases"  # the key of a note's entries, which are by SHA-256 of the CSV

Form = tuple[list[tuple[str, str]], tuple[str, ...]]
"""The columns of a CSV with their types, and those with an apostrophe before formulas."""


@dataclass(frozen=True)
class Entry:
    columns: dict[str, str]  # types by name, in order
    note: dict[str, Any]  # the provenance, as a document
    quoted: tuple[str, ...] = ()  # columns with an apostrophe before formulas

    @property
    def form(self) -> Form:
        """The part of the form that files read together have in common."""
        return form_of(self.columns, self.quoted)

    def as_json(self) -> dict[str, Any]:
        quoted = {"quoted_formulas": [*self.quoted]} if self.quoted else {}
        return {"columns": self.columns, "note": self.note, **quoted}


Entries = Mapping[str, Entry | None]
"""The entries of a note by hash; None for another program's file, which is there until it is replaced."""


@dataclass(frozen=True)
class Found:
    entry: Entry | None = None  # None without a note, or with one on another content
    is_changed: bool = False  # whether its note is on another content

    @property
    def note(self) -> str | None:
        return None if self.entry is None else json.dumps(self.entry.note)


def form_of(columns: Mapping[str, str], quoted: Iterable[str]) -> Form:
    return [*columns.items()], (*quoted,)


def is_csv(file: str | Path) -> bool:
    return str(file).lower().endswith(CSV_SUFFIX)


def look_at(file: str | Path) -> Found:
    """Look up a CSV in its note, whatever runs publish meanwhile."""
    path = Path(LOCAL.sub("", str(file), count=1))
    before: Entries | None = None
    # A note is replaced before and after its file, so one on another file may have been read too early.
    while (entries := read_note(path)) and entries != before:
        digest = sha256_of(path)
        if digest is None:
            return Found()
        if digest in entries:
            return Found(entries[digest])
        before = entries
    return Found(is_changed=bool(entries))


def entry_of_all(files: Iterable[str]) -> Entry | None:
    """Return the last entry of CSV files of one form; None if any has no note, or another form."""
    shared: Entry | None = None
    for file in files:
        entry = look_at(file).entry if is_csv(file) else None
        if entry is None or (shared is not None and shared.form != entry.form):
            return None
        shared = entry
    return shared


def read_note(path: Path) -> Entries:
    """Read the entries of a CSV's note; none without a note, or with that of an exported taxonomy."""
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
            f"{place} was not written by sqlanon, or was changed since, so the types of its CSV are unknown; restore "
            "it, or remove it to read the CSV like any other",
            step="source",
        ) from None


def note_text(entries: Entries) -> str:
    releases = {digest: None if entry is None else entry.as_json() for digest, entry in entries.items()}
    return json.dumps({NOTE_KEY: {RELEASES: releases}}) + "\n"


def sha256_of(path: Path) -> str | None:
    """Hash a file; None if it cannot be read."""
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
