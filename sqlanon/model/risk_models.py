"""Privacy models of a sample: the risk of its rows in the population that their weights stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.criteria import TOLERANCE, Bound, Measure
from sqlanon.model.mean_risks import MeanModel
from sqlanon.model.policy_value import Number, kind_of
from sqlanon.model.privacy import PrivacyModel

Estimator = Literal["both", "negative-binomial", "poisson"]

BY_WEIGHTS = Measure("negative_binomial_risk", view="sample", of_table=("release_risks", "risk"), field="at_most")
BY_MARGINS = Measure("poisson_risk", view="sample", of_table=("release_risks", "poisson_risk"), field="at_most")
MEAN_BY_WEIGHTS = replace(
    BY_WEIGHTS,
    name="mean_negative_binomial_risk",
    of_table=("release_risks", "mean_risk"),
    certainty="rows_above_mean",
    is_mean=True,
)
MEAN_BY_MARGINS = replace(
    BY_MARGINS, name="mean_poisson_risk", of_table=("release_risks", "mean_poisson_risk"), is_mean=True
)


class SampleModel(PrivacyModel):
    """A bound on risks in the population that the weights of ``row_weight`` stand for, by one or two estimates."""

    estimates: ClassVar[tuple[Measure, ...]]
    definition: ClassVar[str] = "Benedetti and Franconi 1998; Skinner and Holmes 1998"
    counts_rows_alone: ClassVar[bool] = True
    at_most: Number = Field(gt=0, le=1, kw_only=False, description="largest chance that a row is rightly matched")
    weight: str | None = Field(
        default=None, min_length=1, kw_only=False, description="the column of weights, which row_weight can name"
    )
    estimator: Estimator = Field(default="both", description="both, negative-binomial or poisson")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        required, threshold = float(self.at_most), self.at_most * (1 + TOLERANCE)
        bounds = [
            Bound(each, "<=", required, threshold, each == BY_WEIGHTS, "node" if each.is_mean else "class")
            for each in self.estimates
        ]
        chosen = {"negative-binomial": bounds[:1], "poisson": bounds[1:]}
        return tuple(chosen.get(self.estimator, bounds))


@kind_of("privacy")
class IndividualRisk(SampleModel):
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

    estimates: ClassVar = (BY_WEIGHTS, BY_MARGINS)
    model: Literal["individual-risk"] = "individual-risk"

    def __str__(self) -> str:
        return f"individual risk by {self.estimator} (at most {self.at_most:g})"


@kind_of("privacy")
class ExpectedReidentifications(SampleModel, MeanModel):
    """Of the published rows at most the share ``at_most`` is expected to be rightly matched in the population.

    It is the mean over published rows of the risk that :class:`IndividualRisk` bounds, by the same ``estimator``: an
    office that accepts one row in a hundred asks for 0.01. It suppresses nothing by itself: a node with a larger mean
    is rejected.

    Without suppression a more general node has no larger mean by weights, and searches rule out nodes as they do for
    :class:`SampleUniqueness`. By margins nothing proves that where weights are unequal, so that nodes are checked one
    by one.
    """

    estimates: ClassVar = (MEAN_BY_WEIGHTS, MEAN_BY_MARGINS)
    model: Literal["expected-reidentifications"] = "expected-reidentifications"
    at_most: Number = Field(gt=0, lt=1, kw_only=False, description="largest share of published rows that is found")

    @property
    def monotonic_without_suppression(self) -> bool:  # type: ignore[override]
        """Whether it looks at weights alone, by which a more general node has no larger mean."""
        return self.estimator == "negative-binomial"

    def __str__(self) -> str:
        return f"expected re-identifications by {self.estimator} (at most {self.at_most:g} of the rows)"
