"""Tables of lakes: files of Parquet and a log; their newest version, the commit of the next one, and their types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlanon.engines.relations import INSTANT, Files, ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.destination import DELTA, ICEBERG
from sqlanon.model.names import dataset_named, possible
from sqlanon.queries.source import SourceColumn

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
    """A table, which need not be there; what it, its package or its catalog refuses is an :class:`EngineError`."""

    # Whether nothing but the table is in its folder, which a user has chosen. Else a catalog has, and files that were
    # dropped from it may be there.
    owns_folder: bool

    @property
    def described(self) -> str:
        """Describe it with its name."""

    @property
    def folder(self) -> Path:
        """The folder of its files, and of those of a release."""

    def newest(self) -> LakeVersion | None:
        """Return its newest version, on which the next commit builds; None if the table does not exist."""

    def refuse(self, schema: pa.Schema) -> None:
        """Refuse columns of a release that the table cannot have."""

    def commit(self, release: LakeRelease) -> None:
        """Have a release in place of all that the newest version had when it was asked for, in one step.

        Another version by now is refused.
        """


@dataclass(frozen=True)
class PinnedVersion:
    """The version of a table that a run reads."""

    table: LakeTable
    version: LakeVersion

    @property
    def files(self) -> Files:
        """Its rows, with the types of its log; refused if it has none, or its files do not have them as they are."""
        version = self.version
        if version.unreadable is not None:
            raise EngineError(f"the {self.table.described} cannot be read: {version.unreadable}", step="source")
        return self.files_by(version.columns, version.partition_by)

    def files_by(self, columns: Mapping[str, str], partition_by: tuple[str, ...]) -> Files:
        """Select the rows of its files, by types from elsewhere."""
        if not self.version.files:
            raise EngineError(f"the {self.table.described} has no rows", step="source")
        paths = tuple(str(self.table.folder / name) for name in self.version.files)
        return Files(paths, columns=columns, partition_by=partition_by, by_name=True)

    def refuse_changed(self) -> None:
        """Refuse to go on if the table has another version by now."""
        newest = self.table.newest()
        if newest is None or newest.number != self.version.number:
            now = "is gone" if newest is None else f"has version {newest.number} by now"
            raise EngineError(
                f"the {self.table.described} {now}, and the run has read version {self.version.number}: nothing is "
                "published; run again while nobody writes to the source",
                step="publish",
            )


def pinned_version(table: LakeTable) -> PinnedVersion:
    """Return the newest version of a table that is there, or refuse it."""
    version = table.newest()
    if version is None:
        raise EngineError(f"there is no {table.described}", step="source")
    return PinnedVersion(table, version)


def lake_table(name: str) -> LakeTable:
    """Return the table of a name, which need not be there."""
    if name.startswith(ICEBERG):
        from sqlanon.lakes.iceberg import IcebergLakeTable

        return IcebergLakeTable(name.removeprefix(ICEBERG))
    from sqlanon.lakes.delta import DeltaLakeTable

    return DeltaLakeTable(name.removeprefix(DELTA))


def source_at(engine: Engine, name: str) -> ResolvedSource:
    """Return the newest version of a table as a source."""
    pinned = pinned_version(lake_table(possible(name, "source")))
    files = pinned.files
    relation, paths = engine.read_files(files), (*files.paths,)
    return ResolvedSource(relation, pinned.table.described, paths, dataset_named(name), pinned=pinned)


PLAIN = {
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "JSON": "string",
    "BLOB": "binary",
    "DATE": "date32[day]",
    "TIMESTAMP": "timestamp[us]",
    INSTANT: "timestamp[us, tz=UTC]",
}
"""Types by their names, with the texts of those of Arrow."""

DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")

PARTITIONING = frozenset(("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR", "DATE"))
"""Types whose values are spelled alike in the names of folders and in the logs of tables."""


def refuse_types(columns: Sequence[SourceColumn], partition_by: Sequence[str]) -> None:
    """Refuse columns that a table of a lake cannot have."""
    odd = [f'"{each.name}" ({each.type})' for each in columns if _arrow_type(each.type) is None]
    if odd:
        raise EngineError(
            f"tables of lakes have no types for the values of the columns {', '.join(odd)}: cast them to VARCHAR in a "
            "query, or write to a folder",
            step="target",
        )
    unspelled = [f'"{each.name}"' for each in columns if each.name in partition_by and each.type not in PARTITIONING]
    if unspelled:
        raise EngineError(
            f"a table of a lake is partitioned by texts, whole numbers, dates or truth values, which "
            f"{', '.join(unspelled)} does not have",
            step="target",
        )


def refuse_other_types(written: pa.Schema, columns: Mapping[str, str]) -> None:
    """Refuse a file with columns of other types than a table will have by its log, as servers may write some."""
    schema = schema_of(columns)
    odd = [field.name for field in written if duckdb_type(field.type) != duckdb_type(schema.field(field.name).type)]
    if odd:
        names = ", ".join(f'"{name}" ({written.field(name).type}, not {schema.field(name).type})' for name in odd)
        reason = f"files have columns of other types than the release, {names}: cast them in a query"
        raise EngineError(reason, step="publish")


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """Make columns by their types; all may have NULL."""
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])


def _arrow_type(kind: str) -> pa.DataType | None:
    """Return a type in the words of Arrow; None if tables of lakes have none for its values."""
    import pyarrow as pa

    if kind.endswith("[]"):
        inner = _arrow_type(kind.removesuffix("[]"))
        return None if inner is None else pa.list_(inner)
    if (found := DECIMAL.fullmatch(kind)) is not None:
        return pa.decimal128(int(found[1]), int(found[2]))
    if kind == INSTANT:
        return pa.timestamp("us", "UTC")
    return pa.type_for_alias(PLAIN[kind]) if kind in PLAIN else None


def duckdb_type(kind: pa.DataType) -> str:
    """Return the type that DuckDB reads the values of a column in; its name in Arrow if there is none here."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    names = {text: name for name, text in reversed(PLAIN.items())}
    return names.get(str(kind).removeprefix("large_").removesuffix("_view"), str(kind))
