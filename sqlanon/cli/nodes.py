"""The table of the lattice as a document, and as a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from sqlanon.model.destination import FILE_SUFFIX
from sqlanon.model.policy import Policy
from sqlanon.run import files

CSV_SUFFIX = ".csv"
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


def is_csv(into: str | None) -> bool:
    """Whether a target is a CSV file."""
    return into is not None and into.lower().endswith(CSV_SUFFIX)


def refuse_file(path: Path, *, replace: bool) -> None:
    """Refuse a file that cannot be written, before the work is done."""
    if path.suffix.lower() not in FORMATS:
        raise typer.BadParameter(f"{path} ends in neither .parquet nor .csv", param_hint="--into")
    files.refuse_file(path, replace=replace)


def write_file(nodes: pa.Table, path: Path, *, replace: bool) -> None:
    """Write all nodes as Parquet, or as CSV with a column ``node.<quasi-identifier>`` each and the models as JSON."""
    with files.staged_file(path, replace=replace) as staged:
        if path.suffix.lower() == FILE_SUFFIX:
            pq.write_table(nodes, staged)
        else:
            _write_csv(nodes, staged)


def _write_csv(nodes: pa.Table, path: Path) -> None:
    rows = nodes.to_pylist()
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*(f"node.{name}" for name, _ in rows[0]["node"]), *nodes.column_names[1:]])
        for row in rows:
            row["models"] = json.dumps(row["models"], ensure_ascii=False)
            lines.writerow([*(level for _, level in row["node"]), *list(row.values())[1:]])


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
