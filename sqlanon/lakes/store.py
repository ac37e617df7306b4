"""Releases in object stores: their files lie under a prefix of their run, and one object, written last, lists them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sqlanon.errors import EngineError
from sqlanon.lakes.tables import refuse_other_types, schema_of
from sqlanon.model.dataset_names import dataset_named
from sqlanon.model.destination import FILE_SUFFIX, MARKER, NOTE_KEY, in_arrow

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

    from sqlanon.engines.duckdb import Engine
    from sqlanon.engines.relations import ResolvedSource
    from sqlanon.model.record import FolderRecord

FILES = "files"  # the key of the list of files, beside that of the record
RUN = re.compile(r"release-[0-9a-f]{64}")  # the name of a run, which is that of the folder of its files

READS = 3
"""How often a note is read before it counts as another's: arrow may cut off one that has replaced a shorter one."""


class StoredRelease:
    """The release under an address that ends in a slash, such as ``s3://bucket/visits_k5/``; it may be empty.

    Attributes:
        url: the address.
        text: the record; None without one.
        names: the files that are listed beside it.
    """

    def __init__(self, url: str) -> None:
        """Read the note.

        Raises:
            EngineError: pyarrow does not know the store of the address, or cannot reach it.
        """
        self.url = url.rstrip("/") + "/"
        with self._refusals("read"):
            self._store, self._prefix = opened(self.url.rstrip("/"))
        self.text, self.names = self._noted()

    @property
    def described(self) -> str:
        """Describe the release with its address."""
        return f"Parquet files under {self.url}"

    @property
    def layout(self) -> FolderRecord | None:
        """The layout in its record; None without one."""
        from sqlanon.model.record import readable_layout  # which takes long to import

        return readable_layout(self.text)

    def sizes(self) -> dict[str, int]:
        """The bytes of its files, by their names in the folder of their run; those that are gone are left out."""
        with self._refusals("read"):
            found = self._store.get_file_info([self._path(name) for name in self.names])
        sizes = zip(self.names, found, strict=True)
        return {name.partition("/")[2]: info.size for name, info in sizes if info.size is not None}

    def sha256(self, name: str) -> str:
        """The hash of a file, by its name in the folder of its run."""
        run = self.names[0].partition("/")[0]
        with self._refusals("read"), self._store.open_input_stream(self._path(f"{run}/{name}")) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def rows(self, columns: Mapping[str, str]) -> Any:
        """Its rows as a dataset of Arrow, which reads the store as it is scanned."""
        from pyarrow import dataset

        paths = [self._path(name) for name in self.names]
        with self._refusals("read"):
            return dataset.dataset(paths, schema=schema_of(columns), format="parquet", filesystem=self._store)

    def refuse_missing(self) -> None:
        """Refuse a store that has no bucket of the name."""
        from pyarrow import fs

        bucket = self._prefix.partition("/")[0]
        with self._refusals("written"):
            if self._store.get_file_info(bucket).type == fs.FileType.NotFound:
                raise FileNotFoundError(bucket)

    def of_run(self, run: str) -> StoredRelease:
        """Return the release with the data files under the name of a run, in place of those that are listed.

        Raises:
            EngineError: the store refuses it.
        """
        from pyarrow import fs

        found = copy(self)
        with self._refusals("read"):
            below = self._store.get_file_info(fs.FileSelector(self._path(run), recursive=True, allow_not_found=True))
        paths = (info.path.removeprefix(self._path("")) for info in below if info.is_file)
        found.names = tuple(sorted((path for path in paths if path.endswith(FILE_SUFFIX)), key=PurePosixPath))
        return found

    def refuse_other_types(self, columns: Mapping[str, str]) -> None:
        """Refuse files whose columns have other types."""
        from pyarrow import parquet

        for name in self.names:
            with self._refusals("read"):
                found = parquet.read_schema(self._path(name), filesystem=self._store)
            refuse_other_types(found, columns)

    def copy(self, folder: Path, run: str) -> None:
        """Copy the files of a folder under the name of a run.

        Raises:
            EngineError: the store refuses it.
        """
        from pyarrow import fs

        with self._refusals("written"):
            self._store.create_dir(self._path(run))
            fs.copy_files(str(folder), self._path(run), fs.LocalFileSystem(), self._store)

    def put(self, note: str) -> None:
        """Have a note that lists the files in place of the one before.

        Raises:
            EngineError: the store refuses it; the note may be there all the same.
        """
        listed = json.dumps({**json.loads(note), FILES: [*self.names]})
        with self._refusals("written"), self._store.open_output_stream(self._path(MARKER)) as file:
            file.write(f"{listed}\n".encode())

    def discard(self, run: str) -> None:
        """Remove the files of a run, unless they are listed.

        Raises:
            EngineError: the store refuses it.
        """
        with self._refusals("written"):
            if run not in (self.read_note() or ""):
                with suppress(FileNotFoundError):
                    self._store.delete_dir(self._path(run))

    def _noted(self) -> tuple[str | None, tuple[str, ...]]:
        """The record and the files of the note; of a note of somebody else, its text and no files."""
        note = None
        for _ in range(READS):
            note = self.read_note()
            try:
                facts = json.loads(note or "")
                names = tuple(name for name in facts[FILES] if isinstance(name, str))
                return json.dumps({NOTE_KEY: facts[NOTE_KEY]}), names
            except (ValueError, TypeError, KeyError, RecursionError):
                if note is None:
                    break
        return note, ()

    def read_note(self) -> str | None:
        """The text of the note; None without one.

        Raises:
            EngineError: the store refuses it.
        """
        with self._refusals("read"):
            try:
                with self._store.open_input_stream(self._path(MARKER)) as file:
                    return str(file.read().decode())
            except FileNotFoundError:
                return None

    def _path(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    @contextmanager
    def _refusals(self, done: str) -> Iterator[None]:
        """Raise what the store refuses as our error."""
        import pyarrow as pa

        try:
            yield
        except (OSError, ValueError, pa.ArrowException) as error:
            step = "store" if done == "read" else "publish"
            reason = f"{self.url} cannot be {done} ({type(error).__name__}): see that it is there, and what you may do"
            raise EngineError(reason, step=step, original=error) from None


def opened(url: str) -> tuple[FileSystem, str]:
    """The store of an address, with the path in it."""
    from pyarrow import fs

    connect: Callable[[str], tuple[FileSystem, str]] = fs.FileSystem.from_uri
    return connect(in_arrow(url))


def source_at(engine: Engine, name: str) -> ResolvedSource | None:
    """A release in a store as a source; None if there is none, and files there are to be read as any others.

    Raises:
        EngineError: it cannot be read.
    """
    stored = StoredRelease(name)
    if stored.layout is None:
        return None
    found = engine.resolve(stored.rows(stored.layout.columns))
    return replace(found, description=stored.described, dataset=dataset_named(stored.url))
