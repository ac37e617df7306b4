"""Quality models: how much information a node loses (``spec/metrics.md``). Less is better in all of them.

A search needs three things of a quality model: the loss of a node that was checked, a lower bound of the loss
that is known without a check, and a lower bound of the loss of everything above a checked node.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from sqlanon.model.base import PolicyValue, failed_checks
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


class QualityModel(PolicyValue):
    """Scores a node by information loss.

    Attributes:
        monotonic: whether the loss of a more general node is never smaller, whatever is suppressed. Without
            suppression this holds for all of them.
        known: whether the loss is known without a check: it is what its known bound is.
        label_losses: the losses of labels that the query of a node must look at.
    """

    monotonic: ClassVar[bool] = False
    known: ClassVar[bool] = False
    label_losses: ClassVar[tuple[str, ...]] = ()

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
    """A loss that is a mean over quasi-identifiers, of which some can matter more than others.

    Attributes:
        weights: by quasi-identifier, how much it matters; 1 for those that are not listed.
    """

    weights: dict[str, float] = Field(default_factory=dict, description="how much a quasi-identifier matters, else 1")

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


class Prec(WeightedModel):
    """Precision loss: the mean over quasi-identifiers of level / height, in [0, 1] (Sweeney 2002, section 4.3).

    With ``weights`` the weighted mean (Mazzone 2019, section 4.4).
    """

    monotonic: ClassVar[bool] = True
    known: ClassVar[bool] = True
    model: Literal["prec"] = "prec"

    def __init__(self, *, weights: Mapping[str, float] | None = None, model: str = "prec", **unknown: Any) -> None:
        PolicyValue.__init__(self, weights=dict(weights or {}), model=model, **unknown)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return total(self.known_bounds(context), summary.levels)

    def known_bounds(self, context: LossContext) -> Table:
        return self.weighted(context.losses.prec, context) if self.weights else context.losses.prec


class Entropy(QualityModel):
    """Non-uniform entropy in bits, in [0, n·H], suppression ignored (El Emam et al. 2009)."""

    monotonic: ClassVar[bool] = True
    known: ClassVar[bool] = True
    model: Literal["entropy"] = "entropy"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return total(context.losses.entropy, summary.levels)

    def known_bounds(self, context: LossContext) -> Table:
        return context.losses.entropy


class LM(WeightedModel):
    """Loss metric: mean over rows and quasi-identifiers of (leaves - 1) / (domain - 1), in [0, 1] (Iyengar 2002).

    Suppressed rows lose 1 each (row policy ``real``), so the loss is not monotonic; without suppression it is a
    lower bound of itself. With ``aggregate="geometric"`` the losses L of the quasi-identifiers, means over rows, are
    combined to product(1 + L)^(1/q) - 1, which is ARX's "Loss". With ``weights`` both are weighted means.
    """

    label_losses: ClassVar[tuple[str, ...]] = ("lm",)
    model: Literal["lm"] = "lm"
    aggregate: Literal["arithmetic", "geometric"] = Field(
        default="arithmetic", description="how the losses of the quasi-identifiers are combined"
    )

    def __init__(
        self,
        *,
        aggregate: Literal["arithmetic", "geometric"] = "arithmetic",
        weights: Mapping[str, float] | None = None,
        model: str = "lm",
        **unknown: Any,
    ) -> None:
        PolicyValue.__init__(self, aggregate=aggregate, weights=dict(weights or {}), model=model, **unknown)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @property
    def measure(self) -> str:
        return "lm" if self.aggregate == "arithmetic" else "geometric_lm"

    @property
    def by_quasi_identifier(self) -> bool:
        return self.aggregate == "geometric" or bool(self.weights)

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.combined_loss if self.by_quasi_identifier else summary.lm)

    def counts_suppression(self, context: LossContext) -> bool:
        return bool(context.losses.largest_lm)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        shares = np.array(self.shares(context.lattice.quasi_identifiers))
        losses = _with_suppression(context.losses.lm, context.losses.largest_lm, nodes, suppressed)
        bounds: Bounds = shares @ losses if self.aggregate == "arithmetic" else np.expm1(shares @ np.log1p(losses))
        return bounds

    def known_bounds(self, context: LossContext) -> Table:
        if self.aggregate == "arithmetic":
            return self.weighted(context.losses.lm, context)
        shares = self.shares(context.lattice.quasi_identifiers)
        return tuple(
            tuple(share * math.log1p(loss * len(shares)) for loss in losses)
            for losses, share in zip(context.losses.lm, shares, strict=True)
        )

    def combined(self, terms: Terms) -> Terms:
        return terms if self.aggregate == "arithmetic" else np.expm1(terms)


class NCP(QualityModel):
    """Normalized certainty penalty: mean over rows and quasi-identifiers of leaves / domain, 0 for a single leaf.

    In [0, 1]; suppressed rows lose 1 each (row policy ``real``), as in :class:`LM` (Xu et al. 2006; Lee and
    Chung 2020, equation 6, divided by the number of quasi-identifiers).
    """

    label_losses: ClassVar[tuple[str, ...]] = ("ncp",)
    model: Literal["ncp"] = "ncp"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.ncp)

    def counts_suppression(self, context: LossContext) -> bool:
        return bool(context.losses.largest_ncp)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        losses = _with_suppression(context.losses.ncp, context.losses.largest_ncp, nodes, suppressed)
        bounds: Bounds = losses.mean(axis=0)
        return bounds

    def known_bounds(self, context: LossContext) -> Table:
        return context.losses.ncp


class DMStar(QualityModel):
    """Discernibility before suppression: the sum of squared class sizes, in [n, n²] (El Emam et al. 2009)."""

    monotonic: ClassVar[bool] = True
    model: Literal["dm-star"] = "dm-star"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.dm_star)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.dm_star)


class DM(QualityModel):
    """Discernibility with suppressed rows at the size of the table, in [n, n²] (Bayardo and Agrawal 2005).

    Not monotonic: a merge that lifts a class over k lowers it. DM* bounds it from below.
    """

    model: Literal["dm"] = "dm"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.dm)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.dm_star)


class AECS(QualityModel):
    """Average size of the classes over k, the suppressed rows as one class (LeFevre et al. 2006; ARX). Not monotonic.

    The average of the kept classes alone, which LeFevre et al. do not define, would reward suppression.
    """

    model: Literal["aecs"] = "aecs"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return _known(summary.aecs)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        # A node above has no more classes than there are here, and suppressed rows are a class in place of theirs.
        return context.row_count / summary.class_count / context.k


def _with_suppression(means: Table, largest: Table, nodes: Columns, suppressed: Bounds) -> Bounds:
    """Per quasi-identifier and node, the least mean loss over rows.

    A suppressed row loses 1 where it would have lost what its label loses.
    """
    width = len(nodes)
    return np.stack(
        [
            np.asarray(losses)[levels] * width + suppressed * (1 - np.asarray(most)[levels])
            for losses, most, levels in zip(means, largest, nodes, strict=True)
        ]
    )


def _known(measure: float | None) -> float:
    """A measure that was asked for."""
    assert measure is not None
    return float(measure)


AnyModel = Prec | Entropy | LM | NCP | DMStar | DM | AECS
AnyQualityModel = Annotated[AnyModel, Field(discriminator="model")]
QUALITY_MODELS: tuple[type[QualityModel], ...] = get_args(AnyModel)
