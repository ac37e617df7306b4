"""What else could be published: by local recoding in place of full domains, or at another node."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.least_loss import estimated_loss
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release.alternatives import ASKED, Alternatives, Finer
from sqlanon.model.release.findings import LocalEstimate
from sqlanon.model.release.reports import Report
from sqlanon.release.publishing import GroupedRows

if TYPE_CHECKING:
    import pyarrow as pa

GRID, GRID_OF_LOSS = 18, 60
"""Nodes are one point of a picture where their k and their loss differ by less than a step of such a grid."""

DIGITS = 12
"""Losses are compared in these digits behind the point."""

MUCH_MORE = 2
"""How many times as much a release must lose for a hint."""

LITTLE = 0.025
"""Losses below this are as good as this one: who loses 5 % in all needs no hint."""


def local_loss(engine: Compute, groups: GroupedRows) -> float | None:
    """About how much local recoding would lose of the table of a full-domain run.

    Returns:
        the loss by the quality model of the policy, in [0, 1]. None if the run was not one for utility by such a loss,
        if local recoding does not take its policy, or if the table is too large for an estimate within the time of a
        run.
    """
    node, policy = groups.node, groups.bound.policy
    if node is None or not _can_be_recoded(policy):
        return None
    return estimated_loss(engine, node.table)


def _can_be_recoded(policy: Policy) -> bool:
    if not isinstance(policy.method, FullDomain) or policy.objective != "utility" or policy.columns_with("top"):
        return False
    return not policy.held_with and not [*LocalRecoding().misfits(policy)]


def with_local_loss(report: Report, loss: float | None) -> Report:
    """A report whose findings have the loss of local recoding, if it is known and much less."""
    if loss is None or report.findings is None or report.loss is None or report.loss < MUCH_MORE * max(loss, LITTLE):
        return report
    estimate = LocalEstimate(loss=loss, published_loss=report.loss)
    return report.model_copy(update={"findings": report.findings.model_copy(update={"local_recoding": estimate})})


def alternatives_of(nodes: pa.Table, published: Mapping[str, int]) -> Alternatives | None:
    """What the table of a lattice says of a node that was published; None if the node is none of it.

    Args:
        nodes: the nodes, see :meth:`sqlanon.Session.lattice`.
        published: the levels of the node.
    """
    rows = nodes.select(["node", "satisfies", "loss", "best_k", "pareto"]).to_pylist()
    for row in rows:
        row["node"] = dict(row["node"])
        if row["loss"] is not None:  # a sum, whose last digits depend on the order of threads
            row["loss"] = round(row["loss"], DIGITS)
    rows.sort(key=lambda row: tuple(row["node"].values()))
    this = next((row for row in rows if row["node"] == dict(published)), None)
    attained = [row for row in rows if row["best_k"] and row["loss"] is not None and row["loss"] <= 1]
    if this is None or this not in attained:
        return None
    grid: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in attained:
        grid.setdefault((round(math.log(row["best_k"]) * GRID), round(row["loss"] * GRID_OF_LOSS)), []).append(row)
    least = {k: [row["loss"] for row in attained if row["best_k"] >= k] for k in ASKED}
    generalized = [name for name, level in published.items() if level > 0]
    return Alternatives(
        node_count=len(rows),
        satisfying_count=sum(row["satisfies"] for row in rows),
        points=tuple(
            (of_point[0]["best_k"], of_point[0]["loss"], len(of_point), any(row["satisfies"] for row in of_point))
            for of_point in grid.values()
        ),
        front=tuple(_front((row["best_k"], row["loss"]) for row in attained if row["pareto"])),
        least_losses={k: min(losses) for k, losses in least.items() if losses},
        published_k=this["best_k"],
        finer=tuple(sorted((_finer(rows, published, name) for name in generalized), key=_of_finer)),
        node=dict(published),
        loss=this["loss"],
    )


def _front(points: Iterable[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """The points to which no other is better, with a larger k at the same loss or a smaller one, ascending."""
    most = 0
    for k, loss in sorted(points, key=lambda point: (point[1], -point[0])):
        if k > most:
            yield k, loss
        most = max(k, most)


def _finer(rows: Sequence[Mapping[str, Any]], published: Mapping[str, int], name: str) -> Finer:
    found = [row for row in rows if row["satisfies"] and row["node"][name] < published[name]]
    if not found:
        return Finer(column=name, node=None, loss=None)
    best = min(found, key=lambda row: row["loss"])
    changed = {column: level for column, level in best["node"].items() if level != published[column]}
    return Finer(column=name, node=changed, loss=best["loss"])


def _of_finer(finer: Finer) -> float:
    return math.inf if finer.loss is None else finer.loss
