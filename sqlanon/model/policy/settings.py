"""The settings of a method: what a policy says of how it is to be met."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sqlanon.model.base import PolicyValue

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy
    from sqlanon.model.privacy import PrivacyModel


class MethodSettings(PolicyValue):
    """What a policy says of a method; :mod:`sqlanon.methods` has the rest.

    A class of its own has a field ``model``, a literal with its name.
    """

    @property
    def name(self) -> str:
        """The method as reports and the ledger name it."""
        return str(self.model)  # type: ignore[attr-defined]

    @property
    def algorithm(self) -> str:
        """The name under which :mod:`sqlanon.methods.registry` finds the method."""
        return self.name

    @property
    def given(self) -> dict[str, Any]:
        """The fields of a policy that it was given as settings of its own."""
        return {}

    @property
    def replaces_models(self) -> bool:
        """Whether what it promises takes the place of privacy models, which a policy must have otherwise."""
        return False

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        """The privacy models that its releases meet, if it says itself which: those of a policy that names none."""
        return ()

    @property
    def without_taxonomy(self) -> tuple[str, ...]:
        """The quasi-identifiers that it generalizes without one, such as numbers to intervals."""
        return ()

    @property
    def added_columns(self) -> tuple[str, ...]:
        """The columns that a release has besides those of the source."""
        return ()

    @property
    def draws(self) -> bool:
        """Whether something of a release is drawn at random."""
        return False

    @property
    def claims_privacy(self) -> bool:
        """Whether it promises differential privacy, and is charged for it."""
        return False

    @property
    def needs_value_domain(self) -> bool:
        """Whether the sensitive columns need taxonomies."""
        return False

    def counted_columns(self, policy: Policy) -> tuple[str, ...]:
        """The columns whose values it counts, whatever the privacy models look at."""
        return ()

    def outlier_limit(self, policy: Policy) -> float:
        """The share of rows that may be in classes that fall short: suppressed, if it does nothing else with them."""
        return policy.suppression_limit

    def misfits(self, policy: Policy) -> Iterable[str]:
        """What a policy asks for that the method does not do, a sentence each."""
        return ()

    def _other_models(self, policy: Policy) -> Iterable[str]:
        """That a policy asks for privacy models beside the k-anonymity that the method is about."""
        if policy.privacy != self.implied_models:
            yield f"{self} takes no privacy model but k-anonymity of its own k: give k there alone"

    def _weights(self, policy: Policy) -> Iterable[str]:
        """That a policy has weights for a method that counts rows."""
        if policy.row_weight is not None:
            yield f'{self} counts rows, not the weights of "{policy.row_weight}"'

    def __str__(self) -> str:
        return f'method "{self.name}"'
