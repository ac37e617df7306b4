"""Where a release goes: to a table of the warehouse, to a Parquet or CSV file, or to a folder of Parquet files.

Or to where rows are that are not in the database: it is written and verified beside its place, then put there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.csv_notes import is_csv, look_at
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import Pinned, ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.destination import DELTA, Destination, Replace, destination
from sqlanon.model.record import ContentRecord, Record, facts_of
from sqlanon.publish.content import content_of_table
from sqlanon.publish.files import NOT_OURS, refuse_own_source, refuse_within, staged_file
from sqlanon.publish.folders import FolderTarget, StagedFolder, staged_folder
from sqlanon.publish.provenance import note_of_file
from sqlanon.publish.to_file import CsvTarget, ParquetTarget, StagedCsv, staged_csv
from sqlanon.publish.to_lake import staged_lake
from sqlanon.publish.to_store import staged_release, staged_run

CHANGED = (
    "the file {} was changed since sqlanon wrote it, so that replace=True leaves it as it is: give another name, or "
    'say with replace="anything" that it may go'
)

ONE_STEP = (
    "a release of several tables is published in one step, which only a warehouse can do: give the names of tables"
)


class Target(Protocol):
    """A place for one release."""

    @property
    def name(self) -> str:
        """The name that the user gave it."""

    def takes_enums(self, name: str) -> bool:
        """Whether a column may be of an ENUM type: it is text all the same to those who read what is written."""

    def refuse_columns(self, query: exp.Query) -> None:
        """Refuse columns of a query that the target cannot have, before a private method pays for their values.

        Raises:
            EngineError: it has no form for their types or names, or a cell that is drawn could be refused.
        """

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        """Write the rows of a query, to be followed by a record.

        ``streamed`` says that they come in their order without a sort.

        Returns:
            what was written, as a source to verify.
        """

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report should know of what was written."""

    def add_record(self, record: Record) -> ContentRecord:
        """Seal the record of what was written, which travels with it, once.

        Returns:
            the hashes of what was written; those of a folder are taken later.
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
    is_far = _is_far(engine, into, read)
    pins = tuple(source.pinned for source in read.values() if source.pinned is not None)
    if into.kind == "table":
        table = engine.refuse_target(into.name, read, replace=bool(replace))
        target = TableTarget(engine, into.name, table, replace, pins)
        target.refuse_others()
        yield target
        return
    with _staged(into, replace, is_far=is_far) as staged:
        place = staged.target if isinstance(staged, StagedFolder) else into.path
        for role, source in read.items():
            files = () if source.files else engine.origins(source).files
            refuse_own_source(place, source, role, files, folder=isinstance(staged, StagedFolder))
            if isinstance(source.relation, exp.Table) and engine.is_far(source.relation):
                folder_read = source.relation.name.removeprefix(DELTA)
                refuse_within(into.name if into.kind == "store" else str(place), folder_read, role)
        if isinstance(staged, StagedFolder):
            folder = FolderTarget(engine, into, staged, is_far)
            try:
                yield folder
                folder.refuse_changed()
            finally:
                folder.forget()
        else:
            _refuse_other_file(engine, into.path, replace)
            if isinstance(staged, StagedCsv):
                yield CsvTarget(engine, into.name, staged, into.csv_formulas)
            else:
                yield ParquetTarget(engine, into.name, staged)
            # Once more: the run may have taken hours.
            _refuse_other_file(engine, into.path, replace)
        for pin in pins:
            pin.refuse_changed()


def _is_far(engine: Engine, into: Destination, read: Mapping[str, ResolvedSource]) -> bool:
    """Whether rows are released that are not in the database, where they are written then.

    Raises:
        EngineError: the target is a table or a file, which the database would write, or has a layout.
    """
    is_far = any(engine.is_far(source.relation) for source in read.values())
    if is_far and into.kind in ("table", "file"):
        raise EngineError(
            f"the rows are on a server, which does not write to {into.described}: name a folder, or an "
            "address in an object store, with a slash at its end, or a table of a lake, as delta:/path/of/table or "
            "iceberg:catalog.namespace.table",
            step="target",
        )
    if is_far and (into.partition_by or into.rows_per_file is not None):
        raise EngineError(
            "the files of a release are laid out by the server that has its rows: leave partition_by and "
            "rows_per_file out",
            step="target",
        )
    return is_far


def _staged(
    into: Destination, replace: Replace, *, is_far: bool
) -> AbstractContextManager[Path | StagedCsv | StagedFolder]:
    """What is written in place of all targets but tables of the warehouse, and becomes them when the block ends."""
    if into.kind == "lake":
        return staged_lake(into, replace=replace)
    if into.kind == "store":
        return staged_run(into, replace=replace) if is_far else staged_release(into, replace=replace)
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
    except EngineError as error:
        if error.refusal is not None:
            raise
        note = None  # no Parquet file
    if not facts_of(note):
        raise EngineError(NOT_OURS.format(f"the file {path}"), step="target")


@dataclass(frozen=True)
class TableTarget:
    """A table of the warehouse, written and verified inside the transaction of the run.

    ``pins`` are the states of what is read, which it is published of.
    """

    engine: Engine
    name: str
    table: exp.Table
    replace: Replace
    pins: tuple[Pinned, ...] = ()
    notes: tuple[str, ...] = field(default=(), init=False)

    def refuse_others(self) -> None:
        """Refuse to replace a table without a note of ours."""
        if not self.replace or self.replace == "anything":
            return
        found = self.engine.find(self.table)
        if found is not None and not facts_of(found.comment):
            raise EngineError(NOT_OURS.format(f'the table "{self.name}"'), step="target")

    def takes_enums(self, name: str) -> bool:
        return False

    def refuse_columns(self, query: exp.Query) -> None:
        """See :meth:`Target.refuse_columns`: a table has columns of all types."""

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        # Once more, within the transaction: whoever changes the table from here on is in conflict with it.
        self.refuse_others()
        with self.engine.in_order():
            self.engine.write_table(self.table, query, replace=bool(self.replace))
        return ResolvedSource(self.table, f'table "{self.name}"')

    def add_record(self, record: Record) -> ContentRecord:
        for pin in self.pins:
            pin.refuse_changed()  # the transaction ends before the target is left
        content = content_of_table(self.engine, self.table)
        self.engine.comment_table(self.table, record.sealed(content).text)
        return content


def table_of(target: Target) -> exp.Table | None:
    """The table of the warehouse that a target is; None of any other target."""
    return target.table if isinstance(target, TableTarget) else None


def tables_beside(
    engine: Engine,
    release: Target,
    wanted: Mapping[str, str],
    *,
    published: Sequence[str],
    read: Mapping[str, ResolvedSource],
    replace: Replace,
) -> dict[str, TableTarget]:
    """The targets of the tables that are published beside the rows of a release, by what they are.

    Args:
        engine: the database.
        release: the target of the rows.
        wanted: the names of the targets, by what goes there.
        published: what the method publishes beside the rows.
        read: what the release is made from and compared with, by role; it may replace none of it.
        replace: whether what has these names may be replaced.

    Raises:
        PolicyError: something is published without a target, or is not published.
        EngineError: they are not tables of the warehouse, two have one name, or one is taken.
    """
    _refuse_other_names(wanted, published)
    if not published:
        return {}
    places = {name: destination(wanted[name]) for name in published}
    if not isinstance(release, TableTarget) or any(place.kind != "table" for place in places.values()):
        raise EngineError(ONE_STEP, step="target")
    tables = {name: engine.refuse_target(place.name, read, replace=bool(replace)) for name, place in places.items()}
    taken = [release.table, *tables.values()]
    if len({tuple(part.name.lower() for part in table.parts) for table in taken}) < len(taken):
        raise EngineError("two tables of the release have one name: each needs its own", step="target")
    targets = {name: TableTarget(engine, places[name].name, table, replace) for name, table in tables.items()}
    for target in targets.values():
        target.refuse_others()
    return targets


def _refuse_other_names(wanted: Mapping[str, str], published: Sequence[str]) -> None:
    known = ", ".join(published) or "none"
    problems = [f'"{name}" is not published beside the rows: what is, is {known}' for name in {*wanted} - {*published}]
    problems += [f'"{name}" is published as well: name its table' for name in published if name not in wanted]
    if problems:
        raise PolicyError("tables do not fit what the method publishes:", sorted(problems))
