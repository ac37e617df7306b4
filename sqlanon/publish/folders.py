"""Releases as folders of Parquet files, staged under a hidden name and swapped with the target in one step.

The record lists the files, so that added and changed ones show.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.engines.paths import (
    NO_VALUE,
    changes_between,
    files_below,
    hashes,
    is_whole,
    listing,
    marked,
    note_of,
    pattern_below,
    sizes_in,
)
from sqlanon.engines.relations import Files, ResolvedSource
from sqlanon.errors import EngineError, TargetError
from sqlanon.model.destination import FILE_SUFFIX, MARKER
from sqlanon.model.record import ContentRecord, FolderRecord, Record
from sqlanon.publish.files import bring_back, cannot_be_written, exchange, flush, hidden, refuse_place, tidy
from sqlanon.publish.targets import StagedTarget, Standing
from sqlanon.queries import layout as partitions
from sqlanon.queries.kit.nodes import Relation, Step, column, counted_rows, select, subquery
from sqlanon.queries.source import SourceColumn

STAGED_SUFFIX = ".staged"  # of unpublished data files, as a glob ``**/*.parquet`` enters hidden folders, too
WRITTEN = Relation("anon_written", "row")  # numbered rows of a release, a range of them per file


class FolderTarget(StagedTarget):
    """A folder of Parquet files, verified as its readers will read it.

    It is written by the database, or by a server that has the rows and sees the folder under the same path.
    """

    is_folder = True
    takes_far_rows = True
    columns: dict[str, str]  # types by name
    far: exp.Table | None = None  # rows written by a server
    record: Record | None = None

    @contextmanager
    def staged(self) -> Iterator[None]:
        with cannot_be_written(self.final, "target"):
            tidy(self.final)
            refuse_folder(self.final, replace=bool(self.replace))
        with new_folder(self.final) as self.path:
            yield
            with cannot_be_written(self.final, "publish"):
                marker = self.path / MARKER
                marker.write_text(f"{self.marker_text()}\n", encoding="utf-8")
                flush(marker)
                flush(self.path)
                publish(self.path, self.final, replace=bool(self.replace))

    @property
    def described(self) -> str:
        return f"Parquet folder {self.name}"

    def held_note(self) -> str | None:
        bring_back(self.name)
        return note_of(self.final) if is_whole(self.final) else None

    def found_note(self) -> str | None:
        return note_of(self.final)

    def standing(self) -> Standing | None:
        """Return the release in the folder, read from all of its files, listed in its marker or not."""
        folder, pattern = Path(self.name), pattern_below(self.name)
        layout = marked(folder)
        if layout is None:
            return None
        changes = changes_between(sizes_in(folder), layout, lambda file: sha256_of(folder / file))
        written = Files(pattern, columns=layout.columns, partition_by=layout.partition_by, by_name=True)
        relation = self.engine.read_files(written)
        with readable(f"the release in {self.name} cannot be read as it was written", changes):
            self.engine.describe(relation)
            found = self.engine.describe(self.engine.read_files(Files(pattern)))
        columns = dict.fromkeys([*(column.name for column in found), *layout.partition_by])
        return Standing(ResolvedSource(relation, self.described), tuple(columns), note_of(folder), changes)

    def settle(self) -> None:
        tidy(self.final)

    @property
    def place(self) -> str:
        return str(self.path / "written")

    def collected(self) -> list[str]:
        """Rename a server's files to numbered names, as in a folder that is written here."""
        written = Path(self.place)
        found = sorted(written.glob(f"*{FILE_SUFFIX}"))
        if not found:
            raise EngineError(
                f"the server has left no file of the release in {self.final.parent}: the release has no row, or the "
                "server has another file system; name a folder that both see under one path",
                step="target",
            )
        files = [part(self.path, number) for number in range(len(found))]
        for old, new in zip(found, files, strict=True):
            old.rename(new)
        shutil.rmtree(written)
        return [*map(str, files)]

    def takes_enums(self, name: str) -> bool:
        return not self.is_far and name not in self.into.partition_by

    def refuse_columns(self, query: exp.Query) -> None:
        self.with_columns(query)

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        if self.is_far:
            self.far = self.engine.write_staged(query, self)
            columns = self.engine.describe(self.far)
            self.refuse_types(columns)
            self.columns = {found.name: found.type for found in columns}
            return ResolvedSource(self.far, self.described)
        query, columns = self.with_columns(query)
        self.columns = {found.name: found.type for found in columns}
        if self.into.partition_by:
            with self.engine.in_order():
                self._write_partitions(query, columns)
        elif self.into.rows_per_file is not None:
            with self.engine.in_order():
                self._write_pieces(query, columns, self.into.rows_per_file)
        else:
            self.engine.write_parquet(part(self.path, 0), query, columns, streamed=streamed)
        pattern = pattern_below(self.path, STAGED_SUFFIX)
        written = self.engine.read_files(Files(pattern, columns=self.columns, partition_by=self.into.partition_by))
        self.engine.refuse_altered_parquet(query, written, columns)
        return ResolvedSource(written, self.described)

    def with_columns(self, query: exp.Query) -> tuple[exp.Query, list[SourceColumn]]:
        """Return the rows as written, and their columns; refuse columns that the files cannot have."""
        return query, self.engine.parquet_columns(query)

    def refuse_types(self, columns: Sequence[SourceColumn]) -> None:
        """Refuse columns written by a server that readers of the files cannot have."""

    def _write_pieces(self, query: exp.Query, columns: list[SourceColumn], most: int) -> None:
        # Number the rows in a table: files that DuckDB splits exceed the limit.
        names = [found.name for found in columns]
        self.engine.run(Step(WRITTEN, partitions.numbered(query), "lay out the release"))
        rows = self.engine.fetch(counted_rows(WRITTEN.table), "lay out the release")[0]["rows"]
        for place, first in enumerate(range(1, max(rows, 1) + 1, most)):
            query = partitions.piece(WRITTEN, names, first, first + most - 1)
            self.engine.write_parquet(part(self.path, place), query, columns)
        self.engine.drop(WRITTEN)

    def _write_partitions(self, query: exp.Query, columns: list[SourceColumn]) -> None:
        guarded = partitions.guarded(query, columns, self.into.partition_by, self.into.rows_per_file)
        by = self.into.partition_by
        if self.into.rows_per_file is not None:
            by = (*by, partitions.PIECE)
        self.engine.write_partitions(self.path, guarded, columns, by, STAGED_SUFFIX)
        number_files(self.path, partitions.PIECE)
        if any(files_below(self.path)):
            return
        # Without a row there is no partition: write an empty file for its columns.
        place = self.path.joinpath(*(f"{name}={NO_VALUE}" for name in self.into.partition_by))
        place.mkdir(parents=True)
        kept = [found for found in columns if found.name not in self.into.partition_by]
        rows = select([column(found.name) for found in kept], subquery(query, "anon_release"))
        self.engine.write_parquet(part(place, 0), rows, kept)

    def add_record(self, record: Record) -> ContentRecord:
        """Keep the record; hashes follow once the files have their names."""
        self.record = record
        return ContentRecord()

    def marker_text(self) -> str:
        return self.sealed(self.finished())

    def sealed(self, layout: FolderRecord) -> str:
        assert self.record is not None
        return self.record.sealed(layout).text

    def finished(self) -> FolderRecord:
        sizes = self.named()
        return FolderRecord(
            columns=self.columns,
            partition_by=self.into.partition_by,
            files=listing(sizes),
            files_sha256=tuple(hashes(self.path, sizes)),
        )

    def named(self) -> dict[str, int]:
        """Give the files the names for readers, and return their bytes by relative name."""
        for path in list(files_below(self.path)):
            flush(path.rename(path.with_name(path.name.removesuffix(STAGED_SUFFIX) + FILE_SUFFIX)))
        for place, _, _ in os.walk(self.path, topdown=False):
            flush(Path(place))
        return sizes_in(self.path)

    def refuse_changed(self) -> None:
        if self.far is not None and self.engine.far is not None:
            self.engine.far.refuse_changed(self.far)
        super().refuse_changed()

    def forget(self) -> None:
        if self.far is not None and self.engine.far is not None:
            with suppress(EngineError):  # the session drops it at its end
                self.engine.far.drop(self.far)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Make a folder under a hidden name beside its target, and remove it when the block ends."""
    with hidden(target, "staged") as path:
        with cannot_be_written(target, "target"):
            path.mkdir()
        yield path


def refuse_folder(target: Path, *, replace: bool) -> None:
    """Refuse a folder with anything but an unchanged release of ours, or one that may not be replaced."""
    refuse_place(target)
    if target.is_symlink():
        raise EngineError(f"{target} is a symbolic link; give the folder that it leads to", step="target")
    if target.exists() and not target.is_dir():
        raise EngineError(f"{target} is a file; give the name of a folder", step="target")
    if not target.name or (target.exists() and Path.cwd().is_relative_to(target)):
        raise EngineError(f"{target} is the working folder, or contains it; give another", step="target")
    if is_empty(target):
        return
    _refuse_changed(target, target)
    if not replace:
        raise TargetError(f"the folder {target} exists; give another name, or replace=True", step="target")


def _refuse_changed(folder: Path, target: Path) -> None:
    """Refuse to replace a target, now at ``folder``, that is not an unchanged release."""
    if not is_whole(folder):
        raise EngineError(
            f"the folder {target} holds other files than a release, or a release that was changed since, and is not "
            "replaced: give another name, or empty it yourself",
            step="target",
        )


def is_empty(folder: Path) -> bool:
    return not folder.exists() or not any(folder.iterdir())


def part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:05}{STAGED_SUFFIX}"


def number_files(folder: Path, piece: str) -> None:
    """Number the files in each folder of partitions, whatever the database called them.

    Folders ``<piece>=<number>`` give the order of the files of a partition, and are removed.
    """
    prefix = f"{piece}="
    found: dict[Path, list[tuple[int, str, Path]]] = {}
    for path in files_below(folder):
        place = path.parent
        inside = place.name.startswith(prefix)
        order = int(place.name.removeprefix(prefix)) if inside else 0
        found.setdefault(place.parent if inside else place, []).append((order, path.name, path))
    for place, files in found.items():
        for number, (_, _, path) in enumerate(sorted(files)):
            path.rename(part(place, number))
            if path.parent != place:
                with suppress(OSError):  # not empty yet
                    path.parent.rmdir()


def publish(staged: Path, target: Path, *, replace: bool) -> None:
    # Renaming replaces an empty folder, and nothing else.
    if is_empty(target):
        try:
            staged.rename(target)
        except OSError as error:
            if is_empty(target):
                raise
            reason = f"the folder {target} exists; give another name, or replace=True"
            raise TargetError(reason, step="target", original=error) from None
    else:
        refuse_folder(target, replace=replace)
        if exchange(staged, target):
            try:
                _refuse_changed(staged, target)  # again, now that nobody can reach it
            except EngineError:
                exchange(staged, target)
                raise
        else:
            _swap_in_two_steps(staged, target)
    flush(target.parent)


def _swap_in_two_steps(staged: Path, target: Path) -> None:
    """Move the old folder away, then the new one in.

    A run that is killed in between leaves neither in place; the next run or reader brings back the old one, which waits
    under its hidden name.
    """
    with hidden(target, "previous") as previous:
        try:
            target.rename(previous)
            _refuse_changed(previous, target)
            staged.rename(target)
        finally:
            if not os.path.lexists(target):
                previous.rename(target)
        flush(target.parent)


@contextmanager
def readable(reason: str, changes: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise error.reworded("; ".join((reason, *changes)), "source") from None
