"""Exercise: a method that publishes at a cut, which is no node of the lattice: its settings, its run, and one line.

Each quasi-identifier becomes labels of several levels: fine ones where the policy can afford them, and coarse ones
elsewhere. The policy names them, so that which labels there are reveals nothing of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import sqlanon as sa
from sqlanon.methods.base import Run
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.publishing import (
    Publication,
    attained_at,
    group_rows,
    keep_classes,
    make_cuts,
    released_sizes,
)
from sqlanon.methods.shared.reports import report_of_classes
from sqlanon.model.base import Level, Share
from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.release import Report, RowCounts
from sqlanon.queries.recodings import AtCut

Labels = tuple[tuple[Level, str], ...]
"""Levels and labels of which every value has one, and only one."""


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


class PublicCutRun(Run):
    """Generalization to the labels that the policy names."""

    def encode(self) -> None:
        method: Any = self.bound.policy.method
        self.cut: dict[str, Labels] = {name: method.cut[name] for name in self.bound.policy.quasi_identifiers}
        self.table = encode_table(self.engine, self.bound, label_losses=(), may_be_empty=self.request.is_dry_run)

    def make(self) -> Publication:
        engine, table, self.encoding = self.engine, self.table, self.table.encoding
        recoding = AtCut(self.encoding, (*self.cut.values(),))
        make_cuts(engine, recoding)
        keep_classes(engine, recoding)
        self.attained = attained_at(engine, recoding)
        publication = group_rows(engine, table, recoding, masked=False)
        self.row_count = released_sizes(engine)[0]
        source, dropped = table.context.row_count, table.context.row_count - self.row_count
        self.rows = RowCounts(source=source, released=self.row_count, masked=0, dropped=dropped)
        if not self.request.is_dry_run and (self.row_count == 0 or dropped > table.context.allowed_rows):
            problem = f"{dropped:,} of {source:,} rows are in classes that fall short"
            raise sa.UnsatisfiableError("the labels of the policy do not meet it:", [problem])
        return publication

    def labels_record(self, report: Report) -> CutRecord:
        return CutRecord(labels=self.cut)

    def report(self, into: str, seconds: Mapping[str, float]) -> CutReport:
        """The numbers of the run, of which the loss is the share of the rows that are dropped."""
        lost = self.rows.dropped / max(self.rows.source, 1)
        facts = {"rows": self.rows, "suppressed_rows": self.rows.dropped, "cut": self.cut, "search": "given"}
        loss = {"quality": "dropped", "loss": lost, "losses": {"dropped": lost}}
        return report_of_classes(CutReport, self.bound, self.measured, into, seconds, **facts, **loss)


REGISTRATION = {"kind": PublicCut, "method": f"{__name__}:{PublicCutRun.__name__}"}
"""The arguments of `sa.register`: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
