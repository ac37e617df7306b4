"""Counting nodes: each from the smallest relation at hand, in the way that takes least at its size.

From a small relation many nodes are counted in one GROUP BY, since a statement takes longer than its rows. From a big
one each is counted on its own, and what many nodes need is rolled up first. A query is planned once, however many nodes
there are, unless what labels lose is asked: its text then differs from node to node.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.roll_up import RolledUp, RollUps
from sqlanon.model.lattice import Asked, Levels, NodeSummary
from sqlanon.queries.cells.keys import words_of
from sqlanon.queries.classes import summaries as queries
from sqlanon.queries.kit.nodes import PreparedQuery, Relation
from sqlanon.search import Inquiry
from sqlanon.search.problem import batches

PREPARED_NODES = 2
"""How many nodes of a big relation are counted in one statement: a thread has work while others end a node.

Measured by tests.benchmarks.tuning.
"""


class NodeCounter:
    """Answers the inquiries of a search, with tables that are made for it in the scratch scope around it.

    Attributes:
        table: the cells.
    """

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self.table = table
        self._roll_ups = RollUps.of(engine, table)

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """What is asked of some nodes, in their order."""
        found: dict[Levels, NodeSummary] = {}
        for source, nodes in self._roll_ups.statements(inquiry.nodes):
            found |= {summary.levels: summary for summary in self._counted(source, nodes, inquiry.asks)}
        summaries = [found[levels] for levels in inquiry.nodes]
        self._roll_ups.learn(summaries)
        return summaries

    def _counted(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        if asked == "counts" or not self.table.encoding.label_losses:
            # To group by a word of zeros takes time, too: those by the same words are counted together.
            alike = sorted(nodes, key=lambda levels: words_of([self._masks(levels)])) if source.is_big else nodes
            together = batches(alike, PREPARED_NODES if source.is_big else len(nodes))
            return [summary for few in together for summary in self._prepared(source, few, asked)]
        together = batches(nodes, 1 if source.is_big else len(nodes))
        return [
            summary
            for few in together
            for summary in node_summaries(self._engine, self.table, few, source.cells, asked=asked)
        ]

    def _prepared(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        """The summaries by a query that is planned once: a search asks the same of all nodes."""
        encoding, row_count = self.table.encoding, self.table.context.row_count
        count = len(nodes) if source.is_big or len(nodes) == 1 else None
        masks = list(map(self._masks, nodes))
        whole = words_of([self._masks(source.levels)])
        words = whole if count is None else words_of(masks) or whole
        name = source.prepared_query(asked, count, words)
        if name not in source.prepared:
            within = _attainable_within(self.table)
            query = queries.any_node_summaries(encoding, count, row_count, source.cells, words, asked, within)
            self._engine.prepare(name, query, "nodes of the lattice")
            source.prepared.add(name)
        rows = [[of_node.get(word, 0) for word in words] for of_node in masks]
        given: tuple[int | list[int], ...] = tuple(itertools.chain.from_iterable(rows))
        if count is None:
            given = (list(range(len(nodes))), *map(list, zip(*rows, strict=True)))
        return _summaries(nodes, self._engine.fetch(PreparedQuery(name, given), "nodes of the lattice", "node"))

    def _masks(self, levels: Levels) -> dict[int, int]:
        return self.table.encoding.keys.node_masks(levels)


def node_summaries(
    engine: Compute,
    table: EncodedTable,
    batch: Sequence[Levels],
    cells: Relation | None = None,
    *,
    asked: Asked = "everything",
    as_asked: bool = False,
) -> list[NodeSummary]:
    """The summaries of a batch of nodes, in its order, from cells that are rolled up to a node below them if given.

    With Inverse OLA they also say how private a node can be made, unless they are wanted for the models ``as_asked``.
    """
    query = queries.node_summaries(
        table.encoding,
        batch,
        table.context.row_count,
        cells=cells,
        asked=asked,
        attainable_within=None if as_asked else _attainable_within(table),
    )
    return _summaries(batch, engine.fetch(query, "nodes of the lattice", "node"))


def _summaries(nodes: Sequence[Levels], rows: list[dict[str, Any]]) -> list[NodeSummary]:
    ordered = sorted(rows, key=lambda row: int(row["node"]))
    return [NodeSummary.of_row(nodes[row.pop("node")], row) for row in ordered]


def _attainable_within(table: EncodedTable) -> int | None:
    """For Inverse OLA, how many rows may be suppressed where it is asked how private a node can be made.

    If every row may be, one class is still to be published: what it bears is what can be attained.
    """
    if table.bound.policy.objective != "privacy":
        return None
    return min(table.context.allowed_rows, table.context.row_count - 1)
