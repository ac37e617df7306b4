"""The Python interface: opening a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sqlanon.api.session import Session
from sqlanon.api.session_ledger import LedgerMode
from sqlanon.errors import EngineError
from sqlanon.model.names import possible

if TYPE_CHECKING:
    from sqlanon.engines.cutting import Rows
    from sqlanon.engines.duckdb import Connection, OpenedDatabase


def connect(
    database: str | Path | Connection = ":memory:",
    *,
    read_only: bool = False,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
    threads: int | None = None,
    ledger: str | Path | None = None,
    ledger_mode: LedgerMode = "open",
    extensions: Sequence[str] | None = None,
    show_values: bool = False,
    rows: str | None = None,
    max_cells: int | None = None,
    csv: Mapping[str, Any] | None = None,
) -> Session:
    """Open a session.

    Args:
        database: the path of a warehouse file, ``":memory:"``, or an open DuckDB connection, which stays open when the
            session is closed. A missing file is created in a format for DuckDB 1.5 and newer.
        read_only: open the file without writing to it: releases then go to files, and loaded taxonomies live in the
            session.
        memory_limit: how much memory DuckDB may take, such as ``"2GB"``; by default 80 % of the machine's. Python, and
            some operations of DuckDB, take a few hundred MB more.
        temp_directory: an existing folder, in which a new one is made for data that do not fit in memory. The new
            folder holds raw data: only its owner can read it, and closing the session removes it. By default, a
            writable warehouse spills to ``<file>.tmp`` beside it; a session in memory or on a read-only file spills to
            such a new folder among the system's temporary files.
        threads: how many threads DuckDB uses; by default one per core.
        ledger: the path of a DuckDB file that private releases are charged to, created with its first row; by default
            the warehouse. It is open only while it is written or read, and other sessions wait for it.
        ledger_mode: ``"capped"`` refuses private releases of data sets without a cap; ``"open"`` opens an account
            without a cap for a new source, and reports that.
        extensions: names of extensions of DuckDB to load, such as ``"httpfs"`` for sources that begin with
            ``https://`` or ``s3://``. They must be installed: a session downloads nothing, and loads no others. A file
            that the program has open already keeps its settings.
        show_values: show up to ten values of each column in an error about values that a taxonomy lacks. No other error
            shows a value.
        rows: the address of a Spark Connect server, such as ``"sc://host:15002"``, for its sources: they are counted
            and released there, to folders that both machines see under one path, and only counts come here. It needs
            the extra ``spark``.
        max_cells: the most rows that a count brings here from that server, such as the cells of the source; by default
            10 million. More cells stay there as a table of the run, which takes longer to search.
        csv: how CSV files are read, by the settings of ``csv`` in a :class:`Policy`, which they override.

    Raises:
        EngineError: the file cannot be opened (it says what holds the lock), a setting is invalid or was given for an
            open connection, the ledger is in memory, or its mode is unknown; or a server's address does not begin with
            sc://, or the extra that reaches it is not installed.
        PolicyError: lists what is wrong with ``csv``.
    """
    settings = None
    if csv:
        from sqlanon.model.policy.policy_parts import csv_of

        settings = csv_of(csv)
    if ledger_mode not in get_args(LedgerMode):
        raise EngineError(f'ledger_mode is "open" or "capped", not "{ledger_mode}"', step="open")
    charged = None
    if ledger is not None:
        from sqlanon.ledger.charged_sources import ledger_file

        charged = ledger_file(ledger)
    far = None if rows is None else _server(rows, max_cells)
    if far is None and max_cells is not None:
        raise EngineError("max_cells is for rows on a server: give its address as rows", step="open")
    opened = open_database(
        database,
        read_only=read_only,
        memory_limit=memory_limit,
        temp_directory=temp_directory,
        threads=threads,
        extensions=extensions,
    )
    opened.shows_values, opened.far, opened.csv = show_values, far, settings
    return Session(opened, charged, ledger_mode)


def _server(address: str, max_cells: int | None) -> Rows:
    from sqlanon.engines.duckdb import float_texts
    from sqlanon.satellites import offered

    if max_cells is not None and max_cells < 1:
        raise EngineError(f"max_cells is a number of cells, 1 or more, not {max_cells}", step="open")
    bound = {} if max_cells is None else {"max_cells": max_cells}
    rows: Rows = offered("rows", "spark")(address, float_texts, **bound)
    return rows


def open_database(database: str | Path | Connection, *, read_only: bool = False, **resources: Any) -> OpenedDatabase:
    """Open a database, or take a lent connection; ``resources`` and errors are those of :func:`connect`."""
    from sqlanon.engines.duckdb import OpenedDatabase, Resources

    wanted = Resources(**resources)
    if isinstance(database, str | Path):
        return OpenedDatabase.at(possible(database, "warehouse"), read_only=read_only, resources=wanted)
    if wanted != Resources():
        raise EngineError(
            "an open connection keeps its settings: set memory_limit, temp_directory and threads on it, and load "
            "extensions, in SQL",
            step="open",
        )
    return OpenedDatabase(database, owned=False)


def check_resources(settings: Mapping[str, Any]) -> None:
    """Refuse invalid settings of :func:`connect`; the EngineError names all of them."""
    from sqlanon.engines.duckdb import Resources

    Resources(**{each.name: settings.get(each.name) for each in fields(Resources)}).check()
