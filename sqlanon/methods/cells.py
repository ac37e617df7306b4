"""A source as cells: the one read of its rows, which every method begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.lattice import LevelLosses, LossContext
from sqlanon.queries.bind import BoundPolicy
from sqlanon.queries.cells.encoding import Encoding, LossStep, encoding
from sqlanon.queries.cells.information import INFORMATION, encode_information, with_information
from sqlanon.queries.cells.keys import key_layout
from sqlanon.queries.cells.labels import (
    CODED_LABELS,
    LABEL_LOSSES,
    encode_labels,
    key_labels,
    last_children,
    loss_steps,
)
from sqlanon.queries.cells.rows import cell_counts, encode_rows, unmapped_people
from sqlanon.queries.classes import summaries as evaluate
from sqlanon.queries.tables import taxonomies

NO_ROWS = dict.fromkeys(
    ("entropy", "lm", "ncp", "largest_lm", "largest_ncp", "least_information", "distinct_labels"), 0
)
"""What the levels of a table without rows lose."""


@dataclass(frozen=True)
class EncodedTable:
    """A source as cells, with what the losses of its nodes need."""

    plan: Encoding
    context: LossContext
    cell_count: int


def encode_table(
    engine: Compute, bound: BoundPolicy, *, label_losses: tuple[str, ...], may_be_empty: bool = False
) -> EncodedTable:
    """Read the rows once.

    Raises:
        PolicyError: the source has no rows, and may not be without.
        TaxonomyError: it has values that a taxonomy does not know.
    """
    plan = encode_taxonomies(engine, encoding(bound, label_losses=label_losses))
    for step in encode_rows(plan):
        engine.run(step)
    counts = engine.fetch(cell_counts(plan), "cells")[0]
    if counts["rows"] == 0 and not may_be_empty:
        raise PolicyError(f"{bound.description} has no rows: there is nothing to anonymize")
    if counts["unmapped"] > 0:
        _refuse_unmapped(engine, bound)
    _refuse_uncountable(bound, counts)
    if bound.population is not None:
        _refuse_unmapped_people(engine, plan)
    row_count = int(counts["rows"])
    losses = _level_losses(engine, plan)
    if INFORMATION in label_losses:
        plan = _with_information(engine, plan)
    context = LossContext(
        lattice=bound.lattice,
        losses=losses,
        row_count=row_count,
        allowed_rows=bound.policy.allowed_rows(row_count),
        k=bound.policy.k,
    )
    return EncodedTable(plan, context, int(counts["cells"]))


def encode_taxonomies(engine: Compute, plan: Encoding) -> Encoding:
    """Make the codes of all labels.

    Returns:
        the encoding with the layout of keys and with what labels lose.
    """
    for step in encode_labels(plan):
        engine.run(step)
    last = {
        (row["position"], row["depth"]): int(row["last_child"])
        for row in engine.fetch(last_children(), "labels", "node")
        if row["depth"] in plan.depths(row["position"])
    }
    plan = replace(plan, keys=key_layout(last))
    engine.run(key_labels(plan))
    engine.drop(CODED_LABELS)
    return _with_loss_steps(engine, plan, [name for name in plan.label_losses if name in LABEL_LOSSES])


def _with_information(engine: Compute, plan: Encoding) -> Encoding:
    """The encoding with the information of labels beside their codes, which takes the cells to know."""
    informed = with_information(plan)
    engine.run(encode_information(plan, informed.labels))
    engine.drop(plan.labels)
    return _with_loss_steps(engine, informed, [INFORMATION])


def _with_loss_steps(engine: Compute, plan: Encoding, measures: Sequence[str]) -> Encoding:
    """The encoding with what labels lose as step functions of their bits."""
    rows = engine.fetch(loss_steps(plan, measures), "losses of labels", "node") if measures else []
    steps: dict[tuple[str, int, int], list[LossStep]] = {}
    for row in sorted(rows, key=lambda row: tuple(row["last_bits"])):
        place = (row["position"], row["depth"])
        last_bits = tuple(row["last_bits"][word] for word in plan.keys.label_masks(*place))
        for measure in measures:
            steps.setdefault((measure, *place), []).append((last_bits, row[measure]))
    return replace(plan, loss_steps={**plan.loss_steps, **{place: tuple(found) for place, found in steps.items()}})


def _level_losses(engine: Compute, plan: Encoding) -> LevelLosses:
    rows = engine.fetch(evaluate.level_losses(plan), "losses of levels", "node")
    found = {(row["position"], row["depth"]): row for row in rows}
    shapes = plan.bound.shapes
    width = len(shapes)
    unweighted = plan.bound.policy.row_weight is None

    def table(measure: str, scale: float) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(float(found.get((position, depth), NO_ROWS)[measure]) / scale for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        )

    prec = tuple(tuple(depth / max(shape.height, 1) / width for depth in range(shape.height + 1)) for shape in shapes)
    return LevelLosses(
        prec=prec,
        entropy=table("entropy", 1),
        lm=table("lm", width),
        ncp=table("ncp", width),
        distinct_labels=tuple(
            tuple(int(found.get((position, depth), NO_ROWS)["distinct_labels"]) for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        ),
        largest_lm=table("largest_lm", 1) if unweighted else (),
        largest_ncp=table("largest_ncp", 1) if unweighted else (),
        least_information=table("least_information", 1) if unweighted else (),
    )


def _refuse_unmapped(engine: Compute, bound: BoundPolicy) -> None:
    columns = (*bound.policy.quasi_identifiers, *bound.sensitive_shapes)
    query = taxonomies.unmapped_values(bound.source, columns, bound.taxonomy)
    gaps = engine.fetch(query, "values without a label")
    raise TaxonomyError(
        f"values of {bound.description} that their taxonomy does not know; values are compared as text, so check "
        "spelling, white space and type. The queries list them in a session that has the taxonomies:",
        [
            f'"{gap["attribute"]}": {gap["unmapped_values"]:,} distinct values in {gap["unmapped_rows"]:,} rows: '
            + taxonomies.listing(bound.source, gap["attribute"], bound.taxonomy, gap["attribute"])
            for gap in gaps
            if gap["unmapped_values"]
        ],
    )


def _refuse_uncountable(bound: BoundPolicy, counts: dict[str, int]) -> None:
    """Refuse weights that are none, and rows of nobody."""
    policy = bound.policy
    problems = []
    if counts.get("unweighted"):
        rows = counts["unweighted"]
        problems.append(f'"{policy.row_weight}": NULL, not positive or infinite in the cells of {rows:,} rows')
    if counts.get("anonymous"):
        problems.append(f'"{policy.individual}": NULL in {counts["anonymous"]:,} rows, which belong to no individual')
    if problems:
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)


def _refuse_unmapped_people(engine: Compute, plan: Encoding) -> None:
    people = engine.fetch(unmapped_people(plan), "the population")[0]["unmapped"]
    if people > 0:
        name = plan.bound.policy.population
        raise TaxonomyError(
            f'the population "{name}" has {people:,} people with a value that a taxonomy does not know',
            ["load taxonomies that cover it, with its values spelled as in the source"],
        )
