"""Models of how large and how diverse a class is: k-anonymity, (α,k)-anonymity and the l-diversities."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.base import Number, kind_of
from sqlanon.model.privacy.base import (
    CLASS_SIZE,
    MOST,
    Bound,
    Measure,
    PrivacyModel,
    TwoOrMore,
    at_least,
    exactly_at_most,
    exactly_below,
)

DISTINCT_DIVERSITY = "distinct_diversity"
"""The name of the measure that counts the values of a class."""


@kind_of("privacy")
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows (Samarati 2001, definition 2; Sweeney 2002). ``k`` is at least 2.

    With a policy's ``individual`` column a class counts distinct individuals instead of rows.
    """

    definition: ClassVar[str] = "Samarati 2001, definition 2"

    model: Literal["k-anonymity"] = "k-anonymity"
    k: TwoOrMore = Field(kw_only=False, description="rows that every class has at least")

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
    k: TwoOrMore = Field(kw_only=False, description="rows that every class has at least")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        share = Measure(
            "largest_share",
            self.column,
            of_class="largest_share_of",
            of_table=("alpha_k_anonymity", "alpha"),
            field="alpha",
            certainty="largest_share_certainty_of",
        )
        return (at_least(CLASS_SIZE, self.k, monotonic=True), exactly_at_most(share, self.alpha))

    def __str__(self) -> str:
        return f'(α,k)-anonymity of "{self.column}" (α = {self.alpha:g}, k = {self.k})'


@kind_of("privacy")
class DistinctLDiversity(PrivacyModel):
    """Every class has at least ``l`` distinct values of ``column``, NULL being one (Machanavajjhala et al. 2007)."""

    definition: ClassVar[str] = "Machanavajjhala et al. 2007, section 4.1"

    model: Literal["distinct-l-diversity"] = "distinct-l-diversity"
    column: str = Field(kw_only=False, description="a sensitive column")
    l: TwoOrMore = Field(kw_only=False, description="distinct values that each class has at least")  # noqa: E741

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = Measure(
            DISTINCT_DIVERSITY,
            self.column,
            of_class="distinct_diversity_of",
            of_table=("distinct_l_diversity", "l"),
            field="l",
        )
        return (at_least(measure, self.l, monotonic=True),)

    def __str__(self) -> str:
        return f'distinct l-diversity of "{self.column}" (l = {self.l})'


@kind_of("privacy")
class EntropyLDiversity(PrivacyModel):
    """Every class has entropy at least log(``l``) in ``column`` (Machanavajjhala et al. 2007, definition 4.1).

    Compared as exp(entropy) >= l with a relative tolerance of 1e-9, so that a class of exactly l equally frequent
    values passes.
    """

    definition: ClassVar[str] = "Machanavajjhala et al. 2007, definition 4.1"

    model: Literal["entropy-l-diversity"] = "entropy-l-diversity"
    column: str = Field(kw_only=False, description="a sensitive column")
    l: Number = Field(gt=1, le=MOST, kw_only=False, description="effective number of values that a class has")  # noqa: E741

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = Measure(
            "entropy_diversity",
            self.column,
            of_class="entropy_diversity_of",
            of_table=("entropy_l_diversity", "l"),
            field="l",
            certainty="entropy_diversity_certainty_of",
        )
        return (at_least(measure, float(self.l)),)

    def __str__(self) -> str:
        return f'entropy l-diversity of "{self.column}" (l = {self.l:g})'


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
        measure = Measure(
            "recursive_ratio",
            self.column,
            self.l,
            of_class="recursive_ratio_of",
            of_table=("recursive_cl_diversity", "c"),
            field="c",
            certainty="recursive_ratio_certainty_of",
        )
        return (exactly_below(measure, self.c),)

    def __str__(self) -> str:
        return f'recursive (c,l)-diversity of "{self.column}" (c = {self.c:g}, l = {self.l})'
