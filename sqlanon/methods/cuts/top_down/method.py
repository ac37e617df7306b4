"""Top-down specialization: a cut is searched for from the top down, and all rows are at it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Run, TakesEnums
from sqlanon.methods.cuts.shared import labels
from sqlanon.methods.cuts.shared.labels import recorded_cut
from sqlanon.methods.cuts.top_down.encode import checked, encode, settings_of, smallest_joint_class
from sqlanon.methods.cuts.top_down.guarantee import guarantee
from sqlanon.methods.cuts.top_down.loss import mean_loss
from sqlanon.methods.cuts.top_down.rows import equal_rows
from sqlanon.methods.cuts.top_down.specialize import ROWS, Chosen, CountedParts, dry_run, specialized
from sqlanon.methods.shared.cut_classes import cut_classes
from sqlanon.methods.shared.earlier import cells_beside, joint_shortfalls, keys_of
from sqlanon.methods.shared.publishing import Publication, row_mismatches
from sqlanon.methods.shared.reports import report_of_classes
from sqlanon.methods.shared.unknown import unknown_notes
from sqlanon.methods.stages import Stages
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.release import Guarantee, Report, RowCounts
from sqlanon.model.release.joint import JointClasses
from sqlanon.queries.release.earlier import persons_beside

STOPPED = "the search was stopped: more labels could have given way to their children"


class TopDownRun(Run):
    """Specialize labels as long as every class has k rows, and publish all rows at the labels that are left."""

    takes_far_rows = True
    instead_of_node = "it chooses labels of several levels"
    joint: JointClasses | None = None
    alone: Chosen | None = None
    loss_alone: float | None = None

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    def encode(self) -> None:
        earlier = cells_beside(self.engine, self.bound, self.request.earlier).earlier
        self.points, self.row_count, self.unknown = encode(
            self.engine, self.bound, earlier, may_be_empty=self.request.is_dry_run
        )

    def search(self, stages: Stages) -> None:
        axes, is_joint = self.points.axes, bool(self.request.earlier)
        with stages.stage("search"):
            if self.request.is_dry_run:
                self.chosen = dry_run(axes, CountedParts(self.engine, is_joint=is_joint))
                return
            k, smallest = settings_of(self.bound).k, self.row_count
            evidence = CountedParts(self.engine, is_joint=is_joint)
            if is_joint:
                smallest = smallest_joint_class(self.engine, self.bound)
            self.chosen = specialized(axes, smallest, k, evidence, self.stopped)
            if is_joint:
                self.engine.drop(ROWS)
                self.alone = specialized(axes, self.row_count, k, CountedParts(self.engine), self.stopped)

    def make(self) -> Publication:
        engine, bound = self.engine, self.bound
        if self.alone is not None:
            self._make_cut(self.alone)
            self.loss_alone = mean_loss(engine, self.points.axes, self.alone, self.row_count)
            for made in (labels.GIVEN, labels.CUT):
                engine.drop(made)
        self._make_cut(self.chosen)
        self.loss = mean_loss(engine, self.points.axes, self.chosen, self.row_count)
        engine.run(equal_rows(self.chosen.cut, bound.published_columns))
        self.cut, self.attained = recorded_cut(engine), [self.chosen.smallest]
        return Publication(bound, self.row_count, bound.policy.quasi_identifiers)

    def _make_cut(self, chosen: Chosen) -> None:
        self.engine.put(labels.GIVEN, labels.given_pieces(chosen.cut, self.points.ranges))
        self.engine.run(labels.SQL.step(labels.CUT, "labelled_cut"))

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return labels.released(self.bound.published_columns)

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        query = labels.unlike_what_was_made(self.bound.published_columns, written.relation)
        differences, earlier = row_mismatches(self.engine, query), self.request.earlier
        if earlier:
            present = cut_classes(self.engine, self.bound, self.cut, written.relation, len(earlier))
            keys = keys_of(self.bound, earlier[0].keys)
            persons = persons_beside(present, keys, as_text=earlier[0].as_text)
            found = joint_shortfalls(self.engine, earlier, self.bound, self.bound.cells, present, persons)
            self.joint, joint_differences = found
            differences += joint_differences
        return differences

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        """See :meth:`Run.report`.

        ``loss`` is LM, the mean over rows and predictors of (values under the label - 1) / (values - 1), where the
        values of a number are the steps of its range. It says how general labels are, not how well they predict.
        """
        bound, chosen, unknown = self.bound, self.chosen, self.unknown
        names = [axis.name for axis in self.points.axes]
        return report_of_classes(
            Report,
            bound,
            self.measured,
            into,
            seconds,
            heights=bound.lattice.named(bound.heights),
            quality="lm",
            loss=self.loss,
            losses={"lm": self.loss},
            rows=RowCounts(
                source=self.row_count + unknown.suppressed,
                released=self.measured.row_count,
                masked=0,
                dropped=0,
                unknown=unknown.suppressed,
            ),
            suppressed_rows=0,
            unknown_rows=dict(unknown.by_column),
            search=bound.policy.method.name,
            notes=(*(() if chosen.is_final else (STOPPED,)), *unknown_notes(bound.policy, unknown)),
            labels=dict(zip(names, chosen.cut.widths, strict=True)),
            specialized=tuple(names[each.piece.position] for each in chosen.specializations),
            joint=self.joint,
            loss_alone=self.loss_alone,
        )

    def labels_record(self, report: Report) -> LabelsRecord:
        return self.cut

    def guarantee(self, report: Report) -> Guarantee:
        return guarantee(self.bound, report)
