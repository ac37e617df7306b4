"""Which ledger a warehouse is charged to: noted in the warehouse, so that no other one takes its place unseen."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlglot import exp

from sqlanon.engines.base import Engine, Warehouse
from sqlanon.errors import EngineError
from sqlanon.ledger.table import create_schema, located
from sqlanon.model.datasets import dataset_of_table
from sqlanon.model.record import facts_of
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, column, identifier, select

NEW = Relation("anon_new_note", "count")


@dataclass(frozen=True)
class Note:
    """That a file was charged, and has a row of that hash since."""

    path: str
    sha256: str


def notes(engine: Engine) -> list[Note]:
    """What the warehouse knows of its ledger, the newest note last; none if it keeps its own, or has none.

    Raises:
        EngineError: the table cannot be read, or is not what sqlanon made.
    """
    if not engine.find(_table(engine)):
        return []
    return [Note(row["path"], row["sha256"]) for row in engine.fetch(located(engine, "ledger_notes"), "the ledger")]


def releases(engine: Engine) -> dict[str, str]:
    """The hashes that releases in the warehouse carry of its ledger, by what their tables are called."""
    found = engine.fetch(Queries("ledger").query("releases_with_ledger"), "the releases in the warehouse")
    own = (row for row in found if row["database_name"] == engine.warehouse.name)
    hashes = {
        dataset_of_table(row["schema_name"], row["table_name"]): facts_of(row["comment"]).get("ledger_sha256")
        for row in own
    }
    return {name: sha256 for name, sha256 in hashes.items() if isinstance(sha256, str)}


def could_be_noted(engine: Engine) -> bool:
    """Whether the warehouse has noted no ledger only because it is open read-only.

    Where the file itself may not be written by who runs this, nothing can be noted, and any ledger has to be taken.
    """
    file = engine.warehouse.file
    if file is None or not engine.warehouse.is_read_only or notes(engine):
        return False
    return all(os.access(place, os.W_OK) for place in (file, file.absolute().parent))


def refuse_unnoted(engine: Engine) -> None:
    """Refuse a file as the ledger of a warehouse that could note it, and has noted none.

    Raises:
        EngineError: it is open read-only.
    """
    if could_be_noted(engine):
        raise EngineError(
            "the warehouse is open read-only and has not noted its ledger, so any other file would be a fresh account; "
            "open it writable once with this ledger=, and set a cap, so that it notes its ledger",
            step="ledger",
        )


def write(engine: Warehouse, path: str, sha256: str) -> None:
    """Add a note, in a transaction of its own.

    Raises:
        EngineError: the warehouse cannot be written.
    """
    import pyarrow as pa  # here, because most runs write no note

    row = {"path": path, "sha256": sha256, "noted_at": datetime.now(UTC).replace(tzinfo=None)}
    with engine.beside() as beside, beside.transaction():
        create_schema(beside)
        beside.execute(located(beside, "ledger_note_table"), "note the ledger")
        beside.put(NEW, pa.Table.from_pylist([row]))
        new = select([column(name) for name in row], NEW.table)
        names = [identifier(name) for name in row]
        beside.execute(exp.insert(new, _table(beside), columns=names), "note the ledger")
        beside.drop(NEW)


def _table(engine: Warehouse) -> exp.Table:
    return engine.warehouse.anon("ledger_note")
