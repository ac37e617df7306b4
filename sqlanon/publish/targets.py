"""Targets of releases: written and verified in or beside their place, then published in one step.

A file format is one class, in one file, and a line in :data:`sqlanon.model.destination.FORMATS`.
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

# Classes of targets other than files; satellites offer more.
KINDS = {
    "table": "sqlanon.publish.warehouse_tables:TableTarget",
    "folder": "sqlanon.publish.folders:FolderTarget",
}


class Target:
    notes: tuple[str, ...] = ()  # on the written files, for the report

    def __init__(self, name: str) -> None:
        self.name = name  # as the user gave it

    def takes_enums(self, name: str) -> bool:
        """Return whether a column may have an ENUM type, which readers of the release see as text."""
        return False

    def refuse_columns(self, query: exp.Query) -> None:
        """Refuse columns that the target cannot have, or may fail on later, before a private method pays."""

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        """Write the rows of a query, and return them as a source to verify; a record follows.

        ``streamed`` means that they come in order without a sort.
        """
        raise NotImplementedError

    def add_record(self, record: Record) -> ContentRecord:
        """Seal the record that travels with the rows, and return the content's hashes; a folder's come later."""
        raise NotImplementedError


@dataclass(frozen=True)
class Standing:
    source: ResolvedSource
    columns: tuple[str, ...]  # of its files
    note: str | None
    changes: Sequence[str]  # differences from the files that were written, a sentence each
    may_be_of_others: bool = False  # other programs write such tables, too, without a note of ours


class PlacedTarget(Target):
    """A target in its place, which may hold an earlier release."""

    takes_far_rows: ClassVar[bool] = False  # a server with the rows can write it

    def __init__(self, engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], replace: Replace) -> None:
        super().__init__(into.name)
        self.engine = engine
        self.into = into
        self.read = read
        self.replace = replace

    @cached_property
    def is_far(self) -> bool:
        """Whether rows on a server are released, which writes them itself."""
        return any(self.engine.is_far(source.relation) for source in self.read.values())

    def opened(self) -> AbstractContextManager[None]:
        """Open the target: publish at the end of the block, and leave nothing if it fails."""
        raise NotImplementedError

    def held_note(self) -> str | None:
        """Return the note of an intact release in the place: JSON, or a user's own text."""
        raise NotImplementedError

    def found_note(self) -> str | None:
        """Return the note in the place, whatever else is there; an EngineError if it cannot be read."""
        return self.held_note()

    def standing(self) -> Standing | None:
        """Return the release in the place; None if it is read like any other source."""
        return None

    def uncompared(self) -> exp.Expr | None:
        """Return the rows in the place; None if the held note was compared with them."""
        return None

    def settle(self) -> None:
        """Clean up after killed runs to this target."""

    def _refuse_changed_sources(self) -> None:
        for source in self.read.values():
            if source.pinned is not None:
                source.pinned.refuse_changed()


@contextmanager
def target_for(
    engine: Engine, into: Destination, read: Mapping[str, ResolvedSource], *, replace: Replace
) -> Iterator[PlacedTarget]:
    """Open the target of a name, and refuse one that is taken, belongs to an input, or is not writable.

    A file or folder appears under its name only when the block succeeds; a table is written in the transaction that the
    block opens. ``read`` are the inputs, by role, which the release may not replace.
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
    """Return the target of a name, unopened; a file is Parquet unless its suffix says otherwise."""
    if into.kind == "file":
        known = (FORMATS[suffix] for suffix in FORMATS if into.name.lower().endswith(suffix))
        kind = imported(next(known, FORMATS[FILE_SUFFIX]))
    else:
        kind = imported(KINDS[into.kind]) if into.kind in KINDS else offered("targets", into.kind)
    made: PlacedTarget = kind(engine, into, read or {}, replace)
    return made


def standing_at(engine: Engine, name: str) -> Standing | None:
    """Return the release in a folder, a lake or a store; None if the name is read like any other source."""
    kind = kind_elsewhere(name) or ("folder" if is_folder(name) and engine.find(name) is None else None)
    return None if kind is None else target_at(engine, Destination(name, kind)).standing()


def note_of_file(engine: Engine, file: str | Path) -> str | None:
    """Return the provenance of a file, as JSON; None without one, or if a CSV has changed since.

    An EngineError if it is neither a Parquet file nor named as a CSV, or the file beside a CSV is not a note.
    """
    target = target_at(engine, Destination(str(file), "file"))
    assert isinstance(target, FileTarget)
    return target.note_of(file)


class StagedTarget(PlacedTarget):
    """A target outside the warehouse, written under a hidden name beside its place."""

    path: Path  # the hidden file or folder, while the target is staged
    is_folder: ClassVar[bool] = False

    @property
    def final(self) -> Path:
        return self.into.path

    @property
    def address(self) -> str:
        """The place, as spelled by a server."""
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
        """Write under a hidden name in a block, and publish at its end; a failed block leaves nothing."""
        raise NotImplementedError

    def refuse_place(self) -> None:
        for role, source in self.read.items():
            files = () if source.files else self.engine.origins(source).files
            refuse_own_source(self.final, source, role, files, folder=self.is_folder)
            if isinstance(source.relation, exp.Table) and self.engine.is_far(source.relation):
                refuse_within(self.address, source.relation.name.removeprefix(DELTA), role)

    def refuse_changed(self) -> None:
        """Refuse to publish if a source or the place has changed during the run."""
        self._refuse_changed_sources()

    def forget(self) -> None:
        """Remove what is kept of the release outside its place."""


class FileTarget(StagedTarget):
    """A file, written and verified beside its place. A format overrides the methods that raise."""

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
        """Return a query's columns as the file has them; refuse values that the format cannot represent."""
        return self.engine.written_columns(query)

    def write_file(self, query: exp.Query, columns: Sequence[SourceColumn], *, streamed: bool) -> Written:
        """Write the rows of a query with these columns, and return the file as a relation."""
        raise NotImplementedError

    def refuse_altered(self, query: exp.Query, written: exp.Expr, columns: Sequence[SourceColumn]) -> None:
        """Read back the written rows, and refuse values whose text has changed.

        Nothing is read if the column types rule out a change.
        """

    def note_of(self, file: str | Path) -> str | None:
        """Return the provenance of a file of this format, as JSON; None without one, or if the content has changed.

        A file of another format is an EngineError.
        """
        raise NotImplementedError

    def is_changed(self) -> bool:
        """Return whether the file's provenance is about another content."""
        return False

    def found_note(self) -> str | None:
        return self.note_of(self.final)

    def held_note(self) -> str | None:
        try:
            return self.note_of(self.final) if self.final.is_file() else None
        except (EngineError, OSError, ValueError):
            return None  # neither a Parquet file nor a CSV with its note

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
            note = None  # another format
        if not facts_of(note):
            raise EngineError(NOT_OURS.format(f"the file {self.final}"), step="target")
