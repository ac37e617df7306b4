"""Moving rows: the classes of a node that are too small go to large ones, all of it in SQL on classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.relocation import queries
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels

MAX_PAIRS = 10_000_000
"""How many pairs of classes are compared at most, unless :data:`MIN_NEIGHBOURS` make more: a second's work.

Measured by tests.benchmarks.relocation.
"""

MIN_NEIGHBOURS = 64
"""With how many large classes on either side, in the order of keys, an outlier class is compared at least.

Measured by tests.benchmarks.relocation: rows then go less than 2 % further than if all were compared.
"""


@dataclass(frozen=True)
class Moves:
    """What was moved.

    Attributes:
        rows: how many rows.
        classes: how many classes they were in.
        mean_distance: how far a row was moved, as a mean; None if none was.
        is_exact: whether each class was compared with all that it could go to.
    """

    rows: int
    classes: int
    mean_distance: float | None
    is_exact: bool


def move(engine: Compute, table: EncodedTable, levels: Levels) -> tuple[EncodedTable, Moves]:
    """Move the rows of the classes of a node that are too small; some class is not.

    Returns:
        the table with the cells of the node in place of its own, and what was moved.
    """
    encoding = table.encoding
    engine.run(queries.ranked(encoding, levels))
    counts = engine.fetch(queries.SQL.query("class_counts"), "classes that are too small")[0]
    neighbours = max(MIN_NEIGHBOURS, MAX_PAIRS // (2 * max(counts["small"], 1)))
    for step in (
        queries.outliers(encoding, levels),
        queries.moves(encoding, levels, min(neighbours, max(counts["large"], 1))),
        queries.moved(encoding, levels),
    ):
        engine.run(step)
    distance = engine.fetch(queries.SQL.query("mean_distance"), "how far they go")[0]["distance"]
    made = Moves(int(counts["rows"]), int(counts["small"]), distance, neighbours >= counts["large"])
    return replace(table, encoding=replace(encoding, cells=queries.MOVED)), made


def stay(table: EncodedTable) -> tuple[EncodedTable, Moves]:
    """The same of a node whose classes are all large enough."""
    return table, Moves(0, 0, None, is_exact=True)


def changed_values(engine: Compute, table: EncodedTable, written: exp.Expr) -> int:
    """How many rows of the source have values beside the quasi-identifiers that what was written does not have."""
    return int(
        engine.fetch(queries.changed_values(table.encoding, written), "values that were written")[0]["rows"] or 0
    )
