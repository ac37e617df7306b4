"""Releases in object stores: files under a prefix per run, listed by one object that is written last.

A release is written and verified here, then copied, or written there by a server. A failed run removes its own files.
After a run that was killed, or that lost the store, the next run to the same target on the same machine removes them.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from sqlanon.engines.locks import hold
from sqlanon.engines.paths import changes_between, in_order, listing
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.lakes.tables import refuse_other_types, schema_of
from sqlanon.lakes.to_lake import SharedFolder
from sqlanon.model.destination import FILE_SUFFIX, MARKER, NOTE_KEY, in_arrow
from sqlanon.model.names import dataset_named
from sqlanon.model.record import FolderRecord, facts_of, readable_layout, sha256_of_json
from sqlanon.publish.files import cannot_be_written, flush, left_behind, remove
from sqlanon.publish.folders import new_folder, readable
from sqlanon.publish.targets import Standing

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

    from sqlanon.engines.duckdb import Engine

FILES = "files"  # the key of the list of files in the note
RUN = re.compile(r"release-[0-9a-f]{64}")  # the name of a run and of its folder
READS = 3  # reads of a note before it counts as foreign: arrow may cut off one that replaced a shorter one


class StoredRelease:
    """The release under an address that ends in a slash, such as ``s3://bucket/visits_k5/``; it may be empty.

    Errors of the store and of pyarrow are raised as :class:`EngineError`.
    """

    def __init__(self, url: str) -> None:
        """Read the note: the record, if any, and the listed files."""
        self.url = url.rstrip("/") + "/"
        with self._refusals("read"):
            self._store, self._prefix = opened(self.url.rstrip("/"))
        self.text, self.names = self._noted()

    @property
    def described(self) -> str:
        return f"Parquet files under {self.url}"

    @property
    def layout(self) -> FolderRecord | None:
        return readable_layout(self.text)

    def sizes(self) -> dict[str, int]:
        """Return the sizes of its existing files, by name in the folder of their run."""
        with self._refusals("read"):
            found = self._store.get_file_info([self._path(name) for name in self.names])
        sizes = zip(self.names, found, strict=True)
        return {name.partition("/")[2]: info.size for name, info in sizes if info.size is not None}

    def sha256(self, name: str) -> str:
        run = self.names[0].partition("/")[0]
        with self._refusals("read"), self._store.open_input_stream(self._path(f"{run}/{name}")) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def rows(self, columns: Mapping[str, str]) -> Any:
        """Return its rows as an Arrow dataset, which reads the store when scanned."""
        from pyarrow import dataset

        paths = [self._path(name) for name in self.names]
        with self._refusals("read"):
            return dataset.dataset(paths, schema=schema_of(columns), format="parquet", filesystem=self._store)

    def refuse_missing(self) -> None:
        from pyarrow import fs

        bucket = self._prefix.partition("/")[0]
        with self._refusals("written"):
            if self._store.get_file_info(bucket).type == fs.FileType.NotFound:
                raise FileNotFoundError(bucket)

    def of_run(self, run: str) -> StoredRelease:
        """Return the release with the data files of a run in place of the listed ones."""
        from pyarrow import fs

        found = copy(self)
        with self._refusals("read"):
            below = self._store.get_file_info(fs.FileSelector(self._path(run), recursive=True, allow_not_found=True))
        paths = (info.path.removeprefix(self._path("")) for info in below if info.is_file)
        found.names = tuple(sorted((path for path in paths if path.endswith(FILE_SUFFIX)), key=PurePosixPath))
        return found

    def refuse_other_types(self, columns: Mapping[str, str]) -> None:
        from pyarrow import parquet

        for name in self.names:
            with self._refusals("read"):
                found = parquet.read_schema(self._path(name), filesystem=self._store)
            refuse_other_types(found, columns)

    def copy(self, folder: Path, run: str) -> None:
        """Copy the files of a folder to the folder of a run."""
        from pyarrow import fs

        with self._refusals("written"):
            self._store.create_dir(self._path(run))
            fs.copy_files(str(folder), self._path(run), fs.LocalFileSystem(), self._store)

    def put(self, note: str) -> None:
        """Replace the note by one that lists the files; a failed write may still take effect."""
        listed = json.dumps({**json.loads(note), FILES: [*self.names]})
        with self._refusals("written"), self._store.open_output_stream(self._path(MARKER)) as file:
            file.write(f"{listed}\n".encode())

    def discard(self, run: str) -> None:
        """Remove the files of a run, unless they are listed."""
        with self._refusals("written"):
            if run not in (self.read_note() or ""):
                with suppress(FileNotFoundError):
                    self._store.delete_dir(self._path(run))

    def _noted(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the record and the files of the note, or the text of a foreign note without files."""
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
        import pyarrow as pa

        try:
            yield
        except (OSError, ValueError, pa.ArrowException) as error:
            step = "store" if done == "read" else "publish"
            reason = f"{self.url} cannot be {done} ({type(error).__name__}): check that it exists, and your permissions"
            raise EngineError(reason, step=step, original=error) from None


def opened(url: str) -> tuple[FileSystem, str]:
    from pyarrow import fs

    connect: Callable[[str], tuple[FileSystem, str]] = fs.FileSystem.from_uri
    return connect(in_arrow(url))


def source_at(engine: Engine, name: str) -> ResolvedSource | None:
    """Return a release in a store as a source; None if files there are to be read like any others."""
    stored = StoredRelease(name)
    if stored.layout is None:
        return None
    found = engine.resolve(stored.rows(stored.layout.columns))
    return replace(found, description=stored.described, dataset=dataset_named(stored.url))


PRIVATE = 0o700  # closed to other users of this machine
NOTED = "run"  # the local file with the name of a run, and so of its folder in the store


class StoreTarget(SharedFolder):
    """Files in an object store: copied from a folder of this machine, or written there by a server."""

    @cached_property
    def store(self) -> StoredRelease:
        return StoredRelease(self.name)

    @cached_property
    def run(self) -> str:
        """The name of this run, and of its folder in the store."""
        return f"release-{sha256_of_json([platform.node(), os.getpid(), time.time_ns()])}"

    @property
    def final(self) -> Path:
        """A local path; hidden folders beside it hold the names of runs."""
        return Path(gettempdir(), f"sqlanon-{sha256_of_json(self.name)}")

    @contextmanager
    def staged(self) -> Iterator[None]:
        self.store.refuse_missing()
        self._refuse_taken(self.store)
        self._tidy()
        with new_folder(self.final) as folder:
            _note(folder, self.run)
            self.path = folder if self.is_far else folder / "files"
            try:
                with cannot_be_written(self.path, "target"):
                    self.path.mkdir(exist_ok=True)
                yield
                self._publish()
            except BaseException:
                self._discard()
                raise

    @property
    def address(self) -> str:
        return self.name

    def held_note(self) -> str | None:
        return self.store.text if is_listed(self.store) else None

    def found_note(self) -> str | None:
        return self.store.text

    def standing(self) -> Standing | None:
        """Return the release in the store, from the files that its note lists."""
        layout = self.store.layout
        if layout is None:
            return None
        changes = changes_between(self.store.sizes(), layout, self.store.sha256)
        with readable(f"the {self.store.described} cannot be read as they were written", changes):
            relation = self.engine.resolve(self.store.rows(layout.columns)).relation
        source = ResolvedSource(relation, self.store.described)
        return Standing(source, (*layout.columns,), self.store.text, changes)

    @property
    def place(self) -> str:
        return f"{self.store.url}{self.run}"

    def collected(self) -> list[str]:
        names = self.store.of_run(self.run).names
        if not names:
            raise EngineError(
                f"the server has left no file of the release under {self.place}, as this machine sees it: the release "
                "has no row, or the server has another store of that name; see that both use the same endpoint",
                step="target",
            )
        return [f"{self.store.url}{name}" for name in names]

    def _publish(self) -> None:
        """List the files of the run, unless another run has published an irreplaceable release."""
        if self.is_far:
            written = self.store.of_run(self.run)
            written.refuse_other_types(self.columns)
            sizes = written.sizes()
            hashes = tuple(map(written.sha256, in_order(sizes)))
            layout = FolderRecord(columns=self.columns, partition_by=(), files=listing(sizes), files_sha256=hashes)
        else:
            with cannot_be_written(self.path, "publish"):
                layout = self.finished()
            self.store.copy(self.path, self.run)
            written = self.store.of_run(self.run)
        self._refuse_taken(StoredRelease(self.store.url))
        written.put(self.sealed(layout))

    def _discard(self) -> None:
        """Remove the files of a failed run, or leave a folder with its name for the next run to try."""
        left = None
        with suppress(OSError, EngineError):
            held = hold(self.final.parent, f".{self.final.name}.run.", ".staged")
            held.path.mkdir()
            _note(held.path, self.run)
            held.release()
            left = held.path
        with suppress(EngineError):  # raise the first error instead
            self.store.discard(self.run)
            if left is not None:
                remove(left)

    def _tidy(self) -> None:
        """Remove what killed runs to this target left, first in the store, then here."""
        for path in left_behind(self.final):
            run = _run_of(path)
            with suppress(EngineError):  # the next run tries again
                if run is not None:
                    self.store.discard(run)
                remove(path)

    def _refuse_taken(self, store: StoredRelease) -> None:
        if store.text is None or self.replace == "anything":
            return
        if not self.replace:
            reason = f"there is a release under {store.url}; give another name, or replace=True"
            raise EngineError(reason, step="target")
        if not facts_of(store.text) or not is_listed(store):
            raise EngineError(
                f"{store.url} does not hold an unchanged release of sqlanon. Choose another name, or pass "
                'replace="anything" to overwrite it',
                step="target",
            )


def _note(folder: Path, run: str) -> None:
    """Note the name of a run in a local folder before anything of it is in the store."""
    with cannot_be_written(folder, "target"):
        folder.chmod(PRIVATE)
        (folder / NOTED).write_text(run, encoding="ascii")
        flush(folder / NOTED)
        flush(folder)


def _run_of(folder: Path) -> str | None:
    """Return the name of the run of a folder, if this user made it; others can make such folders."""
    with suppress(OSError, ValueError):
        if folder.lstat().st_uid == os.geteuid():
            found = (folder / NOTED).read_text(encoding="ascii")
            return found if RUN.fullmatch(found) else None
    return None


def is_listed(store: StoredRelease) -> bool:
    """Return whether the note lists exactly the files of a release of ours, by name and size."""
    layout = store.layout
    return layout is not None and layout.files == listing(store.sizes())
