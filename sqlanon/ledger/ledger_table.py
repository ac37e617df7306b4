"""Rows of a ledger, each sealed by a hash over itself and the row before, so that any change shows.

They are in ``anon.ledger``. A warehouse that is charged to another file has ``anon.ledger_note``, whose notes reveal a
ledger that takes the place of that file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from pydantic_core import PydanticCustomError
from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.budget import Budget, Unit, UnitName, exact
from sqlanon.model.names import dataset_of_table
from sqlanon.model.record import facts_of
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, column, identifier, select, string

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["charge", "cap"]

START = "0" * 64  # the hash before the first row


@dataclass(frozen=True)
class Entry:
    """A row of a ledger: an expense, or a cap on a data set's spending. Numbers are exact texts."""

    position: int  # 0, 1, 2 …
    kind: Kind  # a cap holds until the next one of its data set
    dataset: str
    method: str | None  # the mechanism; None in a cap
    purpose: str | None  # the step of the mechanism; None in a cap
    epsilon: str | None  # None in a cap that lifts the cap before
    delta: str | None  # likewise
    spent_at: datetime  # in UTC
    policy_sha256: str | None  # None in a cap
    previous_sha256: str = START  # hash of the row before
    sha256: str = ""  # hash of all other values
    unit: UnitName | None = None  # by which neighbours differ; None in caps without one
    individual: str | None = None  # the column that identifies the owner of a row; None if the unit is rows
    rows_per_individual: int | None = None  # the maximum number that is counted; None if the unit is rows, and in caps
    # Tables and files that belong to the data set from here on, each with ``name`` and ``fingerprint``.
    sources: list[dict[str, str | None]] | None = None
    public: list[str] | None = None  # names of other tables and files that were read, declared public
    # In a charge, its ρ of zero-concentrated privacy, if any; in a cap, the bound on their sum, or None if on (ε, δ).
    rho: str | None = None
    # Secret random text: a release carries the hash of a row, by which a guess of the other values could otherwise be
    # confirmed. None in rows of earlier versions.
    nonce: str | None = None

    # guarded: tests/unit/test_guarded_ledger.py::TestChains
    def seal(self) -> str:
        """Compute the hash of the row. Without ρ or a nonce, it is as earlier versions computed it."""
        left_out = {"sha256", *(name for name in ("rho", "nonce") if getattr(self, name) is None)}
        values = {name: value for name, value in vars(self).items() if name not in left_out}
        document = json.dumps(values, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(document.encode()).hexdigest()

    @property
    def budget(self) -> Budget | None:
        """The budget that was spent, or may be; None in a cap that lifts the cap before."""
        return None if self.epsilon is None or self.delta is None else Budget(self.epsilon, self.delta)

    @property
    def about(self) -> Unit | None:
        return None if self.unit is None else Unit(self.individual, self.rows_per_individual)


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def chained(rows: Iterable[Entry], before: Sequence[Entry]) -> Iterator[Entry]:
    """Place and seal rows after those before."""
    position, previous = len(before), head(before)
    for row in rows:
        placed = replace(row, position=position, previous_sha256=previous)
        sealed = replace(placed, sha256=placed.seal())
        yield sealed
        position, previous = position + 1, sealed.sha256


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def head(entries: Sequence[Entry]) -> str:
    """Return the hash of the newest row, which vouches for all rows."""
    return entries[-1].sha256 if entries else START


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def secret(entries: Iterable[Entry]) -> str | None:
    """Return the first nonce, which keys the fingerprints of files; None if no row has one."""
    return next((entry.nonce for entry in entries if entry.nonce is not None), None)


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def first_broken(entries: Iterable[Entry]) -> int | None:
    """Return the position of the first row that was changed, removed, moved or inserted; None if there is none.

    Removed newest rows do not show: that takes a hash noted elsewhere.
    """
    previous = START
    for position, entry in enumerate(entries):
        follows = entry.position == position and entry.previous_sha256 == previous
        if not follows or entry.sha256 != entry.seal() or not _is_sound(entry):
            return position
        previous = entry.sha256
    return None


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def _is_sound(entry: Entry) -> bool:
    """Return whether its numbers parse: a row that somebody else sealed may hold anything."""
    try:
        if (entry.unit == "individual") != (entry.individual is not None):
            return False
        if entry.kind == "charge" and entry.unit is None:
            return False
        if entry.rho is not None and (entry.budget is None or not exact(entry.rho)):
            return False
        return entry.budget is not None or entry.kind == "cap"
    except (PolicyError, PydanticCustomError):
        return False  # no mutants: None says the same


NEW = Relation("anon_new_entries", "count")
NEW_NOTE = Relation("anon_new_note", "count")
LATER = ("rho", "nonce")  # columns that ledgers of earlier versions lack, oldest first


@dataclass(frozen=True)
class Note:
    """A note that a file was charged, and has a row of that hash."""

    path: str
    sha256: str


def ledger_of(engine: Engine) -> exp.Table:
    return engine.warehouse.anon("ledger")


def is_there(engine: Engine, table: exp.Table) -> bool:
    """Return whether a table of a ledger exists; refuse a view, whose query would be executed."""
    found = engine.find(table)
    if found is not None and found.is_view:
        reason = f"anon.{table.name} is a view, not the table that sqlanon made; it was not read"
        raise EngineError(f"{reason}. Restore a copy of its file", step="ledger")
    return found is not None


def has_triggers(engine: Engine) -> bool:
    query = Queries("ledger").query("ledger_triggers", catalog=string(engine.warehouse.name))
    return bool(engine.fetch(query, "the ledger")[0]["triggers"])


def rows(engine: Engine) -> exp.Select:
    return _located(engine, "ledger_rows")


def table_of(entries: Sequence[Entry]) -> pa.Table:
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
    table = ledger_of(engine)
    names = [each.name for each in engine.describe(table)] if is_there(engine, table) else LATER
    for name in LATER:
        if name not in names:
            engine.execute(_located(engine, f"ledger_with_{name}"), "the ledger")
    _insert(engine, "ledger_table", NEW, table_of(entries), table, "the ledger")


def notes(engine: Engine) -> list[Note]:
    """Read the warehouse's notes of its ledger, newest last; none if it keeps its own, or has none."""
    if not is_there(engine, _notes_of(engine)):
        return []
    return [Note(row["path"], row["sha256"]) for row in engine.fetch(_located(engine, "ledger_notes"), "the ledger")]


def releases(engine: Engine) -> dict[str, str]:
    found = engine.fetch(Queries("ledger").query("releases_with_ledger"), "the releases in the warehouse")
    hashes = {
        dataset_of_table(row["schema_name"], row["table_name"]): facts_of(row["comment"]).get("ledger_sha256")
        for row in found
        if row["database_name"] == engine.warehouse.name
    }
    return {name: sha256 for name, sha256 in hashes.items() if isinstance(sha256, str)}


def could_be_noted(engine: Engine) -> bool:
    """Return whether the warehouse has noted no ledger only because it is open read-only.

    If the user may not write the file itself, no ledger can be noted, and any has to be accepted.
    """
    file = engine.warehouse.file
    if file is None or not engine.warehouse.is_read_only or notes(engine):
        return False
    return all(os.access(place, os.W_OK) for place in (file, file.absolute().parent))


def write_note(engine: Engine, path: str, sha256: str) -> None:
    import pyarrow as pa  # here, because most runs write no note

    row = {"path": path, "sha256": sha256, "noted_at": datetime.now(UTC).replace(tzinfo=None)}
    note = pa.Table.from_pylist([row])
    with engine.beside() as beside, beside.transaction():
        _insert(beside, "ledger_note_table", NEW_NOTE, note, _notes_of(beside), "note the ledger")


def _notes_of(engine: Engine) -> exp.Table:
    return engine.warehouse.anon("ledger_note")


def _insert(engine: Engine, made_by: str, new: Relation, given: pa.Table, table: exp.Table, purpose: str) -> None:
    schema = ledger_of(engine)
    schema.set("this", None)
    engine.execute(exp.Create(this=schema, kind="SCHEMA", exists=True), "schema anon")
    engine.execute(_located(engine, made_by), purpose)
    engine.put(new, given)
    added = select([column(name) for name in given.column_names], new.table)
    engine.execute(exp.insert(added, table, columns=[identifier(name) for name in given.column_names]), purpose)
    engine.drop(new)


def _located(engine: Engine, name: str) -> exp.Select:
    statement = Queries("ledger").query(name)
    for table in statement.find_all(exp.Table):
        table.set("catalog", identifier(engine.warehouse.name))
    return statement
