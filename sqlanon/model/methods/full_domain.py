"""The settings of the methods that publish nodes of the lattice: full domains, relocation, and local recoding."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import NotNegative, Number, Share, failed_checks, kind_of, unknown_names
from sqlanon.model.privacy import KAnonymity, MConcealing, PopulationModel, PrivacyModel, TwoOrMore
from sqlanon.model.quality import LARGEST_WEIGHT, LM, NCP, Entropy, QualityModel

Objective = Literal["utility", "privacy"]
"""The least loss that meets the privacy models, or the most privacy within a loss."""

SearchName = Literal["optimal", "exhaustive", "ola", "datafly", "samarati", "incognito"]  # the searches for utility
INVERSE_OLA: Literal["inverse-ola"] = "inverse-ola"  # the only search for privacy
AlgorithmName = Literal[SearchName, "inverse-ola"]  # all searches, as reports name them

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

    against_pseudonyms: ClassVar = None
    model: Literal["full-domain"] = "full-domain"
    search: SearchName = "optimal"
    objective: Objective = "utility"
    max_loss: NotNegative | None = None
    suppression_limit: Share = 0.0
    suppression: Suppression = "drop"

    @property
    def default_quality(self) -> QualityModel:
        return _monotonic_if_needed(INVERSE_OLA if self.objective == "privacy" else self.search)


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

    why_no_search: ClassVar = "it moves rows in place of suppressing them, within a limit of its own"
    against_pseudonyms: ClassVar = (
        "it gives rows the quasi-identifiers of others, and pseudonyms link rows with tables that have their own"
    )
    model: Literal["relocation"] = "relocation"
    k: TwoOrMore = Field(kw_only=False)
    limit: Share = 0.05
    search: SearchName = "optimal"

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        return (*policy.sensitive, *policy.insensitive)  # rows are made from counts

    @property
    def outlier_limit(self) -> float:
        return self.limit

    @property
    def default_quality(self) -> QualityModel:
        return _monotonic_if_needed(self.search)

    def misfits(self, policy: Requirements) -> Iterable[str]:
        if not (policy.sensitive or policy.insensitive):
            yield (
                f"{self} needs a sensitive or an insensitive column: of a row whose quasi-identifiers are replaced "
                "nothing else would be left; suppress such rows instead"
            )
        yield from self._other_models(policy)
        yield from self._weights(policy)
        yield from self._individuals(policy)


Aggregate = Literal["mean", "median", "range"]  # what is published of the values of a class


@kind_of("method")
class LocalRecoding(MethodSettings):
    """Local recoding: each class is generalized as little as it can be, whatever the other classes need.

    The nodes of the lattice are taken from the least loss to the largest. At each, the classes that meet every privacy
    model are released at its labels, and their rows are taken out of the table (peeling). The rows that are left join
    the class where they cost least. At the end each class gets the finest labels that all of its rows share. A release
    has labels of several levels in one column: a row labelled ``*`` may stand beside one labelled ``50-59``.

    Source: the limit of the iteration in Prasser, Bild and Kuhn 2016 ("A generic method for assessing
    the quality of de-identified health data").

    Args:
        min_share: the share of all rows that a node must take to be used, in [0, 1]: a larger one makes fewer classes
            of more loss. By default a node is used if it takes a single class.
        importance: by quasi-identifier, how much its loss counts in the choice of nodes; 1 for those that are not
            listed. With ``{"age": 5}`` age stays finer, and the other columns pay for it.
        suppression_limit: the share of rows that may be suppressed, in [0, 1], inclusive. Local recoding suppresses
            rows that no class can take alone, and needs no limit as a rule.
        suppression: ``"drop"`` leaves suppressed rows out; ``"mask"`` keeps them with ``*`` in every quasi-identifier
            if they meet the privacy models as a class, and drops them otherwise.
        aggregate: by quasi-identifier of numbers, what is published of the values of each class beside their label:
            ``"mean"``, ``"median"``, or ``"range"``, the least and the greatest value. For ``age`` these are columns
            ``age_mean``, ``age_median``, or ``age_min`` and ``age_max``.
        lower_bound: whether to bound the loss of all recodings by these taxonomies from below, so that the report has
            the gap; by default, if that takes about a second (10⁸ combinations of values times nodes). The bound asks
            no more of classes than their size.

    Raises:
        PolicyError: listing every problem at once.
    """

    why_no_search: ClassVar = (
        "it takes the nodes of the lattice in the order of their loss, and publishes classes at many of them"
    )
    against_pseudonyms: ClassVar = None
    model: Literal["local-recoding"] = "local-recoding"
    min_share: Share = 0.0
    importance: dict[str, Number] = Field(default_factory=dict)
    suppression_limit: Share = 0.0
    suppression: Suppression = "drop"
    aggregate: dict[str, Aggregate] = Field(default_factory=dict)
    lower_bound: bool | None = None

    @field_validator("importance")
    @classmethod
    def _usable(cls, importance: dict[str, Any]) -> dict[str, Any]:
        wrong = [name for name, weight in importance.items() if not 0 < weight <= LARGEST_WEIGHT]
        if wrong:
            raise failed_checks([f'the importance of "{name}" must be above 0' for name in wrong])
        return importance

    @property
    def aggregates(self) -> dict[str, tuple[str, ...]]:
        """By quasi-identifier, the columns that are published behind it."""
        parts = {"mean": ("mean",), "median": ("median",), "range": ("min", "max")}
        return {name: tuple(f"{name}_{part}" for part in parts[kind]) for name, kind in self.aggregate.items()}

    @property
    def added_columns(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(self.aggregates.values()))

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from self._named_misfits(policy)
        if not isinstance(policy.quality, LM | NCP):
            yield f'{self} orders nodes by what their labels lose: take the quality model "lm" or "ncp"'
        elif getattr(policy.quality, "aggregate", "") == "geometric":
            yield f"{self} adds up what labels lose: take an arithmetic aggregate, not a geometric one"
        elif self.importance and getattr(policy.quality, "weights", {}):
            yield f"{self} has its importance, and quality.weights mean the same: give one of them"
        for model in policy.privacy:
            if isinstance(model, PopulationModel | MConcealing):
                yield f"{self} does not take {model}, which is defined for classes of one node"

    def _named_misfits(self, policy: Requirements) -> Iterable[str]:
        for setting in ("importance", "aggregate"):
            for name, meant in unknown_names(getattr(self, setting), policy.quasi_identifiers):
                yield f'method.{setting}: "{name}" is not a quasi-identifier{meant}'
        for name in self.aggregate:
            if policy.minimum_levels.get(name):
                yield f'method.aggregate: values of "{name}" are not to be shown, by its minimum level'

    def shares(self, policy: Requirements) -> tuple[float, ...]:
        """Return the weight of each quasi-identifier in the loss, as a share of 1."""
        weights = self.importance or getattr(policy.quality, "weights", {})
        return LM(weights=weights).shares(policy.quasi_identifiers)
