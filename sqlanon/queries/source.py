"""Columns of a source: their types, the shapes of their taxonomies, and values in the types and spelling of a policy.

Numbers and days of taxonomies are spelled as columns have them: 27.0 is the number 27, and midnight its day.
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
    """Traits of the type of a column, whatever an engine calls it."""

    is_text: bool
    is_enum: bool  # texts out of a list that the type holds
    is_missing: bool  # all values are missing, which leaves the column without a type
    is_json: bool
    is_float: bool
    is_number: bool  # of whatever kind
    is_fractional: bool  # numbers that need not be whole, and are written so
    is_date: bool  # dates, or points in time
    is_list: bool  # of whatever length
    is_instant: bool  # points in time, whatever the time zone, to the microsecond
    depends_on_time_zone: bool  # the texts of values do, on that of the session
    has_one_text: bool  # two values are equal just when their texts are
    has_one_form: bool  # two values are equal just when their bytes are, with texts compared by these
    has_name: bool  # values have an exact name, by which a folder can be called
    released_as: str  # the type of the column in a release: with texts in place of what is out of a list

    @property
    def can_be_rebuilt(self) -> bool:
        """Whether counts of its values determine the values: those that are counted together look alike."""
        return self.is_text or self.has_one_text


@dataclass(frozen=True)
class ColumnOrigin:
    """The origin of a column of a query: a column of tables, by their names in a ledger, or else of files."""

    name: str
    tables: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source, with its type as the engine spells it."""

    name: str
    type: str
    traits: Traits


@dataclass(frozen=True)
class TaxonomyShape:
    """The parts of a taxonomy that binding needs."""

    label_counts: tuple[int, ...]  # of each level, from level 0 to the top
    domain_size: int  # values of level 0, which is the number of leaves
    domain: str  # declared, stated or observed
    sha256: str  # of its rows
    origin: str | None = None  # the file that states its values; None unless the domain is stated
    is_of_policy: bool = False  # a run has stored it, whose policy carried it
    # What identifies its rows, a row per level. The hash, which releases carry, covers neither levels that are left out
    # nor the difference between NULL and an empty text.
    content: tuple[tuple[object, ...], ...] = ()

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.label_counts) - 1


@dataclass(frozen=True)
class MadeTaxonomy:
    """A taxonomy with what it was made by, and its shape if its table has rows for the values alone that occur."""

    taxonomy: Taxonomy
    shape: TaxonomyShape | None = None


WHOLE = re.compile(r"-?\d+\.0+|-?\d(\.\d+)?e\+?\d{1,2}")
"""Whole numbers as columns of numbers that need not be whole write them."""

TIMES = frozenset(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"))
"""Types of a day with a time: pandas has no other type for days."""

WHOLE_TYPE = "HUGEINT"  # of whole numbers while they may still lie outside of any bounds

Taxonomies = exp.Table | exp.Subquery
"""The relation that holds taxonomies: a table, or one with values spelled otherwise."""


def fractional_types(columns: Iterable[SourceColumn], names: Container[str]) -> dict[str, str]:
    """The types of those columns of some names that have numbers which need not be whole, or times without a zone."""
    return {found.name: found.type for found in columns if is_respelled(found) and found.name in names}


def is_respelled(found: SourceColumn) -> bool:
    """Whether a column spells the whole numbers or the days of a taxonomy in another way."""
    return found.traits.is_fractional or found.type in TIMES


def spelled_taxonomy(taxonomy: exp.Table, types: Mapping[str, str]) -> Taxonomies:
    """The taxonomies with the whole numbers and days of some attributes spelled as in columns of their types.

    A day stays its own label. A value that the taxonomy has in that spelling already, or that the type cannot hold,
    stays as it is.
    """
    if not types:
        return taxonomy
    numbers = {name: kind for name, kind in types.items() if kind not in TIMES}
    value, label = _spelled("value", taxonomy, types), _spelled("label", taxonomy, numbers)
    labels = case(column("level").eq(0), label, column("label"))
    columns = [column("attribute"), column("level"), aliased(value, "value"), aliased(labels, "label")]
    return subquery(select(columns, taxonomy.copy()), "anon_spelled_taxonomy")


def with_spellings(known: exp.Query, type_name: str) -> exp.Select:
    """Values, and beside each whole number how a column of a type has it; beside others NULL."""
    value, whole = column("value"), _whole(column("value"), type_name)
    spelling = cast(try_cast(value, type_name), "VARCHAR")
    spelled = case(cast(whole, "VARCHAR").eq(value), spelling)
    return Queries("taxonomies").query("both_spellings", known=known, spelled=spelled)


def with_whole_numbers(relation: exp.Expr, names: Sequence[str], taxonomy: exp.Table) -> exp.Expr:
    """A release with the whole numbers of some columns spelled as its taxonomies have them: 27 in place of 27.0."""
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
    """The labels of a cut, those of level 0 also as whole numbers."""
    whole = [(level, f"{float(label):.0f}") for level, label in labels if level == 0 and WHOLE.fullmatch(label)]
    return [*labels, *whole]


def _values(taxonomy: exp.Table, attribute: str) -> exp.Select:
    return Queries("taxonomies").query("known_values", taxonomy=taxonomy, attribute=string(attribute))


def _spelled(name: str, taxonomy: exp.Table, types: Mapping[str, str]) -> exp.Expr:
    cases = []
    for attribute, type_name in types.items():
        spelling = text(try_cast(column(name), type_name))
        # How a whole number, or a day, is written that the type holds exactly.
        is_whole = f.coalesce(text(_whole(column(name), type_name)).eq(column(name)), exp.false())
        own = exp.Subquery(this=_values(taxonomy, attribute))
        is_new = exp.not_(exp.In(this=spelling, query=own))
        condition = exp.and_(column("attribute").eq(attribute), is_whole, is_new)
        cases.append(exp.If(this=condition, true=spelling.copy()))
    return exp.Case(ifs=cases, default=column(name)) if cases else column(name)


def _whole(value: exp.Expr, type_name: str) -> exp.TryCast:
    """The whole number, or the day, that a text is in a type."""
    return try_cast(try_cast(value, type_name), "DATE" if type_name in TIMES else WHOLE_TYPE)


Relation = TypeVar("Relation", bound=exp.Expr)


def spelled(
    relation: Relation, columns: Sequence[SourceColumn], names: Sequence[str]
) -> tuple[Relation | exp.Subquery, list[SourceColumn]]:
    """A relation with its columns spelled as they are among some names; the relation itself if they are already."""
    spell = speller(names)
    found = [replace(known, name=spell(known.name)) for known in columns]
    if found == list(columns):
        return relation, found
    projection = [aliased(column(old.name), new.name) for old, new in zip(columns, found, strict=True)]
    return subquery(select(projection, relation.copy()), "anon_spelled"), found


def typed(relation: exp.Expr, replaced: Mapping[str, exp.Expr], name: str = "anon_typed") -> exp.Subquery:
    """All columns of a relation, some replaced by values, under a name."""
    values = [aliased(value, each) for each, value in replaced.items()]
    return subquery(select([exp.Star(replace=values)], relation.copy()), name)


def number_of(name: str, *, is_whole: bool = False) -> exp.Expr:
    """A column as numbers; whole ones are rounded down, and are NULL where no type holds them."""
    value = cast_value(column(name), "DOUBLE")
    return try_cast(f.floor(value), WHOLE_TYPE) if is_whole else value


def text_of(found: SourceColumn) -> exp.Expr:
    """A column as texts that do not depend on which numbers or times its type has: 27.0 is 27, midnight its day."""
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
    """One row, ``numbers_0`` and ``others_0`` …: how many texts of each column are numbers, and how many are not."""
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
    """A text that spells a day with all digits of its year; as it is if nothing says in which hundred years it is."""
    return value if first_year is None else scalar_call("in_century", value, exp.convert(first_year))


def written_days(relation: exp.Expr, names: Sequence[str], orders: tuple[str, str], century: int | None) -> exp.Select:
    """One row: how many texts of each column spell a day in each order, ``dmy_0`` …, and two days, ``two_0`` …"""
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
    """One row: how many values of each column are days, ``days_0`` …, and how many are to come, ``future_0`` …"""
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
    """The text of a value in a type that has an equal one, else its own."""
    other = try_cast(value, type_name)
    return case(other.eq(value), text(other.copy()), default)
