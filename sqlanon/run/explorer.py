"""A lattice to explore: its nodes in the order of a run, and an example of what becomes of each column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.carried_taxonomies import with_own_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.progress import Progress, Stopped
from sqlanon.methods.stages import Stages
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import LM, NCP, ChargingModel, DMStar, Prec, QualityModel
from sqlanon.model.release.explorer import ASKED, ExploredColumn, ExploredNodes, Explorer, NodesAtK
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import examination
from sqlanon.queries import taxonomy_queries as taxonomies
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import string
from sqlanon.run.lattice import NODES, examined, record_of

SQL = Queries("lattice")

MAX_NODES = 70_000
"""A lattice of more nodes is shown in part: browsers draw them in a tenth of a second."""

SAMPLED_NODES = 50_000
"""How many nodes of such a lattice are shown besides the best ones."""

DIGITS = 6
"""Digits of the largest loss."""


@with_own_taxonomies
def explorer(
    engine: Engine, source: ResolvedSource, policy: Policy, progress: Progress, stopped: Stopped | None = None
) -> Explorer:
    """Check every node, or as many as there is time for; see :meth:`sqlanon.Session.explore`."""
    stages = Stages(progress)
    with stages.watching(engine), engine.transaction(), engine.scratch():
        other_ks = [k for k in ASKED if k > policy.criteria.k and _takes(policy, k)]
        found = examined(
            engine,
            source,
            policy,
            stages,
            stopped,
            lambda count: [policy.with_k(k) for k in other_ks if count <= MAX_NODES],
        )
        table, nodes = found.table, found.nodes
        engine.put(NODES, nodes.drop_columns(["models"]).append_column("place", pa.array(found.places, pa.int64())))
        context, k = table.context, max(policy.criteria.k, 1)
        largest = max((loss for loss in nodes["loss"].to_pylist()), default=0.0)
        unit = 10.0 ** (math.ceil(math.log10(largest)) - DIGITS) if largest > 0 else 1.0
        best_k = max((each or 0 for each in nodes["best_k"].to_pylist()), default=0)
        asked = tuple(sorted({k, *(each for each in ASKED if each <= best_k)}))
        shown = _shown(engine, nodes.num_rows, asked, k, unit)
        lattice_size, record = table.context.lattice.size, record_of(nodes)
        return Explorer(
            source=source.description,
            row_count=context.row_count,
            k=k,
            asked=asked,
            allowed_rows=context.allowed_rows,
            measure=policy.quality.measure,
            is_share=isinstance(policy.quality, LM | NCP | Prec),
            depends_on_k=_depends_on_k(policy.quality),
            loss_unit=unit,
            node_count=lattice_size,
            checked_nodes=nodes.num_rows,
            lower_bound=record.lower_bound,
            gap=record.gap,
            columns=_columns(engine, table),
            nodes=shown,
            others=tuple(_at_other_k(engine, shown, other_ks, k, unit)) if lattice_size <= MAX_NODES else (),
        )


def _takes(policy: Policy, k: int) -> bool:
    """Whether the method of a policy takes k-anonymity with another k."""
    try:
        policy.with_k(k)
    except PolicyError:
        return False
    return True


def _depends_on_k(quality: QualityModel) -> bool:
    """Whether the loss of a node depends on which rows are left out."""
    return quality.charges if isinstance(quality, ChargingModel) else not isinstance(quality, DMStar)


def _shown(engine: Engine, count: int, asked: tuple[int, ...], k: int, unit: float) -> ExploredNodes:
    ranked = SQL.query("ranked_nodes", nodes=NODES)
    if count > MAX_NODES:
        numbers = [exp.Literal.number(each) for each in asked]
        ranked = SQL.query("chosen_nodes", ranked=ranked, asked=numbers, count=count, sample=SAMPLED_NODES)
    rows = engine.fetch(SQL.query("shown_nodes", ranked=ranked, k=k), "nodes of the page", "node")
    return ExploredNodes(
        places=tuple(row["place"] for row in rows),
        losses=tuple(round(row["loss"] / unit) for row in rows),
        best_k=tuple(row["best_k"] for row in rows),
        suppressed_rows=tuple(row["suppressed_rows"] for row in rows),
        class_counts=tuple(row["class_count"] for row in rows),
    )


def _at_other_k(
    engine: Engine, shown: ExploredNodes, other_ks: Sequence[int], k: int, unit: float
) -> Iterator[NodesAtK]:
    """The nodes at each k that some of them attain."""
    positions = {place: position for position, place in enumerate(shown.places)}
    for position, other in enumerate(other_ks, start=1):
        query = SQL.query("nodes_at", nodes=NODES, position=position, asked=other, k=k)
        rows = engine.fetch(query, "nodes at another k", "node")
        if rows:
            yield NodesAtK(
                k=other,
                order=tuple(positions[row["place"]] for row in rows),
                losses=tuple(round(row["loss"] / unit) for row in rows),
                suppressed_rows=tuple(row["suppressed_rows"] for row in rows),
            )


def _columns(engine: Engine, table: EncodedTable) -> tuple[ExploredColumn, ...]:
    lattice = table.context.lattice
    examples = _examples(engine, table)
    return tuple(
        ExploredColumn(name=name, least=least, most=most, example=tuple(examples.get(name, ())))
        for name, least, most in zip(lattice.quasi_identifiers, lattice.bottom, lattice.top, strict=True)
    )


def _examples(engine: Engine, table: EncodedTable) -> dict[str, list[str | None]]:
    """The labels of one value of each column at each level: of a value that k rows have, or of a declared one."""
    bound, encoding = table.bound, table.encoding
    names = bound.policy.taxonomy_columns
    declared = [name for name, shape in zip(names, bound.shapes, strict=True) if shape.domain == "declared"]
    engine.run(examination.judged_cells(encoding, table.context.lattice.bottom))
    held = examination.rows_by_label(encoding, dict.fromkeys(range(len(names)), 0), _fewest_rows(bound.policy))
    found: list[dict[str, Any]] = engine.fetch(
        SQL.query(
            "examples",
            labels=taxonomies.all_labels(bound.taxonomy, names),
            held=held,
            attributes=[*map(string, names)],
            declared=[*map(string, declared)] or [exp.null()],
        ),
        "an example of each column",
        "node",
    )
    examples: dict[str, list[str | None]] = {}
    for row in found:
        examples.setdefault(row["attribute"], []).append(row["label"])
    return examples


def _fewest_rows(policy: Policy) -> int:
    """How many rows a value must have to be shown; more than there are if k counts individuals, not rows."""
    return 2**62 if policy.individual is not None else max(policy.criteria.k, 2)
