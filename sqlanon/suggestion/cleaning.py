"""Values that are written in several ways: the columns that have them, and a query over the source that mends all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.taxonomy.arguments import counted
from sqlanon.queries.kit.nodes import DIALECT, select
from sqlanon.queries.tables import cleaning as queries
from sqlanon.queries.tables.suggestions import TEXTS_AT_ONCE
from sqlanon.suggestion.decimal_commas import SHAPE
from sqlanon.suggestion.evidence import SHARE_OF_SHAPE, Evidence
from sqlanon.suggestion.roles import MAX_TEXTS, Decision

MAX_LOST_ZEROS = 2
"""Zeros that a postal code can have had at its beginning."""

DIGITS_OF_CODES = range(4, 7)
"""Digits of postal codes."""

FIRST_TEXTS = 3
"""Columns of texts in which a line of totals can begin."""


@dataclass(frozen=True)
class Cleaning:
    """What a query does to a column.

    Attributes:
        name: the column.
        reason: what is wrong with its values, in words that quote none of them.
        value: what takes its place.
    """

    name: str
    reason: str
    value: exp.Expr

    @property
    def sentence(self) -> str:
        return f'"{self.name}" {self.reason}'


def cleanings(
    engine: Compute,
    source: exp.Expr,
    evidence: Mapping[str, Evidence],
    decisions: Mapping[str, Decision],
    *,
    has_commas: bool,
) -> list[Cleaning]:
    """What is to be cleaned, in the order of the columns; nothing of columns that are dropped for good.

    Args:
        engine: the database.
        source: the rows.
        evidence: on each column.
        decisions: the role of each column.
        has_commas: whether numbers with a decimal comma are to be cleaned as well.
    """
    kept = [found for name, found in evidence.items() if decisions[name].role != "identifier"]
    kept += [found for name, found in evidence.items() if decisions[name].is_undecided]
    texts = [found for found in kept if found.column.traits.is_text and not found.is_number and not found.is_moment]
    forms = _forms(engine, source, [found.name for found in texts])
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
    """The lines of totals, each with a word of its own: a word of several rows may be what a column says of persons."""
    columns = [name for name, found in evidence.items() if found.column.traits.is_text][:FIRST_TEXTS]
    if not columns:
        return None
    [found] = engine.fetch(queries.total_rows(source, columns), "lines of totals")
    if not found["total_rows"] or found["total_rows"] > found["words"]:
        return None
    return Totals(found["total_rows"], queries.without_totals(columns))


def query_of(source: exp.Expr, wanted: Sequence[Cleaning], found: Totals | None) -> str:
    """One query over a source, in lines to read."""
    replaced = [exp.alias_(each.value.copy(), each.name, quoted=True) for each in wanted]
    query = select([exp.Star(replace=replaced)], source.copy())
    if found is not None:
        query = query.where(found.condition)
    return query.sql(DIALECT, pretty=True, normalize_functions=False) + "\n"


def _forms(engine: Compute, source: exp.Expr, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for start in range(0, len(names), TEXTS_AT_ONCE):
        some = names[start : start + TEXTS_AT_ONCE]
        rows = engine.fetch(queries.text_forms(source, some), "how texts are written")
        found |= {some[row["place"]]: row for row in rows}
    return found


def _cleaning(
    found: Evidence, decision: Decision, forms: Mapping[str, Any] | None, has_commas: bool
) -> Cleaning | None:
    if found.shape == SHAPE:
        reason = "has numbers with a decimal comma; other texts become missing"
        return Cleaning(found.name, reason, queries.with_point(found.name)) if has_commas else None
    if forms is None:
        return _of_numbers(found, decision)
    special = _of_days(found, forms) or _of_codes(found, decision, forms)
    return special or _of_amounts(found, forms) or _of_case(found, forms)


def _of_days(found: Evidence, forms: Mapping[str, Any]) -> Cleaning | None:
    """Days and points in time among other texts, and days that are not written as in ISO 8601."""
    kinds = {"TIMESTAMP" if forms["time_rows"] else "DATE": forms["moment_rows"]}
    kinds |= {order: forms[f"{order}_rows"] for order in queries.DAY_FORMATS}
    kind = max(kinds, key=lambda each: kinds[each])
    rest = found.filled - kinds[kind]
    if kinds[kind] < SHARE_OF_SHAPE * found.filled or not found.filled:
        return None
    if kind in queries.DAY_FORMATS and forms["dmy_rows"] == forms["mdy_rows"] and forms["unlike_rows"]:
        return None  # nothing says which number is the month
    texts = f"; other texts become missing in {counted(rest, 'row')}" if rest else ""
    return Cleaning(found.name, f"has dates as texts{texts}", queries.moment(found.name, kind))


def _of_codes(found: Evidence, decision: Decision, forms: Mapping[str, Any]) -> Cleaning | None:
    """Postal codes that are digits and may have lost the zeros at their beginning."""
    if decision.kind != "zip" or forms["digit_rows"] < found.filled:
        return None
    return _padded(found, forms["fewest_digits"], forms["most_digits"])


def _of_numbers(found: Evidence, decision: Decision) -> Cleaning | None:
    if decision.kind != "zip" or not found.is_whole or found.minimum is None or found.maximum is None:
        return None
    return _padded(found, len(f"{found.minimum:.0f}"), len(f"{found.maximum:.0f}"))


def _padded(found: Evidence, fewest: int, most: int) -> Cleaning | None:
    if not 0 < most - fewest <= MAX_LOST_ZEROS or most not in DIGITS_OF_CODES:
        return None
    reason = f"has codes of {fewest} to {most} digits, as if zeros at their beginning were lost"
    return Cleaning(found.name, reason, queries.padded(found.column, most))


def _of_amounts(found: Evidence, forms: Mapping[str, Any]) -> Cleaning | None:
    """Amounts of one currency, if they can be read in one way."""
    points, commas = (0 < found.filled == forms[f"{mark}_rows"] for mark in ("point", "comma"))
    if forms["sign_count"] != 1 or (points and commas and forms["has_marks"] and not forms["has_point_sign"]):
        return None
    value = queries.amount(found.name, "." if points else ",")
    return Cleaning(found.name, "has amounts of money as texts", value) if points or commas else None


def _of_case(found: Evidence, forms: Mapping[str, Any]) -> Cleaning | None:
    """Texts that differ in case, or in blanks around them, alone."""
    if found.values > MAX_TEXTS or forms["folded_count"] == found.values:
        return None
    reason = f"has {counted(found.values, 'text')}, {forms['folded_count']:,} without regard to case and blanks"
    case = ""
    if forms["trimmed_count"] > forms["folded_count"]:
        case = "upper" if 2 * forms["upper_rows"] > found.filled else "lower"
    return Cleaning(found.name, reason, queries.in_one_case(found.name, case, has_blank=forms["has_blank"]))


def advice_on(wanted: Sequence[Cleaning]) -> Iterator[str]:
    """A sentence on each column, with what takes its place."""
    for each in wanted:
        yield f"{each.sentence}: {each.value.sql(DIALECT)}"
