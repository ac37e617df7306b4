"""Base of syntactic methods: published classes meet privacy models, and are measured and verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import ChoiceT, Measured, Publication, Run, TableT
from sqlanon.model.labels import LabelsRecord, NodeRecord
from sqlanon.model.record import Inputs, Record, ReportRecord
from sqlanon.model.release import Guarantee, Report, RowCounts
from sqlanon.nodes.table import EncodedTable, refuse_empty
from sqlanon.publish.provenance import release_record
from sqlanon.queries.kit.nodes import subquery
from sqlanon.queries.published_rows import with_individuals
from sqlanon.queries.recodings import Recoding
from sqlanon.release.guarantee import guarantee
from sqlanon.verification.measure import Beside, measured_beside
from sqlanon.verification.verify import shortfalls_of, verify


@dataclass(frozen=True, kw_only=True)
class SyntacticPublication(Publication):
    rows: RowCounts  # what became of the source rows
    attained: Sequence[float]  # by bound of the policy, the attained value
    notes: tuple[str, ...] = ()  # of the report, one sentence each


ClassesT = TypeVar("ClassesT", bound=SyntacticPublication)


class SyntacticRun(Run[TableT, TableT, ChoiceT, ClassesT], Generic[TableT, ChoiceT, ClassesT]):
    def refuse_rows(self, table: TableT) -> None:
        if isinstance(table, EncodedTable):
            refuse_empty(self.engine, table)

    def charge(self, table: TableT) -> TableT:
        return table

    def verify(self, made: ClassesT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> Measured:
        found = verify(self.engine, written, made.bound.policy, self.reference(made))
        comparison = self.compare(made, written, companions)
        shortfalls = shortfalls_of(found, made.rows.released, comparison.differences)
        return Measured(shortfalls, found.measurement, comparison.joint)

    def reference(self, made: ClassesT) -> Beside:
        """Return the policy, taxonomy and rows to measure the release with."""
        bound = made.bound
        return measured_beside(bound.policy, bound.taxonomy, {}, bound.source, bound.columns, None)

    def beside_individuals(self, found: Beside, recoding: Recoding, *, masked: bool) -> Beside:
        if self.bound.policy.individual is None:
            return found
        rows = with_individuals(recoding, masked=masked)
        return replace(found, with_individuals=subquery(rows, "anon_individuals"))

    def record(self, made: ClassesT, measured: Measured, report: Report, inputs: Inputs | None) -> Record:
        assert report.rows is not None
        models = measured.measurement.models
        return release_record(
            made.bound.policy,
            made.bound.taxonomy_hashes,
            self.labels_record(made, report),
            # Attained values of joint classes include the release's own and are for the custodian.
            [each.attained for each in models] if self.request.earlier else made.attained,
            report.rows,
            report=ReportRecord(**report.model_dump(mode="json", exclude=set(self.custodian_fields))),
            made_from=inputs,
        )

    def labels_record(self, made: ClassesT, report: Report) -> LabelsRecord | None:
        return NodeRecord(levels=report.node)

    def guarantee(self, made: ClassesT, report: Report) -> Guarantee:
        return guarantee(made.bound.policy, report)
