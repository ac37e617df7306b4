"""Privacy models of the published rows as a whole: means of their risks, and what they say of the population."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.criteria import Bound, Measure, exactly
from sqlanon.model.policy_value import Number, kind_of
from sqlanon.model.privacy import MOST, PrivacyModel

AVERAGE_RISK = Measure(
    "average_risk",
    view="size",
    of_table=("prosecutor_risk", "average_risk"),
    field="at_most",
    certainty="rows_above_mean",
    is_mean=True,
)
UNIQUE_SHARE = replace(
    AVERAGE_RISK, name="unique_share", of_class="unique_rows_of", of_table=("sample_uniqueness", "unique_share")
)
POPULATION_UNIQUENESS = Measure(
    "population_uniqueness", view="size", field="at_most", is_mean=True, of_all="population_uniqueness_of"
)


class MeanModel(PrivacyModel):
    """A bound on a mean over the published rows, where each row counts once: a node with a larger mean is rejected.

    Also for other figures of the published rows as a whole.
    """

    is_of_one_node: ClassVar[bool] = True
    counts_rows_alone: ClassVar[bool] = True


@kind_of("privacy")
class SampleUniqueness(MeanModel):
    """At most the share ``at_most`` of the published rows are alone in their class.

    It suppresses nothing by itself: a node with a larger share is rejected, and k-anonymity beside it suppresses the
    rows that are alone. Shares are ratios of integers and compare exactly with a decimal ``at_most``.

    Without suppression a more general node has no larger share. With it one may, if other models suppress rows that
    are not alone. But of n rows with u alone at a node, every less general one has u alone at least, so that to meet
    the model it suppresses (u - n at_most) / (1 - at_most) rows or more: searches rule out nodes by this.
    """

    definition: ClassVar[str] = "ARX's sample uniqueness: the share of rows in classes of one row"
    model: Literal["sample-uniqueness"] = "sample-uniqueness"
    at_most: Number = Field(ge=0, lt=1, kw_only=False, description="largest share of published rows alone in a class")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (exactly(UNIQUE_SHARE, "<=", self.at_most, grain="node"),)

    def __str__(self) -> str:
        return f"sample uniqueness (at most {self.at_most:g})"


@kind_of("privacy")
class AverageRisk(MeanModel):
    """The mean of 1 / rows of the class over the published rows, which is classes / rows, is at most ``at_most``.

    It is the share of rows that a prosecutor who matches all of them is expected to match rightly. It suppresses
    nothing by itself: a node with a larger mean is rejected. Ratios of integers compare exactly with a decimal
    ``at_most``.

    Without suppression a more general node has no larger mean. With it one may, if other models suppress large
    classes. Searches rule out nodes as they do for :class:`SampleUniqueness`, by classes in place of rows alone.
    """

    definition: ClassVar[str] = "El Emam 2013, chapter 16: the average prosecutor risk"
    model: Literal["average-risk"] = "average-risk"
    at_most: Number = Field(gt=0, lt=1, kw_only=False, description="largest mean of 1 / rows of the class")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (exactly(AVERAGE_RISK, "<=", self.at_most, grain="node"),)

    def __str__(self) -> str:
        return f"average risk (at most {self.at_most:g})"


@kind_of("privacy")
class PopulationUniqueness(MeanModel):
    """At most the share ``at_most`` of the ``population`` is unique in it, as estimated from the published classes.

    The published rows are taken for a sample of these people. Of their class sizes Pitman's model estimates how many
    people nobody looks like if they are up to a tenth of the population, else the smaller estimate of SNB and Zayatz
    (``anon.population_uniques`` prints all three). Below a tenth even the best was off by a factor of 0.7 to 2.8 where
    the truth was known: this is an estimate, and no guarantee. A node without an estimate, although some row is alone
    in its class, doesn't meet the model. Nothing is suppressed for it.

    Estimates can rise when a node is generalized, with and without suppression, so that each node is checked.
    """

    definition: ClassVar[str] = "Dankar et al. 2012: estimated uniques of the population, as a share of it"
    monotonic_without_suppression: ClassVar[bool] = False
    model: Literal["population-uniqueness"] = "population-uniqueness"
    at_most: Number = Field(ge=0, lt=1, kw_only=False, description="largest share of people who are unique")
    population: int = Field(ge=1, le=MOST, strict=True, kw_only=False, description="people that the rows are of")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = replace(POPULATION_UNIQUENESS, argument=self.population)
        return (exactly(measure, "<=", self.at_most, grain="node"),)

    def misfit(self, row_count: int) -> Iterator[str]:
        """Say that a table has more rows than there are people."""
        if row_count > self.population:
            yield f"{self} is of a sample of these people, and the table has {row_count:,} rows"

    def __str__(self) -> str:
        return f"population uniqueness (at most {self.at_most:g} of {self.population:,} people)"
