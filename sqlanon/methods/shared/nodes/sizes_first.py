"""Sizes first: nodes that fail by the sizes of their classes are recognized by these alone.

To count the sensitive values of classes takes several times as long as to count their rows, and many nodes have
too many rows in classes of fewer than k. So these are counted first, from cells without sensitive values.
A node that fails by them is ruled out with all below it, whatever else is known of it: no search ends otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.nodes.node_counter import NodeCounter
from sqlanon.methods.shared.roll_up import roll_up
from sqlanon.model.criteria import Criteria
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.privacy import CLASS_SIZE, KAnonymity
from sqlanon.queries.kit.nodes import Relation
from sqlanon.search import Inquiry

CELLS = Relation("anon_cells_rolled_up", "cell")
"""Cells without sensitive values."""

FAILING_SHARE = 1 / 4
"""The share of nodes that must fail by the sizes of their classes for these to be counted first.

ARX's Adult by occupation and by age (tests.benchmarks.checks): to count sizes takes 0.2 to 0.4 of a check.
"""

TRIED = 8
"""How many nodes show first whether it is worth it: with a big table a search asks for few nodes that fail by sizes.

Of ARX's Adult blown up to 1,000,000 rows none of 32 did; to count the sizes of them all made runs 6 to 10 % longer.
"""


class SizesFirst:
    """Answers the inquiries of a search, with tables that are made for it in the scratch scope around it.

    While no node is found that satisfies, all is counted at once: the error of a search that finds none reports how
    many rows the closest one suppresses.
    """

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self._table = table
        self._whole = NodeCounter(engine, table)
        criteria = table.encoding.criteria
        looks_at_more = any(bound.measure != CLASS_SIZE for bound in criteria.bounds)
        self._is_possible = looks_at_more and any(bound.measure == CLASS_SIZE for bound in criteria.certain_bounds)
        self._sized = self._failed = 0

    def answer(self, inquiry: Inquiry) -> Sequence[NodeSummary]:
        """What is asked of some nodes, in their order: of those that fail by sizes what follows from these."""
        if inquiry.loss is None or inquiry.asks == "loss" or not self._are_worth_it:
            return self._whole.answer(inquiry)
        allowed = self._table.context.allowed_rows
        step = 1 if self._sized else max(1, len(inquiry.nodes) // TRIED)
        sized = self._sizes.answer(replace(inquiry, nodes=inquiry.nodes[::step]))
        found = {summary.levels: summary for summary in sized if summary.suppressed_rows > allowed}
        self._sized += len(sized)
        self._failed += len(found)
        if others := [levels for levels in inquiry.nodes if levels not in found]:
            found |= {summary.levels: summary for summary in self._whole.answer(replace(inquiry, nodes=others))}
        return [found[levels] for levels in inquiry.nodes]

    @property
    def _are_worth_it(self) -> bool:
        return self._is_possible and self._failed > FAILING_SHARE * (self._sized - TRIED)

    @cached_property
    def _sizes(self) -> NodeCounter:
        """What counts the rows of classes."""
        table = self._table
        encoding, criteria = table.encoding, table.encoding.criteria
        by_rows = KAnonymity(
            max(int(bound.required) for bound in criteria.certain_bounds if bound.measure == CLASS_SIZE)
        )
        spec = replace(encoding.spec, protected=(), protected_shapes={}, compared=())
        sized = replace(
            encoding,
            spec=spec,
            criteria=Criteria((by_rows,), by_rows.bounds, criteria.quality, criteria.counts_individuals),
            label_losses=(),
        )
        bottom = (0,) * len(spec.quasi_identifiers)
        cell_count = roll_up(self._engine, sized, bottom, encoding.cells, CELLS, "cells without sensitive values")
        return NodeCounter(self._engine, replace(table, encoding=replace(sized, cells=CELLS), cell_count=cell_count))
