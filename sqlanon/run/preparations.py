"""Tables of individuals made from events, before a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.prepared_tables import Flattened, Flattening
from sqlanon.model.record import FlattenedRecord
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import target_for
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    aliased,
    column,
    count_rows,
    f,
    filtered,
    names,
    number,
    string,
    subquery,
)
from sqlanon.queries.spelled import spelled


def flatten(
    engine: Engine, source: ResolvedSource, flattening: Flattening, into: Destination, *, replace: Replace
) -> Flattened:
    """Write a table with a row per individual. It is as sensitive as its source: nothing is anonymized.

    Args:
        engine: the database.
        source: the events.
        flattening: which columns they become.
        into: the target.
        replace: whether an existing table, file or folder of that name may be replaced.

    Raises:
        PolicyError: the columns do not fit, events belong to no individual, or a column to keep varies.
        EngineError: the database or the file system refused a step. The target is as it was before in every case.
    """
    with target_for(engine, into, {"source": source}, replace=replace) as target, engine.transaction():
        relation, columns = spelled(source.relation, engine.describe(source.relation), flattening.named)
        flattening.check_columns([column.name for column in columns], source.description)
        counts = engine.fetch(_event_counts(relation, flattening), "count the events")[0]
        _refuse_unfit_rows(source, flattening, counts)
        target.write(_flattened(relation, flattening))
        made = FlattenedRecord(
            flattening=flattening.model_dump(mode="json"), events=counts["events"], individuals=counts["individuals"]
        )
        target.add_record(new_record(flattened=made))
        return Flattened(
            source=source.description,
            into=target.name,
            columns=flattening.columns,
            individuals=counts["individuals"],
            events=counts["events"],
            cut_individuals=counts["cut_individuals"],
            cut_events=counts["cut_events"],
            notes=target.notes,
        )


def _refuse_unfit_rows(source: ResolvedSource, flattening: Flattening, counts: Mapping[str, Any]) -> None:
    problems = []
    if counts["lost_events"]:
        problems.append(f'{counts["lost_events"]:,} rows belong to nobody: their "{flattening.individual}" is NULL')
    for place, name in enumerate(flattening.keep):
        varying = counts[f"varying_{place}"]
        if varying:
            problems.append(
                f'column "{name}" has several values for {varying:,} of {counts["individuals"]:,} individuals; '
                "make it an event, or one value in a view"
            )
    if problems:
        raise PolicyError(f"{source.description} cannot be flattened:", problems)


def _event_counts(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """Return one row of counts, those of :class:`Flattened` and ``lost_events``, which have no individual.

    And by the place of a column to keep ``varying_<place>``, the individuals for which it is not the same in all rows.
    """
    places = range(len(flattening.keep))
    return Queries("tables").query(
        "event_counts",
        source=source,
        individual=flattening.individual,
        first=flattening.first,
        are_different=[_varies(_of_source(name)) for name in flattening.keep],
        varies=[f"varies_{place}" for place in places],
        varying=[f"varying_{place}" for place in places],
    )


def _flattened(source: exp.Expr, flattening: Flattening) -> exp.Query:
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
    return Queries("tables").query("individuals", events=events, individual=flattening.individual, columns=columns)


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
    return Queries("tables").query(
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
