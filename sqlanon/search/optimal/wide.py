"""Optimal search of lattices too large for arrays: boxes of nodes are split, and dropped by what their ends prove.

Two kinds of boxes take turns. Those of the least bounds raise the proven bound of the loss; those whose highest node
loses least lead downhill to good nodes. Where a good node is found, those are checked that differ from it by an
exchange, one quasi-identifier finer for another one coarser.

Of many rows a check takes long. There, boxes of the least bounds are first cut along nodes that rule out others
(:mod:`sqlanon.search.optimal.walls`), and are split once their lowest node does not fail.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sqlanon.model.lattice import Lattice, Levels, NodeSummary, with_level
from sqlanon.search.knowledge import Knowledge, check
from sqlanon.search.optimal.boxes import Box, Boxes
from sqlanon.search.optimal.climbs import Climb, Climbs
from sqlanon.search.optimal.splits import Splits
from sqlanon.search.optimal.walls import Cut, Walls
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

MAX_REMEMBERED = 2**17
"""How many checked nodes are remembered, in about 60 MB: beyond, boxes are only split, each with a node to check."""

WALLED_ROWS = 200_000
"""Boxes are not cut along walls for fewer rows: a check takes less time then than to do without it.

tests.benchmarks.wide, 12 columns of 30,000 rows: the optimum is proven after 24 CPU s with walls, and 6 without.
"""

FORESEEN_FROM = 256
"""How many nodes are checked before the forecast of others is good enough to look for walls."""


def by_boxes(problem: SearchProblem, boxes: Boxes) -> Search:
    """Find a node of least loss, and all its ties, or the best that can be found before the search is stopped."""
    walls = Walls(problem, boxes.known_bounds)
    region = WideRegion(boxes, walls)
    knowledge = Knowledge(problem, region)
    course = _Course(problem, region, knowledge)
    with suppress(SearchStopped):
        yield from course.begin()
        while len(boxes) or len(walls):
            if course.goes_downhill:
                yield from course.downhill()
            elif walls.least_bound() < boxes.least_bound():
                yield from course.build_walls()
            else:
                yield from course.split()
    return knowledge.outcome()


@dataclass(frozen=True)
class WideRegion:
    """What is left of the lattice.

    Attributes:
        boxes: those that are to be split.
        walls: those that are to be cut, with the nodes that rule out others.
    """

    boxes: Boxes
    walls: Walls

    def learn(self, summary: NodeSummary, *, ruled_out: bool) -> None:
        """See :class:`sqlanon.search.knowledge.Region`."""
        self.boxes.learn(summary, ruled_out=ruled_out)
        if ruled_out:
            self.walls.add(summary.levels)

    def least_bound(self) -> float:
        """See :class:`sqlanon.search.knowledge.Region`."""
        return float("inf") if self.boxes.all_checked else min(self.boxes.least_bound(), self.walls.least_bound())

    def least_suppressed_rows(self) -> float:
        """See :class:`sqlanon.search.knowledge.Region`."""
        return self.boxes.least_suppressed_rows()


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

    def __init__(self, problem: SearchProblem, region: WideRegion, knowledge: Knowledge) -> None:
        self._problem = problem
        self._boxes = region.boxes
        self._walls = region.walls
        self._climbs = Climbs(problem)
        self._knowledge = knowledge
        self._splits = Splits(problem)
        self._is_blind = not any(map(any, problem.known_terms()))
        self._remembered: dict[Levels, NodeSummary] = {}
        self._downhill = 0
        self._exchanges: Iterator[Levels] = iter(())
        self._exchanged: Levels | None = None

    @property
    def goes_downhill(self) -> bool:
        """Whether it is the turn of better nodes."""
        return self._downhill <= DOWNHILL_SHARE * self._knowledge.checked_nodes

    @property
    def _ceiling(self) -> float:
        return self._knowledge.loss + margin(self._knowledge.loss)

    @property
    def _remembers(self) -> bool:
        return len(self._remembered) < MAX_REMEMBERED

    @property
    def _takes_walls(self) -> bool:
        """Whether boxes are cut along walls: not if losses are not known without a check, and not at once."""
        is_big = self._problem.context.row_count > WALLED_ROWS
        return is_big and not self._is_blind and self._remembers and len(self._remembered) >= FORESEEN_FROM

    def begin(self) -> Part:
        """Check the ends of the lattice: the lowest says something only if losses are not known without a check."""
        (whole,) = self._boxes.take(1, float("inf"))
        asks = (whole.high, whole.low) if self._is_blind else (whole.high,)
        yield from self._replace([Half(whole, whole.low, whole.high, asks)])

    def split(self) -> Part:
        """Split boxes of the least bounds, but leave those to be cut along walls whose lowest node is not checked."""
        count = max(min(self._problem.at_once, int(SPLIT_AT_ONCE * len(self._boxes))), BATCH_SIZE)
        taken = self._boxes.take(count, self._knowledge.loss)
        if self._takes_walls:
            self._walls.put([box for box in taken if box.low not in self._remembered])
            taken = [box for box in taken if box.low in self._remembered]
        yield from self._replace(self._halves(taken))

    def build_walls(self) -> Part:
        """Check nodes above the lowest ones of open boxes, so that these are cut; let boxes be split that cannot be."""
        starts = self._walls.opened(self._problem.at_once, self._ceiling)
        gone = np.ones(len(starts.bounds), dtype=bool)
        if self._remembers:
            climbs = list(self._climbs.from_nodes(starts.low, self._problem.at_once // 2))
            yield from self._climbed(climbs)
            gone[:] = False
            gone[[climb.start for climb in climbs if climb.fails < 0]] = True
        boxes = self._boxes_of(starts.of(gone))
        yield from self._replace([Half(box, box.low, box.high, (box.high,)) for box in boxes])
        # Until then they count for the bound.
        self._walls.close(gone)

    def _climbed(self, climbs: Sequence[Climb]) -> Part:
        """Check nodes on some ways up until it is known where they end."""
        active = climbs
        while active:
            found = yield from self._known([climb.nodes[climb.place] for climb in active], ahead=True)
            going = []
            for climb in active:
                summary = found[climb.nodes[climb.place]]
                rules_out = self._problem.rules_out_below(summary)
                climb.learn(rules_out, self._climbs.root(summary), self._climbs.failing)
                if not climb.is_over and not (rules_out and self._climbs.is_high(summary)):
                    going.append(climb)
            active = going

    def _boxes_of(self, cut: Cut) -> list[Box]:
        if not len(cut.bounds):
            return []
        promises = self._boxes.bounds(cut.high, np.zeros(len(cut.bounds)))
        ends = ([tuple(map(int, node)) for node in nodes] for nodes in (cut.low, cut.high))
        boxes = zip(*ends, cut.bounds, promises, strict=True)
        return [Box(low, high, 0, float(bound), float(promise)) for low, high, bound, promise in boxes]

    def downhill(self) -> Part:
        """Split promising boxes; once that leads to no better node, check the exchanges of the best one."""
        best, checked = self._knowledge.best, self._knowledge.checked_nodes
        if self._remembers and (nodes := list(itertools.islice(self._exchanges, DOWNHILL_NODES))):
            yield from self._known(nodes, ahead=True)
        else:
            promising = self._boxes.take(DOWNHILL_NODES, self._knowledge.loss, promising=True)
            yield from self._replace(self._halves(promising))
        self._downhill += max(self._knowledge.checked_nodes - checked, 1)
        if self._knowledge.best != best:
            self._exchanges = iter(())
        elif best is not None and best != self._exchanged:
            self._exchanged = best
            self._exchanges = (levels for levels in self._exchanges_of(best) if levels not in self._remembered)

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
        found = yield from self._known([end for part in parts for end in part.asks])
        left = self._left(parts, found) if parts else ()
        self._boxes.put([box for box in left if box.bound <= self._ceiling])

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

    def _known(
        self, nodes: Sequence[Levels], *, ahead: bool = False
    ) -> Generator[Inquiry, Sequence[NodeSummary], Mapping[Levels, NodeSummary]]:
        """The summaries of some nodes; those that are not remembered are checked.

        Nodes are remembered in any case that are checked ahead of the box that they are an end of.
        """
        found = {levels: self._remembered[levels] for levels in nodes if levels in self._remembered}
        if asked := [levels for levels in dict.fromkeys(nodes) if levels not in found]:
            for summary in (yield from check(self._knowledge, asked)):
                found[summary.levels] = summary
                self._climbs.learn(summary)
                if ahead or self._remembers:
                    self._remembered[summary.levels] = summary
        return found

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
