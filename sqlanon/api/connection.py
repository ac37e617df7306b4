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
            session is closed. A file that does not exist is created, so that DuckDB 1.5 and newer can open it.
        read_only: open the file without writing to it: releases then go to Parquet files, and taxonomies that are
            loaded live in the session.
        memory_limit: how much memory DuckDB may take, such as ``"2GB"``; 80 % of the machine's if it is not given.
            Python itself, and some of what DuckDB does, take a few hundred MB more.
        temp_directory: an existing folder, in which a new one is made for what does not fit in memory. It holds raw
            data, so nobody else may read it, and it is removed when the session is closed. Without it, a warehouse that
            can be written spills to ``<file>.tmp`` beside it, as DuckDB does by default; a session in memory, or on a
            file that is opened read-only, to such a new folder where the system keeps temporary files.
        threads: how many threads DuckDB uses; one per core if it is not given.
        ledger: the path of a DuckDB file that private releases are charged to, made with its first row; the warehouse
            itself if it is not given. It is open only while it is written or read, and other sessions wait for it.
        ledger_mode: ``"capped"`` refuses private releases of data sets without a cap; without it a run that reads
            something new opens an account without a bound, which its report says.
        extensions: names of extensions of DuckDB to load, such as ``"httpfs"`` for sources that begin with
            ``https://`` or ``s3://``. They are installed already: a session that is opened here downloads nothing, and
            loads nothing by itself. A file that the program has open already keeps the settings that it has.
        show_values: show up to ten values of each column in an error about values that a taxonomy does not have. No
            error shows a value otherwise.
        rows: the address of a server of Spark Connect, such as ``"sc://host:15002"``, for sources that are there: they
            are counted there and released there, to folders that this machine and the server see under one path, and
            nothing but counts comes here. It needs the extra ``spark``.
        max_cells: the most rows that a count brings here from that server, such as the cells of the source; 10 million
            if it is not given. More cells stay there as a table of the run, which takes longer to search.
        csv: how CSV files are read, by the settings of ``csv`` in a :class:`Policy`, whatever a policy says of them.

    Raises:
        EngineError: the file cannot be opened (it says what holds the lock), a setting is none, there are settings for
            an open connection, which has its own, the ledger is in memory, or its mode is unknown; or the address of a
            server does not begin with sc://, or the extra that reaches it is not installed.
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
    """Open a database, or take a connection that is lent; ``resources`` are those of :func:`connect`.

    Raises:
        EngineError: as :func:`connect`.
    """
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
    """Refuse settings of :func:`connect` that no session can be opened with.

    Raises:
        EngineError: names every setting that is wrong.
    """
    from sqlanon.engines.duckdb import Resources

    Resources(**{each.name: settings.get(each.name) for each in fields(Resources)}).check()
