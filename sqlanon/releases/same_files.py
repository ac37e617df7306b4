"""Releases of the same files that lie beside a target, by their records: no list has to have them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlanon.engines.csv_notes import Found, is_csv, read_note
from sqlanon.engines.duckdb import Engine
from sqlanon.errors import EngineError
from sqlanon.model.destination import destination
from sqlanon.model.record import Record, readable_record
from sqlanon.publish.targets import target_at
from sqlanon.releases.listing import known_rows
from sqlanon.releases.noting import row_of
from sqlanon.releases.release_table import Row
from sqlanon.releases.target_names import place

SUFFIXES = (".csv", ".parquet")

MAX_FILES = 100  # files of a folder whose records are looked at: the latest


def rows_beside(engine: Engine, target: Path, files_sha256: str | None, datasets: Sequence[str]) -> list[Row]:
    """A row for each release in the folder of a target that was made from the same files, the latest last.

    Releases that the list has, also as forgotten, are left out; so are folders and tables.

    Args:
        engine: the database.
        target: the path of a file.
        files_sha256: the hash of the files that the release at the target is made from; None if these are not known.
        datasets: what these files are called.
    """
    if files_sha256 is None:
        return []
    listed = {row.record_sha256 for row in known_rows(engine)}
    found = []
    for made_at, path in _latest_files(target):
        record = _record_at(engine, path, files_sha256)
        if record is not None and record.record_sha256 not in listed:
            row = row_of(place(path), datasets, record, None, datetime.fromtimestamp(made_at, UTC).replace(tzinfo=None))
            found.append(row)
    return found


def _latest_files(target: Path) -> list[tuple[float, Path]]:
    """The files beside a target that may be releases, with the times of their last change, in their order."""
    try:
        with os.scandir(target.parent) as entries:
            files = [
                (entry.stat().st_mtime, Path(entry.path))
                for entry in entries
                if entry.name.lower().endswith(SUFFIXES) and entry.is_file() and entry.name != target.name
            ]
    except OSError:
        return []
    return sorted(files)[-MAX_FILES:]


def _record_at(engine: Engine, path: Path, files_sha256: str) -> Record | None:
    """The record of a file that is a release of some files; a CSV is hashed only if its note is of such a release."""
    with suppress(EngineError):
        if is_csv(path) and not any(_is_of(Found(each).note, files_sha256) for each in read_note(path).values()):
            return None
        note = target_at(engine, destination(path)).held_note()
        return readable_record(note) if _is_of(note, files_sha256) else None
    return None


def _is_of(note: str | None, files_sha256: str) -> bool:
    record = readable_record(note)
    return record is not None and record.made_from is not None and record.made_from.files_sha256 == files_sha256
