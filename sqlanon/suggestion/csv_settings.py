"""How a CSV file is to be read, as far as its values show it: codes for missing values, notations, centuries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.policy.csv_files import Csv
from sqlanon.model.taxonomy.arguments import listed
from sqlanon.queries.tables import suggestions as queries

UNMISTAKABLE = (
    "NULL",
    "null",
    "N/A",
    "n/a",
    "#N/A",
    "#NV",
    "<NA>",
    "NaN",
    "nan",
    "k.A.",
    "k. A.",
    "k.A",
    "keine Angabe",
)
"""Texts that stand for missing values wherever they are."""

AMONG_NUMBERS = ("NA", "na", ".", "-", "--", "?", "*", "None", "none", "missing", "unknown", "unbekannt", "fehlt")
"""Texts that do so where all others of a column are numbers or days."""

NEGATIVE = ("-99", "-999", "-9999")
"""Those that do so where no other number of a column is below 0."""

CODES = (*UNMISTAKABLE, *AMONG_NUMBERS, *NEGATIVE)


@dataclass(frozen=True)
class Written:
    """How the texts of a column are written: counts of distinct texts, as the named query has them."""

    name: str
    counts: Mapping[str, Any]

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes for missing values among its texts."""
        return tuple(self.counts["codes"])

    def has(self, count: str) -> bool:
        """Whether there are such texts."""
        return bool(self.counts[count])

    def all_are(self, count: str) -> bool:
        """Whether all texts that are no codes are such, and there are some."""
        return bool(0 < self.counts["others"] == self.counts[count])

    @property
    def takes_codes(self) -> bool:
        """Whether texts that are none of its values can only be missing ones: they are numbers, or days."""
        return any(map(self.all_are, ("numbers", "comma_numbers", "point_numbers", "days")))

    def means_missing(self, code: str) -> bool:
        """Whether a code that it has stands for a missing value."""
        if code in NEGATIVE:
            return self.takes_codes and not self.has("negatives")
        return code in UNMISTAKABLE or self.takes_codes


@dataclass(frozen=True)
class Proposed:
    """Settings that are proposed, each with its reason, and what is to be known besides."""

    settings: Csv
    reasons: Mapping[str, str]
    notes: tuple[str, ...] = ()


def proposed(engine: Compute, source: ResolvedSource) -> Proposed | None:
    """The settings that read a CSV file better than none, beside those that are given; None if there are none.

    Args:
        engine: the database.
        source: the file, as it is read without them.
    """
    if source.csv is None or not source.files:
        return None
    found = [*_written(engine, source)]
    values, reasons, notes = _codes(found)
    for setting, value, reason in (*_notation(found), *_days(found)):
        if setting not in source.csv.model_fields_set:
            values[setting], reasons[setting] = value, reason
    if not values:
        return Proposed(source.csv, {}, notes) if notes else None
    if "nullstr" in values:
        values["nullstr"] = (*source.csv.nullstr, *values["nullstr"])
    return Proposed(source.csv.with_changes(Csv(**values)), reasons, notes)


def _written(engine: Compute, source: ResolvedSource) -> Iterator[Written]:
    columns = [each.name for each in engine.describe(source.relation) if each.traits.is_text or each.traits.is_number]
    with engine.transaction(), engine.scratch():
        copied = queries.copied(source.relation)
        engine.run(copied)
        for start in range(0, len(columns), queries.TEXTS_AT_ONCE):
            some = columns[start : start + queries.TEXTS_AT_ONCE]
            rows = engine.fetch(queries.written(copied.makes.table, some, CODES), "how values are written", "node")
            yield from (Written(some[row["place"]], row) for row in rows)


def _codes(found: Sequence[Written]) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    """The codes that stand for missing values in every column that has them, and a note on others."""
    codes = dict.fromkeys(code for each in found for code in each.codes)
    having = {code: [each for each in found if code in each.codes] for code in CODES if code in codes}
    taken = [code for code, each in having.items() if all(one.means_missing(code) for one in each)]
    notes = tuple(
        f'"{code}" may stand for a missing value in {listed([one.name for one in each if one.means_missing(code)])}, '
        f"but not in {listed([one.name for one in each if not one.means_missing(code)])}: nullstr is for all columns"
        for code, each in having.items()
        if code not in taken and any(one.means_missing(code) for one in each)
    )
    if not taken:
        return {}, {}, notes
    columns = [each.name for each in found if {*each.codes} & {*taken}]
    return {"nullstr": (*taken,)}, {"nullstr": f"they stand for missing values in {listed(columns)}"}, notes


def _notation(found: Sequence[Written]) -> Iterator[tuple[str, str, str]]:
    """The marks of numbers that SQL writes otherwise, as far as they can be read in one way."""
    commas = [each for each in found if each.all_are("comma_numbers") and each.has("decimal_commas")]
    if commas:
        reason = f"{listed([each.name for each in commas])} {'has' if len(commas) == 1 else 'have'} decimal commas"
        yield "decimal", ",", reason
        # A point before three digits may be that of decimals elsewhere.
        others = [
            each for each in found if each not in commas and each.has("thousand_points") and each.all_are("numbers")
        ]
        if any(each.has("thousand_points") for each in commas) and not others:
            yield "thousands", ".", "points stand between groups of three digits"
        return
    points = [each for each in found if each.all_are("point_numbers") and each.has("thousand_commas")]
    if points:
        yield (
            "thousands",
            ",",
            f"commas stand between groups of three digits of {listed([each.name for each in points])}",
        )


def _days(found: Sequence[Written]) -> Iterator[tuple[str, Any, str]]:
    """The types of columns of days that are not written as ISO 8601 has them, if all have one order."""
    written = [each for each in found if each.all_are("days")]
    orders = {each.name: [order for order in ("dmy", "mdy") if each.all_are(order)] for each in written}
    known = {each[0] for each in orders.values() if len(each) == 1}
    # Days with the year before them are the same in both orders.
    alike = {each.name for each in written if not each.has("two_days")}
    days = [name for name, each in orders.items() if len(each) == 1 or (each and name in alike)]
    if len(known) > 1 or not days:
        return
    yield "dates", (*known, "dmy")[0], f"{listed(days)} {'has' if len(days) == 1 else 'have'} days in this order"
    yield "types", dict.fromkeys(days, "DATE"), f"all other values of {listed(days)} are days"
    if short := [each.name for each in written if each.has("short_years")]:
        first = datetime.now(UTC).year - 99
        yield "century", first, f"years of {listed(short)} have two digits, and none is in the future so"
