"""Quality models: the information loss of a node (``spec/metrics.md``), which is better if smaller.

A search needs the loss of a checked node, a lower bound of the loss without a check, and a lower bound of the loss of
everything above a checked node.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from sqlanon.model.lattice import ClassLoss, LossContext, NodeSummary, Table, total
from sqlanon.model.policy_value import Number, PolicyValue, failed_checks, kind_of

Columns = NDArray[np.int64]  # the levels of some nodes: a row per quasi-identifier, a column per node
Bounds = NDArray[np.float64]  # an entry per node
Terms = TypeVar("Terms", float, Bounds)  # a sum of terms, or an array of sums with an entry per node
LOG_SHARE = "log_share"  # the loss of labels by logarithms
LARGEST_WEIGHT = 1e12  # weights are ratios: a larger one is a slip, and sums of the largest floats overflow


@lru_cache(maxsize=16)
def padded(table: Table) -> Bounds:
    """Return a table as an array with a row per quasi-identifier, padded with the last level of each."""
    longest = max(map(len, table))
    return np.array([[*losses, *[losses[-1]] * (longest - len(losses))] for losses in table], dtype=np.float64)


def at_levels(table: Table, nodes: Columns) -> Bounds:
    """Look up the levels of nodes in a table: a row per quasi-identifier, a column per node."""
    found: Bounds = padded(table)[np.arange(len(nodes))[:, np.newaxis], nodes]
    return found


def totals(table: Table, nodes: Columns) -> Bounds:
    """Sum up a table over the levels of nodes."""
    sums: Bounds = at_levels(table, nodes).sum(axis=0)
    return sums


class QualityModel(PolicyValue):
    """A score of nodes by information loss, which may depend on ``class_losses``.

    Attributes:
        monotonic_without_suppression: whether the loss of a more general node is never smaller where nothing is
            suppressed.
        counts_rows_alone: whether it is undefined for weights of rows, and for classes that count individuals.
    """

    monotonic_without_suppression: ClassVar[bool] = True
    counts_rows_alone: ClassVar[bool] = False

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        """The losses of classes that the query of a node must compute."""
        return ()

    @property
    def monotonic(self) -> bool:
        """Whether the loss of a more general node is never smaller, with any suppression."""
        return False

    @property
    def known(self) -> bool:
        """Whether its known bound is the loss, so that it needs no check."""
        return False

    @property
    def follows_from_counts(self) -> bool:
        """Whether a check needs at most the count of suppressed rows."""
        return self.known

    @property
    def counts_suppressed_weight(self) -> bool:
        """Whether a check must measure the share of suppressed rows, by weight."""
        return False

    @property
    def label_losses(self) -> tuple[str, ...]:
        """The losses of labels that the query of a node must compute."""
        return ()

    @property
    def counted_column(self) -> str | None:
        """The sensitive or insensitive column whose most frequent value is counted in every class."""
        return None

    @property
    def measure(self) -> str:
        """The name of the loss, as in the lattice table and the report."""
        return str(self.model).replace("-", "_")  # type: ignore[attr-defined]

    @property
    def by_quasi_identifier(self) -> bool:
        """Whether the query of a node must keep the losses of quasi-identifiers apart."""
        return False

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        """Return the loss of a checked node."""
        raise NotImplementedError

    def known_bounds(self, context: LossContext) -> Table:
        """Return terms by quasi-identifier and level whose :meth:`combined` sum is at most the loss of a node.

        They never decrease with the level, and are all 0 if nothing is known.
        """
        return tuple((0.0,) * (height + 1) for height in context.lattice.heights)

    def combined(self, terms: Terms) -> Terms:
        """Convert a sum of terms of :meth:`known_bounds` to a lower bound of the loss; it must be monotonic."""
        return terms

    def counts_suppression(self, context: LossContext) -> bool:
        """Return whether the number of suppressed rows tightens :meth:`known_bounds`."""
        return False

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        """Bound the losses of nodes from below, given minimum shares of suppressed rows."""
        raise NotImplementedError

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        """Return a lower bound of the loss of the checked node and of every more general one."""
        return self.combined(total(self.known_bounds(context), summary.levels))


class WeightedModel(QualityModel):
    """A loss that is a mean over quasi-identifiers, optionally weighted.

    Attributes:
        weights: the weight of each quasi-identifier, 1 by default.
    """

    weights: dict[str, Number] = Field(default_factory=dict, description="the weight of a quasi-identifier, else 1")

    @field_validator("weights")
    @classmethod
    def _usable(cls, weights: dict[str, Any]) -> dict[str, Any]:
        wrong = {name: weight for name, weight in weights.items() if not 0 <= weight <= LARGEST_WEIGHT}
        if wrong:
            limits = ("negative", f"above {LARGEST_WEIGHT:,.0f}")
            raise failed_checks([f'the weight of "{name}" is {limits[weight > 0]}' for name, weight in wrong.items()])
        return weights

    def shares(self, quasi_identifiers: tuple[str, ...]) -> tuple[float, ...]:
        """Return the weights of the quasi-identifiers, in order, as shares of 1."""
        weights = [self.weights.get(name, 1.0) for name in quasi_identifiers]
        whole = math.fsum(weights)
        return tuple(weight / whole for weight in weights)

    def weighted(self, means: Table, context: LossContext) -> Table:
        """Replace equal shares by weights in a table of losses / number of quasi-identifiers."""
        shares = self.shares(context.lattice.quasi_identifiers)
        width = len(shares)
        return tuple(tuple(loss * width * share for loss in row) for row, share in zip(means, shares, strict=True))


class ChargingModel(QualityModel):
    """A loss that its paper defines only for generalization, and that can charge for suppression, too.

    Attributes:
        suppressed: ``"ignored"``, as in the paper: suppressed rows have the loss of their labels. ``"charged"``: they
            lose everything, as if they were generalized to the top.
    """

    suppressed: Literal["ignored", "charged"] = Field(
        default="ignored", description="whether suppressed rows lose as much as their labels, or everything"
    )

    @property
    def monotonic(self) -> bool:
        return not self.charges

    @property
    def known(self) -> bool:
        return not self.charges

    @property
    def charges(self) -> bool:
        """Whether suppressed rows lose everything."""
        return self.suppressed == "charged"

    @property
    def measure(self) -> str:
        return f"charged_{super().measure}" if self.charges else super().measure


def measured(measure: float | None) -> float:
    """Return a measure that was asked."""
    assert measure is not None
    return float(measure)


@kind_of("quality")
class LM(WeightedModel):
    """Loss metric: mean over rows and quasi-identifiers of (leaves - 1) / (domain - 1), in [0, 1] (Iyengar 2002).

    Suppressed rows lose 1 each (row policy ``real``), so the loss is not monotonic; without suppression it is a
    lower bound of itself. With ``aggregate="geometric"`` the losses L of the quasi-identifiers, means over rows, are
    combined to product(1 + L)^(1/q) - 1, ARX's "Loss". With ``weights`` both are weighted means.
    """

    label_losses: ClassVar = ("lm",)
    model: Literal["lm"] = "lm"
    aggregate: Literal["arithmetic", "geometric"] = Field(
        default="arithmetic", description="the mean of the losses of quasi-identifiers"
    )

    @property
    def measure(self) -> str:
        return "lm" if self.aggregate == "arithmetic" else "geometric_lm"

    @property
    def by_quasi_identifier(self) -> bool:
        return self.aggregate == "geometric" or bool(self.weights)

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return measured(summary.combined_loss if self.by_quasi_identifier else summary.lm)

    def counts_suppression(self, context: LossContext) -> bool:
        return bool(context.losses.largest_lm)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        shares = np.array(self.shares(context.lattice.quasi_identifiers))
        losses = _with_suppression(context.losses.lm, context.losses.largest_lm, nodes, suppressed)
        return shares @ losses if self.aggregate == "arithmetic" else np.expm1(shares @ np.log1p(losses))

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


class MeanLabelLoss(QualityModel):
    """A mean over rows and quasi-identifiers of the losses of labels, named like the model; suppressed rows lose 1."""

    @property
    def label_loss(self) -> str:
        """The loss of a label."""
        return self.measure

    @property
    def label_losses(self) -> tuple[str, ...]:
        return (self.label_loss,)

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return measured(getattr(summary, self.measure))

    def counts_suppression(self, context: LossContext) -> bool:
        return bool(self._largest(context))

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        losses = _with_suppression(self._means(context), self._largest(context), nodes, suppressed)
        means: Bounds = losses.mean(axis=0)
        return means

    def known_bounds(self, context: LossContext) -> Table:
        return self._means(context)

    def _means(self, context: LossContext) -> Table:
        table: Table = getattr(context.losses, self.label_loss)
        return table

    def _largest(self, context: LossContext) -> Table:
        table: Table = getattr(context.losses, f"largest_{self.label_loss}")
        return table


@kind_of("quality")
class NCP(MeanLabelLoss):
    """Normalized certainty penalty: mean over rows and quasi-identifiers of leaves / domain, 0 for a single leaf.

    In [0, 1]; suppressed rows lose 1 each (row policy ``real``), as in :class:`LM` (Xu et al. 2006; Lee and
    Chung 2020, equation 6, divided by the number of quasi-identifiers).
    """

    model: Literal["ncp"] = "ncp"


@kind_of("quality")
class RCE(MeanLabelLoss):
    """Reconstruction error: mean over rows and quasi-identifiers of 1 - 1 / leaves, in [0, 1].

    It is the squared distance between a value and the equally likely values under its label, as distributions.
    Suppressed rows lose 1 each. A label of two values loses half of what can be lost, so that it prefers a few general
    labels to many that are a little general (Lee et al. 2017, RCE of rows that are all true).
    """

    model: Literal["rce"] = "rce"


def _with_suppression(means: Table, largest: Table, nodes: Columns, suppressed: Bounds) -> Bounds:
    """Return the least mean loss over rows by quasi-identifier and node, where a suppressed row loses 1."""
    return at_levels(means, nodes) * len(nodes) + suppressed * (1 - at_levels(largest, nodes))


@kind_of("quality")
class Prec(ChargingModel, WeightedModel):
    """Precision loss: the mean over quasi-identifiers of level / height, in [0, 1] (Sweeney 2002, section 4.3).

    With ``weights`` it is the weighted mean (Mazzone 2019, section 4.4). With ``suppressed="charged"`` it is the mean
    over rows, where suppressed ones lose 1.
    """

    follows_from_counts: ClassVar = True
    model: Literal["prec"] = "prec"

    @property
    def counts_suppressed_weight(self) -> bool:
        return self.charges

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        generalized = total(self.known_bounds(context), summary.levels)
        return generalized + (1 - generalized) * measured(summary.suppressed_share) if self.charges else generalized

    def known_bounds(self, context: LossContext) -> Table:
        return self.weighted(context.losses.prec, context) if self.weights else context.losses.prec

    def counts_suppression(self, context: LossContext) -> bool:
        return self.charges and bool(context.losses.least_information)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        generalized = totals(self.known_bounds(context), nodes)
        return generalized + (1 - generalized) * suppressed


@kind_of("quality")
class Entropy(ChargingModel):
    """Non-uniform entropy in bits, in [0, n·H] (El Emam et al. 2009).

    It sums up, over rows and quasi-identifiers, -log2 of the share of the value in the rows of its label. As defined it
    ignores suppression. With ``suppressed="charged"`` a suppressed row loses all its information, -log2 of the share of
    the value in the whole table.
    """

    model: Literal["entropy"] = "entropy"

    @property
    def label_losses(self) -> tuple[str, ...]:
        return ("information",) if self.charges else ()

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        generalized = total(context.losses.entropy, summary.levels)
        return generalized + measured(summary.suppressed_information) if self.charges else generalized

    def known_bounds(self, context: LossContext) -> Table:
        return context.losses.entropy

    def counts_suppression(self, context: LossContext) -> bool:
        return self.charges and bool(context.losses.least_information)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        least = totals(context.losses.least_information, nodes)
        return totals(context.losses.entropy, nodes) + context.row_count * suppressed * least
