"""How many rows nodes are expected to suppress: learned anew as more nodes are checked."""

from __future__ import annotations

import numpy as np

from sqlanon.model.lattice import LossContext
from sqlanon.search.arrays import Bounds
from sqlanon.search.forecast import POWER, forecast_of, lost_information
from sqlanon.search.optimal.facts import Facts, Levels

MIN_TARGET = 1e-3
"""The least share of suppressed rows that is of interest: nodes that suppress none say nothing of how far they are."""

NEWS = 1.1
"""How many times the nodes that the forecast was learned from there are to be before it is learned anew."""

MAX_LEARNED = 2**12
"""The most nodes that it is learned from, the latest."""


class ExpectedRows:
    """The forecast of a search (:mod:`sqlanon.search.forecast`).

    Attributes:
        drops: by quasi-identifier and level, by how much the root of the share falls to the next level; 0 if there is
            none.
    """

    def __init__(self, context: LossContext, facts: Facts) -> None:
        self._context = context
        self._facts = facts
        self._bottom = np.array(context.lattice.bottom)
        self._target = max(context.allowed_rows / context.row_count, MIN_TARGET)
        self._information = lost_information(context)
        self._learned = 0
        self._constant = 0.0
        self._terms = np.zeros((len(self._bottom), max(context.lattice.top) + 1))
        self.drops = self._terms

    def of(self, nodes: Levels) -> Bounds:
        """The expected rows of nodes."""
        roots = self._constant + self._terms[np.arange(nodes.shape[1]), nodes].sum(axis=1)
        rows: Bounds = np.round(np.maximum(roots, 0) ** POWER * self._context.row_count, 3)
        return rows

    def learn(self) -> None:
        """Learn from the checked nodes, if many are new."""
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
