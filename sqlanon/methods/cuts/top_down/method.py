"""Top-down specialization: a cut is searched for from the top down, and all rows are at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Run, TakesEnums
from sqlanon.methods.cuts.shared import labels
from sqlanon.methods.cuts.shared.labels import recorded_cut
from sqlanon.methods.cuts.top_down.encode import checked, encode, settings_of
from sqlanon.methods.cuts.top_down.rows import equal_rows
from sqlanon.methods.cuts.top_down.specialize import SQL, CountedParts, dry_run, specialized
from sqlanon.methods.shared.guarantee import guarantee
from sqlanon.methods.shared.publishing import Publication, row_mismatches
from sqlanon.methods.shared.reports import report_of_classes
from sqlanon.methods.shared.unknown import unknown_notes
from sqlanon.methods.stages import Stages
from sqlanon.model.labels import LabelsRecord
from sqlanon.model.release import Guarantee, Report, RowCounts

STOPPED = "the search was stopped: more labels could have given way to their children"


class TopDownRun(Run):
    """Specialize labels as long as every class has k rows, and publish all rows at the labels that are left."""

    takes_far_rows = True
    instead_of_node = "it chooses labels of several levels"

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    def encode(self) -> None:
        self.points, self.row_count, self.unknown = encode(
            self.engine, self.bound, may_be_empty=self.request.is_dry_run
        )

    def search(self, stages: Stages) -> None:
        points, evidence = self.points, CountedParts(self.engine)
        with stages.stage("search"):
            if self.request.is_dry_run:
                self.chosen = dry_run(points.axes, evidence)
            else:
                k = settings_of(self.bound).k
                self.chosen = specialized(points.axes, self.row_count, k, evidence, self.stopped)

    def make(self) -> Publication:
        engine, points, bound = self.engine, self.points, self.bound
        engine.put(labels.GIVEN, labels.given_pieces(self.chosen.cut, points.ranges))
        engine.run(labels.SQL.step(labels.CUT, "labelled_cut"))
        engine.run(equal_rows(self.chosen.cut, bound.published_columns))
        self.cut, self.attained = recorded_cut(engine), [self.chosen.smallest]
        return Publication(bound, self.row_count, bound.policy.quasi_identifiers)

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return labels.released(self.bound.published_columns)

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        query = labels.unlike_what_was_made(self.bound.published_columns, written.relation)
        return row_mismatches(self.engine, query)

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        """See :meth:`Run.report`.

        ``loss`` is LM, the mean over rows and predictors of (values under the label - 1) / (values - 1), where the
        values of a number are the steps of its range. It says how general labels are, not how well they predict.
        """
        bound, chosen, unknown, loss = self.bound, self.chosen, self.unknown, self._lm()
        names = [axis.name for axis in self.points.axes]
        return report_of_classes(
            Report,
            bound,
            self.measured,
            into,
            seconds,
            heights=bound.lattice.named(bound.heights),
            quality="lm",
            loss=loss,
            losses={"lm": loss},
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
        )

    def _lm(self) -> float:
        found = self.engine.fetch(SQL.query("rows_of_pieces"), "rows of labels", "node")
        rows = {(int(row["position"]), int(row["first"])): int(row["rows"]) for row in found}
        axes = self.points.axes
        losses = [
            sum(
                rows.get((axis.position, piece.first), 0) * (piece.size - 1) / (axis.size - 1)
                for piece in self.chosen.cut.pieces[axis.position]
                if piece.size > 1
            )
            for axis in axes
        ]
        return sum(losses) / len(losses) / max(self.row_count, 1)

    def labels_record(self, report: Report) -> LabelsRecord:
        return self.cut

    def guarantee(self, report: Report) -> Guarantee:
        policy = self.bound.policy
        (target,) = policy.sensitive
        plain = guarantee(policy, report)
        return Guarantee(
            claims=(
                *plain.claims,
                f'every row of the source stands for one row of the release, whose labels and "{target}" are true of '
                "it",
            ),
            conditions=plain.conditions,
            not_covered=tuple(_not_covered(self.bound, target)),
        )


def _not_covered(bound: BoundPolicy, target: str) -> Iterator[str]:
    if numeric := settings_of(bound).numeric:
        columns = ", ".join(f'"{name}"' for name in numeric)
        yield (
            f"bounds of the intervals of {columns} come from the data: each that is not an end of the range is a value "
            "that some row has"
        )
    yield (
        f'labels were chosen because they predict "{target}", so that rows of a class have much the same value; values '
        "that all rows of a class share are disclosed"
    )
    yield "which labels there are depends on the data, and says something about it beyond the rows"
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
