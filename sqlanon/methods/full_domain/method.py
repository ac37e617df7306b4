"""Full-domain generalization with suppression: one node of the lattice for the whole table.

A user may give the node in place of a search; it must meet the policy on the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.base import Run
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.choice import choose_node, choose_with_alternatives, dry_run_choice, only_checked, settled
from sqlanon.methods.shared.counting import examine_nodes, node_summaries
from sqlanon.methods.shared.earlier import cells_beside, joint_shortfalls, withhold_persons
from sqlanon.methods.shared.reports import Decision, columns_at_the_top, doubts, report, row_counts
from sqlanon.methods.shared.unknown import refuse_too_many, unknown_notes
from sqlanon.methods.stages import Stages
from sqlanon.model.base import respelled, unknown_names
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.release import FinerNode, Report
from sqlanon.model.release.joint import JointClasses
from sqlanon.queries.joint_persons import persons_of_rows
from sqlanon.queries.kit.nodes import subquery
from sqlanon.queries.published_rows import with_individuals
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.released_classes import NodeClasses
from sqlanon.search import SearchOutcome, SearchProblem
from sqlanon.verification.measure import Beside, measured_beside

LOCALLY = 'method = "local-recoding", by which each class has labels of its own, '
"""The remedy where a column says nothing any more."""


class FullDomainRun(Run):
    """Search the lattice for the node of least loss that meets the privacy models, and verify what is written."""

    takes_node = True
    takes_far_rows = True
    is_repeatable = True
    given: Levels | None = None
    finer_nodes: tuple[FinerNode, ...] = ()
    joint: JointClasses | None = None
    loss_alone: float | None = None

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        if self.request.node is not None:
            self.given = given_levels(bound, self.request.node)
        return bound

    @property
    def node(self) -> Mapping[str, int] | None:
        return None if self.given is None else self.bound.lattice.named(self.given)

    def encode(self) -> None:
        losses, is_dry_run = self.bound.policy.quality.label_losses, self.request.is_dry_run
        spec = cells_beside(self.engine, self.bound, self.request.earlier)
        self.table = encode_table(
            self.engine, self.bound, spec, label_losses=losses, may_be_empty=is_dry_run, may_stay=True
        )
        if not is_dry_run:
            refuse_too_many(self.engine, self.bound, self.table.unknown, self.table.context.row_count)

    def search(self, stages: Stages) -> None:
        if self.request.is_dry_run:
            self.table, self.outcome, self.chosen = dry_run_choice(self.engine, self.table)
            return
        with stages.stage("search"):
            if self.given is not None:
                self.outcome = check_given(self.engine, self.table, self.given)
            else:
                found = choose_with_alternatives(self.engine, self.table, stages.checked, self.stopped)
                self.outcome, self.finer_nodes = found
            if self.request.earlier:
                self.loss_alone = choose_node(self.engine, self.table.alone(), stages.checked, self.stopped).loss
            stages.concluded(self.outcome)
        if self.outcome.best is None:
            from sqlanon.methods.full_domain.relaxation import unsatisfiable

            with stages.stage("explain"):
                raise unsatisfiable(self.engine, self.table, self.outcome, stages.counted)
        self.chosen = self.outcome.best

    def make(self) -> publishing.Publication:
        engine = self.engine
        self.table, node = settled(engine, self.table, self.chosen)
        self.bound = self.table.bound  # Inverse OLA publishes under the most private policy
        self.encoding = self.table.encoding
        recoding = AtNode(self.encoding, node.levels)
        self.kept = publishing.keep_classes(engine, recoding)
        withhold_persons(engine, recoding)
        self.decision = _decide(engine, self.table, self.outcome, node)
        self.row_count, self.attained = self.decision.rows.released, self.decision.attained
        key, masked = self.request.pseudonym_key, self.decision.masked
        publication = publishing.make_rows(engine, self.table, recoding, key, masked=masked)
        published = publishing.PublishedNode(self.table, node, suppresses=True, finer=self.finer_nodes)
        return replace(publication, node=published)

    def compared(self) -> Beside:
        bound, levels = self.bound, self.decision.node.levels
        node = bound.lattice.named(levels)
        found = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, bound.population)
        if bound.policy.individual is None:
            return found
        rows = with_individuals(AtNode(self.encoding, levels), self.kept, masked=self.decision.masked)
        return replace(found, with_individuals=subquery(rows, "anon_individuals"))

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        earlier = self.request.earlier
        if not earlier:
            return []
        recoding = AtNode(self.table.alone().encoding, self.decision.node.levels)
        present = NodeClasses.of(recoding, written.relation, len(earlier))
        persons = persons_of_rows(present, self.table.encoding)
        spec = self.table.encoding.spec
        self.joint, differences = joint_shortfalls(self.engine, earlier, self.bound, spec, present, persons)
        return differences

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        found = report(self.table, self.decision, self.measured, into, seconds)
        if self.joint is None:
            return found
        return found.model_copy(update={"joint": self.joint, "loss_alone": self.loss_alone})


def _decide(engine: Compute, table: EncodedTable, outcome: SearchOutcome, node: NodeSummary) -> Decision:
    policy = table.bound.policy
    short: list[PrivacyModel] = []
    if policy.suppression == "mask" and node.suppressed_rows:
        short = publishing.masked_rows_fall_short(engine, table, AtNode(table.encoding, node.levels))
    masked = policy.suppression == "mask" and node.suppressed_rows > 0 and not short
    notes = [*doubts(policy, outcome), *columns_at_the_top(table.context.lattice, node.levels, LOCALLY)]
    notes += unknown_notes(policy, table.unknown)
    if short:
        models = ", ".join(str(model) for model in short)
        rows = f"{node.suppressed_rows:,} suppressed rows"
        notes.append(f"the {rows} were dropped, not masked: as one class they do not meet {models}")
    if policy.row_weight is not None:
        notes.append(f'entropy, lm and ncp count the weights of "{policy.row_weight}"; all other measures count rows')
    counts = row_counts(table, node.suppressed_rows, masked=masked)
    attained = publishing.attained_at(engine, AtNode(table.encoding, node.levels))
    return Decision(outcome, node, masked, counts, attained, tuple(notes))


def given_levels(bound: BoundPolicy, node: Mapping[str, int]) -> Levels:
    """Return the levels of a node that was given.

    Raises:
        PolicyError: it is not one of the lattice, or the policy leaves to the search what is to be guaranteed.
    """
    if not isinstance(node, Mapping) or not all(isinstance(name, str) for name in node):
        raise PolicyError("a node is a mapping from quasi-identifiers to their levels")
    names = bound.policy.quasi_identifiers
    node = respelled(dict(node), names)
    problems = [f'"{name}" has no level' for name in names if name not in node]
    problems += [f'"{name}" is not a quasi-identifier{meant}' for name, meant in unknown_names(node, names)]
    lattice = bound.lattice
    problems += [
        f'"{name}" has levels {least} to {most}, so not {node[name]}'
        for name, least, most in zip(names, lattice.bottom, lattice.top, strict=True)
        if name in node and (not _is_whole(node[name]) or not least <= node[name] <= most)
    ]
    if bound.policy.objective == "privacy":
        problems.append('objective "privacy" finds how private a release can be by searching: give no node')
    if problems:
        raise PolicyError("the node that was given does not fit the policy:", problems)
    return tuple(node[name] for name in names)


def check_given(engine: Compute, table: EncodedTable, levels: Levels) -> SearchOutcome:
    """Check a node that was given, and return it as the outcome of a search.

    Raises:
        UnsatisfiableError: it does not meet the policy; names the models that stand in the way.
    """
    context, policy = table.context, table.bound.policy
    node = node_summaries(engine, table, [levels])[0]
    if not SearchProblem(policy.quality, context).satisfies(node):
        problems = [
            f"{node.suppressed_rows:,} of {context.row_count:,} rows are in classes that fall short; "
            f"{context.allowed_rows:,} may be suppressed (suppression_limit {100 * policy.suppression_limit:g} %)",
        ]
        blocked = examine_nodes(engine, table, [levels])[0].blocked_rows
        problems += [
            f"{model}: {rows:,} rows are in classes that violate it"
            for model, rows in zip(policy.privacy, blocked, strict=True)
            if rows
        ]
        raise UnsatisfiableError("the node that was given does not meet the policy:", problems)
    return only_checked(node, policy.quality.loss(node, context))


def _is_whole(level: object) -> bool:
    return isinstance(level, int) and not isinstance(level, bool)
