"""A release as a CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.engines.base import Engine, Files, ResolvedSource
from sqlanon.engines.csv_notes import sha256_of
from sqlanon.errors import EngineError
from sqlanon.model.destination import CsvFormulas
from sqlanon.publish.content import content_of_csv, sealed
from sqlanon.publish.csv_files import StagedCsv
from sqlanon.queries.release.formulas import formula_counts, quoted_names, with_quoted_formulas
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

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "CSV")
        self.staged.columns = {found.name: found.type for found in columns}
        written, as_named = self._safe(query, columns)
        self.engine.write_csv(self.staged.path, written, as_named, streamed=streamed)
        files = Files(str(self.staged.path), "CSV", self.staged.columns, quoted=self.staged.quoted)
        read = self.engine.read_files(files)
        self.engine.refuse_altered(query, read, columns, "CSV")
        return ResolvedSource(read, f"CSV {self.name}")

    def add_note(self, note: str) -> Mapping[str, str]:
        content = content_of_csv(sha256_of(self.staged.path) or "", self.staged.form)
        self.staged.note = sealed(note, content)
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
        counts = self.engine.fetch(formula_counts(query, texts), "formulas of a spreadsheet")[0]
        return {name: counts[str(place)] for place, name in enumerate(texts) if counts[str(place)]}

    def _names(self, names: Sequence[str]) -> dict[str, str]:
        """The names of columns as cells that no spreadsheet computes, by the names as they are."""
        found = self.engine.fetch(quoted_names(names), "names of columns")[0]
        return {name: found[str(place)] for place, name in enumerate(names)}
