"""A flattening → its two queries: what is in the table of events, and the table of individuals."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.model.preparations import Flattening
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, c, column, count_rows, f, filtered, names, number, string, subquery

SQL = Queries("tables")


def counts(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """One row of counts.

    individuals, events, cut_individuals and cut_events are those of :class:`Flattened`; lost_events are rows without an
    individual, and varying_0, varying_1, ... the individuals for which a column to keep is not the same in all rows.
    """
    is_known, varies, varying = c.anon_individual.is_(exp.null()).not_(), [], []
    for place, name in enumerate(flattening.keep):
        varies.append(aliased(_varies(_of_source(name)), f"varies_{place}"))
        is_one = exp.and_(is_known, column(f"varies_{place}"))
        varying.append(aliased(filtered(count_rows(), is_one), f"varying_{place}"))
    individual, first = flattening.individual, flattening.first
    return SQL.query("event_counts", source=source, individual=individual, first=first, varies=varies, varying=varying)


def flattened(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """A row per individual, in the order of the individuals: the individual, columns to keep, first events, count."""
    order = [f"anon_order_{place}" for place in range(len(flattening.order) + len(flattening.event))]
    rows = subquery(_rows(source, flattening, order), "anon_rows")
    first = number(flattening.first)
    events = table_call("first_events", rows, string("anon_individual"), string("anon_event"), names(order), first)
    columns: list[exp.Expr] = [aliased(_any(f"keep_{place}"), name) for place, name in enumerate(flattening.keep)]
    for place, position, name in flattening.event_columns:
        is_there = column("position", "anon_events").eq(number(position))
        columns.append(aliased(filtered(_any(f"event_{place}"), is_there), name))
    if flattening.count is not None:
        columns.append(aliased(_any("count"), flattening.count))
    return SQL.query("individuals", events=events, individual=flattening.individual, columns=columns)


def _rows(source: exp.Expr, flattening: Flattening, order: list[str]) -> exp.Query:
    """The rows of the source as the macro takes them.

    Ties are broken by the texts of the events, as the macro would do it for a single one.
    """
    keys = [*map(_of_source, flattening.order), *(exact_text(_of_source(name)) for name in flattening.event)]
    fields: dict[str, exp.Expr] = {"individual": _of_source(flattening.individual)}
    fields |= {f"keep_{place}": _of_source(name) for place, name in enumerate(flattening.keep)}
    fields |= {f"event_{place}": _of_source(name) for place, name in enumerate(flattening.event)}
    if flattening.count is not None:
        fields["count"] = exp.Window(this=count_rows(), partition_by=[exact_text(_of_source(flattening.individual))])
    entries = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields.items()]
    return SQL.query(
        "rows_of_individuals",
        source=source,
        individual=flattening.individual,
        event=exp.Struct(expressions=entries),
        order=[aliased(key, name) for key, name in zip(keys, order, strict=True)],
    )


def _of_source(name: str) -> exp.Column:
    return column(name, "anon_source")


def _varies(value: exp.Column) -> exp.Expr:
    """Whether a column has more than one value within a group; NULL is a value, and values are compared as text."""
    text, present = exact_text(value), f.count(value)
    several = exp.NullSafeNEQ(this=f.min(text), expression=f.max(text))
    return exp.or_(several, exp.and_(exp.GT(this=present, expression=number(0)), present < count_rows()))


def _any(field: str) -> exp.Expr:
    return f.any_value(f.struct_extract(column("event", "anon_events"), field))
