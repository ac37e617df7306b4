"""Privacy budgets, in exact numbers and never floats, and their units: whose privacy is spent."""

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
"""How an exact number may be written: ``1``, ``"0.1"``, ``"1e-6"``, ``"1/3"``, a Decimal or a Fraction."""


FAR_EXPONENT = re.compile(r"e[+-]?0*\d{4}", re.IGNORECASE)


class WrittenFloat(float):
    """A float of a file that remembers how it was written there, so that a budget can take it exactly."""

    def __init__(self, text: str) -> None:
        self.text = text


# guarded: tests/unit/test_budget.py
def exact(value: object) -> Fraction:
    """Return the number that was written.

    Refused is a float, whose digits are not those that were written, what is negative, and an exponent beyond any use,
    with which the number alone would fill the memory.
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
    """Return an exact number as text that :func:`exact` reads back: a decimal if it has one, else ``"p/q"``."""
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
    """Return an exact number as the nearest float; infinite if it is beyond all of them."""
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
"""A Fraction that may be given as :data:`Exact` lists."""

if TYPE_CHECKING:
    ExactSetting = Any
    """The same for type checkers, which let it be given so where a constructor is made of the fields."""
else:
    ExactSetting = ExactNumber


# guarded: tests/unit/test_budget.py
def _below_one(delta: Fraction) -> Fraction:
    if delta >= 1:
        raise PydanticCustomError("too_large", "must be below 1, at which nothing is promised")
    return delta


class Budget(PolicyValue):
    """A privacy loss in the sense of (ε, δ)-differential privacy: what may be spent, or what was.

    Args:
        epsilon: ε, exact: ``1``, ``"0.1"``, ``"1/3"``, a Decimal or a Fraction; no float.
        delta: δ in [0, 1), likewise; 0 is pure differential privacy. Budgets that are added up stay below 1, too.

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
        """Whether no more is asked for of either."""
        return other.epsilon <= self.epsilon and other.delta <= self.delta


def sequential_composition(budgets: Iterable[Budget]) -> Budget:
    """Sequential composition: what mechanisms on the same rows spend together, each free to look at those before.

    Source: Dwork & Roth 2014, theorem 3.16 and appendix B; spec/ipa.md B2, proof (4).
    """
    return sum(budgets, Budget(0))


UnitName = Literal["row", "individual"]


@dataclass(frozen=True)
class Unit:
    """The unit of privacy: one row, or all rows of one individual.

    Losses of both cannot be added up. Somebody with n rows loses up to n times ε by a release that promises ε per row,
    and the ledger does not know n. A row can lose up to twice ε by a release that promises ε per individual: to change
    one row of an individual is to take all of them away, and to put others in their place.
    """

    individual: str | None = None  # the column that identifies the owner of a row; None if the unit is a row
    # How many rows of an individual a mechanism counts at most. All of them are protected whatever it is, so releases
    # with different numbers do add up.
    rows: int | None = None

    @property
    def name(self) -> UnitName:
        """The unit as the ledger names it."""
        return "row" if self.individual is None else "individual"

    # guarded: tests/unit/test_budget.py
    def adds_up_with(self, other: Unit) -> bool:
        """Return whether losses of both can be added up. Columns are compared as DuckDB compares their names."""
        if self.individual is None or other.individual is None:
            return self.name == other.name
        return folded(self.individual) == folded(other.individual)

    def __str__(self) -> str:
        return "one row" if self.individual is None else f'all rows of one "{self.individual}"'


ROW = Unit()


def why_not_added(before: Unit, spent: Budget, after: Unit, asked: Budget) -> str:
    """Why losses of two units have no sum that is known, with the arithmetic, and what to do about it.

    What n rows lose follows from going row by row: Vadhan 2017, lemma 2.2.
    """
    if after.individual is None:
        return (
            f"somebody with n rows would have lost {_loss(spent, of_n_rows=asked)}, and n is not known; let the policy "
            f'name individual = "{before.individual}"'
        )
    if before.individual is None:
        return (
            f"somebody with n rows would have lost {_loss(asked, of_n_rows=spent)}, and n is not known; let the policy "
            "name no individual, and promise something about rows alone"
        )
    return (
        f'how many of "{after.individual}" belong to one of "{before.individual}" is not known; let the policy name '
        f'individual = "{before.individual}"'
    )


def _loss(once: Budget, *, of_n_rows: Budget) -> str:
    """Return the loss of an individual with n rows by a release per individual and one per row."""
    each = spelled(of_n_rows.epsilon)
    epsilon = f"ε = {spelled(once.epsilon)} + n · {each}"
    if not of_n_rows.delta:
        return epsilon
    many = f"{spelled(of_n_rows.delta)} · (exp(n · {each}) - 1) / (exp({each}) - 1)"
    return f"{epsilon} and δ = {spelled(once.delta)} + {many}"
