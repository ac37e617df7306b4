"""Privacy models: bounds on measures of equivalence classes.

A class that violates a bound of any model is suppressed; a node satisfies a policy if the rows of such classes stay
within the suppression limit. These are *syntactic* models: they describe published classes, not the inferences of an
attacker with other knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from sqlanon.model.criteria import (
    CLASS_SIZE,
    DISTINCT_DIVERSITY,
    TOLERANCE,
    Bound,
    Grain,
    Measure,
    View,
    at_least,
    at_most,
    exactly,
    of_values,
)
from sqlanon.model.names import in_quotes
from sqlanon.model.policy_value import Number, PolicyValue, failed_checks, kind_of

MOST = 10**12  # more rows or values than any class has: a larger threshold is a slip
TwoOrMore = Annotated[int, Field(ge=2, le=MOST, strict=True)]
"""A number of rows or values, where 1 would guarantee nothing."""


class PrivacyModel(PolicyValue):
    """Bounds on measures of every published equivalence class.

    A class that violates a bound is suppressed. This makes most models *not* monotonic: a small diverse class that
    merges with a large uniform one is suppressed with it. Without suppression models are monotonic, unless
    ``monotonic_without_suppression`` is False.

    Attributes:
        definition: the source of the definition.
        monotonic_without_suppression: whether each more general node meets the model if a node does in all classes.
        compares_with_source: whether classes are compared with the whole source table.
        is_of_one_node: whether it is only defined for the classes of one node.
        counts_rows_alone: whether it is undefined for classes that count individuals.
    """

    definition: ClassVar[str]
    monotonic_without_suppression: ClassVar[bool] = True
    compares_with_source: ClassVar[bool] = False
    is_of_one_node: ClassVar[bool] = False
    counts_rows_alone: ClassVar[bool] = False

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds; a class must keep all of them."""
        raise NotImplementedError

    # guarded: tests/unit/test_guarded_settings.py::TestModels
    @property
    def monotonic(self) -> bool:
        """Whether generalizing a node never adds rows in violating classes, with any suppression."""
        return all(bound.monotonic for bound in self.bounds)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns of the model."""
        column = getattr(self, "column", None)
        return () if column is None else (column,)


@kind_of("privacy")
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows (Samarati 2001, definition 2; Sweeney 2002). ``k`` is at least 2.

    With a policy's ``individual`` column a class counts distinct individuals instead of rows.
    """

    definition: ClassVar[str] = "Samarati 2001, definition 2"
    model: Literal["k-anonymity"] = "k-anonymity"
    k: TwoOrMore = Field(kw_only=False, description="minimum number of rows in a class")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (at_least(CLASS_SIZE, self.k, monotonic=True),)

    def __str__(self) -> str:
        return f"k-anonymity (k = {self.k})"


@kind_of("privacy")
class AlphaKAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows, and no value of ``column`` has more than the share ``alpha`` of them.

    The general model of Wong et al. 2006, in which every value counts as sensitive, NULL too. Shares are ratios of
    integers and compare exactly with a decimal ``alpha``.
    """

    definition: ClassVar[str] = "Wong et al. 2006, definitions 3 and 4, for every sensitive value"
    model: Literal["alpha-k-anonymity"] = "alpha-k-anonymity"
    column: str = Field(kw_only=False, description="a sensitive column")
    alpha: Number = Field(gt=0, lt=1, kw_only=False, description="largest share of a value in a class")
    k: TwoOrMore = Field(kw_only=False, description="minimum number of rows in a class")

    # guarded: tests/unit/test_guarded_settings.py::TestModels
    @property
    def bounds(self) -> tuple[Bound, ...]:
        table = ("alpha_k_anonymity", "alpha")
        share = of_values("largest_share", self.column, of_table=table, field="alpha", view="values")
        return (at_least(CLASS_SIZE, self.k, monotonic=True), exactly(share, "<=", self.alpha))

    def __str__(self) -> str:
        return f"(α,k)-anonymity of {in_quotes(self.column)} (α = {self.alpha:g}, k = {self.k})"


@kind_of("privacy")
class DistinctLDiversity(PrivacyModel):
    """Every class has at least ``l`` distinct values of ``column``, including NULL (Machanavajjhala et al. 2007)."""

    definition: ClassVar[str] = "Machanavajjhala et al. 2007, section 4.1"
    model: Literal["distinct-l-diversity"] = "distinct-l-diversity"
    column: str = Field(kw_only=False, description="a sensitive column")
    l: TwoOrMore = Field(kw_only=False, description="distinct values that each class has at least")  # noqa: E741

    @property
    def bounds(self) -> tuple[Bound, ...]:
        table = ("distinct_l_diversity", "l")
        measure = Measure(DISTINCT_DIVERSITY, self.column, of_class="distinct_diversity_of", of_table=table, field="l")
        return (at_least(measure, self.l, monotonic=True),)

    def __str__(self) -> str:
        return f"distinct l-diversity of {in_quotes(self.column)} (l = {self.l})"


@kind_of("privacy")
class EntropyLDiversity(PrivacyModel):
    """Every class has entropy at least log(``l``) in ``column`` (Machanavajjhala et al. 2007, definition 4.1).

    It is compared as exp(entropy) >= l with a relative tolerance of 1e-9, so that a class of exactly l equally frequent
    values passes.
    """

    definition: ClassVar[str] = "Machanavajjhala et al. 2007, definition 4.1"
    model: Literal["entropy-l-diversity"] = "entropy-l-diversity"
    column: str = Field(kw_only=False, description="a sensitive column")
    l: Number = Field(gt=1, le=MOST, kw_only=False, description="effective number of values that a class has")  # noqa: E741

    @property
    def bounds(self) -> tuple[Bound, ...]:
        table = ("entropy_l_diversity", "l")
        measure = of_values("entropy_diversity", self.column, of_table=table, field="l", view="values")
        return (at_least(measure, float(self.l)),)

    def __str__(self) -> str:
        return f"entropy l-diversity of {in_quotes(self.column)} (l = {self.l:g})"


@kind_of("privacy")
class RecursiveCLDiversity(PrivacyModel):
    """In every class the most frequent value of ``column`` has fewer than ``c`` times the rows of the rare ones.

    With value counts r1 >= r2 >= ... >= rm: r1 < c (rl + ... + rm). A class of fewer than ``l`` values fails. NULL is a
    value. r1 / (rl + ... + rm) is a ratio of integers and compares exactly with a decimal ``c``.
    """

    definition: ClassVar[str] = "Machanavajjhala et al. 2007, definition 4.2"
    model: Literal["recursive-c-l-diversity"] = "recursive-c-l-diversity"
    column: str = Field(kw_only=False, description="a sensitive column")
    c: Number = Field(gt=0, le=MOST, kw_only=False, description="bound on rows of the top value per row of a rare one")
    l: TwoOrMore = Field(kw_only=False, description="rank from which values count as rare")  # noqa: E741

    @property
    def bounds(self) -> tuple[Bound, ...]:
        table = ("recursive_cl_diversity", "c")
        measure = of_values("recursive_ratio", self.column, of_table=table, field="c", view="values", argument=self.l)
        return (exactly(measure, "<", self.c),)

    def __str__(self) -> str:
        return f"recursive (c,l)-diversity of {in_quotes(self.column)} (c = {self.c:g}, l = {self.l})"


Distance = Literal["equal", "ordered", "hierarchical"]
Likeness = Literal["basic", "enhanced"]

DISTANCES: dict[Distance, tuple[View, str, str]] = {
    "equal": ("sized shares", "equal_distance", "t_closeness"),
    "ordered": ("ordered", "ordered_distance", "ordered_t_closeness"),
    "hierarchical": ("hierarchical", "equal_distance", "hierarchical_t_closeness"),
}
"""By ground distance: the view of a class, its measure, and the macro that measures a table."""


@kind_of("privacy")
class TCloseness(PrivacyModel):
    """In every class the distribution of ``column`` is within earth mover's distance ``t`` of the source table's.

    The ground distance of two values is 1 (``equal``), their distance in the column's order over the number of values
    less one (``ordered``; NULL comes last), or the level of their lowest common ancestor over the height of the
    column's taxonomy (``hierarchical``), which must be loaded under the column's name. The source table counts with
    all its rows, including suppressed ones.
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
        name, table = f"{self.distance}_distance", (of_table, "t")
        measure = of_values(name, self.column, of_table=table, field="t", view=view, of_class=of_class)
        return (at_most(measure, self.t),)

    def __str__(self) -> str:
        return f"t-closeness of {in_quotes(self.column)} with {self.distance} distance (t = {self.t:g})"


@kind_of("privacy")
class BetaLikeness(PrivacyModel):
    """In no class does the relative frequency of a value of ``column`` gain more than ``beta`` over the source table.

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
        name = f"{self.variant}_likeness"
        measure = of_values(name, self.column, of_table=("beta_likeness", self.variant), field="beta")
        return (at_most(measure, float(self.beta)),)

    def __str__(self) -> str:
        return f"{self.variant} β-likeness of {in_quotes(self.column)} (β = {self.beta:g})"


@kind_of("privacy")
class DeltaDisclosure(PrivacyModel):
    """In every class each value of ``column`` is within a factor of 2^``delta`` of its share in the source table.

    |log2(q / p)| < ``delta`` for the share q in the class and p in the table of every value in the class. Values that a
    class lacks don't count (as in ARX), which makes the model not monotonic even without suppression: a merge can
    dilute a value.
    """

    definition: ClassVar[str] = "Brickell and Shmatikov 2008, definition 2, for the values that a class has, log base 2"
    compares_with_source: ClassVar[bool] = True
    monotonic_without_suppression: ClassVar[bool] = False
    model: Literal["delta-disclosure"] = "delta-disclosure"
    column: str = Field(kw_only=False, description="a sensitive column")
    delta: Number = Field(gt=0, le=MOST, kw_only=False, description="bound on |log2| of the ratio of shares, exclusive")

    # guarded: tests/unit/test_bounds.py
    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = of_values("disclosure", self.column, of_table=("delta_disclosure", "delta"), field="delta")
        # A ratio that is equal up to rounding is not below.
        return (Bound(measure, "<", self.delta, self.delta * (1 - TOLERANCE)),)

    def __str__(self) -> str:
        return f"δ-disclosure privacy of {in_quotes(self.column)} (δ = {self.delta:g})"


NO_ABSENT_CLASS = Bound(
    Measure("absent_classes", view="population", of_table=("delta_presence", "absent_classes"), field="minimum"),
    *("<=", 0, 0),
    monotonic=True,
    grain="node",
)
"""Every class of the population has a row of the source."""


class PopulationModel(PrivacyModel):
    """A model with a population: the name of a table with the policy's quasi-identifiers, spelled as in the source.

    It is generalized with the same taxonomies, which must cover it. A class counts at least as many people there as it
    has rows.
    """

    is_of_one_node: ClassVar[bool] = True
    counts_rows_alone: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def population(self) -> str:
            """The name of the table, the last field of each such model."""


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
        return f"k-map against {in_quotes(self.population)} (k = {self.k})"


@kind_of("privacy")
class DeltaPresence(PopulationModel):
    """In every published class the share of the ``population`` that is in the source is in [``minimum``, ``maximum``].

    Classes with suppressed rows don't count. With a ``minimum`` above 0, a class of the population without any row of
    the source rejects the node: its absence would be certain. Shares are ratios of integers and compare exactly with
    decimals.
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

    # guarded: tests/unit/test_guarded_settings.py::TestModels
    @property
    def bounds(self) -> tuple[Bound, ...]:
        presence = Measure("presence", view="population", of_table=("delta_presence", "largest"))
        bounds = (exactly(presence, ">=", self.minimum), exactly(presence, "<=", self.maximum))
        return (*bounds, NO_ABSENT_CLASS) if self.minimum > 0 else bounds

    def __str__(self) -> str:
        return f"δ-presence in {in_quotes(self.population)} ({self.minimum:g} to {self.maximum:g})"


MAX_SECRETS = 12  # knowledge states are subsets of the secret columns: 4,096 of them


@kind_of("privacy")
class MConcealing(PrivacyModel):
    """An attacker with the ``prior`` re-identifies no row with an expected probability above ``m``.

    The attacker knows the quasi-identifiers and each secret (a sensitive column of ``prior``) independently with its
    probability, and guesses uniformly among the rows that agree with this knowledge: for a row i, the sum over subsets
    q of the secrets of P(q) / n_q(i). This is a measure of risk, not a guarantee: the mean over states of knowledge
    hides that an unlikely state may identify a row with certainty.

    With grain ``class`` a class with a row above ``m`` is suppressed, which changes the risk in no other class; with
    grain ``node`` the classes that other models keep are measured, and a node with a row above ``m`` is rejected.
    """

    definition: ClassVar[str] = "Mazzone 2019, section 5.2; a mean over states of knowledge"
    is_of_one_node: ClassVar[bool] = True
    counts_rows_alone: ClassVar[bool] = True
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
            raise failed_checks(
                [f"the prior of {in_quotes(name)} is not a probability between 0 and 1" for name in wrong]
            )
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
