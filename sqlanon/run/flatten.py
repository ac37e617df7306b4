"""From a table of events to a table of individuals, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.engines.base import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.preparations import Flattened, Flattening
from sqlanon.model.record import FlattenedRecord
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import Target, target_for
from sqlanon.queries.kit.spelling import spelled
from sqlanon.queries.tables import flatten as queries


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
    with target_for(engine, into, {"source": source}, replace=replace) as target:
        return _run(engine, source, flattening, target)


def _run(
    engine: Compute,
    source: ResolvedSource,
    flattening: Flattening,
    target: Target,
) -> Flattened:
    relation, columns = spelled(source.relation, engine.describe(source.relation), flattening.named)
    flattening.check_columns([column.name for column in columns], source.description)
    with engine.transaction():
        counts = engine.fetch(queries.counts(relation, flattening), "count the events")[0]
        _refuse_unfit_rows(source, flattening, counts)
        target.write(queries.flattened(relation, flattening))
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
