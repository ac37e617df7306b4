"""Parts of a policy: settings of CSV files, earlier releases, and the terms of the release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy_value import NotBoolean, OneOrSeveral, PolicyValue, failed_checks

DayOrder = Literal["dmy", "mdy"]  # the order of days with the year at the end


def _one_sign(text: str) -> str:
    if len(text) != 1:
        raise PydanticCustomError("no_sign", "must be one character")
    return text


Sign = Annotated[str, AfterValidator(_one_sign)]
Name = Annotated[str, Field(min_length=1)]
Number = Annotated[int, NotBoolean]


def as_number(name: str) -> str:
    """Say how a column is read as numbers that do not all have equally many digits."""
    return f"cast it in a query; in CSV files it is read as DOUBLE by types of [csv] (--csv types.{name}=DOUBLE)"


class Csv(PolicyValue):
    """Settings for reading CSV files. Other settings are detected; by default only empty fields are missing values.

    Args:
        types: the DuckDB type of a column, such as ``{"zip": "VARCHAR"}``. Other columns have a type only if every
            value of the file is spelled as values of this type are.
        nullstr: texts for missing values in all columns, such as ``["NA", "k.A."]``, quoted or not.
        thousands: the character between groups of three digits. Columns of such numbers are read as numbers.
        decimal: the character before decimals, such as ``","``, with the same effect.
        encoding: ``"utf-8"`` by default, ``"latin-1"``, ``"utf-16"``, or one of DuckDB's extension ``encodings``.
        header: whether the first line has the names of the columns, or a list of names if no line has them.
        delim: the character between fields.
        quote: the character around fields, ``"`` by default; an empty text for none.
        skip: the number of lines before the names.
        dates: ``"dmy"`` or ``"mdy"``, for days such as 01.02.2016.
        century: the first of the hundred years that years of two digits belong to: with 1925, 24 is 2024 and 25 is
            1925.

    Raises:
        PolicyError: lists every problem at once.
    """

    types: dict[str, Name] = Field(default_factory=dict)
    nullstr: Annotated[tuple[Name, ...], OneOrSeveral] = ()
    thousands: Sign | None = None
    decimal: Sign | None = None
    encoding: Name | None = None
    header: bool | Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    delim: Sign | None = None
    quote: Annotated[str, AfterValidator(lambda text: text and _one_sign(text))] | None = None
    skip: Annotated[Number, Field(ge=0)] = 0
    dates: DayOrder | None = None
    century: Annotated[Number, Field(ge=1, le=9900)] | None = None

    @model_validator(mode="after")
    def _without_contradictions(self) -> Csv:
        if problems := [*_contradictions(self)]:
            raise failed_checks(problems)
        return self

    def with_changes(self, changes: Csv) -> Csv:
        """Return the settings, overridden by those set in ``changes``."""
        return self.model_copy(update={name: getattr(changes, name) for name in changes.model_fields_set})

    @property
    def quotes(self) -> str:
        """The character around fields, or an empty text."""
        return '"' if self.quote is None else self.quote

    @property
    def has_own_numbers(self) -> bool:
        """Whether the spelling of numbers differs from SQL."""
        return bool(self.thousands or self.decimal)


def csv_of(given: Csv | Mapping[str, Any] | None) -> Csv:
    if isinstance(given, Csv):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise PolicyError(f"csv must be a mapping of settings, such as {{'delim': ';'}}, not a {type(given).__name__}")
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


class Earlier(PolicyValue):
    """An earlier release of the same persons.

    Args:
        release: the release: a table, a file or a folder with its provenance.
        source: its source at release time: a table, a path, a query, or a version of a table of a lake; by default the
            present source, unchanged.
        key: the column that identifies a person in all of these sources, such as ``"patient_id"``. No release has it.
            Leave it out if all releases are of the present source: then each row is its own person.

    Raises:
        PolicyError: lists every problem at once.
    """

    release: str = Field(min_length=1, kw_only=False)
    source: str | None = Field(default=None, min_length=1)
    key: str | None = Field(default=None, min_length=1)


def key_misfits(releases: Sequence[Earlier]) -> Iterable[str]:
    """Explain why persons of releases can't be found in each other's sources, a line per problem."""
    keys = dict.fromkeys(folded(each.key) for each in releases if each.key is not None)
    without = [each for each in releases if each.key is None]
    if len(keys) > 1 or (keys and without):
        yield "all releases need the same key, which finds the rows of a person in each source"
    for each in without:
        if each.source is not None:
            yield f'"{each.release}" has its own source, and needs a key to find its persons in others'
    names = [each.release for each in releases]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f'"{name}" is named twice'


def _as_list(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return [{"release": each} if isinstance(each, str) else each for each in given]
    return given


EarlierReleases = Annotated[tuple[Earlier, ...] | Literal["none"], BeforeValidator(_as_list)]
"""Earlier releases to hold together with the present one; ``"none"`` declares that nobody has both."""
MAX_SIGNS = 500  # of one term: the page of a release has two sheets of paper


def _not_blank(words: str) -> str:
    if not words.strip():
        raise PydanticCustomError("blank", "is blank; write it, or leave the key out")
    return words.strip()


Words = Annotated[str, Field(max_length=MAX_SIGNS), AfterValidator(_not_blank)]


class ReleaseTerms(PolicyValue):
    """The recipient, purpose and approval of a release; they are public, since its report and record state them.

    Args:
        recipient: the recipient, such as ``"the university hospital of Jena"``.
        purpose: the use by the recipient.
        approved_by: a name, or an office.

    Raises:
        PolicyError: lists every problem at once.
    """

    recipient: Words | None = None
    purpose: Words | None = None
    approved_by: Words | None = None


def _a_table(given: Any) -> Any:
    if not isinstance(given, Mapping | ReleaseTerms):
        raise PydanticCustomError("no_table", "must be a table: [release] with recipient, purpose and approved_by")
    return given


Terms = Annotated[ReleaseTerms, BeforeValidator(_a_table, json_schema_input_type=ReleaseTerms)]
