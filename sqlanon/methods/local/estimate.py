"""What local recoding would lose, from a few of its nodes: a hint for users of full-domain generalization."""

from __future__ import annotations

import numpy as np

from sqlanon.engines.base import Compute
from sqlanon.methods.local.arrays import Loss, cell_arrays
from sqlanon.methods.local.judging import Judge
from sqlanon.methods.local.labels import Ladders
from sqlanon.methods.local.peeling import described, ordered_nodes, take
from sqlanon.methods.local.settling import Parts
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.measures import unsupported

SAMPLED_NODES = 160
"""The most nodes that are looked at. Of ARX's Adult they come within a fifth of the loss of all 12,960, in a twentieth
of the time (tests.benchmarks.local)."""

MAX_NODES = 100_000
"""The most nodes of a lattice: all are put in order."""

MAX_CELLS = 50_000
"""The most cells of a table: of more the estimate takes a tenth of a second and longer."""


def estimated_loss(engine: Compute, table: EncodedTable, loss: Loss) -> float | None:
    """The loss of a recoding by a few nodes, most of them fine; a row that none of them takes loses 1.

    Args:
        engine: the database.
        table: the cells.
        loss: what labels lose.

    Returns:
        the mean loss, in [0, 1]; None if there are too many cells or nodes, or a model of another package.
    """
    bounds, lattice = table.encoding.criteria.bounds, table.context.lattice
    is_large = engine.is_far(table.encoding.cells.table) or table.cell_count > MAX_CELLS or lattice.size > MAX_NODES
    if table.cell_count == 0 or is_large or unsupported(bounds):
        return None
    cells = cell_arrays(engine, table, loss)
    judge, ladders = Judge.of(cells, bounds), Ladders.of(cells, lattice)
    nodes = ordered_nodes(cells, ladders)
    places = np.linspace(0, 1, SAMPLED_NODES) ** 3 * (len(nodes) - 1)
    watch = Watch()
    of_cells, minimality = take(cells, judge, ladders, nodes[np.unique(np.rint(places).astype(int))], watch)
    parts = Parts(cells, judge, ladders, of_cells)
    return described(cells, ladders, parts.of_cells, parts.classes, minimality, watch).loss
