"""Settings of CSV files, from the ``[csv]`` of a policy or from whoever opens a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.policy_value import NotBoolean, PolicyValue, failed_checks

DayOrder = Literal["dmy", "mdy"]
"""Whether the day or the month stands first where the year stands last."""


def _one_sign(text: str) -> str:
    if len(text) != 1:
        raise PydanticCustomError("no_sign", "must be one character")
    return text


def _at_most_one(text: str) -> str:
    return text and _one_sign(text)


def _listed(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Sign = Annotated[str, AfterValidator(_one_sign)]
Name = Annotated[str, Field(min_length=1)]
Number = Annotated[int, NotBoolean]


class Csv(PolicyValue):
    """Settings by which CSV files are read. Missing ones are found out; only empty fields count as missing values.

    Args:
        types: by column, the type of DuckDB that all its values are read in, such as ``{"zip": "VARCHAR"}``. Other
            columns have a type where every value of the file is spelled as its type is.
        nullstr: texts that stand for missing values in all columns, such as ``["NA", "k.A."]``, in quotes or not.
        thousands: the character between groups of three digits. Columns of such numbers are read as numbers.
        decimal: the character before decimals, such as ``","``, likewise.
        encoding: ``"utf-8"`` by default, ``"latin-1"``, ``"utf-16"``, or one of DuckDB's extension ``encodings``.
        header: whether the first line has the names of the columns, or a list of these, where no line has.
        delim: the character between fields.
        quote: the character around fields, ``"`` by default; an empty text where there is none.
        skip: lines before the names.
        dates: ``"dmy"`` or ``"mdy"``, for days such as 01.02.2016.
        century: the first of the hundred years in which years of two digits are: with 1925, 24 is 2024 and 25 is 1925.

    Raises:
        PolicyError: listing every problem at once.
    """

    types: dict[str, Name] = Field(default_factory=dict)
    nullstr: Annotated[tuple[Name, ...], BeforeValidator(_listed)] = ()
    thousands: Sign | None = None
    decimal: Sign | None = None
    encoding: Name | None = None
    header: bool | Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    delim: Sign | None = None
    quote: Annotated[str, AfterValidator(_at_most_one)] | None = None
    skip: Annotated[Number, Field(ge=0)] = 0
    dates: DayOrder | None = None
    century: Annotated[Number, Field(ge=1, le=9900)] | None = None

    @model_validator(mode="after")
    def _without_contradictions(self) -> Csv:
        if problems := [*_contradictions(self)]:
            raise failed_checks(problems)
        return self

    def with_changes(self, changes: Csv) -> Csv:
        """Return the settings with those that another value gives."""
        return self.model_copy(update={name: getattr(changes, name) for name in changes.model_fields_set})

    @property
    def quotes(self) -> str:
        """The character around fields; an empty text where there is none."""
        return '"' if self.quote is None else self.quote

    @property
    def has_own_numbers(self) -> bool:
        """Whether numbers are written otherwise than SQL writes them."""
        return bool(self.thousands or self.decimal)


def csv_of(given: Csv | Mapping[str, Any] | None) -> Csv:
    """The settings that are given.

    Raises:
        PolicyError: they are not valid.
    """
    if isinstance(given, Csv):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise PolicyError(f"csv is a mapping of settings, such as {{'delim': ';'}}, not a {type(given).__name__}")
    return Csv(**(given or {}))


def _contradictions(csv: Csv) -> Sequence[str]:
    problems = []
    signs = {name: getattr(csv, name) for name in ("thousands", "decimal", "delim", "quote") if getattr(csv, name)}
    for name, sign in signs.items():
        if sign in "\n\r" or (name in ("thousands", "decimal") and (sign.isalnum() or sign in "+-")):
            problems.append(f"csv.{name}: no character of numbers or lines can stand there")
    for one, other in (("thousands", "decimal"), ("delim", "quote")):
        if one in signs and signs[one] == signs.get(other):
            problems.append(f"csv.{one} and csv.{other} are the same character")
    if signs.get("thousands") == "." and csv.decimal is None:
        problems.append("csv.thousands is the point, and csv.decimal, which is the point by default, is not given")
    if isinstance(csv.header, tuple) and len({*map(str.casefold, csv.header)}) < len(csv.header):
        problems.append("csv.header has a name twice")
    return problems
