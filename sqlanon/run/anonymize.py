"""One run: bind, encode, search, release, verify, publish; all in one transaction."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.grouping import by_key
from sqlanon.compiler.nodes import Relation, subquery
from sqlanon.compiler.partitions import refuse_columns
from sqlanon.compiler.release import with_individuals
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import VerificationError
from sqlanon.methods import full_domain, publishing
from sqlanon.methods.full_domain import EncodedTable
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.events import proven_gap
from sqlanon.model.lattice import Levels, NodeSummary, total
from sqlanon.model.policy import Policy
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.release import REPORTED_TIES, Measurement, Release, Report, RowCounts, Verification
from sqlanon.run.given import GIVEN, NOT_COMPARED, check_given, given_levels
from sqlanon.run.guarantee import guarantee
from sqlanon.run.measure import Beside, measured_beside
from sqlanon.run.notes import columns_at_the_top, nearly_unique_columns
from sqlanon.run.own_taxonomies import with_own_taxonomies
from sqlanon.run.prepare import prepare, read_by, with_present_taxonomies
from sqlanon.run.progress import Progress, Stages, silent
from sqlanon.run.provenance import provenance, unmeasured
from sqlanon.run.relaxation import unsatisfiable
from sqlanon.run.stopping import Stopped, never
from sqlanon.run.targets import Target, target_for
from sqlanon.run.unchanged import made_from, published_earlier
from sqlanon.run.verify import verify
from sqlanon.search import SearchOutcome


@dataclass(frozen=True)
class Decision:
    """What is to be published: the node, what becomes of suppressed rows, and what the kept classes attain."""

    outcome: SearchOutcome
    node: NodeSummary
    masked: bool
    rows: RowCounts
    attained: list[float]
    notes: tuple[str, ...]


@with_own_taxonomies
def anonymize(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    into: Destination,
    *,
    replace: Replace,
    node: Mapping[str, int] | None = None,
    progress: Progress = silent,
    stopped: Stopped = never,
) -> Release:
    """Publish the best generalization of a source that meets the policy, unless the target holds it already.

    Args:
        engine: the database.
        source: what to anonymize.
        policy: what to guarantee.
        into: the target.
        replace: whether an existing table, file or folder of that name may be replaced.
        node: the level of every quasi-identifier, if there is nothing to search for.
        progress: told of every stage; what it raises ends the run, except after the last stage has finished.
        stopped: asked after every batch of nodes whether to make do with the best one so far.

    Raises:
        PolicyError, TaxonomyError: the policy, a taxonomy or the given node does not fit the source.
        UnsatisfiableError: no node meets the policy, or the given one does not.
        VerificationError: what was written falls short; it was withdrawn.
        EngineError: the database or the file system refused a step. The target is as it was before in every case.
    """
    stages = Stages(progress)
    with stages.watching(engine):
        bound = prepare(engine, source, policy)
        given = None if node is None else given_levels(bound, node)
        into = into.spelled_like(bound.policy.columns)
        refuse_columns(bound.policy, bound.columns, into.partition_by)
        read = read_by(engine, source, policy)
        inputs = made_from(bound, read, into, None if given is None else bound.lattice.named(given))
        earlier = published_earlier(engine, source, into, inputs, replace=replace)
        if earlier is not None:
            return earlier
        with target_for(engine, into, read, replace=replace) as target:
            release = _run(engine, bound, target, inputs, stages, stopped, given)
    stages.finish()
    return release


def _run(
    engine: Engine,
    bound: BoundPolicy,
    target: Target,
    inputs: Mapping[str, Any],
    stages: Stages,
    stopped: Stopped,
    given: Levels | None,
) -> Release:
    """The stages up to the last one, which has begun and ends where the target is left."""
    policy = bound.policy
    with engine.transaction():
        bound = with_present_taxonomies(engine, bound)
        given = None if given is None else given_levels(bound, bound.lattice.named(given))
        inputs = {**inputs, "taxonomy_sha256": bound.taxonomy_hashes}
        with stages.stage("encode"):
            table = full_domain.encode_table(engine, bound, label_losses=policy.quality.label_losses)
        outcome, best = searched(engine, table, stages, stopped, given)
        with stages.stage("release"):
            table, node = full_domain.settled(engine, table, best)
            kept = full_domain.keep_classes(engine, table, node.levels)
            decision = _decide(engine, table, outcome, node)
            publishing.group_rows(engine, table, node.levels, masked=decision.masked)
            decision = dataclasses.replace(decision, notes=(*decision.notes, *nearly_unique_columns(engine, table)))
            written = _write(engine, table, decision, target, inputs)
        with stages.stage("verify"):
            verification = verify(engine, written, table.plan.bound.policy, _beside(table, decision, kept))
            _refuse_shortfalls(verification, decision)
        full_domain.drop_tables(engine, table)
        report = _report(table, decision, verification.measurement, target.name, stages.seconds)
        target.amend(_provenance(table, decision, inputs, report))
        stages.begin("publish")
    promised = guarantee(table.plan.bound.policy, report)
    return Release(into=target.name, node=report.node, guarantee=promised, report=report)


def searched(
    engine: Engine, table: EncodedTable, stages: Stages, stopped: Stopped, given: Levels | None
) -> tuple[SearchOutcome, NodeSummary]:
    """The outcome of a search, and the node that it found: the one that was given, if there is one.

    Raises:
        UnsatisfiableError: it found none, or the given one does not meet the policy.
    """
    with stages.stage("search"):
        if given is None:
            outcome = full_domain.choose_node(engine, table, stages.checked, stopped)
        else:
            outcome = check_given(engine, table, given)
        stages.concluded(outcome)
    if outcome.best is None:
        with stages.stage("explain"):
            raise unsatisfiable(engine, table, outcome, stages.counted)
    return outcome, outcome.best


def _decide(engine: Engine, table: EncodedTable, outcome: SearchOutcome, node: NodeSummary) -> Decision:
    """Settle what becomes of the suppressed rows."""
    policy = table.plan.bound.policy
    short: list[PrivacyModel] = []
    if policy.suppression == "mask" and node.suppressed_rows:
        short = full_domain.masked_rows_fall_short(engine, table, node.levels)
    masked = policy.suppression == "mask" and node.suppressed_rows > 0 and not short
    notes = [*doubts(policy, outcome), *columns_at_the_top(table.context.lattice, node.levels)]
    if short:
        models = ", ".join(str(model) for model in short)
        rows = f"{node.suppressed_rows:,} suppressed rows"
        notes.append(f"the {rows} were dropped, not masked: as one class they do not meet {models}")
    if policy.row_weight is not None:
        notes.append(f'entropy, lm and ncp count the weights of "{policy.row_weight}"; all other measures count rows')
    source_rows = table.context.row_count
    counts = RowCounts(
        source=source_rows,
        released=source_rows if masked else source_rows - node.suppressed_rows,
        masked=node.suppressed_rows if masked else 0,
        dropped=0 if masked else node.suppressed_rows,
    )
    attained = full_domain.attained(engine, by_key(table.plan, node.levels))
    return Decision(outcome, node, masked, counts, attained, tuple(notes))


def found_by(policy: Policy, outcome: SearchOutcome) -> str:
    """How a node was found: the name of the search."""
    return policy.search if outcome.searched else GIVEN


def doubts(policy: Policy, outcome: SearchOutcome) -> tuple[str, ...]:
    """What is not proven of the node that was chosen."""
    if outcome.proven_optimal:
        return ()
    if not outcome.searched:
        return (NOT_COMPARED,)
    if policy.max_loss is not None:
        return ("the release is not proven to be the most private within max_loss: the search was stopped",)
    gap = proven_gap(outcome.loss, outcome.lower_bound)
    assert gap is not None
    assert outcome.loss is not None
    share = f", {100 * gap / outcome.loss:.3g} % of it" if outcome.loss else ""
    return (
        f"the release is not proven optimal: its {policy.quality.measure} loss, {outcome.loss:.6g}, exceeds the least "
        f"that meets the policy by at most {gap:.6g}{share}",
    )


def _write(
    engine: Engine, table: EncodedTable, decision: Decision, target: Target, inputs: Mapping[str, Any]
) -> ResolvedSource:
    query = publishing.released_rows(engine, table.plan, target.takes_enums)
    draft = _report(table, decision, unmeasured(table.plan.bound.policy), target.name, seconds={})
    note = _provenance(table, decision, inputs, draft)
    return target.write(query, note, streamed=True)


def _provenance(table: EncodedTable, decision: Decision, inputs: Mapping[str, Any], report: Report) -> str:
    return provenance(
        table.plan.bound,
        decision.node.levels,
        decision.attained,
        report.rows,
        made_from=inputs,
        # Not where it was made, and where it went: that is nobody's business who gets the release.
        report=report.model_dump(mode="json", exclude={"source", "into"}),
    )


def _beside(table: EncodedTable, decision: Decision, kept: Relation) -> Beside:
    """What the release is compared with when it is measured."""
    bound, levels = table.plan.bound, decision.node.levels
    node = bound.lattice.named(levels)
    found = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, bound.population)
    if bound.policy.individual is None:
        return found
    rows = with_individuals(table.plan, levels, kept, masked=decision.masked)
    return dataclasses.replace(found, with_individuals=subquery(rows, "anon_individuals"))


def _refuse_shortfalls(verification: Verification, decision: Decision) -> None:
    shortfalls = list(verification.shortfalls)
    if verification.measurement.row_count != decision.rows.released:
        shortfalls.append(
            f"it has {verification.measurement.row_count:,} rows where {decision.rows.released:,} were to be released"
        )
    if shortfalls:
        raise VerificationError(
            "the written release does not meet its policy and was withdrawn; did the source change during the run?",
            shortfalls,
        )


def _report(
    table: EncodedTable,
    decision: Decision,
    measurement: Measurement,
    into: str,
    seconds: Mapping[str, float],
) -> Report:
    bound, node, outcome = table.plan.bound, decision.node, decision.outcome
    policy, lattice, losses = bound.policy, table.context.lattice, table.context.losses
    return Report(
        source=bound.description,
        into=into,
        node=lattice.named(node.levels),
        heights=lattice.named(lattice.heights),
        domains={name: shape.domain for name, shape in zip(policy.quasi_identifiers, bound.shapes, strict=True)},
        quality=policy.quality.measure,
        loss=policy.quality.loss(node, table.context),
        losses={
            "prec": total(losses.prec, node.levels),
            "entropy": total(losses.entropy, node.levels),
            "dm_star": node.dm_star,
            "dm": node.dm,
            "aecs": node.aecs,
            "lm": node.lm,
            "ncp": node.ncp,
        },
        models=measurement.models,
        rows=decision.rows,
        suppression_limit=policy.suppression_limit,
        suppressed_rows=node.suppressed_rows,
        class_count=measurement.class_count,
        min_class_size=measurement.k or 0,
        search=found_by(policy, outcome),
        lattice_nodes=lattice.size,
        checked_nodes=outcome.checked_nodes,
        minimal_nodes=None if outcome.minimal_nodes is None else len(outcome.minimal_nodes),
        proven_optimal=outcome.proven_optimal,
        lower_bound=outcome.lower_bound,
        gap=proven_gap(outcome.loss, outcome.lower_bound),
        tie_count=len(outcome.ties),
        ties=tuple(lattice.named(levels) for levels in outcome.ties[:REPORTED_TIES]),
        seconds=dict(seconds),
        notes=decision.notes,
    )
