"""The scores of nodes by the NCP of their labels and the rows at risk: those of IPA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.source import Integers
from sqlanon.methods.noisy_node.shared.scores import Losses, Parts, sums
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.roll_up import RollUps
from sqlanon.model.lattice import Levels
from sqlanon.queries.noise import scores as queries
from sqlanon.queries.noise.scores import WHOLE


def scores(engine: Compute, table: EncodedTable, threshold: int, reach: int) -> Integers:
    """The scores of all nodes in lexicographic order; those that are too far below the best are raised to ``reach``.

    A row changes none of them by more than it changes a score: the larger of two numbers, and the largest of many,
    changes by no more than one of these does.

    Args:
        engine: the database.
        table: the cells, with the NCP of their labels and up to :data:`MAX_ROWS` rows.
        threshold: how many rows a combination must have not to be at risk in whole.
        reach: how far below the best scores are distinguished.

    Returns:
        integers in parts of :data:`WHOLE` of a row, shape (nodes,).
    """
    context = table.context
    lattice = context.lattice
    lost, most = (sums(lattice, parts) for parts in _level_losses(engine, table))
    losses = Losses(lattice, context.row_count, whole=WHOLE, lost=lost, most=most, reach=reach)
    with engine.scratch():
        combined = _by_combination(engine, table)
        roll_ups = RollUps.of(engine, combined)
        for nodes in losses.batches():
            for levels, at_risk, loss in _counted(engine, combined, roll_ups, threshold, nodes):
                losses.learn(levels, at_risk, loss)
    return losses.scores()


def _level_losses(engine: Compute, table: EncodedTable) -> tuple[Parts, Parts]:
    """What the labels of every level lose, by all rows together and by a row at most."""
    rows = engine.fetch(queries.level_losses(table.encoding), "losses of levels", "node")
    lost, most = (
        {(int(row["position"]), int(row["depth"])): int(row[name]) for row in rows} for name in ("lost", "most")
    )
    return lost, most


def _by_combination(engine: Compute, table: EncodedTable) -> EncodedTable:
    """The table with combinations for classes.

    To their number belong the sensitive values, as if they were labels of the first quasi-identifier.
    """
    (name,) = table.encoding.spec.protected
    largest = queries.SQL.query("largest_value", cells=table.encoding.cells, value=table.encoding.sensitive(name))
    values = int(engine.fetch(largest, "sensitive values")[0]["largest"])
    combined = queries.by_combination(table.encoding, values)
    engine.run(queries.keyed_cells(table.encoding, combined))
    first, *others = table.context.losses.distinct_labels
    labels = (tuple(count * max(values, 1) for count in first), *others)
    losses = replace(table.context.losses, distinct_labels=labels)
    return replace(table, encoding=combined, context=replace(table.context, losses=losses))


def _counted(
    engine: Compute, table: EncodedTable, roll_ups: RollUps, threshold: int, nodes: Sequence[Levels]
) -> Iterator[tuple[Levels, int, int]]:
    """Some nodes, each with its rows at risk in whole and what it loses.

    A node that is not answered has no combination that reaches the threshold.
    """
    row_count = table.context.row_count
    for source, together in roll_ups.statements(nodes):
        query = queries.node_scores(table.encoding, together, threshold, cells=source.cells, apart=source.is_big)
        found = {row["node"]: row for row in engine.fetch(query, "scores of nodes", "node")}
        for place, levels in enumerate(together):
            row = found.get(place, {"row_count": 0, "score": 0})
            at_risk = row_count - int(row["row_count"])
            yield levels, at_risk, WHOLE * at_risk - int(row["score"])
