"""A release in an object store: written and verified here, then copied there, or written there by a server.

One object, which is put last, lists its files. A run that fails removes its own. Those of a run that was killed, or
that lost the store, are removed by the next run to the same target on the same machine.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir

from sqlanon.engines.locks import hold
from sqlanon.engines.paths import changes_between, in_order, listing
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.lakes.store import RUN, StoredRelease
from sqlanon.lakes.to_lake import SharedFolder
from sqlanon.model.record import FolderRecord, facts_of, sha256_of_json
from sqlanon.publish.files import cannot_be_written, flush, left_behind, remove
from sqlanon.publish.folders import new_folder, readable
from sqlanon.publish.targets import Standing

PRIVATE = 0o700  # what a folder is to others of this machine: closed
NOTED = "run"  # the file of this machine that has the name of a run, under which its files are in the store


class StoreTarget(SharedFolder):
    """Files in an object store: copied from a folder of this machine, or written there by a server."""

    @cached_property
    def store(self) -> StoredRelease:
        """The objects under the address."""
        return StoredRelease(self.name)

    @cached_property
    def run(self) -> str:
        """The name of this run, under which its files are in the store."""
        return f"release-{sha256_of_json([platform.node(), os.getpid(), time.time_ns()])}"

    @property
    def final(self) -> Path:
        """A place on this machine; hidden folders beside it have the names of runs."""
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
        """Return the release in the store: the files that its note lists are looked at, and no others."""
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
        """List the files of the run, unless another one has put what may not be replaced."""
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
        """Remove the files of a run that has failed, or leave a folder with its name for the next run, which tries."""
        left = None
        with suppress(OSError, EngineError):
            held = hold(self.final.parent, f".{self.final.name}.run.", ".staged")
            held.path.mkdir()
            _note(held.path, self.run)
            held.release()
            left = held.path
        with suppress(EngineError):  # what went before says more
            self.store.discard(self.run)
            if left is not None:
                remove(left)

    def _tidy(self) -> None:
        """Remove what runs to the same target have left that were killed: in the store, then here."""
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
                f"{store.url} holds something else than a release as sqlanon wrote it. Choose another name, or pass "
                'replace="anything" to overwrite it',
                step="target",
            )


def _note(folder: Path, run: str) -> None:
    """Note the name of a run in a folder of this machine before there is anything of it in the store."""
    with cannot_be_written(folder, "target"):
        folder.chmod(PRIVATE)
        (folder / NOTED).write_text(run, encoding="ascii")
        flush(folder / NOTED)
        flush(folder)


def _run_of(folder: Path) -> str | None:
    """The name of the run that a folder of ours is of; others can make folders of that name as well."""
    with suppress(OSError, ValueError):
        if folder.lstat().st_uid == os.geteuid():
            found = (folder / NOTED).read_text(encoding="ascii")
            return found if RUN.fullmatch(found) else None
    return None


def is_listed(store: StoredRelease) -> bool:
    """Whether the files that the note lists are those of a release of ours, by their names and sizes."""
    layout = store.layout
    return layout is not None and layout.files == listing(store.sizes())
