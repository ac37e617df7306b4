"""Releases as CSV files, each with a note beside it that stays correct if a run is killed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.csv_notes import Entries, Entry, form_of, look_at, note_text, read_note, sha256_of
from sqlanon.engines.locks import held_folder
from sqlanon.engines.relations import Files
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.record import ContentRecord, Record, sha256_of_json
from sqlanon.model.taxonomy.hierarchies import note_path
from sqlanon.model.whole_files import is_special
from sqlanon.publish.files import cannot_be_written, flush, hidden, publish, refuse_file, staged_file, taken, tidy
from sqlanon.publish.targets import FileTarget, Written
from sqlanon.queries.layout import formula_counts, quoted_names, with_quoted_formulas
from sqlanon.queries.source import SourceColumn

COMPUTED = "a spreadsheet takes {} for formulas"
WITH_QUOTE = 'with csv_formulas="quote" they are written with an apostrophe before them'
INSTEAD = f'{WITH_QUOTE}, and with "refuse" nothing is written'
QUOTED = (
    "{}, so they were written with an apostrophe before them, which other programs read as a part of the values; "
    "sqlanon removes it"
)


class CsvFile(FileTarget):
    """A CSV file, verified as readers who use its note see it."""

    format = "CSV"
    columns: dict[str, str]  # types by name
    quoted: tuple[str, ...] = ()  # columns whose formulas have an apostrophe before them
    note: str  # provenance, as JSON

    @contextmanager
    def staged(self) -> Iterator[None]:
        with cannot_be_written(self.final, "target"):
            tidy_csv(self.final)
            refuse_file(self.final, replace=bool(self.replace))
            self._refuse_note()
        with hidden(self.final, "staged") as self.path:
            yield
            # The file and its note are replaced one after the other: keep out other runs.
            with cannot_be_written(self.final, "publish"), held_folder(self.final.parent):
                self._refuse_note()
                self._publish()

    def refuse_columns(self, query: exp.Query) -> None:
        super().refuse_columns(query)
        if self.into.csv_formulas == "refuse":
            reason = 'csv_formulas="refuse" could end the run after it has paid; take "quote" or "keep"'
            raise EngineError(reason, step="target")

    def columns_of(self, query: exp.Query) -> list[SourceColumn]:
        return self.engine.csv_columns(query)

    def refuse_altered(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
        self.engine.refuse_altered_csv(query, written, columns)

    def write_file(self, query: exp.Query, columns: Sequence[SourceColumn], *, streamed: bool) -> Written:
        self.columns = {found.name: found.type for found in columns}
        written, as_named = self._safe(query, columns)
        self.engine.write_csv(self.path, written, as_named, streamed=streamed)
        return self.engine.read_files(Files(str(self.path), "CSV", self.columns, quoted=self.quoted))

    def _safe(self, query: exp.Query, columns: Sequence[SourceColumn]) -> tuple[exp.Query, Sequence[SourceColumn]]:
        cells: dict[str, int] = {}  # by text column, its number of formulas
        if texts := [found.name for found in columns if found.traits.is_text]:
            rows = self.engine.fetch(formula_counts(query, texts), "formulas of a spreadsheet")
            cells = {texts[place]: count for place, count in sorted((row["place"], row["count"]) for row in rows)}
        known = [found.name for found in columns]
        safe = {row["name"]: row["written"] for row in self.engine.fetch(quoted_names(known), "names of columns")}
        names = {name: safe[name] for name in known}
        lines = [f'{count:,} {"cell" if count == 1 else "cells"} of "{name}"' for name, count in cells.items()]
        lines += [f'the name of the column "{name}"' for name, written in names.items() if written != name]
        if not lines:
            return query, columns
        found = COMPUTED.format(", ".join(lines))
        if self.into.csv_formulas == "refuse":
            reason = f'{found}, and csv_formulas="refuse" does not let them into a CSV; {WITH_QUOTE}'
            raise EngineError(reason, step="target")
        if self.into.csv_formulas == "keep":
            self.notes = (f"{found}; {INSTEAD}",)
            return query, columns
        self.notes = (QUOTED.format(found),)
        self.quoted = tuple(cells)
        renamed = [replace(each, name=names[each.name]) for each in columns]
        return with_quoted_formulas(query, names, cells), renamed

    def add_record(self, record: Record) -> ContentRecord:
        content = content_of_csv(sha256_of(self.path) or "", form_of(self.columns, self.quoted))
        self.note = record.sealed(content).text
        return content

    def _refuse_note(self) -> None:
        place = note_path(self.final)
        if place.is_dir() or is_special(place):
            raise EngineError(
                f"{place} is not a file, but the note of {self.final} must go there; give another name", step="target"
            )
        if self.replace == "anything":
            return
        try:
            read_note(self.final)
        except EngineError as error:
            if error.refusal is Refusal.LACKING:
                raise
            raise EngineError(
                f"{place} was not written by sqlanon, and the note of {self.final} has to go there. Choose another "
                'name, or pass replace="anything" to overwrite it',
                step="target",
            ) from None

    def _publish(self) -> None:
        """Write a note about both files, replace the file, then write a note about the new file only."""
        target = self.final
        if not self.replace and os.path.lexists(target):
            raise taken(target)
        before, note = _standing(target), None
        with suppress(FileNotFoundError):
            note = note_path(target).read_bytes()
        digest = sha256_of(self.path)
        assert digest is not None
        new = {digest: Entry(self.columns, json.loads(self.note), self.quoted)}
        place = self.path.stat()
        write_note(target, {**before, **new})
        try:
            publish(self.path, target, replace=bool(self.replace))
        except BaseException:
            is_published = False
            with suppress(OSError):  # another file may have the same content
                is_published = os.path.samestat(target.stat(), place)
            if not is_published:
                _bring_back_note(target, note)
            raise
        if before:
            # A note about both files is correct, and the next run tries again.
            with suppress(EngineError):
                write_note(target, new)

    def note_of(self, file: str | Path) -> str | None:
        return look_at(file).note

    def is_changed(self) -> bool:
        return look_at(self.final).is_changed

    def settle(self) -> None:
        """Reduce the note to the current file, after a run was killed right after publishing it."""
        target = self.final
        tidy_csv(target)
        with held_folder(target.parent):
            entries, digest = read_note(target), sha256_of(target)
            if digest is not None and len(entries) > 1 and entries.get(digest) is not None:
                write_note(target, {digest: entries[digest]})


def content_of_csv(file_sha256: str, form: Sequence[Any]) -> ContentRecord:
    return ContentRecord(file_sha256=file_sha256, form_sha256=sha256_of_json(form))


def tidy_csv(target: Path) -> None:
    tidy(target)
    tidy(note_path(target))


def _standing(target: Path) -> Entries:
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
    with staged_file(note_path(target), replace=True) as staged:
        staged.write_text(note_text(entries), encoding="utf-8")


def _bring_back_note(target: Path, note: bytes | None) -> None:
    with suppress(OSError, EngineError):
        if note is None:
            note_path(target).unlink()
            flush(target.parent)
        else:
            with staged_file(note_path(target), replace=True) as staged:
                staged.write_bytes(note)
