"""The settings of relocation: how large classes are, and how many rows may be moved into them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from sqlanon.model.base import PolicyValue, Share
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.privacy import KAnonymity, PrivacyModel

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy


class Relocation(MethodSettings):
    """Full-domain generalization; rows of classes that are too small get the quasi-identifiers of a class nearby.

    No row is left out and none is invented, but those that are moved are not true any more, and nothing tells which
    they are. A class is moved as a whole to the nearest class that has k rows of its own: the one with which it shares
    the labels that lose least, as a mean over the quasi-identifiers of (leaves - 1) / (domain - 1) of the lowest label
    that both are under.

    A node is chosen as if rows that are moved were suppressed, so that it is the one that suppression within the same
    limit would take: what a row shows in place of its own quasi-identifiers tells no more of it than if it were not
    there. By the labels alone, as they are published, moving rows would cost nothing (Lee et al. 2017).

    Source: Nergiz and Gök 2014 (hybrid k-anonymity), as Lee, Kim, Kim and Chung 2017 compare with it.

    Args:
        k: how many rows a class has at least, 2 or more.
        limit: the share of all rows that may be moved, in [0, 1], inclusive.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["relocation"] = "relocation"
    k: Annotated[int, Field(ge=2, strict=True)]
    limit: Share = 0.05

    def __init__(self, k: int | None = None, *, limit: float = 0.05, **unknown: Any) -> None:
        given = {} if k is None else {"k": k}
        PolicyValue.__init__(self, **given, limit=limit, **unknown)

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    @property
    def against_pseudonyms(self) -> str:
        return "it gives rows the quasi-identifiers of others, and pseudonyms link rows with tables that have their own"

    def counted_columns(self, policy: Policy) -> tuple[str, ...]:
        """All that a release has beside the quasi-identifiers: its rows are made from counts."""
        return (*policy.sensitive, *policy.insensitive)

    def outlier_limit(self, policy: Policy) -> float:
        """The share of rows that may be moved."""
        return self.limit

    def misfits(self, policy: Policy) -> Iterable[str]:
        """What a policy asks for that the method does not do, a sentence each."""
        if not (policy.sensitive or policy.insensitive):
            yield (
                f"{self} needs a sensitive or an insensitive column: of a row whose quasi-identifiers are replaced "
                "nothing else would be left; suppress such rows instead"
            )
        yield from self._other_models(policy)
        why = "it moves rows in place of suppressing them, within a limit of its own"
        yield from self._suppression(policy, why, has_search=True)
        yield from self._weights(policy)
        yield from self._individuals(policy)
