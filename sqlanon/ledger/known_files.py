"""Which files a ledger knows, and under which data set: a file has one account by whatever path it is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlanon.model.datasets import GLOB_CHARACTERS, KnownFile, dataset_of_files
from sqlanon.model.ledger import Entry
from sqlanon.publish.globs import is_matched

SAMPLE = 1 << 16
"""Bytes of the beginning and of the end of a file that its fingerprint covers: a lake may have many large files."""

Place = tuple[int, int]
"""The device and the inode of a file, which all its names share while it is there."""


def known(files: Iterable[str]) -> tuple[KnownFile, ...]:
    """What a ledger keeps of files: where they are, and what tells copies of them."""
    return tuple(KnownFile(dataset_of_files(file), _fingerprint(Path(dataset_of_files(file)))) for file in files)


def owners(entries: Sequence[Entry], files: Sequence[KnownFile]) -> dict[str, int]:
    """The data sets to which files belong, and how many of the files.

    A file belongs to the data set whose charges or caps name its path, another name of the file (a link), or a file of
    the same content; else to the one whose name is a folder or glob that it lies in, for a lake grows.
    """
    if not files:
        return {}
    owner = _owner_of(entries)
    found = [name for file in files if (name := owner(file)) is not None]
    return {name: found.count(name) for name in dict.fromkeys(found)}


def with_new_files(rows: Sequence[Entry], before: Sequence[Entry]) -> list[Entry]:
    """Rows that name only files that their data sets are not yet known to have, each once."""
    seen = {(entry.dataset, file["path"], file["fingerprint"]) for entry in before for file in entry.files or ()}
    trimmed = []
    for row in rows:
        new = [file for file in row.files or () if (row.dataset, file["path"], file["fingerprint"]) not in seen]
        seen.update((row.dataset, file["path"], file["fingerprint"]) for file in new)
        trimmed.append(replace(row, files=new or None))
    return trimmed


def _owner_of(entries: Sequence[Entry]) -> Callable[[KnownFile], str | None]:
    """Tells the data set of a file."""
    by_path: dict[str, str] = {}
    by_content: dict[str, str] = {}
    by_place: dict[Place, str] = {}
    for entry in entries:
        for file in entry.files or ():
            path, fingerprint = file["path"], file["fingerprint"]
            assert path is not None
            by_path.setdefault(path, entry.dataset)
            if fingerprint is not None:
                by_content.setdefault(fingerprint, entry.dataset)
            if (place := _place(path)) is not None:
                by_place.setdefault(place, entry.dataset)
    names = [name for name in dict.fromkeys(entry.dataset for entry in entries) if name.startswith("/")]

    def owner(file: KnownFile) -> str | None:
        place = _place(file.path)
        return (
            by_path.get(file.path)
            or (None if file.fingerprint is None else by_content.get(file.fingerprint))
            or (None if place is None else by_place.get(place))
            or next((name for name in names if _lies_in(file.path, name)), None)
        )

    return owner


def _lies_in(path: str, name: str) -> bool:
    """Whether a path is that of a data set, in its folder, or matched by its glob."""
    if path == name or Path(name) in Path(path).parents:
        return True
    return bool(GLOB_CHARACTERS.intersection(name)) and is_matched(Path(path), name, folder=False)


def _place(path: str) -> Place | None:
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
