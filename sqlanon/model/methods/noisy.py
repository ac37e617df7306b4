"""The settings of private methods: their budget, and the rows of an individual; and of noisy counts at a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sqlanon.model.budget import Budget, ExactSetting
from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import Level, failed_checks, kind_of
from sqlanon.model.quality import Entropy, QualityModel

MAX_ROWS = 1 << 31  # of one individual, or of a combination: larger numbers are a slip, and noise has 64 bits


class PrivateMethod(MethodSettings):
    """A method that is proven to be (ε, δ)-differentially private, for tables that differ by the rows of an individual.

    It publishes generalized quasi-identifiers and one unchanged sensitive column; every other column is an identifier,
    which is dropped.

    Args:
        rows_per_individual: the maximum number of rows of an individual; more are sampled down at random before
            anything is counted, if the policy names ``individual``.
        accept_observed_domain: accept taxonomies with values observed in the data; the guarantee then says so.
    """

    replaces_models: ClassVar = True
    why_no_search: ClassVar = "its noisy counts decide what is shown"
    draws: ClassVar = True
    against_pseudonyms: ClassVar = (
        "a pseudonym shows that its row is in the table, and no differentially private release may show that"
    )
    rows_per_individual: Annotated[int, Field(ge=1, le=MAX_ROWS, strict=True)] = 1
    accept_observed_domain: bool = False

    if TYPE_CHECKING:

        @property
        def budget(self) -> Budget:
            """The budget of a release: a field, or the sum of other fields."""

    @property
    def default_quality(self) -> QualityModel:
        return Entropy()

    # guarded: tests/unit/test_guarded_settings.py::TestMethods
    @property
    def is_pure(self) -> bool:
        """Whether it guarantees δ = 0, for which the domain of the sensitive column must be declared."""
        return self.budget.delta == 0

    @property
    def claims_privacy(self) -> bool:
        """Whether it guarantees anything, which the algorithm of a paper may not."""
        return True

    @property
    def void(self) -> str | None:
        """Why it guarantees nothing, even with noise; None if it does."""
        return None

    @property
    def needs_value_domain(self) -> bool:
        """Whether empty combinations can be shown, so that the sensitive column needs a taxonomy."""
        return self.is_pure

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        return policy.sensitive  # whose values are published, by their counts

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from self._columns_that_misfit(policy)
        yield from self._weights(policy)
        if self.rows_per_individual > 1 and policy.individual is None:
            yield "rows_per_individual needs individual, the column that names the owner of a row"
        for privacy in policy.privacy:
            yield f"{self} takes no privacy model, such as {privacy}: its budget is its guarantee"
        yield from self._quality(policy, "how it scores its choices is part of its proof")

    def _columns_that_misfit(self, policy: Requirements) -> Iterable[str]:
        if len(policy.sensitive) != 1:
            yield f"{self} publishes one sensitive column beside the quasi-identifiers, not {len(policy.sensitive)}"
        yield from self._insensitive_columns(policy)


class PaidMethod(PrivateMethod):
    """A private method with a given budget."""

    budget: Budget

    # guarded: tests/unit/test_guarded_settings.py::TestMethods
    @field_validator("budget")
    @classmethod
    def _some_epsilon(cls, budget: Budget) -> Budget:
        if budget.epsilon == 0:
            raise PydanticCustomError("no_epsilon", "ε must be positive")
        return budget


Selection = Literal["permute-and-flip", "exponential"]
"""The mechanism that draws one of several candidates by its score; both cost the same."""

NODE = "node"  # the step that draws a node, in budgets and ledgers


class NodeMethod(PrivateMethod):
    """A private method that publishes rows at a node."""

    node: dict[str, Level] | None = None

    @property
    def chooses_node(self) -> bool:
        """Whether the node is drawn from the data."""
        return False

    @property
    def budgets(self) -> dict[str, Budget]:
        """The budget of each step; together they are the whole budget."""
        raise NotImplementedError

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from super().misfits(policy)
        if self.node is not None and self.node.keys() != set(policy.quasi_identifiers):
            yield "method.node must give every quasi-identifier its level, and nothing else"


CELLS = "cells"
ROLLED_UP = "rolled-up"

DEFAULT_SPLIT = {NODE: Fraction(1, 10), CELLS: Fraction(6, 10), ROLLED_UP: Fraction(3, 10)}
"""The steps of IPA: the choice of a node, the counts of cells, and the counts of values that cells didn't show."""


class NoisyCounts(NodeMethod, PaidMethod):
    """A private method that publishes noisy counts of the combinations of labels and value at a node."""

    minimum_count: Annotated[int, Field(ge=1, le=MAX_ROWS, strict=True)] = 1
    reveal_diagnostics: bool = False

    # guarded: tests/unit/test_methods.py
    @property
    def void(self) -> str | None:
        if self.reveal_diagnostics:
            return "its report has diagnostics, which were computed from the data without noise"
        return None


@kind_of("method")
class IPA(NoisyCounts):
    """Informative-attribute-preserving anonymization, made private.

    A node is drawn by its score, and noise is added to the count of each class and value. Small counts are left out,
    and the rows that are left out are counted by value, with noise, in rows that only show the value.

    Source: Lee & Chung 2020, corrected: their claim is proven for this mechanism, but not for theirs.

    Args:
        budget: ε and δ of the release. With δ = 0 the domain of the sensitive column must be declared, too; then every
            combination of labels and value gets noise, even without rows.
        node: the level of every quasi-identifier, if it is public; otherwise it is drawn from the data.
        split: the share of ε by step (``node``, ``cells``, ``rolled-up``), 0.1, 0.6 and 0.3 if not given; δ is halved
            between cells and rolled-up.
        rows_per_individual: the maximum number of rows of an individual; more are sampled down at random before
            anything is counted, if the policy names ``individual``.
        minimum_count: the minimum count of shown combinations; the threshold of privacy applies if it is larger.
        accept_observed_domain: accept taxonomies with values observed in the data; the guarantee then says so.
        reveal_diagnostics: report the distance of the release from the data, which voids the guarantee.
        selection: the mechanism that draws a node: ``"permute-and-flip"``, or ``"exponential"`` as published, which
            draws worse nodes at the same ε.
    """

    model: Literal["ipa"] = "ipa"
    budget: Budget = Field(default_factory=lambda: Budget(1, "1e-6"))
    split: Mapping[str, ExactSetting] | None = None
    selection: Selection = "permute-and-flip"

    # guarded: tests/unit/test_guarded_settings.py::TestMethods
    @model_validator(mode="after")
    def _split_in_whole(self) -> IPA:
        steps = self._default_split
        if self.split is not None and (
            self.split.keys() != steps.keys() or not all(self.split.values()) or sum(self.split.values()) != 1
        ):
            raise failed_checks([f"split must give {', '.join(steps)} positive shares that add up to 1"])
        return self

    @property
    def chooses_node(self) -> bool:
        return self.node is None

    # guarded: tests/unit/test_methods.py
    @property
    def budgets(self) -> dict[str, Budget]:
        epsilon, delta = self.budget.epsilon, self.budget.delta
        deltas = {CELLS: delta / 2, ROLLED_UP: delta / 2}
        shares = self._default_split if self.split is None else self.split
        return {step: Budget(epsilon * share, deltas.get(step, 0)) for step, share in shares.items()}

    # guarded: tests/unit/test_methods.py::TestSplits
    @property
    def _default_split(self) -> Mapping[str, Fraction]:
        """A public node costs nothing, so its share goes to the others."""
        return DEFAULT_SPLIT if self.node is None else {CELLS: Fraction(2, 3), ROLLED_UP: Fraction(1, 3)}


@kind_of("method")
class Histogram(NoisyCounts):
    """The generalized contingency table with noise on every combination of labels and value.

    Empty combinations whose noise would show them are drawn without going through all of them; with δ > 0 they are
    ignored.

    Source: the baseline of Lee & Chung 2020, section 5.

    Args:
        budget: ε and δ of the release; with δ = 0, the default, all domains must be declared.
        node: the level of every quasi-identifier, which is public; level 0 of all if None.
        rows_per_individual, minimum_count, accept_observed_domain, reveal_diagnostics: as in :class:`IPA`.
    """

    model: Literal["histogram"] = "histogram"
    budget: Budget = Field(default_factory=lambda: Budget(1))

    @property
    def budgets(self) -> dict[str, Budget]:
        return {CELLS: self.budget}
