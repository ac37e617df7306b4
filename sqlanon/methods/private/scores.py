"""The scores of the nodes of a lattice: exact near the best, and of the others that they are far below it.

Most of a lattice is never counted: bounds tell that it is far from the best node, as in
:mod:`sqlanon.search.optimal.search`.

- What labels lose is a sum over the quasi-identifiers, known for every level.
- A combination is no smaller at a more general node. So a node has no fewer rows at risk than one above it, and each of
  them loses all that its labels do not.

Which nodes are counted depends on the data, and so does the time that it takes; the scores do not depend on which are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.source import Integers
from sqlanon.methods.cells import EncodedTable
from sqlanon.methods.roll_up import RollUps
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.queries.noise import scores as queries
from sqlanon.queries.noise.scores import WHOLE
from sqlanon.search.arrays import Mask, spread_downwards
from sqlanon.search.problem import batches
from sqlanon.search.telling import most_telling

MOST_ROWS = 1 << 32
"""How many rows scores can count, as integers of 63 bits in parts of a row."""

TELLING_NODES = 8
"""How many nodes are scored before it is looked which ones are still near the best."""


Parts = Mapping[tuple[int, int], int]
"""A number for each quasi-identifier and level, in parts of :data:`WHOLE` of a row."""


class Losses:
    """What all nodes of a lattice lose, as far as it is known: scores without their sign, in parts of a row.

    Args:
        lattice: the lattice.
        row_count: rows of the source.
        whole: what a row loses that is at risk.
        lost: what all rows together lose by the labels of each node; shape of the lattice.
        most: what a row loses by them at most.
        reach: how far above the least loss losses are told apart.
    """

    def __init__(
        self, lattice: Lattice, row_count: int, *, whole: int, lost: Integers, most: Integers, reach: int
    ) -> None:
        self._lattice = lattice
        self._largest = row_count * whole
        self._reach = min(reach, self._largest)
        self._lost = lost
        self._spared = whole - most
        self._known = np.full(lattice.shape, -1, dtype=np.int64)
        self._at_risk = np.zeros(lattice.shape, dtype=np.int64)
        self._least = self._largest

    def learn(self, levels: Levels, at_risk: int, loss: int) -> None:
        """Take note of the rows of a node that are at risk in whole, and of what it loses."""
        index = self._lattice.index(levels)
        self._at_risk[index] = at_risk
        self._known[index] = loss
        self._least = min(self._least, loss)

    def batches(self) -> Iterator[list[Levels]]:
        """The nodes to count, some at a time, of which what they lose is to be learnt before the next come.

        If nothing can be out of reach, bounds are of no use.
        """
        if self._reach == self._largest:
            yield from batches(self._lattice.nodes())
        else:
            while telling := most_telling(self._open(), self._lost, TELLING_NODES):
                yield [self._lattice.node(index) for index in telling]

    def scores(self) -> Integers:
        """All losses, with their sign, in lexicographic order of the nodes: what is not known is out of reach."""
        above = np.where(self._known < 0, self._reach, np.minimum(self._known - self._least, self._reach))
        scores: Integers = -(self._least + above).ravel()
        return scores

    def _open(self) -> Mask:
        """The nodes that are not known and may be within reach."""
        spread_downwards(self._at_risk)
        bounds = self._lost + self._at_risk * self._spared
        is_open: Mask = (self._known < 0) & (bounds - self._least < self._reach)
        return is_open


def scores(engine: Compute, table: EncodedTable, threshold: int, reach: int) -> Integers:
    """The scores of all nodes in lexicographic order; those that are too far below the best are raised to ``reach``.

    A row changes none of them by more than it changes a score: the larger of two numbers, and the largest of many,
    changes by no more than one of these does.

    Args:
        engine: the database.
        table: the cells, with the NCP of their labels and up to :data:`MOST_ROWS` rows.
        threshold: how many rows a combination must have not to be at risk in whole.
        reach: how far below the best scores are told apart.

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
    values = int(engine.fetch(queries.largest_value(table.encoding), "sensitive values")[0]["largest"])
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


def sums(lattice: Lattice, table: Parts) -> Integers:
    """For every node the sum over its levels of a number for each; 0 for those that no row has."""
    terms = [
        np.array([table.get((position, depth), 0) for depth in range(least, most + 1)], dtype=np.int64)
        for position, (least, most) in enumerate(zip(lattice.bottom, lattice.top, strict=True))
    ]
    return reduce(np.add.outer, terms)
