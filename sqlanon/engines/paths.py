"""Paths, globs and folders as users spell them, and how folders of releases are recognized."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sqlanon.errors import EngineError
from sqlanon.model.datasets import GLOB_CHARACTERS
from sqlanon.model.destination import FILE_SUFFIX, MARKER
from sqlanon.model.names import folded
from sqlanon.model.whole_files import refuse_lacking

if TYPE_CHECKING:
    from sqlanon.model.record import FolderRecord

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


NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder whose rows have no value."""


def folder_values(file: str) -> dict[str, str]:
    """What the names of a file's folders say, ``column=value``, by column."""
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
    """What the marker of a release folder says of its files, whatever else is in it; None if the folder has none.

    Raises:
        EngineError: it has one that is not what sqlanon writes.
    """
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
