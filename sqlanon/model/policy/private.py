"""The settings that all private methods have: what they may spend, and on whose rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from sqlanon.model.budget import Budget
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.quality import Entropy

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

MOST_ROWS = 1 << 31
"""The most rows of one individual, or of a combination: larger numbers are a slip, and noise has 64 bits."""


class PrivateMethod(MethodSettings):
    """A method that is proven to be (ε, δ)-differentially private, for tables that differ by the rows of an individual.

    It publishes the quasi-identifiers, generalized, and one sensitive column as it is; every other column is an
    identifier, which is dropped.
    """

    rows_per_individual: Annotated[int, Field(ge=1, le=MOST_ROWS, strict=True)] = 1
    accept_observed_domain: bool = False

    if TYPE_CHECKING:

        @property
        def budget(self) -> Budget:
            """What a release may cost: a field, or what other fields come to."""

    @property
    def replaces_models(self) -> bool:
        return True

    @property
    def draws(self) -> bool:
        return True

    @property
    def is_pure(self) -> bool:
        """Whether it promises δ = 0, for which the domain of the sensitive column must be declared."""
        return self.budget.delta == 0

    @property
    def claims_privacy(self) -> bool:
        """Whether it promises anything: the algorithm of a paper may not."""
        return True

    @property
    def void(self) -> str | None:
        """Why it promises nothing, whatever its noise is; None if it does."""
        return None

    @property
    def needs_value_domain(self) -> bool:
        """Whether combinations that nobody has can be shown, so that the sensitive column needs a taxonomy."""
        return self.is_pure

    @property
    def against_pseudonyms(self) -> str:
        return "a pseudonym shows that its row is in the table, and no differentially private release may show that"

    def counted_columns(self, policy: Policy) -> tuple[str, ...]:
        """The sensitive column: what is published is its values, by their counts."""
        return policy.sensitive

    def misfits(self, policy: Policy) -> Iterable[str]:
        """What a policy asks for that the method does not do, a sentence each."""
        yield from self._roles_that_misfit(policy)
        for privacy in policy.privacy:
            yield f"{self} takes no privacy model, such as {privacy}: what it promises is in its budget"
        yield from self._suppression(policy, "its counts decide what is shown")
        yield from self._quality(policy, Entropy(), "how it scores its choices is part of its proof")

    def _roles_that_misfit(self, policy: Policy) -> Iterable[str]:
        if len(policy.sensitive) != 1:
            yield f"{self} publishes one sensitive column beside the quasi-identifiers, not {len(policy.sensitive)}"
        yield from self._insensitive_columns(policy)
        yield from self._weights(policy)
        if self.rows_per_individual > 1 and policy.individual is None:
            yield "rows_per_individual needs individual, the column that tells whose row it is"


class PaidMethod(PrivateMethod):
    """A private method whose budget is given."""

    budget: Budget

    @field_validator("budget")
    @classmethod
    def _some_epsilon(cls, budget: Budget) -> Budget:
        if budget.epsilon == 0:
            raise PydanticCustomError("no_epsilon", "ε must be positive")
        return budget
