"""A run over linked tables: bind, encode, search, write all tables, verify them together, and publish in one step."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.binding.linked import BoundLinked, bound_linked
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, VerificationError
from sqlanon.methods.linked.choices import choose
from sqlanon.methods.linked.encoded import EncodedLinked, encode_linked
from sqlanon.methods.linked.node_counts import LinkedChoice, table_losses
from sqlanon.methods.linked.remarks import hidden_labels, intervals, persons_without_rows
from sqlanon.methods.linked.written_rows import draw_keys, drop_shown, row_counts, written_rows
from sqlanon.methods.stages import Progress, Stages, Stopped, never, proven_gap
from sqlanon.model.destination import Replace
from sqlanon.model.labels import NodeRecord, RungsRecord
from sqlanon.model.names import enumerated, in_quotes
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.record import LinkedRecord, LinkedTableRecord, ReportRecord, RowsRecord
from sqlanon.model.release.linked import LinkedMeasurement
from sqlanon.model.release.linked_report import CUSTODIAN_FIELDS, LinkedRelease, LinkedReport, LinkedRowCounts
from sqlanon.model.release.measurement import with_notes
from sqlanon.publish.linked_targets import LinkedTarget, linked_destination, linked_target
from sqlanon.publish.provenance import attained_bounds, promise_of, record_by
from sqlanon.release.linked_guarantee import linked_guarantee
from sqlanon.releases.listing import latest
from sqlanon.releases.noting import Noting, noting
from sqlanon.releases.release_table import target_name
from sqlanon.run.others import MAX_OTHERS
from sqlanon.run.pipeline import refuse_useless
from sqlanon.verification.linked import MAX_KNOWN_ROWS, measure_linked, other_rows

WITHDRAWN = "the written tables do not meet their policy and were withdrawn:"

MAX_PAIRED_ROWS = 2_000_000
"""Rows up to which a run measures what two known rows leave, though it does not promise it.

Over 4.8 million rows that takes 6 seconds of CPU, and 2.3 GB; all other stages take 1.3 (tests.benchmarks.linked).
"""


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
    if replace == "changed":
        reason = "keys are drawn anew in each run; give replace=True"
        raise PolicyError(f'replace="changed" is not for several tables: {reason}')
    stages = Stages(progress)
    place = linked_destination(into)
    target = linked_target(engine, place, policy.ordered, sources, replace)
    with stages.watching(engine), bound_linked(engine, sources, policy) as bound:
        place_of_record = target.holder.into
        with noting(engine, [*sources.values()], place_of_record, is_listed=is_listed) as noted, target.opened():
            run = _Run(engine, bound, sources, place.name, target, noted, stages)
            release = run.release(stopped or never, max_loss)
        stages.finish()
    return release.model_copy(update={"report": noted.reported(release.report)})


@dataclass(frozen=True)
class _Run:
    engine: Engine
    bound: BoundLinked
    sources: Mapping[str, ResolvedSource]
    into: str
    target: LinkedTarget
    noted: Noting
    stages: Stages

    def release(self, stopped: Stopped, max_loss: float | None) -> LinkedRelease:
        """Run all stages; the last one, publication, ends when the target is closed.

        A schema needs a transaction for what is written. The memory of a table that is dropped within one isn't freed.
        """
        engine, stages = self.engine, self.stages
        with engine.scratch():
            with stages.stage("encode"):
                singled_out = intervals(engine, self.bound)
                encoded = encode_linked(engine, self.bound)
            choice, show = choose(engine, encoded, stages, stopped)
            stages.begin("release")
            for table in encoded.tables.values():
                engine.drop(table.encoding.cells)
            shown = show()
            draw_keys(engine, encoded, shown)
            rows = row_counts(engine, encoded, shown)
            facts: dict[str, Any] = {
                "hidden": hidden_labels(engine, encoded, choice, shown),
                "intervals": singled_out,
                "persons_without_rows": persons_without_rows(engine, encoded),
            }
            with self.target.transaction():
                written = {
                    name: self.target.write_table(name, written_rows(encoded, name, shown[name])) for name in shown
                }
                stages.finish()
                drop_shown(engine, shown)
                with stages.stage("verify"):
                    measured = self._verified(rows, written)
                facts |= {"tables": rows, "measured": measured, "models": measured.models}
                report = self._report(encoded, choice, facts)
                refuse_useless(report, max_loss)
                return self._recorded(report)

    def _verified(
        self, rows: Mapping[str, LinkedRowCounts], written: Mapping[str, ResolvedSource]
    ) -> LinkedMeasurement:
        """Measure the written tables by their joins, up to one known row more than promised if they are not large."""
        policy, released = self.bound.policy, sum(each.released for each in rows.values())
        promised = 0 if policy.known_rows is None else policy.known_rows.m
        upto = MAX_KNOWN_ROWS if released <= MAX_PAIRED_ROWS else max(promised, 1)
        measured = measure_linked(self.engine, written, policy, upto=upto, sources=self.sources)
        if shortfalls := [*measured.shortfalls, *other_rows(measured, rows)]:
            raise VerificationError(WITHDRAWN, shortfalls)
        return measured

    def _report(self, encoded: EncodedLinked, choice: LinkedChoice, facts: Mapping[str, Any]) -> LinkedReport:
        policy, tables = self.bound.policy, self.bound.tables
        lattice, outcome = encoded.context.lattice, choice.outcome
        return LinkedReport(
            source=enumerated(table.source.description for table in tables.values()),
            into=self.into,
            method=policy.method,
            node=lattice.named(choice.counts.levels),
            heights=lattice.named(lattice.heights),
            rungs={
                name: tuple(dict(zip(tables[name].own, levels, strict=True)) for levels in rungs)
                for name, rungs in choice.rungs.items()
            },
            limits={name: policy.limit(name) for name in tables},
            quality=policy.quality.model,
            loss=choice.loss,
            losses={**table_losses(encoded, choice.counts)},
            lattice_nodes=lattice.size,
            checked_nodes=outcome.checked_nodes,
            proven_optimal=outcome.proven_optimal,
            lower_bound=outcome.lower_bound,
            gap=proven_gap(outcome.loss, outcome.lower_bound),
            domains=dict(ChainMap(*(table.path.domains for table in tables.values()))),
            notes=tuple(note for table in tables.values() for note in table.path.label_notes),
            seconds=dict(self.stages.seconds),
            **facts,
        )

    def _recorded(self, report: LinkedReport) -> LinkedRelease:
        """Add the record of the release; what is for its custodian is not in it."""
        target, promise = self.target, linked_guarantee(self.bound.policy)
        rows = {name: RowsRecord(source=each.source, released=each.released) for name, each in report.tables.items()}
        record = record_by(
            self.bound.policy,
            taxonomy_sha256=dict(ChainMap(*(table.path.taxonomy_hashes for table in self.bound.tables.values()))),
            linked=LinkedRecord(tables={name: LinkedTableRecord(rows=each) for name, each in rows.items()}),
            promise=promise_of(self.bound.policy, promise),
            labels=RungsRecord(levels=report.levels) if report.rungs else NodeRecord(levels=report.node),
            privacy=attained_bounds(self.bound.policy, [each.attained for each in report.models]),
            report=ReportRecord(**report.model_dump(mode="json", exclude=set(CUSTODIAN_FIELDS))),
        )
        report = with_notes(report, self._others_in_words())
        self.noted.note(target.holder, record, target.add_record(record))
        self.stages.begin("publish")
        tables = {name: target.place_of(name) for name in report.tables}
        return LinkedRelease(into=self.into, tables=tables, node=report.node, guarantee=promise, report=report)

    def _others_in_words(self) -> tuple[str, ...]:
        """Note the releases of the same tables that the warehouse lists; they are not compared."""
        own = self.noted.into
        name = target_name(self.engine, own, None) if own.kind != "table" else own.name
        found, left = latest(self.engine, self.noted.datasets, MAX_OTHERS, lambda row: row.target != name)
        names = enumerated(in_quotes(each.target) for each in found)
        more = f" and {left:,} more targets" if left else ""
        others = f"other releases of these tables are listed: {names}{more}"
        return (f"{others}; classes of several releases can be intersected",) if found else ()
