"""A release as a CSV file."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine, Files, ResolvedSource
from sqlanon.publish.csv_files import StagedCsv


@dataclass(frozen=True)
class CsvTarget:
    """A CSV file, written beside its place and verified there, as those read it who know its note."""

    engine: Engine
    name: str
    staged: StagedCsv

    def takes_enums(self, name: str) -> bool:
        return True

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "CSV")
        self.engine.write_csv(self.staged.path, query, columns, streamed=streamed)
        self.staged.columns = {found.name: found.type for found in columns}
        written = self.engine.read_files(Files(str(self.staged.path), "CSV", self.staged.columns))
        self.engine.refuse_altered(query, written, columns, "CSV")
        return ResolvedSource(written, f"CSV {self.name}")

    def add_note(self, note: str) -> None:
        self.staged.note = note
