"""Counterfeits: how many a node needs is counted in SQL, their values are drawn here, and rows are rebuilt in SQL.

Nothing but their number tells counterfeits: they are counted together with true rows of the same class and value before
any row is written, and rows are in the order of their own columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.cells import EncodedTable
from sqlanon.methods.h_ceiling import queries
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.h_ceiling import HCeiling


@dataclass(frozen=True)
class Added:
    """What was added to a node.

    Attributes:
        count: how many counterfeits.
        classes: how many classes they are in.
        fewest_true_rows: how many true rows the class has that has the fewest.
    """

    count: int
    classes: int
    fewest_true_rows: int


def without_values(table: EncodedTable) -> EncodedTable:
    """The table for a search, whose classes do not tell values apart."""
    spec = replace(table.encoding.spec, protected=(), protected_shapes={})
    return replace(table, encoding=replace(table.encoding, spec=spec))


def rows_without_value(engine: Compute, table: EncodedTable) -> int:
    """How many rows have NULL for a sensitive value."""
    return int(engine.fetch(queries.rows_without_value(table.encoding), "rows without a value")[0]["rows"])


def draw(engine: Compute, table: EncodedTable, levels: Levels, settings: HCeiling, source: RandomSource) -> Added:
    """Draw the value of every counterfeit that a node needs, each on its own (spec/hceiling.md (b) 3)."""
    engine.run(queries.lacking(table.encoding, levels, settings.k))
    totals = engine.fetch(queries.lacking_totals(), "classes that lack rows")[0]
    count = int(totals["missing"])
    known = engine.fetch(queries.value_counts(table.encoding), "sensitive values")
    codes = np.array([row["value"] for row in known], dtype=np.int64)
    rows = np.array([row["rows"] for row in known], dtype=np.int64)
    weights = rows if settings.fill == "marginal" else np.ones_like(rows)
    drawn = codes[source.sampled(weights, count)] if count else np.empty(0, dtype=np.int64)
    engine.put(queries.DRAWN, pa.table({queries.PLACE: np.arange(count), queries.DRAWN_VALUE: drawn.astype(np.uint32)}))
    engine.run(queries.counterfeits(table.encoding, levels))
    fewest = totals["smallest"]
    return Added(count, int(totals["classes"]), settings.k if fewest is None else int(fewest))


def filled(engine: Compute, table: EncodedTable, levels: Levels) -> EncodedTable:
    """The table with the cells of a node in place of its own, counterfeits among them."""
    engine.run(queries.filled(table.encoding, levels))
    return replace(table, encoding=replace(table.encoding, cells=queries.FILLED))
