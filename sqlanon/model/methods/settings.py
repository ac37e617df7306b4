"""The settings of a method in a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from sqlanon.model.policy_value import PolicyValue
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.quality import LM, QualityModel


class Requirements(Protocol):
    """The part of a policy that a method must fit."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    privacy: tuple[PrivacyModel, ...]
    quality: QualityModel
    minimum_levels: dict[str, int]
    maximum_levels: dict[str, int]
    row_weight: str | None
    individual: str | None

    @property
    def taxonomies(self) -> Mapping[str, object]:
        """The rules of taxonomies by column."""

    @property
    def method(self) -> MethodSettings: ...


class MethodSettings(PolicyValue):
    """The settings of a method in a policy; :mod:`sqlanon.methods` has the rest.

    A subclass has a field ``model``, a literal with its name, and is registered by
    :func:`sqlanon.model.policy_value.kind_of`. A module of this folder is imported automatically.
    """

    @classmethod
    def of(cls, policy: Requirements) -> Self:
        """Return the method of a policy, which has to be of this class."""
        assert isinstance(policy.method, cls)
        return policy.method

    @property
    def name(self) -> str:
        """The name of the method in reports and the ledger."""
        return str(self.model)  # type: ignore[attr-defined]

    @property
    def replaces_models(self) -> bool:
        """Whether its guarantee replaces privacy models, which a policy otherwise needs."""
        return False

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        """The privacy models that its releases meet by its own settings; a policy need not name them."""
        return ()

    @property
    def needs_taxonomies(self) -> bool:
        """Whether quasi-identifiers need taxonomies, unless it makes their labels (:attr:`without_taxonomy`)."""
        return True

    @property
    def without_taxonomy(self) -> tuple[str, ...]:
        """The columns that it generalizes without a taxonomy: numbers that become intervals or bins."""
        return tuple(getattr(self, "numeric", ()))

    @property
    def added_columns(self) -> tuple[str, ...]:
        """The columns of a release that the source lacks."""
        return ()

    @property
    def invents_values(self) -> bool:
        """Whether a release has sensitive values that no row of the source has there."""
        return self.replaces_models

    @property
    def draws(self) -> bool:
        """Whether a release depends on random draws."""
        return False

    @property
    def claims_privacy(self) -> bool:
        """Whether it guarantees differential privacy, and is charged for it."""
        return False

    @property
    def needs_value_domain(self) -> bool:
        """Whether the sensitive columns need taxonomies."""
        return False

    @property
    def against_pseudonyms(self) -> str | None:
        """Why it cannot publish pseudonyms, in words; None if it publishes rows of the source as rows."""
        return "it does not publish the rows of the source one by one"

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        """Return the columns whose values it counts, besides those of the privacy models."""
        return ()

    @property
    def outlier_limit(self) -> float:
        """The share of rows in violating classes that may be suppressed, or treated in another way."""
        return getattr(self, "suppression_limit", 0.0)

    @property
    def default_quality(self) -> QualityModel:
        """The loss of a policy that names none."""
        return LM()

    @property
    def why_no_search(self) -> str:
        """Why it lacks some settings of :class:`FullDomain`, in words."""
        return "it neither suppresses nor searches as full domains do"

    def misfits(self, policy: Requirements) -> Iterable[str]:
        """List requirements of a policy that the method can't fulfil, a sentence each."""
        return ()

    def _other_models(self, policy: Requirements) -> Iterable[str]:
        if policy.privacy != self.implied_models:
            yield f"{self} takes no privacy model but k-anonymity with its own k: give k only there"

    def _weights(self, policy: Requirements) -> Iterable[str]:
        if policy.row_weight is not None:
            yield f'{self} counts rows, not the weights of "{policy.row_weight}"'

    def _individuals(self, policy: Requirements, why: str = "") -> Iterable[str]:
        if policy.individual is not None:
            yield f'{self} counts rows, not the individuals of "{policy.individual}"{why}'

    def _insensitive_columns(self, policy: Requirements) -> Iterable[str]:
        for name in policy.insensitive:
            yield f'{self} cannot publish the insensitive "{name}"; make it an identifier, which is dropped'

    def _other_target(self, policy: Requirements, target: str | None) -> Iterable[str]:
        if target is not None and policy.sensitive != (target,):
            yield f'the target "{target}" must be the one sensitive column'

    def _quality(self, policy: Requirements, why: str) -> Iterable[str]:
        if policy.quality != self.default_quality:
            yield f"{self} takes no quality model: {why}"

    def _levels(self, policy: Requirements) -> Iterable[str]:
        if policy.minimum_levels or policy.maximum_levels:
            yield f"{self} takes no minimum_levels or maximum_levels: its labels are of several levels"

    def __str__(self) -> str:
        return f'method "{self.name}"'
