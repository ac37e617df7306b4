"""The tables of a ledger: ``anon.ledger``, and ``anon.ledger_note`` of a warehouse that is charged to another file.

The notes keep any other ledger from taking the place of that file unseen.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import EngineError
from sqlanon.model.ledger_entries import Entry
from sqlanon.model.names import dataset_of_table
from sqlanon.model.record import facts_of
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, column, identifier, select, string

if TYPE_CHECKING:
    import pyarrow as pa

# Columns that ledgers of earlier versions lack, in the order in which they came.
NEW = Relation("anon_new_entries", "count")
NEW_NOTE = Relation("anon_new_note", "count")
LATER = ("rho", "nonce")


@dataclass(frozen=True)
class Note:
    """A note that a file was charged, and has a row of that hash since."""

    path: str
    sha256: str


def ledger_of(engine: Engine) -> exp.Table:
    return engine.warehouse.anon("ledger")


def is_there(engine: Engine, table: exp.Table) -> bool:
    """Whether a table of a ledger is there; a view, whose query would be executed, is refused with an EngineError."""
    found = engine.find(table)
    if found is not None and found.is_view:
        reason = f"anon.{table.name} is a view, and not the table that sqlanon made; it was not read"
        raise EngineError(f"{reason}. Bring back a copy of its file", step="ledger")
    return found is not None


def has_triggers(engine: Engine) -> bool:
    """Whether something would be executed with each new row of the ledger."""
    query = Queries("ledger").query("ledger_triggers", catalog=string(engine.warehouse.name))
    return bool(engine.fetch(query, "the ledger")[0]["triggers"])


def rows(engine: Engine) -> exp.Select:
    return _located(engine, "ledger_rows")


def table_of(entries: Sequence[Entry]) -> pa.Table:
    """Write rows as a table with the columns of ``anon.ledger``; times in UTC."""
    import pyarrow as pa  # here, because most runs charge nothing

    types = {
        "position": pa.int64(),
        "spent_at": pa.timestamp("us"),
        "rows_per_individual": pa.int64(),
        "sources": pa.list_(pa.struct([("name", pa.string()), ("fingerprint", pa.string())])),
        "public": pa.list_(pa.string()),
    }
    columns = [(field.name, types.get(field.name, pa.string())) for field in fields(Entry)]
    return pa.Table.from_pylist([vars(entry) for entry in entries], schema=pa.schema(columns))


def append(engine: Engine, entries: Sequence[Entry]) -> None:
    """Write rows to the ledger, whose table is made with the first one, and gets the columns that it lacks."""
    table = ledger_of(engine)
    names = [each.name for each in engine.describe(table)] if is_there(engine, table) else LATER
    for name in LATER:
        if name not in names:
            engine.execute(_located(engine, f"ledger_with_{name}"), "the ledger")
    _insert(engine, "ledger_table", NEW, table_of(entries), table, "the ledger")


def notes(engine: Engine) -> list[Note]:
    """Read what the warehouse notes of its ledger, the newest note last; none if it keeps its own, or has none."""
    if not is_there(engine, _notes_of(engine)):
        return []
    return [Note(row["path"], row["sha256"]) for row in engine.fetch(_located(engine, "ledger_notes"), "the ledger")]


def releases(engine: Engine) -> dict[str, str]:
    """Read the hashes that releases in the warehouse carry of its ledger, by the data sets of their tables."""
    found = engine.fetch(Queries("ledger").query("releases_with_ledger"), "the releases in the warehouse")
    hashes = {
        dataset_of_table(row["schema_name"], row["table_name"]): facts_of(row["comment"]).get("ledger_sha256")
        for row in found
        if row["database_name"] == engine.warehouse.name
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


def write_note(engine: Engine, path: str, sha256: str) -> None:
    """Add a note, in a transaction of its own."""
    import pyarrow as pa  # here, because most runs write no note

    row = {"path": path, "sha256": sha256, "noted_at": datetime.now(UTC).replace(tzinfo=None)}
    note = pa.Table.from_pylist([row])
    with engine.beside() as beside, beside.transaction():
        _insert(beside, "ledger_note_table", NEW_NOTE, note, _notes_of(beside), "note the ledger")


def _notes_of(engine: Engine) -> exp.Table:
    return engine.warehouse.anon("ledger_note")


def _insert(engine: Engine, made_by: str, new: Relation, given: pa.Table, table: exp.Table, purpose: str) -> None:
    """Add rows to a table of schema ``anon``; both are made where they are missing."""
    schema = ledger_of(engine)
    schema.set("this", None)
    engine.execute(exp.Create(this=schema, kind="SCHEMA", exists=True), "schema anon")
    engine.execute(_located(engine, made_by), purpose)
    engine.put(new, given)
    added = select([column(name) for name in given.column_names], new.table)
    engine.execute(exp.insert(added, table, columns=[identifier(name) for name in given.column_names]), purpose)
    engine.drop(new)


def _located(engine: Engine, name: str) -> exp.Select:
    """Name a query over the ledger of an engine, or tables beside it."""
    statement = Queries("ledger").query(name)
    for table in statement.find_all(exp.Table):
        table.set("catalog", identifier(engine.warehouse.name))
    return statement
