"""One run of a private method: bind, encode, charge, draw, release, verify, publish.

What is charged is in the ledger before anything is drawn, and stays there whatever happens to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from sqlanon.compiler import private as queries
from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.diagnostics import diagnostics
from sqlanon.compiler.nodes import Relation
from sqlanon.compiler.partitions import refuse_columns
from sqlanon.compiler.published import group_sizes
from sqlanon.compiler.release import EQUAL_ROWS
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import VerificationError, with_spent
from sqlanon.mechanisms.accountant import Accountant
from sqlanon.methods import full_domain, ipa_paper, publishing
from sqlanon.methods import private as method
from sqlanon.methods.full_domain import EncodedTable
from sqlanon.methods.private import Domains, Draws
from sqlanon.model.budget import one_after_the_other
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.lattice import Levels
from sqlanon.model.methods import ROLLED_UP
from sqlanon.model.policy import Policy
from sqlanon.model.release import PrivateReport, Release
from sqlanon.run.chance import Chance
from sqlanon.run.guarantee_private import private_guarantee
from sqlanon.run.own_taxonomies import with_own_taxonomies
from sqlanon.run.prepare import read_by
from sqlanon.run.prepare_private import (
    bounded,
    prepared,
    prepared_again,
    private_method,
    refuse_what_cannot_be_drawn,
    unit_of,
)
from sqlanon.run.progress import Progress, Stages, silent
from sqlanon.run.report_private import Drawn, private_provenance, private_report
from sqlanon.run.targets import Target, target_for


@dataclass(frozen=True)
class Chosen:
    """A node, and how its counts are drawn.

    Attributes:
        levels: the node.
        draw_counts: draws them, and returns the relations that combinations are in.
        with_left_over: whether what they do not show is drawn as well.
        thresholds: the least noisy count that a step shows.
    """

    levels: Levels
    draw_counts: Callable[[], list[Relation]]
    with_left_over: bool
    thresholds: Mapping[str, int]


@with_own_taxonomies
def anonymize_privately(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    into: Destination,
    chance: Chance,
    *,
    replace: Replace,
    progress: Progress = silent,
) -> Release:
    """Publish a private release of a source.

    Args:
        engine: the database.
        source: what to anonymize.
        policy: what to publish, by which method.
        into: the target.
        chance: where randomness comes from, and what it is charged to.
        replace: whether an existing table, file or folder of that name may be replaced.
        progress: told of every stage; what it raises ends the run, except after the last stage has finished.

    Raises:
        PolicyError, TaxonomyError: the policy or a taxonomy does not fit the source, or what was spent before is about
            another unit of privacy; nothing was spent.
        BudgetError: the data set has less left than the method spends; nothing was spent.
        VerificationError: what was written is not what was drawn; it was withdrawn, and what was spent is spent.
        EngineError: the database or the file system refused a step. The target is as it was before in every case.
    """
    stages = Stages(progress)
    with stages.watching(engine):
        bound = prepared(engine, source, policy)
        into, policy = into.spelled_like(bound.policy.columns), bound.policy
        refuse_columns(policy, bound.columns, into.partition_by)
        read = read_by(engine, source, policy)
        accountant = Accountant(
            chance.ledger,
            dataset=chance.dataset,
            method=private_method(policy).name,
            policy_sha256=policy.sha256(),
            unit=unit_of(policy),
            files=chance.files,
        )
        with _telling_what_was_spent(accountant), target_for(engine, into, read, replace=replace) as target:
            release = _run(engine, bound, target, chance, accountant, stages)
    stages.finish()
    return release


def _run(
    engine: Engine, bound: BoundPolicy, target: Target, chance: Chance, accountant: Accountant, stages: Stages
) -> Release:
    """The stages up to the last one, which has begun and ends where the target is left."""
    with engine.transaction():
        bound = prepared_again(engine, bound)
        with stages.stage("encode"):
            counted = bounded(engine, bound, chance.source)
            table = full_domain.encode_table(engine, counted, label_losses=("ncp",), may_be_empty=True)
        domains = method.public_domains(engine, table.plan)
        refuse_what_cannot_be_drawn(bound, domains, table.context.row_count)
        wanted = private_method(bound.policy)
        # All steps are paid for before the first draw, so that no run ends half paid.
        draws = Draws(wanted, chance.source, accountant.charge(wanted.budgets))
        report = _published(engine, bound, table, draws, domains, target, chance, stages)
        stages.begin("publish")
    promised = private_guarantee(bound, report, is_private=chance.is_private, is_query=chance.is_query)
    return Release(into=target.name, node=report.node, guarantee=promised, report=report)


def _published(
    engine: Engine,
    bound: BoundPolicy,
    table: EncodedTable,
    draws: Draws,
    domains: Domains,
    target: Target,
    chance: Chance,
    stages: Stages,
) -> PrivateReport:
    """Draw, write and verify."""
    with stages.stage("search"):
        chosen = _chosen(engine, table, draws, domains)
    with stages.stage("release"):
        drawn = _draw(engine, table, chosen, draws)
        draft = private_provenance(bound, private_report(bound, drawn, chance, target.name, {}), chance)
        query = publishing.released_rows(engine, table.plan, target.takes_enums)
        written = target.write(query, draft, streamed=True)
    with stages.stage("verify"):
        _refuse_unlike(engine, table, written)
        found = _diagnosed(engine, bound, drawn.levels, written)
    method.drop_counts(engine)
    ipa_paper.drop_counts(engine)
    full_domain.drop_tables(engine, table)
    return private_report(bound, drawn, chance, target.name, stages.seconds, found)


@contextmanager
def _telling_what_was_spent(accountant: Accountant) -> Iterator[None]:
    """Have whatever ends the run tell what it was charged before."""
    try:
        yield
    except BaseException as error:
        if accountant.paid:
            with_spent(error, **one_after_the_other(accountant.paid).model_dump(mode="json"))
        raise


def _chosen(engine: Engine, table: EncodedTable, draws: Draws, domains: Domains) -> Chosen:
    """Choose a node by the algorithm that the policy asks for."""
    if draws.method.variant == "paper":
        (node,) = ipa_paper.chosen_nodes(engine, table, draws)
        return Chosen(node.levels, partial(ipa_paper.draw_counts, engine, table, draws, node), True, {})
    ((levels, _),) = method.chosen_nodes(engine, table, draws, domains)
    domain = domains.at(levels)
    draw_counts = partial(method.draw_counts, engine, table, levels, draws, domain)
    return Chosen(levels, draw_counts, ROLLED_UP in draws.charges, method.thresholds(draws.method, domain))


def _draw(engine: Engine, table: EncodedTable, chosen: Chosen, draws: Draws) -> Drawn:
    """Draw what is published, and put it in the order in which it is."""
    plan, levels = table.plan, chosen.levels
    combinations = chosen.draw_counts()
    publishing.make_labels(engine, plan, levels)
    engine.run(queries.equal_rows(plan, levels, combinations, with_left_over=chosen.with_left_over))
    found = engine.fetch(group_sizes(EQUAL_ROWS.table), "published rows")[0]
    return Drawn(levels, draws, chosen.thresholds, int(found["rows"]), int(found["groups"]))


def _refuse_unlike(engine: Engine, table: EncodedTable, written: ResolvedSource) -> None:
    unlike = engine.fetch(queries.unlike_what_was_drawn(table.plan, written.relation), "what was written")[0]["unlike"]
    if unlike:
        raise VerificationError(
            "what was written is not what was drawn; it was withdrawn, and what was spent is spent:",
            [f"{unlike:,} groups of equal rows differ in their number of rows"],
        )


def _diagnosed(
    engine: Engine, bound: BoundPolicy, levels: Levels, written: ResolvedSource
) -> dict[str, float | None] | None:
    """What is lost, measured on the true data, if the policy asks for it."""
    if not private_method(bound.policy).reveal_diagnostics:
        return None
    return engine.fetch(diagnostics(bound, bound.lattice.named(levels), written.relation), "diagnostics")[0]
