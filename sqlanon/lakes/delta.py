"""Delta tables in folders of this machine, by the package ``deltalake``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sqlanon.engines.paths import folder_columns
from sqlanon.errors import EngineError
from sqlanon.lakes.tables import ANOTHER_COMMIT, AddedFile, LakeRelease, LakeVersion, duckdb_type
from sqlanon.model.destination import NOTE_KEY
from sqlanon.model.names import folded
from sqlanon.satellites import extra_module

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

IN_NO_NAME = frozenset(" ,;{}()\n\t=")  # refused in column names by readers of Delta tables
ZONELESS = "timestampNtz"  # the table feature for times without a zone
MISREAD = re.compile(r"[\x00-\x1f\x7f#?\[\]\\^|]|%[0-9A-Fa-f]{2}")  # ``deltalake`` misreads these in a path, as tried


class DeltaLakeTable:
    owns_folder = True

    def __init__(self, name: str) -> None:
        """Refuse a path that ``deltalake`` cannot read."""
        if not name.strip() or "://" in name:
            raise EngineError(
                f'"{name}" is not the path of a folder of this machine: write delta:/path/of/table', step="target"
            )
        self.folder = Path(os.path.abspath(name))  # noqa: PTH100 (a link is not followed)
        if MISREAD.search(str(self.folder)):
            signs = "none of # ? [ ] \\ ^ | and no percent sign before two digits"
            reason = f"the package deltalake cannot read a table at {self.folder}: give a path with {signs}"
            raise EngineError(reason, step="target")
        self._delta = extra_module("deltalake", extra="delta", purpose="a Delta table")
        self._table: DeltaTable | None = None

    @property
    def described(self) -> str:
        return f"Delta table {self.folder}"

    def newest(self) -> LakeVersion | None:
        import pyarrow as pa

        with self._refusals("store"):
            self._table = None
            if not self.folder.is_dir() or not self._delta.DeltaTable.is_deltatable(self._uri):
                return None
            self._table = table = self._delta.DeltaTable(self._uri)
            schema: Any = table.schema()
            files = {unquote(each["path"]): each["size_bytes"] for each in _rows(table.get_add_actions())}
            partition_by = tuple(table.metadata().partition_columns)
            return LakeVersion(
                number=table.version(),
                files=files,
                columns={field.name: duckdb_type(field.type) for field in pa.schema(schema)},
                partition_by=partition_by,
                note=_newest_note(table),
                unreadable=_unreadable(table, files, partition_by),
            )

    def refuse(self, schema: pa.Schema) -> None:
        odd = [field.name for field in schema if not IN_NO_NAME.isdisjoint(field.name)]
        if odd:
            names = ", ".join(f'"{name}"' for name in odd)
            signs = "spaces, tabs, line breaks and any of ,;{}()="
            raise EngineError(
                f"readers of Delta tables refuse column names with {signs}: rename {names} in a query",
                step="target",
            )
        if self._table is None:
            return
        import pyarrow as pa

        zoneless = [field.name for field in schema if pa.types.is_timestamp(field.type) and field.type.tz is None]
        if zoneless and ZONELESS not in (self._table.protocol().reader_features or ()):
            raise EngineError(
                f'the {self.described} refuses times without a zone, as in "{zoneless[0]}": give another name, or add '
                f"the feature {ZONELESS} to the table",
                step="target",
            )

    def commit(self, release: LakeRelease) -> None:
        from deltalake.transaction import create_table_with_add_actions

        schema = self._delta.Schema.from_arrow(release.schema)
        actions = [self._action(file) for file in release.files]
        # Without retries: a concurrent commit's rows would stay beside the release.
        properties = self._delta.CommitProperties(custom_metadata={NOTE_KEY: release.note}, max_commit_retries=0)
        settings = {"partition_by": [*release.partition_by], "commit_properties": properties}
        with self._refusals("publish"):
            if self._table is None:
                create_table_with_add_actions(self._uri, schema, actions, mode="error", **settings)
            else:
                self._table.create_write_transaction(actions, "overwrite", schema, **settings)

    @property
    def _uri(self) -> str:
        return self.folder.as_uri()

    def _action(self, file: AddedFile) -> Any:
        from deltalake.transaction import AddAction

        state = (self.folder / file.name).stat()
        return AddAction(
            path=file.name,
            size=file.bytes,
            partition_values=file.partition,
            modification_time=state.st_mtime_ns // 1_000_000,
            data_change=True,
            stats=json.dumps({"numRecords": file.rows}),
        )

    @contextmanager
    def _refusals(self, step: str) -> Iterator[None]:
        """Convert the package's errors to EngineError, as their texts can have values of the table."""
        from deltalake.exceptions import CommitFailedError, DeltaError

        try:
            yield
        except CommitFailedError as error:
            raise EngineError(ANOTHER_COMMIT.format(self.described), step=step, original=error) from None
        except DeltaError as error:
            reason = f"the {self.described} cannot be {'written' if step == 'publish' else 'read'}"
            raise EngineError(
                f"{reason}: deltalake refuses it ({type(error).__name__})", step=step, original=error
            ) from None


def _rows(table: Any) -> list[dict[str, Any]]:
    import pyarrow as pa

    rows: list[dict[str, Any]] = pa.table(table).to_pylist()
    return rows


def _newest_note(table: DeltaTable) -> str | None:
    """Return the newest record; commits without rows, such as VACUUM's, have none."""
    for entries in (table.history(1), table.history()):
        notes: Iterator[str] = (entry[NOTE_KEY] for entry in entries if isinstance(entry.get(NOTE_KEY), str))
        if (note := next(notes, None)) is not None:
            return note
    return None


def _unreadable(table: DeltaTable, files: Iterable[str], partition_by: tuple[str, ...]) -> str | None:
    configuration: Mapping[str, str | None] = table.metadata().configuration
    if (configuration.get("delta.columnMapping.mode") or "none") != "none":
        return "its files have other names for its columns (column mapping)"
    if any(":" in name.partition("/")[0] or name.startswith("/") for name in files):
        return "it has files that are in another folder (a shallow clone)"
    wanted = {*map(folded, partition_by)}
    if any(f"{column}=/" in name for name in files for column in partition_by):
        return "it is partitioned by an empty text, which other readers take for NULL"
    if any(folder_columns(name) & wanted != wanted for name in files):
        return "the names of its folders do not have its partition columns"
    if _rows(table.deletion_vectors()):
        return "rows of its files were deleted (deletion vectors); REORG TABLE … APPLY (PURGE) writes the files anew"
    return None
