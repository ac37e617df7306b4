"""The choice of a node: of those below the ceiling, the one that needs the fewest counterfeits.

Of several that need equally few the one of least reconstruction error is taken, which is known of every node without a
look at its classes.

By reconstruction error alone the least general node would be taken always, with a counterfeit for nearly every row: as
long as no catalog tells of counterfeits, they cost it nothing (spec/hceiling.md, H13). With a catalog it decides
between the first few of these nodes, see :mod:`sqlanon.methods.h_ceiling.candidates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.cells import EncodedTable
from sqlanon.methods.full_domain.node_counter import NodeCounter
from sqlanon.methods.h_ceiling.fewest import FewestCounterfeits
from sqlanon.methods.stopping import Stopped
from sqlanon.model.lattice import NodeSummary
from sqlanon.search import Inquiry, SearchOutcome
from sqlanon.search.arrays import Bounds, Counts, Index, Mask
from sqlanon.search.optimal.forecast import lost_information

DIGITS = 12
"""To how many digits nodes are compared: a database adds in any order, and equal runs are to choose equal nodes."""

Observer = Callable[[int, int, Inquiry], None]
"""Told before every batch how many nodes were checked, how many the lattice has, and what is known and asked."""


def choose_node(
    engine: Compute, table: EncodedTable, allowed: Mask, errors: Bounds, observer: Observer, stopped: Stopped
) -> tuple[SearchOutcome, list[NodeSummary]]:
    """Choose a node of those that keep to the ceiling, of which there is one at least.

    Args:
        engine: the database.
        table: the cells, whose classes are to have k rows.
        allowed: whether each node keeps to the ceiling; an array of the shape of the lattice.
        errors: the mean reconstruction error of each, by which those are told apart that need equally many.
        observer: told of progress.
        stopped: asked after every batch whether to make do with the best node so far.

    Returns:
        the outcome, whose loss is the number of counterfeits, and the nodes below the ceiling that were checked, the
        best first.
    """
    lattice, k = table.context.lattice, table.context.k
    search = FewestCounterfeits(allowed, ranked(table, errors), lost_information(table.context))
    found: dict[Index, NodeSummary] = {}
    with engine.scratch():
        counter = NodeCounter(engine, table)
        for batch in search.batches():
            nodes = [lattice.node(index) for index in batch]
            inquiry = Inquiry(nodes, search.needed, lambda: float(search.fewest()), "counts")
            observer(len(found), lattice.size, inquiry)
            found |= zip(batch, counter.answer(inquiry), strict=True)
            for index in batch:
                search.learn(index, missing_rows(found[index], k))
            if stopped():
                break
    assert search.best is not None
    assert search.needed is not None
    best = found[search.best]
    outcome = SearchOutcome(
        best=best,
        loss=search.needed,
        ties=(best.levels,),
        checked_nodes=len(found),
        closest=best,
        proven_optimal=search.is_proven(),
        lower_bound=float(search.fewest()),
        unsatisfiable=False,
    )
    below = filter(search.keeps_to_ceiling, found)
    return outcome, [found[index] for index in sorted(below, key=search.order)]


def in_place_of(outcome: SearchOutcome, other: NodeSummary, k: int) -> SearchOutcome:
    """The outcome where another node is taken than the best one; what is known of the best one holds."""
    if other == outcome.best:
        return outcome
    loss = float(missing_rows(other, k))
    return replace(outcome, best=other, loss=loss, ties=(other.levels,), proven_optimal=False)


def missing_rows(summary: NodeSummary, k: int) -> int:
    """How many rows the classes of a node lack: k for each that is too small, without the rows that it has."""
    return k * (summary.class_count - summary.kept_class_count) - summary.suppressed_rows


def ranked(table: EncodedTable, errors: Bounds) -> Counts:
    """The place of every node by its reconstruction error, then by its LM, then in lexicographic order."""
    lattice = table.context.lattice
    losses = [np.array(found)[least : most + 1] for found, least, most in _by_level(table)]
    lm = reduce(np.add.outer, losses)
    order = np.lexsort((np.round(lm, DIGITS).ravel(), np.round(errors, DIGITS).ravel()))
    ranks: Counts = np.empty(lattice.size, dtype=np.int64)
    ranks[order] = np.arange(lattice.size)
    return ranks.reshape(lattice.shape)


def _by_level(table: EncodedTable) -> Iterator[tuple[tuple[float, ...], int, int]]:
    lattice = table.context.lattice
    return zip(table.context.losses.lm, lattice.bottom, lattice.top, strict=True)
