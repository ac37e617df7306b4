"""The scores of the nodes: what their labels lose, and how many rows are at risk of not being shown.

u(o) = -(l N + (W - l) Φ(o)), where l is the precision that a node loses, N the number of rows, W the weight of a row
that is suppressed, and Φ the sum over the classes of φ(c) = min(c, max(0, 2 (K - 1) - c)): all rows of a class that is
smaller than K, and none of one of twice that. A row changes one class by one row, φ of it by s, which is -1, 0 or 1,
and so the score by l + (W - l) s, which is W at most (spec/epsafe.md (b)).

Two classes that become one put no more rows at risk than both did: φ(a + b) <= φ(a) + φ(b). So Φ does not grow towards
the top, and most nodes need not be counted, as in :mod:`sqlanon.methods.noisy_node.shared.scores`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.source import Integers
from sqlanon.methods.noisy_node.epsilon_safe import queries
from sqlanon.methods.noisy_node.shared.scores import MAX_ROWS, Losses, Parts, sums
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.roll_up import RollUps
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.queries.noise.scores import WHOLE

UNSURE_ROWS = "unsure_rows"
"""The query that counts the rows at risk."""


def most_rows(weight: int) -> int:
    """How many rows scores can count."""
    return MAX_ROWS // weight


def scores(engine: Compute, table: EncodedTable, *, threshold: int, weight: int, reach: int) -> Integers:
    """The scores of all nodes in lexicographic order; those that are too far below the best are raised to ``reach``.

    Args:
        engine: the database.
        table: the cells, of :func:`most_rows` rows at most.
        threshold: K, how many rows a class must have not to be at risk in whole.
        weight: W, what a row loses that is not shown.
        reach: how far below the best scores are distinguished.

    Returns:
        integers in parts of :data:`WHOLE` of a row; one row changes each by at most ``weight * WHOLE``; shape
        (nodes,).
    """
    lattice, row_count = table.context.lattice, table.context.row_count
    whole, most = weight * WHOLE, sums(lattice, precision_losses(lattice))
    losses = Losses(lattice, row_count, whole=whole, lost=most * row_count, most=most, reach=reach)
    with engine.scratch():
        roll_ups = RollUps.of(engine, table)
        for nodes in losses.batches():
            for levels, unsure in rows_of_nodes(engine, table, roll_ups, UNSURE_ROWS, threshold, nodes):
                lost = int(most[lattice.index(levels)])
                losses.learn(levels, unsure, lost * row_count + (whole - lost) * unsure)
    return losses.scores()


def precision_losses(lattice: Lattice) -> Parts:
    """What the labels of every level lose of a row: level / height / quasi-identifiers, in parts of :data:`WHOLE`."""
    count = len(lattice.heights)
    return {
        (position, level): WHOLE * level // (count * height)
        for position, height in enumerate(lattice.heights)
        for level in range(1, height + 1)
    }


def rows_of_nodes(
    engine: Compute, table: EncodedTable, roll_ups: RollUps, counted: str, threshold: int, nodes: Sequence[Levels]
) -> Iterator[tuple[Levels, int]]:
    """Some nodes, each with the rows that a query counts by their classes: none if there are no rows at all."""
    for source, together in roll_ups.statements(nodes):
        query = queries.rows_of_nodes(
            counted, table.encoding, together, threshold, cells=source.cells, apart=source.is_big
        )
        found = {row["node"]: int(row[counted] or 0) for row in engine.fetch(query, "scores of nodes", "node")}
        for place, levels in enumerate(together):
            yield levels, found.get(place, 0)
