"""What a search needs of a quality model, and what several of them share.

The loss of a node that was checked, a lower bound of the loss that is known without a check, and a lower bound of the
loss of everything above a checked node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from sqlanon.model.base import Number, PolicyValue, failed_checks
from sqlanon.model.lattice import LossContext, NodeSummary, total

Terms = TypeVar("Terms", float, NDArray[np.float64])
"""A sum of terms, or an array of sums with an entry per node."""

Table = tuple[tuple[float, ...], ...]
"""A number per quasi-identifier and level."""

Columns = NDArray[np.int64]
"""The levels of some nodes: a row per quasi-identifier, a column per node."""

Bounds = NDArray[np.float64]
"""A number per node."""

LARGEST_WEIGHT = 1e12
"""Weights are ratios: a larger one is a slip, and sums of the largest floats overflow."""


@dataclass(frozen=True)
class ClassLoss:
    """What the classes of a node lose by their sizes, as a macro makes it of all classes of the node.

    Attributes:
        name: the name of the loss, as in the report.
        macro: the aggregate.
        of: the columns of a class that it takes: ``anon_class_size`` and ``anon_class_weight`` in rows, ``anon_kept``
            (whether the class is published), and, the same for all, ``anon_row_count`` and ``anon_k`` of the policy.
    """

    name: str
    macro: str
    of: tuple[str, ...]


class QualityModel(PolicyValue):
    """Scores a node by information loss."""

    @property
    def monotonic(self) -> bool:
        """Whether the loss of a more general node is never smaller, whatever is suppressed.

        Without suppression this holds for all of them.
        """
        return False

    @property
    def known(self) -> bool:
        """Whether the loss is known without a check: it is what its known bound is."""
        return False

    @property
    def follows_from_counts(self) -> bool:
        """Whether a check needs to count suppressed rows at most."""
        return self.known

    @property
    def counts_suppressed_weight(self) -> bool:
        """Whether a check must measure the share of suppressed rows, by weight."""
        return False

    @property
    def label_losses(self) -> tuple[str, ...]:
        """The losses of labels that the query of a node must look at."""
        return ()

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        """The losses of classes that it is made of."""
        return ()

    @property
    def measure(self) -> str:
        """The name of the loss, as in the lattice table and the report."""
        return str(self.model).replace("-", "_")  # type: ignore[attr-defined]

    @property
    def by_quasi_identifier(self) -> bool:
        """Whether the query of a node must look at the losses of each quasi-identifier apart."""
        return False

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        """The loss of a checked node."""
        raise NotImplementedError

    def known_bounds(self, context: LossContext) -> Table:
        """Per quasi-identifier and level, terms whose :meth:`combined` sum is at most the loss of a node.

        They do not decrease with the level, and are all 0 if nothing is known.
        """
        return tuple((0.0,) * (height + 1) for height in context.lattice.heights)

    def combined(self, terms: Terms) -> Terms:
        """From a sum of the terms of :meth:`known_bounds` to a lower bound of the loss; it must not decrease."""
        return terms

    def counts_suppression(self, context: LossContext) -> bool:
        """Whether how many rows are suppressed says more of the loss than :meth:`known_bounds` does."""
        return False

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        """Lower bounds of the losses of nodes, given the least share of rows that each suppresses."""
        raise NotImplementedError

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        """A lower bound of the loss of the checked node and of every more general one."""
        return self.combined(total(self.known_bounds(context), summary.levels))


class WeightedModel(QualityModel):
    """A loss that is a mean over quasi-identifiers; some can matter more than others.

    Attributes:
        weights: by quasi-identifier, how much it matters; 1 for those that are not listed.
    """

    weights: dict[str, Number] = Field(default_factory=dict, description="how much a quasi-identifier matters, else 1")

    @field_validator("weights")
    @classmethod
    def _usable(cls, weights: dict[str, Any]) -> dict[str, Any]:
        problems = [f'the weight of "{name}" is negative' for name, weight in weights.items() if weight < 0]
        problems += [
            f'the weight of "{name}" is above {LARGEST_WEIGHT:,.0f}'
            for name, weight in weights.items()
            if weight > LARGEST_WEIGHT
        ]
        if problems:
            raise failed_checks(problems)
        return weights

    def shares(self, quasi_identifiers: tuple[str, ...]) -> tuple[float, ...]:
        """The weights of the quasi-identifiers, in their order, as shares of 1."""
        weights = [self.weights.get(name, 1.0) for name in quasi_identifiers]
        whole = math.fsum(weights)
        return tuple(weight / whole for weight in weights)

    def weighted(self, means: Table, context: LossContext) -> Table:
        """A table of losses / number of quasi-identifiers, with the weights in place of equal shares."""
        shares = self.shares(context.lattice.quasi_identifiers)
        return tuple(
            tuple(loss * len(shares) * share for loss in losses) for losses, share in zip(means, shares, strict=True)
        )


class ChargingModel(QualityModel):
    """A loss that its paper defines for generalization alone, and that can charge for suppression as well.

    Attributes:
        suppressed: ``"ignored"``, as the paper defines it: rows that are suppressed lose what their labels lose.
            ``"charged"``: they lose all, what they would lose if they were generalized to the top.
    """

    suppressed: Literal["ignored", "charged"] = Field(
        default="ignored", description="what suppressed rows lose: what their labels do, or all"
    )

    @property
    def monotonic(self) -> bool:
        return not self.charges

    @property
    def known(self) -> bool:
        return not self.charges

    @property
    def charges(self) -> bool:
        """Whether suppressed rows lose all."""
        return self.suppressed == "charged"

    @property
    def measure(self) -> str:
        return f"charged_{super().measure}" if self.charges else super().measure


def totals(table: Table, nodes: Columns) -> Bounds:
    """The sums of a table over the levels of nodes."""
    sums: Bounds = np.sum([np.asarray(losses)[levels] for losses, levels in zip(table, nodes, strict=True)], axis=0)
    return sums


def measured(measure: float | None) -> float:
    """A measure that was asked for."""
    assert measure is not None
    return float(measure)
