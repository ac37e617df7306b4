"""Models that compare the values of a class with those of the whole source table."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.base import Number, kind_of
from sqlanon.model.privacy.base import MOST, Bound, Measure, PrivacyModel, View, at_most, below

Distance = Literal["equal", "ordered", "hierarchical"]
Likeness = Literal["basic", "enhanced"]

DISTANCES: dict[Distance, tuple[View, str, str]] = {
    "equal": ("sized shares", "equal_distance_of", "t_closeness"),
    "ordered": ("ordered", "ordered_distance_of", "ordered_t_closeness"),
    "hierarchical": ("hierarchical", "equal_distance_of", "hierarchical_t_closeness"),
}
"""For each ground distance: what it looks at in a class, and the macros that measure a class and a table."""


@kind_of("privacy")
class TCloseness(PrivacyModel):
    """In every class the distribution of ``column`` is within earth mover's distance ``t`` of the source table's.

    The ground distance of two values is 1 (``equal``), their distance in the column's order over the number of values
    less one (``ordered``; NULL comes last), or the level of their lowest common ancestor over the height of the
    column's taxonomy (``hierarchical``), which has to be loaded under the column's name. The source table counts with
    all of its rows, suppressed ones included.
    """

    definition: ClassVar[str] = "Li et al. 2007, definition 2 and section 5"
    compares_with_source: ClassVar[bool] = True

    model: Literal["t-closeness"] = "t-closeness"
    column: str = Field(kw_only=False, description="a sensitive column")
    t: Number = Field(gt=0, le=1, kw_only=False, description="largest earth mover's distance of a class, in [0, 1]")
    distance: Distance = Field(default="equal", kw_only=False, description="the ground distance between values")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        view, of_class, of_table = DISTANCES[self.distance]
        measure = Measure(
            f"{self.distance}_distance",
            self.column,
            view=view,
            of_class=of_class,
            of_table=(of_table, "t"),
            field="t",
            certainty=f"{self.distance}_distance_certainty_of",
        )
        return (at_most(measure, self.t),)

    def __str__(self) -> str:
        return f't-closeness of "{self.column}" with {self.distance} distance (t = {self.t:g})'


@kind_of("privacy")
class BetaLikeness(PrivacyModel):
    """In no class is a value of ``column`` more frequent than in the source table by more than ``beta`` times.

    The gain (q - p) / p of every value that is more frequent in the class (q) than in the table (p) is at most
    ``beta``; in the ``enhanced`` variant also at most -ln p.
    """

    definition: ClassVar[str] = "Cao and Karras 2012, definitions 2 and 3"
    compares_with_source: ClassVar[bool] = True

    model: Literal["beta-likeness"] = "beta-likeness"
    column: str = Field(kw_only=False, description="a sensitive column")
    beta: Number = Field(gt=0, le=MOST, kw_only=False, description="largest relative gain of a value")
    variant: Likeness = Field(default="basic", kw_only=False, description="enhanced also bounds it by -ln p")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = Measure(
            f"{self.variant}_likeness",
            self.column,
            view="shares",
            of_class=f"{self.variant}_likeness_of",
            of_table=("beta_likeness", self.variant),
            field="beta",
            certainty=f"{self.variant}_likeness_certainty_of",
        )
        return (at_most(measure, float(self.beta)),)

    def __str__(self) -> str:
        return f'{self.variant} β-likeness of "{self.column}" (β = {self.beta:g})'


@kind_of("privacy")
class DeltaDisclosure(PrivacyModel):
    """In every class each value of ``column`` is within a factor of 2^``delta`` of its share in the source table.

    |log2(q / p)| < ``delta`` for the share q in the class and p in the table of every value that the class has. A value
    that a class lacks is not held against it (as ARX does), which makes the model not monotonic even without
    suppression: a merge can dilute a value.
    """

    definition: ClassVar[str] = "Brickell and Shmatikov 2008, definition 2, for the values that a class has, log base 2"
    compares_with_source: ClassVar[bool] = True
    monotonic_without_suppression: ClassVar[bool] = False

    model: Literal["delta-disclosure"] = "delta-disclosure"
    column: str = Field(kw_only=False, description="a sensitive column")
    delta: Number = Field(gt=0, le=MOST, kw_only=False, description="bound on |log2| of the ratio of shares, exclusive")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = Measure(
            "disclosure",
            self.column,
            view="shares",
            of_class="disclosure_of",
            of_table=("delta_disclosure", "delta"),
            field="delta",
            certainty="disclosure_certainty_of",
        )
        return (below(measure, float(self.delta)),)

    def __str__(self) -> str:
        return f'δ-disclosure privacy of "{self.column}" (δ = {self.delta:g})'
