"""A cut as the provenance of a release tells it, and as its report does."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.methods.cuts.shared.queries.labels import SQL
from sqlanon.model.policy.ranges import written

NotedCut = dict[str, list[tuple[object, object]]]
"""By predictor its labels, in order: level and label, or the ends of an interval.

All values of a taxonomy without a top have a label, which is at no level (None).
"""


def noted_cut(engine: Compute) -> NotedCut:
    """The cut whose labels are in :data:`~.queries.labels.CUT`, for a note."""
    found: NotedCut = {}
    for row in engine.fetch(SQL.query("cut_labels"), "labels of the cut", "node"):
        is_interval = row["low"] is not None
        pair = (written(row["low"]), written(row["high"])) if is_interval else (row["depth"], row["label"])
        found.setdefault(row["attribute"], []).append(pair)
    return found
