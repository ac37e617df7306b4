"""Who composes what is spent: no draw without a charge, and no charge that is not in the ledger before the draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlanon.model.budget import Budget, side_by_side
from sqlanon.model.datasets import KnownFile
from sqlanon.model.units import ROW, Unit


@dataclass(frozen=True)
class Expense:
    """What is to be spent: on which data, by what, for which step, and what the neighbours of the loss differ by."""

    dataset: str
    method: str
    purpose: str
    budget: Budget
    policy_sha256: str
    unit: Unit = ROW
    files: tuple[KnownFile, ...] = ()


@dataclass(frozen=True)
class Charge:
    """An expense that was paid: leave to draw once at this loss. Only the :class:`Accountant` makes them.

    Attributes:
        purpose: the step that it is for.
        budget: what the draw may cost.
        position: its row in the ledger; None if no ledger is kept, so that what is drawn must not be published.
    """

    purpose: str
    budget: Budget
    position: int | None


class Ledger(Protocol):
    """The book in which expenses stay."""

    def commit(self, expenses: Sequence[Expense]) -> list[int]:
        """Write rows, all or none of them, and return their positions once they are safe on the disk.

        Raises:
            BudgetError: the data set has less left; nothing was written.
            PolicyError: its losses were about another unit of privacy so far, or its files belong to another data set;
                nothing was written.
            EngineError: the ledger cannot be written, or was tampered with.
        """

    def head(self) -> str:
        """The hash of the newest row, which a release carries as a proof that the rows up to there were written."""


class Accountant:
    """Pays for the draws of one run.

    Args:
        ledger: where it writes; None for runs whose results are not published: audits, and seeded sources.
        dataset: whose budget it spends.
        method: the mechanism, such as ``ipa``.
        policy_sha256: the hash of the policy that asked for it.
        unit: what the neighbours of all losses of the run differ by.
        files: the files that the data set consists of, if it does.

    Attributes:
        paid: what it has written down, charge by charge.
    """

    def __init__(
        self,
        ledger: Ledger | None,
        *,
        dataset: str,
        method: str,
        policy_sha256: str,
        unit: Unit = ROW,
        files: tuple[KnownFile, ...] = (),
    ) -> None:
        self._ledger = ledger
        self._dataset = dataset
        self._method = method
        self._policy_sha256 = policy_sha256
        self._unit = unit
        self._files = files
        self.paid: list[Budget] = []

    def charge(self, budgets: Mapping[str, Budget]) -> dict[str, Charge]:
        """Pay for steps that look at the same rows one after the other: their losses add up.

        Args:
            budgets: by step, what it may cost.

        Raises:
            BudgetError: the data set has less left than all of them cost; nothing is spent.
            PolicyError: its losses were about another unit of privacy so far, or its files belong to another data set;
                nothing is spent.
            EngineError: the ledger cannot be written, or was tampered with.
        """
        expenses = [
            Expense(self._dataset, self._method, purpose, budget, self._policy_sha256, self._unit, self._files)
            for purpose, budget in budgets.items()
        ]
        positions = [None] * len(expenses) if self._ledger is None else self._ledger.commit(expenses)
        self.paid += [] if self._ledger is None else budgets.values()
        return {
            expense.purpose: Charge(expense.purpose, expense.budget, position)
            for expense, position in zip(expenses, positions, strict=True)
        }

    def charge_side_by_side(self, purpose: str, budgets: Sequence[Budget]) -> list[Charge]:
        """Pay for steps of which each looks at rows that no other looks at: together they cost what the dearest does.

        Args:
            purpose: what they are for together, which is one row of the ledger.
            budgets: what each may cost.

        Raises:
            BudgetError, PolicyError, EngineError: as :meth:`charge`.
        """
        paid = self.charge({purpose: side_by_side(budgets)})[purpose]
        return [Charge(purpose, budget, paid.position) for budget in budgets]
