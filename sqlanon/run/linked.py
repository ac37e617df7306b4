"""A run over linked tables: bind, encode, search, write all tables, verify them together, and publish in one step."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlanon.binding.linked import BoundLinked, bound_linked
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import UnsatisfiableError, VerificationError
from sqlanon.methods.linked.choices import choose
from sqlanon.methods.linked.encoded import EncodedLinked, encode_linked
from sqlanon.methods.linked.node_counts import LinkedChoice, table_losses
from sqlanon.methods.linked.remarks import hidden_labels, intervals, persons_without_rows
from sqlanon.methods.linked.shown_rows import draw_keys, drop_cells, released_counts, written_rows
from sqlanon.methods.stages import Progress, Stages, Stopped, never, proven_gap
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.names import enumerated, in_quotes
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.record import BoundRecord, LinkedRowsRecord, LinkedTableRecord, Record, ReportRecord
from sqlanon.model.release.linked import LinkedMeasurement
from sqlanon.model.release.linked_report import LinkedRelease, LinkedReport, LinkedRowCounts, levels_by_table
from sqlanon.model.release.measurement import with_notes
from sqlanon.publish.linked_targets import LinkedTarget, holder_of, linked_target
from sqlanon.publish.provenance import linked_release_record, promise_of
from sqlanon.release.linked_guarantee import linked_guarantee
from sqlanon.releases.listing import latest
from sqlanon.releases.noting import Noting, noting
from sqlanon.releases.release_table import target_name
from sqlanon.run.others import MAX_OTHERS
from sqlanon.verification.linked import MAX_KNOWN_ROWS, measure_linked, models_of_linked, shortfalls_of_linked

WITHDRAWN = "the written tables do not meet their policy and were withdrawn:"


# More than six parameters: sources, policy and target of a run, and its options.
def anonymize_linked(
    engine: Engine,
    sources: Mapping[str, ResolvedSource],
    policy: LinkedPolicy,
    into: str | Path,
    *,
    replace: Replace,
    progress: Progress,
    stopped: Stopped | None = None,
    max_loss: float | None = None,
    is_listed: bool = True,
) -> LinkedRelease:
    """Publish linked tables together, all of them or none.

    Errors are those of :meth:`sqlanon.Session.anonymize`; after any of them, the target is as it was before.
    """
    stages = Stages(progress)
    holder = holder_of(engine, into, policy.root)
    with stages.watching(engine), bound_linked(engine, sources, policy) as bound:
        with (
            noting(engine, [*sources.values()], holder, is_listed=is_listed) as noted,
            linked_target(engine, into, bound.policy.ordered, sources, replace=replace) as target,
        ):
            release = carry_out(engine, bound, target, noted, stages, stopped or never, max_loss)
        stages.finish()
    return release.model_copy(update={"report": noted.reported(release.report)})


# More than six parameters: the run, its target, and its end.
def carry_out(
    engine: Engine,
    bound: BoundLinked,
    target: LinkedTarget,
    noted: Noting,
    stages: Stages,
    stopped: Stopped,
    max_loss: float | None,
) -> LinkedRelease:
    """Run all stages; the last one, publication, ends when the target is closed.

    The tables were read before, so that only what is written needs the transaction: within one, the memory of a dropped
    table isn't freed.
    """
    with engine.scratch():
        with stages.stage("encode"):
            encoded = encode_linked(engine, bound)
        choice, show = choose(engine, encoded, stages, stopped)
        refuse_useless(choice, max_loss)
        stages.begin("release")
        show()
        draw_keys(engine, encoded)
        drop_cells(engine, encoded)
        rows = {name: row_counts(engine, encoded, name) for name in encoded.tables}
        with engine.transaction():
            written = {name: target.write(name, written_rows(encoded, name)) for name in encoded.tables}
            stages.finish()
            return verified(engine, encoded, choice, rows, written, target, noted, stages)


# More than six parameters: what was chosen and written.
def verified(
    engine: Engine,
    encoded: EncodedLinked,
    choice: LinkedChoice,
    rows: Mapping[str, LinkedRowCounts],
    written: Mapping[str, ResolvedSource],
    target: LinkedTarget,
    noted: Noting,
    stages: Stages,
) -> LinkedRelease:
    """Measure the written tables by their joins, and add the record of the release."""
    policy = encoded.policy
    with stages.stage("verify"):
        measured = measure_linked(engine, written, policy, upto=known_rows_to_measure(policy, rows))
        if shortfalls := [*shortfalls_of_linked(measured, policy), *other_counts(measured, rows)]:
            raise VerificationError(WITHDRAWN, shortfalls)
    report = report_of(engine, encoded, choice, rows, measured, target, stages)
    promise, record = linked_guarantee(policy), record_of(encoded, report)
    report = with_notes(report, others_in_words(engine, noted, target.holder.into))  # not for recipients
    noted.note(target.holder, record, target.add_record(record))
    stages.begin("publish")
    return LinkedRelease(into=target.name, tables=target.places, node=report.node, guarantee=promise, report=report)


def others_in_words(engine: Engine, noted: Noting, own: Destination) -> tuple[str, ...]:
    """Note the releases of the same tables that the warehouse lists; they are not compared."""
    name = target_name(engine, own, None) if own.kind != "table" else own.name
    found, left = latest(engine, noted.datasets, MAX_OTHERS, lambda row: row.target != name)
    if not found:
        return ()
    names = enumerated(in_quotes(each.target) for each in found)
    more = f" and {left:,} more targets" if left else ""
    return (
        f"other releases of these tables are listed: {names}{more}; classes of several releases can be intersected",
    )


MAX_PAIRED_ROWS = 2_000_000
"""Rows up to which a run measures what two known rows leave, though it does not promise it.

Over 4.8 million rows that takes as long as the search, and 2 GB (tests.benchmarks.linked).
"""


def known_rows_to_measure(policy: LinkedPolicy, rows: Mapping[str, LinkedRowCounts]) -> int:
    """Return the greatest number of known rows to measure: one more than is promised, if rows are not too many."""
    promised = 0 if policy.known_rows is None else policy.known_rows.m
    are_few = sum(counts.released for counts in rows.values()) <= MAX_PAIRED_ROWS
    return MAX_KNOWN_ROWS if are_few else max(promised, 1)


def refuse_useless(choice: LinkedChoice, max_loss: float | None) -> None:
    """Refuse a release that loses more than ``max_loss``."""
    if max_loss is not None and choice.loss > max_loss:
        raise UnsatisfiableError(
            f"the release would lose {choice.loss:.4g}, where max_loss is {max_loss:g}; nothing is published:",
            ["what can help: fewer quasi-identifiers, more levels in between, a smaller k, or larger limits"],
        )


def row_counts(engine: Engine, encoded: EncodedLinked, name: str) -> LinkedRowCounts:
    counts = encoded.bound.tables[name].counts
    found = released_counts(engine, encoded, name)
    return LinkedRowCounts(source=counts.rows, orphans=counts.orphans, cut=counts.cut, **found)


def other_counts(measured: LinkedMeasurement, rows: Mapping[str, LinkedRowCounts]) -> Iterator[str]:
    """Compare the numbers of written rows with those that were to be released."""
    for name, counts in rows.items():
        if measured.rows[name] != counts.released:
            yield f'"{name}" has {measured.rows[name]:,} rows where {counts.released:,} were to be released'


# More than six parameters: the figures of a run.
def report_of(
    engine: Engine,
    encoded: EncodedLinked,
    choice: LinkedChoice,
    rows: Mapping[str, LinkedRowCounts],
    measured: LinkedMeasurement,
    target: LinkedTarget,
    stages: Stages,
) -> LinkedReport:
    bound, lattice, outcome = encoded.bound, encoded.context.lattice, choice.outcome
    return LinkedReport(
        sources={name: table.description for name, table in bound.tables.items()},
        into=target.name,
        method=bound.policy.method,
        models=models_of_linked(measured, bound.policy),
        known_rows=None if bound.policy.known_rows is None else bound.policy.known_rows.m,
        persons_without_rows=persons_without_rows(engine, encoded),
        tables=dict(rows),
        node=lattice.named(choice.counts.levels),
        heights=lattice.named(lattice.heights),
        rungs={
            name: tuple(dict(zip(bound.tables[name].own, levels, strict=True)) for levels in rungs)
            for name, rungs in choice.rungs.items()
        },
        limits={name: bound.policy.limit(name) for name in bound.tables},
        loss=choice.loss,
        losses=table_losses(encoded, choice.counts),
        lattice_nodes=lattice.size,
        checked_nodes=outcome.checked_nodes,
        proven_optimal=outcome.proven_optimal,
        lower_bound=outcome.lower_bound,
        gap=proven_gap(outcome.loss, outcome.lower_bound),
        measured=measured,
        hidden=hidden_labels(engine, encoded, choice),
        intervals=intervals(engine, encoded),
        domains={name: domain for table in bound.tables.values() for name, domain in table.path.domains.items()},
        notes=tuple(note for table in bound.tables.values() for note in table.path.label_notes) + tuple(target.notes),
        seconds=dict(stages.seconds),
    )


def record_of(encoded: EncodedLinked, report: LinkedReport) -> Record:
    """Return the record that travels with the tables: it has no cap, which would reveal what was cut."""
    policy = encoded.policy
    levels = {} if report.rungs else levels_by_table(report.node, policy.tables)
    tables = {
        name: LinkedTableRecord(
            parent=roles.parent,
            key=roles.key,
            row_key=policy.row_key(name),
            rows=LinkedRowsRecord(**report.tables[name].model_dump()),
            node=levels.get(name),
        )
        for name, roles in ((name, policy.tables[name]) for name in policy.ordered)
    }
    hashes = dict(ChainMap(*(table.path.taxonomy_hashes for table in encoded.bound.tables.values())))
    promise, bounds = promise_of(policy, linked_guarantee(policy)), attained_persons(policy, report.measured)
    shown = ReportRecord(**report.public().model_dump(mode="json"))
    return linked_release_record(policy, hashes, tables, promise=promise, privacy=bounds, report=shown)


def attained_persons(policy: LinkedPolicy, measured: LinkedMeasurement) -> list[BoundRecord]:
    """Return how many persons what is promised to be known leaves at least."""
    known = policy.known_rows
    if known is None:
        found = [measured.trees.k if measured.trees else None]
    else:
        found = [each.k for number, each in measured.known.items() if number <= known.m]
    attained = min((k for k in found if k is not None), default=None)
    models = (model for model in policy.privacy if isinstance(model, KnownRows | KAnonymity))
    return [BoundRecord(model=str(model), measure="persons", required=model.k, attained=attained) for model in models]
