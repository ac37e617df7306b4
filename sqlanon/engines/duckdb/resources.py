"""How much of the machine a session may use, where it puts what does not fit in memory, and what it loads."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.engines.locks import SUFFIX, Held, acquire_stale, hold
from sqlanon.errors import EngineError
from sqlanon.model.names import possible

SIZE = re.compile(r"\s*\d+(\.\d+)?\s*([KMGT]i?)?B\s*", re.IGNORECASE)
NAME = re.compile(r"[a-z]\w*", re.IGNORECASE | re.ASCII)
SPILL = re.compile(r"sqlanon-run-\d+(?:\.lock)?", re.ASCII)
"""The name of a folder for what does not fit in memory, or of its lock."""


@dataclass(frozen=True)
class Resources:
    """What a session may use; None leaves it to DuckDB.

    Attributes:
        memory_limit: a size, such as ``2GB`` or ``512MiB``.
        temp_directory: the folder in which what does not fit in memory is put, in a folder of its own.
        threads: how many threads work at a time.
        extensions: the names of extensions of DuckDB that are installed, and are to be loaded.
    """

    memory_limit: str | None = None
    temp_directory: str | Path | None = None
    threads: int | None = None
    extensions: Sequence[str] | None = None

    @property
    def are_given(self) -> bool:
        """Whether anything is asked for."""
        return self != Resources()

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            EngineError: names every setting that is wrong.
        """
        problems = list(self._problems())
        if problems:
            raise EngineError("the session cannot be opened: " + "; ".join(problems), step="open")

    def _problems(self) -> Iterable[str]:
        limit = self.memory_limit
        if limit is not None and not (isinstance(limit, str) and SIZE.fullmatch(limit) and re.search("[1-9]", limit)):
            yield f'memory_limit "{limit!s}" is not a size such as 2GB or 512MiB'
        threads = self.threads
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            yield f"threads is {self.threads}, not a positive number"
        if self.temp_directory is not None:
            folder = Path(possible(self.temp_directory, "temporary folder"))
            if not os.path.isdir(folder):  # noqa: PTH112 (which raises nothing where a name is too long)
                yield f"temp_directory {folder} is not a folder that exists"
            elif not os.access(folder, os.W_OK):
                yield f"temp_directory {folder} cannot be written"
        yield from _unnamed(self.extensions or ())

    def configuration(self, spill: Path | None) -> dict[str, Any]:
        """The settings as DuckDB calls them."""
        settings = {
            "memory_limit": self.memory_limit,
            "temp_directory": None if spill is None else str(spill),
            "threads": self.threads,
        }
        return {name: value for name, value in settings.items() if value is not None}

    def spill_folder(self, *, in_memory: bool) -> Held | None:
        """A new folder for what does not fit in memory, which nobody else can read; None if DuckDB is to choose.

        DuckDB puts it beside the file of a warehouse. A warehouse in memory has no such place, and DuckDB would take
        the working folder: so it gets one where the system keeps temporary files.

        Raises:
            EngineError: the folder that was asked for cannot be written.
        """
        if self.temp_directory is None and not in_memory:
            return None
        try:
            place = tempfile.gettempdir() if self.temp_directory is None else str(self.temp_directory)
            _remove_abandoned(Path(place))
            return _new_folder(Path(place).absolute())
        except OSError as error:
            if self.temp_directory is None:
                return None
            reason = f"temp_directory {self.temp_directory} cannot be written: {error.strerror}"
            raise EngineError(reason, step="open", original=error) from None


def _unnamed(extensions: str | Sequence[str]) -> Iterable[str]:
    """What is wrong with the names of extensions: the path of a file would be loaded, too."""
    if isinstance(extensions, str | bytes) or not isinstance(extensions, Sequence):
        return [f'extensions is "{extensions!s}", not a list of names']
    others = (name for name in extensions if not (isinstance(name, str) and NAME.fullmatch(name)))
    return (f'"{name}" is not the name of an extension, such as httpfs' for name in others)


def discard(spill: Held) -> None:
    """Remove a folder for what does not fit in memory, which its session uses no longer."""
    shutil.rmtree(spill.path, ignore_errors=True)
    spill.release()


def _new_folder(place: Path) -> Held:
    spill = hold(place, "sqlanon-run-")
    try:
        spill.path.mkdir(mode=0o700)
    except BaseException:
        spill.release()
        raise
    return spill


def _remove_abandoned(place: Path) -> None:
    """Remove the folders of sessions that were killed: there is raw data in them."""
    for found in place.iterdir():
        with suppress(OSError):
            if SPILL.fullmatch(found.name) and found.lstat().st_uid == os.getuid():
                spill = acquire_stale(found.with_name(found.name.removesuffix(SUFFIX)))
                if spill is not None:
                    discard(spill)
