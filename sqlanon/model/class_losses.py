"""Quality models that are losses of equivalence classes, by their sizes and values."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.lattice import ClassLoss, LossContext, NodeSummary
from sqlanon.model.policy_value import kind_of
from sqlanon.model.quality import Bounds, Columns, QualityModel

DM_STAR = ClassLoss("dm_star", "dm_star_of", ("anon_class_size",))
DISCERNIBILITY = ClassLoss("dm", "dm_of", ("anon_class_size", "anon_kept", "anon_row_count"))
AVERAGE_SIZE = ClassLoss("aecs", "aecs_of", ("anon_class_size", "anon_kept", "anon_k"))

ALWAYS_REPORTED = (DM_STAR, DISCERNIBILITY, AVERAGE_SIZE)
"""The losses in every report and every lattice table."""


@kind_of("quality")
class DMStar(QualityModel):
    """Discernibility before suppression: the sum of squared class sizes, in [n, n²] (El Emam et al. 2009)."""

    model: Literal["dm-star"] = "dm-star"
    class_losses: ClassVar = (DM_STAR,)
    monotonic: ClassVar = True

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]


@kind_of("quality")
class DM(QualityModel):
    """Discernibility with suppressed rows at the size of the table, in [n, n²] (Bayardo and Agrawal 2005).

    Not monotonic: a merge that lifts a class over k lowers it. DM* bounds it from below.
    """

    model: Literal["dm"] = "dm"
    class_losses: ClassVar = (DM_STAR, DISCERNIBILITY)

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DISCERNIBILITY.name]

    def counts_suppression(self, context: LossContext) -> bool:
        return context.allowed_rows > 0

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        # A suppressed row counts all rows, another one at least the k rows of its class.
        rows = context.row_count
        return rows * (suppressed * rows + (1 - suppressed) * context.k)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]


@kind_of("quality")
class AECS(QualityModel):
    """Average size of the classes over k, the suppressed rows as one class (LeFevre et al. 2006; ARX). Not monotonic.

    The average of only the kept classes, which LeFevre et al. don't define, would reward suppression.
    """

    model: Literal["aecs"] = "aecs"
    class_losses: ClassVar = (AVERAGE_SIZE,)

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[AVERAGE_SIZE.name]

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        # A node above has at most as many classes, with one class for its suppressed rows. A class that is kept there
        # contains one that is kept here, or k rows that are suppressed here.
        kept = summary.kept_class_count + summary.suppressed_rows // context.k
        return context.row_count / min(summary.class_count, kept + 1) / context.k


MISCLASSIFIED = ClassLoss(
    "classification_metric", "classification_metric_of", ("anon_class_size", "anon_kept", "anon_largest_share")
)


@kind_of("quality")
class ClassificationMetric(QualityModel):
    """Classification metric: the share of rows that are suppressed or differ from most of their class (Iyengar 2002).

    In [0, 1], 0 if all rows of each class agree in a column. Not monotonic: a suppressed row costs 1, and may agree
    with most rows of a larger class. Without suppression a more general node never has a smaller loss, since the rows
    that agree in a union of classes are at most those that agree in each.

    Args:
        column: the sensitive or insensitive column that a classifier is to predict.
    """

    model: Literal["classification-metric"] = "classification-metric"
    column: str = Field(kw_only=False, description="the column that a classifier is to predict")
    class_losses: ClassVar = (MISCLASSIFIED,)

    @property
    def counted_column(self) -> str:
        return self.column

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[MISCLASSIFIED.name]

    def counts_suppression(self, context: LossContext) -> bool:
        return context.allowed_rows > 0

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        return suppressed

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        # Rows that differ from most of a published class still do in a larger one, or are suppressed with it.
        return self.loss_of(summary, context) - summary.suppressed_rows / context.row_count
