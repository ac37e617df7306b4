"""The settings of the private methods that publish noisy counts at a node: IPA, and the histogram."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from sqlanon.model.base import PolicyValue, failed_checks
from sqlanon.model.budget import Budget, Exact, ExactNumber
from sqlanon.model.policy.private import MOST_ROWS, PaidMethod
from sqlanon.model.policy.private_node import NODE, NodeMethod

CELLS = "cells"
ROLLED_UP = "rolled-up"

DEFAULT_SPLIT = {NODE: Fraction(1, 10), CELLS: Fraction(6, 10), ROLLED_UP: Fraction(3, 10)}
"""What IPA spends on: the choice of a node, the counts of cells, and those of what cells did not show."""


class NoisyCounts(NodeMethod, PaidMethod):
    """A private method that publishes noisy counts of the combinations of labels and value at a node."""

    minimum_count: Annotated[int, Field(ge=1, le=MOST_ROWS, strict=True)] = 1
    reveal_diagnostics: bool = False

    @property
    def void(self) -> str | None:
        if self.reveal_diagnostics:
            return "its report has diagnostics, which were made from the data without noise"
        return None


class IPA(NoisyCounts):
    """Informative-attribute-preserving anonymization, made private.

    A node is drawn by its score, noise is added to the number of rows of each class and value, those with few are left
    out, and what was left out of each value is counted, with noise, in rows that show nothing but the value.

    Source: Lee & Chung 2020; spec/ipa.md B2, which proves what they claim of another mechanism.

    Args:
        budget: ε and δ of the release. With δ = 0 the domain of the sensitive column must be declared as well; then
            every combination of labels and value gets noise, those that nobody has, too.
        node: the level of every quasi-identifier, if it is public; else it is drawn from the data.
        split: by step (``node``, ``cells``, ``rolled-up``) its share of ε, 0.1, 0.6 and 0.3 if not given; δ is halved
            between cells and rolled-up.
        rows_per_individual: how many rows one individual owns at most: of more, so many are chosen at random before
            anything is counted, if the policy says by ``individual`` whose row it is.
        minimum_count: combinations are shown with at least so many rows more than the threshold of privacy asks for
            if it is larger.
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.
        reveal_diagnostics: report how far the release is from the data. That voids the guarantee.
    """

    model: Literal["ipa"] = "ipa"
    budget: Budget = Field(default_factory=lambda: Budget(1, "1e-6"))
    split: dict[str, ExactNumber] | None = None

    def __init__(
        self,
        *,
        budget: Budget | None = None,
        node: Mapping[str, int] | None = None,
        split: Mapping[str, Exact] | None = None,
        rows_per_individual: int = 1,
        minimum_count: int = 1,
        accept_observed_domain: bool = False,
        reveal_diagnostics: bool = False,
        **unknown: Any,
    ) -> None:
        PolicyValue.__init__(
            self,
            budget=Budget(1, "1e-6") if budget is None else budget,
            node=node,
            split=split,
            rows_per_individual=rows_per_individual,
            minimum_count=minimum_count,
            accept_observed_domain=accept_observed_domain,
            reveal_diagnostics=reveal_diagnostics,
            **unknown,
        )

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

    @property
    def budgets(self) -> dict[str, Budget]:
        epsilon, delta = self.budget.epsilon, self.budget.delta
        deltas = {CELLS: delta / 2, ROLLED_UP: delta / 2}
        shares = self._default_split if self.split is None else self.split
        return {step: Budget(epsilon * share, deltas.get(step, 0)) for step, share in shares.items()}

    @property
    def _default_split(self) -> Mapping[str, Fraction]:
        """A public node costs nothing, so the others share what it would."""
        return DEFAULT_SPLIT if self.node is None else {CELLS: Fraction(2, 3), ROLLED_UP: Fraction(1, 3)}


class Histogram(NoisyCounts):
    """The generalized contingency table with noise on every combination of labels and value.

    Of combinations that nobody has, those whose noise alone would show them are drawn, without going through all; with
    δ > 0 they are not looked at.

    Source: the baseline of Lee & Chung 2020, section 5; spec/ipa.md B2, pure mode.

    Args:
        budget: ε and δ of the release; with δ = 0, the default, all domains must be declared.
        node: the level of every quasi-identifier, which is public; level 0 of all if None.
        rows_per_individual, minimum_count, accept_observed_domain, reveal_diagnostics: as in :class:`IPA`.
    """

    model: Literal["histogram"] = "histogram"
    budget: Budget = Field(default_factory=lambda: Budget(1))

    def __init__(
        self,
        *,
        budget: Budget | None = None,
        node: Mapping[str, int] | None = None,
        rows_per_individual: int = 1,
        minimum_count: int = 1,
        accept_observed_domain: bool = False,
        reveal_diagnostics: bool = False,
        **unknown: Any,
    ) -> None:
        PolicyValue.__init__(
            self,
            budget=Budget(1) if budget is None else budget,
            node=node,
            rows_per_individual=rows_per_individual,
            minimum_count=minimum_count,
            accept_observed_domain=accept_observed_domain,
            reveal_diagnostics=reveal_diagnostics,
            **unknown,
        )

    @property
    def budgets(self) -> dict[str, Budget]:
        return {CELLS: self.budget}
