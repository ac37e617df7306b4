"""The accountant: every draw has a charge, which the ledger holds before the draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from sqlanon.chance.scales import rho_of
from sqlanon.errors import BudgetError
from sqlanon.model.budget import ROW, Budget, Unit, spelled
from sqlanon.model.names import KnownSource


@dataclass(frozen=True)
class Expense:
    dataset: str
    method: str
    purpose: str  # the step
    budget: Budget
    policy_sha256: str
    unit: Unit = ROW  # by which neighbours differ
    sources: tuple[KnownSource, ...] = ()
    public: tuple[KnownSource, ...] = ()
    rho: Fraction | None = None  # if the loss was converted from zero-concentrated privacy


@dataclass(frozen=True)
class Charge:
    """A permit for one draw at a paid loss; only an :class:`Accountant` and its :class:`Portions` create charges."""

    purpose: str  # the step
    budget: Budget  # the maximum cost of the draw
    position: int | None  # the row in the ledger; None without a ledger, when no draw may be published


class Portions:
    """A paid budget that a run takes portions of. Only an :class:`Accountant` creates one.

    The size of a portion, its purpose, and whether another one follows may depend on public parameters and on earlier
    draws from the same budget, and on nothing else in the data. Then all draws together cost no more than the budget,
    although the portions aren't known beforehand: it is a privacy filter.

    Proof, for δ = 0 (basic composition of Rogers, Roth, Ullman and Vadhan 2016, "Privacy Odometers and Filters"). Let
    o_1, ..., o_k be the draws of a run, o_i at the portion ε_i. Their probability is the product over i of
    P(o_i | o_1, ..., o_(i-1)). Given o_1, ..., o_(i-1), neighbours draw o_i by the same mechanism at the same ε_i, so
    this factor is at most e^ε_i times the neighbour's. The whole product is at most e^(ε_1 + ... + ε_k) times the
    neighbour's, and the sum is at most ε of the budget on every path, since more is refused. A bound that holds for
    each path holds for any set of paths, and for any function of the draws.
    """

    def __init__(self, paid: Charge) -> None:
        self._paid = paid
        self.whole = paid.budget
        self.left: Fraction = paid.budget.epsilon
        self.given: list[Charge] = []

    # guarded: tests/unit/test_portions.py::TestPortions
    def take(self, purpose: str, epsilon: Fraction) -> Charge:
        """Take a portion of the budget for one draw.

        Args:
            purpose: the step; several portions may share one.
            epsilon: the maximum cost, exactly.

        Raises:
            BudgetError: less is left; nothing is taken.
            PolicyError: ε is negative, or a float.
        """
        budget = Budget(epsilon)
        if budget.epsilon > self.left:
            asked = f"ε = {spelled(budget.epsilon)} is asked for"
            left = f"{spelled(self.left)} is left of {spelled(self.whole.epsilon)}, paid for {self._paid.purpose}"
            raise BudgetError(f"{purpose}: nothing is drawn", [f"{asked}, {left}"])
        self.left -= budget.epsilon
        charge = Charge(purpose, budget, self._paid.position)
        self.given.append(charge)
        return charge

    def take_side_by_side(self, purpose: str, epsilon: Fraction, count: int) -> list[Charge]:
        """Take one portion for ``count`` steps on disjoint rows, which together cost as much as one."""
        return [self.take(purpose, epsilon)] * count

    def rest(self, purpose: str) -> Charge:
        """Take all that is left, so that any later draw is refused."""
        return self.take(purpose, self.left)


@dataclass(frozen=True)
class RhoCharge:
    """A permit for one draw at a paid loss of ρ; only :class:`RhoPortions` create them."""

    purpose: str
    rho: Fraction
    position: int | None


class RhoPortions:
    """A paid budget (ε, δ) as ρ, under the conditions of :class:`Portions`.

    Proof (of Feldman & Zrnic 2021, "Individual Privacy Accounting via a Rényi Filter", for draws from countable
    sets). Let P and Q be the probabilities of all draws o_1, ..., o_k of a run on a table and on a neighbour, and
    P_i and Q_i the probabilities of o_i given the draws before; fix an order α > 1. Given the draws before, o_i is
    drawn at a ρ_i that they determine, so that the mean over o_i ~ Q_i of (P_i / Q_i)^α is at most e^((α - 1) α ρ_i).
    So M_i = Π_(j ≤ i) (P_j / Q_j)^α e^(-(α - 1) α ρ_j) has a mean of at most M_(i-1), given the draws before o_i, and
    M_k has a mean of at most 1. More than ρ in all is refused on every path, so Π (P_j / Q_j)^α is at most
    M_k e^((α - 1) α ρ), and its mean at most e^((α - 1) α ρ). This is a Rényi divergence of at most αρ at every order
    α: ρ-zCDP. Runs that end early draw nothing more, at ρ_i = 0.
    """

    def __init__(self, paid: Charge, rho: Fraction) -> None:
        self._paid = paid
        self.whole = paid.budget
        self.rho = rho
        self.left = self.rho
        self.given: list[RhoCharge] = []

    # guarded: tests/unit/test_zcdp.py::TestPortions
    def take(self, purpose: str, rho: Fraction) -> RhoCharge:
        """Take a portion of the budget for one draw.

        Raises:
            BudgetError: less is left, or ρ is below 0; nothing is taken.
        """
        if not 0 <= rho <= self.left:
            asked = f"ρ = {float(rho):.12g} is asked for"
            left = f"{float(self.left):.12g} is left of {float(self.rho):.12g}, paid for {self._paid.purpose}"
            raise BudgetError(f"{purpose}: nothing is drawn", [f"{asked}, {left}"])
        self.left -= rho
        charge = RhoCharge(purpose, rho, self._paid.position)
        self.given.append(charge)
        return charge


class Ledger(Protocol):
    """The book of expenses."""

    def commit(self, expenses: Sequence[Expense]) -> list[int]:
        """Write all rows or none, and return their positions once they are safe on the disk.

        Raises:
            BudgetError: the data set has less left; nothing was written.
            PolicyError: earlier losses of the data set are per another unit of privacy, or its tables or files
                belong to another data set; nothing was written.
            EngineError: the ledger cannot be written, or was tampered with.
        """

    def head(self) -> str:
        """Return the hash of the newest row: with it a release proves that all rows up to there were written."""


class Accountant:
    """Pays for the draws of one run."""

    def __init__(
        self,
        ledger: Ledger | None,  # None for runs whose results are not published: audits, and seeded sources
        *,
        dataset: str,
        method: str,
        policy_sha256: str,
        unit: Unit = ROW,  # by which neighbours differ
        sources: tuple[KnownSource, ...] = (),  # tables and files of the data set
        public: tuple[KnownSource, ...] = (),  # tables and files declared public
    ) -> None:
        self._ledger = ledger
        self._dataset = dataset
        self._method = method
        self._policy_sha256 = policy_sha256
        self._unit = unit
        self._reads = {"sources": sources, "public": public}
        self.paid: list[Budget] = []  # by charge; empty without a ledger

    def charge(self, budgets: Mapping[str, Budget]) -> dict[str, Charge]:
        """Pay for steps on the same rows, whose losses add up.

        Args:
            budgets: the maximum cost by step.

        Raises:
            BudgetError: the data set has less left than the steps cost together; nothing is spent.
            PolicyError: earlier losses of the data set are per another unit of privacy, or its tables or files
                belong to another data set; nothing is spent.
            EngineError: the ledger cannot be written, or was tampered with.
        """
        return self._pay(budgets)

    # guarded: tests/unit/test_portions.py::TestCharges
    def _pay(self, budgets: Mapping[str, Budget], rho: Fraction | None = None) -> dict[str, Charge]:
        expenses = [
            Expense(
                self._dataset, self._method, purpose, budget, self._policy_sha256, self._unit, rho=rho, **self._reads
            )
            for purpose, budget in budgets.items()
        ]
        positions = [None] * len(expenses) if self._ledger is None else self._ledger.commit(expenses)
        self.paid += [] if self._ledger is None else budgets.values()
        return {
            expense.purpose: Charge(expense.purpose, expense.budget, position)
            for expense, position in zip(expenses, positions, strict=True)
        }

    # guarded: tests/unit/test_portions.py::TestCharges
    def charge_in_portions(self, purpose: str, budget: Budget) -> Portions:
        """Pay up front, in one row of the ledger, for steps whose costs are known only during the run.

        All of it is spent, even if the run takes less.

        Args:
            purpose: the steps.
            budget: their maximum total cost, with δ = 0.

        Raises:
            BudgetError, PolicyError, EngineError: as :meth:`charge`.
            ValueError: δ is not 0; nothing is spent.
        """
        if budget.delta:
            raise ValueError(f"portions are of ε alone, and δ = {spelled(budget.delta)} is not 0")
        return Portions(self.charge({purpose: budget})[purpose])

    def charge_in_rho(self, purpose: str, budget: Budget) -> RhoPortions:
        """Pay up front like :meth:`charge_in_portions`, for steps whose costs are in ρ; the ledger records ρ, too.

        Args:
            purpose: the steps.
            budget: their maximum total cost, with ε and δ above 0.

        Raises:
            BudgetError, PolicyError, EngineError: as :meth:`charge`; or the budget buys no ρ, and nothing is spent.
        """
        rho = rho_of(budget)
        return RhoPortions(self._pay({purpose: budget}, rho)[purpose], rho)


# guarded: tests/unit/test_discrete_laplace.py::TestCosts
def require_covered(charge: Charge, loss: float | Fraction) -> None:
    """Refuse a draw that costs more ε than was paid; a float is compared by its exact value."""
    if math.isinf(loss) or Fraction(loss) > charge.budget.epsilon:
        raise BudgetError(
            f"{charge.purpose}: nothing is drawn",
            [f"it would cost ε = {float(loss):.17g}, but {spelled(charge.budget.epsilon)} was paid"],
        )


# guarded: tests/unit/test_zcdp.py::TestScales
def require_rho(charge: RhoCharge, cost: float | Fraction) -> None:
    """Refuse a draw that costs more ρ than was paid; a float is compared by its exact value."""
    if math.isinf(cost) or Fraction(cost) > charge.rho:
        raise BudgetError(
            f"{charge.purpose}: nothing is drawn",
            [f"it would cost ρ = {float(cost):.17g}, but {float(charge.rho):.17g} was paid"],
        )
