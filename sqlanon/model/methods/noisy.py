"""The settings of private methods: what they may spend, on whose rows; and of noisy counts at a node."""

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

MAX_ROWS = 1 << 31
"""The most rows of one individual, or of a combination: larger numbers are a slip, and noise has 64 bits."""


class PrivateMethod(MethodSettings):
    """A method that is proven to be (ε, δ)-differentially private, for tables that differ by the rows of an individual.

    It publishes the quasi-identifiers, generalized, and one sensitive column as it is; every other column is an
    identifier, which is dropped.

    Args:
        rows_per_individual: how many rows one individual owns at most: of more, this number is chosen at random before
            anything is counted, if the policy says by ``individual`` whose row it is.
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.
    """

    replaces_models: ClassVar = True
    why_no_search: ClassVar = "its counts decide what is shown"
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

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        return policy.sensitive  # whose values are published, by their counts

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from self._columns_that_misfit(policy)
        yield from self._weights(policy)
        if self.rows_per_individual > 1 and policy.individual is None:
            yield "rows_per_individual needs individual, the column that names the owner of a row"
        for privacy in policy.privacy:
            yield f"{self} takes no privacy model, such as {privacy}: what it promises is in its budget"
        yield from self._quality(policy, "how it scores its choices is part of its proof")

    def _columns_that_misfit(self, policy: Requirements) -> Iterable[str]:
        if len(policy.sensitive) != 1:
            yield f"{self} publishes one sensitive column beside the quasi-identifiers, not {len(policy.sensitive)}"
        yield from self._insensitive_columns(policy)


class PaidMethod(PrivateMethod):
    """A private method whose budget is given."""

    budget: Budget

    # guarded: tests/unit/test_guarded_settings.py::TestMethods
    @field_validator("budget")
    @classmethod
    def _some_epsilon(cls, budget: Budget) -> Budget:
        if budget.epsilon == 0:
            raise PydanticCustomError("no_epsilon", "ε must be positive")
        return budget


Selection = Literal["permute-and-flip", "exponential"]
"""The mechanism by which one of several candidates is drawn by its score; both cost the same."""

NODE = "node"  # the step that draws a node, as budgets and ledgers name it


class NodeMethod(PrivateMethod):
    """A private method that publishes what rows have in common at a node."""

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
"""What IPA spends on: the choice of a node, the counts of cells, and those of what cells did not show."""


class NoisyCounts(NodeMethod, PaidMethod):
    """A private method that publishes noisy counts of the combinations of labels and value at a node."""

    minimum_count: Annotated[int, Field(ge=1, le=MAX_ROWS, strict=True)] = 1
    reveal_diagnostics: bool = False

    # guarded: tests/unit/test_methods.py
    @property
    def void(self) -> str | None:
        if self.reveal_diagnostics:
            return "its report has diagnostics, which were made from the data without noise"
        return None


@kind_of("method")
class IPA(NoisyCounts):
    """Informative-attribute-preserving anonymization, made private.

    A node is drawn by its score, noise is added to the number of rows of each class and value, those with few are left
    out, and what was left out of each value is counted, with noise, in rows that show nothing but the value.

    Source: Lee & Chung 2020, corrected: what they claim is proven of this mechanism, and not of theirs.

    Args:
        budget: ε and δ of the release. With δ = 0 the domain of the sensitive column must be declared as well; then
            every combination of labels and value gets noise, those that nobody has, too.
        node: the level of every quasi-identifier, if it is public; else it is drawn from the data.
        split: by step (``node``, ``cells``, ``rolled-up``) its share of ε, 0.1, 0.6 and 0.3 if not given; δ is halved
            between cells and rolled-up.
        rows_per_individual: how many rows one individual owns at most: of more, this number is chosen at random before
            anything is counted, if the policy says by ``individual`` whose row it is.
        minimum_count: combinations are shown with at least this number of rows, or the threshold of privacy if that
            is larger.
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.
        reveal_diagnostics: report how far the release is from the data. That voids the guarantee.
        selection: how a node is drawn: by ``"permute-and-flip"``, or as published, by the ``"exponential"`` mechanism,
            which draws worse nodes at the same ε.
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
        """A public node costs nothing, so the others share what it would."""
        return DEFAULT_SPLIT if self.node is None else {CELLS: Fraction(2, 3), ROLLED_UP: Fraction(1, 3)}


@kind_of("method")
class Histogram(NoisyCounts):
    """The generalized contingency table with noise on every combination of labels and value.

    Of combinations that nobody has, those whose noise alone would show them are drawn, without going through all; with
    δ > 0 they are not looked at.

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
