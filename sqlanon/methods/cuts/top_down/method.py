"""Top-down specialization as the pipeline runs it: a cut is looked for from the top down, and all rows are at it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.cuts.shared.noted import NotedCut, noted_cut
from sqlanon.methods.cuts.shared.queries import labels, released
from sqlanon.methods.cuts.top_down import queries
from sqlanon.methods.cuts.top_down.encode import Points, checked, encode
from sqlanon.methods.cuts.top_down.evidence import CountedParts
from sqlanon.methods.cuts.top_down.guarantee import guarantee
from sqlanon.methods.cuts.top_down.report import RowsOfPieces, report
from sqlanon.methods.cuts.top_down.specialize import Chosen as ChosenCut
from sqlanon.methods.cuts.top_down.specialize import rehearsed, specialized
from sqlanon.methods.shared.publication import Publication
from sqlanon.methods.shared.publishing import other_rows
from sqlanon.methods.stages import Stages
from sqlanon.methods.stopping import Stopped, never
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import CUSTODIAN_FIELDS, Measurement
from sqlanon.publish.provenance import provenance
from sqlanon.verification.measure import measured_beside
from sqlanon.verification.verify import refuse_shortfalls, verify


class FromTheTop:
    """Specialize labels as long as every class has k rows, and publish all rows at the labels that are left."""

    # It would be made again alike, but a release that is there tells the report of full domains alone.
    is_repeatable = False

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`."""
        if request.names_account or request.random_source is not None:
            raise PolicyError("dataset, public and random_source are for private methods, of which the policy has none")
        if request.node is not None:
            raise PolicyError(f"{policy.method} looks for its labels, which are of several levels: it takes no node")
        run = Run(engine, request.stopped or never, request.rehearsed)
        return Prepared(run, checked(prepare(engine, source, policy)))


@dataclass(frozen=True)
class Run:
    """What all states of a run need."""

    engine: Engine
    stopped: Stopped
    rehearsed: bool


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source."""

    node: ClassVar[None] = None
    beside: ClassVar[tuple[str, ...]] = ()

    run: Run
    bound: BoundPolicy

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=checked(with_present_taxonomies(self.run.engine, self.bound)))

    def encode(self) -> Encoded:
        return Encoded(self.run, encode(self.run.engine, self.bound, may_be_empty=self.run.rehearsed))


@dataclass(frozen=True)
class Encoded:
    """The rows as points, of which nothing is drawn at random: there is nothing to pay for."""

    run: Run
    points: Points

    def charge(self) -> Encoded:
        return self

    def choose(self, stages: Stages) -> Chosen:
        points = self.points
        with stages.stage("search"):
            evidence = CountedParts(self.run.engine)
            if self.run.rehearsed:
                return Chosen(self.run, points, rehearsed(points.axes, evidence))
            found = specialized(points.axes, points.rows, points.settings.k, evidence, self.run.stopped)
        return Chosen(self.run, points, found)


@dataclass(frozen=True)
class Chosen:
    """The cut that was found."""

    run: Run
    points: Points
    chosen: ChosenCut

    def draw(self) -> Drawn:
        engine, points = self.run.engine, self.points
        engine.put(labels.GIVEN, labels.given_pieces(self.chosen.cut, points.ranges))
        engine.run(labels.labelled_cut())
        engine.run(queries.equal_rows(self.chosen.cut, points.bound.published_columns))
        publication = Publication(points.bound, points.rows, points.bound.policy.quasi_identifiers)
        return Drawn(self.run, points, self.chosen, noted_cut(engine), publication)


@dataclass(frozen=True)
class Drawn:
    """The rows at a cut."""

    run: Run
    points: Points
    chosen: ChosenCut
    cut: NotedCut
    publication: Publication

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return released.released(self.points.bound.published_columns)

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        assert report.rows is not None
        assert report.min_class_size is not None
        bound = self.points.bound
        return provenance(
            bound.policy,
            bound.taxonomy_hashes,
            {},
            [report.min_class_size],
            report.rows,
            cut=self.cut,
            report=report.model_dump(mode="json", exclude=set(CUSTODIAN_FIELDS)),
        )

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        engine, bound = self.run.engine, self.points.bound
        compared = measured_beside(bound.policy, bound.taxonomy, {}, bound.source, bound.columns, None)
        found = verify(engine, written, bound.policy, compared)
        query = released.unlike_what_was_made(bound.published_columns, written.relation)
        others = other_rows(engine, query)
        if not self.run.rehearsed:
            refuse_shortfalls(found, self.points.rows, others)
        return Verified(self, found.measurement, self._rows_of_pieces())

    def _rows_of_pieces(self) -> RowsOfPieces:
        found = self.run.engine.fetch(queries.rows_of_pieces(), "rows of labels", "node")
        return {(int(row["position"]), int(row["first"])): int(row["rows"]) for row in found}


@dataclass(frozen=True)
class Verified:
    """A release whose classes have k rows."""

    drawn: Drawn
    measured: Measurement
    rows_of_pieces: RowsOfPieces

    def report(self, into: str, seconds: Mapping[str, float]) -> AnyReport:
        drawn = self.drawn
        return report(drawn.points, drawn.chosen, self.rows_of_pieces, self.measured, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        assert report.rows is not None
        return guarantee(self.drawn.points.bound.policy, report)
