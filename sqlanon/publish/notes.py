"""The note of the release that a target holds, wherever that is."""

from __future__ import annotations

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.lakes import lake_table
from sqlanon.engines.lakes.store import StoredRelease
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination
from sqlanon.publish.files import bring_back
from sqlanon.publish.listings import is_whole, note_of
from sqlanon.publish.provenance import note_of_file
from sqlanon.publish.to_lake import is_own
from sqlanon.publish.to_store import is_listed


def note_at(engine: Engine, into: Destination) -> str | None:
    """The note of what a target holds, if it is whole: as JSON, or a text of the user's own; None without one.

    Raises:
        EngineError: a lake or a store cannot be read.
    """
    if into.kind == "table":
        found = engine.find(into.name)
        return None if found is None else found.comment
    if into.kind == "lake":
        version = lake_table(into.name).newest()
        return version.note if version is not None and is_own(version) else None
    if into.kind == "store":
        stored = StoredRelease(into.name)
        return stored.text if is_listed(stored) else None
    if into.kind == "folder":
        bring_back(into.name)
        return note_of(into.path) if is_whole(into.path) else None
    try:
        return note_of_file(engine, into.path) if into.path.is_file() else None
    except (EngineError, OSError, ValueError):
        return None  # neither a Parquet file nor a CSV with its note: nothing of ours
