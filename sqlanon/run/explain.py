"""The SQL of every step of a run, for reading: nothing is executed."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler import evaluate
from sqlanon.compiler.cells import cell_counts, encode_rows
from sqlanon.compiler.encode import encode_labels
from sqlanon.compiler.encoding import encoding
from sqlanon.compiler.grouping import by_key
from sqlanon.compiler.information import INFORMATION, encode_information, with_information
from sqlanon.compiler.release import EQUAL_ROWS, equal_rows, expected_groups, release
from sqlanon.compiler.release_labels import label_steps, label_types
from sqlanon.compiler.verify import Comparison, attained
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.methods.full_domain import KEPT, encode_taxonomies
from sqlanon.model.policy import Policy
from sqlanon.run.explain_private import explain_private
from sqlanon.run.explained import ExplainedStep, explained
from sqlanon.run.own_taxonomies import with_own_taxonomies
from sqlanon.run.prepare import prepare


@with_own_taxonomies
def explain(engine: Engine, source: ResolvedSource, policy: Policy) -> list[ExplainedStep]:
    """The steps of a run in order; see :meth:`sqlanon.Session.explain`.

    Steps that depend on the chosen node are shown for the bottom node. Only taxonomies are read, for what their labels
    lose is spelled out in the query of a node.
    """
    if policy.method is not None:
        return explain_private(engine, source, policy)
    bound = prepare(engine, source, policy)
    plan = encoding(bound, label_losses=policy.quality.label_losses)
    made = encode_labels(plan)
    with engine.transaction():
        plan = encode_taxonomies(engine, plan)
        for step in made:
            engine.drop(step.makes)
    guess = expected_groups(plan, KEPT)
    bottom, masked = bound.lattice.bottom, policy.suppression == "mask"
    steps = [explained(step.purpose, step.query, step.makes.name) for step in (*made, *encode_rows(plan))]
    steps += [
        explained("count the cells and find unmapped values", cell_counts(plan)),
        explained("losses of every level", evaluate.level_losses(plan)),
    ]
    if INFORMATION in plan.label_losses:
        informed = with_information(plan)
        steps += [
            explained(step.purpose, step.query, step.makes.name) for step in encode_information(plan, informed.codes)
        ]
        plan = informed
    steps += [
        explained("check a batch of nodes (here: the bottom)", evaluate.node_summaries(plan, [bottom], 0)),
        explained("classes kept at the chosen node", evaluate.kept_classes(plan, bottom), KEPT.name),
        explained("what they attain", evaluate.attained(by_key(plan, bottom))),
        *(explained("the type of its labels", statement) for statement in label_types(plan, bottom)),
        *(explained(step.purpose, step.query, step.makes.name) for step in label_steps(plan, bottom)),
        *([] if guess is None else [explained("how many groups of equal rows to expect", guess)]),
        explained("equal rows", equal_rows(plan, bottom, KEPT, masked=masked), EQUAL_ROWS.name),
        explained("the release", release(plan)),
    ]
    written = exp.to_table("the_release")
    beside = Comparison(bound.taxonomy, bound.source, bound.population)
    return steps + [
        explained(f"verify {model}", attained(written, policy, limit, beside))
        for model in policy.privacy
        for limit in model.bounds
    ]
