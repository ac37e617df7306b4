"""Privacy models of a sample: the risk of its rows in the population that their weights stand for."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.criteria import TOLERANCE, Bound, Measure
from sqlanon.model.policy_value import Number, kind_of
from sqlanon.model.privacy import PrivacyModel

Estimator = Literal["both", "negative-binomial", "poisson"]

BY_WEIGHTS = Measure("negative_binomial_risk", view="sample", of_table=("highest_risks", "risk"), field="at_most")
BY_MARGINS = Measure("poisson_risk", view="sample", of_table=("highest_risks", "poisson_risk"), field="at_most")


@kind_of("privacy")
class IndividualRisk(PrivacyModel):
    """In no class is a row rightly matched with a probability above ``at_most``, by the weights of ``row_weight``.

    Both estimates are means of 1 / F, where F people of the population are in the class: ``negative-binomial`` by the
    weights of the class (Benedetti and Franconi), ``poisson`` by the weighted counts of each label at the node, over
    all rows, those that are suppressed included. ``both`` bounds the two. They are estimates from the weights, and no
    bounds.

    A merged class has at most the smaller of its parts' risks by weights, which is monotonic with any suppression. By
    margins it has at most the risk of the part whose weights are smallest for its rows, which is monotonic without
    suppression: the share of people outside of the sample is the mean of the parts' shares, weighted by people, so at
    least the smallest one, and rows and expected people only add up.
    """

    definition: ClassVar[str] = "Benedetti and Franconi 1998; Skinner and Holmes 1998"
    model: Literal["individual-risk"] = "individual-risk"
    at_most: Number = Field(gt=0, le=1, kw_only=False, description="largest chance that a row is rightly matched")
    weight: str | None = Field(
        default=None, min_length=1, kw_only=False, description="the column of weights, which row_weight can name"
    )
    estimator: Estimator = Field(default="both", description="both, negative-binomial or poisson")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        required, threshold = float(self.at_most), self.at_most * (1 + TOLERANCE)
        by_weights = Bound(BY_WEIGHTS, "<=", required, threshold, monotonic=True)
        by_margins = Bound(BY_MARGINS, "<=", required, threshold)
        of_estimator = {"negative-binomial": (by_weights,), "poisson": (by_margins,)}
        return of_estimator.get(self.estimator, (by_weights, by_margins))

    def __str__(self) -> str:
        return f"individual risk by {self.estimator} (at most {self.at_most:g})"
