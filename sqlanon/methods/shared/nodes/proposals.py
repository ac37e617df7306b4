"""Numbers that a relaxation proposes: thresholds and shares in few digits, with which a node still satisfies."""

from __future__ import annotations

import itertools
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from sqlanon.errors import PolicyError
from sqlanon.model.privacy import Bound, PrivacyModel

DIGITS = 6
"""Digits of a threshold that is proposed."""


def share_of(rows: int, row_count: int) -> float:
    """The shortest decimal that as a limit allows exactly ``rows`` rows."""
    for digits in itertools.count():
        share = (Decimal(rows) / row_count).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
        if share * row_count < rows + 1:
            return float(share)
    raise AssertionError("some number of digits is enough")


def threshold_field(bound: Bound) -> str | None:
    """The field of a privacy model that a bound comes from."""
    if bound.measure.name == "presence":
        return "minimum" if bound.at_least else "maximum"
    return bound.measure.field


def strictest_kept(model: PrivacyModel, bound: Bound, field: str, attained: float) -> float | None:
    """The strictest threshold in a few digits that a measure keeps, if there is one that is not what is asked for."""
    if bound.measure.name == "absent_classes":
        return 0.0
    if isinstance(bound.required, int):
        return int(attained)
    away = ROUND_FLOOR if bound.at_least else ROUND_CEILING
    unit = Decimal(1).scaleb(Decimal(attained).adjusted() - DIGITS + 1)
    beyond = Decimal(in_few_digits(attained, away)) + (unit if away == ROUND_CEILING else -unit)
    for value in (in_few_digits(attained), in_few_digits(attained, away), in_few_digits(float(beyond), None)):
        try:
            kept = type(model)(**{**model.model_dump(), field: value}).bounds
        except PolicyError:
            continue
        if all(
            each.met_by(attained)
            for each in kept
            if (each.measure, each.comparison) == (bound.measure, bound.comparison)
        ):
            return value
    return None


def in_few_digits(value: float, rounding: str | None = None) -> float:
    """A number in a few digits."""
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal_from_float(value))
