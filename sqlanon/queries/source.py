"""Columns of a source: their types, the shapes of their taxonomies, and values in the types and spelling of a policy.

Numbers and days of taxonomies are spelled like the values of columns: 27 as 27.0, and a day as its midnight.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlglot import exp

from sqlanon.model.names import speller
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.macros import as_read, cast_value, scalar_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    case,
    cast,
    column,
    count_rows,
    f,
    filtered,
    is_there,
    select,
    string,
    subquery,
    try_cast,
)


@dataclass(frozen=True)
class Traits:
    """Traits of the type of a column, independent of its name in an engine."""

    is_text: bool
    is_enum: bool  # texts from a list that belongs to the type
    is_missing: bool  # all values are missing, so the column has no type
    is_json: bool
    is_float: bool
    is_number: bool  # of any kind
    is_fractional: bool  # numbers that need not be whole, and are written with decimals
    is_date: bool  # dates or points in time
    is_list: bool  # of any length
    is_instant: bool  # points in time to the microsecond, in any time zone
    depends_on_time_zone: bool  # texts of values depend on the time zone of the session
    has_one_text: bool  # values are equal if and only if their texts are
    has_one_form: bool  # values are equal if and only if their bytes are, with texts compared by bytes
    has_name: bool  # values have exact texts that can name a folder
    released_as: str  # the type of the column in a release: text in place of ENUM

    @property
    def can_be_rebuilt(self) -> bool:
        """Whether counts of its values determine the values: values counted together look alike."""
        return self.is_text or self.has_one_text


@dataclass(frozen=True)
class ColumnOrigin:
    """The origin of a column of a query: tables, by their names in a ledger, or files."""

    name: str
    tables: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source, with its type as spelled by the engine."""

    name: str
    type: str
    traits: Traits

    @property
    def no_number(self) -> str:
        """The reason why it cannot be taken for numbers, and what helps."""
        return f'"{self.name}" is {self.type}, not a number: cast it in a view, or name its type in [csv] types'


@dataclass(frozen=True)
class TaxonomyShape:
    """The parts of a taxonomy that binding needs."""

    label_counts: tuple[int, ...]  # by level, from level 0 to the top
    domain_size: int  # the number of values, the leaves
    domain: str  # declared, stated or observed
    sha256: str  # of its rows
    origin: str | None = None  # the file that states its values, if the domain is stated
    is_of_policy: bool = False  # whether a run stored it from its policy
    # Identifies its rows, a row per level. The hash, which releases carry, covers neither levels that are left out nor
    # the difference between NULL and an empty text.
    content: tuple[tuple[object, ...], ...] = ()

    @property
    def height(self) -> int:
        return len(self.label_counts) - 1


@dataclass(frozen=True)
class MadeTaxonomy:
    """A taxonomy with its arguments, and its shape if its table only has the values that occur."""

    taxonomy: Taxonomy
    shape: TaxonomyShape | None = None


WHOLE = re.compile(r"-?\d+\.0+|-?\d(\.\d+)?e\+?\d{1,2}")
"""Whole numbers in the spelling of fractional types."""

TIMES = frozenset(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"))
"""Types of a day with a time, the only type for days in pandas."""
WHOLE_TYPE = "HUGEINT"  # of whole numbers before any bounds are checked

Taxonomies = exp.Table | exp.Subquery
"""The relation that holds taxonomies: a table, or a query that respells its values."""


def fractional_types(columns: Iterable[SourceColumn], names: Container[str]) -> dict[str, str]:
    """Return the types of named columns that spell the values of taxonomies in their own way."""
    return {found.name: found.type for found in columns if is_respelled(found) and found.name in names}


def is_respelled(found: SourceColumn) -> bool:
    """Return whether a column spells the whole numbers or the days of a taxonomy in its own way."""
    return found.traits.is_fractional or found.type in TIMES


def spelled_taxonomy(taxonomy: exp.Table, types: Mapping[str, str]) -> Taxonomies:
    """Respell the whole numbers and days of attributes as in columns of these types.

    A day stays its own label. Values that already exist in this spelling, or that the type can't hold, don't change.
    """
    if not types:
        return taxonomy
    numbers = {name: kind for name, kind in types.items() if kind not in TIMES}
    value, label = _spelled("value", taxonomy, types), _spelled("label", taxonomy, numbers)
    labels = case(column("level").eq(0), label, column("label"))
    columns = [column("attribute"), column("level"), aliased(value, "value"), aliased(labels, "label")]
    return subquery(select(columns, taxonomy.copy()), "anon_spelled_taxonomy")


def with_spellings(known: exp.Query, type_name: str) -> exp.Select:
    """Select values, and beside each whole number its spelling in a type; NULL beside others."""
    value, whole = column("value"), _whole(column("value"), type_name)
    spelling = cast(try_cast(value, type_name), "VARCHAR")
    spelled = case(cast(whole, "VARCHAR").eq(value), spelling)
    return Queries("taxonomies").query("both_spellings", known=known, spelled=spelled)


def with_whole_numbers(relation: exp.Expr, names: Sequence[str], taxonomy: exp.Table) -> exp.Expr:
    """Spell whole numbers in columns of a release as its taxonomies do: 27 in place of 27.0."""
    if not names:
        return relation
    numbers = {}
    for name in names:
        label, own = text(column(name)), exp.Subquery(this=_values(taxonomy, name))
        whole = try_cast(label, WHOLE_TYPE)
        is_new = exp.not_(exp.In(this=label.copy(), query=own))
        is_equal = try_cast(label.copy(), "DOUBLE").eq(try_cast(whole.copy(), "DOUBLE"))
        condition = exp.and_(is_new, f.coalesce(is_equal, exp.false()))
        numbers[name] = case(condition, text(whole.copy()), label.copy())
    return typed(relation, numbers, "anon_whole_numbers")


def both_spellings(labels: Sequence[tuple[int | None, str]]) -> list[tuple[int | None, str]]:
    """Return the labels of a cut, with whole numbers of level 0 in both spellings."""
    whole = [(level, f"{float(label):.0f}") for level, label in labels if level == 0 and WHOLE.fullmatch(label)]
    return [*labels, *whole]


def _values(taxonomy: exp.Table, attribute: str) -> exp.Select:
    return Queries("taxonomies").query("known_values", taxonomy=taxonomy, attribute=string(attribute))


def _spelled(name: str, taxonomy: exp.Table, types: Mapping[str, str]) -> exp.Expr:
    cases = []
    for attribute, type_name in types.items():
        spelling = text(try_cast(column(name), type_name))
        # A whole number or a day that the type holds exactly.
        is_whole = f.coalesce(text(_whole(column(name), type_name)).eq(column(name)), exp.false())
        own = exp.Subquery(this=_values(taxonomy, attribute))
        is_new = exp.not_(exp.In(this=spelling, query=own))
        condition = exp.and_(column("attribute").eq(attribute), is_whole, is_new)
        cases.append(exp.If(this=condition, true=spelling.copy()))
    return exp.Case(ifs=cases, default=column(name)) if cases else column(name)


def _whole(value: exp.Expr, type_name: str) -> exp.TryCast:
    """Read a text as the whole number, or the day, that it is in a type."""
    return try_cast(try_cast(value, type_name), "DATE" if type_name in TIMES else WHOLE_TYPE)


Relation = TypeVar("Relation", bound=exp.Expr)


def spelled(
    relation: Relation, columns: Sequence[SourceColumn], names: Sequence[str]
) -> tuple[Relation | exp.Subquery, list[SourceColumn]]:
    """Rename the columns of a relation to their spelling among some names, if they differ."""
    spell = speller(names)
    found = [replace(known, name=spell(known.name)) for known in columns]
    if found == list(columns):
        return relation, found
    projection = [aliased(column(old.name), new.name) for old, new in zip(columns, found, strict=True)]
    return subquery(select(projection, relation.copy()), "anon_spelled"), found


def typed(relation: exp.Expr, replaced: Mapping[str, exp.Expr], name: str = "anon_typed") -> exp.Subquery:
    values = [aliased(value, each) for each, value in replaced.items()]
    return subquery(select([exp.Star(replace=values)], relation.copy()), name)


def number_of(name: str, *, is_whole: bool = False) -> exp.Expr:
    """Return a column as numbers, optionally rounded down to whole ones, or NULL if no type holds them."""
    value = cast_value(column(name), "DOUBLE")
    return try_cast(f.floor(value), WHOLE_TYPE) if is_whole else value


def text_of(found: SourceColumn) -> exp.Expr:
    """Return a column as texts that are independent of its numeric or time type: 27.0 is 27, midnight its day."""
    value = column(found.name)
    if found.traits.is_list:
        return cast_value(value, "VARCHAR[]")
    if found.traits.is_fractional:
        as_number = cast_value(value, "DOUBLE")
        return _first_equal(as_number, WHOLE_TYPE, text(value) if found.traits.is_float else text(as_number))
    if found.type in TIMES:
        return _first_equal(as_read(value), "DATE", text(value))
    return text(value)


def counted_numbers(relation: exp.Expr, names: Sequence[str]) -> exp.Select:
    """Select one row, ``numbers_0`` and ``others_0`` …: the texts of each column that are numbers, and the others."""
    counts = []
    for place, name in enumerate(names):
        read = try_cast(as_read(column(name)), "DOUBLE")
        is_other = exp.and_(is_there(column(name)), read.is_(exp.null()), copy=False)
        counts += [
            aliased(f.count(read.copy()), f"numbers_{place}"),
            aliased(filtered(count_rows(), is_other), f"others_{place}"),
        ]
    return select(counts, relation.copy())


def in_century(value: exp.Expr, first_year: int | None) -> exp.Expr:
    """Return a text that spells a day with all digits of its year, if the first year of a century is given."""
    return value if first_year is None else scalar_call("in_century", value, exp.convert(first_year))


def written_days(relation: exp.Expr, names: Sequence[str], orders: tuple[str, str], century: int | None) -> exp.Select:
    """Select one row: the texts of each column that spell a day by order, ``dmy_0`` …, and two days, ``two_0`` …"""
    counts = []
    for place, name in enumerate(names):
        value = in_century(column(name), century)
        one, other = (scalar_call("written_day", value.copy(), string(order)) for order in orders)
        counts += [
            aliased(f.count(one), f"{orders[0]}_{place}"),
            aliased(f.count(other), f"{orders[1]}_{place}"),
            aliased(filtered(count_rows(), one.neq(other)), f"two_{place}"),
        ]
    return select(counts, relation.copy())


def future_days(relation: exp.Expr, names: Sequence[str]) -> exp.Select:
    """Select one row: the values of each column that are days, ``days_0`` …, and in the future, ``future_0`` …"""
    counts = []
    for place, name in enumerate(names):
        day = try_cast(as_read(column(name)), "DATE")
        is_future = day > exp.CurrentDate()
        counts += [
            aliased(f.count(day), f"days_{place}"),
            aliased(filtered(count_rows(), is_future), f"future_{place}"),
        ]
    return select(counts, relation.copy())


def _first_equal(value: exp.Expr, type_name: str, default: exp.Expr) -> exp.Expr:
    """Return the text of a value in another type that holds an equal one, or its own text."""
    other = try_cast(value, type_name)
    return case(other.eq(value), text(other.copy()), default)
