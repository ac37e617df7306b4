"""The settings of top-down specialization: how large classes are, and which predictors are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from sqlanon.model.base import PolicyValue
from sqlanon.model.policy.ranges import Ranges, numbers_that_misfit
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.model.quality import LM

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy


class TopDownSpecialization(MethodSettings):
    """Generalization for classification: labels give way to their children as long as every class has k rows.

    All predictors, which are the quasi-identifiers, begin with one label for all rows. Then, again and again, the label
    whose children tell most of the classes of the sensitive column, for the size that the smallest equivalence class
    loses by it, gives way to them: the largest InfoGain / (AnonyLoss + 1). A label whose rows are all of one class of
    the sensitive column stays, and so does one whose children would leave an equivalence class with fewer than k rows.
    An interval of numbers is split in two where that tells most, at a value that some row has. No row is left out.

    Source: Fung, Wang and Yu 2005 ("Top-down specialization for information and privacy preservation", ICDE) and 2007
    ("Anonymizing classification data for privacy preservation", TKDE 19 (5)).

    Args:
        k: how many rows a class has at least, 2 or more.
        target: the column of classes, which is the sensitive one.
        numeric: by predictor its public range as (low, high) or (low, high, step), high excluded, in place of a
            taxonomy; numbers out of it are refused.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["top-down-specialization"] = "top-down-specialization"
    k: Annotated[int, Field(ge=2, strict=True)]
    target: str | None = None
    numeric: Ranges = Field(default_factory=dict)

    def __init__(
        self,
        k: int | None = None,
        *,
        target: str | None = None,
        numeric: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> None:
        given = {} if k is None else {"k": k}
        PolicyValue.__init__(self, **given, target=target, numeric={} if numeric is None else numeric, **unknown)

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    @property
    def without_taxonomy(self) -> tuple[str, ...]:
        return tuple(self.numeric)

    def counted_columns(self, policy: Policy) -> tuple[str, ...]:
        """The sensitive column: labels are scored by how its values are spread, and rows are made from counts."""
        return policy.sensitive

    def misfits(self, policy: Policy) -> Iterable[str]:
        """What a policy asks for that the method does not do, a sentence each."""
        yield from self._columns_that_misfit(policy)
        yield from self._other_models(policy)
        yield from self._suppression(policy, "it publishes every row, at labels that it looks for itself")
        yield from self._quality(policy, LM(), "it scores labels by what their children tell of the target")
        yield from self._levels(policy)
        yield from numbers_that_misfit(self.numeric, policy)

    def _columns_that_misfit(self, policy: Policy) -> Iterable[str]:
        if len(policy.sensitive) != 1:
            yield f"{self} is for one sensitive column, its target, not {len(policy.sensitive)}"
        else:
            yield from self._other_target(policy, self.target)
        yield from self._insensitive_columns(policy)
        yield from self._weights(policy)
        yield from self._individuals(policy)
