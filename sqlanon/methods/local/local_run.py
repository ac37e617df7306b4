"""Local recoding: cells are peeled off from fine to coarse, and each class is published at levels of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sqlanon.binding.bound import BoundPolicy, refuse_wide
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.joint.beside import cells_beside, joint_shortfalls
from sqlanon.methods.base import Comparison, Measured
from sqlanon.methods.local.class_labels import PerClass, make_aggregates, make_classes, recorded_classes
from sqlanon.methods.local.least_loss import lower_bound
from sqlanon.methods.local.local_classes import (
    LocalClasses,
    LocalReleasedClasses,
    covering_classes_of,
    found_classes,
    without_numbers,
)
from sqlanon.methods.local.local_report import PRIVATE, LocalReport, guarantee, run_notes
from sqlanon.methods.local.local_table import LocalTable, judges_no_classes, settings_of
from sqlanon.methods.local.peeling import Watch
from sqlanon.methods.run_reports import joint_facts, report_of_classes, row_counts
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun
from sqlanon.model.events import proven_gap
from sqlanon.model.labels import ClassesRecord
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.names import folded
from sqlanon.model.release import Guarantee, Report
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.nodes.unknown import refuse_too_many
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.joint_persons import persons_of_rows
from sqlanon.queries.kit.nodes import subquery
from sqlanon.queries.published_rows import KEPT_CLASSES, with_individuals
from sqlanon.release import publishing
from sqlanon.verification.label_checks import unlisted_classes
from sqlanon.verification.measure import Beside

MAX_NODES = 10**6
"""The most nodes that are looked at: all are put in order, and each takes some ten microseconds at least."""

BOUNDED_WORK = 1e8
"""The most cells times nodes for which the least loss is bounded unless a policy says so: it takes a second.

Of ARX's Adult (2.5e8) it takes 3 CPU seconds, and the rest of the run 5 (tests.benchmarks.local).
"""


@dataclass(frozen=True)
class LocalChoice:
    """Classes of the cells, and what is known of others."""

    classes: LocalClasses
    lower_bound: float | None  # of the loss of any recoding
    loss_alone: float | None  # without the earlier releases


@dataclass(frozen=True, kw_only=True)
class LocalPublication(SyntacticPublication):
    """Rows at the labels of their classes."""

    numbered: Encoding  # with the numbers of persons of earlier releases
    table: EncodedTable  # without them
    recoding: PerClass
    choice: LocalChoice
    class_list: ClassesRecord


class LocalRun(SyntacticRun[EncodedTable, LocalChoice, LocalPublication]):
    """Peel classes off the cells, and publish every row at the labels of its class."""

    takes_far_rows = True
    instead_of_node = "each class has levels of its own"
    is_repeatable = True
    report_class = LocalReport
    custodian_fields = PRIVATE

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

    def encode(self) -> EncodedTable:
        may_be_empty = self.request.is_dry_run
        spec = cells_beside(self.engine, self.bound, self.request.earlier)
        table = encode_table(self.engine, self.bound, spec, label_losses=(), may_be_empty=may_be_empty)
        refuse_too_many(self.engine, self.bound, table.unknown, table.context.row_count)
        return table

    def search(self, table: EncodedTable, stages: Stages) -> LocalChoice:
        loss_alone = None
        with stages.stage("search"):
            if self.request.earlier:
                with self.engine.scratch():
                    loss_alone = found_classes(self.engine, table.alone(), Watch(stopped=self.stopped)).loss
            classes = self.classes(table, Watch(partial(stages.peeled, self.bound.lattice.size), self.stopped))
            return LocalChoice(classes, self._least_loss(table, classes), loss_alone)

    def classes(self, table: EncodedTable, watch: Watch) -> LocalClasses:
        """Find the classes of the cells."""
        return found_classes(self.engine, table, watch)

    def _least_loss(self, table: EncodedTable, classes: LocalClasses) -> float | None:
        """Bound the loss of any recoding from below, if that is wanted, or else if it takes seconds."""
        wanted = self.settings.lower_bound
        if self.request.earlier:
            return None
        is_quick = classes.is_final and table.cell_count * self.bound.lattice.size <= BOUNDED_WORK
        if not (is_quick if wanted is None else wanted):
            return None
        return lower_bound(LocalTable(self.engine, table))

    def make(self, table: EncodedTable, choice: LocalChoice) -> LocalPublication:
        engine, left_out = self.engine, choice.classes.left_out
        numbered, table = table.encoding, without_numbers(table)
        encoding = replace(table.encoding, beside=self.settings.aggregates)
        table, recoding = replace(table, encoding=encoding), PerClass(encoding, numbered.spec.earlier)
        masked = make_classes(engine, recoding, left_out, masks=self.bound.policy.suppression == "mask")
        make_aggregates(engine, recoding, self.settings)
        class_list = recorded_classes(engine, recoding, left_out if masked else 0)
        attained = publishing.attained_at(engine, recoding)
        return LocalPublication(
            bound=self.bound,
            encoding=encoding,
            groups=publishing.make_rows(engine, table, recoding, self.request.pseudonym_key, masked=False),
            rows=row_counts(table, left_out, masked=masked),
            attained=attained,
            notes=tuple(run_notes(table, choice.classes)),
            numbered=numbered,
            table=table,
            recoding=recoding,
            choice=choice,
            class_list=class_list,
        )

    def reference(self, made: LocalPublication) -> Beside:
        found = super().reference(made)
        if made.bound.policy.individual is None:
            return found
        rows = with_individuals(made.recoding, KEPT_CLASSES, masked=False)
        return replace(found, with_individuals=subquery(rows, "anon_individuals"))

    def compare(
        self, made: LocalPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        differences = [*unlisted_classes(self.engine, written.relation, made.class_list)]
        if not (earlier := self.request.earlier):
            return Comparison(differences)
        present = LocalReleasedClasses.of(made.recoding, written.relation, len(earlier))
        persons = persons_of_rows(present, made.numbered)
        joint, of_joint = joint_shortfalls(self.engine, earlier, made.bound, made.numbered.spec, present, persons)
        return Comparison([*differences, *of_joint], joint)

    def report(self, made: LocalPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        bound, table, choice = made.bound, made.table, made.choice
        classes, lattice = choice.classes, table.context.lattice
        names, quality = bound.policy.quasi_identifiers, bound.policy.quality.measure
        return report_of_classes(
            LocalReport,
            bound,
            measured.measurement,
            into,
            seconds,
            heights=lattice.named(lattice.heights),
            labels=dict(zip(names, classes.label_counts, strict=True)),
            quality=quality,
            loss=classes.loss,
            losses={quality: classes.loss},
            rows=made.rows,
            suppressed_rows=classes.left_out,
            unknown_rows=dict(table.unknown.by_column),
            search=self.settings.name,
            lattice_nodes=lattice.size,
            checked_nodes=classes.checked_nodes,
            proven_optimal=False,
            lower_bound=choice.lower_bound,
            gap=proven_gap(classes.loss, choice.lower_bound),
            notes=made.notes,
            after=measured.measurement.exposure,
            level_shares=dict(zip(names, map(tuple, classes.level_shares), strict=True)),
            used_nodes=classes.used_nodes,
            minimality_rows=classes.minimality[0] or None,
            minimality_cell_rows=classes.minimality[1] or None,
            **joint_facts(measured, choice.loss_alone),
        )

    def labels_record(self, made: LocalPublication, report: Report) -> ClassesRecord:
        return made.class_list

    def guarantee(self, made: LocalPublication, report: Report) -> Guarantee:
        assert isinstance(report, LocalReport)
        return guarantee(made.bound.policy, report)


class LocalFitRun(LocalRun):
    """A run for partitions, whose classes hold for rows that are still to come."""

    def classes(self, table: EncodedTable, watch: Watch) -> LocalClasses:
        return covering_classes_of(self.engine, table, watch)


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
