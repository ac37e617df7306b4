"""Publish a partition at a fitted node or in fitted classes, proved together with all partitions of the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlanon.binding.prepare import read_by, with_present_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, UnsatisfiableError, VerificationError
from sqlanon.methods.stages import Progress, Stages, silent
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.fitted import PartitionRelease, PartitionReport
from sqlanon.model.record import PartitionRecord, RowsRecord
from sqlanon.model.release import Guarantee, Measurement, RowCounts
from sqlanon.model.release.measurement import with_notes
from sqlanon.nodes.table import EncodedTable, UnknownRows, encode_table, refuse_empty, unknown_notes
from sqlanon.partitions import increment as queries
from sqlanon.partitions.increment import NEW_CELLS, PUBLISHED_CELLS, UNION_CELLS, Increment, join
from sqlanon.partitions.partition import (
    Partition,
    increment_of,
    is_published,
    labels_of,
    partition_of,
    refuse_changed_taxonomies,
    taxonomies_of_fit,
    uncovered_notes,
)
from sqlanon.partitions.sidecar import REFERENCE, Entry, opened
from sqlanon.publish.provenance import promise_of, release_record
from sqlanon.publish.targets import Target, target_for
from sqlanon.queries.kit.nodes import Step
from sqlanon.queries.published_rows import KEPT_CLASSES
from sqlanon.release import publishing
from sqlanon.release.guarantee import guarantee_of_partitions, with_coding
from sqlanon.release.publishing import attained_measures
from sqlanon.releases.noting import FitOfRelease, Noting, note_unchanged, noting
from sqlanon.verification.measure import Beside
from sqlanon.verification.verify import verify

NOTHING_WRITTEN = "these rows were published already: nothing was written"


def apply(
    engine: Engine,
    resolve: Callable[[], ResolvedSource],
    sidecar: Path,
    into: Destination,
    *,
    replace: Replace = False,
    progress: Progress = silent,
) -> PartitionRelease:
    """Publish a partition at the node of a fit, or in its classes, where each row goes to the best covering one.

    The rows of a class are published if the class meets every privacy model together with its published rows, else they
    are suppressed. That leaves published rows as good as they were: each measure of a class follows from the rows of
    that class only, and from the reference, which never changes.

    ``resolve`` finds the partition once the fit has set how to read it.
    """
    stages = Stages(progress)
    with stages.watching(engine), opened(engine, sidecar) as known, taxonomies_of_fit(engine, known):
        engine.read_as(known.fit.policy.csv, known.fit.policy.timezone)
        source = resolve()
        partition = partition_of(engine, source, known, into, stages)
        entry = partition.replaced
        if entry is not None and is_published(partition, entry, replace):
            # The same rows at the same place: only measure them again.
            with stages.stage("verify"):
                measurement = _verified(partition, engine.resolve(partition.place.name), entry)
            release = _release(partition, entry, measurement, partition.place.name, stages, None)
            notes = note_unchanged(engine, source, into, _fit_of(partition))
            return release.model_copy(update={"report": with_notes(release.report, notes)})
        return _publish(source, partition, into, stages, replace=replace)


def _publish(
    source: ResolvedSource, partition: Partition, into: Destination, stages: Stages, *, replace: Replace
) -> PartitionRelease:
    engine = partition.engine
    read = read_by(engine, source, partition.fit.policy)
    try:
        with (
            noting(engine, [source], into, _fit_of(partition)) as noted,
            target_for(engine, into, read, replace=replace) as target,
            _joined(partition, stages) as joined,
        ):
            entry, measurement, uncovered = _staged(partition, *joined, target, noted, stages)
            unknown = joined[0].unknown
    except BaseException:
        # It may have been published nevertheless. What cannot be settled now stays pending for the next run.
        with suppress(EngineError):
            partition.sidecar.settle_all()
        raise
    stages.finish()
    with stages.stage("count"):
        counted = partition.sidecar.settle(entry)
    if not counted:
        raise EngineError(f'"{target.name}" was removed while it was published; it is not counted', step="sidecar")
    release = _release(partition, entry, measurement, target.name, stages, unknown)
    notes = (*uncovered_notes(uncovered), *target.notes)
    return release.model_copy(update={"report": noted.reported(with_notes(release.report, notes))})


def _fit_of(partition: Partition) -> FitOfRelease:
    return FitOfRelease(partition.sidecar.path, partition.fit.sha256)


def _staged(
    partition: Partition, table: EncodedTable, increment: Increment, target: Target, noted: Noting, stages: Stages
) -> tuple[Entry, Measurement, int]:
    """Announce, write and prove the partition; it is published when the block of the target ends.

    Returns its entry, the measurement, and the number of rows in no class of the fit.
    """
    rows, uncovered = decided(partition, increment, table.unknown)
    entry = partition.sidecar.announce(
        partition.place,
        queries.kept_counts(increment),
        rows=rows,
        fingerprint=partition.fingerprint,
        replaces=partition.replaced,
    )
    with partition.engine.transaction():
        refuse_changed_taxonomies(partition.fit, with_present_taxonomies(partition.engine, partition.bound))
        with stages.stage("release"):
            written = _written(partition, table, increment, entry, target, noted)
        with stages.stage("verify"):
            measurement = _verified(partition, written, entry)
        stages.begin("publish")
    return entry, measurement, uncovered


@contextmanager
def _joined(partition: Partition, stages: Stages) -> Iterator[tuple[EncodedTable, Increment]]:
    engine, fit = partition.engine, partition.fit
    with engine.scratch():
        with engine.transaction():
            refuse_changed_taxonomies(fit, with_present_taxonomies(engine, partition.bound))
            with stages.stage("encode"):
                table = encode_table(engine, partition.bound, label_losses=())
                refuse_empty(engine, table)
            with stages.stage("join"):
                published = partition.sidecar.counts([entry.number for entry in partition.others])
                increment = increment_of(engine, table.encoding, fit, published)
                steps = join(increment)
                classes = queries.kept_classes(increment, every_partition=fit.every_partition)
                steps += [Step(KEPT_CLASSES, classes, "kept classes"), queries.published_cells(increment)]
                for step in steps:
                    # The partition's shares give way to those of the reference.
                    engine.drop(step.makes)
                    engine.run(step)
        yield table, increment


def _written(
    partition: Partition, table: EncodedTable, increment: Increment, entry: Entry, target: Target, noted: Noting
) -> ResolvedSource:
    engine, rows = partition.engine, entry.row_counts
    attained = attained_measures(engine, increment.classes(PUBLISHED_CELLS))
    part = PartitionRecord(
        release=entry.release,
        partitions=len(partition.others) + 1,
        every_partition=partition.fit.every_partition,
        rows=RowsRecord(**partition.union(rows).model_dump()),
    )
    labels = labels_of(engine, partition.fit, increment)
    publishing.group_rows(engine, table, increment.recoding, masked=False, is_examined=False)
    query = publishing.released_rows(engine, table.encoding, target.takes_enums)
    written = target.write(query, streamed=True)
    record = release_record(partition.fit.policy, table.bound.taxonomy_hashes, labels, attained, rows, fit=part)
    promise = promise_of(partition.fit.policy, _promised(partition, entry))
    record = record.model_copy(update={"promise": promise})
    content = target.add_record(record)
    noted.note(target, record, content)
    return written


def _promised(partition: Partition, entry: Entry) -> Guarantee:
    replaced = any(known.replaces is not None for known in (*partition.others, entry))
    together = guarantee_of_partitions(partition.fit, len(partition.others) + 1, replaced=replaced)
    return with_coding(together, partition.fit.policy)


def _verified(partition: Partition, written: ResolvedSource, entry: Entry) -> Measurement:
    engine, policy, sidecar = partition.engine, partition.fit.policy, partition.sidecar
    others = sidecar.counts([other.number for other in partition.others])
    union = ResolvedSource(
        queries.with_rows(written.relation, others), f"{written.description} with what was published"
    )
    compared = any(model.compares_with_source for model in policy.privacy)
    beside = Beside(source=queries.as_rows(REFERENCE) if compared else None)
    verification = verify(engine, union, policy, beside)
    shortfalls = list(verification.shortfalls)
    if partition.fit.every_partition:
        alone = verify(engine, written, policy, beside)
        shortfalls += [f"on its own, {shortfall}" for shortfall in alone.shortfalls]
    own = sidecar.counts([entry.number]).this
    found = queries.SQL.query("counts_of_rows", rows=written.relation, columns=queries.counted_columns(policy))
    differences = engine.fetch(queries.SQL.query("count_differences", counts=found, others=own), "counts")[0]
    if differences["differences"]:
        shortfalls.append("its rows differ from the counted ones")
    if shortfalls:
        raise VerificationError(
            f"{written.description} does not meet its policy together with what was published; did a source or a "
            "release change?",
            shortfalls,
        )
    return verification.measurement


def _release(
    partition: Partition, entry: Entry, measurement: Measurement, into: str, stages: Stages, unknown: UnknownRows | None
) -> PartitionRelease:
    fit, rows, partitions = partition.fit, entry.row_counts, len(partition.others) + 1
    report = PartitionReport(
        source=partition.bound.description,
        into=into,
        release=entry.release,
        partitions=partitions,
        rows=rows,
        union=partition.union(rows),
        suppression_limit=fit.policy.suppression_limit,
        models=measurement.models,
        class_count=measurement.class_count,
        min_class_size=measurement.k or 0,
        seconds=dict(stages.seconds),
        unknown_rows={} if unknown is None else dict(unknown.by_column),
        notes=(NOTHING_WRITTEN,) if unknown is None else unknown_notes(fit.policy, unknown),
    )
    return PartitionRelease(into=into, node=fit.node, guarantee=_promised(partition, entry), report=report)


def decided(partition: Partition, increment: Increment, unknown: UnknownRows) -> tuple[RowCounts, int]:
    """Count the partition's rows that are published, and those in no class of the fit; refuse too few."""
    policy = partition.fit.policy
    found = partition.engine.fetch(queries.kept_rows(increment), "rows of kept classes")[0]
    known, released, classed = (int(found[name]) for name in ("new_rows", "kept_rows", "classed_rows"))
    source = known + unknown.suppressed
    if source != partition.rows:
        raise VerificationError(f"{partition.bound.description} has changed during the run; nothing was published")
    rows = RowCounts(source=source, released=released, masked=0, dropped=known - released, unknown=unknown.suppressed)
    union = partition.union(rows)
    allowed = policy.allowed_rows(union.source)
    left_out = union.source - union.released
    if left_out > allowed or released == 0:
        before = left_out - (source - released)
        suppressed = (
            f"with {before:,} of {union.source - source:,} rows suppressed before, that is "
            f"{left_out:,} of {union.source:,}, where {allowed:,} may be "
            f"(suppression_limit {100 * policy.suppression_limit:g} %)"
        )
        is_node = partition.fit.class_count is None
        better = "a fit of a more general node" if is_node else "a fit on more rows like these"
        problems = [
            f"{classed - released:,} of its {source:,} rows are in classes that fall short",
            *uncovered_notes(known - classed),
            *unknown_notes(policy, unknown),
            suppressed if left_out > allowed else "nothing would be left to publish",
            *_blocking(partition, increment),
            f"what can help: a partition of more rows, {better}, or a larger suppression_limit",
        ]
        raise UnsatisfiableError(f"{partition.bound.description} cannot be published with this fit:", problems)
    _refuse_what_falls_short(partition, increment)
    return rows, known - classed


def _blocking(partition: Partition, increment: Increment) -> list[str]:
    places = {"together with what was published": UNION_CELLS}
    if partition.fit.every_partition:
        places["on its own"] = NEW_CELLS
    lines = []
    for place, cells in places.items():
        blocked = partition.engine.fetch(queries.blocked_rows(increment, cells), "blocked rows")[0]
        lines += [
            f"{model}: {blocked[f'blocked_{index}']:,} of its rows are in classes that violate it {place}"
            for index, model in enumerate(partition.fit.policy.privacy)
            if blocked[f"blocked_{index}"]
        ]
    return lines


def _refuse_what_falls_short(partition: Partition, increment: Increment) -> None:
    """Refuse to replace rows that classes of other partitions need."""
    short = partition.engine.fetch(queries.left_short(increment), "classes left short")[0]
    if short["classes"]:
        raise UnsatisfiableError(
            f'"{partition.place.name}" cannot be replaced by {partition.bound.description}:',
            [
                f"{short['rows']:,} rows of other partitions, in {short['classes']:,} classes, would fall short "
                "without the rows that are there now; leave them there, and publish the others under a new name"
            ],
        )
