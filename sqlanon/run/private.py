"""One run of a private method: bind, encode, charge, draw, release, verify, publish.

What is charged is in the ledger before anything is drawn, and stays there whatever happens to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlanon.compiler import private as queries
from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.bounded import anonymous_rows, bounded_rows
from sqlanon.compiler.diagnostics import diagnostics
from sqlanon.compiler.nodes import Relation
from sqlanon.compiler.partitions import refuse_columns
from sqlanon.compiler.release import release as released_rows
from sqlanon.compiler.release_labels import label_steps, label_types
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError, VerificationError
from sqlanon.mechanisms.accountant import Accountant, Charge, Ledger
from sqlanon.mechanisms.opendp import OpenDPSource
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods import full_domain, ipa_paper
from sqlanon.methods import private as method
from sqlanon.methods.full_domain import EncodedTable
from sqlanon.methods.private import Domains, Draws
from sqlanon.model.destination import Destination
from sqlanon.model.lattice import Levels
from sqlanon.model.methods import ROLLED_UP, PrivateMethod
from sqlanon.model.policy import Policy
from sqlanon.model.release import PrivateReport, Release, Spent
from sqlanon.run.guarantee_private import NOT_PRIVATE, private_guarantee, why_void
from sqlanon.run.ledger import dataset_of, open_ledger
from sqlanon.run.prepare import prepare, read_by
from sqlanon.run.progress import Progress, Stages, silent
from sqlanon.run.provenance import note
from sqlanon.run.targets import Target, target_for


@dataclass(frozen=True)
class Chance:
    """Where a run takes chance from, and who pays: no ledger for a source that is not private."""

    source: RandomSource
    ledger: Ledger | None
    dataset: str

    @classmethod
    def found(
        cls,
        engine: Engine,
        source: ResolvedSource,
        policy: Policy,
        dataset: str | None,
        random_source: RandomSource | None,
        ledger: Path | None,
    ) -> Chance:
        """The operating system's randomness if no other is given, and the ledger if what is drawn claims to be private.

        Raises:
            PolicyError: OpenDP is not installed, or the source needs a name as a data set.
            EngineError: there is no ledger that outlives the session.
        """
        chosen = OpenDPSource() if random_source is None else random_source
        if not chosen.is_private or not private_method(policy).claims_privacy:
            return cls(chosen, None, "")
        return cls(chosen, open_ledger(engine, ledger), dataset_of(source, dataset))


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


@dataclass(frozen=True)
class Drawn:
    """What is to be published."""

    levels: Levels
    draws: Draws
    thresholds: Mapping[str, int]
    rows: int
    groups: int


def anonymize_privately(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    into: Destination,
    chance: Chance,
    *,
    replace: bool,
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
        PolicyError, TaxonomyError: the policy or a taxonomy does not fit the source; nothing was spent.
        BudgetError: the data set has less left than the method spends; nothing was spent.
        VerificationError: what was written is not what was drawn; it was withdrawn, and what was spent is spent.
        EngineError: the database or the file system refused a step. The target is as it was before in every case.
    """
    stages = Stages(progress)
    with stages.watching(engine):
        bound = prepared(engine, source, policy)
        refuse_columns(policy, bound.columns, into.partition_by)
        read = read_by(engine, source, policy)
        with target_for(engine, into, read, replace=replace) as target:
            release = _run(engine, bound, target, chance, stages)
    stages.finish()
    return release


def prepared(engine: Engine, source: ResolvedSource, policy: Policy) -> BoundPolicy:
    """A policy with a private method, bound to a source.

    Raises:
        PolicyError: as :func:`sqlanon.run.prepare.prepare`; or the sensitive column is no category.
        TaxonomyError: likewise; or the values of a taxonomy were observed, and that is not accepted.
    """
    bound = prepare(engine, source, policy)
    _refuse_node(bound)
    _refuse_observed(bound)
    _refuse_unfit_type(bound)
    return bound


def private_method(policy: Policy) -> PrivateMethod:
    """The method of a policy that has one."""
    assert policy.method is not None
    return policy.method


def bounded(engine: Engine, bound: BoundPolicy, source: RandomSource) -> BoundPolicy:
    """The same with a source in which no individual has more rows than the method allows, if it knows individuals.

    Raises:
        PolicyError: rows belong to no individual.
    """
    individual = bound.policy.individual
    if individual is None:
        return bound
    anonymous = engine.fetch(anonymous_rows(bound.source, individual), "individuals")[0]["rows"]
    if anonymous:
        raise PolicyError(
            f"the policy does not fit {bound.description}:",
            [f'"{individual}": NULL in {anonymous:,} rows, which belong to no individual'],
        )
    rows = bounded_rows(bound.source, individual, private_method(bound.policy).rows_per_individual, source.seed())
    return replace(bound, source=rows, policy=bound.policy.model_copy(update={"individual": None}))


def _run(engine: Engine, bound: BoundPolicy, target: Target, chance: Chance, stages: Stages) -> Release:
    """The stages up to the last one, which has begun and ends where the target is left."""
    with engine.transaction():
        with stages.stage("encode"):
            counted = bounded(engine, bound, chance.source)
            table = full_domain.encode_table(engine, counted, label_losses=("ncp",), may_be_empty=True)
        domains = method.public_domains(engine, table.plan)
        draws = _charged(bound, chance)
        with stages.stage("search"):
            chosen = _chosen(engine, table, draws, domains)
        with stages.stage("release"):
            drawn = _draw(engine, table, chosen, draws)
            written = target.write(
                released_rows(table.plan), _provenance(bound, _report(bound, drawn, target.name, {})), streamed=True
            )
        with stages.stage("verify"):
            _refuse_unlike(engine, table, written)
            found = _diagnosed(engine, bound, drawn.levels, written)
        method.drop_counts(engine)
        ipa_paper.drop_counts(engine)
        full_domain.drop_tables(engine, table)
        report = _report(bound, drawn, target.name, stages.seconds, found)
        stages.begin("publish")
    promised = private_guarantee(bound, report, source_is_private=chance.source.is_private)
    return Release(into=target.name, node=report.node, guarantee=promised, report=report)


def _charged(bound: BoundPolicy, chance: Chance) -> Draws:
    """Pay for all steps before the first draw, so that no run ends half paid."""
    wanted = private_method(bound.policy)
    accountant = Accountant(
        chance.ledger, dataset=chance.dataset, method=wanted.name, policy_sha256=bound.policy.sha256()
    )
    return Draws(wanted, chance.source, accountant.charge(wanted.budgets))


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
    for statement in label_types(plan, levels):
        engine.execute(statement, "types of labels")
    for step in label_steps(plan, levels):
        engine.run(step)
    engine.run(queries.equal_rows(plan, levels, combinations, with_left_over=chosen.with_left_over))
    found = engine.fetch(queries.published_rows(), "published rows")[0]
    return Drawn(levels, draws, chosen.thresholds, int(found["rows"]), int(found["groups"]))


def _refuse_unlike(engine: Engine, table: EncodedTable, written: ResolvedSource) -> None:
    unlike = engine.fetch(queries.unlike_what_was_drawn(table.plan, written.relation), "what was written")[0]["unlike"]
    if unlike:
        raise VerificationError(
            "what was written is not what was drawn; it was withdrawn, and what was spent is spent:",
            [f"{unlike:,} groups of equal rows differ in their number of rows"],
        )


def _refuse_node(bound: BoundPolicy) -> None:
    """A public node must be one of the lattice."""
    node, lattice = method.public_node(bound), bound.lattice
    problems = [
        f'method.node: "{name}" has levels {least} to {most}, so not {level}'
        for name, least, level, most in zip(
            lattice.quasi_identifiers, lattice.bottom, node or (), lattice.top, strict=node is not None
        )
        if not least <= level <= most
    ]
    if problems:
        raise PolicyError("the policy does not fit the taxonomies:", problems)


def _refuse_observed(bound: BoundPolicy) -> None:
    """Labels that were made from the data tell of it, whatever noise is added."""
    observed = [name for name, domain in domains(bound).items() if domain == "observed"]
    wanted = private_method(bound.policy)
    if observed and wanted.claims_privacy and not wanted.accept_observed_domain:
        raise TaxonomyError(
            "the values of these taxonomies were read off the data, which would be published with them; declare them "
            "(values of your own, or a range), or accept_observed_domain=True if everybody knows which values occur:",
            [f'"{name}"' for name in observed],
        )


def _refuse_unfit_type(bound: BoundPolicy) -> None:
    (name,) = bound.policy.sensitive
    kind = next(found.type for found in bound.columns if found.name == name)
    wanted = private_method(bound.policy)
    if wanted.needs_value_domain and not queries.is_text(kind):
        raise PolicyError(
            f'with δ = 0 the values of "{name}" are those of its taxonomy; cast it from {kind} to VARCHAR'
        )
    if not queries.is_category(kind):
        raise PolicyError(
            f'"{name}" is published as a category, for which its type, {kind}, is not fit: equal values can be spelled '
            "in several ways; cast it to VARCHAR in a view"
        )


def domains(bound: BoundPolicy) -> dict[str, str]:
    """Whether the values of each taxonomy that a method uses were declared or observed."""
    shapes = dict(zip(bound.policy.quasi_identifiers, bound.shapes, strict=True)) | dict(bound.sensitive_shapes)
    return {name: shape.domain for name, shape in shapes.items()}


def _diagnosed(
    engine: Engine, bound: BoundPolicy, levels: Levels, written: ResolvedSource
) -> dict[str, float | None] | None:
    """What is lost, measured on the true data, if the policy asks for it."""
    if not private_method(bound.policy).reveal_diagnostics:
        return None
    return engine.fetch(diagnostics(bound, bound.lattice.named(levels), written.relation), "diagnostics")[0]


def _report(
    bound: BoundPolicy,
    drawn: Drawn,
    into: str,
    seconds: Mapping[str, float],
    found: dict[str, float | None] | None = None,
) -> PrivateReport:
    wanted, lattice = drawn.draws.method, bound.lattice
    return PrivateReport(
        source=bound.description,
        into=into,
        method=wanted.name,
        variant=wanted.variant,
        stamp=NOT_PRIVATE if why_void(wanted, drawn.draws.source.is_private) else None,
        node=lattice.named(drawn.levels),
        heights=lattice.named(lattice.heights),
        node_is_public=not wanted.chooses_node,
        domains=domains(bound),
        spent=tuple(_spent(step, charge) for step, charge in drawn.draws.charges.items()),
        thresholds=dict(drawn.thresholds),
        rows_per_individual=wanted.rows_per_individual,
        released_rows=drawn.rows,
        released_groups=drawn.groups,
        lattice_nodes=lattice.size if wanted.chooses_node else 1,
        seconds=dict(seconds),
        diagnostics=found,
    )


def _spent(step: str, charge: Charge) -> Spent:
    return Spent(step=step, budget=charge.budget, position=charge.position)


def _provenance(bound: BoundPolicy, report: PrivateReport) -> str:
    """What travels with the release: nothing that tells more of the data, such as how long a stage took."""
    shapes = dict(zip(bound.policy.quasi_identifiers, bound.shapes, strict=True)) | dict(bound.sensitive_shapes)
    return note(
        stamp=report.stamp,
        policy=bound.policy.model_dump(mode="json"),
        policy_sha256=bound.policy.sha256(),
        taxonomy_sha256={name: shape.sha256 for name, shape in shapes.items()},
        node=report.node,
        report=report.model_dump(mode="json", exclude={"source", "into", "seconds", "diagnostics"}),
    )
