"""The settings of the methods that publish nodes of the lattice: full domains, relocation, and local recoding."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import Level, NotNegative, Number, Share, failed_checks, kind_of, unknown_names
from sqlanon.model.privacy import KAnonymity, PrivacyModel, TwoOrMore
from sqlanon.model.quality import LARGEST_WEIGHT, LM, NCP, Entropy, QualityModel

Objective = Literal["utility", "privacy"]
"""Minimize the loss given the privacy models, or maximize privacy given a loss."""

SearchName = Literal["optimal", "exhaustive", "ola", "datafly", "samarati", "incognito"]  # the searches for utility
INVERSE_OLA: Literal["inverse-ola"] = "inverse-ola"  # the only search for privacy
AlgorithmName = Literal[SearchName, "inverse-ola"]  # all searches, as reports name them

NEED_MONOTONIC_PRIVACY: frozenset[AlgorithmName] = frozenset({"ola", INVERSE_OLA, "samarati", "incognito"})
"""They infer from a node that satisfies or fails to the nodes above or below it, which is sound only for monotonic
privacy models. Without suppression most are (``Policy.is_monotonic``)."""

NEED_MONOTONIC_QUALITY: frozenset[AlgorithmName] = frozenset({"ola", INVERSE_OLA, "incognito"})
"""They search for the best node only among minimal or maximal ones. Without suppression all models are monotonic."""

HOLD_EVERY_NODE: frozenset[AlgorithmName] = frozenset({"exhaustive", "ola", INVERSE_OLA, "incognito"})
"""They hold arrays with an entry per node; the others work on lattices of any size."""

Suppression = Literal["drop", "mask"]


def _monotonic_if_needed(algorithm: AlgorithmName) -> QualityModel:
    return Entropy() if algorithm in NEED_MONOTONIC_QUALITY else LM()


@kind_of("method")
class FullDomain(MethodSettings):
    """Full-domain generalization with suppression: one node of the lattice for the whole table, found by a search.

    A policy accepts these settings as its own arguments, too, and in its file beside its other fields. Different values
    in both places are refused.

    Args:
        search: ``"optimal"`` finds the best node with few checks, ``"exhaustive"`` checks every node. ``"ola"``
            (El Emam 2009), ``"incognito"`` (LeFevre 2005) and ``"samarati"`` (2001; a node of least height) need
            monotonic models or no suppression; ``"datafly"`` (Sweeney 2002) is a heuristic.
        objective: ``"utility"`` minimizes the loss given the privacy models. ``"privacy"`` does the reverse: it finds
            the largest k within ``max_loss``, or the smallest m if the policy has an ``MConcealing``, subject to all
            other models. Its search is Inverse OLA (Mazzone 2019), which needs monotonic models and a monotonic loss,
            or no suppression.
        max_loss: for the objective ``"privacy"``, the maximum loss of the release, in the unit of the policy's
            ``quality``.
        suppression_limit: share of rows that may be suppressed, in [0, 1], inclusive; 0 if not given.
        suppression: ``"drop"`` leaves suppressed rows out; ``"mask"`` keeps them with ``*`` in every
            quasi-identifier if the masked rows meet the privacy models as a class, and drops them otherwise.
        node: the level of every quasi-identifier, to publish this node without a search: ``{"age": 2, "city": 1}``. It
            must meet the policy on the source. A lattice table and its page still have all nodes.

    Raises:
        PolicyError: lists every problem at once.
    """

    against_pseudonyms: ClassVar = None
    model: Literal["full-domain"] = "full-domain"
    search: SearchName = "optimal"
    objective: Objective = "utility"
    max_loss: NotNegative | None = None
    suppression_limit: Share = 0.0
    suppression: Suppression = "drop"
    node: dict[str, Level] | None = None

    @property
    def default_quality(self) -> QualityModel:
        return _monotonic_if_needed(INVERSE_OLA if self.objective == "privacy" else self.search)

    def misfits(self, policy: Requirements) -> Iterable[str]:
        if self.node is None:
            return
        yield from (f'node: "{name}" has no level' for name in policy.quasi_identifiers if name not in self.node)
        for name, meant in unknown_names(self.node, policy.quasi_identifiers):
            yield f'node: "{name}" is not a quasi-identifier{meant}'
        for name, level in self.node.items():
            least, most = policy.minimum_levels.get(name, 0), policy.maximum_levels.get(name, level)
            if not least <= level <= most:
                yield f'node: level {level} of "{name}" is outside minimum_levels and maximum_levels'
        if self.objective == "privacy":
            yield 'node: objective "privacy" needs a search; leave node out'
        elif self.search != "optimal":
            yield f'node: it takes the place of search "{self.search}"; leave one of them out'

    @model_serializer(mode="wrap")
    def _without_no_node(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out a node that isn't given: policies without one keep their hashes."""
        found: dict[str, Any] = fields(self)
        return {name: value for name, value in found.items() if name != "node" or value is not None}


DEFAULTS = FullDomain()


@kind_of("method")
class Relocation(MethodSettings):
    """Full-domain generalization; rows of classes that are too small get the quasi-identifiers of a nearby class.

    No row is left out or invented, but moved rows are no longer true, and nothing marks them. A class moves as a whole
    to the nearest class with k rows of its own: the distance is the mean over quasi-identifiers of (leaves - 1) /
    (domain - 1) of the lowest label above both.

    The node is chosen as if moved rows were suppressed, so it is the node that suppression within the same limit would
    choose: a moved row reveals no more than if it were left out. By published labels only, moving rows would cost
    nothing (Lee et al. 2017).

    Source: Nergiz and Gök 2014 (hybrid k-anonymity), as Lee, Kim, Kim and Chung 2017 compare with it.

    Args:
        k: the minimum number of rows in a class, 2 or more.
        limit: the share of all rows that may be moved, in [0, 1], inclusive.
        search: the search for the node, as in :class:`FullDomain`.

    Raises:
        PolicyError: lists every problem at once.
    """

    why_no_search: ClassVar = "it moves rows instead of suppressing them, within its own limit"
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


Aggregate = Literal["mean", "median", "range"]  # of the values of a class


@kind_of("method")
class LocalRecoding(MethodSettings):
    """Local recoding: each class is generalized as little as possible, independently of other classes.

    The nodes of the lattice are visited from the least loss to the largest. At each, the classes that meet every
    privacy model are released at its labels, and their rows are removed from the table (peeling). The remaining rows
    join the class where they cost least. At the end each class gets the finest labels that all of its rows share. A
    release has labels of several levels in one column: one row may have ``*`` and another ``50-59``.

    Source: the limit of the iteration in Prasser, Bild and Kuhn 2016 ("A generic method for assessing
    the quality of de-identified health data").

    Args:
        min_share: the share of all rows that a node must release to be used, in [0, 1]: a larger one makes fewer
            classes with more loss. By default a single class is enough.
        importance: the weight of each quasi-identifier's loss in the choice of nodes, 1 by default. With
            ``{"age": 5}`` age stays finer, at the expense of other columns.
        suppression_limit: the share of rows that may be suppressed, in [0, 1], inclusive. Local recoding only
            suppresses rows that no class can accept, and usually needs no limit.
        suppression: ``"drop"`` leaves suppressed rows out; ``"mask"`` keeps them with ``*`` in every quasi-identifier
            if they meet the privacy models as a class, and drops them otherwise.
        aggregate: by numeric quasi-identifier, the aggregate of each class to publish beside the label: ``"mean"``,
            ``"median"``, or ``"range"``, the least and the greatest value. For ``age`` the columns are ``age_mean``,
            ``age_median``, or ``age_min`` and ``age_max``.
        lower_bound: whether to compute a lower bound of the loss of all recodings by these taxonomies, so that the
            report has the gap; by default, if that takes about a second (10⁸ combinations of values times nodes). The
            bound only considers class sizes.

    Raises:
        PolicyError: lists every problem at once.
    """

    why_no_search: ClassVar = (
        "it visits the nodes of the lattice in the order of their loss, and publishes classes at many of them"
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
        """The published columns beside each quasi-identifier."""
        parts = {"mean": ("mean",), "median": ("median",), "range": ("min", "max")}
        return {name: tuple(f"{name}_{part}" for part in parts[kind]) for name, kind in self.aggregate.items()}

    @property
    def added_columns(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(self.aggregates.values()))

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from self._named_misfits(policy)
        if not isinstance(policy.quality, LM | NCP):
            yield f'{self} orders nodes by the loss of their labels: use the quality model "lm" or "ncp"'
        elif getattr(policy.quality, "aggregate", "") == "geometric":
            yield f"{self} adds up the losses of labels: use an arithmetic aggregate, not a geometric one"
        elif self.importance and getattr(policy.quality, "weights", {}):
            yield f"{self}: importance and quality.weights mean the same; give only one of them"
        for model in policy.privacy:
            if model.is_of_one_node:
                yield f"{self} does not take {model}, which is defined for classes of one node"

    def _named_misfits(self, policy: Requirements) -> Iterable[str]:
        for setting in ("importance", "aggregate"):
            for name, meant in unknown_names(getattr(self, setting), policy.quasi_identifiers):
                yield f'method.{setting}: "{name}" is not a quasi-identifier{meant}'
        for name in self.aggregate:
            if policy.minimum_levels.get(name):
                yield f'method.aggregate: the minimum level of "{name}" forbids showing its values'
