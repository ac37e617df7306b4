"""Databases that are opened: without the engine on them, which takes longer to import than they take to be opened."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from sqlanon.engines.duckdb.refusals import not_opened, refusals, refuse_special, remove_unfinished
from sqlanon.engines.duckdb.resources import Resources, discard
from sqlanon.engines.locks import Held, lock_of
from sqlanon.errors import EngineError
from sqlanon.queries.kit.sql_files import query_text

if TYPE_CHECKING:
    from sqlanon.engines.base import Rows
    from sqlanon.engines.duckdb.engine import Engine
    from sqlanon.model.policy.csv_files import Csv

Connection = duckdb.DuckDBPyConnection

MEMORY = ":memory:"
NO_LIMITS = Resources()

NO_FILE = re.compile(r"$|:|\w{2,}:")
"""How the name of a database without a file begins: one in memory, or what an extension of DuckDB opens."""

ELSEWHERE = re.compile(r"\w{2,}:")
"""How the name of a database begins that an extension of DuckDB opens."""

BY_ITSELF = {"autoload_known_extensions": False, "autoinstall_known_extensions": False}
"""What DuckDB is not to do: to load extensions by itself, which it downloads."""

_making = threading.Lock()
"""DuckDB's locks on files keep out other processes alone."""


class OpenedDatabase:
    """A connection of DuckDB, opened here from a path or lent by the user.

    Attributes:
        connection: the connection.
        name: of the database in which names are looked up that say nothing else.
        lock: held during each call of a session on the connection.
        is_read_only: whether that is attached, and the connection is on a database in memory.
        shows_values: whether errors may show values of a source that have no label.
        csv: how CSV files are read, whatever a policy says; None if that is all that says so.
        is_hidden: whether nothing but a session reaches it, as long as the connection is not handed out.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        owned: bool,
        read_only: bool = False,
        spill: Held | None = None,
    ) -> None:
        self.connection = connection
        self.lock = lock_of(connection)
        self.is_read_only = read_only
        self.shows_values = False
        self.far: Rows | None = None
        self.csv: Csv | None = None
        self.is_hidden = False
        self._owned = owned
        with self.lock.held(), refusals("the catalog"):
            self.name = str(connection.execute(query_text("engines", "current_place")).fetchall()[0][0])
        # A session that is never closed ends with the program.
        self._discard_spill = None if spill is None else weakref.finalize(self, discard, spill)

    @classmethod
    def at(cls, database: str | Path, *, read_only: bool = False, resources: Resources = NO_LIMITS) -> OpenedDatabase:
        """Open a warehouse file, or ``:memory:``.

        A file that is opened read-only is attached to a database in memory, which then holds the session's own copy
        of the taxonomies.

        Raises:
            EngineError: the file is locked, unreadable, in a missing folder or not a DuckDB file; or a resource is
                none.
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
            _give_up(opened, spill)
            if isinstance(error, duckdb.Error):
                raise not_opened(path, error) from None
            raise
        return opened

    def another(self, file: Path | None) -> OpenedDatabase:
        """Another connection to the same warehouse, or to a file, which is read if it cannot be written."""
        if file is not None:
            return OpenedDatabase.at(file, read_only=file.exists() and not os.access(file, os.W_OK))
        from sqlanon.engines.duckdb.statements import use

        with refusals("another connection"):
            cursor = self.connection.cursor()
            cursor.execute(use(self.name))
        return OpenedDatabase(cursor, owned=True)

    def engine(self) -> Engine:
        """A new engine on the connection."""
        from sqlanon.engines.duckdb.engine import Engine

        return Engine(self)

    def close(self) -> None:
        """Close the connection if it was opened here, and the one to where rows are."""
        if self.far is not None:
            self.far.close()
        if self._owned:
            self.connection.close()
        if self._discard_spill is not None:
            self._discard_spill()


def _make_file(database: str) -> None:
    """Make the file of a new warehouse in a storage version that older clients can read; one that exists is left alone.

    It is made by itself, not by the settings of the session: a session with other settings than DuckDB's own could not
    share the file with other connections of the same program. DuckDB handles other names.
    """
    if NO_FILE.match(database):
        return
    with _making:
        if not Path(database).expanduser().exists():
            from sqlanon.engines.duckdb.attaching import new_file

            with closing(duckdb.connect()) as connection:
                try:
                    connection.execute(new_file(database))
                except duckdb.Error as error:
                    remove_unfinished(database, error)
                    raise


def _connection(database: str, configuration: dict[str, Any]) -> Connection:
    """A connection on which DuckDB loads no extension by itself, unless the program has the database open already.

    That is set after it is opened, so that the program can open the file elsewhere as it is used to; see
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
    """Load extensions that are installed.

    Raises:
        EngineError: one is not.
    """
    for name in extensions:
        try:
            connection.load_extension(name)
        except duckdb.Error as error:
            reason = f"the extension {name} cannot be loaded; install it first, by INSTALL {name} in DuckDB"
            raise EngineError(f"{reason} {duckdb.__version__}", step="open", original=error) from None


def _give_up(opened: OpenedDatabase | None, spill: Held | None) -> None:
    """Undo what was done of opening a database."""
    if opened is not None:
        opened.close()
    elif spill is not None:
        discard(spill)
