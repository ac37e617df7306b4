"""Databases that are attached to a connection: files to read, to make or to keep counts in, and ones in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.duckdb.refusals import not_opened, refuse_special
from sqlanon.engines.paths import log_of
from sqlanon.errors import EngineError, Refusal
from sqlanon.queries.kit.nodes import DIALECT, identifier, select, string

Execute = Callable[[exp.Expr, str], None]
"""Runs a statement, which is for a purpose."""

RESERVED_CATALOGS = ("memory", "temp", "system")

STORAGE_VERSION = "v1.5.0"
"""The storage version of the files that we make: the oldest one with all types, which every supported DuckDB reads."""

OLDEST_STORAGE_VERSION = "v1.0.0"
"""The storage version of a file that every supported DuckDB reads, and that needs no newer types."""


def new_file(database: str) -> str:
    """The statement that makes the file of a new warehouse, in a storage version that older clients can read."""
    return _attach(database, "sqlanon_new", STORAGE_VERSION=string(STORAGE_VERSION)).sql(DIALECT)


def attach_read_only(path: Path, execute: Execute) -> str:
    """Attach a file and make it the default.

    Returns:
        the name of its database.

    Raises:
        EngineError: it is not there, or cannot be opened.
    """
    if not path.exists():
        raise EngineError(f"{path} cannot be opened: no such file or folder", step="open")
    name = "sqlanon_source" if path.stem.lower() in RESERVED_CATALOGS else path.stem
    _open(path, _attach(str(path), name, READ_ONLY=None), execute)
    execute(exp.Use(this=exp.Table(this=identifier(name))), "open")
    return name


def attach_durably(file: Path, name: str, execute: Execute, *, new: bool) -> None:
    """Attach a file under a name; what is committed to it is there after a :func:`checkpoint`, and in no other file.

    A write-ahead log would be a second file, with the permissions of the process.

    Raises:
        EngineError: it cannot be opened.
    """
    version: dict[str, exp.Expr | None] = {"STORAGE_VERSION": string(OLDEST_STORAGE_VERSION)} if new else {}
    _open(file, _attach(str(file), name, **version, RECOVERY_MODE=exp.var("no_wal_writes")), execute)


def attach_memory(name: str, execute: Execute) -> str:
    """Attach a new database in memory.

    Returns:
        the first name that begins so, and that no other connection to the same database has given.
    """
    for free in chain([name], (f"{name}_{number}" for number in count(2))):
        try:
            # As the database of the connection may be read-only, and what is attached is then, too, by default.
            execute(_attach(":memory:", free, READ_WRITE=None), "open")
        except EngineError as error:
            if error.refusal is not Refusal.OPEN:
                raise
        else:
            return free
    raise AssertionError("there is always another number")


@contextmanager
def detached_after(file: Path | None, name: str, execute: Execute) -> Iterator[None]:
    """Detach a database when the block ends, with no write-ahead log beside its file.

    A checkpoint that fails, on a full disk for one, leaves a log of itself alone. A log with changes of another
    program, which it could not write into the file, stays.
    """
    log = None if file is None or _has_content(log_of(file)) else log_of(file)
    try:
        yield
    finally:
        try:
            execute(exp.Detach(this=identifier(name)), "detach")
        finally:
            if log is not None:
                with suppress(OSError):
                    log.unlink()


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def checkpoint(name: str) -> exp.Query:
    """The query that has all that was committed to a file in it."""
    return select([exp.Star()], exp.Table(this=exp.func("checkpoint", string(name), dialect=DIALECT)))


def _open(path: Path, attach: exp.Attach, execute: Execute) -> None:
    refuse_special(str(path))
    try:
        execute(attach, "open")
    except EngineError as error:
        assert isinstance(error.original, Exception)
        raise not_opened(str(path), error.original) from None


def _attach(database: str, name: str, **options: exp.Expr | None) -> exp.Attach:
    given = [exp.AttachOption(this=exp.var(option), expression=value) for option, value in options.items()]
    return exp.Attach(this=exp.alias_(string(database), identifier(name)), expressions=given)
