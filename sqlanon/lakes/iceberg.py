"""Apache Iceberg tables with files on this machine, by the package ``pyiceberg`` and its catalogs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import EngineError
from sqlanon.lakes.tables import ANOTHER_COMMIT, LakeRelease, LakeVersion, duckdb_type
from sqlanon.model.destination import NOTE_KEY
from sqlanon.satellites import extra_module

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table, Transaction

PARTS = 3  # minimum number of parts of a name: catalog, namespace and table
RETRIES = "commit.retry.num-retries"  # the table property for retries after a concurrent commit


class IcebergLakeTable:
    owns_folder = False

    def __init__(self, name: str) -> None:
        self._name = name
        catalog, *parts = name.split(".")
        if len(parts) < PARTS - 1 or not all((catalog, *parts)):
            reason = f'"{name}" is not the name of an Iceberg table: write iceberg:catalog.namespace.table'
            raise EngineError(reason, step="target")
        self._identifier = tuple(parts)
        found = extra_module("pyiceberg.catalog", extra="iceberg", purpose="an Iceberg table")
        with self._refusals("target", f'pyiceberg has no catalog "{catalog}" in its configuration'):
            self._catalog: Catalog = found.load_catalog(catalog)
        self._table: Table | None = None

    @property
    def described(self) -> str:
        return f"Iceberg table {self._name}"

    @cached_property
    def folder(self) -> Path:
        scheme, _, path = self.location.rpartition("://")
        if scheme not in ("", "file") or not path.startswith("/"):
            reason = f"the {self.described} is at {self.location}, and its files have to be on this machine"
            raise EngineError(reason, step="target")
        return Path(path, "data")

    @cached_property
    def location(self) -> str:
        """The place of the table, which need not exist."""
        if self._table is not None:
            return self._table.location()
        from pyiceberg.schema import Schema

        with self._refusals("target", f"the {self.described} cannot be made"):
            # An uncommitted transaction makes nothing.
            return self._catalog.create_table_transaction(self._identifier, Schema()).table_metadata.location

    def newest(self) -> LakeVersion | None:
        from pyiceberg.exceptions import NoSuchTableError

        with self._refusals("store", f"the {self.described} cannot be read"):
            try:
                self._table = table = self._catalog.load_table(self._identifier)
            except NoSuchTableError:
                self._table = None
                return None
            tasks = [*table.scan().plan_files()]
            files = {self._name_of(task.file.file_path): task.file.file_size_in_bytes for task in tasks}
            return LakeVersion(
                number=getattr(table.metadata, "last_sequence_number", 0),
                files=files,
                columns={field.name: duckdb_type(field.type) for field in table.schema().as_arrow()},
                partition_by=tuple(field.name for field in table.spec().fields),
                note=_newest_note(table),
                unreadable=_unreadable(table, tasks),
            )

    def refuse(self, schema: pa.Schema) -> None:
        if self._table is None:
            return
        if _types(self._table.schema().as_arrow()) != _types(schema):
            reason = f"the {self.described} has other columns than the release: give another name"
            raise EngineError(reason, step="target")

    def commit(self, release: LakeRelease) -> None:
        from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError, ValidationException

        paths = [f"{self.location}/data/{file.name}" for file in release.files]
        try:
            with self._refusals("publish", f"the {self.described} cannot be written"):
                self._transaction(release, paths).commit_transaction()
        except EngineError as error:
            if isinstance(error.original, CommitFailedException | TableAlreadyExistsError | ValidationException):
                reason = ANOTHER_COMMIT.format(self.described)
                raise EngineError(reason, step="publish", original=error.original) from None
            raise

    def _transaction(self, release: LakeRelease, paths: list[str]) -> Transaction:
        """Start the transaction that replaces all files in one snapshot with the record."""
        from pyiceberg.io.pyarrow import parquet_files_to_data_files

        note = {NOTE_KEY: release.note}
        if self._table is None:
            made = self._catalog.create_table_transaction(self._identifier, release.schema, location=self.location)
            made.add_files(paths, snapshot_properties=note)
            return made
        # Only in this object. A retried commit would keep a concurrent commit's rows.
        self._table.metadata.properties[RETRIES] = "0"
        transaction = self._table.transaction()
        if transaction.table_metadata.name_mapping() is None:
            mapping = self._table.schema().name_mapping.model_dump_json()
            transaction.set_properties({"schema.name-mapping.default": mapping})
        with transaction.update_snapshot(snapshot_properties=note).overwrite() as update:
            for task in self._table.scan().plan_files():
                update.delete_data_file(task.file)
            for file in parquet_files_to_data_files(self._table.io, transaction.table_metadata, iter(paths)):
                update.append_data_file(file)
        return transaction

    def _name_of(self, path: str) -> str:
        return path.removeprefix(f"{self.location}/data/").removeprefix("file://")

    @contextmanager
    def _refusals(self, step: str, reason: str) -> Iterator[None]:
        """Convert errors of the package and of the catalog, which vary, to EngineError."""
        try:
            yield
        except EngineError:
            raise
        except Exception as error:
            raise EngineError(f"{reason} ({type(error).__name__})", step=step, original=error) from None


def _types(schema: pa.Schema) -> dict[str, str]:
    """Return columns with their types in Iceberg, which has no integers of less than 32 bits."""
    types = {field.name: duckdb_type(field.type) for field in schema}
    return {name: re.sub(r"^(TINYINT|SMALLINT)", "INTEGER", kind) for name, kind in types.items()}


def _newest_note(table: Table) -> str | None:
    """Return the newest record among the ancestors of the current snapshot."""
    found = table.current_snapshot()
    while found is not None:
        if found.summary is not None and (note := found.summary.additional_properties.get(NOTE_KEY)) is not None:
            return note
        found = None if found.parent_snapshot_id is None else table.snapshot_by_id(found.parent_snapshot_id)
    return None


def _unreadable(table: Table, tasks: list[Any]) -> str | None:
    if table.metadata.format_version == 1:
        return "it has format version 1, whose snapshots are not numbered"
    if len(table.metadata.schemas) > 1:
        return "its columns were changed, so that its files may have other names for them"
    if table.spec().fields:
        return "it is partitioned"
    if any(task.delete_files for task in tasks):
        return "rows of its files were deleted (delete files)"
    if any(str(task.file.file_format.value) != "PARQUET" for task in tasks):
        return "it has files that are not Parquet"
    return None
