"""Relations that a search keeps at hand, so that a node need not be counted from all cells.

A node can be computed from the cells of any node below it (LeFevre, DeWitt and Ramakrishnan 2005, section 3.1). What to
keep is chosen greedily by expected gain, as data cubes do (Harinarayan, Rajaraman and Ullman 1996, section 4): the rows
that the nodes to come need not read, less what it costs to make the relation.
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

# The numbers below were set by whole runs; tests.benchmarks.tuning shows what half and twice of each do.

BIG = 100_000
"""Relations of more cells are big: nodes are counted from them apart, and not in one GROUP BY.

Whole runs over copies of Adult with redrawn columns take less from 30,000 cells together, and from 300,000 apart.
"""

STATEMENT_ROWS = 30_000_000
"""How many rows could be read in the time that a statement should take: longer ones save nothing more."""

STEP_ROWS = 300_000  # how many rows could be read in the time that it takes to make even the smallest table
CLASS_ROWS = 10  # how many rows could be read in the time that it takes to make one class
RECENT_NODES = 32  # nodes that stand for those to come
LOOK_ROWS = 8_000_000  # how many rows are read for nodes before it is thought again of what to make for those to come
KNOWN_NODES = 512  # how many nodes' numbers of classes are kept: the latest nodes are most like the next ones
MAKING = 1  # how much longer it takes to keep classes than to count them

BUDGET = 4
"""How many times the rows of the cells all that is made may have together.

Nothing is dropped before the end: within a transaction the memory of a dropped table does not come back.
"""

UPPER_SHARE = 0.75  # the position of an expected number of classes between its bounds, on a logarithmic scale


@dataclass(eq=False)
class RolledUp:
    """Cells of a node, how many there are, and the names of the queries that are prepared for them."""

    levels: Levels
    cells: Relation
    row_count: int
    prepared: set[str] = field(default_factory=set)

    @property
    def is_big(self) -> bool:
        """Whether nodes are counted from it apart."""
        return self.row_count > BIG

    def prepared_query(self, asked: Asked, count: int | None, words: Sequence[int]) -> str:
        """The name of the query for this question about ``count`` nodes, or any number, by some words of their keys."""
        return f"{self.cells.name}_{asked}_of_{'any' if count is None else count}_by_{'_'.join(map(str, words))}"


@dataclass
class RollUps:
    """The relations at hand; the cells of the source are always among them."""

    engine: Compute
    encoding: Encoding
    row_count: int  # of the source
    cell_count: int
    label_counts: Sequence[Sequence[int]]  # of labels that are present, by quasi-identifier and level
    _made: list[RolledUp] = field(default_factory=list)

    @classmethod
    def of(cls, engine: Compute, table: EncodedTable) -> Self:
        """The cells of a table, and nothing else yet."""
        context = table.context
        return cls(engine, table.encoding, context.row_count, table.cell_count, context.losses.distinct_labels)

    def __post_init__(self) -> None:
        self._cells = RolledUp((0,) * len(self.label_counts), self.encoding.cells, self.cell_count)
        self._classes = ClassCounts(self.label_counts)
        self._classes.learn(self._cells.levels, self.cell_count)
        self._recent: deque[Levels] = deque(maxlen=RECENT_NODES)
        self._read = 0

    def statements(self, batch: Sequence[Levels]) -> Iterator[tuple[RolledUp, list[Levels]]]:
        """The nodes of a batch by the smallest relation at hand, as many together as one statement takes."""
        self.prepare(batch)
        yield from self.prepared_statements(batch)

    def prepared_statements(self, batch: Sequence[Levels]) -> Iterator[tuple[RolledUp, list[Levels]]]:
        """Yield prepared statements for some of the nodes that they were prepared for."""
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
        """Return the number of rows that a node would be counted from now."""
        return self._cheapest_below(levels).row_count

    def learn(self, summaries: Sequence[NodeSummary]) -> None:
        """Take note of how many classes nodes have."""
        for summary in summaries:
            self._classes.learn(summary.levels, summary.class_count)

    def prepare(self, batch: Sequence[Levels]) -> None:
        """Make what is worth its cost: the best guess of the nodes to come is that they are like the recent ones.

        It is not worth a look until enough is read for the nodes.
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
        """The node whose cells save most for some nodes; None if no node that was not tried saves anything."""
        read = np.array([self._cheapest_below(levels).row_count for levels in nodes])
        if read.sum() < STEP_ROWS:
            return None
        meets = dict.fromkeys(tuple(map(min, *pair)) for pair in itertools.combinations(nodes, 2))
        candidates = [levels for levels in meets if any(levels) and levels not in tried]
        if not candidates:
            return None
        sources = np.array([self._cheapest_below(levels).row_count for levels in candidates])
        # A class has a cell for each of its sensitive values.
        classes = self._classes.expected(candidates)
        sizes = np.minimum(classes * np.minimum(self._most_others, self.row_count / classes), sources)
        serves = (np.array(candidates)[:, None, :] <= np.array(nodes)[None, :, :]).all(axis=2)
        saved = np.where(serves, np.maximum(read[None, :] - sizes[:, None], 0), 0).sum(axis=1)
        gains = saved - MAKING * (sources + CLASS_ROWS * sizes) - STEP_ROWS
        gains[sizes > BUDGET * self.cell_count - sum(relation.row_count for relation in self._made)] = -np.inf
        best = int(gains.argmax())
        return candidates[best] if gains[best] > 0 else None

    def make(self, levels: Levels) -> None:
        """Make the cells of a node, from the fewest cells of a node below it."""
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
        """Bound the cells of a class by sensitive values and individuals."""
        query = distinct_others(self.encoding)
        return 1 if query is None else int(self.engine.fetch(query, "sensitive values")[0]["others"])


class ClassCounts:
    """Bounds on the number of classes of nodes, which does not increase towards the top.

    ``label_counts`` are those of labels that are present, by quasi-identifier and level.
    """

    def __init__(self, label_counts: Sequence[Sequence[int]]) -> None:
        self._logarithms = [[float(np.log(max(count, 1))) for count in counts] for counts in label_counts]
        self._known: deque[tuple[Levels, float, float]] = deque(maxlen=KNOWN_NODES)
        self._ends: list[tuple[Levels, float, float]] = []
        top = tuple(len(counts) - 1 for counts in label_counts)
        self._ends.append((top, 0.0, self._most_classes(top)))

    def learn(self, levels: Levels, class_count: int) -> None:
        """Take note of the classes of a node; those of the bottom are remembered for good."""
        known = self._known if any(levels) else self._ends
        known.append((levels, float(np.log(max(class_count, 1))), self._most_classes(levels)))

    def expected(self, candidates: Sequence[Levels]) -> NDArray[np.float64]:
        """Estimate the classes of nodes, between the bounds that the known nodes give.

        A node has no more classes than one below it, no fewer than one above it, and no more than that one times the
        labels into which each of its labels can fall apart.
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
        """The logarithm of the number of combinations of labels."""
        return sum(logarithms[level] for logarithms, level in zip(self._logarithms, levels, strict=True))


def roll_up(engine: Compute, encoding: Encoding, levels: Levels, cells: Relation, makes: Relation, purpose: str) -> int:
    """Make the cells of a node from those of one below it; says how many there are."""
    engine.run(Step(makes, rolled_up(encoding, levels, cells), purpose))
    return int(engine.fetch(counted_rows(makes.table), purpose)[0]["rows"])


def counted_together(nodes: Sequence[Levels], costs: NDArray[np.float64]) -> Iterator[list[Levels]]:
    """Nodes in their order, as many at once as cost no more than a statement should."""
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
