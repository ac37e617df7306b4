"""What the labels of a cut lose."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.cuts.shared.pieces import Axis
from sqlanon.methods.cuts.top_down.specialize import SQL, Chosen


def mean_loss(engine: Compute, axes: Sequence[Axis], chosen: Chosen, row_count: int) -> float:
    """LM: the mean over rows and predictors of (values under the label - 1) / (values - 1).

    Args:
        engine: the database, with the cut (``CUT``).
        axes: the predictors.
        chosen: the cut.
        row_count: how many rows there are.

    Source: Iyengar 2002.
    """
    found = engine.fetch(SQL.query("rows_of_pieces"), "rows of labels", "node")
    rows = {(int(row["position"]), int(row["first"])): int(row["rows"]) for row in found}
    losses = [
        sum(
            rows.get((axis.position, piece.first), 0) * (piece.size - 1) / (axis.size - 1)
            for piece in chosen.cut.pieces[axis.position]
            if piece.size > 1
        )
        for axis in axes
    ]
    return sum(losses) / len(losses) / max(row_count, 1)
