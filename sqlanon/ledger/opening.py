"""Which ledger a warehouse is charged to: its own, or the file that was named, if it is the one that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import EngineError
from sqlanon.ledger import table
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.model.ledger import START
from sqlanon.model.names import possible

IF_RELEASED_BEFORE = "If it is lost, so is what was spent, and COMMENT ON TABLE ... IS NULL has the release miss none"
"""What is left to do for releases whose ledger is lost."""

IF_LOST = "If it is lost, so is what was spent, and DROP TABLE anon.ledger_note begins anew"
"""What is left to do without the ledger of a warehouse."""


def open_ledger(engine: Engine, path: str | Path | None, *, must_be_capped: bool = False) -> WarehouseLedger:
    """The ledger that a private release is charged to.

    Args:
        engine: the warehouse.
        path: a DuckDB file for the ledger, made if it is not there; None for the warehouse itself.
        must_be_capped: whether data sets without a cap are refused.

    Raises:
        EngineError: no path is given, and the warehouse is not a DuckDB file, or is read-only; or the warehouse has
            another ledger; or it has noted none, as it is open read-only though its file may be written.
    """
    if path is None and engine.warehouse.is_read_only:
        reason = "the warehouse is open read-only, and a private release is charged to a ledger first"
        raise EngineError(f"{reason}; name another file with ledger=", step="ledger")
    found = read_ledger(engine, path)
    found.must_be_capped = must_be_capped
    if not found.is_own and table.could_be_noted(engine):
        raise EngineError(
            "the warehouse is open read-only and has not noted its ledger, so any other file would be a fresh account; "
            "open it writable once with this ledger=, and set a cap, so that it notes its ledger",
            step="ledger",
        )
    return found


def read_ledger(engine: Engine, path: str | Path | None) -> WarehouseLedger:
    """The ledger, to look at; nothing is made.

    Raises:
        EngineError: no path is given, and the warehouse is not a DuckDB file; or another ledger is that of the
            warehouse, or it lacks rows that releases in the warehouse carry the hashes of.
    """
    given, file = ledger_file(path), engine.warehouse.file
    if given is None and file is None:
        reason = "the warehouse is not a DuckDB file, and a private release needs a ledger that outlives the session"
        raise EngineError(f"{reason}; name a file with ledger=", step="ledger")
    is_own = given is not None and file is not None and given.exists() and given.samefile(file)
    found = WarehouseLedger(engine, None if is_own else given)
    releases = table.releases(engine)  # before the rows: a run may be adding both
    _refuse_another(engine, found)
    _refuse_shortened(found, releases)
    return found


# guarded: tests/unit/test_guarded_warehouse.py::TestWhichLedger
# no mutants of table.is_there(engine, table.ledger_of(engine)): a ledger that is not there has the hash of none
def _refuse_another(engine: Engine, found: WarehouseLedger) -> None:
    """Refuse a ledger that is not that of the warehouse: what was spent so far would be passed by.

    Raises:
        EngineError: it is another one, or an old copy; or that of the warehouse cannot be read.
    """
    noted = table.notes(engine)
    if found.is_own:
        path = noted[-1].path if noted else ""
        if any(note.sha256 != START for note in noted) or (path and WarehouseLedger(engine, Path(path)).entries()):
            raise EngineError(f"the ledger of this warehouse is the file {path}; name it with ledger=", step="ledger")
        return  # no mutants: its own rows are there
    hashes = {START, *(entry.sha256 for entry in found.entries())}
    if any(note.sha256 not in hashes for note in noted):
        reason = (
            f"{found.name} is not that of this warehouse, or an old copy of it: a row is missing that was noted when"
        )
        raise EngineError(
            f"{reason} {noted[-1].path} was charged; name that file with ledger=. {IF_LOST}",
            step="ledger",
        )
    if table.is_there(engine, table.ledger_of(engine)) and WarehouseLedger(engine, None).verify() not in hashes:
        raise EngineError(
            "the warehouse has a ledger of its own: charge that one, without ledger=, or first copy its table "
            "anon.ledger to the file, key and all",
            step="ledger",
        )


# guarded: tests/unit/test_guarded_warehouse.py::TestWhichLedger
def _refuse_shortened(found: WarehouseLedger, releases: Mapping[str, str]) -> None:
    """Refuse a ledger without rows that were there when releases in the warehouse were charged.

    Raises:
        EngineError: it lacks some; names the releases.
    """
    if not releases:
        return  # no mutants: a shortcut
    hashes = {entry.sha256 for entry in found.entries()}
    if charged := [f'"{name}"' for name, sha256 in releases.items() if sha256 not in hashes]:
        raise EngineError(
            f"{found.name} is an old copy, or its newest rows were removed: a row is missing that was written before "
            f"the release {', '.join(charged)}. Bring back the ledger as it was. {IF_RELEASED_BEFORE}",
            step="ledger",
        )


def ledger_file(path: str | Path | None) -> Path | None:
    """The absolute path of the file of a ledger: DuckDB takes some that are not for databases elsewhere.

    Raises:
        EngineError: it is ``:memory:``.
    """
    if path is None:
        return None
    if str(path).startswith(":memory:"):
        reason = "a private release needs a ledger that outlives the session; name a file with ledger="
        raise EngineError(reason, step="ledger")
    return Path(possible(path, "ledger")).absolute()
