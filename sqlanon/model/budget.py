"""What may be spent of privacy: exact numbers, never floats."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from sqlanon.model.base import PolicyValue

Exact = Fraction | Decimal | int | str
"""How an exact number may be written: ``1``, ``"0.1"``, ``"1e-6"``, ``"1/3"``, a Decimal or a Fraction."""


def exact(value: object) -> Fraction:
    """The number that was written.

    Raises:
        PydanticCustomError: it is a float, whose digits are not those that were written, or no number, or negative.
    """
    if isinstance(value, float):
        raise PydanticCustomError("inexact", 'must be exact: write it as text, such as "0.1", or as a Fraction')
    if isinstance(value, bool) or not isinstance(value, Fraction | Decimal | int | str):
        raise PydanticCustomError("no_number", "must be a number")
    try:
        number = Fraction(value)
    except (ValueError, OverflowError, InvalidOperation, ZeroDivisionError):
        raise PydanticCustomError("no_number", "must be a number") from None
    if number < 0:
        raise PydanticCustomError("negative", "must not be negative")
    return number


def spelled(number: Fraction) -> str:
    """An exact number as text that :func:`exact` reads back: a decimal if it has one, else ``"p/q"``."""
    denominator, digits = number.denominator, 0
    while (10**digits) % denominator:
        digits += 1
        if digits > denominator.bit_length():
            return str(number)
    return f"{Decimal(number.numerator * 10**digits // denominator).scaleb(-digits):f}" if digits else str(number)


ExactNumber = Annotated[
    Fraction,
    PlainValidator(exact),
    PlainSerializer(spelled, return_type=str),
    WithJsonSchema({"type": "string", "description": "an exact number, such as 0.1 or 1/3"}),
]


class Budget(PolicyValue):
    """A privacy loss in the sense of (ε, δ)-differential privacy: what may be spent, or what was.

    Args:
        epsilon: ε, exact: ``1``, ``"0.1"``, ``"1/3"``, a Decimal or a Fraction; no float.
        delta: δ in [0, 1), likewise; 0 is pure differential privacy.

    Raises:
        PolicyError: a number is a float, negative, or δ is not below 1.
    """

    epsilon: ExactNumber
    delta: Annotated[ExactNumber, Field(default=Fraction(0))]

    def __init__(self, epsilon: Exact, delta: Exact = 0, **unknown: Any) -> None:
        super().__init__(epsilon=epsilon, delta=delta, **unknown)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __add__(self, other: Budget) -> Budget:
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def __str__(self) -> str:
        return f"(ε = {spelled(self.epsilon)}, δ = {spelled(self.delta)})"

    def covers(self, other: Budget) -> bool:
        """Whether no more is asked for of either."""
        return other.epsilon <= self.epsilon and other.delta <= self.delta


def one_after_the_other(budgets: Iterable[Budget]) -> Budget:
    """Sequential composition: what mechanisms on the same rows spend together, each free to look at those before.

    Source: Dwork & Roth 2014, theorem 3.16 and appendix B; spec/ipa.md B2, proof (4).
    """
    return sum(budgets, Budget(0))


def side_by_side(budgets: Iterable[Budget]) -> Budget:
    """Parallel composition: what mechanisms spend together of which each looks at rows that no other looks at.

    The parts must be fixed by the values of the rows alone, so that adding or removing a row changes one of them.
    Source: McSherry 2009, theorem 4.
    """
    found = list(budgets)
    return Budget(
        max((budget.epsilon for budget in found), default=Fraction(0)),
        max((budget.delta for budget in found), default=Fraction(0)),
    )
