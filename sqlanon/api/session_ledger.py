"""The Python interface to the ledger of a session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlanon.api.opened import OpenedEngine, Part
from sqlanon.engines.locks import exclusive
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.ledger.accounts import Account
    from sqlanon.ledger.ledger import WarehouseLedger
    from sqlanon.model.budget import Budget


LedgerMode = Literal["open", "capped"]  # a private release may open an account, or needs one with a cap


class Ledger(Part):
    """The privacy budgets that data sets have spent and may spend: ``session.ledger``.

    The ledger is the table ``anon.ledger`` of the warehouse, created with its first row, or of the DuckDB file that the
    session was given as ``ledger``. A data set has the name of its table, the path, glob or folder of its files, or the
    name given as ``dataset``, without regard to case or ``main.``. Tables and files that the ledger knows under a data
    set belong to it, however they are named.

    ``file`` is the path of the DuckDB file, None for the warehouse. ``mode`` is ``"capped"`` if private releases of
    data sets without a cap are refused, else ``"open"``.

    Every method raises :class:`sqlanon.EngineError` if the ledger cannot be read, or was tampered with.
    """

    def __init__(self, opened: OpenedEngine, file: Path | None, mode: LedgerMode = "open") -> None:
        super().__init__(opened)
        self.file = file
        self.mode = mode

    @exclusive
    def spent(self, dataset: str) -> Budget:
        """Return the total of a data set's charges, which are all about one unit of privacy."""
        return self._account(dataset).spent

    @exclusive
    def spent_in_rho(self, dataset: str) -> Budget | None:
        """Return the total of a data set's charges as zero-concentrated privacy (Σρ).

        Ten runs of :class:`sqlanon.Synthetic` at (1, 1e-6) come to ε = 3.5 instead of 10.

        Returns:
            Σρ as (ε, δ), at the δ of its cap or, without one, at the largest δ of a charge. None if some charge has no
            ρ: synthetic rows have one, and a charge of (ε, 0) costs ε² / 2.
        """
        return self._account(dataset).in_rho

    @exclusive
    def remaining(self, dataset: str) -> Budget | None:
        """Return the budget that a data set has left; None without a cap, when ε is unbounded and δ must stay below 1.

        With a cap in ρ, it is for a single run.
        """
        return self._account(dataset).remaining

    @exclusive
    def cap(self, dataset: str, budget: Budget | None, *, individual: str | None = None, in_rho: bool = False) -> None:
        """Cap the total spending of a data set, or lift the cap with None; either is a row of the ledger.

        A cap below the spent budget leaves nothing. Capping is for the custodian of the data: whoever can write the
        ledger can raise a cap, but not without a trace.

        Args:
            dataset: the data set.
            budget: the cap.
            individual: the column that identifies the owner of a row, if the data set is to be released by individual:
                every release must then spend for all rows of one.
            in_rho: cap the sum of the charges in ρ, which leaves room for more runs of synthetic rows; losses with a δ
                and no ρ are then refused. See :meth:`spent_in_rho`.

        Raises:
            BudgetError: the cap is in ρ, and its ε or δ is 0.
            PolicyError: the name is of a view or a query, the cap is not a budget, or the spending is about another
                unit of privacy.
            EngineError: the warehouse cannot hold a ledger: it is not a DuckDB file, or it is read-only.
        """
        from sqlanon.ledger.charged_sources import known_account, open_ledger
        from sqlanon.model.budget import Budget, Unit

        if budget is not None and not isinstance(budget, Budget):
            raise PolicyError(f"a cap is a Budget or None, not a {type(budget).__name__}")
        unit = None if individual is None else Unit(individual)
        ledger = open_ledger(self._engine, self.file)
        found = known_account(self._engine, ledger, dataset)
        ledger.cap(found.name, budget, unit, found.sources, in_rho=in_rho)

    @exclusive
    def knows(self, dataset: str) -> bool:
        """Return whether a data set is a table or file here, or in the ledger; any other name may be a slip."""
        from sqlanon.ledger.charged_sources import resolved

        name = self.dataset_named(dataset)
        entries = self._read().entries()
        return resolved(self._engine, dataset) is not None or any(entry.dataset == name for entry in entries)

    @exclusive
    def dataset_named(self, dataset: str) -> str:
        """Return the ledger's name for a data set, however it is spelled here.

        Raises:
            PolicyError: the name is of a view or a query, which is charged to a given data set; or its files belong to
                several data sets.
        """
        from sqlanon.ledger.charged_sources import known_account

        return known_account(self._engine, self._read(), dataset).name

    @exclusive
    def entries(self) -> pa.Table:
        """Return all rows of the ledger, in order, without their secret nonces, which only the table has.

        Returns:
            a table with columns position, kind (``charge`` or ``cap``), dataset, method, purpose, epsilon, delta (exact
            text; NULL in a cap that was lifted), spent_at (UTC), policy_sha256, previous_sha256, sha256, unit (``row``
            or ``individual``; NULL in caps without one), individual, rows_per_individual, sources (LIST of
            STRUCT(name, fingerprint): tables and files that belong to the data set from here on; NULL if there are
            none), public (LIST of names of other tables and files that were read, declared public), rho (exact text: in
            a charge its ρ, in a cap the bound on their sum; NULL if there is none).
        """
        from sqlanon.ledger.ledger_table import table_of

        return table_of(self._read().entries()).drop_columns("nonce")

    @exclusive
    def verify(self, head: str | None = None) -> str:
        """Check that no row of the ledger was changed, removed, moved or inserted.

        Args:
            head: the hash of a row that must be there. Without it, and without a release in the warehouse that carries
                one, it goes unnoticed if the newest rows were removed, or all rows from one on rewritten.

        Returns:
            the hash of the newest row, to be kept elsewhere.

        Raises:
            EngineError: names the first wrong row, or reports that the noted one is missing.
        """
        return self._read().verify(head)

    @property
    def _could_be_noted(self) -> bool:
        from sqlanon.ledger.ledger_table import could_be_noted

        return could_be_noted(self._engine)

    def _note_in_warehouse(self) -> None:
        """Make the warehouse remember its ledger before the first charge."""
        from sqlanon.ledger.charged_sources import open_ledger

        open_ledger(self._engine, self.file).note_in_warehouse()

    def _account(self, dataset: str) -> Account:
        return self._read().account(self.dataset_named(dataset))

    def _read(self) -> WarehouseLedger:
        from sqlanon.ledger.charged_sources import read_ledger

        return read_ledger(self._engine, self.file)
