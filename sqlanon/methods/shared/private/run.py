"""A run of a private method: what it draws is paid for from the budget of a data set.

What is charged is in the ledger before anything is drawn, and stays there whatever happens to the run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import ClassVar

from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import BudgetError, PolicyError, VerificationError, with_spent
from sqlanon.mechanisms.accountant import Accountant
from sqlanon.methods.base import Run
from sqlanon.methods.shared.private.chance import Chance, private_method, unit_of
from sqlanon.methods.shared.private.report import private_guarantee, private_provenance
from sqlanon.model.budget import sequential_composition
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record
from sqlanon.model.release import Guarantee, PrivateReport, Report
from sqlanon.queries.source import SourceColumn


class PrivateRun(Run):
    """One run of a private method; its :meth:`charge` pays with its accountant.

    Attributes:
        instead_of_time_limit: what a user who gives a time limit can do.
        chance: where it draws from, and who pays.
    """

    is_private = True
    instead_of_time_limit: ClassVar[str]

    def refuse_request(self, policy: Policy) -> None:
        """See :meth:`Run.refuse_request`; what it chose within a time limit would depend on the clock."""
        super().refuse_request(policy)
        if self.request.stopped is not None:
            raise PolicyError(f"a private method takes no time limit: {self.instead_of_time_limit}")

    def open_account(self, source: ResolvedSource, policy: Policy) -> None:
        """Find what is drawn with, and the account that pays.

        Raises:
            PolicyError: what was spent before is about another unit of privacy, or as :meth:`Chance.found`.
            EngineError: no ledger outlives the session, or another one is that of the warehouse.
        """
        self.chance = Chance.found(self.engine, source, policy, self.request)

    @cached_property
    def accountant(self) -> Accountant:
        """Who charges the data set for what the policy spends."""
        dataset, policy = self.chance.dataset, self.bound.policy
        return Accountant(
            self.chance.ledger,
            dataset=dataset.name,
            method=private_method(policy).name,
            policy_sha256=policy.sha256(),
            unit=unit_of(policy, self.chance.individual),
            sources=dataset.sources,
            public=dataset.public,
        )

    @contextmanager
    def reporting_spend(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if paid := self.accountant.paid:
                with_spent(error, **sequential_composition(paid).model_dump(mode="json"))
            raise

    @abstractmethod
    def charge(self) -> None: ...

    @abstractmethod
    def make(self) -> None: ...

    def verify(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> None:
        refuse_other_than_drawn(self.differences(written, companions))

    def record(self, report: Report, inputs: Inputs | None) -> Record:
        """See :meth:`Run.record`; what it was made from depends on the data, and is not in it."""
        assert isinstance(report, PrivateReport)
        return private_provenance(self.bound, report, self.chance, self.labels_record(report))

    def guarantee(self, report: Report) -> Guarantee:
        assert isinstance(report, PrivateReport)
        return private_guarantee(self.bound, report, self.theorem, self.chance, self.conditions)

    @property
    @abstractmethod
    def theorem(self) -> str:
        """What proves the claim."""

    @property
    def conditions(self) -> Sequence[str]:
        """What the claim rests on besides what it does for all private methods."""
        return ()


@contextmanager
def refusing_small_budgets(method: PrivateMethod) -> Iterator[None]:
    """Have an ε that is too small to draw at be a fault of the policy, before anything is charged.

    Raises:
        PolicyError: within, scales or thresholds were asked for at such an ε.
    """
    try:
        yield
    except BudgetError as error:
        raise PolicyError(f"the budget of the {method} cannot be drawn with: {error.heading}", error.problems) from None


def refuse_other_than_drawn(problems: Sequence[str]) -> None:
    """Refuse a release that is not what was drawn, if there are problems.

    Raises:
        VerificationError: listing them.
    """
    if problems:
        raise VerificationError(
            "what was written is not what was drawn; it was withdrawn, and what was spent is spent:", problems
        )


def no_category(found: SourceColumn) -> str:
    """The refusal of a column whose equal values differ in spelling, from which its rows would be made anew."""
    return (
        f'"{found.name}" is published as a category, for which its type, {found.type}, is not fit: equal values can be '
        "spelled in several ways; cast it to VARCHAR in a view"
    )
