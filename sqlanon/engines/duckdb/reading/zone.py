"""The time zone of a call: times with a zone have the same texts and days wherever a run is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from sqlanon.engines.duckdb.refusals import refusals
from sqlanon.engines.duckdb.statements import set_
from sqlanon.errors import EngineError, PolicyError
from sqlanon.queries.kit.sql_files import query_text

if TYPE_CHECKING:
    import duckdb

SETTING = "TimeZone"

NAMES_OF_UTC = frozenset(("UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"))


class Zone:
    """The zone in which a connection shows times; that of its user before and after a call."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._present = ""

    @contextmanager
    def during(self) -> Iterator[None]:
        """Bring the zone of the user back when the block ends."""
        with refusals("the time zone"):
            before = str(self._connection.execute(query_text("engines", "time_zone")).fetchall()[0][0])
        self._present = before
        try:
            yield
        finally:
            with suppress(EngineError):  # the connection is closed, or its settings are locked
                self._change(before)

    def enter(self, zone: str) -> None:
        """Show times in a zone.

        Raises:
            PolicyError: no zone has that name.
            EngineError: the settings of the connection are locked, and have another one.
        """
        try:
            self._change(zone)
        except EngineError as error:
            if "Unknown TimeZone" in str(error.original):
                raise PolicyError(f'timezone: "{zone}" is not the name of a zone, such as Europe/Berlin') from None
            reason = f"the settings of the connection are locked: SET TimeZone = '{zone}' before that"
            raise EngineError(reason, step="session", original=error.original) from None

    def _change(self, zone: str) -> None:
        if zone != self._present and not {zone, self._present} <= NAMES_OF_UTC:
            set_(self._connection, **{SETTING: zone})
            self._present = zone
