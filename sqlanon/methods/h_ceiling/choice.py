"""The choice of a node: of those below the ceiling, the one that needs the fewest counterfeits.

Of several that need equally few the one that suppresses the fewest rows is taken, if it may suppress any, and of these
the one of least reconstruction error, which is known of every node without a look at its classes.

By reconstruction error alone the least general node would be taken always, with a counterfeit for nearly every row:
without a catalog counterfeits cost it nothing (spec/hceiling.md, H13). With a catalog it decides between the first few
of these nodes, see :mod:`sqlanon.methods.h_ceiling.candidates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.h_ceiling.fewest import OUT_OF_LIMIT, FewestCounterfeits
from sqlanon.methods.h_ceiling.needs import Need, Needs
from sqlanon.methods.progress import Stopped
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import NodeSummary
from sqlanon.search import Inquiry, SearchOutcome
from sqlanon.search.arrays import Bounds, Counts, Index, Mask
from sqlanon.search.optimal.forecast import lost_information

DIGITS = 12
"""To how many digits nodes are compared: a database adds in any order, and equal runs are to choose equal nodes."""

Observer = Callable[[int, int, Inquiry], None]
"""Called before every batch with the number of checked nodes, the size of the lattice, and the inquiry."""


def choose_node(
    engine: Compute, table: EncodedTable, allowed: Mask, errors: Bounds, observer: Observer, stopped: Stopped
) -> tuple[SearchOutcome, list[NodeSummary]]:
    """Choose a node of those that keep to the ceiling; there must be one.

    Args:
        engine: the database.
        table: the cells, whose classes are to have k rows.
        allowed: whether each node keeps to the ceiling; an array of the shape of the lattice.
        errors: the mean reconstruction error of each, which decides between nodes that need equally many.
        observer: called with the progress.
        stopped: asked after every batch whether to make do with the best node so far.

    Returns:
        the outcome, whose loss is the number of counterfeits, and the nodes below the ceiling and within the limit of
        suppression that were checked, the best first.

    Raises:
        UnsatisfiableError: every node below the ceiling suppresses too many rows.
    """
    lattice = table.context.lattice
    search = FewestCounterfeits(allowed, ranked(table, errors), lost_information(table.context))
    found: dict[Index, Need] = {}
    with engine.scratch():
        needs = Needs(engine, table)

        def needed() -> float | None:
            best = search.best
            return None if best is None or found[best].cost == OUT_OF_LIMIT else float(found[best].counterfeits)

        for batch in search.batches():
            nodes = [lattice.node(index) for index in batch]
            inquiry = Inquiry(nodes, needed(), lambda: float(needs.counterfeits(search.fewest())), "counts")
            observer(len(found), lattice.size, inquiry)
            found |= zip(batch, needs.of(inquiry), strict=True)
            for index in batch:
                search.learn(index, found[index].cost, found[index].cost_below)
            if needed() is not None and stopped():
                break
    assert search.best is not None
    if found[search.best].cost == OUT_OF_LIMIT:
        raise _out_of_limit(table, [found[index] for index in found if search.keeps_to_ceiling(index)])
    best = found[search.best].node
    outcome = SearchOutcome(
        best=best,
        loss=found[search.best].counterfeits,
        ties=(best.levels,),
        checked_nodes=len(found),
        closest=best,
        proven_optimal=search.is_proven(),
        lower_bound=float(needs.counterfeits(search.fewest())),
        unsatisfiable=False,
    )
    below = [index for index in filter(search.keeps_to_ceiling, found) if found[index].cost != OUT_OF_LIMIT]
    return outcome, [found[index].node for index in sorted(below, key=search.order)]


def in_place_of(outcome: SearchOutcome, other: NodeSummary, counterfeits: int) -> SearchOutcome:
    """The outcome where another node is taken than the best one; what is known of the best one holds."""
    if other == outcome.best:
        return outcome
    return replace(outcome, best=other, loss=float(counterfeits), ties=(other.levels,), proven_optimal=False)


def _out_of_limit(table: EncodedTable, needs: Sequence[Need]) -> UnsatisfiableError:
    fewest = min(need.suppressed for need in needs)
    return UnsatisfiableError(
        f"no node below the ceiling suppresses {table.context.allowed_rows:,} rows or fewer, as many as may be:",
        [
            f"the one that suppresses the fewest leaves out {fewest:,} of {table.context.row_count:,} rows, in classes "
            "of fewer than fewest_true_rows; raise suppression_limit or h, or lower fewest_true_rows"
        ],
    )


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
