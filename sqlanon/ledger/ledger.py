"""The ledger of a warehouse: the privacy budget that each data set has spent and may spend."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from sqlanon.chance.accountant import Expense
from sqlanon.chance.random_source import nonce
from sqlanon.chance.scales import rho_of
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import IN_USE, OVERTAKEN, retry_while_locked
from sqlanon.errors import EngineError, Refusal
from sqlanon.ledger import ledger_table as table
from sqlanon.ledger.accounts import (
    Account,
    account,
    refuse_overspending,
    refuse_sources_of_others,
    refuse_uncapped,
    refuse_what_cannot_be_added,
    with_keyed_fingerprints,
    with_new_sources,
)
from sqlanon.ledger.ledger_table import START, Entry, Kind, chained, first_broken, head
from sqlanon.model.budget import Budget, Unit, spelled
from sqlanon.model.names import KnownSource, dataset_named
from sqlanon.publish.files import flush

# Held while this process has a ledger's file open: DuckDB's file locks keep out only other processes.
_open_files = threading.Lock()


class WarehouseLedger:
    """The table ``anon.ledger`` of a warehouse, or of a separate file.

    Every call reads all rows, and refuses the ledger if any was changed. Writes are durable when a call returns,
    whatever becomes of the run's own transaction. If ``must_be_capped``, data sets without a cap cannot be charged.

    All calls raise an EngineError if the ledger cannot be read or written, was tampered with, or stays locked for long.
    """

    def __init__(self, engine: Engine, file: Path | None) -> None:
        self._engine = engine
        self.file = file  # None for the warehouse itself
        self.must_be_capped = False
        self._head: str | None = None

    def commit(self, expenses: Sequence[Expense]) -> list[int]:
        """Write all expenses, or none, if their data sets have enough left.

        Returns:
            the positions of the rows, which are durable.

        Raises:
            BudgetError: a data set has too little left, its δ would reach 1, or it lacks a required cap; nothing was
                written.
            PolicyError: a data set was charged for another unit of privacy before, or its tables or files belong to
                another data set; nothing was written.
        """
        rows = [
            new_entry(
                "charge",
                each.dataset,
                each.budget,
                each.method,
                each.purpose,
                each.policy_sha256,
                unit=each.unit,
                sources=each.sources,
                public=each.public,
                rho=each.rho,
            )
            for each in expenses
        ]
        return [entry.position for entry in self._append(rows)] if rows else []

    def cap(
        self,
        dataset: str,
        budget: Budget | None,
        unit: Unit | None = None,
        sources: tuple[KnownSource, ...] = (),
        *,
        in_rho: bool = False,
    ) -> None:
        """Cap the total spending of a data set from now on; None lifts the cap. Either is a row of the ledger.

        Unit and sources are given if known. ``in_rho`` caps the sum of ρ (see :class:`Account`).

        Raises:
            BudgetError: the cap is in ρ, and its ε or δ is 0.
            PolicyError: as :meth:`commit`.
        """
        rho = rho_of(budget) if in_rho and budget is not None else None
        self._append([new_entry("cap", dataset, budget, unit=unit, sources=sources, rho=rho)])

    def account(self, dataset: str) -> Account:
        return account(self.entries(), dataset_named(dataset))

    def entries(self) -> list[Entry]:
        if self.file is not None and not self.file.exists():
            return []
        with self._opened() as engine:
            return self._read(engine)

    # guarded: tests/unit/test_guarded_warehouse.py::TestWriting
    def head(self) -> str:
        """Return the hash of the last row written here, or else of the newest row in the ledger.

        A release that carries it can show later whether the ledger still has all rows up to it.
        """
        return self._head or head(self.entries())

    # guarded: tests/unit/test_guarded_warehouse.py::TestWriting
    def verify(self, noted: str | None = None) -> str:
        """Check every row against its hash, and return the hash of the newest.

        An EngineError names the first row that was changed, removed, moved or inserted. Removing the newest rows, or
        rewriting all rows from one on, only shows against a hash ``noted`` elsewhere, such as in a release.
        """
        entries = self.entries()
        if noted is not None and noted not in {entry.sha256 for entry in entries} | {head([])}:
            reason = f"{self.name} has no row with the hash that was noted: its newest rows were removed or rewritten"
            raise EngineError(f"{reason}, so it records less than was spent", step="ledger")
        return head(entries)

    # guarded: tests/unit/test_guarded_warehouse.py::TestWriting
    def _append(self, rows: Sequence[Entry]) -> list[Entry]:
        self.note_in_warehouse()
        written = retry_while_locked(lambda: self._attempt(rows), OVERTAKEN)
        self._head = head(written)
        with suppress(EngineError):  # the charge is safe, and the next run writes the note
            self._note(self._head)
        return written

    def note_in_warehouse(self) -> None:
        """Make the warehouse remember its ledger before the first row is written."""
        if not table.notes(self._engine):
            self._note(START)

    def _note(self, sha256: str) -> None:
        """Note in the warehouse that it is charged to this file, which has a row with that hash."""
        file, engine = self.file, self._engine
        if file is not None and engine.warehouse.file is not None and not engine.warehouse.is_read_only:
            retry_while_locked(lambda: table.write_note(engine, str(file), sha256), OVERTAKEN)

    # guarded: tests/unit/test_guarded_warehouse.py::TestWriting
    def _attempt(self, rows: Sequence[Entry]) -> list[Entry]:
        with self._opened() as engine:
            if engine.warehouse.is_read_only:
                raise EngineError(f"{self.name} cannot be written, so nothing can be charged", step="ledger")
            try:
                with engine.transaction():
                    before = self._read(engine)
                    self._refuse_altered(engine)
                    refuse_sources_of_others(before, rows)
                    if self.must_be_capped:
                        refuse_uncapped(before, (row.dataset for row in rows if row.kind == "charge"))
                    refuse_what_cannot_be_added(before, rows)
                    refuse_overspending(before, rows)
                    keyed = with_keyed_fingerprints(rows, before)
                    new = list(chained(with_new_sources(keyed, before), before))
                    table.append(engine, new)
            except EngineError as error:
                if error.step == "ledger":
                    raise
                raise error.reworded(f"{self.name} cannot be written: {error}", "ledger") from None
            # The database syncs the content of a new file, but not its name in the folder.
            assert engine.warehouse.file is not None
            try:
                flush(engine.warehouse.file.absolute().parent)
            except OSError as error:
                reason = f"the charge may not be on the disk: {error.strerror}"
                raise EngineError(reason, step="ledger", original=error) from None
            return new

    def _read(self, engine: Engine) -> list[Entry]:
        if not table.is_there(engine, table.ledger_of(engine)):
            return []
        try:
            entries = [Entry(**row) for row in engine.fetch(table.rows(engine), "the ledger")]
        except EngineError as error:
            lacking = error.refusal is Refusal.LACKING
            reason = f"cannot be read: {error}" if lacking else "cannot be read, or is not what sqlanon made"
            raise error.reworded(f"{self.name} {reason}", "ledger") from None
        broken = first_broken(entries)
        if broken is not None:
            reason = f"{self.name} was tampered with: row {broken} is not what was written at that position"
            raise EngineError(f"{reason}. It takes no more charges; compare anon.ledger with a backup", step="ledger")
        return entries

    def _refuse_altered(self, engine: Engine) -> None:
        """Refuse a table with triggers, and a copy without its key, where simultaneous runs overspend."""
        if not table.is_there(engine, table.ledger_of(engine)):
            return
        if table.has_triggers(engine):
            raise EngineError(f"{self.name} has a trigger, which no ledger has: drop it", step="ledger")
        if not engine.has_key(table.ledger_of(engine), "position"):
            reason = f"{self.name} is a copy without its key, so runs at the same time could overspend together"
            raise EngineError(f"{reason}: ALTER TABLE anon.ledger ADD PRIMARY KEY (position)", step="ledger")

    @contextmanager
    def _opened(self) -> Iterator[Engine]:
        file = self.file
        if file is None:
            with self._engine.beside() as engine:
                yield engine
            return

        def attempt() -> tuple[ExitStack, Engine]:
            with ExitStack() as stack:
                stack.enter_context(_open_files)
                opened = stack.enter_context(self._engine.beside(file))
                return stack.pop_all(), opened

        try:
            opened, engine = retry_while_locked(attempt, IN_USE)
        except EngineError as error:
            raise self._not_opened(error) from None
        with opened:
            yield engine

    def _not_opened(self, error: EngineError) -> EngineError:
        if error.original is None:
            return error
        match error.refusal:
            case Refusal.LOCKED:
                reason = f"{self.name} is open in another program{error.held_by}; close it there"
            case Refusal.OPEN:
                reason = f"{self.name} is open in this program; close it there"
            case Refusal.UNWRITABLE:
                reason = f"{self.name} cannot be written, so nothing can be charged"
            case Refusal.UNFINISHED:
                unwritten = "it was never written because the disk was full, and has no charge: remove it"
                reason = f"the ledger {error}; {unwritten}"
            case _:
                reason = f"the ledger {error}"
        return error.reworded(reason, "ledger")

    @property
    def is_own(self) -> bool:
        return self.file is None

    @property
    def name(self) -> str:
        return "the ledger of the warehouse" if self.file is None else f"the ledger {self.file}"


# More than six parameters: the columns of a row.
def new_entry(
    kind: Kind,
    dataset: str,
    budget: Budget | None,
    *spent_by: str,
    unit: Unit | None = None,
    sources: Sequence[KnownSource] = (),
    public: Sequence[KnownSource] = (),
    rho: Fraction | None = None,
) -> Entry:
    method, purpose, policy_sha256 = spent_by or (None, None, None)
    return Entry(
        position=0,
        kind=kind,
        dataset=dataset_named(dataset),
        method=method,
        purpose=purpose,
        epsilon=None if budget is None else spelled(budget.epsilon),
        delta=None if budget is None else spelled(budget.delta),
        spent_at=datetime.now(UTC).replace(tzinfo=None),
        policy_sha256=policy_sha256,
        unit=None if unit is None else unit.name,
        individual=None if unit is None else unit.individual,
        rows_per_individual=None if unit is None else unit.rows,
        sources=[{"name": source.name, "fingerprint": source.fingerprint} for source in sources] or None,
        public=[source.name for source in public] or None,
        rho=None if rho is None else spelled(rho),
        nonce=nonce(),
    )
