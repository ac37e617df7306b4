"""The sessions that commands open, and how much of the machine they may use."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast, get_type_hints

from typer import BadParameter, Option

from sqlanon.cli.interrupt import interruptible
from sqlanon.errors import EngineError
from sqlanon.model.names import without_secret

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.destination import Destination


class _Machine(TypedDict, total=False):
    """What a session may use, as :func:`sqlanon.connect` takes it."""

    memory_limit: str | None
    temp_directory: Path | None
    threads: int | None
    extensions: list[str] | None
    show_values: bool
    server: str | None
    max_cells: int | None
    csv: list[str] | None


PANEL = "The machine"

MACHINE: dict[str, Any] = {
    "memory_limit": Annotated[
        str | None,
        Option(
            "--memory-limit",
            metavar="SIZE",
            help="How much memory DuckDB may take, such as 2GB; else 80 % of the machine's.",
            rich_help_panel=PANEL,
        ),
    ],
    "temp_directory": Annotated[
        Path | None,
        Option(
            "--temp-directory",
            metavar="DIR",
            help="Where DuckDB puts what does not fit in memory, until the command ends.",
            rich_help_panel=PANEL,
        ),
    ],
    "threads": Annotated[
        int | None,
        Option(
            "--threads", metavar="N", help="How many threads DuckDB uses; else one per core.", rich_help_panel=PANEL
        ),
    ],
    "extensions": Annotated[
        list[str] | None,
        Option(
            "--load",
            metavar="NAME",
            help="Load an installed extension of DuckDB, such as httpfs; repeat it.",
            rich_help_panel=PANEL,
        ),
    ],
    "show_values": Annotated[
        bool,
        Option(
            "--show-values",
            help="Show up to ten of the values that a taxonomy does not have, in the error about them.",
            rich_help_panel=PANEL,
        ),
    ],
    "server": Annotated[
        str | None,
        Option(
            "--rows",
            metavar="URL",
            help="A server of Spark Connect, sc://host:port, which has the source and writes the release.",
            rich_help_panel=PANEL,
        ),
    ],
    "max_cells": Annotated[
        int | None,
        Option(
            "--max-cells",
            metavar="N",
            help="Leave the cells of the source on that server if they are more.",
            rich_help_panel=PANEL,
        ),
    ],
    "csv": Annotated[
        list[str] | None,
        Option(
            "--csv",
            metavar="SETTING=VALUE",
            help="How CSV files are read, as in [csv] of a policy: delim=;, nullstr=NA, types.zip=VARCHAR; repeat it.",
        ),
    ],
}


_machine: ContextVar[_Machine] = ContextVar("machine", default={})  # noqa: B039


def on_this_machine(command: Callable[..., None]) -> Callable[..., None]:
    """A command that opens a session, with options that limit how much of the machine the session may use."""

    @functools.wraps(command)
    def limited(**given: Any) -> None:
        token = _machine.set(cast(_Machine, {name: given.pop(name) for name in MACHINE}))
        try:
            command(**given)
        finally:
            _machine.reset(token)

    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=False if name == "show_values" else None, annotation=kind
        )
        for name, kind in MACHINE.items()
    ]
    limited.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    limited.__annotations__ = {**get_type_hints(command, include_extras=True), **MACHINE}
    return limited


def loading_options() -> list[str]:
    """The options of the present command that another command needs for the same source."""
    machine = _machine.get()
    server = machine.get("server")
    loaded = [word for name in machine.get("extensions") or () for word in ("--load", name)]
    loaded += [word for setting in machine.get("csv") or () for word in ("--csv", setting)]
    return loaded if server is None else [*loaded, "--rows", without_secret(server)]


def csv_settings(given: Sequence[str] | None) -> dict[str, Any]:
    """The settings of every ``SETTING=VALUE``; those that are lists can be repeated, and names of columns have commas.

    Raises:
        BadParameter: one is not spelled so, or is there twice.
    """
    settings: dict[str, Any] = {}
    for text in given or ():
        name, is_there, value = text.partition("=")
        if not is_there:
            raise BadParameter(f'"{text}" is not SETTING=VALUE', param_hint="--csv")
        if name == "nullstr":
            settings.setdefault(name, []).append(value)
        elif name.startswith("types."):
            settings.setdefault("types", {})[name.removeprefix("types.")] = value
        elif name in settings:
            raise BadParameter(f'"{name}" is there twice', param_hint="--csv")
        else:
            settings[name] = value.split(",") if name == "header" and "," in value else value
    return settings


@contextmanager
def existing(database: Path, *, read_only: bool = True, ledger: Path | None = None) -> Iterator[Session]:
    """A session on a file that must be there.

    Raises:
        BadParameter: it is not.
    """
    if not database.exists():
        raise BadParameter(f"the file {database} does not exist", param_hint="--db")
    with _connected(database, read_only=read_only, ledger=ledger) as session:
        yield session


@contextmanager
def existing_or_new(database: Path) -> Iterator[Session]:
    """A session on a file that is created if it is not there."""
    if str(database) == ":memory:":
        raise BadParameter("a database in memory would be gone at once; give the path of a file", param_hint="--db")
    with _connected(database) as session:
        yield session


def keeping_ledger(ledger: Path) -> AbstractContextManager[Session]:
    """A session in memory whose ledger is a file."""
    return _connected(ledger=ledger)


@contextmanager
def reading(database: Path | None, ledger: Path | None = None) -> Iterator[Session]:
    """A session that changes no file but its ledger: on a warehouse opened read-only, or in memory without one."""
    if database is not None:
        with existing(database, ledger=ledger) as session:
            yield session
        return
    try:
        with _connected(ledger=ledger) as session:
            yield session
    except EngineError as error:
        if error.step == "name":
            raise BadParameter(f"{error}; a table needs --db, the file that it is in") from None
        if error.step in ("source", "format"):
            raise BadParameter(str(error)) from None
        raise


@contextmanager
def writing(
    database: Path | None, into: Destination, ledger: Path | None = None, *, is_charged: bool = False
) -> Iterator[Session]:
    """A session that can write the target; of the warehouse, if that is a file or a folder, only the list of releases.

    What is charged is written to the ledger: to its file, or else to the warehouse.
    """
    with _opened_for(database, into, ledger, is_charged=is_charged) as session:
        yield session
    if database is not None:
        _take_up_releases(database)


def _opened_for(
    database: Path | None, into: Destination, ledger: Path | None, *, is_charged: bool
) -> AbstractContextManager[Session]:
    """The session of a command that writes a target."""
    if into.kind != "table" and (ledger is not None or not is_charged or database is None):
        if is_charged and database is not None and ledger is not None:
            return _noted(database, ledger)
        return reading(database, ledger)
    if into.kind != "table" and not os.access(cast(Path, database), os.W_OK):
        return reading(database)  # which refuses the charge, and says to name a ledger
    if database is None:
        from sqlanon.model.destination import refuse_file_like

        refuse_file_like(into.name)
        raise BadParameter("a table needs --db, the file that it goes to", param_hint="--into")
    if is_charged and ledger is None:
        return existing(database, read_only=False)  # which is the ledger as well, and is not made by the way
    return _existing_or_made(database, ledger)


@contextmanager
def _existing_or_made(database: Path, ledger: Path | None) -> Iterator[Session]:
    """A session on a file, which is removed again if it was made for a command that failed."""
    is_new = not database.exists()
    try:
        with _connected(database, ledger=ledger) as session:
            yield session
    except BaseException as error:
        if is_new:
            for made in (database, database.with_name(database.name + ".wal")):
                made.unlink(missing_ok=True)
            if isinstance(error, EngineError) and error.step == "name":
                raise BadParameter(f"the file {database} does not exist: {error}", param_hint="--db") from None
        raise


@contextmanager
def _noted(database: Path, ledger: Path) -> Iterator[Session]:
    """A session on a warehouse opened read-only that has noted its ledger, for which it is opened writable once."""
    with existing(database, ledger=ledger) as session:
        if not session.ledger._could_be_noted:
            yield session
            return
    with _connected(database, ledger=ledger) as session:
        session.ledger._note_in_warehouse()
    with existing(database, ledger=ledger) as session:
        yield session


def _take_up_releases(database: Path) -> None:
    """Put releases on the list of a warehouse that was open read-only, so that others could read it.

    They wait beside it, and the list has them all the same, if others still have it open, or nobody may write it.
    """
    from sqlanon.releases.waiting import folder_of

    if folder_of(database).exists():
        with suppress(EngineError), _connected(database) as session:
            session.releases._take_up()


@contextmanager
def _connected(
    database: str | Path = ":memory:", *, read_only: bool = False, ledger: Path | None = None
) -> Iterator[Session]:
    from sqlanon.api.connection import check_resources, connect
    from sqlanon.engines.retries import A_MOMENT, IN_USE, PATIENCE, retry_while_locked

    machine: dict[str, Any] = {**_machine.get()}
    rows, max_cells = machine.pop("server", None), machine.pop("max_cells", None)
    csv = csv_settings(machine.pop("csv", None))
    try:
        check_resources(**{name: value for name, value in machine.items() if name != "show_values"})
    except EngineError as error:
        raise BadParameter(str(error)) from None

    opened = functools.partial(
        connect, database, read_only=read_only, ledger=ledger, rows=rows, max_cells=max_cells, csv=csv, **machine
    )
    # Another run may just be noting its ledger or its release in the warehouse.
    patience = A_MOMENT if ledger is None else PATIENCE
    with (
        retry_while_locked(opened, IN_USE, patience) as session,
        interruptible(session.connection.interrupt),
    ):
        yield session
