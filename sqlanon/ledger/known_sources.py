"""Which tables and files a ledger knows, and under which data set: each has one account, however it is read."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from sqlanon.model.datasets import KnownSource, dataset_of_files, dataset_of_table
from sqlanon.model.ledger import Entry, secret
from sqlanon.publish.files import lies_in

SAMPLE = 1 << 16
"""Bytes of the beginning and of the end of a file that its fingerprint covers: a lake may have many large files."""

Place = tuple[int, int]
"""The device and the inode of a file, which all its names share while it is there."""


def known(files: Iterable[str], tables: Iterable[exp.Table] = ()) -> tuple[KnownSource, ...]:
    """What a ledger keeps of tables and files: their names, and what identifies copies of files.

    A table has the same name in every database, so that a copy of a database makes no other data set of it.
    """
    names = sorted({dataset_of_table(table.db, table.name) for table in tables})
    paths = map(dataset_of_files, files)
    return (*map(KnownSource, names), *(KnownSource(path, _fingerprint(Path(path))) for path in paths))


def owners(entries: Sequence[Entry], sources: Sequence[KnownSource]) -> list[str]:
    """The data sets to which tables and files belong.

    A table or file belongs to the data set whose charges or caps name it, or that has its name. A file also belongs to
    the one that has another name of it (a link), or a file of the same content; else to the one whose name is a folder
    or glob that it lies in, for a lake grows.
    """
    if not sources:
        return []
    owner = _owner_of(entries)
    return list(dict.fromkeys(name for source in sources if (name := owner(source)) is not None))


# guarded: tests/unit/test_guarded_ledger.py::TestFingerprints
def with_keyed_fingerprints(rows: Sequence[Entry], before: Sequence[Entry]) -> list[Entry]:
    """Rows whose fingerprints of files are keyed by the secret of their ledger: without it, nobody can try contents."""
    key = secret([*before, *rows])
    return [replace(row, sources=[_keyed(source, key) for source in row.sources or ()] or None) for row in rows]


def with_new_sources(rows: Sequence[Entry], before: Sequence[Entry]) -> list[Entry]:
    """Rows that name only what their data sets are not yet known to have, each once."""
    seen = {(entry.dataset, *source.values()) for entry in before for source in entry.sources or ()}
    trimmed = []
    for row in rows:
        new = [source for source in row.sources or () if (row.dataset, *source.values()) not in seen]
        seen.update((row.dataset, *source.values()) for source in new)
        trimmed.append(replace(row, sources=new or None))
    return trimmed


def _keyed(source: dict[str, str | None], key: str | None) -> dict[str, str | None]:
    fingerprint = source["fingerprint"]
    return source if fingerprint is None else {**source, "fingerprint": _keyed_fingerprint(fingerprint, key)}


def _keyed_fingerprint(fingerprint: str, key: str | None) -> str:
    return fingerprint if key is None else hmac.digest(bytes.fromhex(key), fingerprint.encode(), "sha256").hex()


def _owner_of(entries: Sequence[Entry]) -> Callable[[KnownSource], str | None]:
    key = secret(entries)
    by_name: dict[str, str] = {}
    by_content: dict[str, str] = {}
    by_place: dict[Place, str] = {}
    for entry in entries:
        for source in entry.sources or ():
            name, fingerprint = source["name"], source["fingerprint"]
            assert name is not None
            by_name.setdefault(name, entry.dataset)
            if fingerprint is not None:
                by_content.setdefault(fingerprint, entry.dataset)
            if (place := _place(name)) is not None:
                by_place.setdefault(place, entry.dataset)
    names = list(dict.fromkeys(entry.dataset for entry in entries))

    def of_content(fingerprint: str | None) -> str | None:
        """Rows of versions before keys have the fingerprint as it is."""
        if fingerprint is None:
            return None
        return by_content.get(_keyed_fingerprint(fingerprint, key)) or by_content.get(fingerprint)

    def owner(source: KnownSource) -> str | None:
        place = _place(source.name)
        return (
            by_name.get(source.name)
            or of_content(source.fingerprint)
            or (None if place is None else by_place.get(place))
            or (source.name if source.name in names else None)
            or next((name for name in names if lies_in(source.name, name)), None)
        )

    return owner


def _place(path: str) -> Place | None:
    if not path.startswith("/"):
        return None
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None  # it is not there any more, or not on this machine
    return found.st_dev, found.st_ino


def _fingerprint(path: Path) -> str | None:
    """A hash over the size, the beginning and the end of a file; None if it is not one of this machine."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            digest = hashlib.sha256(f"{size} ".encode())
            digest.update(file.read(SAMPLE))
            file.seek(max(size - SAMPLE, file.tell()))
            digest.update(file.read(SAMPLE))
    except (OSError, ValueError):
        return None
    return digest.hexdigest()
