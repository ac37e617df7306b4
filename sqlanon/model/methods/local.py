"""The settings of local recoding: every class has labels of its own levels."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field, field_validator

from sqlanon.model.methods.full_domain import Suppression
from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import Number, Share, failed_checks, kind_of, unknown_names
from sqlanon.model.privacy import MConcealing, PopulationModel
from sqlanon.model.quality import LARGEST_WEIGHT, LM, NCP

Aggregate = Literal["mean", "median", "range"]
"""What is published of the values of a class."""


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
    def why_no_search(self) -> str:
        return "it takes the nodes of the lattice in the order of their loss, and publishes classes at many of them"

    @property
    def against_pseudonyms(self) -> None:
        return None

    @property
    def aggregates(self) -> dict[str, tuple[str, ...]]:
        """By quasi-identifier, the columns that are published behind it."""
        parts = {"mean": ("mean",), "median": ("median",), "range": ("min", "max")}
        return {name: tuple(f"{name}_{part}" for part in parts[kind]) for name, kind in self.aggregate.items()}

    @property
    def added_columns(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(self.aggregates.values()))

    def misfits(self, policy: Requirements) -> Iterable[str]:
        """List what a policy asks for that the method does not do, a sentence each."""
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
