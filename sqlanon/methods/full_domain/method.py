"""Full-domain generalization with suppression: one node of the lattice for the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Compute, Engine, ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.full_domain.given_node import check_given, given_levels
from sqlanon.methods.full_domain.pseudonyms import make_rows
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.guarantee import guarantee
from sqlanon.methods.shared.nodes.choice import choose_with_alternatives, most_private, only_checked, settled
from sqlanon.methods.shared.nodes.kept_classes import attained_measures, keep_classes, masked_rows_fall_short
from sqlanon.methods.shared.nodes.node_counter import node_summaries
from sqlanon.methods.shared.nodes.notes import columns_at_the_top
from sqlanon.methods.shared.nodes.report import Decision, doubts, report
from sqlanon.methods.shared.publication import Publication, PublishedNode
from sqlanon.methods.shared.unknown import refuse_too_many, unknown_notes
from sqlanon.methods.stages import Stages
from sqlanon.methods.stopping import Stopped, never
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.pseudonym_key import PseudonymKey
from sqlanon.model.recoding import at_node
from sqlanon.model.release import CUSTODIAN_FIELDS, FinerNode, Report, RowCounts, Verification
from sqlanon.publish.provenance import provenance
from sqlanon.queries.classes.grouping import recoded
from sqlanon.queries.kit.nodes import Relation, subquery
from sqlanon.queries.release.rows import with_individuals
from sqlanon.search import SearchOutcome
from sqlanon.verification.measure import Beside, measured_beside
from sqlanon.verification.verify import refuse_shortfalls, verify

SUPPOSED = 2.0
"""How private the release of Inverse OLA is taken to be in a rehearsal."""


class FullDomain:
    """Search the lattice for the node of least loss that meets the privacy models, and verify what is written."""

    is_repeatable = True

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`."""
        if request.names_account or request.random_source is not None:
            raise PolicyError("dataset, public and random_source are for private methods, of which the policy has none")
        bound = prepare(engine, source, policy)
        given = None if request.node is None else given_levels(bound, request.node)
        key = request.pseudonym_key
        return Prepared(engine, bound, given, request.stopped or never, request.rehearsed, key)


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source, and the node that was given, if one was."""

    beside: ClassVar[tuple[str, ...]] = ()

    engine: Engine
    bound: BoundPolicy
    given: Levels | None
    stopped: Stopped
    rehearsed: bool
    pseudonym_key: PseudonymKey | None = None

    @property
    def node(self) -> Mapping[str, int] | None:
        return None if self.given is None else self.bound.lattice.named(self.given)

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_present_taxonomies(self) -> Prepared:
        bound = with_present_taxonomies(self.engine, self.bound)
        return replace(self, bound=bound, given=None if self.node is None else given_levels(bound, self.node))

    def encode(self) -> Encoded | Rehearsed:
        wanted = self.bound.policy.quality.label_losses
        table = encode_table(self.engine, self.bound, label_losses=wanted, may_be_empty=self.rehearsed)
        if self.rehearsed:
            return Rehearsed(self.engine, table)
        refuse_too_many(self.engine, self.bound, table.unknown, table.context.row_count)
        return Encoded(self.engine, table, self.given, self.stopped, self.pseudonym_key)


@dataclass(frozen=True)
class Encoded:
    """The cells, of which nothing is drawn at random: there is nothing to pay for."""

    engine: Engine
    table: EncodedTable
    given: Levels | None
    stopped: Stopped
    pseudonym_key: PseudonymKey | None = None

    def charge(self) -> Encoded:
        return self

    def choose(self, stages: Stages) -> Chosen:
        """See :class:`sqlanon.methods.base.Paid`; also if the node that was given does not meet the policy."""
        with stages.stage("search"):
            outcome, finer_nodes = self._outcome(stages)
            stages.concluded(outcome)
        if outcome.best is None:
            from sqlanon.methods.full_domain.relaxation import unsatisfiable

            with stages.stage("explain"):
                raise unsatisfiable(self.engine, self.table, outcome, stages.counted)
        return Chosen(
            self.engine,
            self.table,
            outcome,
            outcome.best,
            pseudonym_key=self.pseudonym_key,
            finer_nodes=finer_nodes,
        )

    def _outcome(self, stages: Stages) -> tuple[SearchOutcome, tuple[FinerNode, ...]]:
        if self.given is not None:
            return check_given(self.engine, self.table, self.given), ()
        return choose_with_alternatives(self.engine, self.table, stages.checked, self.stopped)


@dataclass(frozen=True)
class Rehearsed:
    """No cells: the bottom of the lattice stands for the node that a search would choose, with one row in one class."""

    engine: Engine
    table: EncodedTable

    def charge(self) -> Rehearsed:
        return self

    def choose(self, stages: Stages) -> Chosen:
        bottom, policy = self.table.context.lattice.bottom, self.table.bound.policy
        node_summaries(self.engine, self.table, [bottom])
        table = most_private(self.table, SUPPOSED) if policy.objective == "privacy" else self.table
        table = replace(table, context=replace(table.context, row_count=1))
        node = NodeSummary(
            levels=bottom,
            class_count=1,
            kept_class_count=1,
            suppressed_rows=0,
            certain_suppressed_rows=0,
            min_class_size=1,
            lm=0,
            ncp=0,
            combined_loss=0,
            suppressed_share=0,
            suppressed_information=0,
            class_losses={each.name: 1 for each in policy.criteria.class_losses},
        )
        loss = policy.quality.loss(node, table.context)
        return Chosen(self.engine, table, only_checked(node, loss), node, rehearsed=True)


@dataclass(frozen=True)
class Chosen:
    """The outcome of a search, and the node that it found."""

    engine: Engine
    table: EncodedTable
    outcome: SearchOutcome
    best: NodeSummary
    rehearsed: bool = False
    finer_nodes: tuple[FinerNode, ...] = ()
    pseudonym_key: PseudonymKey | None = None

    def settled(self) -> tuple[EncodedTable, NodeSummary]:
        """The cells under the policy that is to be published, and the node with all its measures.

        Raises:
            UnsatisfiableError: the most private release within the loss protects nobody.
        """
        return settled(self.engine, self.table, self.best)

    def draw(self) -> Drawn:
        engine = self.engine
        table, node = self.settled()
        recoding = at_node(node.levels)
        kept = keep_classes(engine, table, recoding)
        decision = _decide(engine, table, self.outcome, node)
        publication = make_rows(engine, table, recoding, self.pseudonym_key, masked=decision.masked)
        published = PublishedNode(table, node, suppresses=True, finer=self.finer_nodes)
        return Drawn(engine, table, kept, decision, replace(publication, node=published), self.rehearsed)


@dataclass(frozen=True)
class Drawn:
    """The rows of a node, and what was decided of the others."""

    engine: Engine
    table: EncodedTable
    kept: Relation
    decision: Decision
    publication: Publication
    rehearsed: bool

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return publishing.released_rows(self.engine, self.table.encoding, takes_enums)

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        bound = self.table.bound
        return provenance(
            bound.policy,
            bound.taxonomy_hashes,
            bound.lattice.named(self.decision.node.levels),
            self.decision.attained,
            self.decision.rows,
            made_from=made_from,
            report=report.model_dump(mode="json", exclude=set(CUSTODIAN_FIELDS)),
        )

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        verification = verify(self.engine, written, self.table.bound.policy, self._beside())
        if not self.rehearsed:
            refuse_shortfalls(verification, self.decision.rows.released)
        return Verified(self, verification)

    def _beside(self) -> Beside:
        """What the release is compared with when it is measured."""
        bound, levels = self.table.bound, self.decision.node.levels
        node = bound.lattice.named(levels)
        found = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, bound.population)
        if bound.policy.individual is None:
            return found
        rows = with_individuals(self.table.encoding, at_node(levels), self.kept, masked=self.decision.masked)
        return replace(found, with_individuals=subquery(rows, "anon_individuals"))


@dataclass(frozen=True)
class Verified:
    """A release that meets its policy."""

    drawn: Drawn
    verification: Verification

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        return report(self.drawn.table, self.drawn.decision, self.verification.measurement, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        assert isinstance(report, Report)
        return guarantee(self.drawn.table.bound.policy, report)


def _decide(engine: Compute, table: EncodedTable, outcome: SearchOutcome, node: NodeSummary) -> Decision:
    """Settle what becomes of the suppressed rows."""
    policy = table.bound.policy
    short: list[PrivacyModel] = []
    if policy.suppression == "mask" and node.suppressed_rows:
        short = masked_rows_fall_short(engine, table, at_node(node.levels))
    masked = policy.suppression == "mask" and node.suppressed_rows > 0 and not short
    notes = [*doubts(policy, outcome), *columns_at_the_top(table.context.lattice, node.levels)]
    notes += unknown_notes(policy, table.unknown)
    if short:
        models = ", ".join(str(model) for model in short)
        rows = f"{node.suppressed_rows:,} suppressed rows"
        notes.append(f"the {rows} were dropped, not masked: as one class they do not meet {models}")
    if policy.row_weight is not None:
        notes.append(f'entropy, lm and ncp count the weights of "{policy.row_weight}"; all other measures count rows')
    source_rows, unknown = table.context.row_count, table.unknown.suppressed
    counts = RowCounts(
        source=source_rows + unknown,
        released=source_rows if masked else source_rows - node.suppressed_rows,
        masked=node.suppressed_rows if masked else 0,
        dropped=0 if masked else node.suppressed_rows,
        unknown=unknown,
    )
    attained = attained_measures(engine, recoded(table.encoding, at_node(node.levels)))
    return Decision(outcome, node, masked, counts, attained, tuple(notes))
