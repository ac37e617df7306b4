"""The places that a release goes to: it is written and verified there or beside them, then put there in one step.

A format of files is one class, in one file, and a line in :data:`sqlanon.model.destination.FORMATS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.paths import is_folder
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.destination import DELTA, FILE_SUFFIX, FORMATS, Destination, Replace, kind_elsewhere
from sqlanon.model.record import ContentRecord, Record, facts_of
from sqlanon.publish.files import CHANGED, NOT_OURS, refuse_own_source, refuse_within, tidy
from sqlanon.queries.source import SourceColumn
from sqlanon.satellites import imported, offered

Written = exp.Table | exp.Subquery  # the rows of a file as a relation

KINDS = {
    "table": "sqlanon.publish.warehouse_tables:TableTarget",
    "folder": "sqlanon.publish.folders:FolderTarget",
}
"""The classes of targets that are no files; satellites offer others."""


class Target:
    """A place for one release."""

    notes: tuple[str, ...] = ()  # facts about the files that were written, for readers of the report

    def __init__(self, name: str) -> None:
        self.name = name  # as the user gave it

    def takes_enums(self, name: str) -> bool:
        """Return whether a column may be of an ENUM type: it is text all the same to readers of the release."""
        return False

    def refuse_columns(self, query: exp.Query) -> None:
        """Refuse columns that the target cannot have, or may refuse a cell of, before a private method pays."""

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        """Write the rows of a query, to be followed by a record, and return them as a source to verify.

        ``streamed`` says that they come in their order without a sort.
        """
        raise NotImplementedError

    def add_record(self, record: Record) -> ContentRecord:
        """Seal the record that travels with the rows, once, and return their hashes; those of a folder come later."""
        raise NotImplementedError


@dataclass(frozen=True)
class Standing:
    """A release as it is found in its place, whatever was done to its files since."""

    source: ResolvedSource
    columns: tuple[str, ...]  # all that its files have
    note: str | None
    changes: Sequence[str]  # how its files are not those that were written, a sentence each
    may_be_of_others: bool = False  # whether other programs make such tables, which have no note of ours


class PlacedTarget(Target):
    """A target in its place, which may hold an earlier release."""

    takes_far_rows: ClassVar[bool] = False  # whether a server that has the rows can write it

    def __init__(self, engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], replace: Replace) -> None:
        super().__init__(into.name)
        self.engine = engine
        self.into = into
        self.read = read
        self.replace = replace

    @cached_property
    def is_far(self) -> bool:
        """Whether rows are released that are not in the database; they are written where they are."""
        return any(self.engine.is_far(source.relation) for source in self.read.values())

    def opened(self) -> AbstractContextManager[None]:
        """Open the target; the release gets its place when the block ends, and is removed when the block fails."""
        raise NotImplementedError

    def held_note(self) -> str | None:
        """Return the note of the release that is in the place, if it is whole: as JSON, or a text of the user's own."""
        raise NotImplementedError

    def found_note(self) -> str | None:
        """Return the note that is in the place, whatever else is there; an EngineError if it cannot be read."""
        return self.held_note()

    def standing(self) -> Standing | None:
        """Return the release that is in the place; None if that is read as any other source."""
        return None

    def uncompared(self) -> exp.Expr | None:
        """Return the rows in the place; None where the held note was compared with them."""
        return None

    def settle(self) -> None:
        """Remove what runs to the same target left behind when they were killed."""

    def _refuse_changed_sources(self) -> None:
        for source in self.read.values():
            if source.pinned is not None:
                source.pinned.refuse_changed()


@contextmanager
def target_for(
    engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], *, replace: Replace
) -> Iterator[PlacedTarget]:
    """Open the target of a name.

    A file or a folder appears under its name when the block ends and not at all when the block fails; a table is
    written within the transaction that the block opens. What is ``read``, by role, the release may not replace.

    Raises:
        EngineError: the name is taken, also by what may not be replaced because it is not ours; is that of something
            that is read; or of a place that cannot be written.
    """
    target = target_at(engine, into, read, replace)
    if target.is_far and not target.takes_far_rows:
        raise EngineError(
            f"the rows are on a server, which does not write to {into.described}: name a folder, or an address in an "
            "object store, with a slash at its end, or a table of a lake, as delta:/path/of/table or "
            "iceberg:catalog.namespace.table",
            step="target",
        )
    if target.is_far and (into.partition_by or into.rows_per_file is not None):
        raise EngineError(
            "partition_by and rows_per_file are not supported when a server writes the release. Remove them",
            step="target",
        )
    with target.opened():
        yield target


def target_at(
    engine: Engine, into: Destination, read: Mapping[str, ResolvedSource] | None = None, replace: Replace = False
) -> PlacedTarget:
    """Return the target of a name, which is not opened; a file is Parquet unless it ends otherwise."""
    if into.kind == "file":
        known = (FORMATS[suffix] for suffix in FORMATS if into.name.lower().endswith(suffix))
        kind = imported(next(known, FORMATS[FILE_SUFFIX]))
    else:
        kind = imported(KINDS[into.kind]) if into.kind in KINDS else offered("targets", into.kind)
    made: PlacedTarget = kind(engine, into, read or {}, replace)
    return made


def standing_at(engine: Engine, name: str) -> Standing | None:
    """Return the release in a folder, a lake or a store; None if what has the name is read as any other source."""
    kind = kind_elsewhere(name) or ("folder" if is_folder(name) and engine.find(name) is None else None)
    return None if kind is None else target_at(engine, Destination(name, kind)).standing()


def note_of_file(engine: Engine, file: str | Path) -> str | None:
    """Return the provenance of a file, as JSON; None without one, or if it is about another content of a CSV.

    An EngineError if it is neither a Parquet file nor named as a CSV, or the file beside a CSV is not a note.
    """
    target = target_at(engine, Destination(str(file), "file"))
    assert isinstance(target, FileTarget)
    return target.note_of(file)


class StagedTarget(PlacedTarget):
    """A target outside of the warehouse, written under a hidden name beside its place."""

    path: Path  # the hidden file or folder, while the target is staged
    is_folder: ClassVar[bool] = False

    @property
    def final(self) -> Path:
        """The place of the file or the folder."""
        return self.into.path

    @property
    def address(self) -> str:
        """The place as a server spells it."""
        return str(self.final)

    @contextmanager
    def opened(self) -> Iterator[None]:
        with self.staged():
            self.refuse_place()
            try:
                yield
                self.refuse_changed()  # the run may have taken hours
            finally:
                self.forget()

    def staged(self) -> AbstractContextManager[None]:
        """Write under a hidden name within a block, and publish at its end; nothing is left when the block fails."""
        raise NotImplementedError

    def refuse_place(self) -> None:
        """Refuse a place that is, or would be, among the files that are read."""
        for role, source in self.read.items():
            files = () if source.files else self.engine.origins(source).files
            refuse_own_source(self.final, source, role, files, folder=self.is_folder)
            if isinstance(source.relation, exp.Table) and self.engine.is_far(source.relation):
                refuse_within(self.address, source.relation.name.removeprefix(DELTA), role)

    def refuse_changed(self) -> None:
        """Refuse to publish rows of a source, or in a place, that has changed since."""
        self._refuse_changed_sources()

    def forget(self) -> None:
        """Remove all that is kept of the release elsewhere than in its place."""


class FileTarget(StagedTarget):
    """A file, written beside its place and verified there. A format overrides the verbs that raise."""

    format: ClassVar[str]

    def takes_enums(self, name: str) -> bool:
        return True

    def refuse_columns(self, query: exp.Query) -> None:
        self.columns_of(query)

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        columns = self.columns_of(query)
        written = self.write_file(query, columns, streamed=streamed)
        self.refuse_altered(query, written, columns)
        return ResolvedSource(written, f"{self.format} {self.name}")

    def columns_of(self, query: exp.Query) -> list[SourceColumn]:
        """Return the columns of a query as the file has them; refused are values that the format has no form for."""
        return self.engine.written_columns(query)

    def write_file(self, query: exp.Query, columns: Sequence[SourceColumn], *, streamed: bool) -> Written:
        """Write the rows of a query with these columns, and return the file as a relation."""
        raise NotImplementedError

    def refuse_altered(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
        """Read back what was written of a query, and refuse values that have another text now.

        Where the types of its columns prove that nothing has changed, nothing is read.
        """

    def note_of(self, file: str | Path) -> str | None:
        """Return the provenance of a file of this format, as JSON; None without one, or if it is about another content.

        A file of another format is an EngineError.
        """
        raise NotImplementedError

    def is_changed(self) -> bool:
        """Return whether the provenance of the file that is there is about another content."""
        return False

    def found_note(self) -> str | None:
        return self.note_of(self.final)

    def held_note(self) -> str | None:
        try:
            return self.note_of(self.final) if self.final.is_file() else None
        except (EngineError, OSError, ValueError):
            return None  # neither a Parquet file nor a CSV with its note: nothing of ours

    def settle(self) -> None:
        tidy(self.final)

    def refuse_place(self) -> None:
        super().refuse_place()
        self._refuse_others()

    def refuse_changed(self) -> None:
        self._refuse_others()
        super().refuse_changed()

    def _refuse_others(self) -> None:
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
