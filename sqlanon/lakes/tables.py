"""What is asked of a table of a lake: its newest version, and one commit that makes a release the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlanon.engines.relations import Files, ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.datasets import dataset_named
from sqlanon.model.destination import DELTA, ICEBERG
from sqlanon.model.names import possible

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.engines.duckdb import Engine

ANOTHER_COMMIT = (
    "another program has changed the {} since the run looked at it: nothing is published; run again while nobody "
    "writes to it"
)


@dataclass(frozen=True)
class AddedFile:
    """A file that a commit adds."""

    name: str  # its path in the folder of the table
    bytes: int
    rows: int
    partition: Mapping[str, str | None]  # the texts of its partition columns, by name; None for NULL


@dataclass(frozen=True)
class LakeRelease:
    """The content that a commit gives a table."""

    files: Sequence[AddedFile]  # all of its files
    schema: pa.Schema
    partition_by: Sequence[str]  # the columns in the names of folders
    note: str  # its record


@dataclass(frozen=True)
class LakeVersion:
    """A version of a table."""

    number: int  # counts the versions of the table; each has another
    files: Mapping[str, int]  # the bytes of its files, by their names in its folder, or their paths elsewhere
    columns: Mapping[str, str]  # the types of its columns, by name
    partition_by: tuple[str, ...]  # the columns in the names of folders
    note: str | None  # the newest record in the log of the table
    unreadable: str | None  # why its files do not have its rows as they are; None if they do


class LakeTable(Protocol):
    """A table, which need not be there.

    Attributes:
        owns_folder: whether nothing but the table is in its folder, which a user has chosen. Else a catalog has, and
            files that were dropped from it may be there.
    """

    owns_folder: bool

    @property
    def described(self) -> str:
        """What it is, with its name."""

    @property
    def folder(self) -> Path:
        """Where its files are, and those of a release go."""

    def newest(self) -> LakeVersion | None:
        """Its newest version, on which the next commit builds; None if the table does not exist.

        Raises:
            EngineError: it cannot be read.
        """

    def refuse(self, schema: pa.Schema) -> None:
        """Refuse columns of a release that the table cannot have.

        Raises:
            EngineError: says what.
        """

    def commit(self, release: LakeRelease) -> None:
        """Have a release in place of all that the newest version had when it was asked for, in one step.

        Raises:
            EngineError: there is another version by now, or the table takes no commit.
        """


@dataclass(frozen=True)
class PinnedVersion:
    """The version of a table that a run reads."""

    table: LakeTable
    version: LakeVersion

    @property
    def files(self) -> Files:
        """Its rows, with the types of its log.

        Raises:
            EngineError: it has none, or its files do not have them as they are.
        """
        version = self.version
        if version.unreadable is not None:
            raise EngineError(f"the {self.table.described} cannot be read: {version.unreadable}", step="source")
        return self.files_by(version.columns, version.partition_by)

    def files_by(self, columns: Mapping[str, str], partition_by: tuple[str, ...]) -> Files:
        """What its files have, by types from elsewhere.

        Raises:
            EngineError: it has none.
        """
        if not self.version.files:
            raise EngineError(f"the {self.table.described} has no rows", step="source")
        paths = tuple(str(self.table.folder / name) for name in self.version.files)
        return Files(paths, columns=columns, partition_by=partition_by, by_name=True)

    def refuse_changed(self) -> None:
        """Refuse to go on if the table has another version by now.

        Raises:
            EngineError: it has.
        """
        newest = self.table.newest()
        if newest is None or newest.number != self.version.number:
            now = "is gone" if newest is None else f"has version {newest.number} by now"
            raise EngineError(
                f"the {self.table.described} {now}, and the run has read version {self.version.number}: nothing is "
                "published; run again while nobody writes to the source",
                step="publish",
            )


def pinned_version(table: LakeTable) -> PinnedVersion:
    """The newest version of a table that is there.

    Raises:
        EngineError: it is not.
    """
    version = table.newest()
    if version is None:
        raise EngineError(f"there is no {table.described}", step="source")
    return PinnedVersion(table, version)


def lake_table(name: str) -> LakeTable:
    """The table of a name, which need not be there.

    Raises:
        EngineError: the package that reads it is not installed, or no table can have the name.
    """
    if name.startswith(ICEBERG):
        from sqlanon.lakes.iceberg import IcebergLakeTable

        return IcebergLakeTable(name.removeprefix(ICEBERG))
    from sqlanon.lakes.delta import DeltaLakeTable

    return DeltaLakeTable(name.removeprefix(DELTA))


def source_at(engine: Engine, name: str) -> ResolvedSource:
    """The newest version of a table as a source.

    Raises:
        EngineError: the table does not exist, or its files do not have its rows as they are.
    """
    pinned = pinned_version(lake_table(possible(name, "source")))
    files = pinned.files
    relation, paths = engine.read_files(files), (*files.paths,)
    return ResolvedSource(relation, pinned.table.described, paths, dataset_named(name), pinned=pinned)
