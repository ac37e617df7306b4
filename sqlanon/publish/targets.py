"""Where a release goes: to a table of the warehouse, to a Parquet or CSV file, or to a folder of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.base import Engine, ResolvedSource, Writer
from sqlanon.engines.csv_notes import is_csv, look_at
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination, Replace
from sqlanon.publish.csv_files import StagedCsv, staged_csv
from sqlanon.publish.files import refuse_own_source, staged_file
from sqlanon.publish.folders import StagedFolder, staged_folder
from sqlanon.publish.provenance import note_of_file, parse_note
from sqlanon.publish.to_csv import CsvTarget
from sqlanon.publish.to_folder import FolderTarget
from sqlanon.publish.to_parquet import ParquetTarget
from sqlanon.publish.to_table import NOT_OURS, TableTarget

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

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        """Write the rows of a query, to be followed by a note.

        ``streamed`` says that they come in their order without a sort.

        Returns:
            what was written, as a source to verify.
        """

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report should know of what was written."""

    def add_note(self, note: str) -> Mapping[str, str]:
        """Tell where the rows that were written come from, once: a document of JSON that travels with them.

        Returns:
            the hashes of what was written, which travel in the document.
        """


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
        target = TableTarget(engine, into.name, table, replace)
        target.refuse_others()
        yield target
        return
    with _staged(into, replace) as staged:
        for role, source in read.items():
            files = () if source.files else engine.origins(source).files
            refuse_own_source(into.path, source, role, files, folder=into.kind == "folder")
        if isinstance(staged, StagedFolder):
            yield FolderTarget(engine, into, staged)
        else:
            _refuse_other_file(engine, into.path, replace)
            yield _file_target(engine, into, staged)
            # Once more: the run may have taken hours.
            _refuse_other_file(engine, into.path, replace)


def _file_target(engine: Engine, into: Destination, staged: Path | StagedCsv) -> Target:
    if isinstance(staged, StagedCsv):
        return CsvTarget(engine, into.name, staged, into.csv_formulas)
    return ParquetTarget(engine, into.name, staged)


def _staged(into: Destination, replace: Replace) -> AbstractContextManager[Path | StagedCsv | StagedFolder]:
    """What is written in place of a file or a folder, and becomes it when the block ends."""
    if into.kind == "folder":
        return staged_folder(into.path, replace=bool(replace))
    if into.is_csv:
        return staged_csv(into.path, replace=bool(replace), anything=replace == "anything")
    return staged_file(into.path, replace=bool(replace))


def _refuse_other_file(engine: Writer, path: Path, replace: Replace) -> None:
    """Refuse to replace a file without a note of ours."""
    if not replace or replace == "anything" or not path.exists():
        return
    if is_csv(path) and look_at(path).is_changed:
        raise EngineError(CHANGED.format(path), step="target")
    try:
        note = note_of_file(engine, path)
    except EngineError:
        note = None  # no Parquet file
    if not parse_note(note):
        raise EngineError(NOT_OURS.format(f"the file {path}"), step="target")
