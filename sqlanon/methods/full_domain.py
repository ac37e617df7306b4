"""Full-domain generalization with suppression: one node of the lattice for the whole table.

The conversation between the search and the database: up go node summaries, down comes a node.
Source: Samarati 2001; El Emam et al. 2009; spec/ola.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlanon.compiler import evaluate, taxonomies
from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.encode import Encoding, cell_counts, encode, encoding
from sqlanon.compiler.nodes import Relation, Step
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, TaxonomyError, UnsatisfiableError
from sqlanon.model.lattice import LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.model.privacy import PrivacyModel
from sqlanon.search import SEARCHES, Search, SearchOutcome, SearchProblem

Observer = Callable[[int, int], None]
"""Told after every batch how many nodes were checked, and how many the lattice has."""

KEPT = Relation("anon_kept", "class")


@dataclass(frozen=True)
class EncodedTable:
    """A source as cells, with what the losses of its nodes need."""

    plan: Encoding
    context: LossContext


def encode_table(engine: Engine, bound: BoundPolicy, *, label_losses: tuple[str, ...]) -> EncodedTable:
    """Read the rows once.

    Raises:
        PolicyError: the source has no rows.
        TaxonomyError: it has values that a taxonomy does not know.
    """
    plan = encoding(bound, label_losses=label_losses)
    for step in encode(plan):
        engine.run(step)
    counts = engine.fetch(cell_counts(plan), "cells")[0]
    if counts["rows"] == 0:
        raise PolicyError(f"{bound.description} has no rows: there is nothing to anonymize")
    if counts["unmapped"] > 0:
        _refuse_unmapped(engine, bound)
    row_count = int(counts["rows"])
    context = LossContext(
        lattice=bound.lattice,
        losses=_level_losses(engine, plan),
        row_count=row_count,
        allowed_rows=bound.policy.allowed_rows(row_count),
        k=bound.policy.k,
    )
    return EncodedTable(plan, context)


def drop_tables(engine: Engine, table: EncodedTable) -> None:
    """Remove the temporary tables of :func:`encode_table` and :func:`keep_classes`."""
    for relation in (KEPT, table.plan.cells, *table.plan.codes):
        engine.drop(relation)


def choose_node(engine: Engine, table: EncodedTable, observer: Observer) -> SearchOutcome:
    """Search the lattice for the satisfying node of least loss.

    Raises:
        UnsatisfiableError: no node satisfies the policy; names the models and the node that comes closest.
    """
    policy = table.plan.bound.policy
    search = SEARCHES[policy.search](SearchProblem(policy.quality, table.context))
    outcome = _answered(engine, table, search, observer)
    if outcome.best is None:
        raise _unsatisfiable(table, outcome)
    return outcome


def node_summaries(engine: Engine, table: EncodedTable, batch: Sequence[Levels]) -> list[NodeSummary]:
    """The summaries of a batch of nodes, in its order."""
    query = evaluate.node_summaries(table.plan, batch, table.context.row_count)
    rows = engine.fetch(query, "nodes of the lattice", "node")
    return [NodeSummary(levels=batch[row.pop("node")], **row) for row in sorted(rows, key=lambda row: int(row["node"]))]


def keep_classes(engine: Engine, table: EncodedTable, levels: Levels) -> Relation:
    """Make the table of the classes that are kept at a node."""
    engine.run(Step(KEPT, evaluate.kept_classes(table.plan, levels), "kept classes"))
    return KEPT


def attained(engine: Engine, table: EncodedTable, levels: Levels) -> list[float]:
    """What the kept classes of a node attain in each privacy model, in the policy's order."""
    row = engine.fetch(evaluate.attained(table.plan, levels), "attained measures", "node")[0]
    return [row[f"attained_{index}"] for index in range(len(table.plan.bound.policy.privacy))]


def masked_rows_fall_short(engine: Engine, table: EncodedTable, levels: Levels) -> list[PrivacyModel]:
    """The privacy models that the suppressed rows of a node do not meet as one class of their own."""
    row = engine.fetch(evaluate.masked_class(table.plan, levels, KEPT.table), "masked rows", "class")[0]
    models = table.plan.bound.policy.privacy
    return [model for index, model in enumerate(models) if (row[f"attained_{index}"] or 0) < model.threshold]


def _answered(engine: Engine, table: EncodedTable, search: Search, observer: Observer) -> SearchOutcome:
    """Drive a search: give it the summaries of the nodes that it yields until it returns."""
    checked = 0
    try:
        batch = next(search)
        while True:
            summaries = node_summaries(engine, table, batch)
            checked += len(batch)
            observer(checked, table.context.lattice.size)
            batch = search.send(summaries)
    except StopIteration as finished:
        outcome: SearchOutcome = finished.value
        return outcome


def _level_losses(engine: Engine, plan: Encoding) -> LevelLosses:
    rows = engine.fetch(evaluate.level_losses(plan), "losses of levels", "node")
    found = {(row["position"], row["depth"]): row for row in rows}
    shapes = plan.bound.shapes
    width = len(shapes)

    def table(measure: str, scale: float) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(float(found[position, depth][measure]) / scale for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        )

    prec = tuple(tuple(depth / max(shape.height, 1) / width for depth in range(shape.height + 1)) for shape in shapes)
    return LevelLosses(prec=prec, entropy=table("entropy", 1), lm=table("lm", width), ncp=table("ncp", width))


def _refuse_unmapped(engine: Engine, bound: BoundPolicy) -> None:
    query = taxonomies.unmapped_values(bound.source, bound.policy.quasi_identifiers, bound.taxonomy)
    gaps = engine.fetch(query, "values without a label")
    raise TaxonomyError(
        f"values of {bound.description} that their taxonomy does not know; values are compared as text, so check "
        "spelling, white space and type:",
        [
            f'"{gap["attribute"]}": {gap["unmapped_values"]:,} distinct values in {gap["unmapped_rows"]:,} rows'
            for gap in gaps
            if gap["unmapped_values"]
        ],
    )


def _unsatisfiable(table: EncodedTable, outcome: SearchOutcome) -> UnsatisfiableError:
    policy = table.plan.bound.policy
    context = table.context
    lines = [f"required: {', '.join(str(model) for model in policy.privacy)}"]
    if outcome.closest is not None:
        node = ", ".join(f"{name} {level}" for name, level in context.lattice.named(outcome.closest.levels).items())
        lines.append(
            f"closest of the {outcome.checked_nodes:,} nodes checked: {node}; it would suppress "
            f"{outcome.closest.suppressed_rows:,} of {context.row_count:,} rows"
        )
    lines.append("raise suppression_limit, ask for less, or give the taxonomies a more general top")
    return UnsatisfiableError(
        f"no node meets the privacy models with at most {context.allowed_rows:,} rows suppressed "
        f"(suppression_limit {policy.suppression_limit:g}):",
        lines,
    )
