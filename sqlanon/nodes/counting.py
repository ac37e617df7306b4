"""Counting nodes: each from the smallest relation at hand, in the way that takes least at its size.

From a small relation many nodes are counted in one GROUP BY, since a statement takes longer than its rows. From a big
one each is counted on its own, and what many nodes need is rolled up first. A query is planned once, however many nodes
there are, unless what labels lose is asked: its text then differs from node to node.

To count the sensitive values of classes takes several times as long as to count their rows, and many nodes have too
many rows in classes of fewer than k. So these are counted first, from cells without sensitive values. A node that fails
by them is ruled out with all below it, whatever else is known of it: no search ends otherwise.
"""

from __future__ import annotations

import itertools
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
from sqlanon.search import Inquiry
from sqlanon.search.problem import batches

PREPARED_NODES = 2
"""How many nodes of a big relation are counted in one statement: a thread has work while others end a node.

Measured by tests.benchmarks.tuning.
"""


FAR_NODES = 32  # how many nodes are counted together in cells that are far: one statement, and one pass over them


class NodeCounter:
    """Answers the inquiries of a search, with tables that are made for it in the scratch scope around it."""

    def __init__(self, engine: Compute, table: EncodedTable) -> None:
        self._engine = engine
        self.table = table
        self._roll_ups = RollUps.of(engine, table)

    def answer(self, inquiry: Inquiry) -> list[NodeSummary]:
        """Answer an inquiry about nodes, in their order."""
        found: dict[Levels, NodeSummary] = {}
        for source, nodes in self._roll_ups.statements(inquiry.nodes):
            found |= {summary.levels: summary for summary in self._counted(source, nodes, inquiry.asks)}
        summaries = [found[levels] for levels in inquiry.nodes]
        self._roll_ups.learn(summaries)
        return summaries

    def show(self, nodes: Sequence[Levels]) -> None:
        """Send the statements by which a search counts nodes, over cells without rows: a dry run shows them."""
        source, _ = next(self._roll_ups.prepared_statements(nodes[:1]))
        if not self._engine.is_far(source.cells.table):
            self.prepared_summaries(source, nodes, "counts")
        self._counted(source, nodes, "everything")

    def _counted(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        if self._engine.is_far(source.cells.table):
            together = batches(nodes, min(FAR_NODES, self._engine.most_rows_from_far()))
            return [each for few in together for each in self._spelled(source, few, asked)]
        if asked == "counts" or not self.table.encoding.label_losses:
            # To group by a word of zeros takes time, too: those by the same words are counted together.
            alike = sorted(nodes, key=lambda levels: words_of([self._masks(levels)])) if source.is_big else nodes
            together = batches(alike, PREPARED_NODES if source.is_big else len(nodes))
            return [summary for few in together for summary in self.prepared_summaries(source, few, asked)]
        together = batches(nodes, 1 if source.is_big else len(nodes))
        return [each for few in together for each in self._spelled(source, few, asked)]

    def _spelled(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
        """The summaries by a query that spells the nodes."""
        return node_summaries(self._engine, self.table, nodes, source.cells, asked=asked)

    def prepared_summaries(self, source: RolledUp, nodes: Sequence[Levels], asked: Asked) -> list[NodeSummary]:
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


CELLS = Relation("anon_cells_rolled_up", "cell")  # cells without sensitive values

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
        self._is_possible = criteria.looks_at_values and any(
            bound.measure == CLASS_SIZE for bound in criteria.certain_bounds
        )
        self._sized = self._failed = 0

    def answer(self, inquiry: Inquiry) -> Sequence[NodeSummary]:
        """Answer an inquiry about nodes, in their order; of those that fail by sizes, by what follows from these."""
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
        table = self._table
        encoding, criteria = table.encoding, table.encoding.criteria
        by_rows = KAnonymity(
            max(int(bound.required) for bound in criteria.certain_bounds if bound.measure == CLASS_SIZE)
        )
        # Persons of joint classes that are hidden as a whole, for their values, are not among those who are too few.
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
"""How many nodes one statement examines at most: more save no time.

Measured by tests.benchmarks.tuning.
"""

COUNTED_CELLS = 4_000_000
"""How many cells one statement counts, each once for every node: more take memory.

Measured by tests.benchmarks.tuning.
"""


@dataclass(frozen=True, slots=True)
class Examination:
    """A node with what stands in its way."""

    summary: NodeSummary
    # The largest k with which it satisfies the policy, in place of the policy's k-anonymity; 1 where it satisfies the
    # policy without any, None where not even then.
    best_k: int | None
    blocked_rows: tuple[int, ...]  # of classes that violate a privacy model, in the policy's order
    violating_rows: tuple[int, ...]  # of classes that are out of a bound of the policy
    worst: tuple[float, ...]  # the worst measure over all classes, by bound of the policy
    others: tuple[NodeSummary, ...] = ()  # the summaries under other policies, as far as a loss needs them


def nodes_at_once(table: EncodedTable) -> int:
    """Return the number of nodes to examine in one statement."""
    return max(1, min(NODES_AT_ONCE, COUNTED_CELLS // max(table.cell_count, 1)))


def examined_at_once(table: EncodedTable, nodes: Iterable[Levels]) -> Iterator[list[Levels]]:
    """The nodes in their order, as many at a time as are examined well in one statement."""
    return batches(nodes, nodes_at_once(table))


def examine_nodes(
    engine: Compute, table: EncodedTable, batch: Sequence[Levels], others: Sequence[EncodedTable] = ()
) -> list[Examination]:
    """Examine a batch of nodes, in its order; they need not be allowed by the policy's bounds on levels.

    ``others`` are the same cells under other policies, whose summaries are wanted as well.
    """
    context, encodings = table.context, [other.encoding for other in others]
    query = examine.examined(table.encoding, batch, context.row_count, context.allowed_rows, encodings)
    rows = engine.fetch(query, "nodes of the lattice", "node")
    policy = table.bound.policy
    return [_examination(policy, batch[row.pop("node")], row) for row in sorted(rows, key=lambda row: int(row["node"]))]


def attainable_bounds(engine: Compute, table: EncodedTable, batch: Sequence[Levels]) -> list[tuple[float | None, ...]]:
    """The strictest that each bound of the policy can be at each node of a batch, see :func:`attainable`."""
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


DIGITS = 6  # digits of a threshold that is proposed


def share_of(rows: int, row_count: int) -> float:
    """The shortest decimal that as a limit allows exactly ``rows`` rows."""
    for digits in itertools.count():
        share = (Decimal(rows) / row_count).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING)
        if share * row_count < rows + 1:
            return float(share)
    raise AssertionError("some number of digits is enough")


def threshold_field(bound: Bound) -> str | None:
    """The field of a privacy model that a bound comes from."""
    if bound.measure.name == "presence":
        return "minimum" if bound.at_least else "maximum"
    return bound.measure.field


def strictest_kept(model: PrivacyModel, bound: Bound, field: str, attained: float) -> float | None:
    """The strictest threshold in a few digits that a measure keeps, if there is one that is not what is asked for."""
    if bound.measure.name == "absent_classes":
        return 0.0
    if isinstance(bound.required, int):
        return int(attained)
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
    """A number in a few digits."""
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal_from_float(value))
