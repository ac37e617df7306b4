"""Quality models: how much information a node loses (``spec/metrics.md``). Less is better in all of them.

A search needs of each the loss of a node that was checked, a lower bound of the loss that is known without a check, and
a lower bound of the loss of everything above a checked node.
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
Bounds = NDArray[np.float64]  # a number per node
Terms = TypeVar("Terms", float, Bounds)  # a sum of terms, or an array of sums with an entry per node
LARGEST_WEIGHT = 1e12  # weights are ratios: a larger one is a slip, and sums of the largest floats overflow


@lru_cache(maxsize=16)
def padded(table: Table) -> Bounds:
    """Return a table as an array with a row per quasi-identifier, the last level of each repeated to the longest."""
    longest = max(map(len, table))
    return np.array([[*losses, *[losses[-1]] * (longest - len(losses))] for losses in table], dtype=np.float64)


def at_levels(table: Table, nodes: Columns) -> Bounds:
    """Look up the levels of nodes in a table: a row per quasi-identifier, a column per node."""
    found: Bounds = padded(table)[np.arange(len(nodes))[:, np.newaxis], nodes]
    return found


def totals(table: Table, nodes: Columns) -> Bounds:
    """Return the sums of a table over the levels of nodes."""
    sums: Bounds = at_levels(table, nodes).sum(axis=0)
    return sums


class QualityModel(PolicyValue):
    """Scores a node by information loss; ``class_losses`` are the losses of classes that it is made of."""

    class_losses: ClassVar[tuple[ClassLoss, ...]] = ()

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
    def measure(self) -> str:
        """The name of the loss, as in the lattice table and the report."""
        return str(self.model).replace("-", "_")  # type: ignore[attr-defined]

    @property
    def by_quasi_identifier(self) -> bool:
        """Whether the query of a node must look at the losses of each quasi-identifier apart."""
        return False

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        """Return the loss of a checked node."""
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
        """Return whether the number of suppressed rows tightens :meth:`known_bounds`."""
        return False

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        """Lower bounds of the losses of nodes, given the least share of rows that each suppresses."""
        raise NotImplementedError

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        """Return a lower bound of the loss of the checked node and of every more general one."""
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
        wrong = {name: weight for name, weight in weights.items() if not 0 <= weight <= LARGEST_WEIGHT}
        if wrong:
            limits = ("negative", f"above {LARGEST_WEIGHT:,.0f}")
            raise failed_checks([f'the weight of "{name}" is {limits[weight > 0]}' for name, weight in wrong.items()])
        return weights

    def shares(self, quasi_identifiers: tuple[str, ...]) -> tuple[float, ...]:
        """Return the weights of the quasi-identifiers, in their order, as shares of 1."""
        weights = [self.weights.get(name, 1.0) for name in quasi_identifiers]
        whole = math.fsum(weights)
        return tuple(weight / whole for weight in weights)

    def weighted(self, means: Table, context: LossContext) -> Table:
        """Return a table of losses / number of quasi-identifiers, with the weights in place of equal shares."""
        shares = self.shares(context.lattice.quasi_identifiers)
        width = len(shares)
        return tuple(tuple(loss * width * share for loss in row) for row, share in zip(means, shares, strict=True))


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


def measured(measure: float | None) -> float:
    """Return a measure that was asked for."""
    assert measure is not None
    return float(measure)


DM_STAR = ClassLoss("dm_star", "dm_star_of", ("anon_class_size",))
DISCERNIBILITY = ClassLoss("dm", "dm_of", ("anon_class_size", "anon_kept", "anon_row_count"))
AVERAGE_SIZE = ClassLoss("aecs", "aecs_of", ("anon_class_size", "anon_kept", "anon_k"))

ALWAYS_REPORTED = (DM_STAR, DISCERNIBILITY, AVERAGE_SIZE)
"""The losses in every report and every lattice table, whatever is minimized."""


@kind_of("quality")
class DMStar(QualityModel):
    """Discernibility before suppression: the sum of squared class sizes, in [n, n²] (El Emam et al. 2009)."""

    model: Literal["dm-star"] = "dm-star"
    class_losses: ClassVar = (DM_STAR,)
    monotonic: ClassVar = True

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
    class_losses: ClassVar = (DM_STAR, DISCERNIBILITY)

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DISCERNIBILITY.name]

    def counts_suppression(self, context: LossContext) -> bool:
        return context.allowed_rows > 0

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        # A suppressed row counts as many rows as there are, another one at least the k rows of its class.
        rows = context.row_count
        return rows * (suppressed * rows + (1 - suppressed) * context.k)

    def bound_above(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[DM_STAR.name]


@kind_of("quality")
class AECS(QualityModel):
    """Average size of the classes over k, the suppressed rows as one class (LeFevre et al. 2006; ARX). Not monotonic.

    The average of the kept classes alone, which LeFevre et al. do not define, would reward suppression.
    """

    model: Literal["aecs"] = "aecs"
    class_losses: ClassVar = (AVERAGE_SIZE,)

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

    label_losses: ClassVar = ("lm",)
    model: Literal["lm"] = "lm"
    aggregate: Literal["arithmetic", "geometric"] = Field(
        default="arithmetic", description="how the losses of the quasi-identifiers are combined"
    )

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


@kind_of("quality")
class NCP(QualityModel):
    """Normalized certainty penalty: mean over rows and quasi-identifiers of leaves / domain, 0 for a single leaf.

    In [0, 1]; suppressed rows lose 1 each (row policy ``real``), as in :class:`LM` (Xu et al. 2006; Lee and
    Chung 2020, equation 6, divided by the number of quasi-identifiers).
    """

    label_losses: ClassVar = ("ncp",)
    model: Literal["ncp"] = "ncp"

    def loss(self, summary: NodeSummary, context: LossContext) -> float:
        return measured(summary.ncp)

    def counts_suppression(self, context: LossContext) -> bool:
        return bool(context.losses.largest_ncp)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        losses = _with_suppression(context.losses.ncp, context.losses.largest_ncp, nodes, suppressed)
        means: Bounds = losses.mean(axis=0)
        return means

    def known_bounds(self, context: LossContext) -> Table:
        return context.losses.ncp


def _with_suppression(means: Table, largest: Table, nodes: Columns, suppressed: Bounds) -> Bounds:
    """Per quasi-identifier and node, the least mean loss over rows.

    A suppressed row loses 1 where it would have lost what its label loses.
    """
    return at_levels(means, nodes) * len(nodes) + suppressed * (1 - at_levels(largest, nodes))


@kind_of("quality")
class Prec(ChargingModel, WeightedModel):
    """Precision loss: the mean over quasi-identifiers of level / height, in [0, 1] (Sweeney 2002, section 4.3).

    With ``weights`` the weighted mean (Mazzone 2019, section 4.4). With ``suppressed="charged"`` it is the mean over
    rows, of which those that are suppressed lose 1.
    """

    follows_from_counts: ClassVar = True
    model: Literal["prec"] = "prec"

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
        return generalized + (1 - generalized) * suppressed


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
        return totals(context.losses.entropy, nodes) + context.row_count * suppressed * least
