"""Publishing CSV files: each with a note beside it, which is right whenever a run is cut short."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlanon.engines.csv_notes import Entries, Entry, Form, form_of, note_text, read_note, sha256_of
from sqlanon.engines.locks import held_folder
from sqlanon.errors import EngineError
from sqlanon.model.taxonomy.notes import note_path
from sqlanon.publish.files import cannot_be_written, flush, hidden, publish, refuse_file, staged_file, taken, tidy


@dataclass
class StagedCsv:
    """A CSV that is being written.

    Attributes:
        path: where.
        columns: the types of its columns, by name.
        note: where it comes from, as JSON.
        quoted: the columns whose formulas have an apostrophe before them.
    """

    path: Path
    columns: dict[str, str] = field(default_factory=dict)
    note: str = ""
    quoted: tuple[str, ...] = ()

    @property
    def form(self) -> Form:
        """How it is to be read."""
        return form_of(self.columns, self.quoted)


@contextmanager
def staged_csv(target: Path, *, replace: bool, anything: bool) -> Iterator[StagedCsv]:
    """A CSV to write to; it becomes ``target`` when the block ends, its note beside it.

    Args:
        target: where it goes.
        replace: whether what is there may be replaced.
        anything: whether what is there in place of a note may be replaced.

    Raises:
        EngineError: the target or the note may not be replaced, the folder is missing, or the disk is full.
    """
    with cannot_be_written(target, "target"):
        tidy_csv(target)
        refuse_file(target, replace=replace)
        _refuse_note(target, anything=anything)
    with hidden(target, "staged") as path:
        staged = StagedCsv(path)
        yield staged
        # A file and its note are replaced one after the other, which no other run may come between.
        with cannot_be_written(target, "publish"), held_folder(target.parent):
            _refuse_note(target, anything=anything)
            _publish(staged, target, replace=replace)


def tidy_csv(target: Path) -> None:
    """Remove what runs to the same target left behind when they were killed."""
    tidy(target)
    tidy(note_path(target))


def settle(target: Path) -> None:
    """Have the note of a CSV tell about that file alone, after a run was killed right after publishing it."""
    tidy_csv(target)
    with held_folder(target.parent):
        entries, digest = read_note(target), sha256_of(target)
        if digest is not None and len(entries) > 1 and entries.get(digest) is not None:
            _write_note(target, {digest: entries[digest]})


def _publish(staged: StagedCsv, target: Path, *, replace: bool) -> None:
    """Replace the note by one about both files, then the file, then the note by one about the new file alone."""
    if not replace and os.path.lexists(target):
        raise taken(target)
    before, note = _standing(target), _bytes_of(note_path(target))
    digest = sha256_of(staged.path)
    assert digest is not None
    new = {digest: Entry(staged.columns, json.loads(staged.note), staged.quoted)}
    place = staged.path.stat()
    _write_note(target, {**before, **new})
    try:
        publish(staged.path, target, replace=replace)
    except BaseException:
        if not _is_at(target, place):
            _bring_back_note(target, note)
        raise
    if before:
        # It is right as it is, and the next run tries again.
        with suppress(EngineError):
            _write_note(target, new)


def _is_at(target: Path, place: os.stat_result) -> bool:
    """Whether a file that was staged has its name by now; another one may have the same content."""
    try:
        return os.path.samestat(target.stat(), place)
    except OSError:
        return False


def _standing(target: Path) -> Entries:
    """What is to be told about the file that is there until it is replaced."""
    digest = sha256_of(target) if target.is_file() else None
    if digest is None:
        return {}
    try:
        return {digest: read_note(target).get(digest)}
    except EngineError:
        return {digest: None}


def _write_note(target: Path, entries: Entries) -> None:
    with staged_file(note_path(target), replace=True) as staged:
        staged.write_text(note_text(entries), encoding="utf-8")


def _bring_back_note(target: Path, note: bytes | None) -> None:
    """Put the note back that was there, if there was any, where its file was not replaced."""
    with suppress(OSError, EngineError):
        if note is None:
            note_path(target).unlink()
            flush(target.parent)
        else:
            with staged_file(note_path(target), replace=True) as staged:
                staged.write_bytes(note)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _refuse_note(target: Path, *, anything: bool) -> None:
    """Refuse a target with a file of somebody else's in place of its note."""
    place = note_path(target)
    if place.is_dir():
        raise EngineError(
            f"{place} is a folder, where the note of {target} has to go; give another name", step="target"
        )
    if anything:
        return
    try:
        read_note(target)
    except EngineError:
        raise EngineError(
            f"{place} was not made by sqlanon, and the note of {target} has to go there: give another name, or say "
            'with replace="anything" that it may go',
            step="target",
        ) from None
