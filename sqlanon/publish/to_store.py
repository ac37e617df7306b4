"""A release in an object store: written and verified here, copied there, and listed by one object that is put last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

from sqlanon.engines.lakes.store import StoredRelease
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.record import FolderRecord, facts_of, sha256_of_json
from sqlanon.publish.files import cannot_be_written, tidy
from sqlanon.publish.folders import StagedFolder, finished, new_folder
from sqlanon.publish.listings import changes_between, listing

PRIVATE = 0o700
"""What a folder is to others of this machine: closed."""


@contextmanager
def staged_release(into: Destination, *, replace: Replace) -> Iterator[StagedFolder]:
    """A folder of this machine to write to; it is copied when the block ends, and is removed in any case.

    Raises:
        EngineError: there is what may not be replaced, or the store or the disk refuses something.
    """
    _refuse_taken(StoredRelease(into.name), replace)
    # Under a name of the target's own, so that the next run to it removes what one has left that was killed.
    target = Path(gettempdir(), f"sqlanon-{sha256_of_json(into.name)}")
    tidy(target)
    with new_folder(target) as staged:
        staged.path.chmod(PRIVATE)
        yield staged
        with cannot_be_written(staged.path, "publish"):
            layout = finished(staged)
        assert staged.record is not None
        record = staged.record.sealed(layout)
        store = StoredRelease(into.name)
        _refuse_taken(store, replace)
        store.publish(staged.path, f"release-{record.record_sha256}", record.text)


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
