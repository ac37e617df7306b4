"""The settings of the methods that publish at cuts: DiffGen, and top-down specialization; and ranges of numbers."""

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

MAX_STEPS = 1 << 40  # how many values a numeric predictor may have

Outside = Literal["clamp", "refuse"]
"""What becomes of numbers out of their range: they are taken for its nearest end, or end the run."""


def decimal_of(value: Any) -> Decimal:
    """Return a number as it was written."""
    text = value.text if isinstance(value, WrittenFloat) else repr(value) if isinstance(value, float) else str(value)
    try:
        found = Decimal(text)
    except ArithmeticError:
        raise PydanticCustomError("no_number", "must be a number") from None
    if isinstance(value, bool) or not found.is_finite():
        raise PydanticCustomError("no_number", "must be a finite number")
    return found


def written(value: Decimal | float) -> int | float:
    """Return a number as JSON has it."""
    return int(value) if value == int(value) else float(value)


def interval_label(low: str, high: str) -> str:
    """Return the label of the numbers from one on and below another."""
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
        high: the end, which no value reaches.
        step: what values are rounded down to, counted from the least.
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
        """The number of values."""
        return int((self.high - self.low) / self.step)

    def at(self, place: int) -> str:
        """Return the value of a place, from 0 to :attr:`size`, as text."""
        return as_text(self.low + place * self.step)


def _misfit(problem: str) -> PydanticCustomError:
    """Return a problem that is reported with the place where the range stands."""
    return PydanticCustomError("range", "{problem}", {"problem": problem})


def _spelled_out(ranges: Any) -> Any:
    """Ranges may be given as two or three numbers."""
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
"""By predictor its range, as such or as (low, high) or (low, high, step)."""


def numbers_that_misfit(numeric: Mapping[str, Range], policy: Requirements) -> Iterable[str]:
    """List the misfits of numeric predictors, a sentence each."""
    for name, meant in unknown_names(numeric, policy.quasi_identifiers):
        yield f'method.numeric: "{name}" is not a quasi-identifier{meant}'
    for name in numeric:
        if name in policy.taxonomies:
            yield f'taxonomies: "{name}" is numeric, and becomes intervals: it has no taxonomy'


COUNT = "count"  # the column of a release that says how many rows there are of a combination

CUTS = "cuts"
"""What is published beside the rows if it is given a name: the labels that values of the predictors become."""

MAX_SPECIALIZATIONS = 1000  # more of them leave nothing of the budget for each

Utility = Literal["max", "infogain"]
Output = Literal["counts", "rows"]


@kind_of("method")
class DiffGen(PaidMethod):
    """Differentially private generalization for classification, of categorical, numeric and set-valued predictors.

    All predictors, which are the quasi-identifiers, begin with one label for all rows. Then, ``specializations``
    times, a label is drawn by how well its children separate the classes of the sensitive column, and gives way to
    these. Published is how many rows each combination of labels and class has, with noise; combinations that nobody
    has are among them.

    Rows with NULL in a predictor or in the target are left out, whatever the others are.

    Source: Mohammed, Jiang, Chen, Fung and Ohno-Machado 2013, corrected; Mohammed, Chen, Fung and
    Yu 2011.

    Args:
        budget: ε of the release; δ is 0. Half of it at most is spent on choices, and all that these leave on counts.
        target: the column of classes, which is the sensitive one; its taxonomy declares the classes.
        specializations: how many labels give way to their children, fixed before anything is known of the data: trying
            several numbers and releasing the best spends the budget of all of them.
        utility: how a specialization is scored: ``"max"`` by the rows that are of the largest class of their child, or
            ``"infogain"`` by the information of children on classes.
        numeric: by predictor its public range as (low, high) or (low, high, step), high excluded, in place of a
            taxonomy.
        sets: the predictors that are lists of items; the taxonomy of such a column is that of its items.
        output: ``"counts"`` for a column ``count``, or ``"rows"`` for copies of rows.
        outside: ``"clamp"`` takes numbers out of their range for its nearest end, ``"refuse"`` ends the run.
        threshold: counts of this or less are left out; √2 / ε of the counts if not given. It is raised if noise
            would show too many combinations that nobody has.
        set_threshold: the same for the combinations of children that item sets have; √2 / ε of a step if not given.
        selection: how a label is drawn that gives way: by ``"permute-and-flip"``, or as published, by the
            ``"exponential"`` mechanism, which draws worse ones at the same ε. Splits are always drawn by the latter.
        rows_per_individual: how many rows one individual owns at most: of more, this number is chosen at random before
            anything is counted, if the policy says by ``individual`` whose row it is.
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.

    Raises:
        PolicyError: listing every problem at once.
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
            raise PydanticCustomError("some_delta", "δ must be 0: all that is drawn is pure")
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
        """The column that says how many rows there are of a combination; None if rows are copied."""
        return COUNT if self.output == "counts" else None

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from super().misfits(policy)
        yield from self._other_target(policy, self.target)
        yield from self._levels(policy)
        if self.output == "counts":
            for name in (*policy.quasi_identifiers, *policy.sensitive):
                if folded(name) == COUNT:
                    yield f'column "{name}" has the name of that of counts; rename it in a view, or take output "rows"'
        yield from numbers_that_misfit(self.numeric, policy)
        for name, meant in unknown_names(self.sets, policy.quasi_identifiers):
            yield f'method.sets: "{name}" is not a quasi-identifier{meant}'
        for name in self.sets:
            if name in self.numeric:
                yield f'"{name}" cannot be both numeric and a set'


@kind_of("method")
class TopDownSpecialization(MethodSettings):
    """Generalization for classification: labels give way to their children as long as every class has k rows.

    All predictors, which are the quasi-identifiers, begin with one label for all rows. Then, again and again, the label
    whose children have most information on the classes of the sensitive column, for the size that the smallest
    equivalence class loses by it, gives way to them: the largest InfoGain / (AnonyLoss + 1). A label whose rows are
    all of one class of the sensitive column stays, and so does one whose children would leave an equivalence class
    with fewer than k rows. An interval of numbers is split in two where the information is largest, at a value that
    some row has. No row is left out.

    Source: Fung, Wang and Yu 2005 ("Top-down specialization for information and privacy preservation", ICDE) and 2007
    ("Anonymizing classification data for privacy preservation", TKDE 19 (5)).

    Args:
        k: how many rows a class has at least, 2 or more.
        target: the column of classes, which is the sensitive one.
        numeric: by predictor its public range as (low, high) or (low, high, step), high excluded, in place of a
            taxonomy; numbers out of it are refused.

    Raises:
        PolicyError: listing every problem at once.
    """

    why_no_search: ClassVar = "it publishes every row, at labels that it looks for itself"
    model: Literal["top-down-specialization"] = "top-down-specialization"
    k: TwoOrMore = Field(kw_only=False)
    target: str | None = None
    numeric: Ranges = Field(default_factory=dict)

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        # Labels are scored by how its values are spread, and rows are made from counts.
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
