"""What a generated taxonomy is made of: declared ranges of values, and the rules of its levels."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class LabelRule:
    """One generated level: a macro of ``sql/macros/15_labels.sql``, its arguments after the value, and its values."""

    macro: str
    arguments: tuple[int | Decimal | str | tuple[str, ...] | None, ...]
    takes: str = "texts"


@dataclass(frozen=True)
class IntegerRange:
    """The declared domain ``minimum, ..., maximum``, both included."""

    minimum: int
    maximum: int


@dataclass(frozen=True)
class DateRange:
    """The declared domain of every day from ``first`` to ``last``, both included."""

    first: datetime.date
    last: datetime.date
