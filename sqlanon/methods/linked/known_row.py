"""One known row: rows are left out by class, where fewer than k persons of it have their labels.

A person of a class of fewer than k is left out with all rows; of others the rows of each label that fewer than k
persons of the class have. That is the least, and monotone: each table is k-anonymous by persons along its path.

Source: Terrovitis, Mamoulis and Kalnis 2008; spec/linked.md, theorem C.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.node_counts import NodeCounts, TableCounts
from sqlanon.methods.linked.shown_rows import show_kept_classes
from sqlanon.model.lattice import Asked, Levels, NodeSummary
from sqlanon.nodes.counting import NodeCounter
from sqlanon.search import Inquiry


class KnownRowCounter:
    """Counts what nodes leave out for attackers who know one row, table by table along its path."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self._tables = {name: PathCounter(engine, encoded, name) for name in encoded.tables}

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        root = self._encoded.policy.root
        found = {name: counter.summaries(nodes, with_losses=with_losses) for name, counter in self._tables.items()}
        return [
            NodeCounts(
                levels,
                found[root][place].class_count,
                found[root][place].kept_class_count,
                {name: self._table_counts(name, summaries[place]) for name, summaries in found.items()},
            )
            for place, levels in enumerate(nodes)
        ]

    def show(self, levels: Levels) -> None:
        show_kept_classes(self._engine, self._encoded, levels)

    def _table_counts(self, name: str, summary: NodeSummary) -> TableCounts:
        counts = self._encoded.bound.tables[name].counts
        loss = summary.combined_loss if summary.combined_loss is not None else summary.lm
        if loss is not None and counts.cut:  # rows above the cap lose 1, too
            loss += counts.cut / counts.linked * (1 - loss)
        return TableCounts(summary.suppressed_rows, summary.certain_suppressed_rows, loss)


class PathCounter:
    """Counts the rows of a table along its path, once for all nodes with the same levels there."""

    def __init__(self, engine: Compute, encoded: EncodedLinked, table: str) -> None:
        self._encoded = encoded
        self._table = table
        self._counter = NodeCounter(engine, encoded.tables[table])
        self._known: dict[tuple[Levels, bool], NodeSummary] = {}

    def summaries(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeSummary]:
        """Return the summaries of nodes, in order; with losses where rows are left out."""
        paths = [self._encoded.path_levels(self._table, levels) for levels in nodes]
        self._ask(paths, "counts")
        if not with_losses:
            return [self._known[path, False] for path in paths]
        self._ask([path for path in paths if self._known[path, False].suppressed_rows], "everything")
        return [self._known.get((path, True), self._known[path, False]) for path in paths]

    def _ask(self, paths: Sequence[Levels], asks: Asked) -> None:
        has_loss = asks != "counts"
        new = [path for path in dict.fromkeys(paths) if (path, has_loss) not in self._known]
        if not new:
            return
        for summary in self._counter.answer(Inquiry(new, None, lambda: None, asks)):
            self._known[summary.levels, has_loss] = summary
