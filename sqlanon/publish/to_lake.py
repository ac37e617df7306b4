"""A release as a table of a lake: its files are staged beside the table, then made its next version by one commit."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

from sqlanon.engines.lakes import lake_table
from sqlanon.engines.lakes.base import AddedFile, LakeRelease, LakeTable, LakeVersion
from sqlanon.engines.lakes.types import refuse_other_types, schema_of
from sqlanon.engines.locks import held_folder
from sqlanon.engines.paths import NO_VALUE
from sqlanon.errors import EngineError, TargetError
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.record import FolderRecord, facts_of, readable_layout
from sqlanon.publish.files import NOT_OURS, cannot_be_written, flush, refuse_place, tidy
from sqlanon.publish.folders import StagedFolder, finished, new_folder
from sqlanon.publish.listings import changes_among, listing, sizes_in

CHANGED = (
    "the {} was changed since sqlanon wrote it, so that replace=True leaves it as it is: give another name, or say "
    'with replace="anything" that it may go'
)


@contextmanager
def staged_lake(into: Destination, *, replace: Replace) -> Iterator[StagedFolder]:
    """A folder to write to; its files become the table when the block ends, and are removed when the block fails.

    Raises:
        EngineError: the table may not be replaced, cannot hold the release, or has another version by the end.
    """
    table = lake_table(into.name)
    found = table.newest()
    with cannot_be_written(table.folder, "target"):
        tidy(table.folder)
        _refuse_table(table, found, into, replace)
    with _parents(table), new_folder(table.folder) as staged:
        staged.table = table
        yield staged
        with cannot_be_written(table.folder, "publish"):
            _publish(table, staged, into, replace)


@contextmanager
def _parents(table: LakeTable) -> Iterator[None]:
    """The folders that the folder of a table is to be in, if a catalog says so; those that stay empty go."""
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
    """Whether a version is a release of ours as it was written, by its log; nothing is read."""
    layout = readable_layout(version.note)
    return layout is not None and version.unreadable is None and layout.files == listing(release_files(version))


def release_files(version: LakeVersion) -> dict[str, int]:
    """The files of a version by their names in the folder of their release, with their bytes."""
    return {name.removeprefix(f"{place_of(version)}/"): size for name, size in version.files.items()}


def changes_in(table: LakeTable, version: LakeVersion, layout: FolderRecord) -> tuple[str, ...]:
    """How the files of a version differ from those that its record lists, in sentences."""
    unreadable = () if version.unreadable is None else (version.unreadable,)
    return (*unreadable, *changes_among(table.folder / place_of(version), release_files(version), layout))


def place_of(version: LakeVersion) -> str:
    """The folder of the release that the first file of a version is of."""
    first = next(iter(version.files), "")
    return first.partition("/")[0]


def _refuse_table(table: LakeTable, found: LakeVersion | None, into: Destination, replace: Replace) -> None:
    """Refuse a table that may not be replaced, and a folder that is of no table."""
    if table.owns_folder:
        refuse_place(table.folder)
    if found is None:
        if table.owns_folder and _has_others(table.folder):
            reason = f"{table.folder} is there, and has no log of a table: give another name"
            raise EngineError(reason, step="target")
        return
    if not replace:
        raise TargetError(f"the {table.described} exists; give another name, or replace=True", step="target")
    if replace != "anything" and not is_own(found):
        reason = CHANGED.format(table.described) if facts_of(found.note) else NOT_OURS.format(f"the {table.described}")
        raise EngineError(reason, step="target")
    if found.partition_by != into.partition_by:
        by, wanted = (", ".join(names) or "no column" for names in (found.partition_by, into.partition_by))
        reason = f"the {table.described} is partitioned by {by}, and the release by {wanted}: give another name"
        raise EngineError(reason, step="target")


def _has_others(folder: Path) -> bool:
    """Whether there is more at a place than what a run has left there that was killed."""
    if not folder.is_dir():
        return os.path.lexists(folder)
    return any(path.name != _place_after(None) for path in folder.iterdir())


def _place_after(version: LakeVersion | None) -> str:
    """The folder of the release that follows a version, or is the first one."""
    return f"release-{0 if version is None else version.number + 1}"


def _publish(table: LakeTable, staged: StagedFolder, into: Destination, replace: Replace) -> None:
    """Move the files to the folder of the table, and commit them: no other run of ours comes between."""
    layout = finished(staged)
    assert staged.record is not None
    note = staged.record.sealed(layout).text
    table.folder.mkdir(exist_ok=True)
    try:
        with held_folder(table.folder):
            found = table.newest()
            _refuse_table(table, found, into, replace)
            place = _new_place(table, found)
            release = _release(staged.path, place.name, layout, note)
            table.refuse(release.schema)
            staged.path.rename(place)
            _commit(table, release, place)
    finally:
        with suppress(OSError):
            table.folder.rmdir()  # which is left alone if there is anything in it


def _commit(table: LakeTable, release: LakeRelease, place: Path) -> None:
    try:
        flush(place.parent)
        table.commit(release)
    except BaseException:
        if not _is_published(table, place):
            shutil.rmtree(place, ignore_errors=True)
        raise


def _is_published(table: LakeTable, place: Path) -> bool:
    """Whether a commit was made although it failed; so it is where that cannot be known."""
    try:
        found = table.newest()
    except EngineError:
        return True
    return found is not None and place_of(found) == place.name


def _new_place(table: LakeTable, found: LakeVersion | None) -> Path:
    """Where the files of the next version go; what a killed run has left there goes, as no version is so new."""
    place = table.folder / _place_after(found)
    if table.owns_folder:
        shutil.rmtree(place, ignore_errors=True)
    free = (place.with_name(f"{place.name}-{number}") for number in itertools.count(1))
    return place if not os.path.lexists(place) else next(each for each in free if not os.path.lexists(each))


def _release(folder: Path, place: str, layout: FolderRecord, note: str) -> LakeRelease:
    """What is in a folder, as a commit has it.

    Raises:
        EngineError: a file has values of another type than the release.
    """
    from pyarrow import parquet

    files = []
    for name, size in sizes_in(folder).items():
        footer = parquet.read_metadata(folder / name)
        refuse_other_types(footer.schema.to_arrow_schema(), layout.columns)
        files.append(AddedFile(f"{place}/{name}", size, footer.num_rows, _partition(name, layout)))
    return LakeRelease(files, schema_of(layout.columns), layout.partition_by, note)


def _partition(name: str, layout: FolderRecord) -> Mapping[str, str | None]:
    """The texts of the partition columns of a file.

    Raises:
        EngineError: one is empty, which readers of tables take for NULL.
    """
    texts = dict(part.split("=", 1) for part in name.split("/")[:-1])
    found = {unquote(column): unquote(text) for column, text in texts.items()}
    if "" in found.values():
        raise EngineError("a column that has empty texts cannot partition a table of a lake", step="target")
    return {column: None if found[column] == NO_VALUE else found[column] for column in layout.partition_by}
