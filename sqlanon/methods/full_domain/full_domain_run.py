"""Full-domain generalization with suppression: one node of the lattice for the whole table.

A user may give the node in place of a search; it must meet the policy on the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.joint.beside import cells_beside, joint_shortfalls, withhold_persons
from sqlanon.methods.base import Comparison, Measured
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import (
    NodePublication,
    SyntacticRun,
    columns_at_the_top,
    doubts,
    named_node,
    report_of_node,
    row_counts,
)
from sqlanon.model.lattice import Levels
from sqlanon.model.policy_value import respelled, unknown_names
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.release import FinerNode, Report
from sqlanon.nodes.choice import (
    NodeChoice,
    bottom_choice,
    choose_node,
    choose_with_alternatives,
    only_checked,
    settled,
)
from sqlanon.nodes.counting import examine_nodes, node_summaries
from sqlanon.nodes.table import EncodedTable, encode_table, refuse_too_many, unknown_notes
from sqlanon.queries.joint_persons import persons_of_rows
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.released_classes import NodeClasses
from sqlanon.release import publishing
from sqlanon.search import SearchOutcome, SearchProblem
from sqlanon.verification.measure import Beside, measured_beside

LOCALLY = 'method = "local-recoding", by which each class has labels of its own, '
"""The remedy for a column whose single label carries no information."""


class FullDomainRun(SyntacticRun[EncodedTable, NodeChoice, NodePublication]):
    takes_node = True
    takes_far_rows = True
    is_repeatable = True

    def given(self, bound: BoundPolicy) -> Levels | None:
        """Return the levels of the node that the request or the policy names, if any."""
        given = [node for node in (named_node(bound.policy), self.request.node) if node is not None]
        levels = [given_levels(bound, node) for node in given]
        if len({*levels}) > 1:
            named = ", ".join(f"{name} {level}" for name, level in bound.lattice.named(levels[0]).items())
            raise PolicyError(f"the policy names another node ({named}): change node there, or give none here")
        return levels[0] if levels else None

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        self.given(bound)
        return bound

    @property
    def node(self) -> Mapping[str, int] | None:
        given = self.given(self.bound)
        return None if given is None else self.bound.lattice.named(given)

    def encode(self) -> EncodedTable:
        engine, bound = self.engine, self.bound
        spec, losses = cells_beside(engine, bound, self.request.earlier), bound.policy.quality.label_losses
        return encode_table(engine, bound, spec, label_losses=losses, may_stay=True)

    def refuse_rows(self, table: EncodedTable) -> None:
        super().refuse_rows(table)
        refuse_too_many(self.engine, table)

    def search(self, table: EncodedTable, stages: Stages) -> NodeChoice:
        given, loss_alone = self.given(self.bound), None
        finer: tuple[FinerNode, ...] = ()
        with stages.stage("search"):
            if given is not None:
                outcome = check_given(self.engine, table, given)
            else:
                outcome, finer = choose_with_alternatives(self.engine, table, stages.checked, self.stopped)
            if self.request.earlier:
                loss_alone = choose_node(self.engine, table.alone(), stages.checked, self.stopped).loss
            stages.concluded(outcome)
        if outcome.best is None:
            from sqlanon.methods.full_domain.relaxation import unsatisfiable

            with stages.stage("explain"):
                raise unsatisfiable(self.engine, table, outcome, stages.counted)
        return settled(self.engine, table, outcome, outcome.best, finer, loss_alone)

    def choice_without_rows(self, table: EncodedTable) -> NodeChoice:
        return bottom_choice(self.engine, table)

    def make(self, table: EncodedTable, choice: NodeChoice) -> NodePublication:
        engine, table, node = self.engine, choice.table, choice.node
        policy, recoding = table.bound.policy, AtNode(table.encoding, node.levels)
        publishing.keep_classes(engine, recoding)
        withhold_persons(engine, recoding)
        masks = policy.suppression == "mask" and node.suppressed_rows > 0
        short = publishing.masked_rows_fall_short(engine, table, recoding) if masks else []
        masked = masks and not short
        attained = publishing.attained_at(engine, recoding)
        groups = publishing.make_rows(engine, table, recoding, self.request.pseudonym_key, masked=masked)
        published = publishing.PublishedNode(table, node, suppresses=True, finer=choice.finer)
        return NodePublication(
            bound=table.bound,
            encoding=table.encoding,
            groups=replace(groups, node=published),
            rows=row_counts(table, node.suppressed_rows, masked=masked),
            attained=attained,
            notes=tuple(_notes(choice, short)),
            table=table,
            choice=choice,
            masked=masked,
        )

    def reference(self, made: NodePublication) -> Beside:
        bound, levels = made.bound, made.choice.node.levels
        node = bound.lattice.named(levels)
        found = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, bound.population)
        return self.beside_unpublished(found, AtNode(made.table.encoding, levels), masked=made.masked)

    def compare(
        self, made: NodePublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        earlier, table = self.request.earlier, made.table
        if not earlier:
            return Comparison()
        recoding = AtNode(table.alone().encoding, made.choice.node.levels)
        present = NodeClasses.of(recoding, written.relation, len(earlier))
        persons = persons_of_rows(present, table.encoding)
        joint, differences = joint_shortfalls(self.engine, earlier, made.bound, table.encoding.spec, present, persons)
        return Comparison(differences, joint)

    def report(self, made: NodePublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        return report_of_node(made, measured, into, seconds)


def _notes(choice: NodeChoice, short: Sequence[PrivacyModel]) -> Iterator[str]:
    """Write notes on a choice; ``short`` are the models that the suppressed rows violate as one class."""
    table, node = choice.table, choice.node
    policy = table.bound.policy
    yield from doubts(table.bound, choice.outcome)
    yield from columns_at_the_top(table.context.lattice, node.levels, LOCALLY)
    yield from unknown_notes(policy, table.unknown)
    if short:
        models = ", ".join(map(str, short))
        rows = f"{node.suppressed_rows:,} suppressed rows"
        yield f"the {rows} were dropped, not masked: as one class they do not meet {models}"
    if policy.row_weight is not None:
        yield f'entropy, lm and ncp count the weights of "{policy.row_weight}"; all other measures count rows'


def given_levels(bound: BoundPolicy, node: Mapping[str, int]) -> Levels:
    """Return the levels of a given node."""
    if not isinstance(node, Mapping) or not all(isinstance(name, str) for name in node):
        raise PolicyError("a node is a mapping from quasi-identifiers to their levels")
    names = bound.policy.quasi_identifiers
    node = respelled(dict(node), names)
    problems = [f'"{name}" has no level' for name in names if name not in node]
    problems += [f'"{name}" is not a quasi-identifier{meant}' for name, meant in unknown_names(node, names)]
    for name, least, most in zip(names, bound.lattice.bottom, bound.lattice.top, strict=True):
        level = node.get(name, least)
        is_whole = isinstance(level, int) and not isinstance(level, bool)
        if not is_whole or not least <= level <= most:
            problems.append(f'"{name}" has levels {least} to {most}, so not {level}')
    if bound.policy.objective == "privacy":
        problems.append('objective "privacy" needs a search: give no node')
    if problems:
        raise PolicyError("the given node does not fit the policy:", problems)
    return tuple(node[name] for name in names)


def check_given(engine: Compute, table: EncodedTable, levels: Levels) -> SearchOutcome:
    """Check a given node and return it as a search outcome."""
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
        raise UnsatisfiableError("the given node does not meet the policy:", problems)
    return only_checked(node, policy.quality.loss_of(node, context))
