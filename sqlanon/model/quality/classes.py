"""Losses of classes, by their sizes: DM*, DM and AECS."""

from __future__ import annotations

from typing import Literal

from sqlanon.model.lattice import LossContext, NodeSummary
from sqlanon.model.quality.base import QualityModel, told


class DMStar(QualityModel):
    """Discernibility before suppression: the sum of squared class sizes, in [n, n²] (El Emam et al. 2009)."""

    model: Literal["dm-star"] = "dm-star"

    @property
    def monotonic(self) -> bool:
        return True

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return told(summary.dm_star)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return told(summary.dm_star)


class DM(QualityModel):
    """Discernibility with suppressed rows at the size of the table, in [n, n²] (Bayardo and Agrawal 2005).

    Not monotonic: a merge that lifts a class over k lowers it. DM* bounds it from below.
    """

    model: Literal["dm"] = "dm"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return told(summary.dm)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return told(summary.dm_star)


class AECS(QualityModel):
    """Average size of the classes over k, the suppressed rows as one class (LeFevre et al. 2006; ARX). Not monotonic.

    The average of the kept classes alone, which LeFevre et al. do not define, would reward suppression.
    """

    model: Literal["aecs"] = "aecs"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return told(summary.aecs)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        # A node above has no more classes than there are here, and suppressed rows are a class in place of theirs.
        return context.row_count / summary.class_count / context.k
