"""Which nodes to check so that they rule out much: nodes that are likely to fail, with many of small loss below them.

The more general a node is, the more it has below it, and the less likely it is to fail. Both are estimated: how many of
the nodes of small loss are below a node, as if these were drawn at random, and whether it fails, by the forecast of the
rows that it suppresses. It steers, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlanon.model.lattice import NodeSummary
from sqlanon.search.arrays import Bounds, Index
from sqlanon.search.optimal.boxes import Antichain
from sqlanon.search.optimal.forecast import POWER, Forecast, forecast_of, lost_information
from sqlanon.search.optimal.wide import WideRegion
from sqlanon.search.problem import SearchProblem

AIM = 0.2
"""How large a loss counts as small: so far between what is proven and the best.

tests.benchmarks.wide, 12 columns of 30,000 rows, the gap after 15 CPU s, when the forecast was learned for every batch:
0.125; with half of it 0.120, with twice 0.139.
"""

NEWS = 1.1
"""How many times the nodes that the forecast was learned from there are to be before it is learned anew.

tests.benchmarks.wide, 12 columns of 30,000 rows, gaps after 15 CPU s: 0.093; if it is learned for every batch, 0.125.
"""

SLOPE = 1.7
"""Of the logistic distribution that is closest to the normal one, for deviations in units of the standard deviation."""

MIN_ERROR = 1e-4
"""What is counted on as the error of roots of shares at least."""

COLDEST = 200.0
"""Times the largest term: colder than that, every node of a quasi-identifier that is drawn is the least of all.

Or, below zero, the largest.
"""

HALVINGS = 40
"""How often the interval is halved that has the temperature at which nodes have a mean sum of terms."""


class Walls:
    """Chooses such nodes."""

    def __init__(self, problem: SearchProblem, region: WideRegion) -> None:
        context = problem.context
        self._region = region
        self._lost_information = lost_information(context)
        self._least_share = 0.5 / context.row_count
        self._failing_share = (context.allowed_rows + 0.75) / context.row_count
        self._row_count = context.row_count
        self._nodes: list[Index] = []
        self._shares: list[float] = []
        self._latest: Forecast | None = None
        self._learned_nodes = 0

    def learn(self, index: Index, summary: NodeSummary) -> None:
        """Take note of a checked node."""
        self._nodes.append(index)
        self._shares.append(max(summary.certain_suppressed_rows / self._row_count, self._least_share))

    def above(self, starts: Sequence[Index], count: int, loss: float) -> list[Index]:
        """For some nodes that are neither checked nor ruled out, one each that is equal to it or above it.

        A node that another's is likely to rule out has none.

        Args:
            starts: the nodes, at least one.
            count: how many nodes are wanted at most.
            loss: that of the best node so far, infinite if there is none.
        """
        climb = _Climb(self._region, self._forecast(), self._failing_share, self._small(loss))
        chosen = Antichain(len(self._region.top))
        found: list[Index] = []
        for start in starts:
            if len(found) == count:
                break
            if not chosen.covers(start):
                found.append(climb.from_node(start))
                chosen.add(found[-1])
        return found

    def _forecast(self) -> Forecast:
        """What was learned of all nodes but the latest few: it takes as long as to count many nodes of few rows."""
        if self._latest is None or len(self._nodes) > NEWS * self._learned_nodes:
            nodes, shares = np.array(self._nodes), np.array(self._shares)
            self._latest = forecast_of(nodes, shares, self._failing_share, self._lost_information)
            self._learned_nodes = len(nodes)
        return self._latest

    def _small(self, loss: float) -> int:
        """The sum of terms of a loss that is small."""
        terms, top = self._region.terms, self._region.top
        proven = self._region.least_bound()
        return terms.of_loss(proven + AIM * (min(loss, terms.bound_of(top)) - proven), top)


class _Climb:
    """The way up from a node: each step is the one that takes in most for what it makes the node likelier to satisfy.

    It ends where the next step would lose more than it takes in, on average.
    """

    def __init__(self, region: WideRegion, forecast: Forecast, failing_share: float, small: int) -> None:
        self._region = region
        self._forecast = forecast
        self._failing = failing_share ** (1 / POWER)
        self._error = max(forecast.error, MIN_ERROR)
        width = max(len(terms) for terms in forecast.terms) + 1
        self._roots = np.stack([_padded(terms, width, terms[-1]) for terms in forecast.terms]).round(12)
        self._below = np.stack([_padded(shares, width, -np.inf) for shares in shares_below(region.terms.table, small)])
        self._axes = np.arange(len(region.top))

    def from_node(self, start: Index) -> Index:
        """The end of the way; the node itself if it is not likely to fail."""
        node = np.array(start)
        root = self._forecast.constant + float(self._roots[self._axes, node].sum())
        while root > self._failing:
            drops = self._roots[self._axes, node] - self._roots[self._axes, node + 1]
            gains = self._below[self._axes, node + 1] - self._below[self._axes, node]
            worth = (gains + self._log_odds(root - drops) - self._log_odds(root)).round(9)
            steps = np.argsort(-(gains / np.maximum(drops, MIN_ERROR)).round(9), kind="stable")
            step = next((axis for axis in steps if worth[axis] > 0 and self._may_fail(node, axis)), None)
            if step is None:
                break
            root -= float(drops[step])
            node[step] += 1
        return tuple(int(step) for step in node)

    def _may_fail(self, node: Bounds, axis: int) -> bool:
        raised = node.tolist()
        raised[axis] += 1
        return not self._region.is_cleared(tuple(raised))

    def _log_odds(self, roots: Bounds | float) -> Bounds:
        deviations = (roots - self._failing) / self._error
        likelihoods: Bounds = -np.logaddexp(0.0, -SLOPE * deviations)
        return likelihoods


def shares_below(table: Sequence[Sequence[int]], mean: int) -> list[Bounds]:
    """How many of the nodes that have a sum of terms of such a mean are up to each step of each quasi-identifier.

    Logarithms of shares. Of all distributions with that mean the nodes have that of the greatest entropy, in which
    quasi-identifiers are independent (Jaynes 1957).
    """
    unit = max(max(terms) for terms in table) or 1
    costs = [np.array(terms) / unit for terms in table]
    least, most = -COLDEST, COLDEST
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if _mean(costs, middle) > mean / unit else (least, middle)
    return [np.log(np.maximum(np.cumsum(_boltzmann(terms, most)), 1e-300)).round(12) for terms in costs]


def _mean(costs: Sequence[Bounds], coldness: float) -> float:
    return sum(float(_boltzmann(terms, coldness) @ terms) for terms in costs)


def _boltzmann(costs: Bounds, coldness: float) -> Bounds:
    weights: Bounds = np.exp(-coldness * (costs - costs[0 if coldness > 0 else -1]))
    weights /= weights.sum()
    return weights


def _padded(entries: Bounds, width: int, entry: float) -> Bounds:
    return np.concatenate([entries, np.full(width - len(entries), entry)])
