"""The loss of linked tables: a mean over all quasi-identifiers of the means over the rows of their tables."""

from __future__ import annotations

import numpy as np

from sqlanon.model.lattice import LossContext, NodeSummary
from sqlanon.model.quality import LM, Bounds, Columns, at_levels, measured, totals

UNITS = 10**15
"""The sum of what rows can lose by being left out, in the unit of searches, which count suppressed rows.

A row of a table loses as much as the table's columns weigh, divided by its rows. Floats represent these numbers.
"""


class LinkedLoss(LM):
    """LM of several tables: a row that is not released loses 1 in each of its columns.

    Attributes:
        tables: the place of the table of each quasi-identifier.
        counted: the places of the tables whose rows a search counts as left out.
    """

    tables: tuple[int, ...]
    counted: tuple[int, ...] = ()

    @property
    def by_quasi_identifier(self) -> bool:
        return True

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return measured(summary.combined_loss)

    def bounds_with_suppression(self, nodes: Columns, suppressed: Bounds, context: LossContext) -> Bounds:
        """Bound the losses of nodes, given shares of all that rows of the counted tables can lose.

        A row that is left out gains 1 less what its labels lose at most, in the counted table where that is least.
        """
        shares = np.array(self.shares(context.lattice.quasi_identifiers))
        gains = (1 - at_levels(context.losses.largest_lm, nodes)) * shares[:, np.newaxis]
        of_tables = [np.array(self.tables) == place for place in self.counted]
        least = [gains[own].sum(axis=0) / shares[own].sum() for own in of_tables if shares[own].any()]
        bounds: Bounds = totals(self.known_bounds(context), nodes)
        return bounds + suppressed * np.min(least, axis=0) if least else bounds
