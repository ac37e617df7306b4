"""The SQL of every step of a run with a private method: nothing of it draws, for noise comes in as tables."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from sqlanon.compiler import ipa_paper, private, unseen
from sqlanon.compiler.cells import cell_counts, encode_rows
from sqlanon.compiler.encode import encode_labels
from sqlanon.compiler.encoding import Encoding, encoding
from sqlanon.compiler.nodes import Relation
from sqlanon.compiler.release import release
from sqlanon.compiler.release_labels import label_steps, label_types
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods import private as method
from sqlanon.methods.full_domain import encode_taxonomies
from sqlanon.methods.private import Domains
from sqlanon.model.lattice import Levels
from sqlanon.model.methods import CELLS, ROLLED_UP, VALUE
from sqlanon.model.policy import Policy
from sqlanon.run.explained import ExplainedStep, explained
from sqlanon.run.prepare_private import prepared, private_method

Drawing = Generator[ExplainedStep, None, tuple[list[Relation], bool]]
"""Steps, and in the end the relations of combinations, and whether what they do not show is drawn as well."""

VALUES = 255
"""As many sensitive values are taken to be there: how many there are is not known before rows are read."""


def explain_private(engine: Engine, source: ResolvedSource, policy: Policy) -> list[ExplainedStep]:
    """The steps in order, at the node that is public or else at the bottom; see :meth:`sqlanon.Session.explain`."""
    bound = prepared(engine, source, policy)
    made = encode_labels(encoding(bound, label_losses=("ncp",)))
    with engine.transaction():
        plan = encode_taxonomies(engine, encoding(bound, label_losses=("ncp",)))
        domains = method.public_domains(engine, plan)
        method.drop_counts(engine)
        for step in made:
            engine.drop(step.makes)
    steps = [explained(step.purpose, step.query, step.makes.name) for step in (*made, *encode_rows(plan))]
    return [
        *steps,
        explained("count the cells and find unmapped values", cell_counts(plan)),
        *_shown(plan, method.public_node(plan.bound) or bound.lattice.bottom, domains),
    ]


def _shown(plan: Encoding, levels: Levels, domains: Domains) -> Iterator[ExplainedStep]:
    """What is shown of a node, and how it becomes the release."""
    is_paper = private_method(plan.bound.policy).variant == "paper"
    drawn = _drawn_as_published(plan, levels) if is_paper else _drawn(plan, levels, domains)
    relations, with_left_over = yield from drawn
    yield from (explained("the type of its labels", statement) for statement in label_types(plan, levels))
    shown = private.equal_rows(plan, levels, relations, with_left_over=with_left_over)
    for step in (*label_steps(plan, levels), shown):
        yield explained(step.purpose, step.query, step.makes.name)
    yield explained("the release", release(plan))


def _drawn_as_published(plan: Encoding, levels: Levels) -> Drawing:
    wanted = private_method(plan.bound.policy)
    epsilon = float(wanted.budgets[VALUE].epsilon)
    made = [ipa_paper.values(plan), *ipa_paper.class_steps(plan, [levels], epsilon), *ipa_paper.perturbation_steps()]
    yield from (explained(step.purpose, step.query, step.makes.name) for step in made)
    if wanted.chooses_node:
        yield explained("what a batch of nodes is worth (here: the bottom)", ipa_paper.utilities())
    shown = ipa_paper.shown_steps(plan, levels)
    yield from (explained(step.purpose, step.query, step.makes.name) for step in shown)
    return [private.NOISY_COMBINATIONS], True


def _drawn(plan: Encoding, levels: Levels, domains: Domains) -> Drawing:
    wanted, domain = private_method(plan.bound.policy), domains.at(levels)
    least = method.thresholds(wanted, domain)
    if wanted.chooses_node:
        yield explained("losses of every level, which tell what need not be scored", private.level_losses(plan))
        combined = private.by_combination(plan, VALUES)
        keyed = private.keyed_cells(plan, combined)
        yield explained(keyed.purpose, keyed.query, keyed.makes.name)
        scores = private.node_scores(combined, [levels], least[CELLS], cells=None, apart=True)
        yield explained("score a batch of nodes (here: the bottom)", scores)
    steps = [private.combinations(plan, levels), private.noisy_combinations(least[CELLS])]
    relations = [private.NOISY_COMBINATIONS]
    if wanted.needs_value_domain:
        steps = [unseen.domain_values(plan), *steps, unseen.seen(plan, levels, domain)]
        steps.append(unseen.unseen(plan, levels, domain))
        relations.append(unseen.UNSEEN)
    if ROLLED_UP in least:
        rows = private.left_over(plan)
        steps.append(private.placed_left_over(plan, unseen.every_value(plan, rows, 1) if len(relations) > 1 else rows))
        steps.append(private.noisy_left_over(least[ROLLED_UP]))
    yield from (explained(step.purpose, step.query, step.makes.name) for step in steps)
    return relations, ROLLED_UP in least
