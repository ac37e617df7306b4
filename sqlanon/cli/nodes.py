"""The table of the lattice as a document."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sqlanon.model.destination import CSV_SUFFIX, FILE_SUFFIX
from sqlanon.model.policy.policy import Policy

FORMATS = (FILE_SUFFIX, CSV_SUFFIX)


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
