"""Losses of levels: Prec, and Entropy, which counts what the labels of a level still tell."""

from __future__ import annotations

from typing import Literal

from sqlanon.model.base import kind_of
from sqlanon.model.lattice import LossContext, NodeSummary, total
from sqlanon.model.quality.base import Bounds, ChargingModel, Columns, Table, WeightedModel, measured, totals


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
