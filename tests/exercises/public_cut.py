"""Exercise: a method that publishes at a cut, which is no node of the lattice: its settings, its run, and one line.

Each quasi-identifier becomes labels of several levels: fine ones where the policy can afford them, and coarse ones
elsewhere. The policy names them, so that which labels there are reveals nothing of the data.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import sqlanon as sa
from sqlanon.methods.base import Measured
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun, report_of_classes
from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.policy_value import Level, Share
from sqlanon.model.release import Report, RowCounts
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.recodings import AtCut
from sqlanon.release.publishing import attained_at, group_rows, keep_classes, make_cuts, released_sizes

Labels = tuple[tuple[Level, str], ...]
"""Levels and labels, one of them for each value."""

Cut = dict[str, Labels]


class PublicCut(MethodSettings):
    """The labels that the policy names, of the rows whose classes meet the privacy models."""

    model: Literal["public-cut"] = "public-cut"
    cut: dict[str, Labels]
    suppression_limit: Share = 0.0

    def misfits(self, policy: sa.Policy) -> Iterable[str]:
        if self.cut.keys() != set(policy.quasi_identifiers):
            yield "method.cut must give every quasi-identifier its labels, and nothing else"
        if policy.population is not None:
            yield "a cut is compared with no population"
        if policy.individual is not None:
            yield "a cut is published of rows, not of individuals"


class CutReport(Report):
    """The numbers of a run, and the labels that it has published; no quasi-identifier is at one level."""

    cut: dict[str, Labels]


class PublicCutRun(SyntacticRun[EncodedTable, Cut, SyntacticPublication]):
    """Generalization to the labels that the policy names."""

    def encode(self) -> EncodedTable:
        return encode_table(self.engine, self.bound, label_losses=())

    def search(self, table: EncodedTable, stages: Stages) -> Cut:
        method: Any = self.bound.policy.method
        return {name: method.cut[name] for name in self.bound.policy.quasi_identifiers}

    def make(self, table: EncodedTable, choice: Cut) -> SyntacticPublication:
        engine, encoding = self.engine, table.encoding
        recoding = AtCut(encoding, (*choice.values(),))
        make_cuts(engine, recoding)
        keep_classes(engine, recoding)
        attained = attained_at(engine, recoding)
        groups = group_rows(engine, table, recoding, masked=False)
        source, released = table.context.row_count, released_sizes(engine)[0]
        dropped = source - released
        if source > 0 and (released == 0 or dropped > table.context.allowed_rows):
            problem = f"{dropped:,} of {source:,} rows are in classes that fall short"
            raise sa.UnsatisfiableError("the labels of the policy do not meet it:", [problem])
        rows = RowCounts(source=source, released=released, masked=0, dropped=dropped)
        return SyntacticPublication(bound=self.bound, encoding=encoding, groups=groups, rows=rows, attained=attained)

    def labels_record(self, made: SyntacticPublication, report: Report) -> CutRecord:
        assert isinstance(report, CutReport)
        return CutRecord(labels=report.cut)

    def report(
        self, made: SyntacticPublication, measured: Measured, into: str, seconds: Mapping[str, float]
    ) -> CutReport:
        """The numbers of the run, of which the loss is the share of the rows that are dropped."""
        method: Any = self.bound.policy.method
        lost = made.rows.dropped / max(made.rows.source, 1)
        facts = {"rows": made.rows, "suppressed_rows": made.rows.dropped, "cut": method.cut, "search": "given"}
        loss = {"quality": "dropped", "loss": lost, "losses": {"dropped": lost}}
        return report_of_classes(CutReport, made.bound, measured.measurement, into, seconds, **facts, **loss)


REGISTRATION = {"kind": PublicCut, "method": f"{__name__}:{PublicCutRun.__name__}"}
"""The arguments of `sa.register`: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
