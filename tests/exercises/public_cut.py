"""Exercise: a method that publishes at a cut, which is no node of the lattice. Its settings, its states, and one line.

Each quasi-identifier becomes labels of several levels: fine ones where the policy can afford them, and coarse ones
elsewhere. The policy names them, so that which labels there are tells nobody anything of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.guarantee import guarantee
from sqlanon.methods.shared.nodes.kept_classes import attained_measures, keep_classes
from sqlanon.methods.shared.publication import Publication
from sqlanon.methods.stages import Stages
from sqlanon.model.base import Level
from sqlanon.model.policy.settings import MethodSettings
from sqlanon.model.recoding import AtCut, Recoding
from sqlanon.model.release import Measurement, Report, RowCounts
from sqlanon.publish.provenance import provenance
from sqlanon.queries.classes.grouping import recoded
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.release.text_types import group_sizes
from sqlanon.verification.measure import measured_beside
from sqlanon.verification.verify import verify

Labels = tuple[tuple[Level, str], ...]
"""Levels and labels of which every value has one, and only one."""


class PublicCut(MethodSettings):
    """The labels that the policy names, of the rows whose classes meet the privacy models."""

    model: Literal["public-cut"] = "public-cut"
    cut: dict[str, Labels]

    def misfits(self, policy: sa.Policy) -> Iterable[str]:
        if self.cut.keys() != set(policy.quasi_identifiers):
            yield "method.cut must give every quasi-identifier its labels, and nothing else"
        if policy.population is not None:
            yield "a cut is compared with no population"
        if policy.individual is not None or policy.suppression == "mask":
            yield "a cut is published of rows, and of none that are masked"


class CutReport(Report):
    """The numbers of a run, and the labels that it has published; no quasi-identifier is at one level."""

    cut: dict[str, Labels]


@dataclass(frozen=True)
class AtPublicCut:
    """Generalization to the labels that the policy names."""

    is_repeatable: ClassVar[bool] = False

    def prepare(self, engine: Engine, source: ResolvedSource, policy: sa.Policy, request: Request) -> Prepared:
        if request.node is not None:
            raise sa.PolicyError("the policy names the labels: give no node")
        return Prepared(engine, prepare(engine, source, policy), request.rehearsed)


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source."""

    node: ClassVar[None] = None
    beside: ClassVar[tuple[str, ...]] = ()

    engine: Engine
    bound: BoundPolicy
    rehearsed: bool

    @property
    def cut(self) -> dict[str, Labels]:
        """The labels, by quasi-identifier in their order."""
        method: Any = self.bound.policy.method
        return {name: method.cut[name] for name in self.bound.policy.quasi_identifiers}

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=with_present_taxonomies(self.engine, self.bound))

    def encode(self) -> Encoded:
        table = encode_table(self.engine, self.bound, label_losses=(), may_be_empty=self.rehearsed)
        return Encoded(self, table)


@dataclass(frozen=True)
class Encoded:
    """The cells: nothing is drawn at random, and nothing is chosen."""

    run: Prepared
    table: EncodedTable

    def charge(self) -> Encoded:
        return self

    def choose(self, stages: Stages) -> Encoded:
        return self

    def draw(self) -> Drawn:
        engine, table = self.run.engine, self.table
        recoding = Recoding(tuple(map(AtCut, self.run.cut.values())))
        publishing.make_cuts(engine, table.encoding, recoding)
        keep_classes(engine, table, recoding)
        attained = attained_measures(engine, recoded(table.encoding, recoding))
        publication = publishing.group_rows(engine, table, recoding, masked=False)
        released = int(engine.fetch(group_sizes(EQUAL_ROWS.table), "published rows")[0]["rows"])
        source = table.context.row_count
        rows = RowCounts(source=source, released=released, masked=0, dropped=source - released)
        if not self.run.rehearsed and (released == 0 or rows.dropped > table.context.allowed_rows):
            raise sa.UnsatisfiableError(
                "the labels of the policy do not meet it:",
                [f"{rows.dropped:,} of {source:,} rows are in classes that fall short"],
            )
        return Drawn(self.run, table, rows, attained, publication)


@dataclass(frozen=True)
class Drawn:
    """The rows of the classes that are kept."""

    run: Prepared
    table: EncodedTable
    rows: RowCounts
    attained: list[float]
    publication: Publication

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return publishing.released_rows(self.run.engine, self.table.encoding, takes_enums)

    def report(self, measured: Measurement, into: str, seconds: Mapping[str, float]) -> CutReport:
        """The numbers of the run, of which the loss is the share of the rows that are dropped."""
        bound, lost = self.run.bound, self.rows.dropped / max(self.rows.source, 1)
        return CutReport(
            source=bound.description,
            into=into,
            method=bound.policy.method.name,
            cut=self.run.cut,
            heights=bound.lattice.named(bound.heights),
            domains={name: bound.all_shapes[name].domain for name in bound.policy.quasi_identifiers},
            quality="dropped",
            loss=lost,
            losses={"dropped": lost},
            models=measured.models,
            rows=self.rows,
            suppression_limit=bound.policy.suppression_limit,
            suppressed_rows=self.rows.dropped,
            class_count=measured.class_count,
            min_class_size=measured.k or 0,
            search="given",
            seconds=dict(seconds),
        )

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        return provenance(
            self.run.bound.policy,
            self.run.bound.taxonomy_hashes,
            {},
            self.attained,
            self.rows,
            cut=self.run.cut,
            report=report.model_dump(mode="json", exclude={"source", "into"}),
        )

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        bound = self.run.bound
        compared = measured_beside(bound.policy, bound.taxonomy, {}, bound.source, bound.columns, None)
        found = verify(self.run.engine, written, bound.policy, compared)
        shortfalls = list(found.shortfalls)
        if found.measurement.row_count != self.rows.released:
            shortfalls.append(f"it has {found.measurement.row_count:,} rows, not {self.rows.released:,}")
        if shortfalls and not self.run.rehearsed:
            raise sa.VerificationError("the written release does not meet its policy and was withdrawn:", shortfalls)
        return Verified(self, found.measurement)


@dataclass(frozen=True)
class Verified:
    """A release that meets its policy."""

    drawn: Drawn
    measured: Measurement

    def report(self, into: str, seconds: Mapping[str, float]) -> CutReport:
        return self.drawn.report(self.measured, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        assert isinstance(report, CutReport)
        return guarantee(self.drawn.run.bound.policy, report)


REGISTRATION = {"kind": PublicCut, "method": f"{__name__}:{AtPublicCut.__name__}"}
"""What `sa.register` is to be told: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
