"""Top-down specialization: a cut is searched for from the top down, and all rows are at it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Run, TakesEnums
from sqlanon.methods.cuts.shared import labels
from sqlanon.methods.cuts.shared.labels import recorded_cut
from sqlanon.methods.cuts.top_down import queries
from sqlanon.methods.cuts.top_down.encode import checked, encode
from sqlanon.methods.cuts.top_down.report import guarantee, report
from sqlanon.methods.cuts.top_down.specialize import CountedParts, dry_run, specialized
from sqlanon.methods.shared.publishing import Publication, row_mismatches
from sqlanon.methods.stages import Stages
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.release import Guarantee, Report


class TopDownRun(Run):
    """Specialize labels as long as every class has k rows, and publish all rows at the labels that are left."""

    instead_of_node = "it chooses labels of several levels"

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    def encode(self) -> None:
        self.points = encode(self.engine, self.bound, may_be_empty=self.request.is_dry_run)

    def search(self, stages: Stages) -> None:
        points, evidence = self.points, CountedParts(self.engine)
        with stages.stage("search"):
            if self.request.is_dry_run:
                self.chosen = dry_run(points.axes, evidence)
            else:
                self.chosen = specialized(points.axes, points.rows, points.settings.k, evidence, self.stopped)

    def make(self) -> Publication:
        engine, points, bound = self.engine, self.points, self.bound
        engine.put(labels.GIVEN, labels.given_pieces(self.chosen.cut, points.ranges))
        engine.run(labels.SQL.step(labels.CUT, "labelled_cut"))
        engine.run(queries.equal_rows(self.chosen.cut, bound.published_columns))
        self.cut = recorded_cut(engine)
        self.row_count, self.attained = points.rows, [self.chosen.smallest]
        return Publication(bound, points.rows, bound.policy.quasi_identifiers)

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return labels.released(self.bound.published_columns)

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        query = labels.unlike_what_was_made(self.bound.published_columns, written.relation)
        return row_mismatches(self.engine, query)

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        found = self.engine.fetch(queries.SQL.query("rows_of_pieces"), "rows of labels", "node")
        rows_of_pieces = {(int(row["position"]), int(row["first"])): int(row["rows"]) for row in found}
        return report(self.points, self.chosen, rows_of_pieces, self.measured, into, seconds)

    def labels_record(self, report: Report) -> LabelsRecord:
        return self.cut

    def guarantee(self, report: Report) -> Guarantee:
        return guarantee(self.bound.policy, report)
