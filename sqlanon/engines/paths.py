"""Users' paths, globs and folders, and the files of release folders."""

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
    from sqlanon.model.record import FolderRecord, LinkedRecord, Listing

STAGE = re.compile(r"(?P<name>\.(?P<target>.+)\.run\.\d+\.(?:staged|previous))(?:\.lock|\.wal)?", re.ASCII)
"""The hidden name of a staged or previous target, or of its lock or log."""


def log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.wal")


def is_glob(source: str) -> bool:
    return bool(GLOB_CHARACTERS.intersection(source))


def is_folder(source: str) -> bool:
    try:
        return bool(source.strip()) and Path(source).is_dir()
    except (OSError, ValueError):
        return False  # not a valid file name


NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the folder name of rows without a value


def folder_values(file: str) -> dict[str, str]:
    """Read the values in the names of a file's folders, ``column=value``, by column."""
    pairs = (part.partition("=") for part in Path(file).parts[:-1] if "=" in part)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def folder_columns(file: str) -> set[str]:
    return {*map(folded, folder_values(file))}


def escaped(path: str | Path) -> str:
    """Return the glob that only matches this path."""
    return "".join(f"[{sign}]" if sign in GLOB_CHARACTERS else sign for sign in str(path)).rstrip("/")


def pattern_below(folder: str | Path, suffix: str = FILE_SUFFIX) -> str:
    """Return the glob of all files with a suffix in a folder and below."""
    return f"{escaped(folder)}/**/*{suffix}"


def published(files: Sequence[str]) -> tuple[str, ...]:
    """Drop files in stages, which are unpublished."""
    return tuple(file for file in files if not any(STAGE.fullmatch(part) for part in Path(file).parts))


def marked(folder: str | Path) -> FolderRecord | None:
    """Read the layout in a release folder's marker, whatever else it holds; None without a marker.

    An EngineError for a folder of several tables.
    """
    found = layout_in(folder)
    if found is None:
        return None
    from sqlanon.model.record import FolderRecord

    if isinstance(found, FolderRecord):
        return found
    files = " or ".join(str(Path(folder, f"{table}{FILE_SUFFIX}")) for table in list(found.tables)[:2])
    raise EngineError(f"{folder} holds a release of several tables: name the file of one, as {files}", step="source")


def layout_in(folder: str | Path) -> FolderRecord | LinkedRecord | None:
    """Read the files in a release folder's marker, of one table or several; None without a marker."""
    marker = Path(folder, MARKER)
    try:
        text = marker.read_bytes()
    except (OSError, ValueError) as error:
        refuse_lacking(marker, error)
        return None
    from pydantic import ValidationError

    from sqlanon.model.record import FolderRecord, LinkedRecord, facts_of

    facts = facts_of(text)
    try:
        if "linked" in facts:
            return LinkedRecord.model_validate(facts["linked"])
        return FolderRecord.model_validate(facts.get("folder"))
    except (ValidationError, RecursionError):
        raise EngineError(
            f"{marker} was not written by sqlanon, or was changed since, so the types of its columns are unknown; "
            "restore it, or remove it to read the files like any others",
            step="source",
        ) from None


def is_whole(folder: Path) -> bool:
    """Return whether a folder is a complete release, without any other file."""
    try:
        layout = layout_in(folder)
    except EngineError as error:
        if error.refusal is Refusal.LACKING:
            raise
        return False
    return layout is not None and layout.files == listing(sizes_in(folder))


def changes_between(
    sizes: Mapping[str, int], layout: FolderRecord, sha256: Callable[[str], str | None]
) -> tuple[str, ...]:
    """Describe how files differ from the written ones in one sentence; empty if they do not.

    ``sizes`` and ``sha256`` give the bytes and the hash of files by name.
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
    try:
        return (folder / MARKER).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def listing(sizes: Mapping[str, int]) -> Listing:
    """Summarize files by names in a folder and bytes."""
    from sqlanon.model.record import Listing

    digest = hashlib.sha256()
    for name in in_order(sizes):
        digest.update(json.dumps([name, sizes[name]]).encode())
    return Listing(count=len(sizes), bytes=sum(sizes.values()), sha256=digest.hexdigest())


def hashes(folder: Path, names: Iterable[str]) -> list[str | None]:
    return [sha256_of(folder / name) for name in in_order(names)]


def sizes_in(folder: Path) -> dict[str, int]:
    """Return the bytes of all files in a folder but its marker, by relative name.

    Links to folders and empty folders count as files: releases have none, and their names can reveal as much.
    """
    empty = [Path(place) for place, folders, names in os.walk(folder) if not folders and not names]
    found = {*files_below(folder), *empty} - {folder, folder / MARKER}
    return {path.relative_to(folder).as_posix(): path.lstat().st_size for path in sorted(found)}


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names as they are hashed and listed."""
    return sorted(names, key=PurePosixPath)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield everything in a folder but folders, including links to folders."""
    for place, below, names in os.walk(folder):
        paths = [Path(place, name) for name in (*below, *names)]
        yield from (path for path in paths if not path.is_dir() or path.is_symlink())


PARTS = re.compile(r"\*\*|\*|\?|\[!?\]?[^\]]*\]|[^*?\[]+|\[")  # the parts of a glob's component


def is_matched(target: Path, pattern: str, *, folder: bool) -> bool:
    """Return whether a glob matches a target or, if it is a folder, files in it.

    Invalid patterns, such as text in a query, match no path.
    """
    try:
        matching = re.compile(_expression(pattern))
    except re.error:
        return False
    place = Path(os.path.realpath(target.parent), target.name)
    candidates = (place / "part-00000.parquet", place / "a=b" / "part-00000.parquet") if folder else (place,)
    return any(matching.fullmatch(str(candidate)) for candidate in candidates)


def lies_in(path: str, name: str) -> bool:
    """Return whether a path lies in a data set's folder, or matches its glob."""
    if not name.startswith("/"):
        return False
    if Path(name) in Path(path).parents:
        return True
    return is_glob(name) and is_matched(Path(path), name, folder=False)


def _expression(pattern: str) -> str:
    """Convert a glob to a regular expression over real absolute paths."""
    parts = Path(pattern).parts
    fixed = next((place for place, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    spelled = re.escape(os.path.realpath(Path(*parts[:fixed])).rstrip(os.sep))
    for place, part in enumerate(parts[fixed:], fixed):
        if part == "**":
            # At the end it matches files at any depth, elsewhere zero or more folders.
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
