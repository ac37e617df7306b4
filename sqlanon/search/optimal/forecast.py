"""What the checked nodes teach about the others. It steers a search, and proves nothing.

- The share of rows that nodes are expected to suppress.
- How likely a node is to rule out all below it. Where nothing may be suppressed, one node in a hundred satisfies: a
  choice by the worse of two cases, as if both were as likely, checks what rules out little again and again.
- What the rest of a search is likely to find. Once few nodes are open, two things are worth a forecast: the best of
  them, whose loss rules out others at once, and nodes above the others that suppress just enough to rule them out.
  Checking these takes less time than checking the open nodes, which have more classes, and each rules out several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import LossContext
from sqlanon.search.arrays import Bounds, Index, Mask, Nodes, levels_of, spread_downwards, spread_upwards
from sqlanon.search.problem import SearchProblem

# The numbers below were set by whole runs; tests.benchmarks.tuning shows what half and twice of each do.

POWER = 4
"""The root of a share of suppressed rows that is close to a sum of terms, one per level, over a wide range."""

SMOOTHING = 1e-3
"""How much terms are drawn to 0, as a share of the weight of a node."""

INFORMATION_SCALE = 30.0
"""How much less the term of lost information is drawn to 0: it stands in for levels that are less known."""


@dataclass(frozen=True)
class Forecast:
    """Roots of shares as a constant and a term of each level, which does not increase with the level.

    Attributes:
        constant: the mean.
        terms: by quasi-identifier and level, what is added to it.
        error: how far off the roots of the nodes are that it was learned from: the root of the mean square.
    """

    constant: float
    terms: tuple[Bounds, ...]
    error: float

    def everywhere(self) -> Bounds:
        """The roots of all nodes: an array with an entry per node."""
        return reduce(np.add.outer, self.terms, np.array(self.constant))


def forecast_of(nodes: Nodes, shares: Bounds, target: float, lost_information: Sequence[Bounds]) -> Forecast:
    """Learn from some nodes: a ridge regression.

    Each level has a term of its own, and one has the lost information, which covers levels that no given node has.

    Args:
        nodes: the nodes, at least one.
        shares: the shares of rows that these suppress.
        target: the share that is of interest: nodes count for more the nearer they are to it.
        lost_information: by quasi-identifier, what share of all information each level loses.
    """
    weights = np.exp(-(np.log(np.maximum(shares, 1e-12) / target) ** 2) / 4) + 1e-12
    roots = shares ** (1 / POWER)
    reached = [nodes[:, [axis]] >= np.arange(1, len(lost)) for axis, lost in enumerate(lost_information)]
    lost = sum(lost[nodes[:, [axis]]] for axis, lost in enumerate(lost_information))
    features = np.hstack([INFORMATION_SCALE * lost, *reached])
    mean = np.average(roots, weights=weights)
    centered = features - np.average(features, axis=0, weights=weights)
    smoothing = SMOOTHING * weights.mean() * np.eye(features.shape[1])
    fitted = np.linalg.solve((centered.T * weights) @ centered + smoothing, (centered.T * weights) @ (roots - mean))
    error = np.sqrt(np.average((centered @ fitted + mean - roots) ** 2, weights=weights))
    information, own = fitted[0], list(fitted[1:])
    terms = []
    for axis, lost in enumerate(lost_information):
        steps = [own.pop(0) + INFORMATION_SCALE * information * step for step in np.diff(lost)]
        # A more general level never has more.
        heights = np.concatenate([[0.0], np.cumsum(np.minimum(steps, 0))])
        terms.append(heights - np.average(heights[nodes[:, axis]], weights=weights))
    return Forecast(float(mean), tuple(terms), float(error))


def lost_information(context: LossContext) -> list[Bounds]:
    """For each quasi-identifier: the share of all information that each of its levels in the lattice loses."""
    everything = max(sum(losses[-1] for losses in context.losses.entropy), 1e-300)
    lattice = context.lattice
    return [
        np.array(losses[start : start + size]) / everything
        for losses, start, size in zip(context.losses.entropy, lattice.bottom, lattice.shape, strict=True)
    ]


PLACES = 200
"""In how many parts nodes are put by the share of information that their labels lose."""

WIDTH = 0.1
"""How far apart in that share two nodes are that say a little of each other, as a standard deviation.

ARX's Adult, k = 5, 0 to 5 % suppressed: nodes checked for DM, AECS, Prec and Entropy together 13,982; with half of it
14,600, with twice of it 14,583.
"""

UNDECIDED = 1.0
"""How many checked nodes weigh as much as not to know."""


class Odds:
    """Of every node, how likely it is to fail in a way that rules out all below it.

    A mean over the checked nodes that lose about as much information. The least general of all is taken to fail, the
    most general one to satisfy.
    """

    def __init__(self, context: LossContext) -> None:
        lost = reduce(np.add.outer, lost_information(context))
        # To twelve digits: a database adds in any order, and equal runs are to check equal nodes.
        places: NDArray[np.int64] = np.rint(PLACES * np.round(lost, 12)).astype(np.int64)
        self._places = np.clip(places, 0, PLACES)
        apart = np.subtract.outer(np.arange(PLACES + 1), np.arange(PLACES + 1)) / PLACES
        self._nearness = np.exp(-((apart / WIDTH) ** 2) / 2)

    def of_failure(self, checked: Mask, ruled_out: Mask) -> Bounds:
        """The likelihood of every node, in (0, 1).

        Args:
            checked: the nodes that were checked.
            ruled_out: the nodes that are known to fail, with all below them.
        """
        looked_at = self._counted(checked) + self._ends(1.0, 1.0)
        failed = self._counted(checked & ruled_out) + self._ends(1.0, 0.0)
        likely = (self._nearness @ failed + UNDECIDED / 2) / (self._nearness @ looked_at + UNDECIDED)
        likelihoods: Bounds = likely[self._places]
        return likelihoods

    def _counted(self, nodes: Mask) -> Bounds:
        return np.bincount(self._places[nodes], minlength=PLACES + 1).astype(np.float64)

    @staticmethod
    def _ends(bottom: float, top: float) -> Bounds:
        ends = np.zeros(PLACES + 1)
        ends[0], ends[-1] = bottom, top
        return ends


# The numbers below were set by whole runs; tests.benchmarks.tuning shows what half and twice of each do.

SAFETY = 0.9
"""What part of an expected share is counted on."""

PROMISING_NODES = 4
"""How many nodes are checked first that may be better than the best; each time that they are not, twice as many."""

RULING_NODES = 4
"""How many nodes are checked at once that are to rule out others, or more if many are open."""

RULING_SHARE = 1 / 32
"""How many these are, as a share of the open nodes."""

CLASS_COST = 25.0
"""How many nodes could be checked besides in the time that it takes to count a node that suppresses all rows."""

HALVINGS = 30
"""How often the interval is halved that has the share of suppressed rows from which on a node is ruled out."""


class Foresight:
    """Chooses the nodes to check when few are open.

    Args:
        problem: the problem; the loss must follow from the levels and the suppressed rows, if only roughly.
    """

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._context = problem.context
        self._allowed = problem.context.allowed_rows / problem.context.row_count
        self._lost_information = lost_information(problem.context)
        self._promising = PROMISING_NODES

    @staticmethod
    def is_possible(problem: SearchProblem) -> bool:
        """Whether suppressed rows are allowed, and determine what a node loses or whether it satisfies."""
        quality, context = problem.quality, problem.context
        return context.allowed_rows > 0 and (quality.known or quality.counts_suppression(context))

    def nodes(self, open_nodes: Mask, known: Bounds, checked: Mask, suppressed: Bounds, loss: float) -> list[Index]:
        """The next nodes to check, at least one.

        Args:
            open_nodes: the nodes that are neither checked nor ruled out.
            known: what nodes lose at least.
            checked: the nodes that were checked.
            suppressed: the shares of rows that these suppress.
            loss: that of the best node so far.
        """
        expected = expected_shares(checked, suppressed, self._allowed / 2, self._lost_information)
        nodes = np.argwhere(open_nodes)
        losses = self._expected_losses(nodes, known, expected)
        better = [node for node, expected_loss in _by_loss(nodes, losses) if expected_loss < loss]
        if better:
            promising = better[: self._promising]
            self._promising *= 2
            return promising
        self._promising = PROMISING_NODES
        return _ruling_out(nodes, self._enough(nodes, loss), expected, checked)

    def _expected_losses(self, nodes: Nodes, known: Bounds, expected: Bounds) -> Bounds:
        """What nodes are expected to lose; infinite if they are expected to suppress too much."""
        shares = expected[tuple(nodes.T)]
        losses: Bounds = known[tuple(nodes.T)]
        if self._problem.quality.counts_suppression(self._context):
            losses = self._problem.quality.bounds_with_suppression(
                levels_of(nodes, self._context.lattice), shares, self._context
            )
        losses[shares > self._allowed] = np.inf
        return losses.round(12)

    def _enough(self, nodes: Nodes, loss: float) -> Bounds:
        """The share of suppressed rows from which on each node cannot be the best: it loses more, or is not allowed."""
        enough: Bounds = np.full(len(nodes), self._allowed)
        if not self._problem.quality.counts_suppression(self._context):
            return enough
        levels, least = levels_of(nodes, self._context.lattice), np.zeros(len(nodes))
        for _ in range(HALVINGS):
            middle = (least + enough) / 2
            loses = self._problem.quality.bounds_with_suppression(levels, middle, self._context) > loss
            enough, least = np.where(loses, middle, enough), np.where(loses, least, middle)
        return enough


def expected_shares(checked: Mask, suppressed: Bounds, target: float, lost_information: Sequence[Bounds]) -> Bounds:
    """The share of rows that every node is expected to suppress.

    What is fitted to the checked nodes, between the bounds that these give: a node suppresses no fewer rows than one
    above it, and no more than one below it.

    Args:
        checked: the nodes that were checked, at least one.
        suppressed: the shares of rows that these suppress.
        target: the share that is of interest: nodes count for more the nearer they are to it.
        lost_information: by quasi-identifier, what share of all information each level loses.
    """
    lower, upper = np.where(checked, suppressed, 0.0), np.where(checked, -suppressed, -1.0)
    spread_downwards(lower)
    spread_upwards(upper)
    nodes, shares = np.argwhere(checked), suppressed[checked]
    roots = forecast_of(nodes, shares, target, lost_information).everywhere()
    expected: Bounds = np.round(np.clip(np.maximum(roots, 0) ** POWER, lower, np.maximum(-upper, lower)), 12)
    return expected


def _by_loss(nodes: Nodes, losses: Bounds) -> list[tuple[Index, float]]:
    """Nodes with what they are expected to lose, the best first."""
    order = np.argsort(losses, kind="stable")
    return [(tuple(int(step) for step in nodes[place]), float(losses[place])) for place in order]


def _ruling_out(nodes: Nodes, enough: Bounds, expected: Bounds, checked: Mask) -> list[Index]:
    """The nodes to check so that the open ones are soon ruled out: greedily those that rule out most for their cost."""
    above = np.unique(_lifted(nodes, enough, expected, checked), axis=0)
    shares = expected[tuple(above.T)]
    are_below = _are_below(nodes, above)
    rules_out = are_below & ((SAFETY * shares[:, np.newaxis] > enough) | _are_below(above, nodes).T)
    costs = 1 + CLASS_COST * shares
    chosen: list[Index] = []
    counts = rules_out.sum(axis=1)
    while counts.any() and len(chosen) < max(RULING_NODES, RULING_SHARE * len(nodes)):
        best = int((counts / costs).argmax())
        chosen.append(tuple(int(step) for step in above[best]))
        ruled_out = np.flatnonzero(rules_out[best])
        counts -= rules_out[:, ruled_out].sum(axis=1)
        rules_out[:, ruled_out] = False
    return chosen


def _are_below(lower: Nodes, upper: Nodes) -> Mask:
    """Which of some nodes, a column each, are no more general than which of others, a row each."""
    are_below = np.ones((len(upper), len(lower)), dtype=bool)
    for low, high in zip(lower.T, upper.T, strict=True):
        are_below &= low <= high[:, np.newaxis]
    return are_below


def _lifted(nodes: Nodes, enough: Bounds, expected: Bounds, checked: Mask) -> Nodes:
    """For each node one above it that is expected to suppress enough rows to rule it out, but no more than it must.

    It is reached step by step, each to the node that suppresses least; the node itself if no step is possible.
    """
    lifted, top = nodes.copy(), np.array(checked.shape) - 1
    steps = np.eye(nodes.shape[1], dtype=nodes.dtype)
    while True:
        nexts = lifted[:, np.newaxis] + steps
        inside = (nexts <= top).all(axis=2)
        places = tuple(np.moveaxis(np.minimum(nexts, top), 2, 0))
        suffices = inside & ~checked[places] & (SAFETY * expected[places] > enough[:, np.newaxis])
        least = np.where(suffices, expected[places], np.inf)
        moves = suffices.any(axis=1)
        if not moves.any():
            return lifted
        lifted[moves] = nexts[moves, least[moves].argmin(axis=1)]
