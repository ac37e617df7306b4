"""How likely a node is to rule out all below it, learned from the checked ones. It steers, and proves nothing.

Where nothing may be suppressed, one node in a hundred satisfies: to choose by the worse of two cases, as if both were
as likely, is to check what rules out little again and again.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sqlanon.model.lattice import LossContext
from sqlanon.search.arrays import Bounds, Mask
from sqlanon.search.optimal.forecast import lost_information

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
            ruled_out: the nodes of which it is known that they and all below them fail.
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
