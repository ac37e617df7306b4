"""Relocation as the pipeline runs it: a node of few outliers, whose rows are shown in the classes nearest to theirs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_inexact
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.full_domain.method import Rehearsed
from sqlanon.methods.relocation.guarantee import guarantee
from sqlanon.methods.relocation.moving import Moves, changed_values, move, stay
from sqlanon.methods.relocation.report import PRIVATE, report, untold
from sqlanon.methods.relocation.unsatisfiable import unsatisfiable
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.nodes.choice import choose_node, settled
from sqlanon.methods.shared.nodes.kept_classes import attained_measures, keep_classes
from sqlanon.methods.shared.nodes.node_counter import node_summaries
from sqlanon.methods.shared.nodes.notes import columns_at_the_top
from sqlanon.methods.shared.nodes.report import Decision, doubts
from sqlanon.methods.shared.publication import Publication, PublishedNode
from sqlanon.methods.shared.unknown import unknown_notes
from sqlanon.methods.stages import Stages
from sqlanon.methods.stopping import Stopped, never
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import at_node
from sqlanon.model.release import Measurement, RowCounts
from sqlanon.publish.provenance import provenance
from sqlanon.queries.classes.grouping import recoded
from sqlanon.search import SearchOutcome
from sqlanon.verification.measure import measured_beside
from sqlanon.verification.verify import refuse_shortfalls, verify


class Relocated:
    """Search for the node of least loss that has few outliers, move these, and verify what is written."""

    # It would be made again alike, but a release that is there tells the report of full domains alone.
    is_repeatable = False

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`."""
        if request.names_account or request.random_source is not None:
            raise PolicyError("dataset, public and random_source are for private methods, of which the policy has none")
        if request.node is not None:
            raise PolicyError(f"{policy.method} looks for its node: bound it by minimum_levels and maximum_levels")
        bound = prepare(engine, source, policy)
        refuse_inexact(bound)
        return Prepared(Run(engine, request.stopped or never, request.rehearsed), bound)


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
        return replace(self, bound=with_present_taxonomies(self.run.engine, self.bound))

    def encode(self) -> Encoded:
        engine, rehearsed = self.run.engine, self.run.rehearsed
        wanted = tuple(dict.fromkeys(("lm", *self.bound.policy.quality.label_losses)))
        return Encoded(self.run, encode_table(engine, self.bound, label_losses=wanted, may_be_empty=rehearsed))


@dataclass(frozen=True)
class Encoded:
    """The cells, of which nothing is drawn at random: there is nothing to pay for."""

    run: Run
    table: EncodedTable

    def charge(self) -> Encoded:
        return self

    def choose(self, stages: Stages) -> Chosen:
        """See :class:`sqlanon.methods.base.Paid`; also if no class is large enough."""
        engine, classes = self.run.engine, self.table.without_values()
        if self.run.rehearsed:
            supposed = Rehearsed(engine, classes).choose(stages)
            return Chosen(self.run, self.table, supposed.outcome, supposed.best)
        with stages.stage("search"):
            outcome = choose_node(engine, classes, stages.checked, self.run.stopped)
            stages.concluded(outcome)
        if outcome.best is None:
            with stages.stage("explain"):
                raise unsatisfiable(engine, classes, outcome)
        _, node = settled(engine, classes, outcome.best)
        return Chosen(self.run, self.table, outcome, node)


@dataclass(frozen=True)
class Chosen:
    """The node that was found, with all its measures, of which nothing is made yet."""

    run: Run
    table: EncodedTable
    outcome: SearchOutcome
    node: NodeSummary

    def draw(self) -> Drawn:
        engine, table, levels = self.run.engine, self.table, self.node.levels
        recoding, policy = at_node(levels), table.bound.policy
        has_outliers = self.node.suppressed_rows > 0 or self.run.rehearsed
        moved, moves = move(engine, table, levels) if has_outliers else stay(table)
        keep_classes(engine, moved, recoding)
        attained = attained_measures(engine, recoded(moved.encoding, recoding))
        (published,) = node_summaries(engine, moved.without_values(), [levels])
        publication = publishing.group_rows(engine, moved, recoding, masked=False)
        rows = table.context.row_count
        notes = (
            *doubts(policy, self.outcome),
            *untold(moves),
            *columns_at_the_top(table.context.lattice, levels),
            *unknown_notes(policy, table.unknown),
        )
        unknown = table.unknown.suppressed
        counts = RowCounts(source=rows + unknown, released=rows, masked=0, dropped=0, unknown=unknown)
        decision = Decision(self.outcome, self.node, masked=False, rows=counts, attained=attained, notes=notes)
        publication = replace(publication, node=PublishedNode(table, self.node, suppresses=False))
        return Drawn(self.run, table, moved, decision, moves, published, publication)


@dataclass(frozen=True)
class Drawn:
    """The rows of a node, those of small classes in large ones.

    Attributes:
        table: the cells of the source.
        moved: those of the node, as its rows were moved.
        published: the node by these.
        publication: the rows.
    """

    run: Run
    table: EncodedTable
    moved: EncodedTable
    decision: Decision
    moves: Moves
    published: NodeSummary
    publication: Publication

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return publishing.released_rows(self.run.engine, self.moved.encoding, takes_enums)

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        bound, decision = self.table.bound, self.decision
        return provenance(
            bound.policy,
            bound.taxonomy_hashes,
            bound.lattice.named(decision.node.levels),
            decision.attained,
            decision.rows,
            report=report.model_dump(mode="json", exclude=set(PRIVATE)),
        )

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        engine, bound = self.run.engine, self.table.bound
        node = bound.lattice.named(self.decision.node.levels)
        compared = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, None)
        found = verify(engine, written, bound.policy, compared)
        changed = changed_values(engine, self.table, written.relation)
        others = [f"it lacks the values of {changed:,} rows of the source"] if changed else []
        if not self.run.rehearsed:
            refuse_shortfalls(found, self.decision.rows.released, others)
        return Verified(self, found.measurement)


@dataclass(frozen=True)
class Verified:
    """A release whose classes have k rows, and whose values are those of the source."""

    drawn: Drawn
    measured: Measurement

    def report(self, into: str, seconds: Mapping[str, float]) -> AnyReport:
        drawn = self.drawn
        return report(drawn.table, drawn.decision, drawn.moves, drawn.published, self.measured, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        return guarantee(self.drawn.table.bound.policy, report)
