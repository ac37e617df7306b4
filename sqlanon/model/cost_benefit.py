"""Privacy as economics: what an attack pays an adversary, and what a release pays its publisher (Wan et al. 2015)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from sqlanon.model.criteria import CLASS_SIZE, TOLERANCE, Bound, Measure, at_least
from sqlanon.model.lattice import ClassLoss, LossContext, NodeSummary, Table
from sqlanon.model.policy_value import Number, PolicyValue, failed_checks, kind_of
from sqlanon.model.privacy import MOST, PrivacyModel
from sqlanon.model.quality import LOG_SHARE, Bounds, Columns, MeanLabelLoss

Money = Annotated[Number, Field(ge=0, le=MOST, kw_only=False)]
"""An amount per row, in any currency: models compare amounts only with each other."""


@kind_of("privacy")
class NoAttack(PrivacyModel):
    """An attack on a row pays in no class: its expected gain, ``gain`` / rows of the class, is below its ``cost``.

    This is k-anonymity with the least k above ``gain`` / ``cost``, which are compared as the decimals that are written.
    It is a promise about a rational adversary with these two figures, who attacks one row at a time and guesses among
    the rows of its class; one who gains more, pays less or attacks at a loss is not covered. With a policy's
    ``individual`` column a class counts distinct individuals instead of rows.

    Without a ``gain`` k is 1, and nothing is protected. A ``cost`` of 0 is refused if there is a gain: no class would
    be large enough.
    """

    definition: ClassVar[str] = "Wan et al. 2015, the adversary's payoff gain / n - cost, with the prosecutor's n"
    model: Literal["no-attack"] = "no-attack"
    gain: Money = Field(description="what an adversary gains from a row that is re-identified")
    cost: Money = Field(description="what an attack on a row costs the adversary")

    @model_validator(mode="after")
    def _attainable(self) -> NoAttack:
        if self.gain > 0 and self.cost == 0:
            raise failed_checks(
                ["an attack costs nothing, so that it always pays: give a cost above 0, or a gain of 0"]
            )
        if self.k > MOST:
            raise failed_checks([f"the gain asks for classes of more than {MOST:,} rows: give a larger cost"])
        return self

    @property
    def k(self) -> int:
        """The rows of a class from which an attack on one of them doesn't pay: ⌊gain / cost⌋ + 1, 1 without a gain."""
        return 1 if self.gain == 0 else int(Fraction(str(self.gain)) / Fraction(str(self.cost))) + 1

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (at_least(CLASS_SIZE, self.k, monotonic=True),)

    def __str__(self) -> str:
        return f"k-anonymity against rational attacks (gain = {self.gain:g}, cost = {self.cost:g}: k = {self.k})"


class Figures(PolicyValue):
    """What an attack on a row is worth to an adversary, and the row to its publisher.

    Attributes:
        gain: what an adversary gains from a row that is re-identified.
        cost: what an attack on a row costs the adversary.
        benefit: what the publisher has from a row that is published as it is.
        loss: what the publisher loses by a row that is re-identified.
    """

    gain: Money
    cost: Money
    benefit: Annotated[Money, Field(gt=0)]
    loss: Money

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """Gain, cost, benefit and loss, the arguments of macros."""
        return self.gain, self.cost, self.benefit, self.loss


@kind_of("privacy")
class Profitability(Figures, PrivacyModel):
    """Every class pays its publisher: the payout of its rows, by four figures, is above 0.

    The payout of a row is ``benefit`` (1 - information loss), less ``loss`` / rows of its class where an attack pays a
    rational adversary: where ``gain`` / rows is above ``cost``. The information loss is the sum over quasi-identifiers
    of ln(values under its label), over the sum of ln(values of the taxonomy), in [0, 1]. It is a promise about a
    rational adversary with these figures, as :class:`NoAttack` is, and a weaker one: attacks may pay.

    Rows without any information are never published. Not monotonic, even without suppression: information is lost on
    the way up, and attacks cease to pay. It is defined for the labels of one node, and counts rows.
    """

    definition: ClassVar[str] = "Wan et al. 2015, the publisher's payoff is positive, with the prosecutor's n"
    monotonic_without_suppression: ClassVar[bool] = False
    counts_rows_alone: ClassVar[bool] = True
    model: Literal["profitability"] = "profitability"

    # guarded: tests/unit/test_bounds.py
    @property
    def bounds(self) -> tuple[Bound, ...]:
        argument = tuple(zip(Figures.model_fields, self.figures, strict=True))
        measure = Measure(
            "missing_payout", None, argument, "labels", "missing_payout_of", ("publisher_payout", "missing")
        )
        # A payout that is 0 up to rounding is not above 0.
        return (Bound(measure, "<", self.benefit, self.benefit * (1 - TOLERANCE)),)

    def __str__(self) -> str:
        gain, cost, benefit, loss = self.figures
        return f"profitable classes (gain = {gain:g}, cost = {cost:g}, benefit = {benefit:g}, loss = {loss:g})"


@kind_of("quality")
class PublisherPayout(Figures, MeanLabelLoss):
    """What is missing to the ``benefit`` of all rows: of a published row its payout, of a suppressed one everything.

    The payout of a row is ``benefit`` (1 - information loss), less ``loss`` / rows of its class where an attack pays a
    rational adversary: where ``gain`` / rows is above ``cost``. The information loss is the sum over quasi-identifiers
    of ln(values under its label), over the sum of ln(values of the taxonomy), in [0, 1] (Wan et al. 2015; ARX). Not
    monotonic, even without suppression: information is lost on the way up, and attacks cease to pay.

    The loss is in [0, rows ``benefit`` + classes ``loss``], in the currency of the figures. It counts rows: it takes
    neither weights of rows nor an ``individual``.
    """

    model: Literal["publisher-payout"] = "publisher-payout"
    monotonic_without_suppression: ClassVar = False
    counts_rows_alone: ClassVar = True

    @property
    def label_loss(self) -> str:
        return LOG_SHARE

    @property
    def class_losses(self) -> tuple[ClassLoss, ...]:
        columns = ("anon_class_size", "anon_kept", f"anon_{LOG_SHARE}")
        return (ClassLoss(self.measure, "publisher_payout_of", (*columns, *self.figures)),)

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[self.measure]

    def known_bounds(self, context: LossContext) -> Table:
        whole = self._whole(context)
        return tuple(tuple(whole * loss for loss in losses) for losses in self._means(context))

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        # No attack is the least that can happen.
        losses: Bounds = self._whole(context) * super().bounds_with_suppression(nodes, suppressed, context)
        return losses

    def _whole(self, context: LossContext) -> float:
        return context.row_count * self.benefit
