"""Models that compare a class with a table of the population that the rows were drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from sqlanon.model.base import Number, failed_checks, kind_of
from sqlanon.model.privacy.base import (
    Bound,
    Measure,
    PrivacyModel,
    TwoOrMore,
    at_least,
    exactly_at_least,
    exactly_at_most,
)

ABSENT_CLASSES = Measure(
    "absent_classes", view="population", of_table=("delta_presence", "absent_classes"), field="minimum"
)
NO_ABSENT_CLASS = Bound(ABSENT_CLASSES, "<=", 0, 0, monotonic=True, grain="node")
"""No class of the population is without a row of the source."""


class PopulationModel(PrivacyModel):
    """A model with a population: the name of a table with the policy's quasi-identifiers, spelled as in the source.

    It is generalized with the same taxonomies, which must cover it. A class counts at least as many people there as it
    has rows.
    """

    if TYPE_CHECKING:

        @property
        def population(self) -> str:
            """The name of the table: the last field of each such model."""


@kind_of("privacy")
class KMap(PopulationModel):
    """Every class matches at least ``k`` people of the ``population`` (Sweeney 2002, section 4.3)."""

    definition: ClassVar[str] = "Sweeney 2002 (k-map), with the population given as a table"

    model: Literal["k-map"] = "k-map"
    k: TwoOrMore = Field(kw_only=False, description="people that every class matches at least")
    population: str = Field(min_length=1, kw_only=False, description="the table of the population")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = Measure("population_size", view="population", of_table=("k_map", "k"), field="k")
        return (at_least(measure, self.k, monotonic=True),)

    def __str__(self) -> str:
        return f'k-map against "{self.population}" (k = {self.k})'


@kind_of("privacy")
class DeltaPresence(PopulationModel):
    """In every published class the share of the ``population`` that is in the source is in [``minimum``, ``maximum``].

    Nothing is said of classes whose rows are suppressed. With a ``minimum`` above 0, a class of the population without
    any row of the source rejects the node: its absence would be certain. Shares are ratios of integers and compare
    exactly with decimals.
    """

    definition: ClassVar[str] = "Nergiz et al. 2007, definition 1, over published classes"

    model: Literal["delta-presence"] = "delta-presence"
    minimum: Number = Field(ge=0, lt=1, kw_only=False, description="smallest share of a class of the population")
    maximum: Number = Field(gt=0, le=1, kw_only=False, description="largest share of a class of the population")
    population: str = Field(min_length=1, kw_only=False, description="the table of the population")

    @model_validator(mode="after")
    def _not_empty(self) -> DeltaPresence:
        if self.minimum > self.maximum:
            raise failed_checks([f"the minimum, {self.minimum:g}, is above the maximum, {self.maximum:g}"])
        return self

    @property
    def bounds(self) -> tuple[Bound, ...]:
        presence = Measure("presence", view="population", of_table=("delta_presence", "largest"))
        bounds = (exactly_at_least(presence, self.minimum), exactly_at_most(presence, self.maximum))
        return (*bounds, NO_ABSENT_CLASS) if self.minimum > 0 else bounds

    def __str__(self) -> str:
        return f'δ-presence in "{self.population}" ({self.minimum:g} to {self.maximum:g})'
