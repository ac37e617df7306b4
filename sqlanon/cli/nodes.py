"""The table of the lattice as a document."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sqlanon.model.policy.policy import Policy
from sqlanon.report.document import Document, Table, count, figure, paragraph

BEST_NODES = 10


def document(nodes: pa.Table, policy: Policy) -> dict[str, Any]:
    """All nodes, those that satisfy the policy first, the best of them first."""
    rows = [{**row, "node": dict(row["node"])} for row in nodes.to_pylist()]
    return {
        "nodes": len(rows),
        "satisfying_nodes": sum(row["satisfies"] for row in rows),
        "quality": policy.quality.measure,
        "table": sorted(rows, key=_rank),
    }


def _rank(row: dict[str, Any]) -> tuple[bool, float, float, int, int, tuple[int, ...]]:
    """The order in which a run prefers nodes; nodes that do not satisfy the policy by how far they are from it."""
    satisfies = bool(row["satisfies"])
    loss = row["loss"] if satisfies else 0.0
    levels = tuple(row["node"].values())
    entropy = row["entropy"] if satisfies else 0.0
    return not satisfies, _rounded(loss), _rounded(entropy), row["suppressed_rows"], row["height"], levels


def _rounded(loss: float) -> float:
    """The same sum of floats in another order is the same loss."""
    return float(f"{loss:.11g}")


def shown(document: dict[str, Any]) -> Document:
    """The size of the lattice, and its best nodes or those that come closest to the policy."""
    satisfying, quality = document["satisfying_nodes"], document["quality"]
    rows = [
        (
            ", ".join(f"{name} {level}" for name, level in row["node"].items()),
            figure(row["loss"]),
            *(count(row[name]) for name in ("class_count", "min_class_size", "best_k", "suppressed_rows")),
        )
        for row in document["table"][: min(satisfying, BEST_NODES) or BEST_NODES]
    ]
    best = Table(
        ("node", quality, "classes", "smallest", "best k", "suppressed"),
        rows,
        numbers=(1, 2, 3, 4, 5),
        title=f"Best by {quality}" if satisfying else "Closest to the policy",
    )
    size = f"{count(document['nodes'])} nodes, {count(satisfying)} satisfy the policy.\n"
    return Document("Lattice", (paragraph(size), best))
