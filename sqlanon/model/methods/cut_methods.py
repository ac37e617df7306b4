"""The settings of the methods that publish at cuts, DiffGen and top-down specialization, and ranges of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sqlanon.model.budget import Budget, WrittenFloat
from sqlanon.model.methods.noisy import PaidMethod, Selection
from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.names import folded
from sqlanon.model.policy_value import NotNegative, PolicyValue, kind_of, unknown_names
from sqlanon.model.privacy import KAnonymity, PrivacyModel, TwoOrMore

MAX_STEPS = 1 << 40  # the maximum number of values of a numeric predictor
Outside = Literal["clamp", "refuse"]
"""Whether numbers outside their range are moved to its nearest end, or end the run."""


def decimal_of(value: Any) -> Decimal:
    """Return a number exactly as written."""
    text = value.text if isinstance(value, WrittenFloat) else repr(value) if isinstance(value, float) else str(value)
    try:
        found = Decimal(text)
    except ArithmeticError:
        raise PydanticCustomError("no_number", "must be a number") from None
    if isinstance(value, bool) or not found.is_finite():
        raise PydanticCustomError("no_number", "must be a finite number")
    return found


def written(value: Decimal | float) -> int | float:
    """Return a number for JSON."""
    return int(value) if value == int(value) else float(value)


def interval_label(low: str, high: str) -> str:
    """Return the label of the numbers from ``low`` up to but excluding ``high``."""
    return f"[{low}, {high})"


Bound = Annotated[
    Decimal,
    PlainValidator(decimal_of),
    PlainSerializer(written, return_type=int | float),
    WithJsonSchema({"type": "number"}),
]


def as_text(value: Decimal | float) -> str:
    """Return a number with all of its digits, and no more."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    return f"{exact.normalize():f}"


class Range(PolicyValue):
    """The public range of a numeric predictor, in steps; values are whole multiples of a step.

    Args:
        low: the least value.
        high: the end, exclusive.
        step: values are rounded down to multiples of it, counted from the least.
    """

    low: Bound
    high: Bound
    step: Bound = Decimal(1)

    @model_validator(mode="after")
    def _some_steps(self) -> Range:
        if self.step <= 0:
            raise _misfit("the step must be above 0")
        if self.low >= self.high:
            raise _misfit("the end must be above the least value")
        if (self.high - self.low) % self.step:
            raise _misfit("the range must be a whole number of steps")
        if self.size > MAX_STEPS:
            raise _misfit(f"the range has {self.size:,} steps, more than {MAX_STEPS:,}: take longer ones")
        return self

    @property
    def size(self) -> int:
        return int((self.high - self.low) / self.step)

    def at(self, place: int) -> str:
        """Return the value at a place, from 0 to :attr:`size`, as text."""
        return as_text(self.low + place * self.step)


def _misfit(problem: str) -> PydanticCustomError:
    """Return a problem that is reported with the path of the range."""
    return PydanticCustomError("range", "{problem}", {"problem": problem})


def _spelled_out(ranges: Any) -> Any:
    if not isinstance(ranges, Mapping):
        return ranges
    found = dict(ranges)
    for name, given in ranges.items():
        if isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) in (2, 3):
            found[name] = dict(zip(("low", "high", "step"), given, strict=False))
    return found


if TYPE_CHECKING:
    Ranges = Mapping[str, Any]
else:
    Ranges = Annotated[dict[str, Range], BeforeValidator(_spelled_out)]
"""Ranges by predictor, also as (low, high) or (low, high, step)."""


def numbers_that_misfit(numeric: Mapping[str, Range], policy: Requirements) -> Iterable[str]:
    """List problems of numeric predictors, a sentence each."""
    for name, meant in unknown_names(numeric, policy.quasi_identifiers):
        yield f'method.numeric: "{name}" is not a quasi-identifier{meant}'
    for name in numeric:
        if name in policy.taxonomies:
            yield f'taxonomies: "{name}" is numeric, and becomes intervals: it has no taxonomy'


COUNT = "count"  # the column of a release with the number of rows of a combination
CUTS = "cuts"
"""The companion table with the labels of the predictors' values, if it is given a name."""
MAX_SPECIALIZATIONS = 1000  # with more, nothing of the budget is left for each

Utility = Literal["max", "infogain"]
Output = Literal["counts", "rows"]


@kind_of("method")
class DiffGen(PaidMethod):
    """Differentially private generalization for classification, of categorical, numeric and set-valued predictors.

    All predictors, the quasi-identifiers, begin with one label for all rows. Then, ``specializations`` times, a label
    is drawn by how well its children separate the classes of the sensitive column, and replaced by them. The release
    has noisy counts of all combinations of labels and class, including combinations without rows.

    Rows with NULL in a predictor or in the target are left out.

    Source: Mohammed, Jiang, Chen, Fung and Ohno-Machado 2013, corrected; Mohammed, Chen, Fung and
    Yu 2011.

    Args:
        budget: ε of the release; δ is 0. At most half of it is spent on choices, and the rest on counts.
        target: the column of classes, which is the sensitive one; its taxonomy declares the classes.
        specializations: the number of labels to replace by their children, fixed before looking at the data: trying
            several numbers and releasing the best spends the budget of all of them.
        utility: the score of a specialization: ``"max"`` counts the rows in the largest class of their child,
            ``"infogain"`` is the information of children on classes.
        numeric: public ranges by predictor as (low, high) or (low, high, step), high excluded, in place of a taxonomy.
        sets: the predictors that are lists of items; such a column has the taxonomy of its items.
        output: ``"counts"`` for a column ``count``, or ``"rows"`` for copies of rows.
        outside: ``"clamp"`` moves numbers outside their range to its nearest end, ``"refuse"`` ends the run.
        threshold: counts up to this are left out; √2 / ε of the counts if not given. It is raised if noise would show
            too many combinations without rows.
        set_threshold: the threshold for combinations of children in item sets; √2 / ε of a step if not given.
        selection: the mechanism that draws the next label: ``"permute-and-flip"``, or ``"exponential"`` as published,
            which draws worse ones at the same ε. Splits are always drawn by the latter.
        rows_per_individual: the maximum number of rows of an individual; more are sampled down at random before
            anything is counted, if the policy names ``individual``.
        accept_observed_domain: accept taxonomies with values observed in the data; the guarantee then says so.

    Raises:
        PolicyError: lists every problem at once.
    """

    is_pure: ClassVar = True
    model: Literal["diffgen"] = "diffgen"
    budget: Budget = Field(default_factory=lambda: Budget(1))
    target: str | None = Field(default=None, kw_only=False)
    specializations: Annotated[int, Field(ge=1, le=MAX_SPECIALIZATIONS, strict=True)] = 10
    utility: Utility = "max"
    numeric: Ranges = Field(default_factory=dict)
    sets: Annotated[Sequence[str], AfterValidator(tuple)] = ()
    output: Output = "counts"
    outside: Outside = "clamp"
    threshold: NotNegative | None = None
    set_threshold: NotNegative | None = None
    selection: Selection = "permute-and-flip"

    @field_validator("budget")
    @classmethod
    def _no_delta(cls, budget: Budget) -> Budget:
        if budget.delta:
            raise PydanticCustomError("some_delta", "δ must be 0: all draws are pure")
        return budget

    # guarded: tests/unit/test_guarded_settings.py::TestMethods
    @property
    def step(self) -> Fraction:
        """ε' of every choice, split and set of noisy counts but the last: ε / (2 (numeric predictors + 2 rounds))."""
        return self.budget.epsilon / (2 * (len(self.numeric) + 2 * self.specializations))

    @property
    def added_columns(self) -> tuple[str, ...]:
        return () if self.count_column is None else (self.count_column,)

    @property
    def count_column(self) -> str | None:
        """The column with the number of rows of a combination; None if rows are copied."""
        return COUNT if self.output == "counts" else None

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from super().misfits(policy)
        yield from self._other_target(policy, self.target)
        yield from self._levels(policy)
        if self.output == "counts":
            for name in (*policy.quasi_identifiers, *policy.sensitive):
                if folded(name) == COUNT:
                    yield f'column "{name}" has the name of the column of counts; rename it, or use output "rows"'
        yield from numbers_that_misfit(self.numeric, policy)
        for name, meant in unknown_names(self.sets, policy.quasi_identifiers):
            yield f'method.sets: "{name}" is not a quasi-identifier{meant}'
        for name in self.sets:
            if name in self.numeric:
                yield f'"{name}" cannot be both numeric and a set'


@kind_of("method")
class TopDownSpecialization(MethodSettings):
    """Generalization for classification: labels are replaced by their children as long as every class has k rows.

    All predictors, the quasi-identifiers, begin with one label for all rows. Then, step by step, the label is replaced
    whose children have most information on the classes of the sensitive column, relative to the rows that the smallest
    equivalence class loses: the largest InfoGain / (AnonyLoss + 1). A label stays if its rows are all of one class of
    the sensitive column, or if its children would leave an equivalence class with fewer than k rows. An interval of
    numbers is split in two where the information is largest, at a value that occurs. No row is left out.

    Source: Fung, Wang and Yu 2005 ("Top-down specialization for information and privacy preservation", ICDE) and 2007
    ("Anonymizing classification data for privacy preservation", TKDE 19 (5)).

    Args:
        k: the minimum number of rows in a class, 2 or more.
        target: the column of classes, which is the sensitive one.
        numeric: public ranges by predictor as (low, high) or (low, high, step), high excluded, in place of a taxonomy;
            numbers outside are refused.

    Raises:
        PolicyError: lists every problem at once.
    """

    why_no_search: ClassVar = "it publishes every row, at labels that it chooses itself"
    model: Literal["top-down-specialization"] = "top-down-specialization"
    k: TwoOrMore = Field(kw_only=False)
    target: str | None = None
    numeric: Ranges = Field(default_factory=dict)

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        # Labels are scored by the distribution of its values, and rows are made from counts.
        return policy.sensitive

    def misfits(self, policy: Requirements) -> Iterable[str]:
        if len(policy.sensitive) != 1:
            yield f"{self} is for one sensitive column, its target, not {len(policy.sensitive)}"
        else:
            yield from self._other_target(policy, self.target)
        yield from self._insensitive_columns(policy)
        yield from self._weights(policy)
        yield from self._individuals(policy)
        yield from self._other_models(policy)
        yield from self._quality(policy, "it scores labels by how well their children predict the target")
        yield from self._levels(policy)
        yield from numbers_that_misfit(self.numeric, policy)
