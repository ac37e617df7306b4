"""A file attached read-only to a database in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlglot import exp

from sqlanon.compiler.nodes import identifier, string
from sqlanon.engines.refusals import why_not_opened
from sqlanon.errors import EngineError

RESERVED_CATALOGS = ("memory", "temp", "system")


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
