"""What files a folder of a release has, and how they differ from those that its record lists."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.engines.paths import marked
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.destination import MARKER
from sqlanon.model.record import FolderRecord, Listing


def is_whole(folder: Path) -> bool:
    """Whether a folder holds a release of ours, with all its files and no other."""
    try:
        layout = marked(folder)
    except EngineError as error:
        if error.refusal is Refusal.LACKING:
            raise
        return False
    return layout is not None and layout.files == listing(sizes_in(folder))


def changes_between(
    sizes: Mapping[str, int], layout: FolderRecord, sha256: Callable[[str], str | None]
) -> tuple[str, ...]:
    """Return how the files of a release differ from those that were written, in a sentence; nothing if they do not.

    Args:
        sizes: the bytes of the files, by their names in the release.
        layout: the files that were written.
        sha256: computes the hash of a file, by its name.
    """
    found, written = listing(sizes), layout.files
    if written == found:
        before, after = layout.files_sha256, [sha256(name) for name in in_order(sizes)]
        if len(before) != len(after):
            return ("its record does not have the hashes of its files",)
        changed = sum(one != other for one, other in zip(before, after, strict=True))
        return (f"{changed:,} of its {len(after):,} files have another content than was written",) if changed else ()
    if found.count == written.count:
        return ("its files have other names or sizes than those that were written",)
    fewer_or_more = "fewer" if found.count < written.count else "more"
    return (f"it has {fewer_or_more} files than were written: {found.count:,} where there were {written.count:,}",)


def note_of(folder: Path) -> str | None:
    """The marker of a release folder, None without one."""
    try:
        return (folder / MARKER).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def listing(sizes: Mapping[str, int]) -> Listing:
    """What files there are, by their names in a folder and their bytes."""
    digest = hashlib.sha256()
    for name in in_order(sizes):
        digest.update(json.dumps([name, sizes[name]]).encode())
    return Listing(count=len(sizes), bytes=sum(sizes.values()), sha256=digest.hexdigest())


def hashes(folder: Path, names: Iterable[str]) -> list[str | None]:
    """The hashes of files of a folder, in the order of their names."""
    return [sha256_of(folder / name) for name in in_order(names)]


def sizes_in(folder: Path) -> dict[str, int]:
    """The files of a folder but the marker, by their names in it, with their bytes.

    Links to folders and empty folders count as files: none are written, and their names can reveal as much.
    """
    empty = [Path(place) for place, folders, names in os.walk(folder) if not folders and not names]
    found = {*files_below(folder), *empty} - {folder, folder / MARKER}
    return {path.relative_to(folder).as_posix(): path.lstat().st_size for path in sorted(found)}


def in_order(names: Iterable[str]) -> list[str]:
    """Names as they are hashed and listed."""
    return sorted(names, key=PurePosixPath)


def files_below(folder: Path) -> Iterator[Path]:
    """All that is in a folder but folders; links to folders are among it."""
    for place, below, names in os.walk(folder):
        paths = [Path(place, name) for name in (*below, *names)]
        yield from (path for path in paths if not path.is_dir() or path.is_symlink())
