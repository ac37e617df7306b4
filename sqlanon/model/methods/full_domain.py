"""The settings of the methods that search for one node: full-domain generalization, and relocation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import NotNegative, Share, kind_of
from sqlanon.model.privacy import KAnonymity, PrivacyModel, TwoOrMore
from sqlanon.model.quality import LM, Entropy, QualityModel

Objective = Literal["utility", "privacy"]
"""The least loss that meets the privacy models, or the most privacy within a loss."""

SearchName = Literal["optimal", "exhaustive", "ola", "datafly", "samarati", "incognito"]
"""The searches for utility."""

INVERSE_OLA: Literal["inverse-ola"] = "inverse-ola"
"""The only search for privacy."""

AlgorithmName = Literal[SearchName, "inverse-ola"]
"""All searches, as reports name them."""

NEED_MONOTONIC_PRIVACY: frozenset[AlgorithmName] = frozenset({"ola", INVERSE_OLA, "samarati", "incognito"})
"""They conclude from a node that satisfies or fails to the nodes above or below it, so they are sound for monotonic
privacy models only. Without suppression most are (``Policy.is_monotonic``)."""

NEED_MONOTONIC_QUALITY: frozenset[AlgorithmName] = frozenset({"ola", INVERSE_OLA, "incognito"})
"""They look for the best node among the minimal or maximal ones only. Without suppression all models are monotonic."""

HOLD_EVERY_NODE: frozenset[AlgorithmName] = frozenset({"exhaustive", "ola", INVERSE_OLA, "incognito"})
"""They hold arrays with an entry per node; the others work on lattices of any size."""

Suppression = Literal["drop", "mask"]


def _monotonic_if_needed(algorithm: AlgorithmName) -> QualityModel:
    return Entropy() if algorithm in NEED_MONOTONIC_QUALITY else LM()


@kind_of("method")
class FullDomain(MethodSettings):
    """Full-domain generalization with suppression: one node of the lattice for the whole table, found by a search.

    A policy takes these settings as arguments of its own, too, and in its file beside its other fields. One that is
    given in both places, and not the same, is refused.

    Args:
        search: ``"optimal"`` finds the best node with few checks, ``"exhaustive"`` checks every node. ``"ola"``
            (El Emam 2009), ``"incognito"`` (LeFevre 2005) and ``"samarati"`` (2001; a node of least height) need
            monotonic models or no suppression; ``"datafly"`` (Sweeney 2002) is a heuristic.
        objective: ``"utility"`` is the least loss that meets the privacy models. ``"privacy"`` turns the question
            round: the largest k within ``max_loss``, or the smallest m if the policy has an ``MConcealing``; the other
            models of the policy, if any, hold as well. It is found by Inverse OLA (Mazzone 2019), which needs monotonic
            models and a monotonic loss, or no suppression.
        max_loss: for the objective ``"privacy"``, the loss that the release may have at most, in the unit of the
            ``quality`` of the policy.
        suppression_limit: share of rows that may be suppressed, in [0, 1], inclusive; 0 if it is not given.
        suppression: ``"drop"`` leaves suppressed rows out; ``"mask"`` keeps them with ``*`` in every
            quasi-identifier if the masked rows meet the privacy models as a class, and drops them otherwise.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["full-domain"] = "full-domain"
    search: SearchName = "optimal"
    objective: Objective = "utility"
    max_loss: NotNegative | None = None
    suppression_limit: Share = 0.0
    suppression: Suppression = "drop"

    @property
    def default_quality(self) -> QualityModel:
        return _monotonic_if_needed(INVERSE_OLA if self.objective == "privacy" else self.search)

    @property
    def against_pseudonyms(self) -> None:
        return None


DEFAULTS = FullDomain()


@kind_of("method")
class Relocation(MethodSettings):
    """Full-domain generalization; rows of classes that are too small get the quasi-identifiers of a class nearby.

    No row is left out and none is invented, but those that are moved are not true any more, and nothing marks
    them. A class is moved as a whole to the nearest class that has k rows of its own: the one with which it shares
    the labels that lose least, as a mean over the quasi-identifiers of (leaves - 1) / (domain - 1) of the lowest label
    that both are under.

    A node is chosen as if rows that are moved were suppressed, so that it is the one that suppression within the same
    limit would take: what a row shows in place of its own quasi-identifiers reveals no more about it than if it
    were not there. By the labels alone, as they are published, moving rows would cost nothing (Lee et al. 2017).

    Source: Nergiz and Gök 2014 (hybrid k-anonymity), as Lee, Kim, Kim and Chung 2017 compare with it.

    Args:
        k: how many rows a class has at least, 2 or more.
        limit: the share of all rows that may be moved, in [0, 1], inclusive.
        search: how the node is found, as in :class:`FullDomain`.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["relocation"] = "relocation"
    k: TwoOrMore = Field(kw_only=False)
    limit: Share = 0.05
    search: SearchName = "optimal"

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    @property
    def against_pseudonyms(self) -> str:
        return "it gives rows the quasi-identifiers of others, and pseudonyms link rows with tables that have their own"

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        """All that a release has beside the quasi-identifiers: its rows are made from counts."""
        return (*policy.sensitive, *policy.insensitive)

    @property
    def outlier_limit(self) -> float:
        return self.limit

    @property
    def default_quality(self) -> QualityModel:
        return _monotonic_if_needed(self.search)

    @property
    def why_no_search(self) -> str:
        return "it moves rows in place of suppressing them, within a limit of its own"

    def misfits(self, policy: Requirements) -> Iterable[str]:
        """List what a policy asks for that the method does not do, a sentence each."""
        if not (policy.sensitive or policy.insensitive):
            yield (
                f"{self} needs a sensitive or an insensitive column: of a row whose quasi-identifiers are replaced "
                "nothing else would be left; suppress such rows instead"
            )
        yield from self._other_models(policy)
        yield from self._weights(policy)
        yield from self._individuals(policy)
