"""Models that compare a class with a whole table or a population, and m-concealing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from sqlanon.model.base import Number, failed_checks, kind_of
from sqlanon.model.privacy.base import (
    MOST,
    Bound,
    Grain,
    Measure,
    PrivacyModel,
    TwoOrMore,
    View,
    at_least,
    at_most,
    below,
    exactly_at_least,
    exactly_at_most,
)

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


MAX_SECRETS = 12
"""Knowledge states are subsets of the secret columns: 4,096 of them."""


@kind_of("privacy")
class MConcealing(PrivacyModel):
    """No row is re-identified with an expected probability above ``m`` by an attacker of the ``prior``.

    The attacker knows the quasi-identifiers and each secret (a sensitive column of ``prior``) independently with its
    probability, and guesses uniformly among the rows that agree with what he knows: for a row i, the sum over subsets q
    of the secrets of P(q) / n_q(i). This is a measure of risk, not a guarantee: the mean over states of knowledge hides
    that a row may be certain to be found in an unlikely one.

    With the grain ``class`` a class with a row above ``m`` is suppressed, which changes the risk in no other class;
    with the grain ``node`` the classes that other models keep are measured, and a node with a row above ``m`` is
    rejected.
    """

    definition: ClassVar[str] = "Mazzone 2019, section 5.2; a mean over states of knowledge"

    model: Literal["m-concealing"] = "m-concealing"
    m: Number = Field(gt=0, le=1, kw_only=False, description="largest expected probability that a row is re-identified")
    prior: Annotated[dict[str, Number], Field(min_length=1, max_length=MAX_SECRETS)] = Field(
        kw_only=False, description="secret column to probability"
    )
    grain: Grain = Field(
        default="class", kw_only=False, description="what is given up for a row above m: class or node"
    )

    @field_validator("prior")
    @classmethod
    def _probabilities(cls, prior: dict[str, Any]) -> dict[str, Any]:
        wrong = [name for name, probability in prior.items() if not 0 <= probability <= 1]
        if wrong:
            raise failed_checks([f'the prior of "{name}" is not a probability between 0 and 1' for name in wrong])
        return prior

    @property
    def bounds(self) -> tuple[Bound, ...]:
        prior = tuple(sorted(self.prior.items()))
        measure = Measure("concealing", None, prior, view="attacker", of_table=("m_concealing", "m"), field="m")
        return (at_most(measure, self.m, grain=self.grain),)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.prior)

    def __str__(self) -> str:
        return f"m-concealing (m = {self.m:g})"
