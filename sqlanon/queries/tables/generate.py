"""A taxonomy value → the query that makes its rows: level, value, label."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange, LabelRule
from sqlanon.model.taxonomy.taxonomy import TOP
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, column, f, filtered, made_once, names, number, string, union_all
from sqlanon.queries.kit.values import exact_text, text

SQL = Queries("taxonomies")

LONG_COLUMNS = ("level", "value", "label")


def integers(domain: IntegerRange, occurring: Sequence[tuple[exp.Expr, str]] = ()) -> exp.Query:
    """The values of a declared range of integers, as text.

    Args:
        domain: the range.
        occurring: relations with a column each; if there are any, only values that one of them has, and the two ends.
    """
    first, end = domain.minimum, domain.maximum + 1
    if not occurring:
        return SQL.query("integers", first=first, end=end)
    found = union_all(SQL.query("whole_numbers", source=relation, name=name) for relation, name in occurring)
    return SQL.query("occurring_integers", first=first, last=domain.maximum, end=end, found=found)


def days(domain: DateRange) -> exp.Query:
    """Every day of a declared range of dates, as text."""
    return SQL.query("days", first=string(domain.first.isoformat()), last=string(domain.last.isoformat()))


def labelled(domain: exp.Query, rules: Sequence[LabelRule]) -> exp.Query:
    """level, value, label: the values themselves, one level per rule, and the top."""
    value = column("value", "anon_domain")
    labels = [value, *(scalar_call(rule.macro, value.copy(), *map(_literal, rule.arguments)) for rule in rules)]
    return _leveled("anon_domain", value, [*labels, string(TOP)]).with_("anon_domain", as_=domain)


def of_columns(source: exp.Table | exp.Subquery, name: str, coarser: Sequence[str]) -> exp.Query:
    """level, value, label: the values of a column, one level per coarser column, and the top.

    A value that stands with several values of a coarser column has several labels there, and with NULL alone none.
    """
    texts = [aliased(exact_text(column(each)), f"anon_{depth}") for depth, each in enumerate((name, *coarser))]
    labels = [*(column(each.alias) for each in texts), string(TOP)]
    rows = exp.table_("anon_rows")
    query = union_all(
        SQL.query("distinct_labels", rows=rows, depth=depth, value="anon_0", label=label)
        for depth, label in enumerate(labels)
    )
    made = exp.select(*texts).from_(source.copy()).distinct()
    query.set("with_", exp.With(expressions=[made_once("anon_rows", made)]))
    return query


def unpivoted(wide: exp.Query, columns: Sequence[str]) -> exp.Query:
    """level, value, label from a relation of values followed by their labels; ``columns`` are its names."""
    labels = [text(column(name)) for name in columns]
    return _leveled("anon_wide", labels[0], labels).with_("anon_wide", as_=wide)


def wide(taxonomy: exp.Table, attribute: str, height: int) -> exp.Query:
    """A stored taxonomy as an ARX hierarchy: a row per value, a column per level, NULL first."""
    levels = [
        aliased(filtered(f.max(column("label")), column("level").eq(number(depth))), f"level_{depth}")
        for depth in range(1, height + 1)
    ]
    return SQL.query("wide_taxonomy", taxonomy=taxonomy, attribute=string(attribute), levels=levels)


def _leveled(relation: str, value: exp.Expr, labels: Sequence[exp.Expr]) -> exp.Query:
    return union_all(
        SQL.query("labels_at", rows=exp.table_(relation), depth=depth, value=value, label=label)
        for depth, label in enumerate(labels)
    )


def _literal(argument: int | Decimal | str | tuple[str, ...] | None) -> exp.Expr:
    if argument is None:
        return exp.null()
    if isinstance(argument, str):
        return string(argument)
    if isinstance(argument, tuple):
        return names(argument)
    literal = exp.Literal.number(str(abs(argument)))
    return exp.Neg(this=literal) if argument < 0 else literal
