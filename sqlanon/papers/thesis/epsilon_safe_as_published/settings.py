"""The settings of ε-safe anonymization as it was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal

from sqlanon.model.budget import ExactNumber
from sqlanon.model.methods.epsilon_safe import DEFAULT_WEIGHT, EpsilonSafe

Penalty = Literal["k-anonymity", "suppression"]
"""What the thesis adds to the loss of a node: something if it is not k-anonymous, or more the more is suppressed."""

DEFAULT_PENALTY_FACTORS: Mapping[Penalty, Fraction] = {"k-anonymity": Fraction(1, 2), "suppression": Fraction(1, 25)}
"""The factor that the thesis finds best for each penalty: Mazzone 2019, section 6.2.2."""


class EpsilonSafeAsPublished(EpsilonSafe):
    """ε-safe anonymization as it was published, for comparison: it does not keep its ε and δ, and claims nothing.

    It draws the node on the sample, with sensitivities that are too small by factors of hundreds. Releases are stamped
    NOT PRIVATE.

    Source: Mazzone 2019, sections 4.5 and 6.2; spec/epsafe.md S1 to S4.

    Args:
        k, beta, delta, epsilon_node, epsilon_sampling, accept_observed_domain: as in :class:`EpsilonSafe`.
        penalty: what is added to the precision that a node loses: ``"k-anonymity"``, the factor if some class has fewer
            than k rows; or ``"suppression"``, the factor times the percentage of the rows that would be suppressed, if
            it is above 5.
        penalty_factor: the factor, above 0; 0.5 or 0.04 by default, by the penalty.

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
        """The factor of the penalty."""
        return DEFAULT_PENALTY_FACTORS[self.penalty] if self.penalty_factor is None else self.penalty_factor
