"""Proofs over intervals of nodes from the cells of a table, for privacy models that have scores.

Source: spec/bounds2.md; the scores and their proofs are macros (``sql/macros/58_interval_rows.sql``). One statement
over the cells of their lowest nodes, or of nodes below, proves any number of intervals.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlanon.engines.duckdb import Compute
from sqlanon.model.lattice import Levels, NodeSummary, is_below
from sqlanon.nodes.counting import SizesFirst
from sqlanon.nodes.interval_queries import (
    CELLS,
    first_cells,
    have_scores,
    interval_proofs,
    more_cells,
    value_tables,
)
from sqlanon.nodes.roll_up import ClassCounts
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.kit.nodes import PreparedQuery, counted_rows
from sqlanon.search import Inquiry
from sqlanon.search.problem import Answers, Proof

DECISIVE = 0.1
"""Intervals pay if scores suppress this share of rows beyond class sizes, halfway up the lattice.

ARX's Adult by occupation, k = 5, 5 % suppressed, 30,162 rows and 1,000,000 with redrawn columns: δ-disclosure .85 and
.72; β-likeness .46 and .17, where a run of 1,000,000 rows took 19 CPU s by intervals and 50 s by nodes; t-closeness in
order .03 and .01.
"""
FEW_ROWS = 10_000  # cells of fewer rows are read again and again rather than rolled up
LESS = 0.7  # cells are rolled up only if this reduces their rows to this share
BUDGET = 16  # the maximum rows of all rolled up cells together, in multiples of the first cells
Interval = tuple[Levels, Levels]  # from the least to the most general node


@dataclass(frozen=True)
class NodeCells:
    """The cells of a node with their values, and the number of their rows."""

    number: int
    levels: Levels
    row_count: int


class IntervalProofs:
    """Proves how many rows all nodes of an interval suppress, with tables in the surrounding scratch scope.

    All bounds need scores; ``counter`` counts single nodes.
    """

    def __init__(self, engine: Compute, table: EncodedTable, counter: SizesFirst) -> None:
        self._engine, self._encoding, self._counter = engine, table.encoding, counter
        self._classes = ClassCounts(table.context.losses.distinct_labels)
        for step in (*value_tables(self._encoding), first_cells(self._encoding)):
            engine.run(step)
        rows = int(engine.fetch(counted_rows(CELLS.table), "cells with their values")[0]["rows"])
        self._made = [NodeCells(0, (0,) * len(table.context.lattice.bottom), rows)]
        self._room = BUDGET * rows
        self._row_count = table.context.row_count
        self._prepared: set[str] = set()

    def answer(self, inquiry: Inquiry) -> Answers:
        """Answer inquiries about intervals by proofs, and about nodes by counting."""
        return self.prove(inquiry.intervals) if inquiry.asks == "proofs" else self._counter.answer(inquiry)

    def prove(self, intervals: Sequence[Interval]) -> list[Proof]:
        nodes = list(dict.fromkeys(high for low, high in intervals if low == high))
        summaries = self._counter.answer(Inquiry(nodes, None, lambda: None, "counts")) if nodes else []
        found = {(each.levels, each.levels): Proof(each.suppressed_rows, each) for each in summaries}
        sources = {each: self._cells_for(each[0]) for each in intervals if each not in found}
        for are_of_low in (True, False):
            asked = {each: cells for each, cells in sources.items() if (cells.levels == each[0]) == are_of_low}
            found.update(self._proven(asked, are_of_low=are_of_low) if asked else ())
        return [found[interval] for interval in intervals]

    def are_decisive(self, levels: Levels) -> bool:
        """Return whether scores suppress many more rows of a node than class sizes do."""
        cells = self._cells_for(levels)
        [(_, proof)] = self._proven({(levels, levels): cells}, are_of_low=cells.levels == levels)
        by_scores = proof.summary.suppressed_rows - proof.summary.certain_suppressed_rows
        return by_scores >= DECISIVE * self._row_count

    def _proven(self, sources: Mapping[Interval, NodeCells], *, are_of_low: bool) -> Iterator[tuple[Interval, Proof]]:
        name = f"anon_proofs_{'of' if are_of_low else 'above'}_cells"
        if name not in self._prepared:
            query = interval_proofs(self._encoding, are_of_low=are_of_low)
            self._engine.prepare(name, query, "intervals of nodes")
            self._prepared.add(name)
        intervals = list(sources)
        numbers = [cells.number for cells in sources.values()]
        masks = [self._masks(levels) for levels in zip(*intervals, strict=True)]
        given = (list(range(len(intervals))), numbers, *itertools.chain.from_iterable(masks))
        for row in self._engine.fetch(PreparedQuery(name, given), "intervals of nodes", "node"):
            interval = intervals[row.pop("node")]
            proven = int(row.pop("proven_rows"))
            summary = NodeSummary.of_row(interval[1], row)
            self._classes.learn(interval[1], summary.class_count)
            yield interval, Proof(proven, summary)

    def _masks(self, nodes: Sequence[Levels]) -> list[list[int]]:
        """Return, by word of keys, its masks at the nodes."""
        masks = [self._encoding.keys.node_masks(levels) for levels in nodes]
        return [[each.get(word, 0) for each in masks] for word in range(self._encoding.keys.word_count)]

    def _cells_for(self, levels: Levels) -> NodeCells:
        """Return the fewest cells of a node or of one below it, rolled up if that reduces them much."""
        source = min((each for each in self._made if is_below(each.levels, levels)), key=lambda each: each.row_count)
        if source.row_count <= FEW_ROWS or source.levels == levels:
            return source
        classes, known = self._classes.expected([levels, source.levels])
        if source.row_count * classes / known > min(LESS * source.row_count, self._room):
            return source
        name, number = "anon_more_interval_cells", len(self._made)
        if name not in self._prepared:
            self._engine.prepare(name, more_cells(self._encoding), "cells with their values")
            self._prepared.add(name)
        query = PreparedQuery(name, ([source.number], *self._masks([levels]), number))
        [made] = self._engine.fetch(query, "cells with their values")
        self._made.append(NodeCells(number, levels, int(made["Count"])))
        self._room -= self._made[-1].row_count
        return self._made[-1]


def proofs_of(engine: Compute, table: EncodedTable, counter: SizesFirst) -> IntervalProofs | None:
    """Return proofs by the cells of a table; None if some models have no scores, or intervals would prove little."""
    encoding, lattice, spec = table.encoding, table.context.lattice, table.encoding.spec
    is_plain = spec.individual is None and spec.earlier is None and not engine.is_far(encoding.cells.table)
    has_cells = encoding.keys.word_count > 0 and table.context.row_count > 0
    if not (is_plain and has_cells and have_scores(encoding.criteria.bounds)):
        return None
    proofs = IntervalProofs(engine, table, counter)
    halfway = tuple((least + most) // 2 for least, most in zip(lattice.bottom, lattice.top, strict=True))
    return proofs if proofs.are_decisive(halfway) else None
