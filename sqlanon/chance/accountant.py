"""The accountant, who composes charges.

Every draw has a charge, and the ledger holds the charge before the draw.
"""

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
    """An expense: the data set, the method, the step, and the unit by which neighbours differ.

    ``rho`` is that of zero-concentrated privacy, if the loss was made of one.
    """

    dataset: str
    method: str
    purpose: str
    budget: Budget
    policy_sha256: str
    unit: Unit = ROW
    sources: tuple[KnownSource, ...] = ()
    public: tuple[KnownSource, ...] = ()
    rho: Fraction | None = None


@dataclass(frozen=True)
class Charge:
    """Leave to draw once at a paid loss; only an :class:`Accountant` and its :class:`Portions` make charges."""

    purpose: str  # the step that it is for
    budget: Budget  # what the draw may cost
    position: int | None  # its row in the ledger; None if no ledger is kept, so that no draw must be published


class Portions:
    """A paid budget; a run takes portions of it as it goes. Only an :class:`Accountant` makes them.

    How large a portion is, what it is for, and whether there is one more, may depend on public parameters and on what
    was drawn before at portions of the same whole, and on nothing else of the data. Then all draws together cost no
    more than the whole, although nobody knows the portions beforehand: it is a privacy filter.

    Proof, for δ = 0 (basic composition of Rogers, Roth, Ullman and Vadhan 2016, "Privacy Odometers and Filters"). Let
    o_1, ..., o_k be what is drawn in a run, o_i at the portion ε_i. The probability of them is the product over i of
    P(o_i | o_1, ..., o_(i-1)). Given o_1, ..., o_(i-1), neighbours draw o_i by the same mechanism at the same ε_i, so
    that this factor is at most e^ε_i times that of the neighbour. The whole product is at most e^(ε_1 + ... + ε_k)
    times that of the neighbour, and the sum is at most ε of the whole on every path, as more is refused. What holds of
    each path holds of any set of them, and of whatever is made of what was drawn.
    """

    def __init__(self, paid: Charge) -> None:
        self._paid = paid
        self.whole = paid.budget
        self.left: Fraction = paid.budget.epsilon  # the ε that is not given yet
        self.given: list[Charge] = []  # so far, in their order

    # guarded: tests/unit/test_portions.py::TestPortions
    def take(self, purpose: str, epsilon: Fraction) -> Charge:
        """Take a portion of the whole: leave to draw once at this loss.

        Args:
            purpose: the step that it is for; several may have the same.
            epsilon: what it may cost, exactly.

        Raises:
            BudgetError: less is left; nothing is given.
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
        """Take a portion for steps on disjoint rows, as :meth:`take`: together they cost what one does."""
        return [self.take(purpose, epsilon)] * count

    def rest(self, purpose: str) -> Charge:
        """Take all that is left: nothing is afterwards, so that any draw at what is taken then is refused."""
        return self.take(purpose, self.left)


@dataclass(frozen=True)
class RhoCharge:
    """A portion of ρ: leave to draw once at this loss. Only :class:`RhoPortions` make them."""

    purpose: str
    rho: Fraction
    position: int | None


class RhoPortions:
    """A paid budget (ε, δ) as ρ; a run takes portions of ρ as it goes.

    How large a portion is, what it is for, and whether there is one more, may depend on public parameters and on what
    was drawn before at portions of the same whole, and on nothing else of the data; see
    :class:`Portions`.

    Proof (of Feldman & Zrnic 2021, "Individual Privacy Accounting via a Rényi Filter", for draws from countable
    sets). Let P and Q be the probabilities of all draws o_1, ..., o_k of a run on a table and on
    a neighbour, and P_i and Q_i those of o_i given the draws before; fix an order α > 1. Given the draws before, o_i is
    drawn at a ρ_i that these determine, so that the mean over o_i ~ Q_i of (P_i / Q_i)^α is at most e^((α - 1) α ρ_i).
    So M_i = Π_(j ≤ i) (P_j / Q_j)^α e^(-(α - 1) α ρ_j) has a mean of at most M_(i-1), given the draws before o_i, and
    M_k has a mean of at most 1. More than ρ in all is refused on every path, so that Π (P_j / Q_j)^α is at most
    M_k e^((α - 1) α ρ), and its mean at most e^((α - 1) α ρ). That is a Rényi divergence of αρ at most, at every order
    α: ρ-zCDP. Runs that end early draw nothing more, at ρ_i = 0.
    """

    def __init__(self, paid: Charge, rho: Fraction) -> None:
        self._paid = paid
        self.whole = paid.budget
        self.rho = rho  # that of the whole, by :func:`~.scales.rho_of`
        self.left = self.rho  # the ρ that is not given yet
        self.given: list[RhoCharge] = []  # so far, in their order

    # guarded: tests/unit/test_zcdp.py::TestPortions
    def take(self, purpose: str, rho: Fraction) -> RhoCharge:
        """Take a portion of the whole: leave to draw once at this loss.

        Args:
            purpose: the step that it is for; several may have the same.
            rho: what it may cost, exactly.

        Raises:
            BudgetError: less is left, or ρ is below 0; nothing is given.
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
    """The book in which expenses stay."""

    def commit(self, expenses: Sequence[Expense]) -> list[int]:
        """Write rows, all or none of them, and return their positions once they are safe on the disk.

        Raises:
            BudgetError: the data set has less left; nothing was written.
            PolicyError: its losses were about another unit of privacy so far, or its tables or files belong to
                another data set; nothing was written.
            EngineError: the ledger cannot be written, or was tampered with.
        """

    def head(self) -> str:
        """The hash of the newest row, which a release carries as a proof that the rows up to there were written."""


class Accountant:
    """Pays for the draws of one run."""

    def __init__(
        self,
        ledger: Ledger | None,  # None for runs whose results are not published: audits, and seeded sources
        *,
        dataset: str,  # whose budget it spends
        method: str,  # the mechanism, such as ``ipa``
        policy_sha256: str,  # the hash of the policy that asked for it
        unit: Unit = ROW,  # what the neighbours of all losses of the run differ by
        sources: tuple[KnownSource, ...] = (),  # the tables and files that it reads of the data set
        public: tuple[KnownSource, ...] = (),  # those that it reads besides, which were declared public
    ) -> None:
        self._ledger = ledger
        self._dataset = dataset
        self._method = method
        self._policy_sha256 = policy_sha256
        self._unit = unit
        self._reads = {"sources": sources, "public": public}
        self.paid: list[Budget] = []  # what it has written down, charge by charge

    def charge(self, budgets: Mapping[str, Budget]) -> dict[str, Charge]:
        """Pay for steps that look at the same rows one after the other: their losses add up.

        Args:
            budgets: by step, what it may cost.

        Raises:
            BudgetError: the data set has less left than all of them cost; nothing is spent.
            PolicyError: its losses were about another unit of privacy so far, or its tables or files belong to
                another data set; nothing is spent.
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
        """Pay a sum up front for steps whose single costs are known only during the run.

        All of it is spent then, also if the run takes less: what it did not take stays in the ledger.

        Args:
            purpose: what they are for together, which is one row of the ledger.
            budget: what they may cost together, with δ = 0.

        Raises:
            BudgetError, PolicyError, EngineError: as :meth:`charge`.
            ValueError: δ is not 0; nothing is spent.
        """
        if budget.delta:
            raise ValueError(f"portions are of ε alone, and δ = {spelled(budget.delta)} is not 0")
        return Portions(self.charge({purpose: budget})[purpose])

    def charge_in_rho(self, purpose: str, budget: Budget) -> RhoPortions:
        """Pay a sum up front as :meth:`charge_in_portions`, for steps whose costs are in ρ, which the ledger notes.

        Args:
            purpose: what they are for together, which is one row of the ledger.
            budget: what they may cost together, with ε and δ above 0.

        Raises:
            BudgetError, PolicyError, EngineError: as :meth:`charge`; or the budget buys no ρ, and nothing is spent.
        """
        rho = rho_of(budget)
        return RhoPortions(self._pay({purpose: budget}, rho)[purpose], rho)


# guarded: tests/unit/test_discrete_laplace.py::TestCosts
def require_covered(charge: Charge, loss: float | Fraction) -> None:
    """Refuse a draw that costs more ε than was paid for it; a float is compared as the number that it is."""
    if math.isinf(loss) or Fraction(loss) > charge.budget.epsilon:
        raise BudgetError(
            f"{charge.purpose}: nothing is drawn",
            [f"it would cost ε = {float(loss):.17g}, but {spelled(charge.budget.epsilon)} was paid"],
        )


# guarded: tests/unit/test_zcdp.py::TestScales
def require_rho(charge: RhoCharge, cost: float | Fraction) -> None:
    """Refuse a draw that costs more ρ than was paid for it; a float is compared as the number that it is."""
    if math.isinf(cost) or Fraction(cost) > charge.rho:
        raise BudgetError(
            f"{charge.purpose}: nothing is drawn",
            [f"it would cost ρ = {float(cost):.17g}, but {float(charge.rho):.17g} was paid"],
        )
