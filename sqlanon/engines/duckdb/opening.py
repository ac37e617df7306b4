"""Open databases, with limits on the machine's resources.

Importing the engine takes longer than opening a database, so it is imported later.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import weakref
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from sqlanon.engines.duckdb.refusals import not_opened, refusals, refuse_special, remove_unfinished
from sqlanon.engines.locks import Held, discard, lock_of, private_folder
from sqlanon.errors import EngineError
from sqlanon.model.names import possible
from sqlanon.queries.kit.sql_files import query_text

if TYPE_CHECKING:
    from sqlanon.engines.cutting import Rows
    from sqlanon.engines.duckdb.engine import Engine
    from sqlanon.model.policy.policy_parts import Csv

SIZE = re.compile(r"\s*\d+(\.\d+)?\s*([KMGT]i?)?B\s*", re.IGNORECASE)
NAME = re.compile(r"[a-z]\w*", re.IGNORECASE | re.ASCII)
SPILL = "sqlanon-run-"  # begins the names of spill folders


@dataclass(frozen=True)
class Resources:
    """Limits of a session, see :func:`sqlanon.connect`; None leaves one to DuckDB."""

    memory_limit: str | None = None
    temp_directory: str | Path | None = None
    threads: int | None = None
    extensions: Sequence[str] | None = None

    def check(self) -> None:
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
        settings = {
            "memory_limit": self.memory_limit,
            "temp_directory": None if spill is None else str(spill),
            "threads": self.threads,
        }
        return {name: value for name, value in settings.items() if value is not None}

    def spill_folder(self, *, in_memory: bool) -> Held | None:
        """Make a private spill folder; None if DuckDB is to choose one.

        DuckDB spills beside a warehouse file. For a warehouse in memory it would use the working folder, so such a
        session gets a folder in the system's temporary place.
        """
        if self.temp_directory is None and not in_memory:
            return None
        try:
            place = tempfile.gettempdir() if self.temp_directory is None else str(self.temp_directory)
            return private_folder(Path(place), SPILL)
        except OSError as error:
            if self.temp_directory is None:
                return None
            reason = f"temp_directory {self.temp_directory} cannot be written: {error.strerror}"
            raise EngineError(reason, step="open", original=error) from None


def _unnamed(extensions: str | Sequence[str]) -> Iterable[str]:
    """Find faults in names of extensions: DuckDB would also load the path of a file."""
    if isinstance(extensions, str | bytes) or not isinstance(extensions, Sequence):
        return [f'extensions is "{extensions!s}", not a list of names']
    others = (name for name in extensions if not (isinstance(name, str) and NAME.fullmatch(name)))
    return (f'"{name}" is not the name of an extension, such as httpfs' for name in others)


Connection = duckdb.DuckDBPyConnection

MEMORY = ":memory:"
NO_LIMITS = Resources()

NO_FILE = re.compile(r"$|:|\w{2,}:")  # matches names of databases without a file: in memory, or opened by an extension
ELSEWHERE = re.compile(r"\w{2,}:")  # matches names that an extension of DuckDB opens

BY_ITSELF = {"autoload_known_extensions": False, "autoinstall_known_extensions": False}
"""Settings that keep DuckDB from downloading and loading extensions by itself."""

STORAGE_VERSION = "v1.5.0"
"""The storage version of new files: the oldest with all types, which every supported DuckDB reads."""

_making = threading.Lock()  # DuckDB's file locks only keep out other processes


class OpenedDatabase:
    """A connection of DuckDB, opened from a path or lent by the user."""

    def __init__(
        self,
        connection: Connection,
        *,
        owned: bool,
        read_only: bool = False,
        spill: Held | None = None,
    ) -> None:
        self.connection = connection
        self.lock = lock_of(connection)  # held during each call of a session
        self.is_read_only = read_only  # whether the file is attached to a database in memory
        self.shows_values = False  # whether errors may show source values without a label
        self.far: Rows | None = None
        self.csv: Csv | None = None  # how CSV files are read, overriding policies
        self.is_hidden = False  # whether only a session can reach it, until the connection is handed out
        self._owned = owned
        with self.lock.held(), refusals("the catalog"):
            # of the default database
            self.name = str(connection.execute(query_text("engines", "current_place")).fetchall()[0][0])
            if not owned and (found := connection.execute(query_text("engines", "read_only_source")).fetchall()):
                # A cursor of a read-only session, which forgot the default database.
                from sqlanon.engines.duckdb.statements import use

                self.name, self.is_read_only = found[0][0], True
                connection.execute(use(self.name))
        # A session that is never closed ends with the program.
        self._discard_spill = None if spill is None else weakref.finalize(self, discard, spill)

    @classmethod
    def at(cls, database: str | Path, *, read_only: bool = False, resources: Resources = NO_LIMITS) -> OpenedDatabase:
        """Open a warehouse file, or ``:memory:``.

        A read-only file is attached to a database in memory, which holds the session's own copy of the taxonomies.

        Raises:
            EngineError: the file is locked, unreadable, in a missing folder or not a DuckDB file; or a resource is
                invalid.
        """
        resources.check()
        path = str(database)
        refuse_special(path)
        attached = read_only and path != MEMORY
        place = MEMORY if attached else path
        spill = resources.spill_folder(in_memory=place == MEMORY)
        opened = None
        try:
            _make_file(place)
            connection = _connection(place, resources.configuration(None if spill is None else spill.path))
            opened = cls(connection, owned=True, read_only=attached, spill=spill)
            connection.execute(query_text("engines", "utc"))
            _load(connection, resources.extensions or ())
            opened.is_hidden = path == MEMORY
            if attached:
                opened.name = opened.engine().attach_source(Path(path))
        except BaseException as error:
            if opened is not None:
                opened.close()
            elif spill is not None:
                discard(spill)
            if isinstance(error, duckdb.Error):
                raise not_opened(path, error) from None
            raise
        return opened

    def another(self, file: Path | None) -> OpenedDatabase:
        """Open another connection to the same warehouse, or to a file, read-only if it isn't writable."""
        if file is not None:
            return OpenedDatabase.at(file, read_only=file.exists() and not os.access(file, os.W_OK))
        from sqlanon.engines.duckdb.statements import use

        with refusals("another connection"):
            cursor = self.connection.cursor()
            cursor.execute(use(self.name))
        return OpenedDatabase(cursor, owned=True)

    def engine(self) -> Engine:
        from sqlanon.engines.duckdb.engine import Engine

        return Engine(self)

    def close(self) -> None:
        """Close the connection unless it was lent, and the one to remote rows."""
        if self.far is not None:
            self.far.close()
        if self._owned:
            self.connection.close()
        if self._discard_spill is not None:
            self._discard_spill()


def _make_file(database: str) -> None:
    """Make the file of a new warehouse in a storage version that older clients read; keep an existing one.

    It is made on its own connection: a session with settings of its own could not share the file with other connections
    of the program. DuckDB handles other names.
    """
    if NO_FILE.match(database):
        return
    with _making:
        if not Path(database).expanduser().exists():
            from sqlanon.engines.duckdb.statements import attaching
            from sqlanon.queries.kit.nodes import DIALECT, string

            attach = attaching(database, "sqlanon_new", STORAGE_VERSION=string(STORAGE_VERSION))
            with closing(duckdb.connect()) as connection:
                try:
                    connection.execute(attach.sql(DIALECT))
                except duckdb.Error as error:
                    remove_unfinished(database, error)
                    raise


def _connection(database: str, configuration: dict[str, Any]) -> Connection:
    """Connect without automatic loading of extensions, unless the program has the database open already.

    That is set after opening, so that the program can open the file elsewhere with its own settings; see
    :func:`_make_file`.
    """
    if ELSEWHERE.match(database):
        return duckdb.connect(database, config={**configuration, **BY_ITSELF})
    with _making:
        connection = duckdb.connect(database, config=configuration)
        if connection.execute(query_text("engines", "connection_count")).fetchall() == [(1,)]:
            connection.execute(query_text("engines", "no_autoload"))
            connection.execute(query_text("engines", "no_autoinstall"))
    return connection


def _load(connection: Connection, extensions: Sequence[str]) -> None:
    for name in extensions:
        try:
            connection.load_extension(name)
        except duckdb.Error as error:
            reason = f"the extension {name} cannot be loaded; install it first, by INSTALL {name} in DuckDB"
            raise EngineError(f"{reason} {duckdb.__version__}", step="open", original=error) from None
