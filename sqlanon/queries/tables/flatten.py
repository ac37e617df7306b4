"""A flattening → its two queries: what is in the table of events, and the table of individuals."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.model.preparations import Flattening
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import (
    aliased,
    ascending,
    cast,
    column,
    count_rows,
    grouped,
    names,
    number,
    select,
    string,
    subquery,
)
from sqlanon.queries.kit.values import exact_text

SOURCE = "anon_source"
EVENTS = "anon_events"
INDIVIDUAL = "anon_individual"
EVENT = "anon_event"
"""A struct with all that the result takes from a row: one event for the macro, however many columns it has."""


def counts(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """One row of counts.

    individuals, events, cut_individuals and cut_events are those of :class:`Flattened`; lost_events are rows without an
    individual, and varying_0, varying_1, ... the individuals for which a column to keep is not the same in all rows.
    """
    unknown = column(INDIVIDUAL).is_(exp.null())
    known = unknown.copy().not_()
    beyond = exp.Sub(this=column("event_rows"), expression=number(flattening.first))
    columns = [
        aliased(_where(count_rows(), known), "individuals"),
        aliased(_whole(_where(exp.Sum(this=column("event_rows")), known)), "events"),
        aliased(_where(count_rows(), exp.and_(known, _positive(beyond))), "cut_individuals"),
        aliased(_whole(_where(exp.Sum(this=beyond.copy()), exp.and_(known, _positive(beyond)))), "cut_events"),
        aliased(_whole(_where(exp.Sum(this=column("event_rows")), unknown)), "lost_events"),
    ]
    for place in range(len(flattening.keep)):
        varies = exp.and_(known, column(f"varies_{place}"))
        columns.append(aliased(_where(count_rows(), varies), f"varying_{place}"))
    return select(columns, subquery(_by_individual(source, flattening), "anon_individuals"))


def flattened(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """A row per individual, in the order of the individuals: the individual, columns to keep, first events, count."""
    order = [f"anon_order_{place}" for place in range(len(flattening.order) + len(flattening.event))]
    rows = subquery(_rows(source, flattening, order), "anon_rows")
    events = table_call("first_events", rows, string(INDIVIDUAL), string(EVENT), names(order), number(flattening.first))
    individual = _any(_field("individual"))
    columns = [aliased(individual, flattening.individual)]
    columns += [aliased(_any(_field(f"keep_{place}")), name) for place, name in enumerate(flattening.keep)]
    for place, position, name in flattening.event_columns:
        is_there = column("position", EVENTS).eq(number(position))
        columns.append(aliased(_where(_any(_field(f"event_{place}")), is_there), name))
    if flattening.count is not None:
        columns.append(aliased(_any(_field("count")), flattening.count))
    same = column("individual", EVENTS)
    query = grouped(select(columns, subquery(events, EVENTS)), [same])
    # Individuals that the database takes for equal, such as texts of another case, still have an order.
    query.set("order", ascending(individual.copy(), same.copy()))
    return query


def _by_individual(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """A row per individual: how many events it has, and whether each column to keep varies among them."""
    individual = exact_text(column(flattening.individual, SOURCE))
    varying = [aliased(_varies(column(name, SOURCE)), f"varies_{place}") for place, name in enumerate(flattening.keep)]
    columns = [aliased(individual, INDIVIDUAL), aliased(count_rows(), "event_rows"), *varying]
    return grouped(select(columns, _aliased_source(source)), [individual.copy()])


def _rows(source: exp.Expr, flattening: Flattening, order: Sequence[str]) -> exp.Query:
    """The rows of the source as the macro takes them, under names of our own.

    Ties are broken by the texts of the events, as the macro would do it for a single one.
    """
    individual = exact_text(column(flattening.individual, SOURCE))
    keys = [
        *(column(name, SOURCE) for name in flattening.order),
        *(exact_text(column(name, SOURCE)) for name in flattening.event),
    ]
    fields: dict[str, exp.Expr] = {"individual": column(flattening.individual, SOURCE)}
    fields |= {f"keep_{place}": column(name, SOURCE) for place, name in enumerate(flattening.keep)}
    fields |= {f"event_{place}": column(name, SOURCE) for place, name in enumerate(flattening.event)}
    if flattening.count is not None:
        fields["count"] = exp.Window(this=count_rows(), partition_by=[individual.copy()])
    entries = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields.items()]
    columns = [aliased(individual, INDIVIDUAL), aliased(exp.Struct(expressions=entries), EVENT)]
    columns += [aliased(key, name) for key, name in zip(keys, order, strict=True)]
    return select(columns, _aliased_source(source))


def _aliased_source(source: exp.Expr) -> exp.Expr:
    """The source under a name of its own, so that no alias beside a column can be taken for it."""
    return exp.alias_(source.copy(), SOURCE, table=True)


def _varies(value: exp.Column) -> exp.Expr:
    """Whether a column has more than one value within a group; NULL is a value, and values are compared as text."""
    text = exact_text(value)
    several = exp.NullSafeNEQ(this=exp.Min(this=text), expression=exp.Max(this=text.copy()))
    present = exp.Count(this=value.copy(), big_int=True)
    some_null = exp.and_(_positive(present), exp.LT(this=present.copy(), expression=count_rows()))
    return exp.or_(several, some_null)


def _field(name: str) -> exp.Expr:
    return exp.StructExtract(this=column("event", EVENTS), expression=string(name))


def _any(value: exp.Expr) -> exp.Expr:
    return exp.AnyValue(this=value)


def _where(aggregate: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return exp.Filter(this=aggregate, expression=exp.Where(this=condition.copy()))


def _positive(value: exp.Expr) -> exp.Expr:
    return exp.GT(this=value.copy(), expression=number(0))


def _whole(total: exp.Expr) -> exp.Expr:
    """A sum as a whole number, 0 over no rows."""
    return cast(exp.Coalesce(this=total, expressions=[number(0)]), "BIGINT")
