"""The public ranges of numeric predictors, which become intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from sqlanon.model.base import PolicyValue, unknown_names
from sqlanon.model.budget import WrittenFloat

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

MAX_STEPS = 1 << 40
"""How many values a numeric predictor may have."""

Outside = Literal["clamp", "refuse"]
"""What becomes of numbers out of their range: they are taken for its nearest end, or end the run."""


def _bound(value: Any) -> Decimal:
    """A number as it was written."""
    text = value.text if isinstance(value, WrittenFloat) else repr(value) if isinstance(value, float) else str(value)
    try:
        found = Decimal(text)
    except ArithmeticError:
        raise PydanticCustomError("no_number", "must be a number") from None
    if isinstance(value, bool) or not found.is_finite():
        raise PydanticCustomError("no_number", "must be a finite number")
    return found


def written(value: Decimal | float) -> int | float:
    """A number as JSON has it."""
    return int(value) if value == int(value) else float(value)


def interval_label(low: str, high: str) -> str:
    """The label of the numbers from one on and below another."""
    return f"[{low}, {high})"


Bound = Annotated[
    Decimal,
    PlainValidator(_bound),
    PlainSerializer(written, return_type=int | float),
    WithJsonSchema({"type": "number"}),
]


def as_text(value: Decimal | float) -> str:
    """A number with all of its digits, and no more."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    return f"{exact.normalize():f}"


class Range(PolicyValue):
    """The public range of a numeric predictor, in steps of which values are whole multiples.

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
        """How many values there are."""
        return int((self.high - self.low) / self.step)

    def at(self, place: int) -> str:
        """The value of a place, from 0 to :attr:`size`, as text."""
        return as_text(self.low + place * self.step)


def _misfit(problem: str) -> PydanticCustomError:
    """A problem that is told with the place where the range stands."""
    return PydanticCustomError("range", "{problem}", {"problem": problem})


def _spelled_out(ranges: Any) -> Any:
    """Ranges may be given as two or three numbers."""
    names = ("low", "high", "step")
    if not isinstance(ranges, Mapping):
        return ranges
    return {
        name: dict(zip(names, given, strict=False)) if _is_short_range(given) else given
        for name, given in ranges.items()
    }


def _is_short_range(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) in (2, 3)


Ranges = Annotated[dict[str, Range], BeforeValidator(_spelled_out)]
"""By predictor its range, as such or as (low, high) or (low, high, step)."""


def numbers_that_misfit(numeric: Mapping[str, Range], policy: Policy) -> Iterable[str]:
    """What numeric predictors are not, a sentence each."""
    for name, meant in unknown_names(numeric, policy.quasi_identifiers):
        yield f'method.numeric: "{name}" is no quasi-identifier{meant}'
    for name in numeric:
        if name in policy.taxonomies:
            yield f'taxonomies: "{name}" is numeric, and becomes intervals: it has no taxonomy'
