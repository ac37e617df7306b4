"""Notation of values: CSV settings that read a file better, and a query over the source that cleans it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.names import counted, listed
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.queries import suggestions as queries
from sqlanon.queries.kit.nodes import DIALECT, select
from sqlanon.suggestion.evidence import SHARE_OF_SHAPE, Evidence
from sqlanon.suggestion.roles import MAX_TEXTS, Decision

MAX_LOST_ZEROS = 2  # maximum number of leading zeros that a postal code can have lost
DIGITS_OF_CODES = range(4, 7)  # lengths of postal codes
FIRST_TEXTS = 3  # text columns searched for lines of totals

# Texts for missing values: in any column; if all other texts of the column are numbers or days; and if no other number
# of the column is negative.
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
AMONG_NUMBERS = ("NA", "na", ".", "-", "--", "?", "*", "None", "none", "missing", "unknown", "unbekannt", "fehlt")
NEGATIVE = ("-99", "-999", "-9999")
CODES = (*UNMISTAKABLE, *AMONG_NUMBERS, *NEGATIVE)


@dataclass(frozen=True)
class Written:
    """The notation of a column: counts of its distinct texts, from the named query."""

    name: str
    counts: Mapping[str, Any]

    def has(self, count: str) -> bool:
        return bool(self.counts[count])

    def all_are(self, count: str) -> bool:
        """Return whether all texts that are not codes are counted there, and there are some."""
        return bool(0 < self.counts["others"] == self.counts[count])

    def means_missing(self, code: str) -> bool:
        """Return whether a code in the column stands for a missing value."""
        takes_codes = any(map(self.all_are, ("numbers", "comma_numbers", "point_numbers", "days")))
        if code in NEGATIVE:
            return takes_codes and not self.has("negatives")
        return code in UNMISTAKABLE or takes_codes


@dataclass(frozen=True)
class Proposed:
    """Proposed settings, each with its reason, and notes."""

    settings: Csv
    reasons: Mapping[str, str]
    notes: tuple[str, ...] = ()


def proposed(engine: Compute, source: ResolvedSource) -> Proposed | None:
    """Return settings that read a CSV file better, added to the given ones; None if there are none."""
    if source.csv is None or not source.files:
        return None
    columns = [each for each in engine.describe(source.relation) if each.traits.is_text or each.traits.is_number]
    found: list[Written] = []
    with engine.transaction(), engine.scratch():
        copied = queries.copied(source.relation)
        engine.run(copied)
        for start in range(0, len(columns), queries.TEXTS_AT_ONCE):
            some = [each.name for each in columns[start : start + queries.TEXTS_AT_ONCE]]
            rows = engine.fetch(queries.written(copied.makes.table, some, CODES), "how values are written", "node")
            found += (Written(some[row["place"]], row) for row in rows)
    values, reasons, notes = _codes(found)
    texts = {each.name for each in columns if each.traits.is_text}
    for setting, value, reason in (*_notation(found), *_days(found), *_decimals(found, texts)):
        if setting in source.csv.model_fields_set:
            continue
        if setting in values and setting == "types":
            value, reason = values[setting] | value, f"{reasons[setting]}; {reason}"
        values[setting], reasons[setting] = value, reason
    if not values:
        return Proposed(source.csv, {}, notes) if notes else None
    if "nullstr" in values:
        values["nullstr"] = (*source.csv.nullstr, *values["nullstr"])
    return Proposed(source.csv.with_changes(Csv(**values)), reasons, notes)


def _codes(found: Sequence[Written]) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    """Find the codes that mean a missing value in every column that has them, and a note on others."""
    codes = dict.fromkeys(code for each in found for code in each.counts["codes"])
    having = {code: [each for each in found if code in each.counts["codes"]] for code in CODES if code in codes}
    taken = [code for code, each in having.items() if all(one.means_missing(code) for one in each)]
    notes = tuple(
        f'"{code}" may stand for a missing value in {listed([one.name for one in each if one.means_missing(code)])}, '
        f"but not in {listed([one.name for one in each if not one.means_missing(code)])}: nullstr is for all columns"
        for code, each in having.items()
        if code not in taken and any(one.means_missing(code) for one in each)
    )
    if not taken:
        return {}, {}, notes
    columns = [each.name for each in found if {*each.counts["codes"]} & {*taken}]
    return {"nullstr": (*taken,)}, {"nullstr": f"they stand for missing values in {listed(columns)}"}, notes


def _notation(found: Sequence[Written]) -> Iterator[tuple[str, str, str]]:
    """Yield settings for numbers in a notation other than SQL's, if it is unambiguous."""
    commas = [each for each in found if each.all_are("comma_numbers") and each.has("decimal_commas")]
    if commas:
        reason = f"{listed([each.name for each in commas])} {'has' if len(commas) == 1 else 'have'} decimal commas"
        yield "decimal", ",", reason
        # In another column, a point before three digits may be a decimal point.
        others = [
            each for each in found if each not in commas and each.has("thousand_points") and each.all_are("numbers")
        ]
        if any(each.has("thousand_points") for each in commas) and not others:
            yield "thousands", ".", "points stand between groups of three digits"
        return
    points = [each for each in found if each.all_are("point_numbers") and each.has("thousand_commas")]
    if points:
        names = listed([each.name for each in points])
        yield "thousands", ",", f"commas stand between groups of three digits of {names}"


def _days(found: Sequence[Written]) -> Iterator[tuple[str, Any, str]]:
    """Yield settings for columns of days in a notation other than ISO 8601, if all have one order."""
    written = [each for each in found if each.all_are("days")]
    orders = {each.name: [order for order in ("dmy", "mdy") if each.all_are(order)] for each in written}
    known = {each[0] for each in orders.values() if len(each) == 1}
    # Days that begin with the year are the same in both orders.
    alike = {each.name for each in written if not each.has("two_days")}
    days = [name for name, each in orders.items() if len(each) == 1 or (each and name in alike)]
    if len(known) > 1 or not days:
        return
    yield "dates", (*known, "dmy")[0], f"{listed(days)} {'has' if len(days) == 1 else 'have'} days in this order"
    yield "types", dict.fromkeys(days, "DATE"), f"all other values of {listed(days)} are days"
    if short := [each.name for each in written if each.has("short_years")]:
        first = datetime.now(UTC).year - 99
        yield "century", first, f"years of {listed(short)} have two digits, and none is in the future so"


def _decimals(found: Sequence[Written], texts: Collection[str]) -> Iterator[tuple[str, Any, str]]:
    """Yield types for numbers that a file has as 6 and 2.5, so that no type spells them all."""
    mixed = {
        each.name: f"DECIMAL(18,{each.counts['decimals']})"
        for each in found
        if each.name in texts and each.all_are("decimal_numbers") and each.has("decimals")
    }
    if mixed:
        names = listed(mixed)
        yield "types", mixed, f"all values of {names} are numbers, some of them with fewer decimals"


@dataclass(frozen=True)
class Cleaning:
    name: str
    reason: str  # the problem, in words that quote no value
    value: exp.Expr  # the expression that replaces it

    @property
    def advice(self) -> str:
        return f'"{self.name}" {self.reason}: {self.value.sql(DIALECT)}'


def cleanings(
    engine: Compute,
    source: exp.Expr,
    evidence: Mapping[str, Evidence],
    decisions: Mapping[str, Decision],
    *,
    has_commas: bool,
) -> list[Cleaning]:
    """Return the cleanings, in column order, except for columns that are dropped for good.

    Args:
        has_commas: whether to clean numbers with decimal commas, which CSV settings can also read.
    """
    kept = [found for name, found in evidence.items() if decisions[name].role != "identifier"]
    kept += [found for name, found in evidence.items() if decisions[name].is_undecided]
    texts = [found for found in kept if found.column.traits.is_text and not found.is_number and not found.is_moment]
    forms: dict[str, Mapping[str, Any]] = {}
    for start in range(0, len(texts), queries.TEXTS_AT_ONCE):
        some = texts[start : start + queries.TEXTS_AT_ONCE]
        rows = engine.fetch(queries.text_forms(source, [each.name for each in some]), "how texts are written")
        forms |= {some[row["place"]].name: row for row in rows}
    found = {each.name: _cleaning(each, decisions[each.name], forms.get(each.name), has_commas) for each in kept}
    return [each for name in evidence if (each := found.get(name)) is not None]


@dataclass(frozen=True)
class Totals:
    """Rows that look like lines of totals, and the condition that leaves them out."""

    rows: int
    condition: exp.Expr

    @property
    def advice(self) -> str:
        if self.rows == 1:
            return "1 row looks like a line of totals and is counted as a person: leave it out"
        return f"{self.rows:,} rows look like lines of totals and are counted as persons: leave them out"


def totals(engine: Compute, source: exp.Expr, evidence: Mapping[str, Evidence]) -> Totals | None:
    """Find lines of totals with a distinct word each: several rows with one word may be persons."""
    columns = [name for name, found in evidence.items() if found.column.traits.is_text][:FIRST_TEXTS]
    if not columns:
        return None
    [found] = engine.fetch(queries.total_rows(source, columns), "lines of totals")
    if not found["total_rows"] or found["total_rows"] > found["words"]:
        return None
    return Totals(found["total_rows"], queries.without_totals(columns))


def query_of(source: exp.Expr, wanted: Sequence[Cleaning], found: Totals | None) -> str:
    replaced = [exp.alias_(each.value.copy(), each.name, quoted=True) for each in wanted]
    query = select([exp.Star(replace=replaced)], source.copy())
    if found is not None:
        query = query.where(found.condition)
    return query.sql(DIALECT, pretty=True, normalize_functions=False) + "\n"


def _cleaning(
    found: Evidence, decision: Decision, forms: Mapping[str, Any] | None, has_commas: bool
) -> Cleaning | None:
    if found.shape == "decimal_comma":
        reason = "has numbers with a decimal comma; other texts become missing"
        return Cleaning(found.name, reason, queries.with_point(found.name)) if has_commas else None
    special = _of_codes(found, decision, forms) if forms is None else _of_days(found, forms)
    if forms is None or special:
        return special
    return _of_codes(found, decision, forms) or _of_amounts(found, forms) or _of_case(found, forms)


def _of_days(found: Evidence, forms: Mapping[str, Any]) -> Cleaning | None:
    kinds = {"TIMESTAMP" if forms["time_rows"] else "DATE": forms["moment_rows"]}
    kinds |= {order: forms[f"{order}_rows"] for order in queries.DAY_FORMATS}
    kind = max(kinds, key=lambda each: kinds[each])
    rest = found.filled - kinds[kind]
    if kinds[kind] < SHARE_OF_SHAPE * found.filled or not found.filled:
        return None
    if kind in queries.DAY_FORMATS and forms["dmy_rows"] == forms["mdy_rows"] and forms["unlike_rows"]:
        return None  # day and month are ambiguous
    texts = f"; other texts become missing in {counted(rest, 'row')}" if rest else ""
    return Cleaning(found.name, f"has dates as texts{texts}", queries.moment(found.name, kind))


def _of_codes(found: Evidence, decision: Decision, forms: Mapping[str, Any] | None) -> Cleaning | None:
    """Clean postal codes, as digits or numbers, that may have lost leading zeros."""
    if decision.kind != "zip":
        return None
    if forms is not None and forms["digit_rows"] >= found.filled:
        fewest, most = forms["fewest_digits"], forms["most_digits"]
    elif forms is None and found.is_whole and found.minimum is not None and found.maximum is not None:
        fewest, most = len(f"{found.minimum:.0f}"), len(f"{found.maximum:.0f}")
    else:
        return None
    if not 0 < most - fewest <= MAX_LOST_ZEROS or most not in DIGITS_OF_CODES:
        return None
    reason = f"has codes of {fewest} to {most} digits, as if zeros at their beginning were lost"
    return Cleaning(found.name, reason, queries.padded(found.column, most))


def _of_amounts(found: Evidence, forms: Mapping[str, Any]) -> Cleaning | None:
    """Clean amounts of one currency, if their notation is unambiguous."""
    points, commas = (0 < found.filled == forms[f"{mark}_rows"] for mark in ("point", "comma"))
    if forms["sign_count"] != 1 or (points and commas and forms["has_marks"] and not forms["has_point_sign"]):
        return None
    value = queries.amount(found.name, "." if points else ",")
    return Cleaning(found.name, "has amounts of money as texts", value) if points or commas else None


def _of_case(found: Evidence, forms: Mapping[str, Any]) -> Cleaning | None:
    if found.values > MAX_TEXTS or forms["folded_count"] == found.values:
        return None
    reason = f"has {counted(found.values, 'text')}, {forms['folded_count']:,} without regard to case and blanks"
    case = ""
    if forms["trimmed_count"] > forms["folded_count"]:
        case = "upper" if 2 * forms["upper_rows"] > found.filled else "lower"
    return Cleaning(found.name, reason, queries.in_one_case(found.name, case, has_blank=forms["has_blank"]))
