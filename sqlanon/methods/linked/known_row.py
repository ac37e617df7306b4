"""One known row: rows are left out by class, where fewer than k persons of it have their labels.

A person of a class of fewer than k is left out with all rows; of others the rows of each label that fewer than k
persons of the class have. That is the least, and monotone: each table is k-anonymous by persons along its path.

Source: Terrovitis, Mamoulis and Kalnis 2008; spec/linked.md, theorem C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import ShownRows, TableCounts
from sqlanon.methods.linked.node_counts import NodeCounts
from sqlanon.methods.linked.rungs import rows_on_rungs
from sqlanon.model.lattice import Asked, Levels, NodeSummary
from sqlanon.nodes.counting import NodeCounter
from sqlanon.nodes.roll_up import roll_up
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.kit.nodes import Relation
from sqlanon.search import Inquiry


class KnownRowCounter:
    """Counts what nodes leave out for attackers who know one row, table by table along its path."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self.counted = tuple(name for name in encoded.tables if name != encoded.policy.root)
        self._persons = {name: PathCounter(engine, encoded, name) for name in encoded.tables}

    @cached_property
    def _rows(self) -> dict[str, PathCounter]:
        of_rows = {name: PathCounter(self._engine, self._encoded, name, of_rows=True) for name in self.counted}
        return {**self._persons, **of_rows}

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Count rows in place of persons: fewer than k rows are of fewer than k persons."""
        return self._joined(nodes, {name: counter.ask(nodes, "counts") for name, counter in self._rows.items()})

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        asks: Asked = "everything" if with_losses else "counts"
        return self._joined(nodes, {name: counter.ask(nodes, asks) for name, counter in self._persons.items()})

    def show(self, levels: Levels) -> Mapping[str, ShownRows]:
        return rows_on_rungs(self._engine, self._encoded, self._encoded.chains(levels))

    def _joined(self, nodes: Sequence[Levels], found: Mapping[str, Sequence[NodeSummary]]) -> list[NodeCounts]:
        joined = []
        for place, levels in enumerate(nodes):
            persons = found[self._encoded.policy.root][place]
            tables = {name: self._table_counts(name, summaries[place]) for name, summaries in found.items()}
            joined.append(NodeCounts(levels, tables, persons.class_count, persons.kept_class_count))
        return joined

    def _table_counts(self, name: str, summary: NodeSummary) -> TableCounts:
        loss = summary.combined_loss if summary.combined_loss is not None else summary.lm
        if loss is not None:  # of the rows that are not above the cap; the others lose 1, too
            counts = self._encoded.bound.tables[name].counts
            loss += counts.cut / counts.linked * (1 - loss)
        return TableCounts(summary.suppressed_rows, summary.certain_suppressed_rows, loss)


class PathCounter:
    """Counts the rows of a table along its path, by persons or alone, once for all nodes with the same levels there."""

    def __init__(self, engine: Compute, encoded: EncodedLinked, name: str, *, of_rows: bool = False) -> None:
        table = encoded.tables[name]
        self._counter = NodeCounter(engine, rows_alone(engine, table) if of_rows else table)
        self._path_levels = partial(encoded.path_levels, name)
        self._known: dict[tuple[Levels, Asked], NodeSummary] = {}

    def ask(self, nodes: Sequence[Levels], asks: Asked) -> list[NodeSummary]:
        """Return the summaries of nodes, in order."""
        wanted = [*map(self._path_levels, nodes)]
        new = [levels for levels in dict.fromkeys(wanted) if (levels, asks) not in self._known]
        for summary in self._counter.answer(Inquiry(new, None, lambda: None, asks)) if new else ():
            self._known[summary.levels, asks] = summary
        return [self._known[levels, asks] for levels in wanted]


def rows_alone(engine: Compute, table: EncodedTable) -> EncodedTable:
    """Return the cells of a table without persons, to count rows."""
    encoding = table.encoding
    spec = replace(encoding.spec, individual=None)
    criteria = replace(encoding.criteria, counts_individuals=False)
    sized = replace(encoding, spec=spec, criteria=criteria, label_losses=())
    cells = Relation(f"{encoding.cells.name}_of_rows", "cell")
    bottom = (0,) * len(spec.quasi_identifiers)
    cell_count = roll_up(engine, sized, bottom, encoding.cells, cells, "cells without persons")
    return replace(table, encoding=replace(sized, cells=cells), cell_count=cell_count)
