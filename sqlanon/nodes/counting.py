"""Counting nodes: each one from the smallest relation at hand, in the way that is fastest at its size.

From a small relation one GROUP BY counts many nodes, since a statement takes longer than its rows. From a big one each
node is counted separately, after rolling up the cells that many nodes need. Queries are planned once for all nodes,
unless they compute the loss of labels: then their text differs between nodes.

Counting sensitive values takes several times as long as counting rows, and many nodes have too many rows in classes of
fewer than k. So rows are counted first, from cells without sensitive values. A node that fails by them is ruled out
with all nodes below it; this never changes the result of a search.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import cached_property
from typing import Any

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.model.criteria import CLASS_SIZE, Bound, Criteria
from sqlanon.model.lattice import Asked, Levels, NodeSummary
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.nodes.roll_up import RolledUp, RollUps, roll_up
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import examination as examine
from sqlanon.queries import summaries as queries
from sqlanon.queries.encoding import words_of
from sqlanon.queries.kit.nodes import PreparedQuery, Relation
from sqlanon.search import Inquiry, batches

PREPARED_NODES = 2
"""Nodes per statement over a big relation, so that no thread idles at the end of a node (tests.benchmarks.tuning)."""
FAR_NODES = 32  # nodes per statement over far cells, in one pass over them


class NodeCounter:
    """Answers the inquiries of a search, with tables in the surrounding scratch scope."""

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self.table = table
        self._roll_ups = RollUps.of(engine, table)

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """Return the summaries of nodes, in the order of the inquiry."""
        found: dict[Levels, NodeSummary] = {}
        for source, nodes in self._roll_ups.statements(inquiry.nodes):
            found |= {summary.levels: summary for summary in self._counted(source, nodes, inquiry.asks)}
        summaries = [found[levels] for levels in inquiry.nodes]
        self._roll_ups.learn(summaries)
        return summaries

    def show(self, nodes: Sequence[Levels]) -> None:
        """Send the statements of a search over cells without rows, for a dry run to show."""
        source, _ = next(self._roll_ups.prepared_statements(nodes[:1]))
        if not self._engine.is_far(source.cells.table) and not self.table.encoding.of_labels:
            self.prepared_summaries(source, nodes, "counts")
        self._counted(source, nodes, "everything")

    def _counted(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        if self._engine.is_far(source.cells.table):
            together = batches(nodes, min(FAR_NODES, self._engine.most_rows_from_far()))
            return [each for few in together for each in self._spelled(source, few, asked)]
        encoding = self.table.encoding
        if not encoding.of_labels and (asked == "counts" or not encoding.label_losses):
            # Grouping by a word of zeros takes time, too, so nodes with equal words are counted together.
            alike = sorted(nodes, key=lambda levels: words_of([self._masks(levels)])) if source.is_big else nodes
            together = batches(alike, PREPARED_NODES if source.is_big else len(nodes))
            return [summary for few in together for summary in self.prepared_summaries(source, few, asked)]
        together = batches(nodes, 1 if source.is_big else len(nodes))
        return [each for few in together for each in self._spelled(source, few, asked)]

    def _spelled(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        """Count nodes by a query that contains them as literals."""
        return node_summaries(self._engine, self.table, nodes, source.cells, asked=asked)

    def prepared_summaries(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        """Count nodes by a query that is planned once for all nodes."""
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
    """Return the summaries of nodes in order; for Inverse OLA with the attainable privacy, unless ``as_asked``."""
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
    """Return the rows that may be suppressed to attain more privacy, for Inverse OLA only.

    Even if every row may be suppressed, one class must be published, and determines the attainable privacy.
    """
    if table.bound.policy.objective != "privacy":
        return None
    return min(table.context.allowed_rows, table.context.row_count - 1)


CELLS = Relation("anon_cells_rolled_up", "cell")  # cells without sensitive values

FAILING_SHARE = 1 / 4
"""The share of nodes that must fail by class sizes for these to be counted first.

Over ARX's Adult, by occupation and by age, counting sizes takes 0.2 to 0.4 of a check.
"""
TRIED = 8
"""Nodes to try first: in a big table few of the nodes that a search asks for fail by sizes.

In ARX's Adult blown up to 1,000,000 rows none of 32 did; counting all their sizes made runs 6 to 10 % longer.
"""


class SizesFirst:
    """Answers the inquiries of a search, by class sizes first where that pays.

    Before the first satisfying node everything is counted at once: the error of a search without one reports the rows
    that the closest node suppresses.
    """

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self._table = table
        self._whole = NodeCounter(engine, table)
        criteria = table.encoding.criteria
        # A loss that counts a column needs its values for every class.
        counts_values = criteria.quality.counted_column is not None
        # Every class has a row, so that sizes never fail a bound of one.
        has_sizes = any(bound.measure == CLASS_SIZE and bound.required > 1 for bound in criteria.certain_bounds)
        self._is_possible = criteria.looks_at_values and has_sizes and not counts_values
        self._sized = self._failed = 0

    def answer(self, inquiry: Inquiry) -> Sequence[NodeSummary]:
        """Return the summaries of nodes in order; for nodes that fail by sizes, as far as sizes determine them."""
        if inquiry.loss is None or inquiry.asks == "loss" or not self._are_worth_it:
            return self._whole.answer(inquiry)
        allowed = self._table.context.allowed_rows
        step = 1 if self._sized else max(1, len(inquiry.nodes) // TRIED)
        asks: Asked = "counts" if self._table.encoding.label_losses else inquiry.asks
        sized = self._sizes.answer(replace(inquiry, nodes=inquiry.nodes[::step], asks=asks))
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
        table = self._table
        encoding, criteria = table.encoding, table.encoding.criteria
        by_rows = KAnonymity(
            max(int(bound.required) for bound in criteria.certain_bounds if bound.measure == CLASS_SIZE)
        )
        # Persons in joint classes that are hidden for their values don't count as too few.
        spec = replace(encoding.spec, protected=(), protected_shapes={}, compared=(), earlier=None, shown_values=())
        sized = replace(
            encoding,
            spec=spec,
            criteria=Criteria((by_rows,), by_rows.bounds, criteria.quality, criteria.counts_individuals),
            label_losses=(),
        )
        bottom = (0,) * len(spec.quasi_identifiers)
        cell_count = roll_up(self._engine, sized, bottom, encoding.cells, CELLS, "cells without sensitive values")
        return NodeCounter(self._engine, replace(table, encoding=replace(sized, cells=CELLS), cell_count=cell_count))


NODES_AT_ONCE = 64
"""The maximum number of nodes per examining statement: more save no time (tests.benchmarks.tuning)."""
COUNTED_CELLS = 4_000_000
"""The maximum number of cells times nodes per statement: more take memory (tests.benchmarks.tuning)."""


@dataclass(frozen=True, slots=True)
class Examination:
    """A node and its obstacles."""

    summary: NodeSummary
    # The largest k for which the node satisfies the policy; 1 if it only does without k-anonymity, None if it never
    # does.
    best_k: int | None
    blocked_rows: tuple[int, ...]  # in classes that violate a privacy model, by model of the policy
    violating_rows: tuple[int, ...]  # in classes that violate a bound, by bound of the policy
    worst: tuple[float, ...]  # the worst measure of all classes, by bound of the policy
    others: tuple[NodeSummary, ...] = ()  # summaries under other policies, as far as a loss needs them


def nodes_at_once(table: EncodedTable) -> int:
    return max(1, min(NODES_AT_ONCE, COUNTED_CELLS // max(table.cell_count, 1)))


def examined_at_once(table: EncodedTable, nodes: Iterable[Levels]) -> Iterator[list[Levels]]:
    """Yield the nodes in batches for one statement."""
    return batches(nodes, nodes_at_once(table))


def examine_nodes(
    engine: Compute, table: EncodedTable, batch: Sequence[Levels], others: Sequence[EncodedTable] = ()
) -> list[Examination]:
    """Examine nodes in order, even outside the policy's bounds on levels, with summaries under other policies."""
    context, encodings = table.context, [other.encoding for other in others]
    query = examine.examined(table.encoding, batch, context.row_count, context.allowed_rows, encodings)
    rows = engine.fetch(query, "nodes of the lattice", "node")
    policy = table.bound.policy
    return [_examination(policy, batch[row.pop("node")], row) for row in sorted(rows, key=lambda row: int(row["node"]))]


def attainable_bounds(engine: Compute, table: EncodedTable, batch: Sequence[Levels]) -> list[tuple[float | None, ...]]:
    """Return the strictest attainable value of each bound of the policy at each node, see :func:`attainable`."""
    context = table.context
    query = examine.attainable(table.encoding, batch, context.row_count, context.allowed_rows)
    rows = engine.fetch(query, "attainable bounds", "node")
    indexes = range(len(table.bound.policy.criteria.bounds))
    ordered = sorted(rows, key=lambda row: int(row["node"]))
    return [tuple(row[f"attainable_{index}"] for index in indexes) for row in ordered]


def _examination(policy: Policy, levels: Levels, row: dict[str, Any]) -> Examination:
    def taken(name: str, count: int) -> tuple[Any, ...]:
        return tuple(row.pop(f"{name}_{index}") for index in range(count))

    of_others: dict[int, dict[str, Any]] = {}
    for name in [name for name in row if name.startswith("other_")]:
        _, index, column = name.split("_", 2)
        of_others.setdefault(int(index), {})[column] = row.pop(name)
    return Examination(
        best_k=row.pop("best_k"),
        blocked_rows=taken("blocked", len(policy.privacy)),
        violating_rows=taken("violating", len(policy.criteria.bounds)),
        worst=taken("worst", len(policy.criteria.bounds)),
        others=tuple(NodeSummary.of_row(levels, {**row, **of_others[index]}) for index in sorted(of_others)),
        summary=NodeSummary.of_row(levels, row),
    )


DIGITS = 6  # of a proposed threshold


def share_of(rows: int, row_count: int) -> float:
    """Return the shortest decimal that as a limit allows exactly ``rows`` rows."""
    for digits in itertools.count():
        share = (Decimal(rows) / row_count).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
        if share * row_count < rows + 1:
            return float(share)
    raise AssertionError("some number of digits is enough")


def threshold_field(bound: Bound) -> str | None:
    """Name the field of a privacy model that sets a bound."""
    if bound.measure.name == "presence":
        return "minimum" if bound.at_least else "maximum"
    return bound.measure.field


def strictest_kept(model: PrivacyModel, bound: Bound, field: str, attained: float) -> float | None:
    """Return the strictest threshold in a few digits that a measure keeps, if there is a new one."""
    if bound.measure.name == "absent_classes":
        return 0.0
    if isinstance(bound.required, int):
        return int(attained)
    if not math.isfinite(attained):
        return None
    away = ROUND_FLOOR if bound.at_least else ROUND_CEILING
    unit = Decimal(1).scaleb(Decimal(attained).adjusted() - DIGITS + 1)
    beyond = Decimal(in_few_digits(attained, away)) + (unit if away == ROUND_CEILING else -unit)
    for value in (in_few_digits(attained), in_few_digits(attained, away), in_few_digits(float(beyond), None)):
        try:
            kept = type(model)(**{**model.model_dump(), field: value}).bounds
        except PolicyError:
            continue
        if all(
            each.met_by(attained)
            for each in kept
            if (each.measure, each.comparison) == (bound.measure, bound.comparison)
        ):
            return value
    return None


def in_few_digits(value: float, rounding: str | None = None) -> float:
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal_from_float(value))
