"""The scores of all nodes of a lattice, from those combinations alone that reach a threshold.

From the top down, as iceberg cubes are not: below a node without any such combination there is none, and below any node
all are among the cells that are in one there (Beyer and Ramakrishnan 1999 prune by the same law). So near the bottom,
where counting costs most, few cells are left to be counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from sqlanon.compiler import private
from sqlanon.compiler.nodes import Relation
from sqlanon.compiler.roll_up import counted_rows
from sqlanon.engines.base import Engine
from sqlanon.methods.full_domain import APART, EncodedTable
from sqlanon.methods.roll_up import STEP_ROWS, RollUps, counted_together, is_below
from sqlanon.model.lattice import Levels
from sqlanon.search.problem import batches

NODES_AT_ONCE = 64
"""For how many nodes at once it is thought about what to roll up."""

NODES_AHEAD = 512
"""For how many nodes to come a relation is made, and from how many known ones it is chosen."""

FEW = 0.5
"""The cells that may reach the threshold are worth a relation of their own if they hold so little of all rows."""

MAKING = 2
"""How much longer it takes to choose and to keep cells than to read them in order."""


@dataclass(frozen=True)
class Reaching:
    """The cells that are in a combination that reaches the threshold at a node, for the nodes below it."""

    upper: Levels
    cells: Relation
    row_count: int


@dataclass
class Iceberg:
    """The relations of such cells that are at hand.

    Args:
        engine: the database.
        table: the cells.
        threshold: of combinations.
        roll_ups: what nodes are counted from otherwise.
    """

    engine: Engine
    table: EncodedTable
    threshold: int
    roll_ups: RollUps
    _made: list[Reaching] = field(default_factory=list)
    _rows: dict[Levels, int] = field(default_factory=dict)

    def learn(self, levels: Levels, rows: int) -> None:
        """Take note of how many rows are in combinations that reach the threshold at a node."""
        self._rows[levels] = rows

    def is_without(self, levels: Levels) -> bool:
        """Whether none reaches it, as none does at a node above."""
        return any(self._rows.get(above) == 0 for above in _above(levels))

    def source(self, levels: Levels) -> Reaching | None:
        """The fewest cells that a node can be counted from, None if that is for the roll-ups."""
        found = min(
            (made for made in self._made if is_below(levels, made.upper)),
            key=lambda made: made.row_count,
            default=None,
        )
        return found if found is not None and found.row_count < self.roll_ups.cost(levels) else None

    def prepare(self, coming: Sequence[Levels]) -> None:
        """Make what saves the nodes to come more than it takes, as long as there is such a relation."""
        coming = coming[:NODES_AHEAD]
        while (upper := self._most_useful(coming)) is not None:
            cells = self._cells_for(upper)
            made = Relation(f"anon_reaching_{len(self._made)}", "cell")
            source = self.table.plan.cells if cells is None else cells.cells
            self.engine.run(private.reaching_cells(self.table.plan, upper, self.threshold, source, made))
            row_count = int(self.engine.fetch(counted_rows(made), "cells that may reach the threshold")[0]["rows"])
            self._made.append(Reaching(upper, made, row_count))

    def drop(self) -> None:
        """Remove all that was made."""
        for made in self._made:
            self.engine.drop(made.cells)
        self._made.clear()

    def _most_useful(self, coming: Sequence[Levels]) -> Levels | None:
        """At which known node the cells save the nodes to come most; None if nothing is saved."""
        few = FEW * self.table.context.row_count
        tried = {made.upper for made in self._made}
        known = [levels for levels, rows in self._rows.items() if 0 < rows <= few and levels not in tried]
        known = known[-NODES_AHEAD:]
        if not coming or not known:
            return None
        costs = np.array([self._cost(levels) for levels in coming])
        if costs.sum() < STEP_ROWS:
            return None
        sizes = np.array([min(self._rows[levels], self.table.cell_count) for levels in known], dtype=np.float64)
        read = np.array([self._read(self._cells_for(levels)) for levels in known])
        serves = (np.array(coming)[None, :, :] <= np.array(known)[:, None, :]).all(axis=2)
        saved = np.where(serves, np.maximum(costs[None, :] - sizes[:, None], 0), 0).sum(axis=1)
        gains = saved - MAKING * read - STEP_ROWS
        best = int(gains.argmax())
        return known[best] if gains[best] > 0 else None

    def _cells_for(self, upper: Levels) -> Reaching | None:
        """The smallest relation that has all cells that reach the threshold at a node; None if it is that of all."""
        usable = [made for made in self._made if is_below(upper, made.upper)]
        return min(usable, key=lambda made: made.row_count, default=None)

    def _read(self, made: Reaching | None) -> float:
        return float(self.table.cell_count if made is None else made.row_count)

    def _cost(self, levels: Levels) -> float:
        source = self.source(levels)
        return self.roll_ups.cost(levels) if source is None else float(source.row_count)


def reaching_scores(
    engine: Engine, table: EncodedTable, nodes: Sequence[Levels], threshold: int
) -> Iterator[tuple[Levels, int, int]]:
    """Nodes with the rows of the combinations that reach a threshold there, and the score of these."""
    table = _by_combination(engine, table)
    context = table.context
    roll_ups = RollUps(
        engine,
        table.plan,
        context.row_count,
        table.cell_count,
        context.losses.distinct_labels,
        are_combinations=True,
    )
    iceberg = Iceberg(engine, table, threshold, roll_ups)
    left = sorted(nodes, key=sum, reverse=True)
    try:
        for batch in batches(left, NODES_AT_ONCE):
            iceberg.prepare(left)
            roll_ups.prepare([levels for levels in batch if iceberg.source(levels) is None])
            for _, layer in groupby(batch, key=sum):
                iceberg.prepare(left)
                found = _scored(engine, table, iceberg, list(layer))
                for levels, (rows, score) in found.items():
                    iceberg.learn(levels, rows)
                    yield levels, rows, score
                left = left[len(found) :]
    finally:
        iceberg.drop()
        roll_ups.drop()
        engine.drop(private.KEYED_CELLS)


def _by_combination(engine: Engine, table: EncodedTable) -> EncodedTable:
    """The table with combinations for classes.

    To their number belong the sensitive values, as if they were labels of the first quasi-identifier.
    """
    values = int(engine.fetch(private.largest_value(table.plan), "sensitive values")[0]["largest"])
    combined = private.by_combination(table.plan, values)
    engine.run(private.keyed_cells(table.plan, combined))
    first, *others = table.context.losses.distinct_labels
    labels = (tuple(count * max(values, 1) for count in first), *others)
    losses = replace(table.context.losses, distinct_labels=labels)
    return replace(table, plan=combined, context=replace(table.context, losses=losses))


def _scored(
    engine: Engine, table: EncodedTable, iceberg: Iceberg, layer: Sequence[Levels]
) -> dict[Levels, tuple[int, int]]:
    """Some nodes of one height, of which none is below another, with their rows and their scores."""
    found = dict.fromkeys(layer, (0, 0))
    for cells, row_count, together in _statements(iceberg, [each for each in layer if not iceberg.is_without(each)]):
        query = private.node_scores(table.plan, together, iceberg.threshold, cells=cells, apart=row_count > APART)
        for row in engine.fetch(query, "scores of nodes", "node"):
            found[together[row["node"]]] = row["row_count"], row["score"]
    return found


def _statements(iceberg: Iceberg, asked: Sequence[Levels]) -> Iterator[tuple[Relation, int, list[Levels]]]:
    """The nodes by what they are counted from, as many together as one statement takes."""
    sources = {levels: iceberg.source(levels) for levels in asked}
    for made in dict.fromkeys(source for source in sources.values() if source is not None):
        nodes = [levels for levels in asked if sources[levels] is made]
        for together in counted_together(nodes, np.full(len(nodes), float(made.row_count))):
            yield made.cells, made.row_count, together
    others = [levels for levels in asked if sources[levels] is None]
    for source, together in iceberg.roll_ups.prepared_statements(others) if others else ():
        yield source.cells, source.row_count, together


def _above(levels: Levels) -> Iterator[Levels]:
    """The nodes that are more general by one step."""
    for position, depth in enumerate(levels):
        yield (*levels[:position], depth + 1, *levels[position + 1 :])
