"""The record of a cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sqlanon.engines.base import Compute
from sqlanon.methods.cuts.shared.queries.labels import SQL
from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cuts import written


def recorded_cut(engine: Compute, sets: Collection[str] = ()) -> CutRecord:
    """The record of the cut whose labels are in :data:`~.queries.labels.CUT`; ``sets`` are columns of sets of items."""
    labels: dict[str, list[object]] = defaultdict(list)
    intervals: dict[str, list[object]] = defaultdict(list)
    items: dict[str, list[object]] = defaultdict(list)
    for row in engine.fetch(SQL.query("cut_labels"), "labels of the cut", "node"):
        name = row["attribute"]
        if row["low"] is not None:
            intervals[name].append((written(row["low"]), written(row["high"])))
        else:
            (items if name in sets else labels)[name].append((row["depth"], row["label"]))
    return CutRecord.model_validate({"labels": labels, "intervals": intervals, "items": items})
