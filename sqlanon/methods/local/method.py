"""Local recoding: cells are peeled off from fine to coarse, and each class is published at levels of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from sqlanon.binding.bound import BoundPolicy, refuse_wide
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Run
from sqlanon.methods.local.bound import lower_bound
from sqlanon.methods.local.classes import (
    LocalClasses,
    LocalReleasedClasses,
    covering_classes_of,
    found_classes,
    without_numbers,
)
from sqlanon.methods.local.peeling import Watch
from sqlanon.methods.local.recoding import PerClass, make_aggregates, make_classes, recorded_classes
from sqlanon.methods.local.report import PRIVATE, LocalReport, guarantee, run_notes
from sqlanon.methods.local.table import LocalTable, judges_no_classes, settings_of
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.earlier import cells_beside, joint_shortfalls
from sqlanon.methods.shared.reports import report_of_classes, row_counts
from sqlanon.methods.shared.unknown import refuse_too_many
from sqlanon.methods.stages import Stages
from sqlanon.model.events import proven_gap
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.names import folded
from sqlanon.model.release import Guarantee, Report
from sqlanon.model.release.joint import JointClasses
from sqlanon.queries.joint_persons import persons_of_rows
from sqlanon.queries.kit.nodes import subquery
from sqlanon.queries.published_rows import KEPT_CLASSES, with_individuals
from sqlanon.verification.labels import unlisted_classes
from sqlanon.verification.measure import Beside

MAX_NODES = 10**6
"""The most nodes that are looked at: all are put in order, and each takes some ten microseconds at least."""

BOUNDED_WORK = 1e8
"""The most cells times nodes for which the least loss is bounded unless a policy says so: it takes a second.

Of ARX's Adult (2.5e8) it takes 3 CPU seconds, and the rest of the run 5 (tests.benchmarks.local).
"""


class LocalRun(Run):
    """Peel classes off the cells, and publish every row at the labels of its class."""

    takes_far_rows = True
    instead_of_node = "each class has levels of its own"
    is_repeatable = True
    report_class = LocalReport
    custodian_fields = PRIVATE
    joint: JointClasses | None = None
    loss_alone: float | None = None

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        """Refuse wide lattices, models of one node, and aggregates of texts or in columns that are there already."""
        method = settings_of(bound.policy)
        refuse_wide(bound.lattice, str(method), most=MAX_NODES)
        if others := judges_no_classes(bound.policy.criteria.bounds):
            measures = ", ".join(other.measure.name for other in others)
            raise PolicyError(f"{method} judges classes by their rows and values alone, not by {measures}")
        if problems := [*_misfits(bound, method)]:
            raise PolicyError(f"{method} cannot publish these aggregates:", problems)
        return bound

    @property
    def settings(self) -> LocalRecoding:
        """The settings of the method."""
        return settings_of(self.bound.policy)

    def encode(self) -> None:
        is_dry_run = self.request.is_dry_run
        spec = cells_beside(self.engine, self.bound, self.request.earlier)
        self.counted = encode_table(self.engine, self.bound, spec, label_losses=(), may_be_empty=is_dry_run)
        table = without_numbers(self.counted)
        self.encoding = replace(table.encoding, beside=self.settings.aggregates)
        self.table = replace(table, encoding=self.encoding)
        if not is_dry_run:
            refuse_too_many(self.engine, self.bound, self.table.unknown, self.table.context.row_count)

    def search(self, stages: Stages) -> None:
        with stages.stage("search"):
            if self.request.earlier:
                with self.engine.scratch():
                    alone = found_classes(self.engine, self.counted.alone(), Watch(stopped=self.stopped))
                self.loss_alone = alone.loss
            self.classes = self._found(Watch(partial(stages.peeled, self.bound.lattice.size), self.stopped))
            self.lower_bound = self._least_loss()

    def _found(self, watch: Watch) -> LocalClasses:
        return found_classes(self.engine, self.counted, watch)

    def _least_loss(self) -> float | None:
        """What any recoding loses at least; None if it is not wanted, or not known within seconds."""
        wanted = self.settings.lower_bound
        if self.request.earlier:
            return None
        is_quick = self.classes.is_final and self.counted.cell_count * self.bound.lattice.size <= BOUNDED_WORK
        if not (is_quick if wanted is None else wanted):
            return None
        return lower_bound(LocalTable.of(self.engine, self.counted))

    def make(self) -> publishing.Publication:
        engine, recoding, left_out = self.engine, self._recoding, self.classes.left_out
        self.masked = make_classes(engine, recoding, left_out, masks=self.bound.policy.suppression == "mask")
        make_aggregates(engine, recoding, self.settings)
        self.classes_record = recorded_classes(engine, recoding, left_out if self.masked else 0)
        self.attained = publishing.attained_at(engine, recoding)
        self.rows = row_counts(self.table, left_out, masked=self.masked)
        self.row_count = self.rows.released
        return publishing.make_rows(engine, self.table, recoding, self.request.pseudonym_key, masked=False)

    @property
    def _recoding(self) -> PerClass:
        return PerClass(self.encoding, self.counted.encoding.spec.earlier)

    def compared(self) -> Beside:
        found = super().compared()
        if self.bound.policy.individual is None:
            return found
        rows = with_individuals(self._recoding, KEPT_CLASSES, masked=False)
        return replace(found, with_individuals=subquery(rows, "anon_individuals"))

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        differences = [*unlisted_classes(self.engine, written.relation, self.classes_record)]
        if not (earlier := self.request.earlier):
            return differences
        present = LocalReleasedClasses.of(self._recoding, written.relation, len(earlier))
        encoding = self.counted.encoding
        persons = persons_of_rows(present, encoding)
        self.joint, of_joint = joint_shortfalls(self.engine, earlier, self.bound, encoding.spec, present, persons)
        return [*differences, *of_joint]

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        bound, classes, lattice = self.bound, self.classes, self.table.context.lattice
        names, quality = bound.policy.quasi_identifiers, bound.policy.quality.measure
        found = report_of_classes(
            LocalReport,
            bound,
            self.measured,
            into,
            seconds,
            heights=lattice.named(lattice.heights),
            labels=dict(zip(names, classes.label_counts, strict=True)),
            quality=quality,
            loss=classes.loss,
            losses={quality: classes.loss},
            rows=self.rows,
            suppressed_rows=classes.left_out,
            unknown_rows=dict(self.table.unknown.by_column),
            search=self.settings.name,
            lattice_nodes=lattice.size,
            checked_nodes=classes.checked_nodes,
            proven_optimal=False,
            lower_bound=self.lower_bound,
            gap=proven_gap(classes.loss, self.lower_bound),
            notes=tuple(run_notes(self.table, classes)),
            after=self.measured.exposure,
            level_shares=dict(zip(names, map(tuple, classes.level_shares), strict=True)),
            used_nodes=classes.used_nodes,
            minimality_rows=classes.minimality.rows or None,
            minimality_cell_rows=classes.minimality.finest_rows or None,
        )
        if self.joint is None:
            return found
        return found.model_copy(update={"joint": self.joint, "loss_alone": self.loss_alone})

    def labels_record(self, report: Report) -> LabelsRecord:
        return self.classes_record

    def guarantee(self, report: Report) -> Guarantee:
        assert isinstance(report, LocalReport)
        return guarantee(self.bound.policy, report)


class LocalFitRun(LocalRun):
    """A run for partitions, whose classes hold for rows that are still to come."""

    def _found(self, watch: Watch) -> LocalClasses:
        return covering_classes_of(self.engine, self.counted, watch)


def _misfits(bound: BoundPolicy, settings: LocalRecoding) -> Iterator[str]:
    """Aggregates of columns that are not of numbers, and those whose columns the source has already."""
    types = {found.name: found for found in bound.columns}
    there = {*map(folded, types)}
    for name, columns in settings.aggregates.items():
        if not types[name].traits.is_number:
            yield f'"{name}" is of type {types[name].type}, not of numbers'
        for added in columns:
            if folded(added) in there:
                yield f'the source has a column "{added}" already: rename it in a view'
