"""The lattice as a table: every node with its measures, and what keeps it from satisfying the policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.bound import refuse_wide
from sqlanon.binding.carried_taxonomies import with_own_taxonomies
from sqlanon.binding.prepare import prepare, read_by, refuse_method
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.stages import Progress, Stages, Stopped, never, proven_gap
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.lattice import total
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import LatticeRecord
from sqlanon.nodes.choice import choose_node
from sqlanon.nodes.counting import Examination, examine_nodes, nodes_at_once
from sqlanon.nodes.table import EncodedTable, encode_table, refuse_empty, refuse_too_many
from sqlanon.publish.provenance import record_by
from sqlanon.publish.targets import target_for
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.nodes import DIALECT, Relation, aliased, column, select, string
from sqlanon.search import SearchOutcome, SearchProblem, batches, margin
from sqlanon.search.arrays import Bounds

NODES = Relation("anon_lattice", "node")

METADATA = b"sqlanon"  # metadata key for the record of a partial table
Places = np.ndarray[Any, np.dtype[np.int64]]  # indexes of nodes, from 0 in lexicographic order of levels

MAX_CELLS = 40_000_000
"""Cells times nodes that are examined in some seconds (tests.benchmarks.exploration)."""
MIN_CELLS = 5_000  # a node of fewer cells takes as long

OTHERS = "others"
OTHER = pa.struct([("loss", pa.float64()), ("suppressed_rows", pa.int64())])

MODELS = "models"

MODEL = pa.struct(
    [
        ("model", pa.string()),
        ("measure", pa.string()),
        ("required", pa.float64()),
        ("worst", pa.float64()),
        ("violating_rows", pa.int64()),
    ]
)
SCHEMA = pa.schema(
    [
        ("node", pa.map_(pa.string(), pa.int32())),
        ("height", pa.int32()),
        ("class_count", pa.int64()),
        ("min_class_size", pa.int64()),
        ("suppressed_rows", pa.int64()),
        ("satisfies", pa.bool_()),
        ("loss", pa.float64()),
        ("prec", pa.float64()),
        ("dm_star", pa.int64()),
        ("entropy", pa.float64()),
        ("lm", pa.float64()),
        ("ncp", pa.float64()),
        ("dm", pa.int64()),
        ("aecs", pa.float64()),
        ("best_k", pa.int64()),
        ("blocking_model", pa.string()),
        ("blocking_rows", pa.int64()),
        ("excess_rows", pa.int64()),
        (MODELS, pa.list_(MODEL)),
    ]
)


# More than six parameters: options of :meth:`sqlanon.Session.lattice`.
@with_own_taxonomies
def lattice(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    progress: Progress,
    into: Destination | None,
    *,
    replace: Replace,
    stopped: Stopped | None = None,
) -> pa.Table:
    """Check every node, or as many as time allows; see :meth:`sqlanon.Session.lattice`."""
    stages = Stages(progress)
    if into is None:
        with stages.watching(engine), engine.transaction(), engine.scratch():
            return examined(engine, source, policy, stages, stopped).nodes
    read = read_by(engine, source, policy)
    with (
        stages.watching(engine),
        target_for(engine, into, read, replace=replace) as target,
        engine.transaction(),
        engine.scratch(),
    ):
        nodes = examined(engine, source, policy, stages, stopped).nodes
        stages.begin("publish")
        engine.put(NODES, nodes)
        target.write(_plain(nodes) if into.is_csv else select([exp.Star()], NODES.table))
        target.add_record(record_by(policy, lattice=record_of(nodes)))
    stages.finish()
    return nodes


def _plain(nodes: pa.Table) -> exp.Select:
    node, *others = nodes.column_names
    level = partial(exp.func, "map_extract_value", column(node), dialect=DIALECT)
    names = [name for name, _ in nodes[node][0].as_py()]
    models = text(exp.func("to_json", column(MODELS), dialect=DIALECT))
    levels = [aliased(level(string(name)), f"{node}.{name}") for name in names]
    return select(
        [*levels, *(aliased(models, name) if name == MODELS else column(name) for name in others)], NODES.table
    )


@dataclass(frozen=True)
class Examined:
    table: EncodedTable
    nodes: pa.Table  # a row per checked node, in lexicographic order; with a record as metadata if some are missing
    places: Places  # the node of each row


# More than six parameters: two of them limit the time.
def examined(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    stages: Stages,
    stopped: Stopped | None,
    others: Callable[[int], Sequence[Policy]] = lambda _: (),
    *,
    in_seconds: bool = False,
) -> Examined:
    """Check the nodes of a lattice, in the scratch scope around it.

    Args:
        stopped: asked after every batch whether to stop there; the most promising nodes then come first.
        others: returns further policies for a number of nodes, for which the table has a column :data:`OTHERS`.
        in_seconds: whether to check only the most promising nodes of a lattice that takes longer.
    """
    refuse_without_nodes(policy)
    bound = prepare(engine, source, policy)
    refuse_wide(bound.lattice, "a lattice table")
    with stages.stage("encode"):
        table = encode_table(
            engine, bound, label_losses=tuple(dict.fromkeys(("lm", "ncp", *policy.quality.label_losses)))
        )
        refuse_empty(engine, table)
    refuse_too_many(engine, table)
    under = [table.under(other) for other in others(bound.lattice.size)]
    check = partial(_checked, engine, table, under, stages)
    every = np.arange(bound.lattice.size)
    most = nodes_in_seconds(table) if in_seconds else len(every)
    if len(every) <= (most if stopped is None else nodes_at_once(table)):
        with stages.stage("search"):
            return Examined(table, check(every, never), every)
    with stages.stage("search"):
        # A search proves the node of least loss with a fraction of the checks.
        encoding = replace(table.encoding, label_losses=table.bound.policy.quality.label_losses)
        outcome = choose_node(engine, replace(table, encoding=encoding), stages.checked, stopped or never, "optimal")
        best = None if outcome.best is None else table.context.lattice.named(outcome.best.levels)
        stages.concluded(outcome, best)
    places = _nearest_first(table, outcome)
    with stages.stage("count"):
        nodes = check(places[:most], stopped or never)
    if nodes.num_rows < len(places):
        record = _partial(table, nodes, places[nodes.num_rows :], outcome)
        nodes = nodes.replace_schema_metadata({METADATA: record.model_dump_json()})
    return Examined(table, nodes, np.sort(places[: nodes.num_rows]))


def nodes_in_seconds(table: EncodedTable) -> int:
    """Return how many nodes are examined in some seconds."""
    return MAX_CELLS // max(table.cell_count, MIN_CELLS)


def refuse_without_nodes(policy: Policy) -> None:
    """Refuse a policy whose method has no nodes to compare."""
    refuse_method(policy, "look for")
    if own := [f'"{name}"' for name in policy.quasi_identifiers if name not in policy.taxonomy_columns]:
        raise PolicyError(
            f"a lattice has levels of taxonomies, and the {policy.method} makes the labels of {', '.join(own)} itself: "
            "give a policy with a taxonomy for each quasi-identifier"
        )


def policy_of_nodes(policy: Policy) -> Policy | None:
    """Return the policy whose nodes can be explored: of full domains, without a given node; None for private methods.

    For another method, it shows what one level per column would lose.
    """
    if isinstance(policy.method, FullDomain):
        return policy.changed({"node": None})
    limit = getattr(policy.method, "limit", policy.suppression_limit)
    return None if policy.has_private_method else policy.changed({"method": FullDomain(suppression_limit=limit)})


def _nearest_first(table: EncodedTable, outcome: SearchOutcome) -> Places:
    """Order all nodes: the best ones, then the others by distance in the loss that labels alone give.

    If labels alone do not bound the loss, the height replaces it. If no node satisfies, the closest one is the best.
    """
    lattice, known = table.context.lattice, _known(table)
    estimates = known if known.any() else reduce(np.add.outer, map(np.arange, lattice.shape)).ravel()
    closest = lattice.top if outcome.closest is None else outcome.closest.levels
    # Round to twelve digits: a database adds floats in any order, and equal runs must check equal nodes.
    estimates = np.round(estimates / max(float(estimates.max()), 1e-300), 12)
    best = [int(np.ravel_multi_index(lattice.index(each), lattice.shape)) for each in outcome.ties or (closest,)]
    distances = np.abs(estimates - estimates[best[0]])
    distances[best] = -1
    places: Places = np.argsort(distances, kind="stable")
    return places


def _known(table: EncodedTable) -> Bounds:
    """Return per node a lower bound on its loss, from labels alone."""
    return SearchProblem(table.bound.policy.quality, table.context).known_bounds().ravel()


def _checked(
    engine: Compute,
    table: EncodedTable,
    under: Sequence[EncodedTable],
    stages: Stages,
    places: Places,
    stopped: Stopped,
) -> pa.Table:
    lattice = table.context.lattice
    schema = SCHEMA.append(pa.field(OTHERS, pa.list_(OTHER))) if under else SCHEMA
    found = []
    done = 0
    for batch in batches(places, nodes_at_once(table)):
        levels = [lattice.node(index) for index in zip(*np.unravel_index(batch, lattice.shape), strict=True)]
        rows = [
            node_row(table, node) | {OTHERS: _others(under, node)}
            for node in examine_nodes(engine, table, levels, under)
        ]
        found.append(pa.RecordBatch.from_pylist(rows, schema=schema))
        done += len(rows)
        stages.counted(done, lattice.size)
        if stopped():
            break
    nodes = pa.Table.from_batches(found, schema=schema).take(np.argsort(places[:done]))
    return nodes.append_column("pareto", pa.array(pareto_front(nodes)))


def _partial(table: EncodedTable, nodes: pa.Table, unchecked: Places, outcome: SearchOutcome) -> LatticeRecord:
    losses = nodes.filter(nodes["satisfies"])["loss"].to_pylist()
    best = min(losses, default=math.inf)
    bound = max(float(_known(table)[unchecked].min()), outcome.lower_bound or 0.0)
    lower_bound = None if outcome.unsatisfiable else best if bound > best - margin(best) else bound
    return LatticeRecord(
        nodes=nodes.num_rows,
        satisfying_nodes=len(losses),
        lattice_nodes=table.context.lattice.size,
        lower_bound=lower_bound,
        gap=proven_gap(best if losses else None, lower_bound),
    )


def record_of(nodes: pa.Table) -> LatticeRecord:
    if METADATA in (nodes.schema.metadata or {}):
        return LatticeRecord.model_validate_json(nodes.schema.metadata[METADATA])
    return LatticeRecord(nodes=nodes.num_rows, satisfying_nodes=sum(nodes["satisfies"].to_pylist()))


def _others(under: Sequence[EncodedTable], node: Examination) -> list[dict[str, Any]]:
    return [
        {"loss": other.bound.policy.quality.loss_of(summary, other.context), "suppressed_rows": summary.suppressed_rows}
        for other, summary in zip(under, node.others, strict=True)
    ]


def node_row(table: EncodedTable, node: Examination) -> dict[str, Any]:
    """Return the columns of the lattice table for one node."""
    context, policy, summary = table.context, table.bound.policy, node.summary
    satisfies = SearchProblem(policy.quality, context).satisfies(summary)
    blocking_rows = max(node.blocked_rows, default=0)
    blocking = None if satisfies else policy.privacy[node.blocked_rows.index(blocking_rows)]
    # The worst measure over all classes of the node, per bound.
    bounds = [(str(model), bound) for model in policy.privacy for bound in model.bounds]
    judged = zip(bounds, node.worst, node.violating_rows, strict=True)
    return {
        "node": list(context.lattice.named(summary.levels).items()),
        "height": sum(summary.levels),
        "class_count": summary.class_count,
        "min_class_size": summary.min_class_size,
        "suppressed_rows": summary.suppressed_rows,
        "satisfies": satisfies,
        "loss": policy.quality.loss_of(summary, context),
        "prec": total(context.losses.prec, summary.levels),
        "dm_star": summary.class_losses["dm_star"],
        "entropy": total(context.losses.entropy, summary.levels),
        "lm": summary.lm,
        "ncp": summary.ncp,
        "dm": summary.class_losses["dm"],
        "aecs": summary.class_losses["aecs"],
        "best_k": node.best_k,
        "blocking_model": None if blocking is None else str(blocking),
        "blocking_rows": None if blocking is None else blocking_rows,
        "excess_rows": max(summary.suppressed_rows - context.allowed_rows, 0),
        "models": [
            {
                "model": model,
                "measure": bound.measure.name,
                "required": bound.required,
                "worst": worst,
                "violating_rows": rows,
            }
            for (model, bound), worst, rows in judged
        ],
    }


def pareto_front(nodes: pa.Table) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Find the nodes for which no other has at most their loss and at least their k, one of them strictly better."""
    losses = np.asarray(nodes["loss"].fill_null(math.inf), dtype=np.float64)
    attained = np.asarray(nodes["best_k"].fill_null(0), dtype=np.int64)
    order = np.argsort(losses, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = _ranks(losses[order])
    best = np.zeros(ranks.max(initial=-1) + 1, dtype=np.int64)
    np.maximum.at(best, ranks, attained)
    best_of_less = np.concatenate([[-1], np.maximum.accumulate(best)[:-1]])
    front: np.ndarray[Any, np.dtype[np.bool_]] = (attained == best[ranks]) & (attained > best_of_less[ranks])
    return front


def _ranks(ascending: np.ndarray[Any, np.dtype[np.float64]]) -> list[int]:
    ranks: list[int] = []
    rank, least = -1, -math.inf
    for loss in ascending.tolist():
        if rank < 0 or loss > least + margin(least):
            rank, least = rank + 1, loss
        ranks.append(rank)
    return ranks
