"""Relations that save a search from counting every node from all cells.

A node can be counted from the cells of any node below it (LeFevre, DeWitt and Ramakrishnan 2005, section 3.1).
Relations are chosen greedily by expected gain, as in data cubes (Harinarayan, Rajaraman and Ullman 1996, section 4):
the rows that future nodes need not read, less the cost of making the relation.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.duckdb import Compute
from sqlanon.model.lattice import Asked, Levels, NodeSummary, is_below
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import distinct_others, rolled_up
from sqlanon.queries.kit.nodes import Relation, Step, counted_rows

# The numbers below were set by whole runs; tests.benchmarks.tuning shows the effect of half and twice of each.

BIG = 100_000
"""From relations of more cells, nodes are counted separately instead of in one GROUP BY.

Whole runs over copies of Adult with redrawn columns are faster together at 30,000 cells, and separately at 300,000.
"""
STATEMENT_ROWS = 30_000_000  # the maximum cost of a statement, in rows read: longer ones save nothing more
STEP_ROWS = 300_000  # the cost of making the smallest table, in rows read
CLASS_ROWS = 10  # the cost of making one class, in rows read
RECENT_NODES = 32  # nodes that stand for future ones
LOOK_ROWS = 8_000_000  # rows to read before reconsidering what to make
KNOWN_NODES = 512  # nodes whose class counts are kept: the latest ones resemble the next
MAKING = 1  # the extra cost of keeping classes, relative to counting them
BUDGET = 4
"""The maximum rows of all relations made, in multiples of the cells.

None is dropped before the end: within a transaction the memory of a dropped table isn't freed.
"""
UPPER_SHARE = 0.75  # the position of an expected class count between its bounds, on a logarithmic scale


@dataclass(eq=False)
class RolledUp:
    """The cells of a node."""

    levels: Levels
    cells: Relation
    row_count: int
    prepared: set[str] = field(default_factory=set)  # names of prepared queries

    @property
    def is_big(self) -> bool:
        """Whether nodes are counted from it separately."""
        return self.row_count > BIG

    def prepared_query(self, asked: Asked, count: int | None, words: Sequence[int]) -> str:
        """Name the query about ``count`` nodes, or any number, by some words of their keys."""
        return f"{self.cells.name}_{asked}_of_{'any' if count is None else count}_by_{'_'.join(map(str, words))}"


@dataclass
class RollUps:
    """The relations at hand, always including the cells of the source."""

    engine: Compute
    encoding: Encoding
    row_count: int  # of the source
    cell_count: int
    label_counts: Sequence[Sequence[int]]  # of present labels, by quasi-identifier and level
    _made: list[RolledUp] = field(default_factory=list)

    @classmethod
    def of(cls, engine: Compute, table: EncodedTable) -> Self:
        context = table.context
        return cls(engine, table.encoding, context.row_count, table.cell_count, context.losses.distinct_labels)

    def __post_init__(self) -> None:
        self._cells = RolledUp((0,) * len(self.label_counts), self.encoding.cells, self.cell_count)
        self._classes = ClassCounts(self.label_counts)
        self._classes.learn(self._cells.levels, self.cell_count)
        self._recent: deque[Levels] = deque(maxlen=RECENT_NODES)
        self._read = 0

    def statements(self, batch: Sequence[Levels]) -> Iterator[tuple[RolledUp, list[Levels]]]:
        """Yield the nodes of a batch by the smallest relation at hand, grouped by statement."""
        self.prepare(batch)
        yield from self.prepared_statements(batch)

    def prepared_statements(self, batch: Sequence[Levels]) -> Iterator[tuple[RolledUp, list[Levels]]]:
        """Yield statements for nodes, from the relations that there are."""
        sources = {levels: self._cheapest_below(levels) for levels in batch}
        for source in dict.fromkeys(sources.values()):
            nodes = [levels for levels in batch if sources[levels] is source]
            if len(nodes) == 1:
                yield source, nodes
                continue
            classes = np.minimum(self._classes.expected(nodes), source.row_count)
            for together in counted_together(nodes, source.row_count + CLASS_ROWS * classes):
                yield source, together

    def cost(self, levels: Levels) -> int:
        """Return the rows that counting a node would read now."""
        return self._cheapest_below(levels).row_count

    def learn(self, summaries: Sequence[NodeSummary]) -> None:
        for summary in summaries:
            self._classes.learn(summary.levels, summary.class_count)

    def prepare(self, batch: Sequence[Levels]) -> None:
        """Make relations that are worth their cost, assuming that future nodes resemble recent ones.

        The decision itself costs time, so it waits until enough rows were read.
        """
        self._recent.extend(batch)
        self._read += sum(map(self.cost, batch))
        if self._read < LOOK_ROWS:
            return
        self._read = 0
        tried = {relation.levels for relation in self._made}
        while (levels := self._most_useful(list(self._recent), tried)) is not None:
            tried.add(levels)
            self.make(levels)

    def _most_useful(self, nodes: list[Levels], tried: set[Levels]) -> Levels | None:
        """Return the untried node whose cells save most for ``nodes``; None if none saves anything."""
        read = np.array([self._cheapest_below(levels).row_count for levels in nodes])
        if read.sum() < STEP_ROWS:
            return None
        meets = dict.fromkeys(tuple(map(min, *pair)) for pair in itertools.combinations(nodes, 2))
        candidates = [levels for levels in meets if any(levels) and levels not in tried]
        if not candidates:
            return None
        sources = np.array([self._cheapest_below(levels).row_count for levels in candidates])
        # A class has a cell per sensitive value.
        classes = self._classes.expected(candidates)
        sizes = np.minimum(classes * np.minimum(self._most_others, self.row_count / classes), sources)
        serves = (np.array(candidates)[:, None, :] <= np.array(nodes)[None, :, :]).all(axis=2)
        saved = np.where(serves, np.maximum(read[None, :] - sizes[:, None], 0), 0).sum(axis=1)
        gains = saved - MAKING * (sources + CLASS_ROWS * sizes) - STEP_ROWS
        gains[sizes > BUDGET * self.cell_count - sum(relation.row_count for relation in self._made)] = -np.inf
        best = int(gains.argmax())
        return candidates[best] if gains[best] > 0 else None

    def make(self, levels: Levels) -> None:
        """Make the cells of a node from the smallest relation below it."""
        source = self._cheapest_below(levels)
        relation = Relation(f"{self.encoding.cells.name}_rolled_up_{len(self._made)}", "cell")
        row_count = roll_up(self.engine, self.encoding, levels, source.cells, relation, "cells rolled up")
        if self._most_others == 1:
            self._classes.learn(levels, row_count)
        self._made.append(RolledUp(levels, relation, row_count))

    def _cheapest_below(self, levels: Levels) -> RolledUp:
        usable = (relation for relation in self._made if is_below(relation.levels, levels))
        return min((self._cells, *usable), key=lambda relation: relation.row_count)

    @cached_property
    def _most_others(self) -> int:
        """Bound the number of cells of a class by its sensitive values and individuals."""
        query = distinct_others(self.encoding)
        return 1 if query is None else int(self.engine.fetch(query, "sensitive values")[0]["others"])


class ClassCounts:
    """Bounds on class counts of nodes, which never increase towards the top.

    ``label_counts`` counts present labels by quasi-identifier and level.
    """

    def __init__(self, label_counts: Sequence[Sequence[int]]) -> None:
        self._logarithms = [[float(np.log(max(count, 1))) for count in counts] for counts in label_counts]
        self._known: deque[tuple[Levels, float, float]] = deque(maxlen=KNOWN_NODES)
        self._ends: list[tuple[Levels, float, float]] = []
        top = tuple(len(counts) - 1 for counts in label_counts)
        self._ends.append((top, 0.0, self._most_classes(top)))

    def learn(self, levels: Levels, class_count: int) -> None:
        """Record the class count of a node; the bottom is remembered for good."""
        known = self._known if any(levels) else self._ends
        known.append((levels, float(np.log(max(class_count, 1))), self._most_classes(levels)))

    def expected(self, candidates: Sequence[Levels]) -> NDArray[np.float64]:
        """Estimate the class counts of nodes between the bounds from known nodes.

        A node has at most the classes of a node below it, at least the classes of a node above it, and at most these
        times the numbers of labels that their labels can split into.
        """
        all_known = [*self._ends, *self._known]
        nodes, known = np.array(candidates)[:, None, :], np.array([levels for levels, _, _ in all_known])[None, :, :]
        counts, products = np.array([logarithms for _, *logarithms in all_known]).T[:, None, :]
        own = np.array([self._most_classes(levels) for levels in candidates])
        below, above = (known <= nodes).all(axis=2), (known >= nodes).all(axis=2)
        lower = np.where(above, counts, 0.0).max(axis=1)
        split = np.where(above, counts + own[:, None] - products, np.inf).min(axis=1)
        upper = np.minimum(np.where(below, counts, np.inf).min(axis=1), np.minimum(split, own))
        expected: NDArray[np.float64] = np.exp(lower + UPPER_SHARE * np.maximum(upper - lower, 0.0))
        return expected

    def _most_classes(self, levels: Levels) -> float:
        """Return the logarithm of the number of combinations of labels."""
        return sum(logarithms[level] for logarithms, level in zip(self._logarithms, levels, strict=True))


def roll_up(engine: Compute, encoding: Encoding, levels: Levels, cells: Relation, makes: Relation, purpose: str) -> int:
    """Make the cells of a node from the cells of one below it, and return their number."""
    engine.run(Step(makes, rolled_up(encoding, levels, cells), purpose))
    return int(engine.fetch(counted_rows(makes.table), purpose)[0]["rows"])


def counted_together(nodes: Sequence[Levels], costs: NDArray[np.float64]) -> Iterator[list[Levels]]:
    """Yield nodes in order, in groups within the cost limit of a statement."""
    together: list[Levels] = []
    left = 0.0
    for levels, cost in zip(nodes, costs, strict=True):
        if together and cost > left:
            yield together
            together = []
        if not together:
            left = STATEMENT_ROWS
        together.append(levels)
        left -= cost
    if together:
        yield together
