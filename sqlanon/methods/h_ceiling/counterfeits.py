"""Counterfeits: how many a node needs is counted in SQL, their values are drawn here, and rows are rebuilt in SQL.

Nothing but their number tells counterfeits: they are counted together with true rows of the same class and value before
any row is written, and rows are in the order of their own columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Filled:
    """A node whose classes all have k rows.

    Attributes:
        table: its cells, counterfeits among them.
        levels: the node.
        added: what was added.
    """

    table: EncodedTable
    levels: Levels
    added: Added


def rows_without_value(engine: Compute, table: EncodedTable) -> int:
    """How many rows have NULL for a sensitive value."""
    return int(engine.fetch(queries.rows_without_value(table.encoding), "rows without a value")[0]["rows"])


def fill(engine: Compute, table: EncodedTable, levels: Levels, settings: HCeiling, source: RandomSource) -> Filled:
    """Fill up the classes of a node, the value of every counterfeit drawn on its own (spec/hceiling.md (b) 3)."""
    encoding = table.encoding
    for step in (queries.known_values(encoding), queries.lacking(encoding, levels, settings.k)):
        engine.run(step)
    totals = engine.fetch(queries.lacking_totals(), "classes that lack rows")[0]
    drawn = _drawn(engine, table, int(totals["missing"]), settings, source)
    engine.put(queries.DRAWN, pa.table({queries.PLACE: np.arange(len(drawn)), queries.DRAWN_VALUE: drawn}))
    for step in (queries.counterfeits(encoding, levels), queries.filled(encoding, levels)):
        engine.run(step)
    fewest = settings.k if totals["smallest"] is None else int(totals["smallest"])
    filled = replace(encoding, cells=queries.FILLED, added=settings.added_columns)
    return Filled(replace(table, encoding=filled), levels, Added(len(drawn), int(totals["classes"]), fewest))


def discard(engine: Compute) -> None:
    """Drop what was made for a node, so that another one can be filled up."""
    for relation in queries.OF_A_NODE:
        engine.drop(relation)


def _drawn(
    engine: Compute, table: EncodedTable, count: int, settings: HCeiling, source: RandomSource
) -> NDArray[np.uint32]:
    """The codes of the values of so many counterfeits."""
    known = engine.fetch(queries.value_counts(table.encoding), "sensitive values")
    codes, rows = (np.array([row[name] for row in known], dtype=np.int64) for name in ("value", "rows"))
    weights = rows if settings.fill == "marginal" else np.ones_like(rows)
    return codes[source.sampled(weights, count)].astype(np.uint32) if count else np.empty(0, dtype=np.uint32)
