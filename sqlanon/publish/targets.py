"""The places that a release goes to: it is written and verified there or beside them, then put there in one step.

A format of files is one class, in one file, and a line in :data:`sqlanon.model.destination.FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import FileFormat, ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.destination import DELTA, FILE_SUFFIX, FORMATS, Destination, Replace, destination
from sqlanon.model.record import ContentRecord, Record, facts_of, sha256_of_json
from sqlanon.publish.files import CHANGED, NOT_OURS, refuse_own_source, refuse_within
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.source import SourceColumn

Written = exp.Table | exp.Subquery
"""The rows of a file as a relation."""

KINDS = {
    "folder": "sqlanon.publish.folders:FolderTarget",
    "lake": "sqlanon.publish.to_lake:LakeTarget",
    "store": "sqlanon.publish.to_store:StoreTarget",
}
"""The classes of targets that are neither a table of the warehouse nor a file."""

ONE_STEP = (
    "a release of several tables is published in one step, which only a warehouse can do: give the names of tables"
)


class Target:
    """A place for one release.

    Attributes:
        name: the name that the user gave it.
        notes: facts about the files that were written, for readers of the report.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def takes_enums(self, name: str) -> bool:
        """Return whether a column may be of an ENUM type: it is text all the same to readers of the release."""
        return False

    def refuse_columns(self, query: exp.Query) -> None:
        """Refuse columns of a query that the target cannot have, before a private method pays for their values.

        Raises:
            EngineError: it has no form for their types or names, or a cell that is drawn could be refused.
        """

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        """Write the rows of a query, to be followed by a record.

        ``streamed`` says that they come in their order without a sort.

        Returns:
            the rows that were written, as a source to verify.
        """
        raise NotImplementedError

    def add_record(self, record: Record) -> ContentRecord:
        """Seal the record of the rows that were written, which travels with them, once.

        Returns:
            the hashes of the rows that were written; hashes of a folder are taken later.
        """
        raise NotImplementedError


@contextmanager
def target_for(
    engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], *, replace: Replace
) -> Iterator[Target]:
    """Open the target of a name.

    A file or a folder appears under its name when the block ends and not at all when the block fails; a table is
    written within the transaction that the block opens.

    Args:
        engine: the database.
        into: the name, and the kind of place that it names.
        read: what the release is made from and compared with, by role; it may replace none of it.
        replace: whether what has that name may be replaced.

    Raises:
        EngineError: the name is taken, also by what may not be replaced because it is not ours; is that of something
            that is read; or of a place that cannot be written.
    """
    if reads_far(engine, read):
        _refuse_far(into)
    if into.kind == "table":
        table = TableTarget(engine, into.name, read, replace)
        table.refuse_others()
        yield table
        return
    target = _target_at(engine, into, read, replace)
    with target.staged():
        target.refuse_place()
        try:
            yield target
            target.refuse_changed()  # the run may have taken hours
        finally:
            target.forget()


def _target_at(
    engine: Engine, into: Destination, read: Mapping[str, ResolvedSource] | None = None, replace: Replace = False
) -> StagedTarget:
    """Return the target of a name that is not a table of the warehouse; a file is Parquet unless it ends otherwise."""
    if into.kind == "file":
        home = next((FORMATS[suffix] for suffix in FORMATS if into.name.lower().endswith(suffix)), FORMATS[FILE_SUFFIX])
    else:
        home = KINDS[into.kind]
    module, _, name = home.partition(":")
    made: StagedTarget = getattr(import_module(module), name)(engine, into, read or {}, replace)
    return made


def note_at(engine: Engine, into: Destination) -> str | None:
    """Return the note of the release that a target holds, if it is whole: as JSON, or a text of the user's own.

    Raises:
        EngineError: a lake or a store cannot be read.
    """
    if into.kind == "table":
        found = engine.find(into.name)
        return None if found is None else found.comment
    return _target_at(engine, into).held_note()


def note_of_file(engine: Engine, file: str | Path) -> str | None:
    """Return the provenance of a file, as JSON; None without one, or if it is about another content of a CSV.

    Raises:
        EngineError: it is neither a Parquet file nor named as a CSV, or the file beside a CSV is not a note.
    """
    target = _target_at(engine, Destination(str(file), "file"))
    assert isinstance(target, FileTarget)
    return target.note_of(file)


def reads_far(engine: Engine, read: Mapping[str, ResolvedSource]) -> bool:
    """Return whether rows are released that are not in the database; they are written where they are."""
    return any(engine.is_far(source.relation) for source in read.values())


def _refuse_far(into: Destination) -> None:
    """Refuse a target, or a layout, that the server of the rows does not write."""
    if into.kind in ("table", "file"):
        raise EngineError(
            f"the rows are on a server, which does not write to {into.described}: name a folder, or an "
            "address in an object store, with a slash at its end, or a table of a lake, as delta:/path/of/table or "
            "iceberg:catalog.namespace.table",
            step="target",
        )
    if into.partition_by or into.rows_per_file is not None:
        raise EngineError(
            "the files of a release are laid out by the server that has its rows: leave partition_by and "
            "rows_per_file out",
            step="target",
        )


class StagedTarget(Target):
    """A target outside of the warehouse, written under a hidden name beside its place.

    Attributes:
        path: the hidden file or folder, while the target is staged.
    """

    path: Path
    is_folder: ClassVar[bool] = False

    def __init__(self, engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], replace: Replace) -> None:
        super().__init__(into.name)
        self.engine = engine
        self.into = into
        self.read = read
        self.replace = replace

    @property
    def final(self) -> Path:
        """The place of the file or the folder."""
        return self.into.path

    def staged(self) -> AbstractContextManager[None]:
        """Open the target; the release gets its place when the block ends, and is removed when the block fails.

        Raises:
            EngineError: the target may not be replaced, the folder that it is in is missing, or the disk is full.
        """
        raise NotImplementedError

    def held_note(self) -> str | None:
        """Return the note of the release that is in the place, if it is whole.

        Raises:
            EngineError: it cannot be read.
        """
        raise NotImplementedError

    @cached_property
    def is_far(self) -> bool:
        """Whether the rows are not in the database."""
        return reads_far(self.engine, self.read)

    def refuse_place(self) -> None:
        """Refuse a place that is, or would be, among the files that are read."""
        for role, source in self.read.items():
            files = () if source.files else self.engine.origins(source).files
            refuse_own_source(self.final, source, role, files, folder=self.is_folder)
            if isinstance(source.relation, exp.Table) and self.engine.is_far(source.relation):
                folder_read = source.relation.name.removeprefix(DELTA)
                refuse_within(self.name if self.into.kind == "store" else str(self.final), folder_read, role)

    def refuse_changed(self) -> None:
        """Refuse to publish rows of a source, or in a place, that has changed since."""
        _refuse_changed(self.read)

    def forget(self) -> None:
        """Remove all that is kept of the release elsewhere than in its place."""


def _refuse_changed(read: Mapping[str, ResolvedSource]) -> None:
    for source in read.values():
        if source.pinned is not None:
            source.pinned.refuse_changed()


class FileTarget(StagedTarget):
    """A file, written beside its place and verified there. A format overrides the verbs that raise."""

    format: ClassVar[FileFormat]

    def takes_enums(self, name: str) -> bool:
        return True

    def refuse_columns(self, query: exp.Query) -> None:
        self.engine.file_columns(query, self.format)

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.engine.file_columns(query, self.format)
        written = self.write_file(query, columns, streamed=streamed)
        self.engine.refuse_altered(query, written, columns, self.format)
        return ResolvedSource(written, f"{self.format} {self.name}")

    def write_file(self, query: exp.Query, columns: Sequence[SourceColumn], *, streamed: bool) -> Written:
        """Write the rows of a query with these columns, and return the file as a relation."""
        raise NotImplementedError

    def note_of(self, file: str | Path) -> str | None:
        """Return the provenance of a file of this format, as JSON; None without one, or if it is about another content.

        Raises:
            EngineError: it has another format.
        """
        raise NotImplementedError

    def is_changed(self) -> bool:
        """Return whether the provenance of the file that is there is about another content."""
        return False

    def held_note(self) -> str | None:
        try:
            return self.note_of(self.final) if self.final.is_file() else None
        except (EngineError, OSError, ValueError):
            return None  # neither a Parquet file nor a CSV with its note: nothing of ours

    def refuse_place(self) -> None:
        super().refuse_place()
        self._refuse_others()

    def refuse_changed(self) -> None:
        self._refuse_others()
        super().refuse_changed()

    def _refuse_others(self) -> None:
        """Refuse to replace a file without a note of ours."""
        if not self.replace or self.replace == "anything" or not self.final.exists():
            return
        if self.is_changed():
            raise EngineError(CHANGED.format(f"the file {self.final}"), step="target")
        try:
            note = self.note_of(self.final)
        except EngineError as error:
            if error.refusal is not None:
                raise
            note = None  # no file of this format
        if not facts_of(note):
            raise EngineError(NOT_OURS.format(f"the file {self.final}"), step="target")


class TableTarget(Target):
    """A table of the warehouse, written and verified inside the transaction of the run."""

    def __init__(self, engine: Engine, name: str, read: Mapping[str, ResolvedSource], replace: Replace) -> None:
        super().__init__(name)
        self.table = engine.refuse_target(name, read, replace=bool(replace))
        self._engine = engine
        self._read = read
        self._replace = replace

    def refuse_others(self) -> None:
        """Refuse to replace a table without a note of ours."""
        if not self._replace or self._replace == "anything":
            return
        found = self._engine.find(self.table)
        if found is not None and not facts_of(found.comment):
            raise EngineError(NOT_OURS.format(f'the table "{self.name}"'), step="target")

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        # Once more, within the transaction: whoever changes the table from here on is in conflict with it.
        self.refuse_others()
        with self._engine.in_order():
            self._engine.write_table(self.table, query, replace=bool(self._replace))
        return ResolvedSource(self.table, f'table "{self.name}"')

    def add_record(self, record: Record) -> ContentRecord:
        _refuse_changed(self._read)  # the transaction ends before the target is left
        content = content_of_table(self._engine, self.table)
        self._engine.comment_table(self.table, record.sealed(content).text)
        return content


def content_of_table(engine: Engine, table: exp.Expr) -> ContentRecord:
    """Return the hashes of a table: of its rows, whatever their order, and of the names and types of its columns."""
    found = engine.fetch(table_call("content_hash", table.copy()), "the hash of the content")[0]
    return ContentRecord(columns_sha256=columns_sha256(engine, table), rows_sha256=found["content_hash"])


def columns_sha256(engine: Engine, table: exp.Expr) -> str:
    """Return the hash of the names and types of the columns of a table."""
    return sha256_of_json([[column.name, column.type] for column in engine.describe(table)])


def table_of(target: Target) -> exp.Table | None:
    """Return the table of the warehouse that a target is; None of any other target."""
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
    """Return the targets of the tables that are published beside the rows of a release, by their content.

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
    known = ", ".join(published) or "none"
    problems = [f'"{name}" is not published beside the rows: what is, is {known}' for name in {*wanted} - {*published}]
    problems += [f'"{name}" is published as well: name its table' for name in published if name not in wanted]
    if problems:
        raise PolicyError("tables do not fit what the method publishes:", sorted(problems))
    if not published:
        return {}
    places = {name: destination(wanted[name]) for name in published}
    if not isinstance(release, TableTarget) or any(place.kind != "table" for place in places.values()):
        raise EngineError(ONE_STEP, step="target")
    targets = {name: TableTarget(engine, place.name, read, replace) for name, place in places.items()}
    taken = [release.table, *(target.table for target in targets.values())]
    if len({tuple(part.name.lower() for part in table.parts) for table in taken}) < len(taken):
        raise EngineError("two tables of the release have one name: each needs its own", step="target")
    for target in targets.values():
        target.refuse_others()
    return targets
