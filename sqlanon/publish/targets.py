"""Targets of releases: written and verified in or beside their place, then published in one step.

A table of the warehouse is the target below; a file format is one class, in one file, and a line in
:data:`sqlanon.model.destination.FORMATS`.
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
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.destination import DELTA, FILE_SUFFIX, FORMATS, Destination, Replace, destination, kind_elsewhere
from sqlanon.model.names import enumerated, in_quotes
from sqlanon.model.record import ContentRecord, Record, facts_of, sha256_of_json
from sqlanon.publish.beside import tables_beside_release
from sqlanon.publish.files import CHANGED, NOT_OURS, refuse_own_source, refuse_within, tidy
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.source import SourceColumn
from sqlanon.satellites import imported, offered

Written = exp.Table | exp.Subquery  # the rows of a file as a relation

# Classes of targets other than files; satellites offer more.
KINDS = {
    "table": "sqlanon.publish.targets:TableTarget",
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
        """Refuse to publish if a source or the place changed during the run."""
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


ONE_STEP = "only a warehouse can publish a release of several tables in one step: give the names of tables"


class TableTarget(PlacedTarget):
    @cached_property
    def table(self) -> exp.Table:
        """The table; an EngineError if the release may not go there."""
        return self.engine.refuse_target(self.name, self.read, replace=bool(self.replace))

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.refuse_others()
        yield

    def refuse_others(self) -> None:
        table = self.table
        if not self.replace or self.replace == "anything":
            return
        found = self.engine.find(table)
        if found is not None and not facts_of(found.comment):
            raise EngineError(NOT_OURS.format(f'the table "{self.name}"'), step="target")

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        # Again, in the transaction: a later change by others conflicts with it.
        self.refuse_others()
        with self.engine.in_order():
            self.engine.write_table(self.table, query, replace=bool(self.replace))
        return ResolvedSource(self.table, f'table "{self.name}"')

    def add_record(self, record: Record) -> ContentRecord:
        self._refuse_changed_sources()  # here, because the transaction ends before the target is closed
        content = content_of_table(self.engine, self.table)
        self.engine.comment_table(self.table, record.sealed(content).text)
        return content

    def held_note(self) -> str | None:
        found = self.engine.find(self.name)
        return None if found is None else found.comment

    def uncompared(self) -> exp.Expr | None:
        found = self.engine.find(self.name)
        return None if found is None else found.table


def content_of_table(engine: Engine, table: exp.Expr) -> ContentRecord:
    """Return the hashes of a table: of its rows in any order, and of the names and types of its columns."""
    found = engine.fetch(table_call("content_hash", table.copy()), "the hash of the content")[0]
    return ContentRecord(columns_sha256=columns_sha256(engine, table), rows_sha256=found["content_hash"])


def columns_sha256(engine: Engine, table: exp.Expr) -> str:
    return sha256_of_json([[column.name, column.type] for column in engine.describe(table)])


FORMER = "the table {} is of the release that was replaced, and stays; it says nothing of the new one"


def table_of(target: Target) -> exp.Table | None:
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

    The user names the ``wanted`` tables, the method has those ``published``: both must agree, and all must be tables of
    the warehouse with distinct names.
    """
    known, others = enumerated(map(in_quotes, published)) or "none", map(in_quotes, {*wanted} - {*published})
    problems = [f"{name} is not published beside the rows; published: {known}" for name in others]
    problems += [f"{in_quotes(name)} is published as well: name its table" for name in published if name not in wanted]
    if problems:
        raise PolicyError("tables do not fit what the method publishes:", sorted(problems))
    targets = {name: TableTarget(engine, destination(wanted[name]), read, replace) for name in published}
    if not isinstance(release, TableTarget) or any(target.into.kind != "table" for target in targets.values()):
        if targets:
            raise EngineError(ONE_STEP, step="target")
        return {}
    taken = [*map(_spelling, [release.table, *(target.table for target in targets.values())])]
    if len({*taken}) < len(taken):
        raise EngineError("two tables of the release have the same name: give each its own", step="target")
    for target in targets.values():
        target.refuse_others()
    former = tables_beside_release(engine, release.table, release.held_note() if replace else None)
    release.notes = tuple(FORMER.format(in_quotes(each.name)) for each in former if _spelling(each) not in taken)
    return targets


def _spelling(table: exp.Table) -> tuple[str, ...]:
    return tuple(part.name.lower() for part in table.parts)
