"""The office: the start page with the tables of a warehouse, and the desk of the one that somebody chose."""

from __future__ import annotations

import itertools
import tempfile
import threading
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlanon.api.connection import connect
from sqlanon.api.linked_calls import NOT_YET
from sqlanon.app.columns_screen import suggest
from sqlanon.app.desk import Desk, Place
from sqlanon.app.requests import Fields, Refused
from sqlanon.engines.locks import IN_USE, discard, private_folder, retry_while_locked
from sqlanon.errors import PolicyError
from sqlanon.model.policy.policy_files import fields_of, read_policy_text

SOURCES = ("", "view")  # kinds of tables that may be chosen: no releases


class Office(AbstractContextManager["Office"]):
    """What one command serves: ``place`` names the source, or no source, for somebody to choose one."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.private = private_folder(Path(tempfile.gettempdir()), "sqlanon_app_")  # for previews
        self.desk: Desk | None = None
        self._lock, self._desks = threading.Lock(), itertools.count(1)
        try:
            if place.source:
                self.open(place.source)
        except BaseException:
            discard(self.private)
            raise

    def open(self, source: str) -> None:
        """Open the desk of a source, in place of another one; a source without a policy gets a suggested one.

        Raises:
            Refused: the present desk is busy.
            PolicyError: the policy is open in another app, is of several tables, or cannot be read.
        """
        if self.desk is not None and self.desk.is_busy:
            raise Refused(409, "wait for what is running, or cancel it, before you choose another table")
        if self.desk is not None:
            self.desk.close()
        self.desk = None
        place = replace(self.place, source=source)
        if _is_linked(place.policy_file):
            raise PolicyError(f"the policy file {place.policy_file} is of several tables, and the app {NOT_YET}")
        self.desk = Desk(place, self.private.path, next(self._desks))
        if self.desk.versions.current is None:
            suggest(self.desk, Fields({}))

    def tables(self) -> dict[str, Any]:
        """Return the tables and releases of the warehouse, for the start page."""
        database = self.place.database
        if database is None:
            raise Refused(404, "the app was started on one source, without a warehouse")
        with retry_while_locked(lambda: connect(database, read_only=True), IN_USE) as session:
            return {"overview": session.overview(), "sources": SOURCES}

    def choose(self, fields: Fields) -> str:
        """Open a table that the start page lists."""
        with self._lock:
            name, tables = fields.one("table"), self.tables()["overview"].tables
            if name not in {each.name for each in tables if each.kind in SOURCES}:
                raise Refused(422, "choose one of the tables on the start page")
            self.open(name)
        return "columns"

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
