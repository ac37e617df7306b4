"""A release as a Parquet file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.relations import Files, ResolvedSource
from sqlanon.model.record import ContentRecord, Record
from sqlanon.publish.content import UNKNOWN, content_of_parquet, replace_note
from sqlanon.publish.files import cannot_be_written


@dataclass(frozen=True)
class ParquetTarget:
    """A Parquet file, written beside its place and verified there."""

    engine: Engine
    name: str
    staged: Path

    def takes_enums(self, name: str) -> bool:
        return True

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "Parquet")
        self.engine.write_parquet(self.staged, query, columns, UNKNOWN, streamed=streamed)
        written = self.engine.read_files(Files(str(self.staged)))
        self.engine.refuse_altered(query, written, columns, "Parquet")
        return ResolvedSource(written, f"Parquet {self.name}")

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def add_record(self, record: Record) -> ContentRecord:
        with cannot_be_written(Path(self.name), "publish"):
            content = content_of_parquet(self.staged, UNKNOWN)
            replace_note(self.staged, UNKNOWN, record.sealed(content).text)
        return content
