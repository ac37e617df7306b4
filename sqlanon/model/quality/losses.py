"""The losses: of classes by their sizes, of labels by what they cover, and of levels."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import Field

from sqlanon.model.base import kind_of
from sqlanon.model.lattice import LossContext, NodeSummary, total
from sqlanon.model.quality.base import (
    Bounds,
    ChargingModel,
    ClassLoss,
    Columns,
    QualityModel,
    Table,
    Terms,
    WeightedModel,
    measured,
    totals,
)

DM_STAR = ClassLoss("dm_star", "dm_star_of", ("anon_class_size",))
DISCERNIBILITY = ClassLoss("dm", "dm_of", ("anon_class_size", "anon_kept", "anon_row_count"))
AVERAGE_SIZE = ClassLoss("aecs", "aecs_of", ("anon_class_size", "anon_kept", "anon_k"))

ALWAYS_REPORTED = (DM_STAR, DISCERNIBILITY, AVERAGE_SIZE)
"""The losses in every report and every lattice table, whatever is minimized."""


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


@kind_of("quality")
class LM(WeightedModel):
    """Loss metric: mean over rows and quasi-identifiers of (leaves - 1) / (domain - 1), in [0, 1] (Iyengar 2002).

    Suppressed rows lose 1 each (row policy ``real``), so the loss is not monotonic; without suppression it is a
    lower bound of itself. With ``aggregate="geometric"`` the losses L of the quasi-identifiers, means over rows, are
    combined to product(1 + L)^(1/q) - 1, which is ARX's "Loss". With ``weights`` both are weighted means.
    """

    model: Literal["lm"] = "lm"
    aggregate: Literal["arithmetic", "geometric"] = Field(
        default="arithmetic", description="how the losses of the quasi-identifiers are combined"
    )

    @property
    def label_losses(self) -> tuple[str, ...]:
        return ("lm",)

    @property
    def measure(self) -> str:
        return "lm" if self.aggregate == "arithmetic" else "geometric_lm"

    @property
    def by_quasi_identifier(self) -> bool:
        return self.aggregate == "geometric" or bool(self.weights)

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return measured(summary.combined_loss if self.by_quasi_identifier else summary.lm)

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


@kind_of("quality")
class NCP(QualityModel):
    """Normalized certainty penalty: mean over rows and quasi-identifiers of leaves / domain, 0 for a single leaf.

    In [0, 1]; suppressed rows lose 1 each (row policy ``real``), as in :class:`LM` (Xu et al. 2006; Lee and
    Chung 2020, equation 6, divided by the number of quasi-identifiers).
    """

    model: Literal["ncp"] = "ncp"

    @property
    def label_losses(self) -> tuple[str, ...]:
        return ("ncp",)

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return measured(summary.ncp)

    def counts_suppression(self, context: LossContext) -> bool:
        return bool(context.losses.largest_ncp)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        losses = _with_suppression(context.losses.ncp, context.losses.largest_ncp, nodes, suppressed)
        bounds: Bounds = losses.mean(axis=0)
        return bounds

    def known_bounds(self, context: LossContext) -> Table:
        return context.losses.ncp


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


@kind_of("quality")
class Prec(ChargingModel, WeightedModel):
    """Precision loss: the mean over quasi-identifiers of level / height, in [0, 1] (Sweeney 2002, section 4.3).

    With ``weights`` the weighted mean (Mazzone 2019, section 4.4). With ``suppressed="charged"`` it is the mean over
    rows, of which those that are suppressed lose 1.
    """

    model: Literal["prec"] = "prec"

    @property
    def follows_from_counts(self) -> bool:
        return True

    @property
    def counts_suppressed_weight(self) -> bool:
        return self.charges

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        generalized = total(self.known_bounds(context), summary.levels)
        return generalized + (1 - generalized) * measured(summary.suppressed_share) if self.charges else generalized

    def known_bounds(self, context: LossContext) -> Table:
        return self.weighted(context.losses.prec, context) if self.weights else context.losses.prec

    def counts_suppression(self, context: LossContext) -> bool:
        return self.charges and bool(context.losses.least_information)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        generalized = totals(self.known_bounds(context), nodes)
        bounds: Bounds = generalized + (1 - generalized) * suppressed
        return bounds


@kind_of("quality")
class Entropy(ChargingModel):
    """Non-uniform entropy in bits, in [0, n·H] (El Emam et al. 2009).

    For each row and quasi-identifier -log2 of the share that the value has of the rows of its label. As defined it
    ignores suppression. With ``suppressed="charged"`` a suppressed row loses all its information, -log2 of the share
    that the value has of the whole table.
    """

    model: Literal["entropy"] = "entropy"

    @property
    def label_losses(self) -> tuple[str, ...]:
        return ("information",) if self.charges else ()

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        generalized = total(context.losses.entropy, summary.levels)
        return generalized + measured(summary.suppressed_information) if self.charges else generalized

    def known_bounds(self, context: LossContext) -> Table:
        return context.losses.entropy

    def counts_suppression(self, context: LossContext) -> bool:
        return self.charges and bool(context.losses.least_information)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        least = totals(context.losses.least_information, nodes)
        bounds: Bounds = totals(context.losses.entropy, nodes) + context.row_count * suppressed * least
        return bounds
