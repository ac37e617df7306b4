"""How the texts of a source are written, and expressions that write them in one way: see ``sql/suggest.sql``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.queries.kit.nodes import cast, column, f, names, number, string
from sqlanon.queries.source import SourceColumn
from sqlanon.queries.suggestions import SQL, texts_of

DAY_FORMATS = {
    "dmy": ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d"),
    "mdy": ("%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y", "%Y-%m-%d"),
}
"""How days are written, by the order of the day, the month and the year."""


ISO_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S.%f")


SIGN = (
    r"(?i:(?:US|CA|AU|R)?[$]|\p{Sc}|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR"
    "|kr|zł|Kč)"
)
"""The sign of a currency, as a regular expression."""

WORDS_OF_TOTALS = (
    "total,totals,grand total,subtotal,sum,summe,gesamt,gesamtsumme,insgesamt,zwischensumme,somme,totale,totaal"
)
"""Texts with which a line of totals begins."""


def text_forms(source: exp.Expr, names: Sequence[str]) -> exp.Query:
    """A row per column of texts by its place: how many rows are written in which way."""
    return SQL.query(
        "text_forms",
        cells=texts_of(source, names),
        ymd=moment("anon_text", "TIMESTAMP"),
        dmy=moment("anon_text", "dmy"),
        mdy=moment("anon_text", "mdy"),
        sign=string(SIGN),
    )


def total_rows(source: exp.Expr, columns: Sequence[str]) -> exp.Query:
    """How many rows are lines of totals by the first text of some columns, and how many different words begin them."""
    return SQL.query(
        "total_rows", source=source, first_text=_first_text(columns), words=names(WORDS_OF_TOTALS.split(","))
    )


def without_totals(columns: Sequence[str]) -> exp.Expr:
    """The condition that leaves them out."""
    return exp.not_(
        exp.In(this=_first_text(columns), expressions=[string(word) for word in WORDS_OF_TOTALS.split(",")])
    )


def _first_text(columns: Sequence[str]) -> exp.Expr:
    filled = [f.nullif(f.trim(column(name)), string("")) for name in columns]
    return f.rtrim(f.lower(f.coalesce(*filled, string(""))), string(" :"))


def moment(name: str, kind: str) -> exp.Expr:
    """A text as a day or a point in time, NULL if it is none.

    Args:
        name: the column.
        kind: the type of texts as ISO 8601 has them, or the order of days in :data:`DAY_FORMATS`.
    """
    formats = exp.Array(expressions=[string(each) for each in DAY_FORMATS.get(kind, ISO_FORMATS)])
    read = f.try_strptime(f.trim(column(name)), formats)
    return read if kind == "TIMESTAMP" else cast(read, "DATE")


def padded(found: SourceColumn, digits: int) -> exp.Expr:
    """A code with zeros at its beginning, so that it has a number of digits."""
    if found.traits.is_text:
        return f.lpad(f.trim(column(found.name)), number(digits), string("0"))
    # The cast to text of a column would be left to the reader of a CSV file.
    return f.format(string(f"{{:0{digits}d}}"), cast(column(found.name), "BIGINT"))


def in_one_case(name: str, case: str, *, has_blank: bool) -> exp.Expr:
    """A text without blanks around it, in ``upper`` or ``lower`` case, or as it is; NULL if nothing is left."""
    value: exp.Expr = f.trim(column(name))
    if case:
        value = getattr(f, case)(value)
    return f.nullif(value, string("")) if has_blank else value


def with_point(name: str) -> exp.Expr:
    """A number with a decimal comma as a number, NULL if it is none."""
    text = f.replace(column(name), string(","), string("."))
    return exp.TryCast(this=text, to=exp.DataType.build("DOUBLE"))


def amount(name: str, mark: str) -> exp.Expr:
    """An amount of money as a number, without its sign and the marks between groups of digits.

    Args:
        name: the column.
        mark: the point or the comma before decimals.
    """
    digits = f.regexp_replace(column(name), string(f"[^0-9{mark}+-]"), string(""), string("g"))
    text = f.replace(digits, string(","), string(".")) if mark == "," else digits
    return exp.TryCast(this=text, to=exp.DataType.build("DOUBLE"))
