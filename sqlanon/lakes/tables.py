"""Tables of lakes, which are Parquet files and a log: their versions, commits and types."""

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
    "another program has changed the {} since the run read it: nothing is published; run again while nobody writes to "
    "it"
)


@dataclass(frozen=True)
class AddedFile:
    name: str  # its path in the folder of the table
    bytes: int
    rows: int
    partition: Mapping[str, str | None]  # texts of partition columns, by name; None for NULL


@dataclass(frozen=True)
class LakeRelease:
    files: Sequence[AddedFile]
    schema: pa.Schema
    partition_by: Sequence[str]  # columns in names of folders
    note: str  # the record


@dataclass(frozen=True)
class LakeVersion:
    number: int  # unique among the versions of the table
    files: Mapping[str, int]  # sizes of its files, by name in its folder, or path elsewhere
    columns: Mapping[str, str]  # types by name
    partition_by: tuple[str, ...]  # columns in names of folders
    note: str | None  # the newest record in the log
    unreadable: str | None  # why its files alone do not give its rows; None if they do


class LakeTable(Protocol):
    """A table, which need not exist; errors of its package or its catalog are raised as :class:`EngineError`."""

    # A user chose the folder, and only the table is in it. Otherwise a catalog did, and dropped files may be there.
    owns_folder: bool

    @property
    def described(self) -> str:
        """Describe it with its name."""

    @property
    def folder(self) -> Path:
        """The folder of its files, and of the files of a release."""

    def newest(self) -> LakeVersion | None:
        """Return its newest version, on which the next commit builds; None if the table does not exist."""

    def refuse(self, schema: pa.Schema) -> None:
        """Refuse columns of a release that the table cannot have."""

    def commit(self, release: LakeRelease) -> None:
        """Replace the content of the newest version that was asked for by a release, in one step.

        Refuse if the table has another version by now.
        """


@dataclass(frozen=True)
class PinnedVersion:
    """The version of a table that a run reads."""

    table: LakeTable
    version: LakeVersion

    @property
    def files(self) -> Files:
        """Its rows, with types from its log; refused if there are none, or its files alone do not give them."""
        version = self.version
        if version.unreadable is not None:
            raise EngineError(f"the {self.table.described} cannot be read: {version.unreadable}", step="source")
        return self.files_by(version.columns, version.partition_by)

    def files_by(self, columns: Mapping[str, str], partition_by: tuple[str, ...]) -> Files:
        """Return its files, with types from elsewhere."""
        if not self.version.files:
            raise EngineError(f"the {self.table.described} has no rows", step="source")
        paths = tuple(str(self.table.folder / name) for name in self.version.files)
        return Files(paths, columns=columns, partition_by=partition_by, by_name=True)

    def refuse_changed(self) -> None:
        newest = self.table.newest()
        if newest is None or newest.number != self.version.number:
            now = "is gone" if newest is None else f"has version {newest.number} by now"
            raise EngineError(
                f"the {self.table.described} {now}, and the run has read version {self.version.number}: nothing is "
                "published; run again while nobody writes to the source",
                step="publish",
            )


def pinned_version(table: LakeTable) -> PinnedVersion:
    version = table.newest()
    if version is None:
        raise EngineError(f"there is no {table.described}", step="source")
    return PinnedVersion(table, version)


def lake_table(name: str) -> LakeTable:
    if name.startswith(ICEBERG):
        from sqlanon.lakes.iceberg import IcebergLakeTable

        return IcebergLakeTable(name.removeprefix(ICEBERG))
    from sqlanon.lakes.delta import DeltaLakeTable

    return DeltaLakeTable(name.removeprefix(DELTA))


def source_at(engine: Engine, name: str) -> ResolvedSource:
    pinned = pinned_version(lake_table(possible(name, "source")))
    files = pinned.files
    relation, paths = engine.read_files(files), (*files.paths,)
    return ResolvedSource(relation, pinned.table.described, paths, dataset_named(name), pinned=pinned)


# Types of DuckDB and of Arrow.
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
DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")

# Types whose values are spelled alike in names of folders and in logs of tables.
PARTITIONING = frozenset(("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR", "DATE"))


def refuse_types(columns: Sequence[SourceColumn], partition_by: Sequence[str]) -> None:
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
    """Refuse a file whose types differ from the table's log, as a server may write."""
    schema = schema_of(columns)
    odd = [field.name for field in written if duckdb_type(field.type) != duckdb_type(schema.field(field.name).type)]
    if odd:
        names = ", ".join(f'"{name}" ({written.field(name).type}, not {schema.field(name).type})' for name in odd)
        reason = f"files have columns of other types than the release, {names}: cast them in a query"
        raise EngineError(reason, step="publish")


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """Make a schema of nullable columns."""
    import pyarrow as pa

    return pa.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])


def _arrow_type(kind: str) -> pa.DataType | None:
    """Return the Arrow type of a type; None if tables of lakes cannot have it."""
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
    """Return the type in which DuckDB reads an Arrow type, or the latter's name if it has none."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"{duckdb_type(kind.value_type)}[]"
    names = {text: name for name, text in reversed(PLAIN.items())}
    return names.get(str(kind).removeprefix("large_").removesuffix("_view"), str(kind))
