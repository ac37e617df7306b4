"""The SQL of every step of a run with a private method: nothing of it draws, for noise comes in as tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.compiler import private, unseen
from sqlanon.compiler.encode import cell_counts, encode_labels, encode_rows
from sqlanon.compiler.encoding import Encoding, encoding
from sqlanon.compiler.release import release
from sqlanon.compiler.release_labels import label_steps, label_types
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods import private as method
from sqlanon.methods.full_domain import encode_taxonomies
from sqlanon.methods.private import Domains
from sqlanon.model.lattice import Levels
from sqlanon.model.methods import CELLS, ROLLED_UP
from sqlanon.model.policy import Policy
from sqlanon.run.explained import ExplainedStep, explained
from sqlanon.run.private import prepared, private_method


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
        *_drawn(plan, method.public_node(plan.bound) or bound.lattice.bottom, domains),
    ]


def _drawn(plan: Encoding, levels: Levels, domains: Domains) -> Iterator[ExplainedStep]:
    wanted, domain = private_method(plan.bound.policy), domains.at(levels)
    least = method.thresholds(wanted, domain)
    if wanted.chooses_node:
        scores = private.node_scores(plan, [levels], least[CELLS], cells=None, apart=True)
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
    yield from (explained("the type of its labels", statement) for statement in label_types(plan, levels))
    shown = private.equal_rows(plan, levels, relations, with_left_over=ROLLED_UP in least)
    for step in (*label_steps(plan, levels), shown):
        yield explained(step.purpose, step.query, step.makes.name)
    yield explained("the release", release(plan))
