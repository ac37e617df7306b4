"""Losses of classes, by their sizes: DM*, DM and AECS."""

from __future__ import annotations

from typing import Literal

from sqlanon.model.base import kind_of
from sqlanon.model.lattice import LossContext, NodeSummary
from sqlanon.model.quality.base import Bounds, ClassLoss, Columns, QualityModel

DM_STAR = ClassLoss("dm_star", "dm_star_of", ("anon_class_size",))
DISCERNIBILITY = ClassLoss("dm", "dm_of", ("anon_class_size", "anon_kept", "anon_row_count"))
AVERAGE_SIZE = ClassLoss("aecs", "aecs_of", ("anon_class_size", "anon_kept", "anon_k"))

ALWAYS_REPORTED = (DM_STAR, DISCERNIBILITY, AVERAGE_SIZE)
"""What every report and every lattice table tells, whatever is minimized."""


@kind_of("quality")
class DMStar(QualityModel):
    """Discernibility before suppression: the sum of squared class sizes, in [n, n²] (El Emam et al. 2009)."""

    model: Literal["dm-star"] = "dm-star"

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        return (DM_STAR,)

    @property
    def monotonic(self) -> bool:
        return True

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]


@kind_of("quality")
class DM(QualityModel):
    """Discernibility with suppressed rows at the size of the table, in [n, n²] (Bayardo and Agrawal 2005).

    Not monotonic: a merge that lifts a class over k lowers it. DM* bounds it from below.
    """

    model: Literal["dm"] = "dm"

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        return (DM_STAR, DISCERNIBILITY)

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DISCERNIBILITY.name]

    def counts_suppression(self, context: LossContext) -> bool:
        return context.allowed_rows > 0

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        # A suppressed row counts as many rows as there are, another one at least the k rows of its class.
        rows = context.row_count
        bounds: Bounds = rows * (suppressed * rows + (1 - suppressed) * context.k)
        return bounds

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]


@kind_of("quality")
class AECS(QualityModel):
    """Average size of the classes over k, the suppressed rows as one class (LeFevre et al. 2006; ARX). Not monotonic.

    The average of the kept classes alone, which LeFevre et al. do not define, would reward suppression.
    """

    model: Literal["aecs"] = "aecs"

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        return (AVERAGE_SIZE,)

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[AVERAGE_SIZE.name]

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        # A node above has no more classes than there are here, and suppressed rows are a class in place of theirs. A
        # class that is kept there has one that is kept here, or k rows that are suppressed here.
        kept = summary.kept_class_count + summary.suppressed_rows // context.k
        return context.row_count / min(summary.class_count, kept + 1) / context.k
