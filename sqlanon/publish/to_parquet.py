"""A release as a Parquet file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Engine, Files, ResolvedSource
from sqlanon.publish.footers import amend, padded

NOTE_ROOM = 1024
"""Bytes that a note in a file may grow by: what a run has to say at its end, such as the seconds of its stages."""


@dataclass
class ParquetTarget:
    """A Parquet file, written beside its place and verified there."""

    engine: Engine
    name: str
    staged: Path
    note: str = field(default="")

    def takes_enums(self, name: str) -> bool:
        return True

    def write(self, query: exp.Query, note: str, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "Parquet")
        self.note = padded(note, len(note.encode()) + NOTE_ROOM)
        self.engine.write_parquet(self.staged, query, columns, self.note, streamed=streamed)
        written = self.engine.read_files(Files(str(self.staged)))
        self.engine.refuse_altered(query, written, columns, "Parquet")
        return ResolvedSource(written, f"Parquet {self.name}")

    def amend(self, note: str) -> None:
        amend(self.staged, self.note, padded(note, len(self.note.encode())))
