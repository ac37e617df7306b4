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
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir

from sqlanon.engines.lakes.store import RUN, StoredRelease
from sqlanon.engines.locks import hold
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.record import FolderRecord, facts_of, sha256_of_json
from sqlanon.publish.files import cannot_be_written, flush, left_behind, remove
from sqlanon.publish.folders import StagedFolder, finished, new_folder
from sqlanon.publish.listings import changes_between, in_order, listing

PRIVATE = 0o700
"""What a folder is to others of this machine: closed."""

NOTED = "run"
"""The file of this machine that has the name of a run, under which its files are in the store."""


@dataclass
class StagedRun(StagedFolder):
    """A release that is being written to a store by a server.

    Attributes:
        store: what is under the address of the target.
        run: the name under which the files are there.
    """

    store: StoredRelease = field(kw_only=True)
    run: str = field(kw_only=True)

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


@contextmanager
def staged_release(into: Destination, *, replace: Replace) -> Iterator[StagedFolder]:
    """A folder of this machine to write to; it is copied when the block ends, and is removed in any case.

    Raises:
        EngineError: there is what may not be replaced, or the store or the disk refuses something.
    """
    with _new_run(into, replace) as (noted, store, run):
        staged = StagedFolder(noted.path / "files", noted.target)
        with cannot_be_written(staged.path, "target"):
            staged.path.mkdir()
        yield staged
        with cannot_be_written(staged.path, "publish"):
            layout = finished(staged)
        store.copy(staged.path, run)
        _publish(store.of_run(run), staged, layout, replace)


@contextmanager
def staged_run(into: Destination, *, replace: Replace) -> Iterator[StagedRun]:
    """A place in the store that a server writes to; it is listed when the block ends, and removed when the block fails.

    Raises:
        EngineError: as for :func:`staged_release`; or the server has written other types than the release has.
    """
    with _new_run(into, replace) as (noted, store, run):
        staged = StagedRun(noted.path, noted.target, store=store, run=run)
        yield staged
        written = store.of_run(run)
        written.refuse_other_types(staged.columns)
        sizes = written.sizes()
        hashes = tuple(map(written.sha256, in_order(sizes)))
        layout = FolderRecord(columns=dict(staged.columns), partition_by=(), files=listing(sizes), files_sha256=hashes)
        _publish(written, staged, layout, replace)


@contextmanager
def _new_run(into: Destination, replace: Replace) -> Iterator[tuple[StagedFolder, StoredRelease, str]]:
    """A name in the store, and a folder of this machine that says which one, until the block ends."""
    store = StoredRelease(into.name)
    store.refuse_missing()
    _refuse_taken(store, replace)
    target = Path(gettempdir(), f"sqlanon-{sha256_of_json(into.name)}")
    _tidy(store, target)
    with new_folder(target) as noted:
        run = f"release-{sha256_of_json([platform.node(), os.getpid(), time.time_ns()])}"
        _note(noted.path, run)
        try:
            yield noted, store, run
        except BaseException:
            left = _leave(target, run)
            with suppress(EngineError):  # what went before says more
                store.discard(run)
                if left is not None:
                    remove(left)
            raise


def _note(folder: Path, run: str) -> None:
    """Note the name of a run in a folder of this machine before there is anything of it in the store."""
    with cannot_be_written(folder, "target"):
        folder.chmod(PRIVATE)
        (folder / NOTED).write_text(run, encoding="ascii")
        flush(folder / NOTED)
        flush(folder)


def _leave(target: Path, run: str) -> Path | None:
    """A folder with the name of a run that has failed, whose files the next run removes if this one cannot."""
    with suppress(OSError, EngineError):
        held = hold(target.parent, f".{target.name}.run.", ".staged")
        held.path.mkdir()
        _note(held.path, run)
        held.release()
        return held.path
    return None


def _tidy(store: StoredRelease, target: Path) -> None:
    """Remove what runs to the same target have left that were killed: in the store, then here."""
    for path in left_behind(target):
        run = _run_of(path)
        with suppress(EngineError):  # the next run tries again
            if run is not None:
                store.discard(run)
            remove(path)


def _run_of(folder: Path) -> str | None:
    """The name of the run that a folder of ours is of; others can make folders of that name as well."""
    with suppress(OSError, ValueError):
        if folder.lstat().st_uid == os.geteuid():
            found = (folder / NOTED).read_text(encoding="ascii")
            return found if RUN.fullmatch(found) else None
    return None


def _publish(written: StoredRelease, staged: StagedFolder, layout: FolderRecord, replace: Replace) -> None:
    """Put the note, unless another run has put what may not be replaced."""
    assert staged.record is not None
    _refuse_taken(StoredRelease(written.url), replace)
    written.put(staged.record.sealed(layout).text)


def is_listed(store: StoredRelease) -> bool:
    """Whether the files that the note lists are those of a release of ours, by their names and sizes."""
    layout = store.layout
    return layout is not None and layout.files == listing(store.sizes())


def changes_in_store(store: StoredRelease, layout: FolderRecord) -> tuple[str, ...]:
    """How the files differ from those that the record lists, in sentences."""
    return changes_between(store.sizes(), layout, store.sha256)


def _refuse_taken(store: StoredRelease, replace: Replace) -> None:
    if store.text is None or replace == "anything":
        return
    if not replace:
        raise EngineError(f"there is a release under {store.url}; give another name, or replace=True", step="target")
    if not facts_of(store.text) or not is_listed(store):
        raise EngineError(
            f"what is under {store.url} is not a release as sqlanon wrote it, so that replace=True leaves it as it is: "
            'give another name, or say with replace="anything" that it may go',
            step="target",
        )
