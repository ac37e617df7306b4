"""Settings of papers' methods as published; importing this module registers them for policies.

The methods themselves are in other modules, so that a policy is read without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from sqlanon.api.extensions import register
from sqlanon.model.budget import ExactNumber
from sqlanon.model.methods.noisy import IPA
from sqlanon.model.methods.sampled_methods import DEFAULT_WEIGHT, EpsilonSafe
from sqlanon.model.policy_value import failed_checks

__all__ = ["EpsilonSafeAsPublished", "IPAAsPublished"]

SUPPRESSION = "suppression"
INSERTION = "insertion"
VALUE = "value"
CANDIDATES = "candidates"

# A penalty on the loss of a node: fixed if it is not k-anonymous, or growing with the suppressed rows.
Penalty = Literal["k-anonymity", "suppression"]

# The best factors by Mazzone 2019, section 6.2.2.
DEFAULT_PENALTY_FACTORS: Mapping[Penalty, Fraction] = {"k-anonymity": Fraction(1, 2), "suppression": Fraction(1, 25)}


class IPAAsPublished(IPA):
    """IPA as it was published, for comparison: it is not differentially private for any ε, and claims nothing.

    Releases are stamped NOT PRIVATE.

    Source: Lee & Chung 2020.

    Args:
        budget: ε that the paper claims; 1 by default.
        node: the level of every quasi-identifier; drawn from the data if not given.
        split: the share of ε of each step (``suppression``, ``insertion``, ``value``, ``candidates``); by default 0.1
            and three times 0.3, as in section 5 of the paper.
        threshold: t, the number of rows up to which a class is suppressed, before noise.
        reveal_diagnostics: report how far the release is from the data.

    Raises:
        PolicyError: listing every problem at once.
    """

    default_split: ClassVar[Mapping[str, Fraction]] = {
        SUPPRESSION: Fraction(1, 10),
        INSERTION: Fraction(3, 10),
        VALUE: Fraction(3, 10),
        CANDIDATES: Fraction(3, 10),
    }

    model: Literal["ipa-as-published"] = "ipa-as-published"  # type: ignore[assignment]
    threshold: Annotated[int, Field(ge=1, strict=True)] = 2

    @model_validator(mode="after")
    def _counts_rows(self) -> IPAAsPublished:
        if self.rows_per_individual > 1 or self.minimum_count > 1:
            raise failed_checks(["rows_per_individual and minimum_count are for IPA, which is private"])
        return self

    @property
    def claims_privacy(self) -> bool:
        return False

    @property
    def void(self) -> str:
        return (
            "the algorithm as published is not differentially private for any ε: rows are published as they are, and "
            "counts only grow"
        )

    @property
    def needs_value_domain(self) -> bool:
        return False

    @property
    def _default_split(self) -> Mapping[str, Fraction]:
        return self.default_split


class EpsilonSafeAsPublished(EpsilonSafe):
    """ε-safe anonymization as it was published, for comparison: it does not keep its ε and δ, and claims nothing.

    It draws the node on the sample, with sensitivities that are too small by factors of hundreds. Releases are stamped
    NOT PRIVATE.

    Source: Mazzone 2019, sections 4.5 and 6.2.

    Args:
        k, beta, delta, epsilon_node, epsilon_sampling, accept_observed_domain: as in :class:`EpsilonSafe`.
        penalty: the addition to the precision that a node loses: ``"k-anonymity"``, the factor if some class has fewer
            than k rows; or ``"suppression"``, the factor times the percentage of suppressed rows, if it is above 5.
        penalty_factor: the factor, above 0; by default 0.5 or 0.04, depending on the penalty.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["epsilon-safe-as-published"] = "epsilon-safe-as-published"  # type: ignore[assignment]
    penalty: Penalty = "suppression"
    penalty_factor: ExactNumber | None = None

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.suppressed_weight != DEFAULT_WEIGHT or self.node is not None or self.select_on != "table" or self.tight:
            yield "suppressed_weight, node, select_on and tight are for EpsilonSafe, which is private"
        if self.penalty_factor == 0:
            yield "penalty_factor must be positive: sensitivities are in proportion to it"

    @property
    def claims_privacy(self) -> bool:
        return False

    @property
    def void(self) -> str:
        return (
            "the algorithm as published does not keep its ε and δ: one row can change what a node is worth by hundreds "
            "of times what it takes for the sensitivity, and its composition theorem does not hold for a node that is "
            "drawn on the sample"
        )

    @property
    def factor(self) -> Fraction:
        return DEFAULT_PENALTY_FACTORS[self.penalty] if self.penalty_factor is None else self.penalty_factor


register(IPAAsPublished, method="sqlanon.papers.ipa_as_published:AsPublishedRun")
register(EpsilonSafeAsPublished, method="sqlanon.papers.epsilon_safe_as_published:AsPublishedRun")
