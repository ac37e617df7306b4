"""Where a release goes: to a table of the warehouse, to a Parquet or CSV file, or to a folder of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sqlglot import exp

from sqlanon.compiler import partitions
from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.nodes import Relation, Step, aliased, count_rows, select
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.engines.csv_notes import is_csv, look_at
from sqlanon.engines.lake import csv_reader, pattern_below, plain_reader, release_reader
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination, Replace
from sqlanon.run import csv_types
from sqlanon.run.csv_files import StagedCsv, staged_csv
from sqlanon.run.file_notes import note_of_file
from sqlanon.run.files import refuse_own_source, staged_file
from sqlanon.run.folders import STAGED_SUFFIX, StagedFolder, number_files, part, staged_folder
from sqlanon.run.footers import amend, padded
from sqlanon.run.parquet_types import refuse_altered, telling_of_intervals, written_columns
from sqlanon.run.provenance import noted

WRITTEN = Relation("anon_written", "row")

NOTE_ROOM = 1024
"""Bytes that a note in a file may grow by: what a run has to say at its end, such as the seconds of its stages."""


NOT_OURS = (
    "{} was not made by sqlanon, so that replace=True leaves it as it is: give another name, or say with "
    'replace="anything" that it may go'
)


CHANGED = (
    "the file {} was changed since sqlanon wrote it, so that replace=True leaves it as it is: give another name, or "
    'say with replace="anything" that it may go'
)


class Target(Protocol):
    """A place for one release."""

    @property
    def name(self) -> str:
        """The name that the user gave it."""

    def takes_enums(self, name: str) -> bool:
        """Whether a column may be of an ENUM type: it is text all the same to those who read what is written."""

    def write(self, query: exp.Query, note: str, *, streamed: bool = False) -> ResolvedSource:
        """Write the rows of a query with a note on where they come from.

        ``streamed`` says that they come in their order without a sort.

        Returns:
            what was written, as a source to verify.
        """

    def amend(self, note: str) -> None:
        """Put another note in place of the one that was written, and that was about as long."""


@contextmanager
def target_for(
    engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], *, replace: Replace
) -> Iterator[Target]:
    """The target of a name.

    A file or a folder appears under its name when the block ends and not at all when the block fails; a table is
    written within the transaction that the block opens.

    Args:
        engine: the database.
        into: the name, and what it is the name of.
        read: what the release is made from and compared with, by role; it may replace none of it.
        replace: whether what has that name may be replaced.

    Raises:
        EngineError: the name is taken, also by what may not be replaced because it is not ours; is that of something
            that is read; or of a place that cannot be written.
    """
    if into.kind == "table":
        table = engine.refuse_target(into.name, read, replace=bool(replace))
        target = _TableTarget(engine, into.name, table, replace)
        target.refuse_others()
        yield target
        return
    with _staged(into, replace) as staged:
        for role, source in read.items():
            files = () if source.files else engine.origins(source).files
            refuse_own_source(into.path, source, role, files, folder=into.kind == "folder")
        if isinstance(staged, StagedFolder):
            yield _FolderTarget(engine, into, staged)
        else:
            _refuse_other_file(engine, into.path, replace)
            yield _file_target(engine, into.name, staged)
            # Once more: the run may have taken hours.
            _refuse_other_file(engine, into.path, replace)


def _file_target(engine: Engine, name: str, staged: Path | StagedCsv) -> Target:
    if isinstance(staged, StagedCsv):
        return _CsvTarget(engine, name, staged)
    return _FileTarget(engine, name, staged)


def _staged(into: Destination, replace: Replace) -> AbstractContextManager[Path | StagedCsv | StagedFolder]:
    """What is written in place of a file or a folder, and becomes it when the block ends."""
    if into.kind == "folder":
        return staged_folder(into.path, replace=bool(replace))
    if into.is_csv:
        return staged_csv(into.path, replace=bool(replace), anything=replace == "anything")
    return staged_file(into.path, replace=bool(replace))


def _refuse_other_file(engine: Engine, path: Path, replace: Replace) -> None:
    """Refuse to replace a file without a note of ours."""
    if not replace or replace == "anything" or not path.exists():
        return
    if is_csv(path) and look_at(path).is_changed:
        raise EngineError(CHANGED.format(path), step="target")
    try:
        note = note_of_file(engine, path)
    except EngineError:
        note = None  # no Parquet file
    if not noted(note):
        raise EngineError(NOT_OURS.format(f"the file {path}"), step="target")


@dataclass(frozen=True)
class _TableTarget:
    """A table of the warehouse, written and verified inside the transaction of the run."""

    engine: Engine
    name: str
    table: exp.Table
    replace: Replace

    def refuse_others(self) -> None:
        """Refuse to replace a table without a note of ours."""
        if not self.replace or self.replace == "anything" or self.engine.find_table(self.name) is None:
            return
        if not noted(self.engine.table_comment(self.table)):
            raise EngineError(NOT_OURS.format(f'the table "{self.name}"'), step="target")

    def takes_enums(self, name: str) -> bool:
        return False

    def write(self, query: exp.Query, note: str, *, streamed: bool = False) -> ResolvedSource:
        # Once more, within the transaction: whoever changes the table from here on is in conflict with it.
        self.refuse_others()
        with self.engine.in_order():
            self.engine.write_table(self.table, query, note, replace=bool(self.replace))
        return ResolvedSource(self.table, f'table "{self.name}"')

    def amend(self, note: str) -> None:
        self.engine.comment_table(self.table, note)


@dataclass
class _FileTarget:
    """A Parquet file, written beside its place and verified there."""

    engine: Engine
    name: str
    staged: Path
    note: str = field(default="")

    def takes_enums(self, name: str) -> bool:
        return True

    def write(self, query: exp.Query, note: str, *, streamed: bool = False) -> ResolvedSource:
        columns = written_columns(self.engine, query)
        self.note = padded(note, len(note.encode()) + NOTE_ROOM)
        with telling_of_intervals(columns):
            self.engine.write_parquet(self.staged, query, self.note, streamed=streamed)
        written = plain_reader(str(self.staged))
        refuse_altered(self.engine, query, written, columns)
        return ResolvedSource(written, f"Parquet {self.name}")

    def amend(self, note: str) -> None:
        amend(self.staged, self.note, padded(note, len(self.note.encode())))


@dataclass(frozen=True)
class _CsvTarget:
    """A CSV file, written beside its place and verified there, as those read it who know its note."""

    engine: Engine
    name: str
    staged: StagedCsv

    def takes_enums(self, name: str) -> bool:
        return True

    def write(self, query: exp.Query, note: str, *, streamed: bool = False) -> ResolvedSource:
        columns = csv_types.csv_columns(self.engine, query)
        self.engine.write_csv(self.staged.path, query, csv_types.quoted(columns), streamed=streamed)
        self.staged.columns = {found.name: found.type for found in columns}
        self.amend(note)
        written = csv_reader(str(self.staged.path), self.staged.columns)
        csv_types.refuse_altered(self.engine, query, written, columns)
        return ResolvedSource(written, f"CSV {self.name}")

    def amend(self, note: str) -> None:
        self.staged.note = note


@dataclass(frozen=True)
class _FolderTarget:
    """A folder of Parquet files, written beside its place and verified there, as its readers will read it."""

    engine: Engine
    into: Destination
    staged: StagedFolder

    @property
    def name(self) -> str:
        return self.into.name

    def takes_enums(self, name: str) -> bool:
        return name not in self.into.partition_by

    def write(self, query: exp.Query, note: str, *, streamed: bool = False) -> ResolvedSource:
        columns = written_columns(self.engine, query)
        with telling_of_intervals(columns):
            self._write_files(query, columns, streamed=streamed)
        types = {found.name: found.type for found in columns}
        self.staged.layout = {"columns": types, "partition_by": list(self.into.partition_by)}
        self.amend(note)
        pattern = pattern_below(self.staged.path, STAGED_SUFFIX)
        written = release_reader(pattern, types, self.into.partition_by)
        refuse_altered(self.engine, query, written, columns)
        return ResolvedSource(written, f"Parquet folder {self.into.name}")

    def amend(self, note: str) -> None:
        self.staged.note = json.loads(note)

    def _write_files(self, query: exp.Query, columns: list[SourceColumn], *, streamed: bool) -> None:
        if self.into.partition_by:
            with self.engine.in_order():
                self._write_partitions(query, columns)
        elif self.into.rows_per_file is not None:
            with self.engine.in_order():
                self._write_pieces(query, columns, self.into.rows_per_file)
        else:
            self.engine.write_parquet(part(self.staged.path, 0), query, streamed=streamed)

    def _write_pieces(self, query: exp.Query, columns: list[SourceColumn], most: int) -> None:
        """Files of so many rows each, in the order of the query.

        Through a table, where rows have numbers: what DuckDB itself splits holds to no bound.
        """
        names = [column.name for column in columns]
        self.engine.run(Step(WRITTEN, partitions.numbered(query), "lay out the release"))
        count = select([aliased(count_rows(), "rows")], WRITTEN.table)
        rows = self.engine.fetch(count, "lay out the release")[0]["rows"]
        for place, first in enumerate(range(1, max(rows, 1) + 1, most)):
            query = partitions.piece(WRITTEN, names, first, first + most - 1)
            self.engine.write_parquet(part(self.staged.path, place), query)
        self.engine.drop(WRITTEN)

    def _write_partitions(self, query: exp.Query, columns: list[SourceColumn]) -> None:
        """Folders of partitions, and in each of them files that are numbered from 0."""
        guarded = partitions.guarded(query, columns, self.into.partition_by, self.into.rows_per_file)
        by = self.into.partition_by
        if self.into.rows_per_file is not None:
            by = (*by, partitions.PIECE)
        self.engine.write_partitions(self.staged.path, guarded, by, STAGED_SUFFIX)
        number_files(self.staged.path, partitions.PIECE)
