"""Privacy budgets in exact numbers, never floats, and their units: whose privacy is spent."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from sqlanon.model.names import folded
from sqlanon.model.policy_value import PolicyValue

Exact = Fraction | Decimal | int | str
"""An exact number: ``1``, ``"0.1"``, ``"1e-6"``, ``"1/3"``, a Decimal or a Fraction."""


FAR_EXPONENT = re.compile(r"e[+-]?0*\d{4}", re.IGNORECASE)


class WrittenFloat(float):
    """A float of a file with its original text, so that a budget can take it exactly."""

    def __init__(self, text: str) -> None:
        self.text = text


# guarded: tests/unit/test_budget.py
def exact(value: object) -> Fraction:
    """Return the exact number.

    Floats are refused, since their digits aren't the written ones, and so are negative numbers, and exponents so large
    that the number would fill the memory.
    """
    if isinstance(value, WrittenFloat):
        value = value.text
    if isinstance(value, float):
        raise PydanticCustomError("inexact", 'must be exact: write it as text, such as "0.1", or as a Fraction')
    if isinstance(value, bool) or not isinstance(value, Fraction | Decimal | int | str):
        raise PydanticCustomError("no_number", "must be a number")
    if not isinstance(value, int | Fraction) and FAR_EXPONENT.search(str(value).replace("_", "")):  # no mutants: quick
        raise PydanticCustomError("no_number", "must be a number with an exponent of 3 digits at most")
    try:
        number = Fraction(value)
    except (ValueError, OverflowError, InvalidOperation, ZeroDivisionError):
        raise PydanticCustomError("no_number", "must be a number") from None
    if number < 0:
        raise PydanticCustomError("negative", "must not be negative")
    return number


def spelled(number: Fraction) -> str:
    """Format an exact number so that :func:`exact` can read it: as a decimal if possible, otherwise as ``"p/q"``."""
    rest, times = number.denominator, {2: 0, 5: 0}
    for factor in times:
        while rest % factor == 0:
            rest, times[factor] = rest // factor, times[factor] + 1
    digits = max(times.values())
    if rest != 1 or not digits:
        return str(number)
    whole, decimals = divmod(number.numerator * 10**digits // number.denominator, 10**digits)
    return f"{whole}.{decimals:0{digits}}"


def as_float(number: Fraction) -> float:
    """Return the nearest float; infinity if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


ExactNumber = Annotated[
    Fraction,
    PlainValidator(exact),
    PlainSerializer(spelled, return_type=str),
    WithJsonSchema({"type": "string", "description": "an exact number, such as 0.1 or 1/3"}),
]
"""A Fraction that accepts any :data:`Exact`."""

if TYPE_CHECKING:
    ExactSetting = Any
    """The same for type checkers, where a constructor is generated from fields."""
else:
    ExactSetting = ExactNumber


# guarded: tests/unit/test_budget.py
def _below_one(delta: Fraction) -> Fraction:
    if delta >= 1:
        raise PydanticCustomError("too_large", "must be below 1, which would guarantee nothing")
    return delta


class Budget(PolicyValue):
    """A privacy loss (ε, δ) in the sense of differential privacy.

    Args:
        epsilon: ε, exact: ``1``, ``"0.1"``, ``"1/3"``, a Decimal or a Fraction; no float.
        delta: δ in [0, 1), likewise; 0 is pure differential privacy. Sums of budgets must stay below 1, too.

    Raises:
        PolicyError: a number is a float, negative, or δ is not below 1.
    """

    epsilon: ExactNumber = Field(kw_only=False)
    delta: Annotated[ExactNumber, AfterValidator(_below_one)] = Field(default=Fraction(0), kw_only=False)

    if TYPE_CHECKING:

        def __init__(self, epsilon: Exact, delta: Exact = 0) -> None: ...

    # guarded: tests/unit/test_budget.py
    def __add__(self, other: Budget) -> Budget:
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def __str__(self) -> str:
        return f"(ε = {spelled(self.epsilon)}, δ = {spelled(self.delta)})"

    # guarded: tests/unit/test_budget.py
    def covers(self, other: Budget) -> bool:
        """Return whether the other budget asks for at most this ε and this δ."""
        return other.epsilon <= self.epsilon and other.delta <= self.delta


def sequential_composition(budgets: Iterable[Budget]) -> Budget:
    """Return the total of mechanisms on the same rows, where each may depend on the results of earlier ones.

    Source: Dwork & Roth 2014, theorem 3.16 and appendix B; spec/ipa.md B2, proof (4).
    """
    return sum(budgets, Budget(0))


UnitName = Literal["row", "individual"]


@dataclass(frozen=True)
class Unit:
    """The unit of privacy: one row, or all rows of one individual.

    Losses per row and per individual can't be added up. A person with n rows loses up to n times ε by a release that
    guarantees ε per row, and the ledger doesn't know n. A row can lose up to twice ε by a release that guarantees ε per
    individual: changing one row of an individual means removing all its rows, and adding others.
    """

    individual: str | None = None  # the column with the owner of a row; None if the unit is a row
    # The maximum rows of an individual that a mechanism counts. All its rows are protected anyway, so releases with
    # different numbers do add up.
    rows: int | None = None

    @property
    def name(self) -> UnitName:
        """The name of the unit in the ledger."""
        return "row" if self.individual is None else "individual"

    # guarded: tests/unit/test_budget.py
    def adds_up_with(self, other: Unit) -> bool:
        """Return whether losses per both units can be added up; columns are compared like names in DuckDB."""
        if self.individual is None or other.individual is None:
            return self.name == other.name
        return folded(self.individual) == folded(other.individual)

    def __str__(self) -> str:
        return "one row" if self.individual is None else f'all rows of one "{self.individual}"'


ROW = Unit()


def why_not_added(before: Unit, spent: Budget, after: Unit, asked: Budget) -> str:
    """Explain why losses per two units have no known sum, with the arithmetic, and how to proceed.

    The loss of n rows follows row by row: Vadhan 2017, lemma 2.2.
    """
    if after.individual is None:
        return (
            f"a person with n rows would have lost {_loss(spent, of_n_rows=asked)}, and n is not known; let the policy "
            f'name individual = "{before.individual}"'
        )
    if before.individual is None:
        return (
            f"a person with n rows would have lost {_loss(asked, of_n_rows=spent)}, and n is not known; let the policy "
            "name no individual, which guarantees privacy per row only"
        )
    return (
        f'how many of "{after.individual}" belong to one of "{before.individual}" is not known; let the policy name '
        f'individual = "{before.individual}"'
    )


def _loss(once: Budget, *, of_n_rows: Budget) -> str:
    """Return the loss of an individual with n rows by one release per individual and one per row."""
    each = spelled(of_n_rows.epsilon)
    epsilon = f"ε = {spelled(once.epsilon)} + n · {each}"
    if not of_n_rows.delta:
        return epsilon
    many = f"{spelled(of_n_rows.delta)} · (exp(n · {each}) - 1) / (exp({each}) - 1)"
    return f"{epsilon} and δ = {spelled(once.delta)} + {many}"
