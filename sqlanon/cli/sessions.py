"""The sessions that commands open, and how much of the machine they may use."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from typer import BadParameter

from sqlanon.cli.interrupt import interruptible
from sqlanon.cli.options import csv_settings
from sqlanon.errors import EngineError
from sqlanon.model.names import without_secret

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.destination import Destination
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

_machine: ContextVar[Mapping[str, Any]] = ContextVar("machine", default={})  # noqa: B039


@contextmanager
def on_machine(settings: Mapping[str, Any]) -> Iterator[None]:
    """Open sessions with settings that :func:`sqlanon.connect` takes, as the user gave them."""
    token = _machine.set(settings)
    try:
        yield
    finally:
        _machine.reset(token)


def loading_options() -> list[str]:
    """List the options of the present command that another command needs for the same source."""
    machine = _machine.get()
    loaded = [word for name in machine.get("extensions", ()) for word in ("--load", name)]
    loaded += [word for setting in machine.get("csv", ()) for word in ("--csv", setting)]
    return [*loaded, "--rows", without_secret(machine["rows"])] if "rows" in machine else loaded


def existing(database: Path, *, read_only: bool = True, ledger: Path | None = None) -> AbstractContextManager[Session]:
    """Open a session on a file that must be there."""
    if not database.exists():
        raise BadParameter(f"the file {database} does not exist", param_hint="--db")
    return connected(database, read_only=read_only, ledger=ledger)


def existing_or_new(database: Path) -> AbstractContextManager[Session]:
    """Open a session on a file that is created if it is not there."""
    if str(database) == ":memory:":
        raise BadParameter("a database in memory would be gone at once; give the path of a file", param_hint="--db")
    return connected(database)


@contextmanager
def reading(
    database: Path | None, taxonomies: Mapping[str, Taxonomy] | None = None, *, ledger: Path | None = None
) -> Iterator[Session]:
    """Open a session that changes no file but its ledger: on a warehouse opened read-only, or in memory without one."""
    try:
        with connected(ledger=ledger) if database is None else existing(database, ledger=ledger) as session:
            if taxonomies:
                session.taxonomies.load_all(taxonomies)
            yield session
    except EngineError as error:
        if database is None and error.step == "name":
            raise BadParameter(f"{error}; a table needs --db, the file that it is in") from None
        if database is None and error.step in ("source", "format"):
            raise BadParameter(str(error)) from None
        raise


@contextmanager
def writing(
    database: Path | None,
    into: Destination,
    ledger: Path | None = None,
    *,
    is_charged: bool = False,
    taxonomies: Mapping[str, Taxonomy] | None = None,
) -> Iterator[Session]:
    """Open a session that can write the target; of the warehouse, if that is a file or a folder, its list of releases.

    What is charged is written to the ledger: to its file, or else to the warehouse.
    """
    with _opened_for(database, into, ledger, is_charged=is_charged) as session:
        if taxonomies:
            session.taxonomies.load_all(taxonomies)
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
        return reading(database, ledger=ledger)
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
        with connected(database, ledger=ledger) as session:
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
    with connected(database, ledger=ledger) as session:
        session.ledger._note_in_warehouse()
    with existing(database, ledger=ledger) as session:
        yield session


def _take_up_releases(database: Path) -> None:
    """Put releases on the list of a warehouse that was open read-only, so that others could read it.

    They wait beside it, and the list has them all the same, if others still have it open, or nobody may write it.
    """
    from sqlanon.releases.waiting import folder_of

    if folder_of(database).exists():
        with suppress(EngineError), connected(database) as session:
            session.releases._take_up()


@contextmanager
def connected(database: str | Path = ":memory:", **more: Any) -> Iterator[Session]:
    """Open a session as the options for the machine say."""
    from sqlanon.api.connection import check_resources, connect
    from sqlanon.engines.locks import A_MOMENT, IN_USE, PATIENCE, retry_while_locked

    machine = _machine.get()
    settings = {**machine, "csv": csv_settings(machine.get("csv", ())), **more}
    try:
        check_resources(settings)
    except EngineError as error:
        raise BadParameter(str(error)) from None
    # Another run may just be noting its ledger or its release in the warehouse.
    patience = A_MOMENT if more.get("ledger") is None else PATIENCE
    with (
        retry_while_locked(functools.partial(connect, database, **settings), IN_USE, patience) as session,
        interruptible(session.connection.interrupt),
    ):
        yield session
