"""The office: the start page with the tables of a warehouse, and the desk of those that somebody chose."""

from __future__ import annotations

import itertools
import tempfile
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlanon.api.connection import connect
from sqlanon.app import columns_screen, linked_screen
from sqlanon.app.desk import Desk, Place
from sqlanon.app.requests import Fields, Refused
from sqlanon.engines.locks import IN_USE, discard, private_folder, retry_while_locked
from sqlanon.errors import PolicyError
from sqlanon.model.policy.policy_files import fields_of, read_policy_text

SOURCES = ("", "view")  # kinds of tables that may be chosen: no releases


class Office(AbstractContextManager["Office"]):
    """What one command serves: ``place`` names the source or the policy of linked tables, or somebody chooses."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.private = private_folder(Path(tempfile.gettempdir()), "sqlanon_app_")  # for previews
        self.desk: Desk | None = None
        self._lock, self._desks = threading.Lock(), itertools.count(1)
        try:
            is_linked = (place.source or place.policy is not None) and _is_linked(place.policy_file)
            if is_linked and place.source:
                reason = "is of several tables: name no table beside --db, or give another --policy"
                raise PolicyError(f"the policy file {place.policy_file} {reason}")
            if is_linked or place.source:
                self.open(place.source)
        except BaseException:
            discard(self.private)
            raise

    def open(self, source: str, together: Sequence[str] = ()) -> None:
        """Open the desk of a source, or without one of linked tables, in place of another desk.

        Without a policy, one is suggested: of linked tables for those that are named, or for all.

        Raises:
            Refused: the present desk is busy.
            PolicyError: the policy is open in another app, or cannot be read.
        """
        if self.desk is not None and self.desk.is_busy:
            raise Refused(409, "wait for what is running, or cancel it, before you choose another table")
        if self.desk is not None:
            self.desk.close()
        self.desk = None
        place = replace(self.place, source=source)
        if place.policy_file.exists() and _is_linked(place.policy_file) != place.is_linked:
            place = replace(place, policy=None)  # that of the command is of the other kind
        self.desk = Desk(place, self.private.path, next(self._desks))
        if self.desk.versions.current is not None:
            return
        if source:
            columns_screen.suggest(self.desk, Fields({}))
        else:
            linked_screen.suggest(self.desk, together)

    def tables(self) -> dict[str, Any]:
        """Return the tables and releases of the warehouse, for the start page."""
        database = self.place.database
        if database is None:
            raise Refused(404, "the app was started on one source, without a warehouse")
        with retry_while_locked(lambda: connect(database, read_only=True), IN_USE) as session:
            return {"overview": session.overview(), "sources": SOURCES}

    def choose(self, fields: Fields) -> str:
        """Open a table that the start page lists, or linked ones: those that are checked, or all."""
        with self._lock:
            name, together, tables = fields.one("table"), fields.many("together"), self.tables()["overview"].tables
            if not {each.name for each in tables if each.kind in SOURCES}.issuperset([name] if name else together):
                raise Refused(422, "choose one of the tables on the start page")
            self.open(name, together)
        return "."

    def __exit__(self, *_: object) -> None:
        try:
            if self.desk is not None:
                self.desk.close()
        finally:
            discard(self.private)


def _is_linked(policy: Path) -> bool:
    """Whether a file is a policy of several tables; the screens show what is wrong with other files."""
    with suppress(PolicyError):
        return "tables" in fields_of(read_policy_text(policy), policy)
    return False
