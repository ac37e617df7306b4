"""Losses of labels: LM and NCP, by the share of the domain that a label covers."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import Field

from sqlanon.model.base import kind_of
from sqlanon.model.lattice import LossContext, NodeSummary
from sqlanon.model.quality.base import Bounds, Columns, QualityModel, Table, Terms, WeightedModel, measured


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
