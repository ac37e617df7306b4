"""Files that are attached to a database in memory: one to read, or one to make."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.compiler.macros import DIALECT
from sqlanon.compiler.nodes import identifier, string
from sqlanon.engines.refusals import why_not_opened
from sqlanon.errors import EngineError

RESERVED_CATALOGS = ("memory", "temp", "system")

STORAGE_VERSION = "v1.5.0"
"""Of the files that we make: the oldest that stores all types. Every DuckDB that this package runs on reads it."""

NO_FILE = re.compile(r"$|:|\w{2,}:")
"""How the name of a database begins that is no file: one in memory, or what an extension of DuckDB opens."""

_making = threading.Lock()
"""DuckDB's locks on files keep out other processes alone."""


def make_file(database: str, connect: Callable[[], Any]) -> None:
    """Make the file of a new warehouse in a storage version that older clients can read; one that exists is left alone.

    It is made by itself, not by the settings of the session: a session with other settings than DuckDB's own could not
    share the file with other connections of the same program.

    Args:
        database: its path. What is no path is left to DuckDB.
        connect: opens a database in memory.
    """
    if NO_FILE.match(database):
        return
    version = exp.AttachOption(this=exp.var("STORAGE_VERSION"), expression=string(STORAGE_VERSION))
    alias = exp.alias_(string(database), identifier("sqlanon_new"))
    with _making:
        if not Path(database).expanduser().exists():
            with closing(connect()) as connection:
                connection.execute(exp.Attach(this=alias, expressions=[version]).sql(DIALECT))


def attach_read_only(path: Path, execute: Callable[[exp.Expr, str], None]) -> str:
    """Attach a file and make it the default.

    Returns:
        the name of its database.

    Raises:
        EngineError: it is not there, or cannot be opened.
    """
    if not path.exists():
        raise EngineError(f"{path} cannot be opened: no such file or folder", step="open")
    name = identifier("sqlanon_source" if path.stem.lower() in RESERVED_CATALOGS else path.stem)
    read_only = exp.AttachOption(this=exp.var("READ_ONLY"))
    try:
        execute(exp.Attach(this=exp.alias_(string(str(path)), name), expressions=[read_only]), "open")
    except EngineError as error:
        assert isinstance(error.original, Exception)
        raise EngineError(why_not_opened(str(path), error.original), step="open", original=error.original) from None
    execute(exp.Use(this=exp.Table(this=name)), "open")
    return name.name
