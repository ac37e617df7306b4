"""Sizes of joint classes of many nodes, from cells as arrays: the key of a cell has the number of what others show.

What is left out is that of the query ``jointly_kept`` in ``sql/earlier.sql``, which says why.
"""

from __future__ import annotations

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.absent import absent_by_number
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.class_sizes import SizeCounter, SizedCells
from sqlanon.model.lattice import Levels, NodeSummary


class JointSizeCounter(SizeCounter):
    """Answers the inquiries of a search, of classes beside earlier releases."""

    def __init__(self, engine: Compute, table: EncodedTable, cells: SizedCells) -> None:
        super().__init__(engine, table, cells)
        earlier = table.encoding.spec.earlier
        assert earlier is not None
        self._k, self._is_by_person = table.encoding.criteria.k, earlier.is_by_person
        self._absent = absent_by_number(engine, earlier.count)

    def summary(self, levels: Levels, cells: SizedCells) -> NodeSummary:
        (sizes, earlier), k = cells.sizes_and_rest(levels), self._k
        is_short = sizes < k
        short = np.bincount(earlier[is_short], sizes[is_short], len(self._absent)).astype(np.int64)
        missing = k - self._absent - short
        lends = (missing > 0) & (missing < k)
        lends[0] = False  # persons whom no earlier release shows
        may_lend = lends[earlier] & ~is_short
        largest, smallest = np.zeros_like(short), np.full_like(short, np.iinfo(np.int64).max)
        np.maximum.at(largest, earlier[may_lend], sizes[may_lend])
        np.minimum.at(smallest, earlier[may_lend], sizes[may_lend])
        has_any = largest > 0
        missing, largest, smallest = missing[has_any], largest[has_any], smallest[has_any]
        is_whole = largest < k + missing if self._is_by_person else np.ones_like(missing, dtype=bool)
        certain = int(short.sum())
        withheld = int(np.where(is_whole, smallest, missing).sum())
        kept = len(sizes) - int(np.count_nonzero(is_short)) - int(np.count_nonzero(is_whole))
        return NodeSummary(levels, len(sizes), kept, certain + withheld, certain)
