"""Expected shares of suppressed rows, learned from checked nodes. They steer a search, and prove nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sqlanon.model.lattice import LossContext
from sqlanon.search.arrays import Bounds, Nodes
from sqlanon.search.optimal.boxes import Facts, Levels

POWER = 4  # this root of the share of suppressed rows is close to a sum of one term per level, over a wide range
SMOOTHING = 1e-3  # the ridge penalty, relative to the mean weight of a node

INFORMATION_SCALE = 30.0  # weakens the penalty on lost information, which stands in for levels without nodes


@dataclass(frozen=True)
class Forecast:
    """Roots of shares as a constant and one term per level, which never increases with the level."""

    constant: float  # the mean
    terms: tuple[Bounds, ...]  # by quasi-identifier and level
    error: float  # the root mean square error on the nodes that it was learned from

    def everywhere(self) -> Bounds:
        """Return the roots of all nodes, an entry per node."""
        return reduce(np.add.outer, self.terms, np.array(self.constant))


def forecast_of(nodes: Nodes, shares: Bounds, target: float, lost_information: Sequence[Bounds]) -> Forecast:
    """Fit a ridge regression to one or more nodes.

    Each level has a term, and so has lost information, which covers levels without nodes. Nodes weigh more the nearer
    their share of suppressed rows is to the target.
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
        # A more general level never suppresses more rows.
        heights = np.concatenate([[0.0], np.cumsum(np.minimum(steps, 0))])
        terms.append(heights - np.average(heights[nodes[:, axis]], weights=weights))
    return Forecast(float(mean), tuple(terms), float(error))


def lost_information(context: LossContext) -> list[Bounds]:
    """Return, by quasi-identifier and level in the lattice, the lost share of all information."""
    everything = max(sum(losses[-1] for losses in context.losses.entropy), 1e-300)
    lattice = context.lattice
    return [
        np.array(losses[start : start + size]) / everything
        for losses, start, size in zip(context.losses.entropy, lattice.bottom, lattice.shape, strict=True)
    ]


MIN_TARGET = 1e-3
"""The smallest target for the share of suppressed rows: nodes that suppress none don't show their distance from it."""

NEWS = 1.1  # the forecast is fitted again after checked nodes grew by this factor
MAX_LEARNED = 2**12  # it is fitted to the latest nodes


class ExpectedRows:
    """The rows that a search expects nodes to suppress."""

    def __init__(self, context: LossContext, facts: Facts) -> None:
        self._context = context
        self._facts = facts
        self._bottom = np.array(context.lattice.bottom)
        self._target = max(context.allowed_rows / context.row_count, MIN_TARGET)
        self._information = lost_information(context)
        self._learned = 0
        self._constant = 0.0
        self._terms = np.zeros((len(self._bottom), max(context.lattice.top) + 1))
        # By quasi-identifier and level, the fall of the root to the next level; 0 at the last one.
        self.drops = self._terms

    def of(self, nodes: Levels) -> Bounds:
        roots = self._constant + self._terms[np.arange(nodes.shape[1]), nodes].sum(axis=1)
        rows: Bounds = np.round(np.maximum(roots, 0) ** POWER * self._context.row_count, 3)
        return rows

    def learn(self) -> None:
        """Fit again, if many checked nodes are new."""
        if len(self._facts.nodes) < NEWS * self._learned:
            return
        self._learned = len(self._facts.nodes)
        nodes, rows = self._facts.nodes[-MAX_LEARNED:], self._facts.rows[-MAX_LEARNED:]
        shares = np.maximum(rows, 0.5) / self._context.row_count
        forecast = forecast_of(nodes - self._bottom, shares, self._target, self._information)
        self._constant, terms = round(forecast.constant, 9), np.zeros_like(self._terms)
        for axis, (least, of_axis) in enumerate(zip(self._bottom, forecast.terms, strict=True)):
            terms[axis, least : least + len(of_axis)] = of_axis.round(9)
            terms[axis, least + len(of_axis) :] = of_axis[-1].round(9)
        self._terms = terms
        self.drops = -np.diff(terms, axis=1, append=terms[:, -1:])
