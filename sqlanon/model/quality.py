"""Quality models: how much information a node loses (``spec/metrics.md``). Less is better in all of them.

A search needs three things of a quality model: the loss of a node that was checked, a lower bound of the loss
that is known without a check, and a lower bound of the loss of everything above a checked node.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sqlanon.model.base import PolicyValue
from sqlanon.model.lattice import LossContext, NodeSummary, total

Terms = TypeVar("Terms", float, NDArray[np.float64])
"""A sum of terms, or an array of sums with an entry per node."""


class QualityModel(PolicyValue):
    """Scores a node by information loss.

    Attributes:
        measure: the name of the loss, as in the lattice table and the report.
        monotonic: whether the loss of a more general node is never smaller, whatever is suppressed. Without
            suppression this holds for all of them.
        known: whether the loss is known without a check: it is what its known bound is.
        label_losses: the losses of labels that the query of a node must look at.
    """

    measure: ClassVar[str]
    monotonic: ClassVar[bool] = False
    known: ClassVar[bool] = False
    label_losses: ClassVar[tuple[str, ...]] = ()

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        """The loss of a checked node."""
        raise NotImplementedError

    def known_bounds(self, context: LossContext) -> tuple[tuple[float, ...], ...]:
        """Per quasi-identifier and level, terms whose :meth:`combined` sum is at most the loss of a node.

        They do not decrease with the level, and are all 0 if nothing is known.
        """
        return tuple((0.0,) * (height + 1) for height in context.lattice.heights)

    def combined(self, terms: Terms) -> Terms:
        """From a sum of the terms of :meth:`known_bounds` to a lower bound of the loss; it must not decrease."""
        return terms

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        """A lower bound of the loss of the checked node and of every more general one."""
        return self.combined(total(self.known_bounds(context), summary.levels))


class Prec(QualityModel):
    """Precision loss: the mean over quasi-identifiers of level / height, in [0, 1] (Sweeney 2002, section 4.3)."""

    measure: ClassVar[str] = "prec"
    monotonic: ClassVar[bool] = True
    known: ClassVar[bool] = True
    model: Literal["prec"] = "prec"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return total(context.losses.prec, summary.levels)

    def known_bounds(self, context: LossContext) -> tuple[tuple[float, ...], ...]:
        return context.losses.prec


class Entropy(QualityModel):
    """Non-uniform entropy in bits, in [0, n·H], suppression ignored (El Emam et al. 2009)."""

    measure: ClassVar[str] = "entropy"
    monotonic: ClassVar[bool] = True
    known: ClassVar[bool] = True
    model: Literal["entropy"] = "entropy"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return total(context.losses.entropy, summary.levels)

    def known_bounds(self, context: LossContext) -> tuple[tuple[float, ...], ...]:
        return context.losses.entropy


class LM(QualityModel):
    """Loss metric: mean over rows and quasi-identifiers of (leaves - 1) / (domain - 1), in [0, 1] (Iyengar 2002).

    Suppressed rows lose 1 each (row policy ``real``), so the loss is not monotonic; without suppression it is a
    lower bound of itself.
    """

    measure: ClassVar[str] = "lm"
    label_losses: ClassVar[tuple[str, ...]] = ("lm",)
    model: Literal["lm"] = "lm"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        assert summary.lm is not None
        return summary.lm

    def known_bounds(self, context: LossContext) -> tuple[tuple[float, ...], ...]:
        return context.losses.lm


class NCP(QualityModel):
    """Normalized certainty penalty: mean over rows and quasi-identifiers of leaves / domain, 0 for a single leaf.

    In [0, 1]; suppressed rows lose 1 each (row policy ``real``), as in :class:`LM` (Xu et al. 2006; Lee and
    Chung 2020, equation 6, divided by the number of quasi-identifiers).
    """

    measure: ClassVar[str] = "ncp"
    label_losses: ClassVar[tuple[str, ...]] = ("ncp",)
    model: Literal["ncp"] = "ncp"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        assert summary.ncp is not None
        return summary.ncp

    def known_bounds(self, context: LossContext) -> tuple[tuple[float, ...], ...]:
        return context.losses.ncp


class DMStar(QualityModel):
    """Discernibility before suppression: the sum of squared class sizes, in [n, n²] (El Emam et al. 2009)."""

    measure: ClassVar[str] = "dm_star"
    monotonic: ClassVar[bool] = True
    model: Literal["dm-star"] = "dm-star"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return float(summary.dm_star)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return float(summary.dm_star)


class DM(QualityModel):
    """Discernibility with suppressed rows at the size of the table, in [n, n²] (Bayardo and Agrawal 2005).

    Not monotonic: a merge that lifts a class over k lowers it. DM* bounds it from below.
    """

    measure: ClassVar[str] = "dm"
    model: Literal["dm"] = "dm"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return float(summary.dm)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return float(summary.dm_star)


class AECS(QualityModel):
    """Average size of the kept classes over k, at least 1 under k-anonymity (LeFevre et al. 2006). Not monotonic."""

    measure: ClassVar[str] = "aecs"
    model: Literal["aecs"] = "aecs"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return float("inf") if summary.aecs is None else summary.aecs

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        # A satisfying node above keeps at least n - allowed rows, in no more classes than there are here.
        return (context.row_count - context.allowed_rows) / summary.class_count / context.k


AnyQualityModel = Annotated[Prec | Entropy | LM | NCP | DMStar | DM | AECS, Field(discriminator="model")]
