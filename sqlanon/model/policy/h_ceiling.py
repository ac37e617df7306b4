"""The settings of h-ceiling: how general labels may be, and what fills the classes that are then too small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from sqlanon.model.base import PolicyValue, Share
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.model.quality import LM

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

Fill = Literal["marginal", "uniform"]


class HCeiling(MethodSettings):
    """Full-domain generalization up to a ceiling; classes of fewer than k rows are filled up with counterfeits.

    A release has k rows or more in every class, which are rows and not persons: some are invented. No row is more
    general than the ceiling. Of the nodes that keep to it, the one that needs the fewest counterfeits is published; of
    several, that of the least reconstruction error.

    Source: Lee, Kim, Kim and Chung 2017, corrected as in spec/hceiling.md.

    Args:
        k: how many rows a class has at least, 2 or more.
        h: the ceiling, in [0, 1]: the mean over the quasi-identifiers of (leaves - 1) / (domain - 1) that the labels of
            no row may exceed. Without one no counterfeits are needed: it is then plain k-anonymity, as general as it
            has to be.
        fill: how the sensitive values of counterfeits are drawn: ``"marginal"`` as they are in the whole table, or
            ``"uniform"`` from the values that occur, as published; the latter makes counterfeits of rare values easy to
            tell (spec/hceiling.md, H8).

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["h-ceiling"] = "h-ceiling"
    k: Annotated[int, Field(ge=2, strict=True)]
    h: Share | None = None
    fill: Fill = "marginal"

    def __init__(
        self, k: int | None = None, *, h: float | None = None, fill: Fill = "marginal", **unknown: Any
    ) -> None:
        given = {} if k is None else {"k": k}
        PolicyValue.__init__(self, **given, h=h, fill=fill, **unknown)

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    @property
    def counts_values(self) -> bool:
        return True

    @property
    def draws(self) -> bool:
        return True

    def misfits(self, policy: Policy) -> Iterable[str]:
        """What a policy asks for that the method does not do, a sentence each."""
        if len(policy.sensitive) != 1:
            yield f"{self} draws the values of one sensitive column for counterfeits, not of {len(policy.sensitive)}"
        for name in policy.insensitive:
            yield (
                f'{self} cannot publish the insensitive "{name}": counterfeits have no values of it, which would tell '
                "them; make it an identifier, which is dropped, or a quasi-identifier"
            )
        if policy.privacy != self.implied_models:
            yield f"{self} takes no privacy model but k-anonymity of its own k: give k there alone"
        searched = policy.search != "optimal" or policy.objective != "utility"
        if policy.suppression_limit or policy.suppression != "drop" or searched:
            settings = "suppression_limit, suppression, search or objective"
            yield f"{self} takes no {settings}: it fills classes up in place of suppressing them"
        if policy.quality != LM():
            yield f"{self} takes no quality model: it looks for the fewest counterfeits below its ceiling"
        if policy.row_weight is not None:
            yield f'{self} counts rows, not the weights of "{policy.row_weight}"'
        if policy.individual is not None:
            yield f'{self} counts rows, not the individuals of "{policy.individual}": counterfeits are nobody\'s rows'
