"""A taxonomy value → the query that makes its rows: level, value, label."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange, LabelRule
from sqlanon.model.taxonomy.taxonomy import TOP
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    DIALECT,
    aliased,
    all_of,
    ascending,
    cast,
    column,
    made_once,
    names,
    number,
    string,
    subquery,
    union_all,
)
from sqlanon.queries.kit.values import as_read, exact_text, text

LONG_COLUMNS = ("level", "value", "label")


def integers(domain: IntegerRange, occurring: Sequence[tuple[exp.Expr, str]] = ()) -> exp.Query:
    """The values of a declared range of integers, as text.

    Args:
        domain: the range.
        occurring: relations with a column each; if there are any, only values that one of them has, and the two ends.
    """
    source = exp.Table(this=exp.func("range", number(domain.minimum), number(domain.maximum + 1), dialect=DIALECT))
    value = exp.column("anon_number")
    values = exp.select(aliased(text(value), "value")).from_(_named(source, "anon_number"))
    if not occurring:
        return values
    found = union_all([_whole_numbers(relation, name) for relation, name in occurring])
    found = exp.select(column("number")).from_(subquery(found, "anon_found"))
    found = found.where(column("number").is_(exp.null()).not_())
    is_end = exp.In(this=value.copy(), expressions=[number(domain.minimum), number(domain.maximum)])
    return values.where(exp.or_(exp.In(this=value.copy(), query=exp.Subquery(this=found)), is_end))


def _whole_numbers(relation: exp.Expr, name: str) -> exp.Select:
    """``number``: the values of a column as whole numbers, NULL for what is none."""
    distinct = exp.select(aliased(column(name), "anon_value")).from_(relation.copy()).distinct()
    whole = exp.TryCast(this=text(column("anon_value")), to=exp.DataType.build("BIGINT"))
    return exp.select(aliased(whole, "number")).from_(subquery(distinct, "anon_values"))


def days(domain: DateRange) -> exp.Query:
    """Every day of a declared range of dates, as text."""
    bounds = [cast(string(day.isoformat()), "DATE") for day in (domain.first, domain.last)]
    step = exp.Interval(this=string("1"), unit=exp.var("DAY"))
    source = exp.Table(this=exp.func("generate_series", *bounds, step, dialect=DIALECT))
    return exp.select(aliased(text(cast(exp.column("anon_day"), "DATE")), "value")).from_(_named(source, "anon_day"))


def given() -> exp.Query:
    """The values of a declared domain, which are the list $1."""
    values = exp.Unnest(expressions=[cast(exp.Parameter(this=number(1)), "VARCHAR[]")])
    return exp.select(aliased(values, "value"))


def observed(source: exp.Table | exp.Subquery, name: str) -> exp.Query:
    """The distinct values of a column, as text, NULL left out: every taxonomy knows it."""
    values = exp.select(aliased(exact_text(column(name)), "value")).from_(source.copy()).distinct()
    return (
        exp.select(column("value")).from_(subquery(values, "anon_values")).where(column("value").is_(exp.null()).not_())
    )


def labelled(domain: exp.Query, rules: Sequence[LabelRule]) -> exp.Query:
    """level, value, label: the values themselves, one level per rule, and the top."""
    levels = [_level(0, column("value", "anon_domain"))]
    for depth, rule in enumerate(rules, start=1):
        arguments = [_literal(argument) for argument in rule.arguments]
        levels.append(_level(depth, scalar_call(rule.macro, column("value", "anon_domain"), *arguments)))
    levels.append(_level(len(rules) + 1, string(TOP)))
    return union_all(levels).with_("anon_domain", as_=domain)


def of_columns(source: exp.Table | exp.Subquery, name: str, coarser: Sequence[str]) -> exp.Query:
    """level, value, label: the values of a column, one level per coarser column, and the top.

    A value that stands with several values of a coarser column has several labels there, and with NULL alone none.
    """
    columns = [f"anon_{depth}" for depth in range(len(coarser) + 1)]
    texts = [aliased(exact_text(column(each)), alias) for each, alias in zip((name, *coarser), columns, strict=True)]
    rows = exp.select(*texts).from_(source.copy()).distinct()
    found = [(number(depth), column(each)) for depth, each in enumerate(columns)]
    levels = [
        exp.select(aliased(depth, "level"), aliased(column(columns[0]), "value"), aliased(label, "label"))
        .from_(exp.to_table("anon_rows"))
        .where(all_of([exp.not_(each.is_(exp.null())) for each in (column(columns[0]), label.copy())]))
        .distinct()
        for depth, label in (*found, (number(len(columns)), string(TOP)))
    ]
    query = union_all(levels)
    query.set("with_", exp.With(expressions=[made_once("anon_rows", rows)]))
    return query


def unpivoted(wide: exp.Query, columns: Sequence[str]) -> exp.Query:
    """level, value, label from a relation of values followed by their labels; ``columns`` are its names."""
    levels = [
        exp.select(
            aliased(number(depth), "level"),
            aliased(text(column(columns[0])), "value"),
            aliased(text(column(name)), "label"),
        ).from_(exp.to_table("anon_wide"))
        for depth, name in enumerate(columns)
    ]
    return union_all(levels).with_("anon_wide", as_=wide)


def long(query: exp.Query) -> exp.Query:
    """level, value, label from a relation that has these columns."""
    return exp.select(
        exp.TryCast(this=as_read(column("level")), to=exp.DataType.build("INTEGER")).as_("level"),
        text(column("value")).as_("value"),
        text(column("label")).as_("label"),
    ).from_(subquery(query, "anon_long"))


def wide(taxonomy: exp.Table, attribute: str, height: int) -> exp.Query:
    """A stored taxonomy as an ARX hierarchy: a row per value, a column per level, NULL first."""
    columns = [
        aliased(
            exp.Filter(
                this=exp.Max(this=column("label")),
                expression=exp.Where(this=column("level").eq(number(depth))),
            ),
            f"level_{depth}",
        )
        for depth in range(1, height + 1)
    ]
    query = exp.select(aliased(column("value"), "level_0"), *columns).from_(taxonomy.copy())
    query = query.where(column("attribute").eq(string(attribute))).group_by(column("value"))
    query.set("order", ascending(column("level_0"), nulls_first=True))
    return query


def _level(depth: int, label: exp.Expr) -> exp.Query:
    return exp.select(aliased(number(depth), "level"), column("value", "anon_domain"), aliased(label, "label")).from_(
        exp.to_table("anon_domain")
    )


def _named(source: exp.Table, name: str) -> exp.Table:
    source.set("alias", exp.TableAlias(this=exp.to_identifier("anon_range"), columns=[exp.to_identifier(name)]))
    return source


def _literal(argument: int | Decimal | str | tuple[str, ...] | None) -> exp.Expr:
    if argument is None:
        return exp.null()
    if isinstance(argument, str):
        return string(argument)
    if isinstance(argument, tuple):
        return names(argument)
    literal = exp.Literal.number(str(abs(argument)))
    return exp.Neg(this=literal) if argument < 0 else literal
