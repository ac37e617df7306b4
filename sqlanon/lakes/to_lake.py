"""Releases as tables of lakes: files are staged beside the table, and one commit makes them its next version."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.engines.locks import held_folder
from sqlanon.engines.paths import NO_VALUE, changes_between, folder_values, listing, sizes_in
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, TargetError
from sqlanon.lakes.tables import (
    AddedFile,
    LakeRelease,
    LakeTable,
    LakeVersion,
    lake_table,
    pinned_version,
    refuse_other_types,
    refuse_types,
    schema_of,
)
from sqlanon.model.record import FolderRecord, facts_of, readable_layout
from sqlanon.publish.files import CHANGED, NOT_OURS, cannot_be_written, flush, refuse_place, tidy
from sqlanon.publish.folders import FolderTarget, new_folder, readable
from sqlanon.publish.targets import Standing
from sqlanon.queries.layout import signed
from sqlanon.queries.source import SourceColumn


class SharedFolder(FolderTarget):
    """A folder whose files have only types that all readers of lakes and stores know."""

    @property
    def described(self) -> str:
        return self.into.described

    def settle(self) -> None:
        """Do nothing: the next run tidies when it opens the target."""

    def with_columns(self, query: exp.Query) -> tuple[exp.Query, list[SourceColumn]]:
        query = signed(query, self.engine.parquet_columns(query))
        columns = self.engine.parquet_columns(query)
        refuse_types(columns, self.into.partition_by)
        return query, columns

    def refuse_types(self, columns: Sequence[SourceColumn]) -> None:
        refuse_types(columns, ())


class LakeTarget(SharedFolder):
    @cached_property
    def table(self) -> LakeTable:
        return lake_table(self.name)

    @property
    def final(self) -> Path:
        return self.table.folder

    @contextmanager
    def staged(self) -> Iterator[None]:
        found = self.table.newest()
        with cannot_be_written(self.final, "target"):
            tidy(self.final)
            self._refuse_table(found)
        with _parents(self.table), new_folder(self.final) as self.path:
            yield
            with cannot_be_written(self.final, "publish"):
                self._publish()

    def held_note(self) -> str | None:
        version = self.table.newest()
        return version.note if version is not None and is_own(version) else None

    def found_note(self) -> str | None:
        return pinned_version(self.table).version.note

    def standing(self) -> Standing:
        """Return the release in the table, from the files that its log lists."""
        pinned = pinned_version(self.table)
        layout, version = readable_layout(pinned.version.note), pinned.version
        changes: tuple[str, ...] = ()
        if layout is not None:
            folder = self.table.folder / place_of(version)
            unreadable = () if version.unreadable is None else (version.unreadable,)
            changed = changes_between(release_files(version), layout, lambda name: sha256_of(folder / name))
            changes = (*unreadable, *changed)
        files = pinned.files if layout is None else pinned.files_by(layout.columns, layout.partition_by)
        source = ResolvedSource(self.engine.read_files(files), self.table.described)
        with readable(f"the release in the {self.table.described} cannot be read as it was written", changes):
            self.engine.describe(source.relation)
        return Standing(source, (*version.columns,), version.note, changes, may_be_of_others=True)

    def with_columns(self, query: exp.Query) -> tuple[exp.Query, list[SourceColumn]]:
        query, columns = super().with_columns(query)
        self.table.refuse(schema_of({found.name: found.type for found in columns}))
        return query, columns

    def _refuse_table(self, found: LakeVersion | None) -> None:
        table, described = self.table, f"the {self.table.described}"
        if table.owns_folder:
            refuse_place(table.folder)
        if found is None:
            others = {table.folder} if os.path.lexists(table.folder) else set()
            if table.folder.is_dir():
                # Ignore files left by a killed run.
                others = {*table.folder.iterdir()} - {table.folder / _place_after(None)}
            if table.owns_folder and others:
                reason = f"{table.folder} is there, and has no log of a table: give another name"
                raise EngineError(reason, step="target")
            return
        if not self.replace:
            raise TargetError(f"{described} exists; give another name, or replace=True", step="target")
        if self.replace != "anything" and not is_own(found):
            reason = CHANGED if facts_of(found.note) else NOT_OURS
            raise EngineError(reason.format(described), step="target")
        if found.partition_by != self.into.partition_by:
            by, wanted = (", ".join(names) or "no column" for names in (found.partition_by, self.into.partition_by))
            reason = f"{described} is partitioned by {by}, and the release by {wanted}: give another name"
            raise EngineError(reason, step="target")

    def _publish(self) -> None:
        """Move the files to the table's folder and commit them, without another run of ours in between."""
        table, layout = self.table, self.finished()
        note = self.sealed(layout)
        table.folder.mkdir(exist_ok=True)
        try:
            with held_folder(table.folder):
                found = table.newest()
                self._refuse_table(found)
                place = _new_place(table, found)
                release = _release(self.path, place.name, layout, note)
                table.refuse(release.schema)
                self.path.rename(place)
                try:
                    flush(place.parent)
                    table.commit(release)
                except BaseException:
                    if not _is_published(table, place):
                        shutil.rmtree(place, ignore_errors=True)
                    raise
        finally:
            with suppress(OSError):
                table.folder.rmdir()  # only if empty


@contextmanager
def _parents(table: LakeTable) -> Iterator[None]:
    """Make the parent folders that a catalog requires, and remove those that stay empty."""
    missing = [] if table.owns_folder else [each for each in table.folder.parents if not each.exists()]
    with cannot_be_written(table.folder, "target"):
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):
            for each in missing:
                each.rmdir()


def is_own(version: LakeVersion) -> bool:
    """Return whether a version is an unchanged release of ours, by its log alone."""
    layout = readable_layout(version.note)
    return layout is not None and version.unreadable is None and layout.files == listing(release_files(version))


def release_files(version: LakeVersion) -> dict[str, int]:
    return {name.removeprefix(f"{place_of(version)}/"): size for name, size in version.files.items()}


def place_of(version: LakeVersion) -> str:
    first = next(iter(version.files), "")
    return first.partition("/")[0]


def _place_after(version: LakeVersion | None) -> str:
    """Return the folder of the release after a version, or of the first one."""
    return f"release-{0 if version is None else version.number + 1}"


def _is_published(table: LakeTable, place: Path) -> bool:
    """Return whether a failed commit took effect after all; True if that cannot be determined."""
    try:
        found = table.newest()
    except EngineError:
        return True
    return found is not None and place_of(found) == place.name


def _new_place(table: LakeTable, found: LakeVersion | None) -> Path:
    """Return the folder of the next version, cleared of files of a killed run: no version is that new."""
    place = table.folder / _place_after(found)
    if table.owns_folder:
        shutil.rmtree(place, ignore_errors=True)
    numbered = (place.with_name(f"{place.name}-{number}") for number in itertools.count(1))
    return next(each for each in itertools.chain([place], numbered) if not os.path.lexists(each))


def _release(folder: Path, place: str, layout: FolderRecord, note: str) -> LakeRelease:
    from pyarrow import parquet

    files = []
    for name, size in sizes_in(folder).items():
        footer = parquet.read_metadata(folder / name)
        refuse_other_types(footer.schema.to_arrow_schema(), layout.columns)
        texts = folder_values(name)
        if "" in texts.values():  # readers of tables take it for NULL
            raise EngineError("a column that has empty texts cannot partition a table of a lake", step="target")
        partition = {column: None if texts[column] == NO_VALUE else texts[column] for column in layout.partition_by}
        files.append(AddedFile(f"{place}/{name}", size, footer.num_rows, partition))
    return LakeRelease(files, schema_of(layout.columns), layout.partition_by, note)
