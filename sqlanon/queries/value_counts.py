"""Distinct values of one column with their rows, as pictures of the column need them: see ``sql/profiles.sql``."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.queries.exposures import comparable
from sqlanon.queries.kit.macros import as_read, cast_value, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, c, case, cast, column, f, identifier, number, try_cast
from sqlanon.queries.source import SourceColumn

COUNTS = Relation("anon_counted_values", "cell")
SQL = Queries("profiles", {"counts": COUNTS})

BARS = 24  # of a histogram, at most
SECONDS_OF_DAY = 86_400
MAX_DAYS = 80_000_000  # from 1970: the edges of bins are timestamps, which end soon after


def counted_values(source: exp.Expr, found: SourceColumn) -> Step:
    """Make :data:`COUNTS`: the values of a column in their own type, texts byte by byte, with their rows."""
    value = comparable({found.name: found.traits}, found.name)
    if found.traits.is_text:
        value = exp.Collate(this=column(found.name), expression=identifier("binary"))
    return SQL.step(COUNTS, "counted_values", source=source, value=value)


def value_figures(least: int, most: int) -> exp.Query:
    return SQL.query("value_figures", least=least, most=most, bars=BARS)


def histogram(found: SourceColumn) -> exp.Query | None:
    """Count rows by bins: ``edge``, ``row_count``, which is NULL at the last edge; None if the type has no order.

    Days and times are numbers of days, and their edges are texts.
    """
    value, edge = c.anon_value, c.anon_number
    if found.traits.is_number:
        narrowest = 0 if found.traits.is_fractional else 1
        return SQL.query("histogram", number=cast_value(value, "DOUBLE"), narrowest=narrowest, bars=BARS, edge=edge)
    if not found.traits.is_date:
        return None
    has_time = found.type != "DATE"
    moments = try_cast(as_read(value.copy()), "TIMESTAMP")
    finite = case(f.isfinite(value), f.epoch(moments))
    days = exp.Div(this=finite, expression=number(float(SECONDS_OF_DAY)))
    is_held = exp.Between(this=days, low=number(-MAX_DAYS), high=number(MAX_DAYS))
    microseconds = cast(exp.Mul(this=edge, expression=number(SECONDS_OF_DAY * 1_000_000)), "BIGINT")
    moment = f.make_timestamp(microseconds)
    return SQL.query(
        "histogram",
        number=case(is_held, days.copy()),
        narrowest=0 if has_time else 1,
        bars=BARS,
        edge=text(moment if has_time else cast(moment, "DATE")),
    )
