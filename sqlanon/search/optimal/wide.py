"""Optimal search of lattices too large for arrays: boxes of nodes are split, and dropped by what their ends prove.

Two kinds of boxes take turns. Those of the least bounds raise the proven bound of the loss; those whose highest node
loses least lead downhill to good nodes. Where a good node is found, those are checked that differ from it by an
exchange, one quasi-identifier finer for another one coarser.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from sqlanon.model.lattice import Lattice, Levels, NodeSummary, with_level
from sqlanon.search.knowledge import Knowledge, check
from sqlanon.search.optimal.boxes import Box, Boxes
from sqlanon.search.optimal.splits import Splits
from sqlanon.search.problem import BATCH_SIZE, Inquiry, Part, Search, SearchProblem, SearchStopped, margin

DOWNHILL_SHARE = 1 / 10
"""The share of nodes that are checked to find better ones.

tests.benchmarks.wide, Adult: the optimum is proven after 1.3 CPU s; with a third, after 1.5.
"""

DOWNHILL_NODES = BATCH_SIZE // 2
"""How many of them are checked at once: a step depends on the one before."""

SPLIT_AT_ONCE = 1 / 4
"""The largest share of the waiting boxes that is split at once: by what is learned from some, others are left.

tests.benchmarks.wide, 15 columns of 1,000,000 rows, the bound after 40 CPU s: 0.250; with an eighth 0.250, and if all
are split, 2,048 of them at most, 0.178.
"""

MAX_REMEMBERED = 2**18
"""How many nodes are remembered as checked, in about 60 MB: beyond, it is not known which exchanges would be new."""


def by_boxes(problem: SearchProblem, boxes: Boxes) -> Search:
    """Find a node of least loss, and all its ties, or the best that can be found before the search is stopped."""
    knowledge = Knowledge(problem, boxes)
    course = _Course(problem, boxes, knowledge)
    with suppress(SearchStopped):
        yield from course.begin()
        while len(boxes):
            if course.goes_downhill:
                yield from course.downhill()
            else:
                yield from course.split()
    return knowledge.outcome()


class Half(NamedTuple):
    """A part of a box, all of it at first.

    Attributes:
        box: the box.
        low, high: the lowest and the highest node of the part.
        asks: those of them to check.
    """

    box: Box
    low: Levels
    high: Levels
    asks: tuple[Levels, ...]


class _Course:
    """What one search checks next."""

    def __init__(self, problem: SearchProblem, boxes: Boxes, knowledge: Knowledge) -> None:
        self._problem = problem
        self._boxes = boxes
        self._knowledge = knowledge
        self._splits = Splits(problem)
        self._is_blind = not any(map(any, problem.known_terms()))
        self._checked: set[Levels] = set()
        self._aside: dict[Levels, NodeSummary] = {}
        self._downhill = 0
        self._exchanges: Iterator[Levels] = iter(())
        self._exchanged: Levels | None = None

    @property
    def goes_downhill(self) -> bool:
        """Whether it is the turn of better nodes."""
        return self._downhill <= DOWNHILL_SHARE * self._knowledge.checked_nodes

    @property
    def _remembers(self) -> bool:
        return len(self._checked) < MAX_REMEMBERED

    def begin(self) -> Part:
        """Check the ends of the lattice: the lowest says something only if losses are not known without a check."""
        (whole,) = self._boxes.take(1, float("inf"))
        asks = (whole.high, whole.low) if self._is_blind else (whole.high,)
        yield from self._replace([Half(whole, whole.low, whole.high, asks)])

    def split(self) -> Part:
        """Split boxes of the least bounds."""
        count = max(min(self._problem.at_once, int(SPLIT_AT_ONCE * len(self._boxes))), BATCH_SIZE)
        yield from self._replace(self._halves(self._boxes.take(count, self._knowledge.loss)))

    def downhill(self) -> Part:
        """Split promising boxes; once that leads to no better node, check the exchanges of the best one."""
        best, checked = self._knowledge.best, self._knowledge.checked_nodes
        if self._remembers and (nodes := list(itertools.islice(self._exchanges, DOWNHILL_NODES))):
            self._aside |= yield from self._summaries(nodes)
        else:
            promising = self._boxes.take(DOWNHILL_NODES, self._knowledge.loss, promising=True)
            yield from self._replace(self._halves(promising))
        self._downhill += max(self._knowledge.checked_nodes - checked, 1)
        if self._knowledge.best != best:
            self._exchanges = iter(())
        elif best is not None and best != self._exchanged:
            self._exchanged = best
            self._exchanges = (levels for levels in self._exchanges_of(best) if levels not in self._checked)

    def _halves(self, boxes: Sequence[Box]) -> list[Half]:
        halves = []
        for box in boxes:
            position, level = self._splits.of(box.low, box.high)
            high, low = with_level(box.high, position, level), with_level(box.low, position, level + 1)
            # The other end of each half is one of the box, and is checked as far as it matters.
            asks_high, asks_low = not self._is_blind or high != box.low, self._is_blind and low != box.high
            halves.append(Half(box, box.low, high, (high,) if asks_high else ()))
            halves.append(Half(box, low, box.high, (low,) if asks_low else ()))
        return halves

    def _replace(self, parts: Sequence[Half]) -> Part:
        """Check ends of parts of the boxes that were taken, and put back those that may be better than the best."""
        asked = dict.fromkeys(end for part in parts for end in part.asks)
        found = {end: self._aside.pop(end) for end in asked if end in self._aside}
        found |= yield from self._summaries([end for end in asked if end not in found])
        if parts:
            ceiling = self._knowledge.loss + margin(self._knowledge.loss)
            left = self._left(parts, found)
            self._boxes.put([box for box in left if box.bound <= ceiling])

    def _left(self, parts: Sequence[Half], found: Mapping[Levels, NodeSummary]) -> Iterator[Box]:
        """The parts that have nodes that are neither checked nor ruled out."""
        quality, context = self._problem.quality, self._problem.context
        at_high = [found.get(part.high) for part in parts]
        rows = [
            part.box.suppressed_rows if high is None else high.certain_suppressed_rows
            for part, high in zip(parts, at_high, strict=True)
        ]
        now = [row if high is None else high.suppressed_rows for row, high in zip(rows, at_high, strict=True)]
        bounds = self._boxes.bounds([part.low for part in parts], rows)
        promises = self._boxes.bounds([part.high for part in parts], now)
        for part, high, row, bound, promise in zip(parts, at_high, rows, bounds, promises, strict=True):
            if part.low == part.high or (high is not None and self._problem.rules_out_below(high)):
                continue
            low = found.get(part.low)
            inherited = part.box.bound if low is None else max(part.box.bound, quality.bound_above(low, context))
            if high is None:
                promise = part.box.promise
            elif self._is_blind:
                promise = quality.bound_above(high, context)
            yield Box(part.low, part.high, row, max(inherited, float(bound)), float(promise))

    def _summaries(
        self, nodes: Sequence[Levels]
    ) -> Generator[Inquiry, Sequence[NodeSummary], dict[Levels, NodeSummary]]:
        if not nodes:
            return {}
        if self._remembers:
            self._checked.update(nodes)
        learned = yield from check(self._knowledge, nodes)
        return {summary.levels: summary for summary in learned}

    def _exchanges_of(self, best: Levels) -> list[Levels]:
        """The nodes with one quasi-identifier finer and another one coarser that may lose less than the best.

        The first are those that lose most by what is known: they are the likeliest to satisfy.
        """
        nodes = list(exchanges(best, self._problem.context.lattice))
        if not nodes:
            return []
        bounds = self._boxes.bounds(nodes, [0] * len(nodes))
        less = [(-bound, node) for bound, node in zip(bounds, nodes, strict=True) if bound < self._knowledge.loss]
        return [node for _, node in sorted(less)]


def exchanges(node: Levels, lattice: Lattice) -> Iterator[Levels]:
    """The nodes that have another level of one quasi-identifier, or a lower one of one and a higher one of another."""
    for lowered, raised in itertools.permutations(range(len(node)), 2):
        for less in range(lattice.bottom[lowered], node[lowered]):
            for more in range(node[raised] + 1, lattice.top[raised] + 1):
                yield with_level(with_level(node, lowered, less), raised, more)
