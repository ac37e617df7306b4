"""A release as a folder of Parquet files."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.paths import pattern_below
from sqlanon.engines.relations import Files, ResolvedSource
from sqlanon.model.destination import Destination
from sqlanon.model.record import ContentRecord, Record
from sqlanon.publish.folders import STAGED_SUFFIX, StagedFolder, number_files, part
from sqlanon.queries.kit.nodes import Relation, Step, aliased, count_rows, select
from sqlanon.queries.release import files as partitions
from sqlanon.queries.source import SourceColumn

WRITTEN = Relation("anon_written", "row")


@dataclass(frozen=True)
class FolderTarget:
    """A folder of Parquet files, written beside its place and verified there, as its readers will read it."""

    engine: Engine
    into: Destination
    staged: StagedFolder
    notes: tuple[str, ...] = field(default=(), init=False)

    @property
    def name(self) -> str:
        return self.into.name

    def takes_enums(self, name: str) -> bool:
        return name not in self.into.partition_by

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, "Parquet")
        self._write_files(query, columns, streamed=streamed)
        types = {found.name: found.type for found in columns}
        self.staged.columns, self.staged.partition_by = types, self.into.partition_by
        pattern = pattern_below(self.staged.path, STAGED_SUFFIX)
        written = self.engine.read_files(Files(pattern, columns=types, partition_by=self.into.partition_by))
        self.engine.refuse_altered(query, written, columns, "Parquet")
        return ResolvedSource(written, f"Parquet folder {self.into.name}")

    def add_record(self, record: Record) -> ContentRecord:
        """See :class:`sqlanon.publish.targets.Target`; the hashes of files are taken when they have their names."""
        self.staged.record = record
        return ContentRecord()

    def _write_files(self, query: exp.Query, columns: list[SourceColumn], *, streamed: bool) -> None:
        if self.into.partition_by:
            with self.engine.in_order():
                self._write_partitions(query, columns)
        elif self.into.rows_per_file is not None:
            with self.engine.in_order():
                self._write_pieces(query, columns, self.into.rows_per_file)
        else:
            self.engine.write_parquet(part(self.staged.path, 0), query, columns, streamed=streamed)

    def _write_pieces(self, query: exp.Query, columns: list[SourceColumn], most: int) -> None:
        """Files of at most ``most`` rows each, in the order of the query.

        Through a table, where rows have numbers: what DuckDB itself splits holds to no bound.
        """
        names = [column.name for column in columns]
        self.engine.run(Step(WRITTEN, partitions.numbered(query), "lay out the release"))
        count = select([aliased(count_rows(), "rows")], WRITTEN.table)
        rows = self.engine.fetch(count, "lay out the release")[0]["rows"]
        for place, first in enumerate(range(1, max(rows, 1) + 1, most)):
            query = partitions.piece(WRITTEN, names, first, first + most - 1)
            self.engine.write_parquet(part(self.staged.path, place), query, columns)
        self.engine.drop(WRITTEN)

    def _write_partitions(self, query: exp.Query, columns: list[SourceColumn]) -> None:
        """Folders of partitions, and in each of them files that are numbered from 0."""
        guarded = partitions.guarded(query, columns, self.into.partition_by, self.into.rows_per_file)
        by = self.into.partition_by
        if self.into.rows_per_file is not None:
            by = (*by, partitions.PIECE)
        self.engine.write_partitions(self.staged.path, guarded, columns, by, STAGED_SUFFIX)
        number_files(self.staged.path, partitions.PIECE)
