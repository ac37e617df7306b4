"""What stands in the way of nodes: their summaries, how private they can be made, and who violates what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.classes import examination as examine
from sqlanon.search.problem import batches

NODES_AT_ONCE = 64
"""How many nodes one statement examines at most: more save no time.

Measured by tests.benchmarks.tuning.
"""

COUNTED_CELLS = 4_000_000
"""How many cells one statement counts, each once for every node: more take memory.

Measured by tests.benchmarks.tuning.
"""


@dataclass(frozen=True, slots=True)
class Examination:
    """A node with what stands in its way.

    Attributes:
        summary: its summary.
        best_k: the largest k with which it satisfies the policy, in place of the policy's k-anonymity; 1 where it
            satisfies the policy without any, None where not even then.
        blocked_rows: by privacy model, in the policy's order, the rows of classes that violate it.
        violating_rows: by bound of the policy, the rows of classes that are out of it.
        worst: by bound of the policy, the worst measure over all classes.
    """

    summary: NodeSummary
    best_k: int | None
    blocked_rows: tuple[int, ...]
    violating_rows: tuple[int, ...]
    worst: tuple[float, ...]


def examined_at_once(table: EncodedTable, nodes: Iterable[Levels]) -> Iterator[list[Levels]]:
    """The nodes in their order, as many at a time as are examined well in one statement."""
    return batches(nodes, max(1, min(NODES_AT_ONCE, COUNTED_CELLS // max(table.cell_count, 1))))


def examine_nodes(engine: Compute, table: EncodedTable, batch: Sequence[Levels]) -> list[Examination]:
    """Examine a batch of nodes, in its order; they need not be allowed by the policy's bounds on levels."""
    context = table.context
    query = examine.examined(table.encoding, batch, context.row_count, context.allowed_rows)
    rows = engine.fetch(query, "nodes of the lattice", "node")
    policy = table.bound.policy
    return [_examination(policy, batch[row.pop("node")], row) for row in sorted(rows, key=lambda row: int(row["node"]))]


def attainable_bounds(engine: Compute, table: EncodedTable, batch: Sequence[Levels]) -> list[tuple[float | None, ...]]:
    """The strictest that each bound of the policy can be at each node of a batch, see :func:`attainable`."""
    context = table.context
    query = examine.attainable(table.encoding, batch, context.row_count, context.allowed_rows)
    rows = engine.fetch(query, "attainable bounds", "node")
    indexes = range(len(table.bound.policy.criteria.bounds))
    ordered = sorted(rows, key=lambda row: int(row["node"]))
    return [tuple(row[f"attainable_{index}"] for index in indexes) for row in ordered]


def _examination(policy: Policy, levels: Levels, row: dict[str, Any]) -> Examination:
    def taken(name: str, count: int) -> tuple[Any, ...]:
        return tuple(row.pop(f"{name}_{index}") for index in range(count))

    return Examination(
        best_k=row.pop("best_k"),
        blocked_rows=taken("blocked", len(policy.privacy)),
        violating_rows=taken("violating", len(policy.criteria.bounds)),
        worst=taken("worst", len(policy.criteria.bounds)),
        summary=NodeSummary.of_row(levels, row),
    )
