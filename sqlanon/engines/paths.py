"""Paths, globs and folders as users spell them, and the files of folders of releases."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sqlanon.engines.csv_notes import sha256_of
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.destination import FILE_SUFFIX, MARKER
from sqlanon.model.names import GLOB_CHARACTERS, folded
from sqlanon.model.whole_files import refuse_lacking

if TYPE_CHECKING:
    from sqlanon.model.record import FolderRecord, Listing

STAGE = re.compile(r"(?P<name>\.(?P<target>.+)\.run\.\d+\.(?:staged|previous))(?:\.lock|\.wal)?", re.ASCII)
"""The hidden name of what is being published to a target, or of what was there before; or its lock, or its log."""


def log_of(database: Path) -> Path:
    """The write-ahead log that DuckDB keeps beside the file of a database."""
    return database.with_name(f"{database.name}.wal")


def is_glob(source: str) -> bool:
    """Whether a source has characters that stand for others."""
    return bool(GLOB_CHARACTERS.intersection(source))


def is_folder(source: str) -> bool:
    """Whether a source is the path of a folder that is there."""
    try:
        return bool(source.strip()) and Path(source).is_dir()
    except (OSError, ValueError):
        return False  # no name that a file can have


NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the name of a folder whose rows have no value


def folder_values(file: str) -> dict[str, str]:
    """Read the values in the names of a file's folders, ``column=value``, by column."""
    pairs = (part.partition("=") for part in Path(file).parts[:-1] if "=" in part)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def folder_columns(file: str) -> set[str]:
    """The columns that the names of a file's folders would give it, folded."""
    return {*map(folded, folder_values(file))}


def escaped(path: str | Path) -> str:
    """The glob that matches one path alone."""
    return "".join(f"[{sign}]" if sign in GLOB_CHARACTERS else sign for sign in str(path)).rstrip("/")


def pattern_below(folder: str | Path, suffix: str = FILE_SUFFIX) -> str:
    """The glob of all files with a suffix in a folder and in those below it."""
    return f"{escaped(folder)}/**/*{suffix}"


def published(files: Sequence[str]) -> tuple[str, ...]:
    """The files outside of stages, which hold what is being published, or was when its process was killed."""
    return tuple(file for file in files if not any(STAGE.fullmatch(part) for part in Path(file).parts))


def marked(folder: str | Path) -> FolderRecord | None:
    """Read the layout in the marker of a release folder, whatever else is in it; None if the folder has none."""
    marker = Path(folder, MARKER)
    try:
        text = marker.read_bytes()
    except (OSError, ValueError) as error:
        refuse_lacking(marker, error)
        return None
    from pydantic import ValidationError

    from sqlanon.model.record import FolderRecord, facts_of

    try:
        return FolderRecord.model_validate(facts_of(text).get("folder"))
    except (ValidationError, RecursionError):
        raise EngineError(
            f"{marker} is not what sqlanon writes beside a release, so the types of its columns are not known; bring "
            "it back, or remove it to have the files read as any others",
            step="source",
        ) from None


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
    """Return how files differ from those that were written, in a sentence; nothing if they do not.

    ``sizes`` and ``sha256`` have the bytes and the hash of a file, by its name in the release.
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
    """List files by their names in a folder and their bytes."""
    from sqlanon.model.record import Listing

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


PARTS = re.compile(r"\*\*|\*|\?|\[!?\]?[^\]]*\]|[^*?\[]+|\[")  # what a component of a glob consists of


def is_matched(target: Path, pattern: str, *, folder: bool) -> bool:
    """Return whether a target is among the files of a glob, or, if it is a folder, files in it are.

    A pattern that only looks like one, such as text in a query, matches no path.
    """
    try:
        matching = re.compile(_expression(pattern))
    except re.error:
        return False
    place = Path(os.path.realpath(target.parent), target.name)
    candidates = (place / "part-00000.parquet", place / "a=b" / "part-00000.parquet") if folder else (place,)
    return any(matching.fullmatch(str(candidate)) for candidate in candidates)


def lies_in(path: str, name: str) -> bool:
    """Return whether a path is in the folder that a data set is called by, or matched by its glob."""
    if not name.startswith("/"):
        return False
    if Path(name) in Path(path).parents:
        return True
    return is_glob(name) and is_matched(Path(path), name, folder=False)


def _expression(pattern: str) -> str:
    """A glob as a regular expression over real absolute paths."""
    parts = Path(pattern).parts
    fixed = next((place for place, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    spelled = re.escape(os.path.realpath(Path(*parts[:fixed])).rstrip(os.sep))
    for place, part in enumerate(parts[fixed:], fixed):
        if part == "**":
            # At the end it stands for files at any depth, elsewhere for folders, none of them included.
            spelled += "(/[^/]+)+" if place == len(parts) - 1 else "(/[^/]+)*"
        else:
            spelled += "/" + "".join(map(_sign, PARTS.findall(part)))
    return spelled


def _sign(part: str) -> str:
    match part:
        case "*" | "**":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if part.startswith("[") and len(part) > 1:
            inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
            return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
        case _:
            return re.escape(part)
