"""One known row: rows are left out by class, where fewer than k persons of it have their labels.

A person of a class of fewer than k is left out with all rows; of others the rows of each label that fewer than k
persons of the class have. That is the least, and monotone: each table is k-anonymous by persons along its path.

Source: Terrovitis, Mamoulis and Kalnis 2008; spec/linked.md, theorem C.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.node_counts import NodeCounts, TableCounts
from sqlanon.methods.linked.shown_rows import show_kept_classes
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
        self._tables = {name: PathCounter(engine, encoded, name) for name in encoded.tables}

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Count rows in place of persons: fewer than k rows are of fewer than k persons."""
        return self._joined(nodes, {name: counter.bounds(nodes) for name, counter in self._tables.items()})

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        found = {name: counter.counts(nodes, with_losses=with_losses) for name, counter in self._tables.items()}
        return self._joined(nodes, found)

    def show(self, levels: Levels) -> None:
        show_kept_classes(self._engine, self._encoded, levels)

    def _joined(self, nodes: Sequence[Levels], found: Mapping[str, Sequence[NodeSummary]]) -> list[NodeCounts]:
        persons = found[self._encoded.policy.root]
        return [
            NodeCounts(
                levels,
                persons[place].class_count,
                persons[place].kept_class_count,
                {name: table_counts(self._encoded, name, summaries[place]) for name, summaries in found.items()},
            )
            for place, levels in enumerate(nodes)
        ]


def table_counts(encoded: EncodedLinked, name: str, summary: NodeSummary) -> TableCounts:
    """Return what becomes of the rows of a table, by the summary of its path."""
    loss = summary.combined_loss if summary.combined_loss is not None else summary.lm
    if loss is not None:  # of the rows that are not above the cap; the others lose 1, too
        counts = encoded.bound.tables[name].counts
        loss += counts.cut / counts.linked * (1 - loss)
    return TableCounts(summary.suppressed_rows, summary.certain_suppressed_rows, loss)


class PathCounter:
    """Counts the rows of a table along its path, once for all nodes with the same levels there."""

    def __init__(self, engine: Compute, encoded: EncodedLinked, table: str) -> None:
        self._path_levels = partial(encoded.path_levels, table)
        self._engine = engine
        self._own = encoded.tables[table]
        self._persons = AskedOnce(NodeCounter(engine, self._own))

    @cached_property
    def _rows(self) -> AskedOnce:
        if self._own.encoding.spec.individual is None:
            return self._persons
        return AskedOnce(NodeCounter(self._engine, rows_alone(self._engine, self._own)))

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeSummary]:
        return self._rows.ask(map(self._path_levels, nodes), "counts")

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeSummary]:
        """Return the summaries of nodes, in order; with losses where rows are left out."""
        found = self._persons.ask(map(self._path_levels, nodes), "counts")
        if with_losses:
            lacking = [summary.levels for summary in found if summary.suppressed_rows]
            losses = {summary.levels: summary for summary in self._persons.ask(lacking, "everything")}
            found = [losses.get(summary.levels, summary) for summary in found]
        return found


class AskedOnce:
    """Counts each node once."""

    def __init__(self, counter: NodeCounter) -> None:
        self._counter = counter
        self._known: dict[tuple[Levels, Asked], NodeSummary] = {}

    def ask(self, nodes: Iterable[Levels], asks: Asked) -> list[NodeSummary]:
        wanted = [*nodes]
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
