"""Notes beside a warehouse that is open read-only: rows that wait until somebody who may write takes them up.

A run that publishes a file has its warehouse open read-only, so that others can read it, and must not publish before
its release is noted. Each row is a file of a hidden folder beside the warehouse. The list has all of them.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import OVERTAKEN, retry_while_locked
from sqlanon.errors import EngineError
from sqlanon.model.record import sha256_of_json
from sqlanon.publish.files import cannot_be_written, flush
from sqlanon.releases import release_table as table
from sqlanon.releases.release_table import Row

SUFFIX, STAGED = ".row", ".staged"


def folder_of(file: Path) -> Path:
    """The folder of the rows of a database, which is there as long as a row waits."""
    place = Path(os.path.realpath(file))
    return place.with_name(f".{place.name}.releases")


def can_wait(engine: Engine) -> bool:
    """Whether a row may wait beside the warehouse: sqlanon has tables in its file, which this user may write."""
    file = engine.warehouse.file
    if file is None or not (os.access(file, os.W_OK) and os.access(folder_of(file).parent, os.W_OK)):
        return False
    return any(engine.find_all(table.table_of(engine), engine.warehouse.anon("taxonomy")))


def rows(engine: Engine) -> list[Row]:
    """All rows that wait.

    Raises:
        EngineError: one of the files cannot be read.
    """
    return [_read(path) for path in _files(engine, SUFFIX)]


def write(engine: Engine, row: Row) -> None:
    """Have a row wait, on the disk when this returns; in place of the one before of the same release.

    Raises:
        EngineError: the file system refuses it.
    """
    file = engine.warehouse.file
    assert file is not None
    path = _path(file, row)
    staged = path.with_suffix(STAGED)
    with cannot_be_written(path, "releases"):
        if not path.parent.exists():
            path.parent.mkdir(exist_ok=True)
            # Whoever may write the warehouse may take up rows, and whoever may read it may read them.
            path.parent.chmod(path.parent.parent.stat().st_mode & 0o777)
            flush(path.parent.parent)
        staged.write_text(json.dumps({**vars(row), "made_at": row.made_at.isoformat()}), encoding="utf-8")
        staged.chmod(file.stat().st_mode & 0o666)
        flush(staged)
        staged.replace(path)
        flush(path.parent)


def remove(engine: Engine, row: Row) -> None:
    """Remove a row that waits, if it is there, as far as the file system lets it."""
    file = engine.warehouse.file
    if file is not None:
        with suppress(OSError):
            _path(file, row).unlink()
            folder_of(file).rmdir()  # unless others wait there


def take_up(engine: Engine) -> None:
    """Write all rows that wait into the table of a warehouse that is open to be written.

    Raises:
        EngineError: a row cannot be read or written.
    """
    found = rows(engine)
    if found:
        table.make(engine)
        retry_while_locked(lambda: _take_up(engine, found), OVERTAKEN)
    for path in _files(engine, STAGED):  # of runs that were killed while they wrote it
        with suppress(OSError):
            path.unlink()
    for row in found:
        remove(engine, row)


def _take_up(engine: Engine, found: list[Row]) -> None:
    with engine.transaction():
        known = {(row.target, row.made_at): row for row in table.rows(engine)}
        for row in found:
            before = known.get((row.target, row.made_at))
            if before is None:
                table.add(engine, row)
            elif before.record_sha256 is None and row.record_sha256 is not None:
                table.note_record(engine, row, row.record_sha256)


def _path(file: Path, row: Row) -> Path:
    return folder_of(file) / f"{sha256_of_json([row.target, row.made_at.isoformat()])}{SUFFIX}"


def _files(engine: Engine, suffix: str) -> list[Path]:
    file = engine.warehouse.file
    return [] if file is None else sorted(folder_of(file).glob(f"*{suffix}"))


def _read(path: Path) -> Row:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return replace(Row(**found), made_at=datetime.fromisoformat(found["made_at"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = "is not the note of a release, or cannot be read: the list is not complete without it"
        raise EngineError(f"the file {path} {reason}", step="releases", original=error) from None
