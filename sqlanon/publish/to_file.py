"""A release as a Parquet file, or as a CSV file with a note beside it that is right whenever a run is cut short."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.csv_notes import Entries, Entry, Form, form_of, note_text, read_note, sha256_of
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import held_folder
from sqlanon.engines.relations import Files, ResolvedSource
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.destination import CsvFormulas
from sqlanon.model.record import ContentRecord, Record
from sqlanon.model.taxonomy.hierarchies import note_path
from sqlanon.model.whole_files import is_special
from sqlanon.publish.content import UNKNOWN, content_of_csv, content_of_parquet, replace_note
from sqlanon.publish.files import cannot_be_written, flush, hidden, publish, refuse_file, staged_file, taken, tidy
from sqlanon.queries.release.files import formula_counts, quoted_names, with_quoted_formulas
from sqlanon.queries.source import SourceColumn

COMPUTED = "a spreadsheet takes {} for formulas"
INSTEAD = (
    'with csv_formulas="quote" they are written with an apostrophe before them, and with "refuse" nothing is written'
)
QUOTED = (
    "{}, so they were written with an apostrophe before them, which other programs read as a part of the values; "
    "sqlanon removes it"
)


@dataclass
class CsvTarget:
    """A CSV file, written beside its place and verified there, as those read it who know its note.

    Attributes:
        engine: the database.
        name: what the user gave.
        staged: what is written.
        csv_formulas: what becomes of cells that a spreadsheet would compute.
        notes: what a reader of the report should know of what was written.
    """

    engine: Engine
    name: str
    staged: StagedCsv
    csv_formulas: CsvFormulas = "keep"
    notes: tuple[str, ...] = field(default=(), init=False)

    def takes_enums(self, name: str) -> bool:
        return True

    def refuse_columns(self, query: exp.Query) -> None:
        self.engine.file_columns(query, "CSV")
        if self.csv_formulas == "refuse":
            reason = 'csv_formulas="refuse" could end the run by a cell that it has paid for; take "quote" or "keep"'
            raise EngineError(reason, step="target")

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "CSV")
        self.staged.columns = {found.name: found.type for found in columns}
        written, as_named = self._safe(query, columns)
        self.engine.write_csv(self.staged.path, written, as_named, streamed=streamed)
        files = Files(str(self.staged.path), "CSV", self.staged.columns, quoted=self.staged.quoted)
        read = self.engine.read_files(files)
        self.engine.refuse_altered(query, read, columns, "CSV")
        return ResolvedSource(read, f"CSV {self.name}")

    def add_record(self, record: Record) -> ContentRecord:
        content = content_of_csv(sha256_of(self.staged.path) or "", self.staged.form)
        self.staged.note = record.sealed(content).text
        return content

    def _safe(self, query: exp.Query, columns: Sequence[SourceColumn]) -> tuple[exp.Query, Sequence[SourceColumn]]:
        """The query as it is to be written, with its columns.

        Raises:
            EngineError: it has formulas, and these are refused.
        """
        texts = [found.name for found in columns if found.traits.is_text]
        cells = self._cells(query, texts)
        names = self._names([found.name for found in columns])
        lines = [f'{count:,} {"cell" if count == 1 else "cells"} of "{name}"' for name, count in cells.items()]
        lines += [f'the name of the column "{name}"' for name, written in names.items() if written != name]
        if not lines:
            return query, columns
        found = COMPUTED.format(", ".join(lines))
        if self.csv_formulas == "refuse":
            reason = f'{found}, and csv_formulas="refuse" does not let them into a CSV; {INSTEAD}'
            raise EngineError(reason.rpartition(", and with")[0], step="target")
        if self.csv_formulas == "keep":
            self.notes = (f"{found}; {INSTEAD}",)
            return query, columns
        self.notes = (QUOTED.format(found),)
        self.staged.quoted = tuple(cells)
        return (
            with_quoted_formulas(query, names, cells),
            [replace(found, name=names[found.name]) for found in columns],
        )

    def _cells(self, query: exp.Query, texts: Sequence[str]) -> dict[str, int]:
        """The columns of texts that have formulas, each with their number."""
        if not texts:
            return {}
        rows = self.engine.fetch(formula_counts(query, texts), "formulas of a spreadsheet")
        return {texts[place]: count for place, count in sorted((row["place"], row["count"]) for row in rows)}

    def _names(self, names: Sequence[str]) -> dict[str, str]:
        """The names of columns as cells that no spreadsheet computes, by the names as they are."""
        found = {row["name"]: row["written"] for row in self.engine.fetch(quoted_names(names), "names of columns")}
        return {name: found[name] for name in names}


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
    """Reduce the note of a CSV to that file alone, after a run was killed right after publishing it."""
    tidy_csv(target)
    with held_folder(target.parent):
        entries, digest = read_note(target), sha256_of(target)
        if digest is not None and len(entries) > 1 and entries.get(digest) is not None:
            write_note(target, {digest: entries[digest]})


def _publish(staged: StagedCsv, target: Path, *, replace: bool) -> None:
    """Replace the note by one about both files, then the file, then the note by one about the new file alone."""
    if not replace and os.path.lexists(target):
        raise taken(target)
    before, note = _standing(target), _bytes_of(note_path(target))
    digest = sha256_of(staged.path)
    assert digest is not None
    new = {digest: Entry(staged.columns, json.loads(staged.note), staged.quoted)}
    place = staged.path.stat()
    write_note(target, {**before, **new})
    try:
        publish(staged.path, target, replace=replace)
    except BaseException:
        if not _is_at(target, place):
            _bring_back_note(target, note)
        raise
    if before:
        # It is right as it is, and the next run tries again.
        with suppress(EngineError):
            write_note(target, new)


def _is_at(target: Path, place: os.stat_result) -> bool:
    """Whether a file that was staged has its name by now; another one may have the same content."""
    try:
        return os.path.samestat(target.stat(), place)
    except OSError:
        return False


def _standing(target: Path) -> Entries:
    """The entries of the file that is there until it is replaced."""
    digest = sha256_of(target) if target.is_file() else None
    if digest is None:
        return {}
    try:
        return {digest: read_note(target).get(digest)}
    except EngineError as error:
        if error.refusal is Refusal.LACKING:
            raise
        return {digest: None}


def write_note(target: Path, entries: Entries) -> None:
    """Replace the note of a file."""
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
    if place.is_dir() or is_special(place):
        raise EngineError(
            f"{place} is not a file, where the note of {target} has to go; give another name", step="target"
        )
    if anything:
        return
    try:
        read_note(target)
    except EngineError as error:
        if error.refusal is Refusal.LACKING:
            raise
        raise EngineError(
            f"{place} was not made by sqlanon, and the note of {target} has to go there: give another name, or say "
            'with replace="anything" that it may go',
            step="target",
        ) from None


@dataclass(frozen=True)
class ParquetTarget:
    """A Parquet file, written beside its place and verified there."""

    engine: Engine
    name: str
    staged: Path
    notes: tuple[str, ...] = field(default=(), init=False)

    def takes_enums(self, name: str) -> bool:
        return True

    def refuse_columns(self, query: exp.Query) -> None:
        self.engine.file_columns(query, "Parquet")

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "Parquet")
        self.engine.write_parquet(self.staged, query, columns, UNKNOWN, streamed=streamed)
        written = self.engine.read_files(Files(str(self.staged)))
        self.engine.refuse_altered(query, written, columns, "Parquet")
        return ResolvedSource(written, f"Parquet {self.name}")

    def add_record(self, record: Record) -> ContentRecord:
        with cannot_be_written(Path(self.name), "publish"):
            content = content_of_parquet(self.staged, UNKNOWN)
            replace_note(self.staged, UNKNOWN, record.sealed(content).text)
        return content
