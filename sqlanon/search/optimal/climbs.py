"""Ways up from nodes that are likely to fail, to nodes that rule out as much below them as possible.

A way rises level by level, each time where most of the other nodes that wait for a wall are taken in for what the node
is likelier to satisfy by. It ends where a node is expected to satisfy (:mod:`sqlanon.search.optimal.forecast`). On each
way the last node that rules out what is below it is looked for, from where the forecast expects it. It steers, and
proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.search.arrays import Bounds
from sqlanon.search.optimal.forecast import POWER, Forecast, forecast_of, lost_information
from sqlanon.search.optimal.walls import Nodes
from sqlanon.search.problem import SearchProblem

NEWS = 1.1
"""How many times the nodes that the forecast was learned from there are to be before it is learned anew."""

MAX_LEARNED = 2**13
"""The most nodes that it is learned from, the latest."""

NEAR = 1.15
"""A wall that suppresses up to as many times the rows that are allowed is as high as can be, or nearly."""

SURE = 2.0
"""How many times the error of the forecast a node is expected to be off, for it not to be checked above one that fails.

tests.benchmarks.wide, 15 columns of 1,000,000 rows: 4,700 checks prove a loss of 0.353, and 6,600 one of 0.346 if it is
checked in any case.
"""

STEP_ASIDE = 0.3
"""What a node counts for that exceeds one in another quasi-identifier, too, for each of these."""

MIN_DROP = 1e-3
"""What a level that suppresses as many rows as the one before it counts for, as a drop of the root of their share."""


@dataclass
class Climb:
    """A way up.

    Attributes:
        start: the number of the node that it begins with.
        nodes: the nodes, from the lowest to the highest.
        roots: what root of the share of rows each is expected to suppress, never more than the one before it.
        error: how far off these are.
        fails, meets: the places of the last node known to rule out what is below it, and of the first known not to, or
            all but certain not to.
        place: that of the node to check next.
    """

    start: int
    nodes: list[Levels]
    roots: Bounds
    error: float
    place: int
    fails: int = -1
    meets: int = field(init=False)

    def __post_init__(self) -> None:
        self.meets = len(self.nodes)

    @property
    def is_over(self) -> bool:
        """Whether it is known where the way is to end."""
        return self.meets - self.fails <= 1

    def learn(self, rules_out: bool, root: float, failing: float) -> None:
        """Take note of what the node rules out that was checked, and what root of the share of rows it suppresses."""
        expected = self.roots + (root - self.roots[self.place])
        if not rules_out:
            self.meets = self.place
        else:
            self.fails = self.place
            if self.place + 1 < self.meets and expected[self.place + 1] < failing - SURE * self.error:
                self.meets = self.place + 1
        self.place = min(max(last_above(expected, failing), self.fails + 1), self.meets - 1)


class Climbs:
    """Finds ways up."""

    def __init__(self, problem: SearchProblem) -> None:
        context = problem.context
        self._top = np.array(context.lattice.top, dtype=np.int16)
        self._bottom = np.array(context.lattice.bottom)
        self._lost_information = lost_information(context)
        self._row_count = context.row_count
        self._failing_share = (context.allowed_rows + 0.75) / context.row_count
        self._nodes: list[Levels] = []
        self._shares: list[float] = []
        self._learned = 0
        self._forecast: Forecast | None = None
        self.failing = self._failing_share ** (1 / POWER)

    def learn(self, summary: NodeSummary) -> None:
        """Take note of a checked node."""
        self._nodes.append(summary.levels)
        self._shares.append(self._share(summary))
        if len(self._nodes) > 2 * MAX_LEARNED:
            del self._nodes[:MAX_LEARNED], self._shares[:MAX_LEARNED]

    def root(self, summary: NodeSummary) -> float:
        """The root of the share of rows that a node is certain to suppress."""
        return float(self._share(summary) ** (1 / POWER))

    def is_high(self, summary: NodeSummary) -> bool:
        """Whether a node that rules out those below it suppresses hardly more rows than are allowed."""
        return self._share(summary) <= NEAR * self._failing_share

    def from_nodes(self, starts: Nodes, count: int) -> Iterator[Climb]:
        """Ways from some of the nodes: none from those that are likely to be below the end of another one."""
        terms, constant, error = self._terms()
        waits = np.ones(len(starts), dtype=bool)
        for number, start in enumerate(starts):
            if not count:
                break
            if not waits[number]:
                continue
            count -= 1
            nodes, roots = self._way(start, starts[waits], terms, constant)
            place = max(last_above(roots, self.failing), 0)
            waits &= (starts > nodes[place]).any(axis=1)
            yield Climb(number, [tuple(map(int, node)) for node in nodes], roots, error, place)

    def _way(self, start: Nodes, others: Nodes, terms: Bounds, constant: float) -> tuple[list[Nodes], Bounds]:
        node, axes = start.copy(), np.arange(len(start))
        nodes, roots = [start], [constant + float(terms[axes, node].sum())]
        while roots[-1] > self.failing and (node < self._top).any():
            exceeds = others > node
            weights = STEP_ASIDE ** (exceeds.sum(axis=1) - 1.0)
            enough = np.where(others > node + 1, STEP_ASIDE, 1.0)
            gains = (exceeds * enough * weights[:, np.newaxis]).sum(axis=0) + MIN_DROP
            drops = np.maximum(terms[axes, node] - terms[axes, np.minimum(node + 1, self._top)], MIN_DROP)
            axis = int(np.where(node < self._top, (gains / drops).round(9), -1.0).argmax())
            roots.append(roots[-1] - float(drops[axis]))
            node = node.copy()
            node[axis] += 1
            nodes.append(node)
        return nodes, np.array(roots)

    def _terms(self) -> tuple[Bounds, float, float]:
        """The terms of the forecast by level, its constant, and its error."""
        if self._forecast is None or len(self._nodes) > NEWS * self._learned or len(self._nodes) < self._learned:
            nodes, shares = np.array(self._nodes[-MAX_LEARNED:]), np.array(self._shares[-MAX_LEARNED:])
            self._forecast = forecast_of(nodes - self._bottom, shares, self._failing_share, self._lost_information)
            self._learned = len(self._nodes)
        most = int(self._top.max()) + 1
        table = np.zeros((len(self._top), most))
        for axis, (least, terms) in enumerate(zip(self._bottom, self._forecast.terms, strict=True)):
            table[axis, least : least + len(terms)] = terms
        return table.round(9), round(self._forecast.constant, 9), round(self._forecast.error, 9)

    def _share(self, summary: NodeSummary) -> float:
        return max(summary.certain_suppressed_rows, 0.5) / self._row_count


def last_above(roots: Bounds, failing: float) -> int:
    """The place of the last root that is above that of a node that rules out what is below it; -1 if there is none."""
    above = np.flatnonzero(roots > failing)
    return int(above[-1]) if len(above) else -1
